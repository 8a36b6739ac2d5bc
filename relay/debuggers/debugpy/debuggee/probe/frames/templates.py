"""Frames that render a template: shown at the template's own line, and not at that of Python code
that the program's author has never seen.

Jinja2 compiles a template to Python, under the template's file name, and keeps which line was made of
which; Django renders a tree of nodes, each of which knows its place. Reads what they have stored:
nothing is imported, and nothing of the program runs.
"""

from __future__ import annotations

import dis
import os
import sys
import types
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.frames.opcodes import GOES_ELSEWHERE, begun_line
    from relay.debuggers.debugpy.debuggee.probe.frames.stack_frames import client_path
    from relay.debuggers.debugpy.debuggee.probe.hooks.patches import patch
    from relay.debuggers.debugpy.debuggee.probe.process.guard import attempt
    from relay.debuggers.debugpy.debuggee.probe.values.attributes import own_dict
    from relay.debuggers.debugpy.debuggee.probe.values.types import plan_of

WITHOUT_FILE = "<template>"
"""Jinja2's name of a template that was made of a text."""
_LONGEST_TAG = 60
_DJANGO_BRACKETS = {1: ("{{ ", " }}"), 2: ("{% ", " %}")}  # by the number of a token's type


class ShownPlace:
    """Where a frame is to be shown: file, line, and what stands in the place of its function."""

    def __init__(self, path: str, line: int, name: str) -> None:
        self.path = path
        self.line = line
        self.name = name


def template_place(frame: Any, line: int, is_innermost: bool = False) -> ShownPlace | None:
    """The place in a template that the frame renders at this line of its code; None for any other.

    is_innermost: nothing that the frame has called runs now. Only in what it calls does Django's
    own code stand for a node of a template.
    """
    if type(frame) is not types.FrameType:
        return None  # made to be shown, and at the right place already
    space = frame.f_globals
    if "__jinja_template__" in space:
        return attempt(_jinja_place, frame, line)  # type: ignore[no-any-return]
    if not is_innermost and frame.f_code.co_name == "render_annotated":
        return attempt(_django_place, frame)  # type: ignore[no-any-return]
    return None


def is_of_compiled_template(frame: Any) -> bool:
    """Whether it is of code that Jinja2 has made."""
    return type(frame) is types.FrameType and "__jinja_template__" in frame.f_globals


def shown_place(frame: Any, line: int | None, is_innermost: bool = False) -> ShownPlace:
    """Where the frame is to be shown, with the path as the client knows it."""
    line = _line_ahead(frame) if line is None else line
    found = template_place(frame, line, is_innermost)
    if found is None:
        path = attempt(client_path, frame, default=frame.f_code.co_filename)
        return ShownPlace(path, line, frame.f_code.co_name)
    found.path = _as_client_knows(found.path)
    return found


def _line_ahead(frame: Any) -> int:
    """Of a frame at an instruction of no line, as where an `except*` has raised what it has left: the
    line of the nearest one ahead of it that may lead to it."""
    code, at = frame.f_code, frame.f_lasti
    ahead = [(end, line) for start, end, line in code.co_lines() if line and start <= at]
    lines = [line for end, line in ahead if code.co_code[end - 2] not in GOES_ELSEWHERE]
    return int(lines[-1] if lines else code.co_firstlineno)


def _as_client_knows(path: str) -> str:
    files: Any = sys.modules["pydevd_file_utils"]
    return path if path[:1] == "<" else str(files.map_file_to_client(path)[0])


def template_name(frame: Any) -> str | None:
    """What stands in the place of the function's name where no file is shown; None for any other."""
    place = template_place(frame, frame.f_lineno or 1, True)
    if place is None or place.path == WITHOUT_FILE:
        return None if place is None else place.name
    return f"{place.name} of {os.path.basename(place.path)}"


def shown_line(frame: Any, line: int) -> int:
    """The line at which the frame is to be shown in its own file."""
    found = template_place(frame, line, True)
    return line if found is None else found.line


def show_templates() -> None:
    """In the stacks that pydevd lists, too."""
    factory: Any = sys.modules["_pydevd_bundle.pydevd_net_command_factory_json"]
    patch(factory.NetCommandFactoryJson, "_iter_visible_frames_info", _listed)


def _listed(original: Any, factory: Any, py_db: Any, frames: Any, *more: Any, **named: Any) -> Any:
    """Of each frame: id, frame, name, path here, path as the client knows it, line, …"""
    innermost = next(iter(frames), None)
    for one in original(factory, py_db, frames, *more, **named):
        frame, line = one[1], one[5]
        if line is None:
            one = (*one[:5], line := _line_ahead(frame), *one[6:])
        place = template_place(frame, line, frame is innermost)
        if place is None:
            yield one
            continue
        about = list(one)
        about[2], about[4], about[5] = place.name, _as_client_knows(place.path), place.line
        about[8:9] = [None] * len(about[8:9])  # columns, in versions that have them
        yield tuple(about)


# Jinja2 --------------------------------------------------------------------------------------


def _jinja_place(frame: Any, line: int) -> ShownPlace:
    code, template = frame.f_code, frame.f_globals["__jinja_template__"]
    stored = own_dict(template, plan_of(template))
    name = "template"
    if code.co_name == "root":
        name = "top-level template code"
    elif code.co_name.startswith("block_"):
        name = f"block {code.co_name[6:]!r}"
    if code.co_filename == WITHOUT_FILE and type(stored.get("name")) is str:
        name = f"{name} of {stored['name']!r}"
    if code.co_name == "root" and line in _lines_with(code, "root_render_func"):
        assigned = _parent_lines(code)  # Jinja2 notes no line for the template that it extends
        line = assigned[0] if len(assigned) == 1 else line
    pairs = [pair.partition("=") for pair in stored["_debug_info"].split("&") if pair]
    before = [int(own) for own, _, made in pairs if int(made) <= line]
    return ShownPlace(_absolute(code.co_filename), before[-1] if before else 1, name)


def _lines_with(code: Any, name: str) -> set[int]:
    """Lines of the code at which the attribute is asked for, of the parent template."""
    found, line, before = set(), 0, None
    for one in dis.get_instructions(code):
        line = begun_line(one) or line
        if one.argval == name and getattr(before, "argval", None) == "parent_template":
            found.add(line)
        before = one
    return found


def _parent_lines(code: Any) -> list[int]:
    """Lines of the code at which it learns which template it extends."""
    found, line, before = [], 0, ""
    for one in dis.get_instructions(code):
        line = begun_line(one) or line
        is_store = one.opname.startswith("STORE") and one.argval == "parent_template"
        if is_store and before != "LOAD_CONST":  # there is none at first
            found.append(line)
        before = one.opname
    return found


# Django --------------------------------------------------------------------------------------


def _django_place(frame: Any) -> ShownPlace | None:
    if frame.f_globals.get("__name__") != "django.template.base":
        return None
    node = frame.f_locals.get("self")
    stored = own_dict(node, plan_of(node))
    token, origin = stored["token"], stored["origin"]
    about = own_dict(token, plan_of(token))
    kind = own_dict(about["token_type"], plan_of(about["token_type"])).get("_value_")
    before, after = _DJANGO_BRACKETS[kind]
    tag = " ".join(about["contents"].split())
    tag = tag if len(tag) <= _LONGEST_TAG else tag[: _LONGEST_TAG - 1] + "…"
    name, file = before + tag + after, own_dict(origin, plan_of(origin))["name"]
    if os.path.isabs(file):
        return ShownPlace(file, about["lineno"], name)
    if file[:1] != "<":
        name = f"{name} of {file!r}"
    return ShownPlace(WITHOUT_FILE, about["lineno"], name)


def _absolute(path: str) -> str:
    return path if path[:1] == "<" else os.path.abspath(path)
