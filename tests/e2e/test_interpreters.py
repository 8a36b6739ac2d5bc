"""Debuggees under other interpreters, with other options, and everything that `python` can run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipapp
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.api import Api, Refused
from tests.programs import Program

Write = Callable[..., Program]

PYENV = Path(os.environ.get("PYENV_ROOT", "~/.pyenv")).expanduser() / "versions"
VERSIONS = ["3.8", "3.9", "3.10", "3.11", "3.12", "3.13"]
TOO_OLD = ["2.7", "3.6", "3.7"]
MODES = ["fast", "plain", "adapter"]


def bare(version: str) -> str:
    """An interpreter of that version into which nothing was installed."""
    found = sorted(PYENV.glob(f"{version}.*/bin/python"))
    if not found:
        pytest.skip(f"no Python {version} below {PYENV}")
    return str(found[-1])


def plainly(argv: list[str], **more: Any) -> subprocess.CompletedProcess[str]:
    """The same without the relay."""
    return subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False, **more)


# Versions ----------------------------------------------------------------------------------


ORDERS = """
    import sys

    def price(item, quantity):
        unit = {"apple": 2, "bread": 3}[item]
        total = unit * quantity  # @total
        return total

    def main():
        sums = []
        for item, quantity in [("apple", 3), ("bread", 2)]:
            sums.append(price(item, quantity))  # @call
        return sums

    print(main(), sys.version_info[:2])
    raise SystemExit(3)
"""


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("version", VERSIONS)
async def test_a_whole_session_under_an_interpreter_without_debugpy(
    api: Api, program: Write, version: str, mode: str
) -> None:
    orders = program(ORDERS)
    session = await api.session(python_path=bare(version))
    placed = await session.breakpoint(
        orders.text, orders.line("total"), condition="any(q == quantity for q in (2,))"
    )
    assert placed["verified"] is True
    at = await session.launch(orders.text, launch_mode=mode, include=["locals"])
    assert at["current_location"]["line"] == orders.line("total")
    assert {v["name"]: v["value"] for v in at["stop"]["locals"]} == {
        "item": "'bread'",
        "quantity": "2",
        "unit": "3",
    }
    assert (await session.evaluate("[unit * n for n in range(quantity)]"))["result"] == "[0, 3]"
    assert "error" not in await session.evaluate("unit = 4")
    over = await session.post("/step-over")
    assert over["current_location"]["line"] == orders.line("total") + 1
    out = await session.post("/step-out")
    assert out["current_location"]["line"] == orders.line("call")
    assert out["return_value"]["value"] == "8"
    ended = await session.resume()
    assert (ended["status"], ended["exit_code"]) == ("terminated", 3)
    major, minor = version.split(".")
    assert await session.printed() == f"[6, 8] ({major}, {minor})\n"


@pytest.mark.parametrize("version", VERSIONS)
async def test_lines_and_syntax_are_those_of_the_debuggees_python(
    api: Api, program: Write, version: str
) -> None:
    matching = program("match = 1\nmatch match:\n    case 1:\n        print('one')  # @one\n")
    session = await api.session(python_path=bare(version))
    if version in ("3.8", "3.9"):
        with pytest.raises(Refused) as refused:
            await session.launch(matching.text)
        assert (refused.value.code, refused.value.details["line"]) == ("LAUNCH_SYNTAX_ERROR", 2)
        assert (await session.get())["status"] == "created"
    else:
        assert (await session.breakpoint(matching.text, matching.line("one")))["verified"] is True
        assert (await session.launch(matching.text))["status"] == "paused"


FAILS = """
    import threading

    def work():
        raise KeyError("of a thread")

    def main():
        raise ValueError("of the main thread")  # @fails

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    thread = None
    main()  # @main
"""


@pytest.mark.parametrize("version", VERSIONS)
async def test_tracebacks_of_the_program_have_their_lines_when_it_is_traced_no_more(
    api: Api, program: Write, version: str
) -> None:
    fails = program(FAILS)
    session = await api.session(python_path=bare(version))
    await session.post("/exception-breakpoints", filters=["uncaught"])
    assert (await session.launch(fails.text))["stop_reason"] == "exception"
    assert (await session.resume())["stop_reason"] == "exception"
    frames = (await session.get("/stacktrace"))["frames"]
    assert [frame["line"] for frame in frames] == [fails.line("fails"), fails.line("main")]
    await session.resume()
    alone = plainly([bare(version), fails.text]).stderr.splitlines()
    shown = (await session.printed("stderr")).splitlines()
    assert [line for line in shown if fails.text in line] == [
        line for line in alone if fails.text in line
    ]


async def created_and_launched(api: Api, python_path: str, script: Program) -> None:
    """An interpreter may be refused at either."""
    session = await api.session(python_path=python_path)
    await session.launch(script.text)


@pytest.mark.parametrize("version", TOO_OLD)
async def test_an_interpreter_that_is_too_old_is_refused_in_words(
    api: Api, program: Write, version: str
) -> None:
    script = program("print(1)\n")
    with pytest.raises(Refused) as refused:
        await created_and_launched(api, bare(version), script)
    assert refused.value.code in ("LAUNCH_FAILED", "INVALID_REQUEST")
    assert version in refused.value.message


@pytest.mark.parametrize("kind", ["missing", "directory", "not a python", "not executable"])
async def test_what_is_no_interpreter_is_refused_in_words(
    api: Api, program: Write, tmp_path: Path, kind: str
) -> None:
    script = program("print(1)\n")
    path = {
        "missing": tmp_path / "nothing",
        "directory": tmp_path,
        "not a python": Path("/bin/true"),
        "not executable": script.path,
    }[kind]
    with pytest.raises(Refused) as refused:
        await created_and_launched(api, str(path), script)
    assert refused.value.code in ("LAUNCH_FAILED", "INVALID_REQUEST")
    assert str(path) in refused.value.message + str(refused.value.details)


async def test_a_virtual_environment_is_the_one_that_it_says(
    api: Api, program: Write, tmp_path: Path
) -> None:
    """Its own packages, its own prefix, and no need for a debugger in it."""
    venv = tmp_path / "venv"
    made = plainly([sys.executable, "-m", "venv", "--without-pip", str(venv)])
    assert made.returncode == 0, made.stderr
    (site,) = venv.glob("lib/python*/site-packages")
    (site / "only_here.py").write_text("VALUE = 42\n")
    script = program("""
        import sys
        import only_here
        print(only_here.VALUE, sys.prefix)  # @print
    """)
    session = await api.session(python_path=str(venv / "bin" / "python"))
    await session.breakpoint(script.text, script.line("print"))
    await session.launch(script.text)
    assert (await session.evaluate("only_here.VALUE"))["result"] == "42"
    assert (await session.resume())["exit_code"] == 0
    assert await session.printed() == f"42 {venv}\n"


# Options -----------------------------------------------------------------------------------


FLAGS = """
    import json, sys
    assert_runs = False
    try:
        assert False
    except AssertionError:
        assert_runs = True
    found = {
        "flags": {name: getattr(sys.flags, name) for name in dir(sys.flags)
                  if not name.startswith(("_", "n_")) and not callable(getattr(sys.flags, name))},
        "asserts": assert_runs,
        "warnings": sys.warnoptions,
        "xoptions": sys._xoptions,
        "path0": sys.path[0],
        "argv": sys.argv,
        "orig_argv": sys.orig_argv[1:],
        "doc": __doc__,
        "name": __name__,
        "file": __file__,
        "package": __package__,
        "spec": str(__spec__),
    }
    print(json.dumps(found))  # @print
"""


@pytest.mark.parametrize(
    "options",
    [
        ["-O"],
        ["-OO"],
        ["-X", "dev"],
        ["-W", "error"],
        ["-I"],
        ["-E", "-s"],
        ["-B", "-u"],
        ["-q"],
        ["-Xutf8=1", "-bb"],
    ],
    ids=" ".join,
)
async def test_the_interpreters_options_mean_what_they_mean_without_the_relay(
    api: Api, program: Write, options: list[str]
) -> None:
    flags = program(FLAGS)
    session = await api.session(project_root=str(flags.path.parent))
    await session.breakpoint(flags.text, flags.line("print"))
    at = await session.launch(flags.text, python_args=options, args=["a", "--b"])
    assert at["current_location"]["line"] == flags.line("print")
    ended = await session.resume()
    expected = plainly([sys.executable, *options, flags.text, "a", "--b"], cwd=flags.path.parent)
    assert ended["exit_code"] == expected.returncode == 0
    assert json.loads(await session.printed()) == json.loads(expected.stdout)


@pytest.mark.parametrize(
    "options", [["-c", "print(1)"], ["-m", "json"], ["script.py"], ["-"], ["-h"], ["-V"]]
)
async def test_options_that_leave_the_program_no_place_are_refused(
    api: Api, program: Write, options: list[str]
) -> None:
    script = program("print(1)\n")
    session = await api.session()
    with pytest.raises(Refused) as refused:
        await session.launch(script.text, python_args=options)
    assert (refused.value.status, refused.value.code) == (400, "INVALID_REQUEST")
    assert refused.value.details["errors"][0]["field"] == "python_args"
    assert (await session.launch(script.text))["exit_code"] == 0


@pytest.mark.parametrize("mode", MODES)
async def test_an_option_that_python_refuses_fails_in_pythons_words(
    api: Api, program: Write, mode: str
) -> None:
    script = program("print(1)\n")
    session = await api.session()
    with pytest.raises(Refused) as refused:
        await session.launch(script.text, python_args=["-Z"], launch_mode=mode)
    assert refused.value.code == "LAUNCH_FAILED"
    if mode != "adapter":
        assert "unknown option" in refused.value.details["stderr"].lower()
    assert (await session.get())["status"] == "created"


@pytest.mark.parametrize("mode", MODES)
async def test_environment_directory_and_arguments_arrive(
    api: Api, tmp_path: Path, mode: str
) -> None:
    here = tmp_path / "some where"
    here.mkdir()
    shows = Program.write(
        tmp_path / "main.py",
        """
        import json, os, sys
        print(json.dumps([os.environ.get("NEW"), os.environ.get("HOME"), os.getcwd(), sys.argv[1:],
                          sorted(n for n in os.environ if "PYDEV" in n or "DEBUGPY" in n)]))
        """,
    )
    words = ["", "two words", "--flag=é", "*", "$HOME", '"', "'", "\\", "a\nb"]
    session = await api.session()
    await session.launch(
        shows.text, args=words, env={"NEW": "väl=ue"}, cwd=str(here), launch_mode=mode
    )
    new, home, cwd, argv, debuggers = json.loads(await session.printed())
    assert (new, home, cwd) == ("väl=ue", os.environ.get("HOME"), str(here))
    assert argv == words
    if mode == "fast":
        assert debuggers == []


async def test_a_program_that_changes_its_directory_is_found_where_it_was(
    api: Api, program: Write, tmp_path: Path
) -> None:
    """Relative paths are those of the project, before and after."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    script = program("""
        import os
        os.chdir("elsewhere")  # @before
        print(os.getcwd())  # @after
    """)
    session = await api.session()
    await session.breakpoint("main.py", script.line("before"))
    at = await session.launch("main.py")
    assert at["current_location"]["path"] == script.text
    await session.breakpoint("main.py", script.line("after"))
    at = await session.resume()
    assert at["current_location"]["path"] == script.text
    assert at["current_location"]["line"] == script.line("after")
    assert (await session.resume())["exit_code"] == 0
    assert await session.printed() == f"{elsewhere}\n"


async def test_a_working_directory_that_is_none_is_refused(api: Api, program: Write) -> None:
    script = program("print(1)\n")
    session = await api.session()
    with pytest.raises(Refused) as refused:
        await session.launch(script.text, cwd="/nowhere/at/all")
    assert (refused.value.status, refused.value.code) == (400, "INVALID_REQUEST")
    assert refused.value.details["errors"][0]["field"] == "cwd"


# What can be run ---------------------------------------------------------------------------


MAIN = """
    import json, sys
    from pkg.part import VALUE

    def main():
        value = VALUE  # @value
        print(json.dumps([sys.argv, __name__, __package__, __file__, sys.path[0], value]))
        return 4

    if __name__ == "__main__":
        sys.exit(main())
"""


def package(directory: Path) -> Program:
    Program.write(directory / "pkg" / "__init__.py", "")
    Program.write(directory / "pkg" / "part.py", "VALUE = 7\n")
    return Program.write(directory / "pkg" / "__main__.py", MAIN)


@pytest.mark.parametrize("mode", MODES)
async def test_a_package_as_a_module(api: Api, tmp_path: Path, mode: str) -> None:
    main = package(tmp_path)
    session = await api.session(project_root=str(tmp_path))
    await session.breakpoint(main.text, main.line("value"))
    at = await session.post("/launch", module="pkg", args=["a"], wait=30, launch_mode=mode)
    assert at["current_location"]["line"] == main.line("value")
    frames = (await session.get("/stacktrace"))["frames"]
    assert [frame["name"] for frame in frames] == ["main", "<module>"]
    ended = await session.resume()
    expected = plainly([sys.executable, "-m", "pkg", "a"], cwd=tmp_path)
    assert ended["exit_code"] == expected.returncode == 4
    shown, wanted = json.loads(await session.printed()), json.loads(expected.stdout)
    if mode != "fast":  # stock debugpy has paths of its own
        del shown[4], wanted[4]
    assert shown == wanted


@pytest.mark.parametrize("mode", MODES)
async def test_a_library_module_that_reads_its_input(api: Api, tmp_path: Path, mode: str) -> None:
    session = await api.session(project_root=str(tmp_path))
    await session.post("/launch", module="json.tool", args=["--compact"], launch_mode=mode)
    await session.post("/input", input='{"a": [1, 2]}', eof=True)
    await session.get("/events", types="terminated", timeout=30)
    assert (await session.get())["exit_code"] == 0
    assert await session.printed() == '{"a":[1,2]}\n'


@pytest.mark.parametrize("mode", MODES)
async def test_a_module_that_does_not_exist_fails_as_ever(
    api: Api, tmp_path: Path, mode: str
) -> None:
    session = await api.session(project_root=str(tmp_path))
    ended = await session.post("/launch", module="no_such_module", wait=30, launch_mode=mode)
    assert (ended["status"], ended["exit_code"]) == ("terminated", 1)
    assert "No module named no_such_module" in (await session.printed("stderr")).replace("'", "")


@pytest.mark.parametrize("named", ["app.py", "./app.py", "sub/../app.py"])
async def test_a_script_has_the_name_that_it_was_asked_by(
    api: Api, tmp_path: Path, named: str
) -> None:
    (tmp_path / "sub").mkdir()
    Program.write(tmp_path / "app.py", "import sys\nprint(sys.argv, sys.orig_argv[1:])\n")
    session = await api.session(project_root=str(tmp_path))
    await session.launch(named, args=["a"])
    expected = plainly([sys.executable, named, "a"], cwd=tmp_path)
    assert await session.printed() == expected.stdout


@pytest.mark.parametrize("kind", ["directory", "app.pyz", "app.pex", "compiled file"])
async def test_a_directory_an_archive_and_a_compiled_file_as_script(
    api: Api, tmp_path: Path, kind: str
) -> None:
    source = tmp_path / "app"
    main = Program.write(
        source / "__main__.py",
        """
        import json, sys
        print(json.dumps([sys.argv, __name__, __package__, __file__, sys.path[0]]))  # @print
        sys.exit(6)
        """,
    )
    target = source
    if kind.startswith("app."):  # whatever an archive is called, and with a line before it
        target = tmp_path / kind
        zipapp.create_archive(source, target, "/usr/bin/env python3")
    elif kind == "compiled file":
        compile_it = f"import py_compile; py_compile.compile({main.text!r}, 'main.pyc')"
        assert plainly([sys.executable, "-c", compile_it], cwd=tmp_path).returncode == 0
        target = tmp_path / "main.pyc"
    session = await api.session(project_root=str(tmp_path))
    if kind == "directory":
        await session.breakpoint(main.text, main.line("print"))
    at = await session.launch(str(target), args=["a"])
    if kind == "directory":
        assert at["current_location"]["line"] == main.line("print")
        at = await session.resume()
    expected = plainly([sys.executable, str(target), "a"], cwd=tmp_path)
    assert at["exit_code"] == expected.returncode == 6
    assert json.loads(await session.printed()) == json.loads(expected.stdout)
