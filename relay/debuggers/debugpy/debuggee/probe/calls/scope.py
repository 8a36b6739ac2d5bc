"""Whose calls are recorded: of the program's own functions, or of those that the question names."""

from __future__ import annotations

import inspect
import itertools
import os
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.failures.own_code import is_cell_path, is_installed
    from relay.debuggers.debugpy.debuggee.probe.frames.bytecode import (
        GOES_ON_LATER,
        names_bound_anew,
    )
    from relay.debuggers.debugpy.debuggee.probe.frames.code_table import CodeTable
    from relay.debuggers.debugpy.debuggee.probe.frames.stack_frames import is_debugger_file
    from relay.debuggers.debugpy.debuggee.probe.frames.templates import template_name
    from relay.debuggers.debugpy.debuggee.probe.process.guard import attempt
    from relay.debuggers.debugpy.debuggee.probe.process.paths import absolute_path, real_path
    from relay.debuggers.debugpy.debuggee.probe.stops.function_names import (
        ends_with,
        module_names,
        qualified_name,
    )
    from relay.debuggers.debugpy.debuggee.probe.stops.functions import (
        MADE_WITHOUT_SOURCE,
        FunctionTarget,
        is_in_its_file,
        place_of_code,
    )
    from relay.debuggers.debugpy.debuggee.probe.values.secrets import is_secret_name

KEEPS_LOCALS = sys.version_info[:2] == (3, 12)
"""A frame keeps the dictionary of its `f_locals`, and with it values that the program lets go of, and
that is the one which `locals()` gives. Up to 3.11 it must not be emptied inside a trace function, which
writes it back."""
_HAND_OUT_LOCALS = frozenset(("locals", "vars"))
_MOST_OTHERS = 50_000
_FUNCTION_FLAGS = inspect.CO_OPTIMIZED | inspect.CO_NEWLOCALS  # else the body of a module or class
_PARTS_OF_FUNCTIONS = frozenset(
    ("<genexpr>", "<listcomp>", "<setcomp>", "<dictcomp>", "__annotate__")
)
"""Code that the compiler has made a function of: the last one for annotations, since Python 3.14."""
_PASSES_ON = "__hypothesistracebackhide__"
"""A global of functions that hypothesis makes around a test: their code names the test's file, which has
none of them, and they close over all that hypothesis knows."""
_YIELDING = inspect.CO_GENERATOR | inspect.CO_ASYNC_GENERATOR


class OwnFunction:
    """An own function: what is written of each of its calls."""

    def __init__(self, frame: Any, whole: bool = False, rereads: bool = False) -> None:
        code = frame.f_code
        flags, names = code.co_flags, code.co_varnames
        self.number = -1  # the same for equal functions of one place
        self.code, self.line = code, code.co_firstlineno
        self.name: str = template_name(frame) or attempt(
            qualified_name, frame, default=code.co_name
        )
        self.path: str = (attempt(place_of_code, code) or {"path": code.co_filename})["path"]
        self.suspends = bool(flags & GOES_ON_LATER)
        self.yields_values = bool(flags & _YIELDING)
        count = code.co_argcount + code.co_kwonlyargcount
        self.collecting = bool(flags & inspect.CO_VARARGS) + bool(flags & inspect.CO_VARKEYWORDS)
        count += self.collecting  # the last ones: `*args`, `**kwargs`
        first = int(not whole and code.co_argcount > 0 and names[0] in ("self", "cls", "mcs"))
        free = [name for name in code.co_freevars if name != "__class__"] if whole else []
        self.free = len(
            free
        )  # the last ones: variables of the functions around it, which it closes over
        self.arguments: tuple[str, ...] = (*names[first:count], *free)
        self.kept: tuple[int, ...] = ()  # those that are at the end what they were, or parts of it
        if rereads:
            anew = attempt(names_bound_anew, code, default=frozenset(self.arguments))
            if not (KEEPS_LOCALS and _HAND_OUT_LOCALS.intersection(code.co_names)):
                own = self.arguments[: len(self.arguments) - self.free * self.suspends]
                self.kept = tuple([i for i, name in enumerate(own) if name not in anew])
        self.hides = tuple(map(is_secret_name, self.arguments))
        self.hides_any = any(self.hides)
        self.hides_result = is_secret_name(code.co_name)
        self.operations = code.co_code if self.suspends or not hasattr(sys, "monitoring") else b""
        self.is_called = False
        self.is_start = False  # where a recording of calls below a function begins


class CallScope:
    """Which code is meant.

    roots: directories of the program's own code. focus: in their place, absolute paths of files and
    folders, names of modules, and functions with the path of their file. start: the function below which calls are recorded. whole: the
    object of a method counts as an argument, too, and so do variables that a function closes over. rereads: arguments are read at the end, too.
    """

    def __init__(
        self,
        roots: list[str],
        focus: list[str],
        start: str | None,
        whole: bool = False,
        rereads: bool = False,
    ) -> None:
        paths = [one for one in focus if os.path.isabs(one)] if focus else roots
        self.single = [FunctionTarget(one, one) for one in paths if _is_function(one)]
        paths = [one for one in paths if not _is_function(one)]
        self.modules = [one for one in focus if not os.path.isabs(one)]
        self.focused = bool(focus)
        self.paths = [one for path in paths for one in {path, real_path(path)}]
        self.asked = list(focus or roots) if start is None else []  # else it depends on that, too
        self.whole, self.rereads = whole, rereads
        self.start = None if start is None else FunctionTarget(start, start)
        self.files: dict[str, bool] = {}
        # By the code's id: equal codes of two files are two functions, and to hash one takes long.
        self.functions: dict[int, OwnFunction] = {}
        self.others = CodeTable()  # that are not meant
        self.numbers = itertools.count()  # counts in C: two threads never get the same
        self.known: dict[Any, int] = {}  # numbers, by place: the program may make a function anew

    def learn(self, frame: Any) -> OwnFunction | None:
        """The function of a code that is seen for the first time, if it is meant."""
        if not attempt(self._is_meant_code, frame, default=False):
            return None
        found = OwnFunction(frame, self.whole, self.rereads)
        place = (found.path, found.name, found.code)
        found.number = self.known.setdefault(place, next(self.numbers))
        found.is_start = self.start is not None and attempt(self._starts, frame, default=False)
        return self.functions.setdefault(id(frame.f_code), found)

    def meet(self, frame: Any) -> OwnFunction | None:
        """The function of the frame's code, if it is meant: what is not is remembered, too."""
        code = frame.f_code
        function = self.functions.get(id(code))
        if function is None and code not in self.others:
            function = attempt(self.learn, frame)
            if function is None:
                if len(self.others) >= _MOST_OTHERS:
                    self.others.clear()  # the program makes code all the time
                self.others[code] = True
        return function

    def _is_meant_code(self, frame: Any) -> bool:
        code = frame.f_code
        if code.co_flags & _FUNCTION_FLAGS != _FUNCTION_FLAGS:
            return False
        if code.co_name in _PARTS_OF_FUNCTIONS or _PASSES_ON in frame.f_globals:
            return False
        name = code.co_filename
        known = self.files.get(name)
        if known is None:
            known = self.files[name] = self._is_meant_file(name)
        if known or (self.modules and self._is_meant_module(frame)):
            return True
        return any(is_in_its_file(one, code) for one in self.single)

    def _is_meant_file(self, name: str) -> bool:
        if is_cell_path(name):
            return not self.focused
        if name[:1] == "<" or is_debugger_file(name):
            return False
        path = absolute_path(name)
        for root in self.paths:
            inside = path[len(root) :]
            if path == root:
                return True
            if path.startswith(root.rstrip(os.sep) + os.sep):
                return self.focused or not is_installed(inside)
        return False

    def _is_meant_module(self, frame: Any) -> bool:
        name, path = frame.f_globals.get("__name__"), frame.f_code.co_filename
        if type(name) is not str or is_debugger_file(path):
            return False
        if path.startswith(MADE_WITHOUT_SOURCE) and frame.f_globals.get("__file__"):
            return False  # the module's file has no such function: its class was given it
        return any(name == one or name.startswith(one + ".") for one in self.modules)

    def _starts(self, frame: Any) -> bool:
        start: Any = self.start
        if start.path:
            return is_in_its_file(start, frame.f_code)
        path = qualified_name(frame).split(".")
        if ends_with(path, start.parts):
            return True
        return any(start.parts == [*module, *path] for module in module_names(frame.f_globals))


def _is_function(focus: str) -> bool:
    """Whether a focus is a function with the path of its file, and no file or folder."""
    return ":" in focus and not os.path.exists(focus)
