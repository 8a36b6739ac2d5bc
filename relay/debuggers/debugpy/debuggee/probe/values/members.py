"""What a value contains, what it has as attributes, or a frame as variables: each as one thing with a name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.values.text import Text
    from relay.debuggers.debugpy.debuggee.probe.values.types import exact


class Member(NamedTuple):
    """One thing that a value contains, one attribute of it, or one variable of a scope."""

    name: str
    value: Any
    path: str | None  # what to append to the parent's expression
    key: Any = None


def attribute_child(name: Any, value: Any) -> Member:
    if type(name) is str and name.isidentifier():
        return Member(name, value, "." + name, name)
    return Member(exact(name) if type(name) is str else key_name(name), value, None, name)


def key_name(key: Any) -> str:
    """How the key is written where it names a child."""
    return Text(200).of(key)
