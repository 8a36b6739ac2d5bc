"""A trial: one fault, done to one session, and everything that must be so afterwards."""

from __future__ import annotations

import contextlib
import random
import signal
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import trio

from relay.session.debuggee.start_failures import leaves
from tests.e2e.api import Api, Refused, Session
from tests.e2e.served import alive, until
from tests.faults.trials import programs
from tests.faults.trials.fault import GONE, End, Fault, Moment
from tests.faults.trials.findings import Findings, Harm
from tests.faults.trials.lane import Lane, orphans, relay
from tests.faults.trials.waiters import LONG, SOON, Waiters, long_poll, stream
from tests.programs import Program

OVER = ("terminated", "failed")
RUNG_WEIGHTS = {"fast": 3, "plain": 2, "adapter": 1}
"""Users have the first; a launch on the last takes as long as eight."""


class Trial:
    """The fault, where it is done, and what was seen of it."""

    def __init__(self, fault: Fault, lane: Lane, lot: random.Random, number: int) -> None:
        self.fault = fault
        self.lane = lane
        self.lot = lot
        self.findings = Findings()
        weights = [RUNG_WEIGHTS[rung] for rung in fault.rungs]
        (self.rung,) = lot.choices(fault.rungs, weights)
        self.folder = lane.folder / "programs" / str(number)
        body = programs.FLOOD if fault.moment is Moment.FLOOD else fault.body or programs.IDLE
        self.program: Program = programs.write(self.folder, body)
        self.session: Session
        self.waiters: Waiters
        self._api: Api

    async def run(self) -> Findings:
        """Do it. The relay is as before afterwards, unless it is what was harmed."""
        try:
            async with Api.connect(self.lane.url) as self._api:
                await self._with_clients()
        except Exception as error:  # noqa: BLE001  what was not foreseen is a finding, too
            self.findings.add(Harm.REASON, f"{self.rung}: {leaves(error)!r}")
        if not self.fault.own_relay:
            await self._look_around()
        return self.findings

    async def _look_around(self) -> None:
        """The others, and what is left."""
        with contextlib.suppress(Refused):  # if the trial broke off
            await self.lane.api.delete(self.session.path)
        await self.lane.neighbour.step(self.findings)
        await self.lane.check(self.findings)

    async def _with_clients(self) -> None:
        self.session = await self._api.session(name=str(self.fault)[:100])
        async with trio.open_nursery() as nursery:
            self.waiters = Waiters(nursery)
            self.fault.prepare(self)
            await self._reach_moment()
            self.waiters.start("long-poll", partial(long_poll, self.session))
            self.waiters.start("stream", partial(stream, self._api, self.session))
            if not self.fault.own_relay:
                self.waiters.start("neighbour", partial(self.lane.neighbour.step, self.findings))
            await self.fault.act(self)
            if self.fault.own_relay:
                await self._see_hung()
            else:
                await self._check_end()
                await self._delete()

    # Up to the fault -------------------------------------------------------------

    async def _reach_moment(self) -> None:
        """Bring the program there; what is asked for last is still waited for."""
        if self.fault.moment is Moment.LAUNCH:
            self.waiters.start("launch", self._launch)
            return
        place = {"source": {"path": self.program.text}, "line": self.program.line("stop")}
        await self.session.post("/breakpoints", breakpoints=[place])
        stop = await self._launch()
        if stop["status"] != "paused":
            raise AssertionError(f"no first stop: {stop}")
        if self.fault.moment is Moment.STOP:
            return
        if self.fault.moment is Moment.EVALUATE:
            self.waiters.start("evaluate", partial(self.session.evaluate, "hang()"))
            await self.until(Path(f"{self.program.path}.hangs").exists, "the expression to run")
            return
        self.waiters.start("continue", self.resume)
        await self.until(lambda: programs.said(self.program) > 0 or self._is_silent(), "to begin")
        if self.fault.moment is Moment.TEARDOWN:
            verb = self.lot.choice(("/terminate", "DELETE"))
            ask = self.session.delete if verb == "DELETE" else partial(self.session.post, verb)
            self.waiters.start(verb, ask)

    def _is_silent(self) -> bool:
        return not self.fault.speaks

    async def _launch(self) -> Any:
        options = {"launch_mode": self.rung, "stop_on_exception": False, **self.fault.launch}
        return await self.session.launch(self.program.text, **options)

    async def resume(self) -> object:
        """`continue`, for as long as a client may wait."""
        return await self.session.resume(wait=30)

    async def until(self, condition: Any, what: str) -> None:
        """Until it holds."""
        await until(condition, f"waited for {what}", SOON)

    # After it --------------------------------------------------------------------

    async def _check_end(self) -> None:
        found = await self.end()
        if not any(end.fits(found) for end in self.fault.ends):
            self.findings.add(Harm.REASON, f"{found}, on rung {self.rung}")
        if found.status in OVER:
            await self._see_hung()
            # One that is deleted meanwhile is not there to be read.
            with contextlib.suppress(Refused) if GONE in self.fault.ends else nullcontext():
                await self._check_events()
                await self._check_output()
        await self.fault.after(self)

    async def end(self) -> End:
        """How the session is found, once it is over or its launch is refused."""
        with trio.move_on_after(LONG):
            if self.fault.moment is Moment.LAUNCH:
                answer = await self.waiters.answer("launch")
                view = await self.session.get()
                if isinstance(answer, Refused) and view["status"] not in OVER:
                    return End(
                        view["status"], view["exit_code"], f"{answer.code}: {answer.message}"
                    )
            while True:
                try:
                    if (found := await self._found()) is not None:
                        return found
                except Refused as refused:  # deleted, perhaps between two looks
                    return End("gone", None, refused.code)
                await trio.sleep(0.02)
        return End("still " + str((await self.session.get())["status"]))

    async def _found(self) -> End | None:
        """How the session is now; None if its program is not over."""
        view = await self.session.get()
        if view["status"] not in OVER:
            return None
        ends = await self.session.events("terminated")
        errors = [event["body"].get("error", "") for event in ends]
        return End(view["status"], view["exit_code"], " / ".join([view["reason"] or "", *errors]))

    async def _see_hung(self) -> None:
        for name in await self.waiters.hung():
            self.findings.add(Harm.WAITER, f"{name} was not answered")
        if self.waiters.answers.get("stream") is False:
            self.findings.add(Harm.LOST, "the stream had no last event")

    async def _check_events(self) -> None:
        """Numbered without a gap, with one end."""
        events = await self.session.events()
        numbers = [event["seq"] for event in events]
        types = [event["type"] for event in events]
        if self.fault.speaks and numbers != list(range(1, len(numbers) + 1)):
            self.findings.add(Harm.LOST, f"events are numbered {numbers[:3]}…{numbers[-3:]}")
        if types.count("terminated") != 1 or (types[-1] != "terminated"):
            self.findings.add(Harm.REASON, f"the last events are {types[-5:]}")

    async def _check_output(self) -> None:
        """Everything that the program has printed, and nothing else."""
        if not self.fault.speaks:
            return
        said = programs.said(self.program)
        printed = await self.session.printed()
        if len(printed) < said or not programs.is_said(printed):
            text = f"{len(printed)} of {said} bytes, at the end {printed[-50:]!r}"
            self.findings.add(Harm.LOST, text)

    async def _delete(self) -> None:
        """The session goes, and with it whoever still waits."""
        with trio.move_on_after(SOON) as scope:
            try:
                await self.session.delete()
            except Refused as refused:
                if refused.status not in (404, 410):
                    raise
        if scope.cancelled_caught:
            self.findings.add(Harm.WAITER, f"DELETE was not answered within {SOON:g} s")
        await self._see_hung()

    # For faults of the relay itself ---------------------------------------------------

    async def check_killed_relay(self) -> None:
        """Nothing of it lives; another one on its state has both sessions, with breakpoints."""
        breakpoints = await self._kept(self._api)
        below = set(self.lane.below()) | self.lane.own
        await trio.sleep(self.lot.uniform(0, 0.05))
        await self.lane.end(signal.SIGKILL)
        try:
            await self.until(lambda: not alive(below) and not orphans(), "the processes to end")
        except AssertionError:
            self.findings.add(Harm.PROCESS, f"left: {alive(below | orphans())}")
        if left := [str(path) for path in (self.lane.folder / "tmp").iterdir()]:
            self.findings.add(Harm.REST, f"files left: {left}")
        async with relay(self.lane.folder) as next_one:
            found = await self._kept(next_one.api)
            if found != breakpoints:
                self.findings.add(Harm.LOST, f"kept are {found}, not {breakpoints}")
            if await next_one.end(signal.SIGTERM) != 0:
                self.findings.add(Harm.REASON, "the next relay did not end well")
        if left := [str(path) for path in self.lane.state.rglob("*.new")]:
            self.findings.add(Harm.REST, f"files left: {left}")

    async def _kept(self, api: Api) -> dict[str, list[int]]:
        """The lines with breakpoints, by session; without one that is just being deleted."""
        names = {item["session_id"] for item in (await api.get("/sessions"))["items"]}
        if self.fault.moment is Moment.TEARDOWN:
            names.discard(self.session.id)
        found = {}
        for name in names:
            page = await api.get(f"/sessions/{name}/breakpoints")
            found[name] = [one["line"] for one in page["breakpoints"]]
        return found
