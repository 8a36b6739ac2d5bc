"""The routes of output, input and events."""

from __future__ import annotations

from relay.errors import (
    InvalidRequest,
    InvalidSessionState,
    NotSupported,
    SessionHeld,
    StdinClosed,
)
from relay.models.dap_log import DapLogPage, DapLogQuery
from relay.models.output import (
    ClearedOutput,
    EventPage,
    EventsQuery,
    EventView,
    InputRequest,
    InputResult,
    OutputEntry,
    OutputPage,
    OutputQuery,
)
from relay.models.streams import EventsStreamQuery, OutputStreamQuery
from relay.models.timeline import (
    TimelineEntry,
    TimelinePage,
    TimelineQuery,
    TimelineStreamQuery,
)
from relay.routes.endpoint import Nothing, route, stream

_S = "/sessions/{session_id}"


def _input(input: str | None = None, *, eof: bool = False) -> InputRequest:
    return InputRequest(input=input, eof=eof)


class OutputRoutes:
    """What a program prints and reads, and what happens to it."""

    _tag = "Output"

    output = route("GET", f"{_S}/output", OutputQuery, OutputPage, "output.reading.get_output")
    clear_output = route(
        "DELETE", f"{_S}/output", Nothing, ClearedOutput, "output.reading.clear_output"
    )
    follow_output = stream(
        f"{_S}/output/stream", OutputStreamQuery, OutputEntry, "output.streaming.follow_output"
    )
    event_page = route("GET", f"{_S}/events", EventsQuery, EventPage, "output.reading.get_events")
    events = stream(
        f"{_S}/events/stream", EventsStreamQuery, EventView, "output.streaming.follow_events"
    )
    timeline = route(
        "GET", f"{_S}/timeline", TimelineQuery, TimelinePage, "output.timeline.get_timeline"
    )
    follow_timeline = stream(
        f"{_S}/timeline/stream",
        TimelineStreamQuery,
        TimelineEntry,
        "output.streaming.follow_timeline",
    )
    dap_log = route("GET", f"{_S}/dap-log", DapLogQuery, DapLogPage, "output.dap_log.get_dap_log")
    send_input = route(
        "POST",
        f"{_S}/input",
        _input,
        InputResult,
        "output.reading.send_input",
        errors=(InvalidRequest, InvalidSessionState, NotSupported, SessionHeld, StdinClosed),
    )
    # Another name of the route above, so no verb of its own.
    _send_stdin = route(
        "POST",
        f"{_S}/stdin",
        InputRequest,
        InputResult,
        "output.reading.send_stdin",
        errors=(InvalidRequest, InvalidSessionState, NotSupported, SessionHeld, StdinClosed),
    )
