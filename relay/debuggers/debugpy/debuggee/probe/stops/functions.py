"""Function breakpoints by qualified name: `total`, `Cart.total`, `shop.cart.Cart.total`.

pydevd knows the bare names of code only, and stops at every function that has it, those of
libraries included. Here it gets the bare names, and asked at each of its stops whether the
function is one that was meant. A name with its module means that one function; a shorter one
means every function of the program's own code that it fits. One with the absolute path of a file,
`/shop/cart.py:Cart.total`, means what that file defines by this name, whoever has loaded it.
"""

from __future__ import annotations

import os
import sys
import types
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.frames.code_reading import names_of_variables
    from relay.debuggers.debugpy.debuggee.probe.frames.code_table import LatestCodes
    from relay.debuggers.debugpy.debuggee.probe.frames.stack_frames import (
        debugger,
        is_user_code,
    )
    from relay.debuggers.debugpy.debuggee.probe.hooks.limitations import require_purpose
    from relay.debuggers.debugpy.debuggee.probe.process.guard import attempt
    from relay.debuggers.debugpy.debuggee.probe.process.outside import is_from_outside
    from relay.debuggers.debugpy.debuggee.probe.process.paths import absolute_path, real_path
    from relay.debuggers.debugpy.debuggee.probe.stops.breakpoints import (
        breakpoint_holds,
        complaint_of,
        names_in_condition,
    )
    from relay.debuggers.debugpy.debuggee.probe.stops.captures import captures_here
    from relay.debuggers.debugpy.debuggee.probe.stops.function_names import (
        ends_with,
        is_named_elsewhere,
        is_own_namespace,
        module_names,
        named_codes,
        qualified_name,
        walk_namespace,
    )
    from relay.debuggers.debugpy.debuggee.probe.values.types import (
        exact,
    )

_MOST_DEFINED = 200
_MOST_FILES = 10_000
_DEAF_TO_GENERATORS = sys.version_info < (3, 12)  # without sys.monitoring, pydevd is
_GENERATORS = 0x20 | 0x80  # CO_GENERATOR, CO_COROUTINE
MADE_WITHOUT_SOURCE = ("<string>", "<attrs")  # a dataclass's `__init__`; pydevd leaves it out, too


class FunctionTarget:
    """One breakpoint; looks to the check of conditions like one of pydevd's."""

    def __init__(self, name: str, function: str, **texts: Any) -> None:
        self.name = name
        self.path, self.qualified = split_function(function)
        self.parts = self.qualified.replace("<locals>.", "").split(".")
        self.condition, self.hit_condition = texts.get("condition"), texts.get("hit_condition")
        self.log_message = texts.get("log_message")
        self.is_logpoint = self.log_message is not None
        self.expression: Any = _log_expression(self.log_message) if self.is_logpoint else None
        self.place: dict[str, Any] | None = None
        self.is_reported = False  # the place
        self.defined_so = LatestCodes()
        """Whether a code is that of the function by its name, and of which module."""


def split_function(function: str) -> tuple[str, str]:
    """The real path of the file, "" for none, and the qualified name."""
    path, _, name = function.rpartition(":")
    return real_path(path) if path else "", name


_functions: dict[str, list[FunctionTarget]] = {}  # by bare name
_real_paths: dict[str, str] = {}  # by the name that code has of its file
_named_in_files: dict[str, list[tuple[str, Any]]] = {}  # by real path: codes and their names


def set_function_breakpoints(breakpoints: list[dict[str, Any]]) -> dict[str, Any]:
    """From now on these, and no others; `places` says where those lie that are known."""
    if breakpoints:
        require_purpose("functions")
    chosen: dict[str, list[FunctionTarget]] = {}
    for one in breakpoints:
        function = FunctionTarget(**one)
        chosen.setdefault(function.parts[-1], []).append(function)
    _functions.clear()
    _functions.update(chosen)
    if breakpoints:
        _hand_names_on()  # what fails here is an error: else nothing would ever stop
    else:
        attempt(_hand_names_on)  # fails without a debugger that knows functions
    return function_places()


def _hand_names_on() -> None:
    py_db = debugger()
    policy = "ALL" if py_db.multi_threads_single_notification else "NONE"
    api = sys.modules["pydevd"].PyDevdAPI()
    api.set_function_breakpoints(py_db, [_for_pydevd(name, policy) for name in _functions])


def _for_pydevd(name: str, policy: str) -> Any:
    """pydevd's breakpoint on a bare name, whose condition is looked at by this module."""
    kind = sys.modules["_pydevd_bundle.pydevd_breakpoints"].FunctionBreakpoint
    given: dict[str, Any] = {"func_name": name, "condition": "True", "expression": None}
    given["suspend_policy"] = policy
    if "breakpoint_id" in names_of_variables(
        kind.__init__.__code__
    ):  # not in the oldest that is supported
        given["breakpoint_id"] = 0
    return kind(**given)


def function_files() -> list[str]:
    """The files that function breakpoints name."""
    return [f.path for functions in list(_functions.values()) for f in functions]


def function_places() -> dict[str, Any]:
    """Where the functions lie that are known by now: name -> path and line."""
    wanted = [f for functions in list(_functions.values()) for f in functions]
    if any(f.place is None for f in wanted):
        attempt(_look, [f for f in wanted if f.place is None])
    return {"places": {f.name: f.place for f in wanted if f.place is not None}}


def new_places() -> dict[str, Any]:
    """Of functions that calls have made known: also of one whose condition never held."""
    wanted = [f for functions in list(_functions.values()) for f in functions]
    found = [f for f in wanted if f.place is not None and not f.is_reported]
    for function in found:
        function.is_reported = True
    return {f.name: f.place for f in found}


# At a call


def function_stops(frame: Any) -> dict[str, int]:
    """The breakpoints at which this call of a function stops: by name, which hit of it this is."""
    found = {}
    for function in list(_functions.get(frame.f_code.co_name, ())):
        if not is_meant(function, frame):
            continue
        if not is_placed(function):
            function.place = attempt(place_of_code, frame.f_code)
            function.is_reported = False
        number = breakpoint_holds(function, names_in_condition(function.condition), frame)
        if not number:
            continue
        captured = captures_here(function.name, frame)
        if function.is_logpoint:
            attempt(_log, function, frame)
        elif not captured:
            found[function.name] = number
    return found


def is_meant(function: FunctionTarget, frame: Any) -> bool:
    if function.path:
        return bool(attempt(is_in_its_file, function, frame.f_code, default=False))
    if is_defined_so(function, frame):
        return True
    return len(function.parts) > 1 and bool(attempt(is_named_elsewhere, function.parts, frame))


def is_in_its_file(function: FunctionTarget, code: Any) -> bool:
    """Whether this code is that of a function which is named with its file."""
    if code.co_name != function.parts[-1] or real_path_of(code) != function.path:
        return False
    name = getattr(code, "co_qualname", None)  # 3.11+
    if name is not None:
        return _is_qualified_so(function, name)
    place = code.co_name, code.co_firstlineno
    return any(
        (one.co_name, one.co_firstlineno) == place and _is_qualified_so(function, name)
        for name, one in _codes_of(_own_path(code))
    )


def _is_qualified_so(function: FunctionTarget, name: str) -> bool:
    return function.qualified in (name, name.replace("<locals>.", ""))


def real_path_of(code: Any) -> str:
    """The real path of the code's file, where the relay has it."""
    name = code.co_filename
    path = _real_paths.get(name)
    if path is None:
        if len(_real_paths) > _MOST_FILES:
            _real_paths.clear()
        path = _real_paths[name] = real_path(place_of_code(code)["path"])
    return path


def _codes_of(path: str) -> list[tuple[str, Any]]:
    """What a file defines, by qualified names, as this Python compiles it; of its present text."""
    known = _named_in_files.get(path)
    if known is None:
        if len(_named_in_files) > _MOST_DEFINED:
            _named_in_files.clear()
        with open(path, "rb") as file:
            whole = compile(file.read(), path, "exec", 0, True)
        known = _named_in_files[path] = list(named_codes(whole, ""))
    return known


def is_defined_so(function: FunctionTarget, frame: Any) -> bool:
    """Whether the name is that with which the function of this frame is defined; asked at each call, and found once
    for a code of a file and for what its module says that it is.
    """
    code, namespace = frame.f_code, frame.f_globals
    module = namespace.get("__name__")
    spec = namespace.get("__spec__") if module == "__main__" else None
    says = module, namespace.get("__file__"), getattr(spec, "name", None)
    if code.co_filename[:1] == "<" or any(type(one) not in (str, type(None)) for one in says):
        return _is_defined_so(function, frame)
    known = function.defined_so.get(code)
    if known is None or known[0] != says:
        known = function.defined_so[code] = says, _is_defined_so(function, frame)
    return bool(known[1])


def _is_defined_so(function: FunctionTarget, frame: Any) -> bool:
    path = qualified_name(frame).split(".")
    if any(function.parts == [*module, *path] for module in module_names(frame.f_globals)):
        return True
    if not ends_with(path, function.parts):
        return False
    return bool(is_user_code(frame)) or _is_made_in_own_module(frame)


def _is_made_in_own_module(frame: Any) -> bool:
    """Whether `exec` made this function in a module of the program's own, under no file's name."""
    namespace = frame.f_globals
    name = namespace.get("__name__")
    if frame.f_code.co_filename[:1] != "<" or type(name) is not str:
        return False
    module = sys.modules.get(name)
    is_its = type(module) is types.ModuleType and module.__dict__ is namespace
    return is_its and is_own_namespace(namespace)


# Functions that are not called yet


def _look(wanted: list[FunctionTarget]) -> None:
    for one in [one for one in wanted if one.path]:
        attempt(_look_into_file, one)
    wanted = [one for one in wanted if not one.path]
    if wanted:
        _look_into_modules(wanted)


def _look_into_file(function: FunctionTarget) -> None:
    """The relay knows where it is; here it is asked whether the debugger learns of its calls."""
    for name, code in _codes_of(function.path) if _DEAF_TO_GENERATORS else ():
        if code.co_name == function.parts[-1] and _is_qualified_so(function, name):
            function.place = function.place or place_of_code(code)


def _look_into_modules(wanted: list[FunctionTarget]) -> None:
    for name, module in list(sys.modules.items()):
        if type(module) is not types.ModuleType:
            continue
        namespace = module.__dict__
        is_own = is_own_namespace(namespace)
        if not is_own and not any(f.parts[0] == name.partition(".")[0] for f in wanted):
            continue
        names = list(module_names(namespace))
        for path, function in walk_namespace(namespace):
            for one in wanted:
                by_module = any(one.parts == [*module_name, *path] for module_name in names)
                if not (by_module or (is_own and ends_with(path, one.parts))):
                    continue
                if not is_placed(one):
                    one.place = _place_in_namespace(path, function.__code__, namespace)


def is_placed(function: FunctionTarget) -> bool:
    """Whether it is known where it lies, and that calls of it are seen."""
    place = function.place
    return place is not None and not place["unseen"] and place["called"] is None


def _place_in_namespace(path: list[str], code: Any, namespace: Any) -> dict[str, Any]:
    """Of what a namespace has under a name, which its code may not have: an alias, a lambda, or
    what a decorator has put in the place of the function that is defined so."""
    if code.co_name == path[-1]:
        return place_of_code(code)
    behind = attempt(_defined_in_file, ".".join(path), namespace.get("__file__"))
    if behind is not None:
        return place_of_code(behind)
    return dict(place_of_code(code), called=code.co_name)


def _defined_in_file(qualified: str, file: Any) -> Any:
    """The code of a function; None if the file defines none by that name."""
    if type(file) is not str:
        return None
    return dict(_codes_of(absolute_path(file))).get(qualified)


def place_of_code(code: Any) -> dict[str, Any]:
    """deaf, unseen: the debugger does not learn of its calls. called: the name of a function that goes
    by another one, under which the debugger would."""
    return {
        "path": str(sys.modules["pydevd_file_utils"].map_file_to_client(_own_path(code))[0]),
        "line": code.co_firstlineno,
        "deaf": _DEAF_TO_GENERATORS and bool(code.co_flags & _GENERATORS),
        "unseen": code.co_filename.startswith(MADE_WITHOUT_SOURCE),
        "called": None,
    }


def _own_path(code: Any) -> str:
    """The absolute path of the code's file, as the program has it."""
    files = sys.modules["pydevd_file_utils"]
    return str(files.get_abs_path_real_path_and_base_from_file(code.co_filename)[0])


# Log messages


def _log_expression(message: Any) -> Any:
    convert = sys.modules["_pydevd_bundle.pydevd_utils"].convert_dap_log_message_to_expression
    return compile(convert(message), "<log message>", "eval", 0, True)


def _log(function: FunctionTarget, frame: Any) -> None:
    try:
        text = exact(str(eval(function.expression, frame.f_globals, frame.f_locals)))
    except BaseException as error:  # whatever the program's objects raise
        if is_from_outside(error):
            raise
        text = complaint_of(function, frame, "log message", error)
    py_db = debugger()
    py_db.writer.add_command(py_db.cmd_factory.make_console_message(text + os.linesep))
