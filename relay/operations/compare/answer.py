"""What a comparison says in the end, with what is known of runs that were ended early, or not made."""

from __future__ import annotations

from typing import NamedTuple

from relay.errors import RelayError
from relay.operations.compare.differences import Difference
from relay.operations.compare.fitting import clip
from relay.operations.compare.recorded_run import NOTHING_COMPARED, Ran


class Answer(NamedTuple):
    """In words, and whether the runs differ; None: they could not be compared."""

    text: str
    differs: bool | None
    is_late: bool = False
    """Whether a run was ended after the time that it was given."""
    beside: Difference | None = None
    """What is told beside the first call that differs, where that gives options."""

    def without_further_run(self, error: RelayError) -> Answer:
        """The same, where a further run was refused: what the first ones differ in stands."""
        said = clip(f"\nno further run, to see what chance decides: {error.message}", 150)
        return self._replace(text=self.text + said)

    def within_limit(self, ran: tuple[Ran, Ran]) -> Answer:
        """The same; if one of these was ended after the time that it was given, that what it called later is not known."""
        late = [one for one in ran if one.late]
        if not late:
            return self
        if self.differs is None:
            return Answer(late[0].late, None, is_late=True)
        if len(late) == len(ran):  # slow ones: where they stood says nothing
            heads = [one.late.partition("\n")[0].partition(";")[0] for one in late]
            said = f"{' and '.join(heads)}: what is called later is not compared"
        else:
            said = late[0].late.replace(NOTHING_COMPARED, "what is called later is not compared", 1)
        return Answer(f"{self.text}\n{said}", self.differs, is_late=not self.differs)
