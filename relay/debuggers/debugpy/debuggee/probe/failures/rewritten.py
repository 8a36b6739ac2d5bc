"""Tracebacks that a library has rewritten: what they were before, for a stop to show the rest.

jinja2 puts the template's lines in the place of its own frames, and drops those of its parser. gevent
raises what has ended a greenlet once more, for who asks for it, with frames made anew that hold nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.failures.imports import when_imported
    from relay.debuggers.debugpy.debuggee.probe.failures.listening import error_under_way, listen
    from relay.debuggers.debugpy.debuggee.probe.frames.made_frames import is_made_of_place
    from relay.debuggers.debugpy.debuggee.probe.frames.templates import (
        is_of_compiled_template,
        template_place,
    )

_MADE_FOR = "__jinja_exception__"  # in the globals of a frame that stands for one of a template
_MOST_ORIGINALS = 4
_of_greenlets: list[Any] = []
"""The latest that have ended a greenlet: [exception, traceback, weak reference to the greenlet]"""
_originals: list[tuple[BaseException, Any, list[Any]]] = []
"""The latest, which keep their frames alive: the exception, its traceback, and those of its links that
are of a template. By the traceback these are not to be found later: it is changed in place.
"""


def listen_to_rewriting() -> None:
    """Keep what is about to be rewritten."""
    when_imported("jinja2.debug", _listen_to_jinja2)
    when_imported("gevent.hub", lambda m: listen(m.Hub, "handle_error", before=_keep_of_greenlet))


def _keep_of_greenlet(hub: Any, greenlet: Any, kind: Any, error: Any, tb: Any) -> None:
    """gevent says here what it has caught, before it lets the frames go."""
    import weakref

    if not isinstance(error, Exception) or tb is None:
        return
    entry: Any = [error, tb, None]

    def drop_unasked(_: Any) -> None:
        # Whoever asks gets it raised anew, which changes its traceback.
        if entry[0].__traceback__ is entry[1]:
            _of_greenlets[:] = [one for one in _of_greenlets if one is not entry]

    entry[2] = weakref.ref(greenlet, drop_unasked)
    _of_greenlets[:] = [*_of_greenlets[1 - _MOST_ORIGINALS :], entry]


def links_of_greenlet(links: list[Any]) -> list[Any]:
    """A traceback's links, with those that a greenlet has left for those that stand for them.

    Where that greenlet has asked another one, its own end in such as well.
    """
    known = list(reversed(_of_greenlets))
    while known:
        first = next((i for i, one in enumerate(links) if is_made_of_place(one.tb_frame)), None)
        if first is None:
            break
        places = list(map(_place_of_link, links[first:]))
        chains = [_chain_of_links(tb, len(places) + 1) for _, tb, _ in known]
        at = next((i for i, c in enumerate(chains) if list(map(_place_of_link, c)) == places), None)
        if at is None:
            break
        links = [*links[:first], *chains[at]]
        del known[: at + 1]
    return links


def _chain_of_links(tb: Any, most: int) -> list[Any]:
    found: list[Any] = []
    while tb is not None and len(found) < most:
        found.append(tb)
        tb = tb.tb_next
    return found


def _place_of_link(link: Any) -> tuple[str, str, int]:
    code = link.tb_frame.f_code
    return code.co_filename, code.co_name, link.tb_lineno


def _listen_to_jinja2(module: Any) -> None:
    listen(module, "rewrite_traceback_stack", before=_keep_original)


def _keep_original(*_: Any, **__: Any) -> None:
    error = error_under_way()
    if error is not None and original_traceback(error) is None:
        tb: Any = error.__traceback__
        links = []
        at = tb
        while at is not None:
            if is_of_compiled_template(at.tb_frame):
                links.append(at)
            at = at.tb_next
        _originals[:] = [*_originals[1 - _MOST_ORIGINALS :], (error, tb, links)]


def rewritten_places(links: list[Any]) -> dict[int, Any]:
    """By the address of a frame that jinja2 has made: where the one was that it stands for.

    jinja2 takes the nearest line that it has noted before, and it notes none where a template goes on
    to the one that it extends.
    """
    made = [link.tb_frame for link in links if _MADE_FOR in link.tb_frame.f_globals]
    error = made[-1].f_globals[_MADE_FOR] if made else None
    replaced: list[Any] = next((found for known, _, found in _originals if known is error), [])
    found = {}
    for frame, one in zip(made[::-1], replaced[::-1]):  # noqa: B905  not in Python 3.8
        place = template_place(one.tb_frame, one.tb_lineno)
        if place is None or not place.name.startswith(frame.f_code.co_name):
            break
        found[id(frame)] = place
    return found


def original_traceback(error: BaseException) -> Any:
    """The traceback that the exception had; None if nobody has rewritten it."""
    return next((tb for known, tb, _ in _originals if known is error), None)
