"""The tool that looks: stack, values, tasks, threads, source, output, processes, a page at a time."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from relay.faces.mcp.arguments import Inspect
from relay.faces.mcp.calls import Session, using
from relay.faces.mcp.texts import clip, listed, tail
from relay.faces.mcp.tracing import recorded_calls
from relay.hub import Hub
from relay.models.hangs import HangRequest
from relay.models.inspection import FrameView, StackQuery, ThreadView, VariableView
from relay.models.lookup import (
    ChainedException,
    FrameSourceQuery,
    SourceQuery,
    SourceText,
    usual_name,
)
from relay.models.processes import ProcessQuery, ProcessView
from relay.models.resource import DEEPER
from relay.models.tasks import TasksQuery, TaskView
from relay.models.variables import ChildrenQuery, FrameVariablesQuery, RevealQuery
from relay.operations.hangs.hang_report import hang_report
from relay.operations.hangs.hang_text import task_waits
from relay.operations.inspect import inspection, lookup, source, tasks, variables
from relay.operations.report import printed
from relay.operations.report.printed_text import quoted
from relay.operations.report.recursion import said_again, stretches
from relay.operations.report.short_paths import short_path
from relay.operations.server import processes

PAGE = 200
"""Items that are asked for at once; the bound of the answer is reached before."""

VALUE_CHARS = 200
CHAIN_CHARS = 60
"""Of each local of an exception that led to the one at hand."""
SOURCE_LINES = 20


async def inspect(hub: Hub, asked: Inspect) -> str:
    """What was asked for, from `start` on."""
    if asked.what == "processes":
        return await _processes(hub, asked)
    async with using(hub, asked.session) as session:
        return await _LOOKS[asked.what](session, asked)


def _page(
    lines: Sequence[str], total: int, asked: Inspect, what: str, counts: Sequence[int] | None = None
) -> str:
    """Lines of the items from `start` on, of `total` in all. counts: for how many items each stands, if not for one."""
    first, counts = asked.start or 0, counts or [1] * len(lines)
    if not lines:
        return f"no {what} from start={first} on, of {total}" if total else f"no {what}"

    def more(shown: int) -> str:
        next_ = first + sum(counts[:shown])
        left = total - next_
        return f"… {left} more of {total} {what}: start={next_}" if left > 0 else ""

    lines = [quoted(line) for line in lines]
    return listed(lines, asked.max_chars, more, complete=first + sum(counts) >= total)


async def _locals(session: Session, asked: Inspect) -> str:
    query = FrameVariablesQuery(offset=asked.start or 0, limit=PAGE, thread_id=asked.thread)
    page = await variables.get_frame_variables(session, frame_id=asked.frame, query=query)
    lines = [_variable(v) for v in page.variables if isinstance(v, VariableView)]
    return _page(lines, page.total, asked, "locals")


async def _variable_items(session: Session, asked: Inspect) -> str:
    assert asked.ref is not None
    query = ChildrenQuery(offset=asked.start or 0, limit=PAGE)
    page = await variables.expand_variable(session, variables_reference=asked.ref, query=query)
    return _page([_variable(v) for v in page.items], page.total, asked, "items")


def _variable(found: VariableView) -> str:
    length = f", length {found.length}" if found.length is not None else ""
    ref = f"  (ref={found.variables_reference})" if found.variables_reference else ""
    cut = found.truncated or len(found.value) > VALUE_CHARS
    value = clip(found.value, VALUE_CHARS) if cut else found.value
    return f"{_name(found.name)}: {found.type}{length if cut else ''} = {value}{ref}"


def _name(text: str) -> str:
    """Of a variable or an item; one that is what an object says of itself is indented as values are."""
    plain = text.isidentifier() or text[:1] in _LITERALS
    return text if plain else f" {text}"


_LITERALS = tuple("'\"(-0123456789")
"""How the keys begin that Python writes itself."""


async def _stack(session: Session, asked: Inspect) -> str:
    query = StackQuery(thread_id=asked.thread, start_frame=asked.start or 0, levels=PAGE)
    page = await inspection.get_stack_trace(session, query=query)
    lines, counts = [], []
    for stretch in stretches([(one.name, one.source, one.line) for one in page.frames]):
        at, length, times = stretch
        lines += [_frame_line(frame) for frame in page.frames[at : at + length]]
        counts += [1] * length
        if times > 1:
            # In the same line, so that no page ends in between.
            lines[-1] += f"  {said_again(stretch, page.frames[at + length * times - 1].id)}"
            counts[-1] += length * (times - 1)
    return _page(lines, page.total_frames, asked, "frames", counts)


def _frame_line(frame: FrameView) -> str:
    path = frame.source.path if frame.source else "?"
    return f"{frame.id}  {frame.name}  {path}:{frame.line}{DEEPER if frame.inner else ''}"


async def _exception(session: Session, asked: Inspect) -> str:
    found = (await lookup.get_exception(session, query=RevealQuery())).exception
    if found is None:
        return "the stop is about no exception"
    chain = [line for link in found.chain for line in _link_lines(session, link)]
    whose = f"fails {quoted(found.test)}" if found.test else f"ends {found.ends}"
    ended = [whose] if found.ends else []
    ref = found.variables_reference
    more = [f"… its attributes: debug_inspect what=variable ref={ref}"] if ref else []
    message = clip(found.message, asked.max_chars // 3)
    head = quoted(f"{usual_name(found.full_type)}: {message}")
    room = asked.max_chars - sum(len(line) + 1 for line in [head, *ended, *chain, *more])
    body = " " + tail(quoted(found.traceback.rstrip()), max(100, room - 1))
    return clip("\n".join([head, *ended, *chain, body, *more]), asked.max_chars)


def _link_lines(session: Session, link: ChainedException) -> list[str]:
    """An exception of the chain: what, where in the program's own code, and its locals there."""
    line = f"{link.relation}: {usual_name(link.full_type)}: {clip(link.message, VALUE_CHARS)}"
    if (place := link.location) is not None:
        line += f" at {short_path(session, place.path)}:{place.line} in {place.function}"
    values = ", ".join(f"{one.name}={clip(one.value, CHAIN_CHARS)}" for one in link.locals)
    return [quoted(line), *([f"  with {quoted(values)}"] if values else [])]


async def _source(session: Session, asked: Inspect) -> str:
    if asked.path is not None:
        query = SourceQuery(path=asked.path, start=asked.start or 1)
        return _source_lines(await source.get_source(session, query=query), asked)
    whole = await source.get_frame_source(
        session, frame_id=asked.frame, query=FrameSourceQuery(start=asked.start)
    )
    if asked.start is None and whole.current_line is not None:
        # As many lines as leave room for the current one.
        before = min(SOURCE_LINES, asked.max_chars // 100)
        first = max(1, whole.current_line - before)
        around = FrameSourceQuery(start=first, end=None)
        whole = await source.get_frame_source(session, frame_id=asked.frame, query=around)
    return _source_lines(whole, asked)


def _source_lines(found: SourceText, asked: Inspect) -> str:
    here = found.current_line
    width = len(str(found.end))
    lines = [
        quoted(f"{'>' if line.line == here else ' '}{line.line:{width}} {line.text}")
        for line in found.lines
    ]
    if not lines:
        return f"{found.path} is empty"

    def more(shown: int) -> str:
        after = found.start + shown
        return f"… {found.total_lines} lines in all: start={after}"

    whole = found.end >= found.total_lines
    return listed(lines, asked.max_chars, more, complete=whole)


async def _output(session: Session, asked: Inspect) -> str:
    room = asked.max_chars - 150
    found = await printed.printed(session, start=asked.start, max_chars=room)
    if not found.entries:
        return "nothing was printed" + (f" from entry {asked.start} on" if asked.start else "")
    text = quoted(
        "".join(_marked(category, entry) for category, entry in found.entries).rstrip("\n")
    )
    shown = " " + (tail(text, room) if asked.start is None else clip(text, room))
    notes = []
    if found.start > 1 and asked.start is None:
        notes.append(f"[entries {found.start} to {found.end}; earlier ones: start=1]")
    if found.dropped:
        notes.append(f"[{found.dropped} entries are lost to the cap]")
    if found.end < found.total:
        notes.append(
            f"[entries {found.start} to {found.end} of {found.total}: start={found.end + 1}]"
        )
    return "\n".join([*notes, shown])


def _marked(category: str, text: str) -> str:
    return text if category == "stdout" else f"[{category}] {text}"


async def _threads(session: Session, asked: Inspect) -> str:
    found = (await inspection.list_threads(session)).threads
    first = asked.start or 0
    has_several = len({one.process.pid for one in found if one.process}) > 1
    lines = [_thread(one, has_several) for one in found[first:]]
    return _page(lines, len(found), asked, "threads")


def _thread(found: ThreadView, has_several: bool) -> str:
    """has_several: it has to be said of which process the thread is."""
    process = found.process if has_several else None
    parts = [
        f"{found.id}  {found.name}",
        found.status,
        f"of process {process.pid} ({process.name})" if process else "",
        "(current)" if found.is_current else "",
    ]
    return "  ".join(part for part in parts if part)


async def _tasks(session: Session, asked: Inspect) -> str:
    query = TasksQuery(offset=asked.start or 0, limit=PAGE, frames=0)
    page = await tasks.list_tasks(session, query=query)
    return _page([_task(task) for task in page.tasks], page.total, asked, "tasks")


def _task(found: TaskView) -> str:
    at = found.suspended_at
    parts = [
        f"{found.name}  {found.kind}  {'current' if found.current else found.state}",
        found.coroutine,
        f"at {at.path}:{at.line}: {at.source or ''}" if at else "",
        ", ".join(task_waits(found)),
        f"raised {found.exception}" if found.exception else "",
    ]
    return "  ".join(part for part in parts if part)


async def _hang(session: Session, asked: Inspect) -> str:
    body = HangRequest(max_chars=asked.max_chars, thread_id=asked.thread)
    return (await hang_report(session, body=body)).report


async def _calls(session: Session, asked: Inspect) -> str:
    return await recorded_calls(session, asked.max_chars)


async def _processes(hub: Hub, asked: Inspect) -> str:
    query = ProcessQuery(offset=asked.start or 0, limit=PAGE)
    page = await processes.list_processes(hub, query=query)
    return _page([_process(process) for process in page.items], page.total, asked, "processes")


def _process(found: ProcessView) -> str:
    way = found.attach
    how = {"listen": f"attach by port {way.port}", "inject": "attach by pid"}.get(way.method or "")
    command = clip(" ".join(found.command), VALUE_CHARS)
    return f"{found.pid}  {how or f'cannot be attached to: {way.reason}'}  {command}"


_LOOKS: dict[str, Callable[[Session, Inspect], Awaitable[str]]] = {
    "locals": _locals,
    "variable": _variable_items,
    "stack": _stack,
    "exception": _exception,
    "source": _source,
    "output": _output,
    "threads": _threads,
    "tasks": _tasks,
    "hang": _hang,
    "calls": _calls,
}
