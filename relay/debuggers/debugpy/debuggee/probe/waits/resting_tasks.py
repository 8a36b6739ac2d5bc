"""The tasks that are suspended at one moment: their frames, which lie on no stack, and whether each has stayed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.frames.kept_locals import let_go_of_locals
    from relay.debuggers.debugpy.debuggee.probe.process.guard import attempt
    from relay.debuggers.debugpy.debuggee.probe.waits.awaits import ThreadStacks
    from relay.debuggers.debugpy.debuggee.probe.waits.found_task import FoundTask
    from relay.debuggers.debugpy.debuggee.probe.waits.holders import HoldingStack
    from relay.debuggers.debugpy.debuggee.probe.waits.tasks import every_task

_MOST_STACKS = 5000


class RestingTasks:
    """Made before anything is asked of the threads and tasks, and asked at the end who has stayed.

    What is found of all who have stayed in between was so at one moment.
    """

    def __init__(self) -> None:
        runs: list[dict[str, Any]] = []
        found: list[FoundTask] = attempt(every_task, ThreadStacks(None), runs, default=[])
        self._seen = {one.id: (one, attempt(one.resting_place)) for one in found if not one.running}
        self.stacks: list[HoldingStack] = []
        """Their frames, innermost first, by their loops' threads."""
        for one in found[:_MOST_STACKS]:
            if not one.running and (ident := runs[one.run].get("ident")):
                places = attempt(one.suspended_places, default=())
                frames = [place.frame for place in reversed(places)]
                self.stacks.append(HoldingStack(ident, f"its task {one.name}", frames, one.id))

    def has_stayed(self, task_id: str) -> bool:
        """Whether it has waited for the same all the while."""
        one, then = self._seen.get(task_id, (None, None))
        now = None if one is None else attempt(one.resting_place)
        return (
            then is not None and now is not None and then[0] is now[0] and bool(then[1] == now[1])
        )

    def let_go(self) -> None:
        """What their frames have is not to live longer for having been looked at."""
        for stack in self.stacks:
            for frame in stack.frames:
                attempt(let_go_of_locals, frame)
