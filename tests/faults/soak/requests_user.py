"""A user over HTTP: any request at any moment, others who follow meanwhile, and faults."""

from __future__ import annotations

import contextlib
import json
import os
import signal
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import psutil
import trio

from tests.e2e.api import Api, Refused, Session
from tests.e2e.rungs import RUNGS
from tests.faults.soak.hasty_relay import SECONDS_A_MINUTE
from tests.faults.soak.visit import INTERNAL, EventReader, Visit
from tests.faults.trials.fault import KILLED
from tests.faults.trials.findings import Harm
from tests.faults.trials.killings import ADAPTER
from tests.faults.trials.waiters import SOON

WAIT = 2.0
"""Seconds for which a user waits for a stop; what runs longer runs on."""
POLL_SECONDS = 5.0
GONE = (404, 410)
NOT_NOW = (409, 422, 502, 503, 504)
"""What may be said to a request at a moment that is not the right one."""
OVER = ("terminated", "failed")


async def requests_user(visit: Visit) -> None:
    """Come, have a program run, do this and that, and leave."""
    async with Api.connect(visit.url) as api:
        await _RequestsUser(visit, api).run()


class _RequestsUser:
    def __init__(self, visit: Visit, api: Api) -> None:
        self.visit = visit
        self.lot = visit.lot
        self.api = api
        self.session: Session
        self.hangs = False
        """Whether an expression is evaluated in it that has no end."""
        self.runs = 1
        self.rung = self.lot.choices(RUNGS, [6, 3, 1])[0]

    async def run(self) -> None:
        with self.visit.in_time("POST /sessions"):
            self.session = await self.api.session(name=self.visit.name)
        async with trio.open_nursery() as followers:
            for follow in self.lot.sample([self._polls, self._streams], self.lot.randrange(3)):
                followers.start_soon(follow)
            if await self._begins():
                for _ in range(self.lot.randrange(1, 12)):
                    await self.lot.choice(self.MOVES)(self)
                await self.lot.choice(self.FAULTS)(self)
            await self._leaves(followers)

    # Its requests ---------------------------------------------------------------------

    async def _ask(self, call: Callable[[], Awaitable[Any]], what: str, wait: float = 0.0) -> Any:
        """The answer; None if it was refused because of where the program stands now."""
        with self.visit.in_time(what, wait):
            try:
                return await call()
            except Refused as refused:
                if refused.code == INTERNAL or refused.status not in (*NOT_NOW, *GONE):
                    self.visit.wrong(f"{what}: {refused}")
        return None

    async def _post(self, path: str, wait: float = 0.0, **body: Any) -> Any:
        if wait:
            body["wait"] = wait
        return await self._ask(lambda: self.session.post(path, **body), path, wait)

    async def _get(self, path: str = "", **params: Any) -> Any:
        return await self._ask(lambda: self.session.get(path, **params), f"GET {path}")

    async def _begins(self) -> bool:
        """Launch; whether it stands at its first stop then."""
        program = self.visit.program
        await self._break_at("stop")
        if self.lot.random() < 0.5:
            await self._break_at("body")
        stop = await self._post(
            "/launch",
            wait=30.0,
            script=program.text,
            launch_mode=self.rung,
            stop_on_exception=self.lot.random() < 0.3,
        )
        if stop is None or stop["status"] != "paused":
            self.visit.wrong(f"no first stop on rung {self.rung}: {stop}")
            return False
        return True

    async def _break_at(self, mark: str) -> None:
        line = self.visit.program.line(mark)
        place = {"source": {"path": self.visit.program.text}, "line": line}
        await self._post("/breakpoints", breakpoints=[place])

    # What it does in between ------------------------------------------------------------

    async def _steps(self) -> None:
        verb = self.lot.choice(("step-over", "step-into", "step-out"))
        await self._post(f"/{verb}", wait=WAIT)

    async def _resumes(self) -> None:
        await self._post("/continue", wait=WAIT)

    async def _pauses(self) -> None:
        await self._post("/pause", wait=WAIT)

    async def _evaluates(self) -> None:
        """The value is the right one wherever the program stands, once the loop has begun."""
        where = await self._get()
        answer = await self._post("/evaluate", expression="globals().get('total', 0)")
        after = await self._get()
        if answer is None or where is None or after is None:
            return
        turns = self.visit.program.turns
        if int(answer["result"]) not in {sum(range(n)) for n in range(turns + 1)}:
            self.visit.wrong(f"total is {answer['result']} in a loop of {turns}")

    async def _looks(self) -> None:
        await self._get(
            self.lot.choice(
                ("/stack", "/threads", "/report", "/status", "/modules", "/timeline", "/dap-log")
            )
        )

    async def _reads_locals(self) -> None:
        await self._ask(self.session.locals, "scopes and variables")

    async def _reads_output(self) -> None:
        if (printed := await self._ask(self.session.printed, "/output")) is not None:
            self._said(self.visit.reads, printed)

    def _said(self, check: Callable[[str], None], printed: str) -> None:
        if self.runs == 1:  # what a program says begins anew when it is restarted
            check(printed)

    async def _changes_breakpoints(self) -> None:
        if self.lot.random() < 0.5:
            await self._break_at("body")
        else:
            await self._ask(lambda: self.session.delete("/breakpoints"), "DELETE /breakpoints")

    async def _restarts(self) -> None:
        self.runs += 1
        await self._post("/restart", wait=30.0)

    async def _asks_why_it_hangs(self) -> None:
        await self._post("/hang-report")

    async def _vanishes_in_a_poll(self) -> None:
        """On a connection of its own, which is closed while it waits."""
        with trio.move_on_after(self.lot.uniform(0.01, 0.3)):
            async with Api.connect(self.visit.url) as other:
                path = f"{self.session.path}/events"
                await other.get(path, types="input_requested", timeout=60)

    async def _vanishes_in_an_evaluate(self) -> None:
        """The expression has no end; nobody waits for it."""
        self.hangs = True
        with trio.move_on_after(self.lot.uniform(0.05, 0.5)):
            async with Api.connect(self.visit.url) as other:
                with contextlib.suppress(Refused):
                    await Session(other, self.session.id).evaluate("hang()")

    MOVES = (
        *(_steps, _steps, _resumes, _pauses, _evaluates, _evaluates, _looks, _looks),
        *(_reads_locals, _reads_output, _changes_breakpoints, _restarts, _asks_why_it_hangs),
        _vanishes_in_a_poll,
    )

    # Faults -----------------------------------------------------------------------------

    async def _no_fault(self) -> None:
        """Most users have none."""

    async def _kills_program(self) -> None:
        await self._kills(lambda pid: pid, KILLED.exit_code)

    async def _kills_adapter(self) -> None:
        if self.rung == "adapter":
            await self._kills(_adapter_above, None)

    async def _kills(self, victim: Callable[[int], int | None], code: int | None) -> None:
        view = await self._get()
        if view is None or view["status"] in OVER or view["pid"] is None:
            return
        if (pid := victim(view["pid"])) is None:
            return
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
            self.visit.figures.counts["kills"] += 1
        found = await self._until_over()
        ended_before = found is not None and found["exit_code"] == self.visit.program.exit_code
        if found is not None and found["exit_code"] != code and not ended_before:
            self.visit.wrong(f"{found['exit_code']} after SIGKILL on {self.rung}: {found}")

    FAULTS = (
        *(_no_fault, _no_fault, _no_fault, _kills_program, _kills_program),
        *(_kills_adapter, _vanishes_in_an_evaluate),
    )

    # The end ----------------------------------------------------------------------------

    async def _leaves(self, followers: trio.Nursery) -> None:
        if not self.hangs and self.lot.random() < 0.4:
            await self._goes_to_the_end()
        if self.lot.random() < 0.2:
            followers.cancel_scope.cancel()
            with trio.CancelScope(shield=True):
                await self._is_forgotten()
            return
        if self.lot.random() < 0.3:
            await self._post("/terminate")
        with self.visit.in_time("DELETE"), contextlib.suppress(Refused):
            await self.session.delete()
        with self.visit.in_time("those who follow, after DELETE"):
            while followers.child_tasks:  # noqa: ASYNC110  a nursery tells nobody
                await trio.sleep(0.02)

    async def _goes_to_the_end(self) -> None:
        """If it has one; all that it has printed was read then, and its exit code is right."""
        await self._ask(lambda: self.session.delete("/breakpoints"), "DELETE /breakpoints")
        if self.visit.program.exit_code is None:
            return
        found = await self._until_over(goes_on=True)
        if found is None or found["status"] != "terminated":
            return
        if found["exit_code"] not in (self.visit.program.exit_code, KILLED.exit_code):
            self.visit.wrong(f"exit code {found['exit_code']}: {found}")
        if (printed := await self._ask(self.session.printed, "/output")) is not None:
            self._said(self.visit.reads_all, printed)

    async def _until_over(self, *, goes_on: bool = False) -> Any:
        """The session once its program is over, going on from its stops if so; None if gone."""
        with trio.move_on_after(2 * SOON):
            while (view := await self._get()) is not None:
                if view["status"] in OVER:
                    return view
                if goes_on and view["status"] == "paused":
                    await self._post("/continue", wait=WAIT)
                await trio.sleep(0.05)
            return None
        self.visit.findings.add(Harm.WAITER, f"it is not over: {await self._get()}")
        return None

    async def _is_forgotten(self) -> None:
        """Left alone it ends by itself, when its idle timeout is over."""
        path = self.session.path
        await self._ask(lambda: self.api.call("PATCH", path, json={"timeout_minutes": 1}), "PATCH")
        self.visit.figures.counts["forgotten"] += 1
        await trio.sleep(SECONDS_A_MINUTE)
        with self.visit.in_time("the end of the idle timeout"):
            while self.session.id in await self._listed():  # noqa: ASYNC110  as above
                await trio.sleep(0.2)

    async def _listed(self) -> list[str]:
        return [item["session_id"] for item in (await self.api.get("/sessions"))["items"]]

    # Beside it ----------------------------------------------------------------------------

    async def _polls(self) -> None:
        """Every event by long-polls, until the session is gone."""
        reader, since = EventReader(self.visit, "long-poll"), dict[str, Any]()
        async with Api.connect(self.visit.url) as api:
            while True:
                with self.visit.in_time("long-poll", POLL_SECONDS):
                    try:
                        path = f"{self.session.path}/events"
                        page = await api.get(path, timeout=POLL_SECONDS, limit=1000, **since)
                    except Refused as refused:
                        if refused.status not in GONE:
                            self.visit.wrong(f"long-poll: {refused}")
                        return
                reader.reads(page["events"], page["dropped"])
                since["cursor"] = page["next_cursor"]

    async def _streams(self) -> None:
        """Every event by streams, until the session is gone; each starts where one ended."""
        reader, since = EventReader(self.visit, "stream"), dict[str, Any]()
        async with Api.connect(self.visit.url) as api:
            while await self._reads_stream(api, reader, since):  # noqa: ASYNC110  as above
                await trio.sleep(0.1)

    async def _reads_stream(self, api: Api, reader: EventReader, since: dict[str, Any]) -> bool:
        """One stream to its end, or until this client leaves it; whether there is another."""
        patience = self.lot.choice((0.5, 2.0, 60.0))
        path = f"{self.session.path}/events/stream"
        with trio.move_on_after(patience):
            async with api.client.stream("GET", path, params=since) as answer:
                if answer.status_code != 200:
                    return False
                async with _messages(answer) as messages:
                    async for fields in messages:
                        data = json.loads(fields["data"])
                        if fields["event"] == "end":
                            return True  # the program may be started again
                        if fields["event"] == "dropped":
                            reader.seq += data["dropped"]
                            continue
                        reader.reads([data])
                        since["cursor"] = fields["id"]
            self.visit.findings.add(Harm.LOST, "a stream ended without its last event")
        return True


@asynccontextmanager
async def _messages(answer: Any) -> AsyncIterator[AsyncIterator[dict[str, str]]]:
    """The events of a stream, as fields by name."""

    async def read() -> AsyncIterator[dict[str, str]]:
        fields: dict[str, str] = {}
        async for line in answer.aiter_lines():
            if line:
                name, _, fields_value = line.partition(": ")
                fields[name] = fields_value
            elif "data" in fields:
                yield fields
                fields = {}
            else:
                fields = {}

    messages = read()
    try:
        yield messages
    finally:
        await messages.aclose()  # type: ignore[attr-defined]


def _adapter_above(pid: int) -> int | None:
    """debugpy's adapter, which has the program below it."""
    with contextlib.suppress(psutil.Error):
        for parent in psutil.Process(pid).parents():
            if " ".join(parent.cmdline()).endswith(ADAPTER):
                return parent.pid
    return None
