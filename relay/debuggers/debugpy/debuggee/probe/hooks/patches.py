"""Functions of pydevd, replaced in place: once each, however often a client attaches.

A replacement is a function of the original and of what the original was called with. Setting a
second one takes the first one's place, also where another probe set that, of another relay: so
nothing is ever wrapped in itself. Refuses to know what is replaced, and why.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

_SLOT = "_debug_relay_replacement"


def patch(
    owner: Any,
    name: str,
    replacement: Callable[..., Any],
    calling: Callable[[Any, list[Any]], Any] | None = None,
) -> None:
    """Have `owner.name(…)` call `replacement(original, …)` from now on.

    owner: a module, a class or an object; of a class, `name` may be a property that is read only.
    calling: makes the function that calls it, of the original and of a list whose only item is the
    replacement of that moment; for those that have something to do around it in the same call.
    AttributeError where there is no such name.
    """
    found = vars(owner).get(name)
    function = found.fget if type(found) is property else found
    slot = getattr(function, _SLOT, None)
    if slot is not None:
        slot[0] = replacement
    elif type(found) is property:
        setattr(owner, name, property(_replaced(function, replacement, calling)))
    else:
        setattr(owner, name, _replaced(getattr(owner, name), replacement, calling))


def is_patched(owner: Any, name: str) -> bool:
    """Whether this very owner's function is replaced. Cheap: asked at each hit of a line."""
    return hasattr(getattr(owner, name, None), _SLOT)


def _replaced(original: Any, replacement: Any, calling: Any) -> Any:
    slot = [replacement]
    replaced = (calling or _calling)(original, slot)
    setattr(replaced, _SLOT, slot)
    return replaced


def _calling(original: Any, slot: list[Any]) -> Any:
    def replaced(*arguments: Any, **named: Any) -> Any:
        return slot[0](original, *arguments, **named)

    return replaced
