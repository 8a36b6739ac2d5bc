"""The fast rung is like plain Python in all that a program can see, in real interpreters."""

from __future__ import annotations

import difflib
import re
import zipfile

import pytest

from relay.debuggers.debugpy.debuggee.probe import PARTS
from tests.debuggers.bootstrap_runner import Runner, write

# --- the program's surroundings -----------------------------------------------------------------

INTROSPECTION = '''
"""A docstring."""
import builtins, importlib.util, os, pickle, sys, threading, warnings

class Thing:
    pass

main = sys.modules["__main__"]
facts = {
    "argv": sys.argv,
    "orig_argv": getattr(sys, "orig_argv", None),
    "xoptions": sys._xoptions,
    "path": sys.path,
    "flags": str(sys.flags),
    "warnoptions": sys.warnoptions,
    "filters": [str(f) for f in warnings.filters],
    "names": [n for n in main.__dict__ if n.startswith("__")],
    "name": __name__,
    "file": globals().get("__file__"),
    "cached": globals().get("__cached__", "none"),
    "doc": __doc__,
    "package": __package__,
    "loader": type(__loader__).__name__ + getattr(__loader__, "name", ""),
    "loader_path": getattr(__loader__, "path", None),
    "spec": str(__spec__),
    "builtins": __builtins__ is builtins,
    "builtin names": sorted(dir(builtins)),
    "pickle": type(pickle.loads(pickle.dumps(Thing()))) is Thing,
    "environment": sorted(os.environ.items()),
    "excepthook": sys.excepthook is sys.__excepthook__,
    "threads": [t.name for t in threading.enumerate()],
    "frames": [(f.f_lineno, f.f_code.co_name) for f in sys._current_frames().values()],
    "cwd": os.getcwd(),
    "hidden": [n for n in sys.modules if "debug_relay" in n or n in ("bootstrap", "probe")],
    "found": [(n, getattr(importlib.util.find_spec(n), "origin", None)) for n in PARTS],
    "recursion": sys.getrecursionlimit(),
    "encoding": (sys.stdout.encoding, sys.stdout.errors, sys.stderr.errors, sys.stdin.encoding),
}
for key, value in facts.items():
    print(key, "=", value)
'''.replace("PARTS", repr(["entry", *PARTS]))


def same(one: tuple[int, str, str], other: tuple[int, str, str]) -> None:
    assert differing(one[2], other[2]) == []
    assert differing(one[1], other[1]) == []
    assert other[0] == one[0]


def differing(one: str, other: str) -> list[str]:
    """The lines of the one or the other, as a diff shows them; addresses are left out."""
    one, other = (re.sub(r"0x[0-9a-f]+", "0x", text) for text in (one, other))
    lines = difflib.unified_diff(one.split("\n"), other.split("\n"), n=0, lineterm="")
    return list(lines)[2:]


def test_a_script_sees_what_plain_python_shows(runner: Runner) -> None:
    write(runner.cwd / "sub" / "prog.py", INTROSPECTION)
    same(
        runner.plain("script", "sub/prog.py", "a b", "-x"),
        runner.debugged("script", "sub/prog.py", "a b", "-x"),
    )


def test_a_script_behind_a_link_sees_what_plain_python_shows(runner: Runner) -> None:
    real = write(runner.cwd / "real" / "prog.py", INTROSPECTION)
    link = runner.cwd / "link.py"
    link.symlink_to(real)
    same(runner.plain("script", str(link)), runner.debugged("script", str(link)))


@pytest.mark.parametrize("options", [["-I"], ["-O", "-W", "ignore"], ["-E", "-s"], ["-X", "dev"]])
def test_interpreter_options_hold(traced: Runner, options: list[str]) -> None:
    write(traced.cwd / "prog.py", INTROSPECTION)
    same(
        traced.plain("script", "prog.py", options=options),
        traced.debugged("script", "prog.py", options=options),
    )


def test_a_module_sees_what_plain_python_shows(runner: Runner) -> None:
    write(runner.cwd / "pack" / "__init__.py", "")
    write(runner.cwd / "pack" / "__main__.py", INTROSPECTION)
    write(runner.cwd / "single.py", INTROSPECTION)
    for module in ("pack", "single"):
        same(runner.plain("module", module, "x"), runner.debugged("module", module, "x"))


def test_a_directory_and_a_zip_archive_run(runner: Runner) -> None:
    write(runner.cwd / "app" / "__main__.py", INTROSPECTION)
    with zipfile.ZipFile(runner.cwd / "app.zip", "w") as archive:
        archive.write(runner.cwd / "app" / "__main__.py", "__main__.py")
    for target in ("app", "app.zip"):
        same(runner.plain("script", target, "1"), runner.debugged("script", target, "1"))


SERVERS = """
import gc, sys, types

names = ("xmlrpc", "xmlrpc.client", "xmlrpc.server", "http", "http.server")
print([name for name in names if name in sys.modules])
import http.server
import xmlrpc.client, xmlrpc.server
from xmlrpc.client import Marshaller

for name in names:
    module = sys.modules[name]
    print(name, type(module) is types.ModuleType, module.__spec__.name, module.__file__)
print(xmlrpc.client.Marshaller is Marshaller, type(Marshaller), issubclass(
    xmlrpc.server.SimpleXMLRPCRequestHandler, http.server.BaseHTTPRequestHandler))

def owner(thing):
    found = [o for o in gc.get_referrers(thing) if type(o) is dict and "__name__" in o]
    return sorted(o["__name__"] for o in found)

left = [o for o in gc.get_objects() if type(o).__name__ == "_Later"]
print({name for o in left for name in owner(o) if not name.startswith("_pydev")})
print([n for n, m in sys.modules.items() if not n.startswith(("_pydev", "pydev"))
       and any(type(v).__name__ == "_Later" for v in vars(m).values())])
print(__builtins__.__import__ is __import__, __import__.__module__)
"""


def test_what_pydevd_puts_off_is_imported_by_the_program_as_ever(runner: Runner) -> None:
    write(runner.cwd / "prog.py", SERVERS)
    same(runner.plain("script", "prog.py"), runner.debugged("script", "prog.py"))


COLLECTS = """
import gc, weakref

print(len(gc.get_objects()))

class Node:
    pass

node = Node()
node.itself, seen = node, weakref.ref(node)
del node
gc.collect()
print(seen() is None, gc.isenabled(), gc.get_threshold(), gc.get_debug(), gc.callbacks)
"""


def test_collections_leave_the_debugger_out(runner: Runner) -> None:
    write(runner.cwd / "prog.py", COLLECTS)
    (count, *plain), (debugged_count, *debugged) = (
        printed.splitlines()
        for _, printed, _ in (
            runner.plain("script", "prog.py"),
            runner.debugged("script", "prog.py"),
        )
    )
    assert debugged == plain
    assert int(debugged_count) <= int(count)


# --- the program's end --------------------------------------------------------------------------

ENDS = {
    "error": "def f():\n    return 1 / 0\nf()\n",
    "chained": "try:\n    1 / 0\nexcept Exception as e:\n    raise KeyError('x') from e\n",
    "syntax": "x = 1\ny = = 2\n",
    "indentation": "def f():\nreturn 1\n",
    "exit text": "import sys\nsys.exit('bye')\n",
    "exit 3": "raise SystemExit(3)\n",
    "exit none": "raise SystemExit\n",
    "interrupt": "raise KeyboardInterrupt\n",
    "hook": "import sys\nsys.excepthook = lambda *a: print('hook', a[0], a[2].tb_lineno)\n1/0\n",
    "bad hook": "import sys\ndef hook(*a):\n    raise ValueError('no')\nsys.excepthook = hook\n1/0\n",
    "os._exit": "import os\nprint('out', flush=True)\nos._exit(5)\n",
    "signal": "import os, signal\nos.kill(os.getpid(), signal.SIGTERM)\n",
    "thread": "import threading\nt = threading.Thread(target=lambda: 1 / 0, name='T')\nt.start()\n",
    "numbered threads": (
        "import threading\nfor _ in range(2):\n    t = threading.Thread(target=lambda: 1 / 0)\n"
        "    t.start()\n    t.join()\n"
    ),
    "late thread": (
        "import threading, time, atexit\natexit.register(print, 'atexit')\n"
        "def f():\n    time.sleep(0.2)\n    print('late')\nthreading.Thread(target=f).start()\n"
    ),
    "del": "class A:\n    def __del__(self):\n        print('del', __name__)\na = A()\n",
    "last": (
        "import atexit, sys\ndef f():\n    print(sys.last_type, sys.last_traceback.tb_lineno)\n"
        "    print(sys.last_value.__traceback__ is sys.last_traceback, '__file__' in globals())\n"
        "atexit.register(f)\n1/0\n"
    ),
}


@pytest.mark.parametrize("name", ENDS)
def test_a_script_ends_as_under_plain_python(runner: Runner, name: str) -> None:
    write(runner.cwd / "prog.py", ENDS[name])
    same(runner.plain("script", "prog.py"), runner.debugged("script", "prog.py"))


INTERRUPTED_INPUT = """
    import os, signal, sys

    def interrupt(_, frame):
        while frame.f_code.co_name != "ask":
            frame = frame.f_back
            if frame is None:
                return
        signal.setitimer(signal.ITIMER_REAL, 0)
        raise KeyboardInterrupt

    def ask():
        input()

    os.dup2(os.pipe()[0], 0)
    signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.1, 0.1)
    ask()
"""


def test_an_interrupted_input_has_the_traceback_of_plain_python(runner: Runner) -> None:
    if not runner.frozen_off:
        pytest.skip("before Python 3.11 an entry of a traceback cannot be taken back")
    write(runner.cwd / "prog.py", INTERRUPTED_INPUT)
    same(runner.plain("script", "prog.py"), runner.debugged("script", "prog.py"))


@pytest.mark.parametrize("name", ["error", "syntax", "exit 3", "exit text"])
def test_a_module_ends_as_under_plain_python(runner: Runner, name: str) -> None:
    write(runner.cwd / "prog.py", ENDS[name])
    same(runner.plain("module", "prog"), runner.debugged("module", "prog"))


def test_a_directory_ends_as_under_plain_python(runner: Runner) -> None:
    write(runner.cwd / "app" / "__main__.py", ENDS["error"])
    same(runner.plain("script", "app"), runner.debugged("script", "app"))


def test_frozen_modules_stay_off_where_the_program_says_so(runner: Runner) -> None:
    write(
        runner.cwd / "prog.py",
        "import sys\nprint(getattr(sys, 'orig_argv', None), sys._xoptions)\n1 / 0\n",
    )
    options = runner.frozen_off
    same(
        runner.plain("module", "prog", options=options),
        runner.debugged("module", "prog", options=options),
    )


@pytest.mark.parametrize(
    ("kind", "target"),
    [("script", "none.py"), ("module", "no_such"), ("module", "a.b"), ("script", ".")],
)
def test_what_is_not_there_is_told_in_pythons_words(runner: Runner, kind: str, target: str) -> None:
    same(runner.plain(kind, target), runner.debugged(kind, target))
