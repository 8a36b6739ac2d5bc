"""How plain Python runs a script or a module, and how it reports an uncaught exception.

Runs in the debuggee. Knows CPython's own start (main.c, runpy) and end (pythonrun.c) of a
program well enough to be taken for it: `__main__`, sys.argv, sys.path[0], the words for a script
that is not there, the frames of a traceback. Knows nothing of debuggers.

Standard library only, Python 3.8 and newer; imports nothing of its own package.
"""

from __future__ import annotations

import contextlib
import importlib.machinery
import importlib.util
import io
import os
import sys
import types
from typing import Any

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Set

FROZEN_OFF = ["-X", "frozen_modules=off"]


def _is_frozen_for_us() -> bool:
    """Whether the program's own command line leaves Python its frozen modules."""
    options: list[str] = getattr(sys, "orig_argv", [])[:-2]
    return options[-2:] == FROZEN_OFF and not any("frozen_modules" in one for one in options[:-2])


def _import_runpy() -> types.ModuleType:
    """As Python's own start has it: its frames are in each traceback of a module's run."""
    override = getattr(sys.modules["_imp"], "_override_frozen_modules_for_tests", None)
    if override is None or not _is_frozen_for_us():
        return importlib.import_module("runpy")
    override(1)
    try:
        return importlib.import_module("runpy")
    finally:
        override(0)


runpy: Any = _import_runpy()


class Program:
    """What to run: a script (file, directory, zip archive), a module, or a command in the place of Python,
    with its arguments.

    `model` is the namespace of a `__main__` that this interpreter made itself; `named` is `target` as
    it stands on the command line.
    """

    def __init__(
        self, kind: str, target: str, args: list[str], model: Mapping[str, Any], named: str
    ) -> None:
        self.target = target
        self.named = named
        self.args = args
        self.is_module = kind == "module"
        self.is_command = kind == "command"
        # A directory or a zip archive: Python imports the __main__ that is in it.
        self.is_container = not self.is_module and _has_importer(target)
        self._path = _as_python_names(target)
        self._main = fresh_main(model)
        self._is_cached_named = "__cached__" in model

    def prepare(self) -> tuple[Any, ...]:
        """Sets sys.argv, sys.path and `__main__`; returns what to call, and with what."""
        if self.is_command:
            return (become, self.target, [self.named, *self.args])
        sys.argv[:] = ["-m" if self.is_module else self.named, *self.args]
        restore_command_line([*(["-m"] if self.is_module else []), self.named, *self.args])
        self._set_path()
        sys.modules["__main__"] = self._main
        if self.is_module:
            return (runpy._run_module_as_main, self.target)
        if self.is_container:
            return (runpy._run_module_as_main, "__main__", False)
        return (exec, self._load(), self._main.__dict__)

    def leave(self) -> None:
        """What Python takes away before the threads are joined and atexit runs."""
        if not self.is_module and not self.is_container:
            self._main.__dict__.pop("__file__", None)
            self._main.__dict__.pop("__cached__", None)
        del self._main  # nothing of ours is to keep what it refers to from dying with it

    def own_code(self) -> set[types.CodeType]:
        """The code of this file that can be at the root of an exception's traceback."""
        return {Program.prepare.__code__, Program._load.__code__, _read.__code__, become.__code__}

    def _set_path(self) -> None:
        if self.is_container:
            sys.path.insert(0, self._path)
        elif is_safe_path():
            return
        elif self.is_module:
            with contextlib.suppress(OSError):
                sys.path.insert(0, os.getcwd())
        else:
            sys.path.insert(0, os.path.dirname(os.path.realpath(self.target)))

    def _load(self) -> types.CodeType:
        path = self._path
        content = _read(path)
        self._main.__file__ = path
        if self._is_cached_named:
            self._main.__dict__["__cached__"] = None
        if path.endswith(".pyc"):
            compiled = importlib.machinery.SourcelessFileLoader("__main__", path)
            self._main.__loader__ = compiled
            code: types.CodeType = compiled.get_code("__main__")  # type: ignore[assignment]
            return code
        self._main.__loader__ = importlib.machinery.SourceFileLoader("__main__", path)
        return compile(content, path, "exec", dont_inherit=True)


def become(path: str, words: list[str]) -> None:
    """Run a command in the place of this process, as a shell would; one that cannot be is said on standard error."""
    import errno
    import signal

    for name in ("SIGPIPE", "SIGXFSZ"):  # which Python ignores, and what is run would, too
        signal.signal(getattr(signal, name), signal.SIG_DFL)
    try:
        try:
            os.execv(path, words)
        except OSError as error:
            if error.errno != errno.ENOEXEC:
                raise
            os.execv("/bin/sh", ["sh", path, *words[1:]])
    except OSError as error:
        sys.stderr.write(f"{words[0]}: {error.strerror}\n")
        raise SystemExit(126) from None


def _as_python_names(target: str) -> str:
    # Made absolute, but not normal, and only by newer versions.
    if sys.version_info < (3, 9):  # noqa: UP036
        return target
    if target == "." and sys.version_info >= (3, 11):
        return os.getcwd()
    return os.path.join(os.getcwd(), target)


def _read(path: str) -> bytes:
    try:
        with io.open_code(path) as file:
            return file.read()
    except OSError as error:
        name = getattr(sys, "orig_argv", [sys.executable])[0]
        sys.stderr.write(
            f"{name}: can't open file {path!r}: [Errno {error.errno}] {error.strerror}\n"
        )
        raise SystemExit(2) from None


def _has_importer(path: str) -> bool:
    for hook in sys.path_hooks:
        with contextlib.suppress(ImportError):
            hook(path)
            return True
    return False


def is_safe_path() -> bool:
    """Whether Python leaves the script's directory out of sys.path."""
    return bool(getattr(sys.flags, "safe_path", False) or sys.flags.isolated)


def fresh_main(model: Mapping[str, Any]) -> types.ModuleType:
    """A new `__main__` with the names that this version of Python gives it, in its order."""
    main = types.ModuleType("__main__")
    namespace = main.__dict__
    namespace.clear()
    for name in model:
        if name.startswith("__") and name not in ("__file__", "__cached__"):
            namespace[name] = None
    namespace["__name__"] = "__main__"
    namespace["__builtins__"] = sys.modules["builtins"]
    namespace["__loader__"] = importlib.machinery.BuiltinImporter
    if "__annotations__" in namespace:
        namespace["__annotations__"] = {}
    return main


def restore_command_line(command: list[str]) -> None:
    """sys.orig_argv and sys._xoptions as for `command`: programs restart themselves by them."""
    original: list[str] = getattr(sys, "orig_argv", [])
    if len(original) < 3:
        return
    options = original[:-2]
    if options[-2:] == FROZEN_OFF:
        if _is_frozen_for_us():
            sys._xoptions.pop("frozen_modules", None)
        del options[-2:]
    sys.orig_argv = [*options, *command]


# --- the end of the program -------------------------------------------------------------------


def show_as_plain(own_code: Set[types.CodeType]) -> None:
    """Whatever sys.excepthook the program left gets the exception as plain Python would give it.

    Python itself calls the hook when the frames that run `own_code` have unwound: so exit codes,
    signals and the order of ends stay its own.
    """
    users: Any = sys.excepthook

    def excepthook(kind: Any, value: Any, trace: Any) -> None:
        sys.excepthook = users
        trace = strip(trace, own_code)
        value.__traceback__ = sys.last_traceback = trace
        try:
            users(kind, value, trace)
        except Exception as error:  # noqa: BLE001
            _show_hook_error(error, value, {excepthook.__code__})

    sys.excepthook = excepthook


def strip(trace: Any, own_code: Set[types.CodeType]) -> Any:
    """The traceback without its leading entries of `own_code`."""
    while trace is not None and trace.tb_frame.f_code in own_code:
        trace = trace.tb_next
    return trace


def _show_hook_error(error: Any, value: Any, own_code: Set[types.CodeType]) -> None:
    # The words of pythonrun.c.
    error.__traceback__ = strip(error.__traceback__, own_code)
    sys.stderr.write("Error in sys.excepthook:\n")
    sys.__excepthook__(type(error), error, error.__traceback__)
    sys.stderr.write("\nOriginal exception was:\n")
    sys.__excepthook__(type(value), value, value.__traceback__)
