"""Bodies of requests and answers about the journal as a whole."""

from __future__ import annotations

from pydantic import Field, model_validator

from pegboard.core.model import Model
from pegboard.journal.findings import FindingKind
from pegboard.journal.prune import ROWS_A_TURN as ROWS_A_PRUNE
from pegboard.journal.verify import ROWS_A_TURN, Position, Scope
from pegboard.journal.verify_lines import LinesPosition
from pegboard.surfaces.rest.fields import Moment
from pegboard.surfaces.rest.models import Shown

_AGAIN = "`next` of the answer before; absent at the beginning"


class VerifyBody(Model):
    """What of the journal to check: all of it, one writer's rows, or what finished in a span of time."""

    writer: int | None = Field(None, ge=1, le=2**31 - 1, description="Only this writer's chain")
    first: int | None = Field(None, ge=1, le=2**63 - 1, description="From this row of the writer on")
    last: int | None = Field(None, ge=1, le=2**63 - 1, description="Up to this row of the writer")
    since: Moment | None = Field(None, description="Finished at or after")
    until: Moment | None = Field(None, description="Finished before")
    limit: int = Field(ROWS_A_TURN, ge=1, le=ROWS_A_TURN, description="How many rows at most")
    next: Position | None = Field(None, description=_AGAIN)

    @model_validator(mode="after")
    def _of_one_writer(self) -> VerifyBody:
        if self.writer is None and (self.first is not None or self.last is not None):
            raise ValueError("`first` and `last` are rows of one writer: say which one with `writer`")
        return self

    @property
    def scope(self) -> Scope:
        """The part of the journal that is meant."""
        return Scope(writer=self.writer, first=self.first, last=self.last, since=self.since, until=self.until)


class FindingBody(Shown):
    """One thing that shows that the journal is not as the board wrote it."""

    kind: FindingKind
    message: str
    writer: int | None
    first: int | None = Field(description="The first row that is meant, by its number in the writer's chain")
    last: int | None = Field(description="The last one")
    execution_id: str | None


class VerifyResponse(Shown):
    """What was checked and found."""

    checked: int = Field(description="How many rows this request checked")
    findings: list[FindingBody]
    notes: list[str] = Field(description="What could not be judged, and why")
    next: Position | None = Field(description="Where to go on; null if that was all")
    total: int | None = Field(description="About how many rows there are in all, in the first answer")


class VerifyExportBody(Model):
    """Some lines of an export."""

    lines: list[str] = Field(max_length=100_000)
    last: bool = Field(True, description="Whether these are the last ones")
    compare: bool = Field(False, description="Also check that the board still has what it had at the time")
    next: LinesPosition | None = Field(None, description=_AGAIN)


class VerifyExportResponse(Shown):
    """What was checked and found."""

    checked: int = Field(description="How many rows this request checked")
    findings: list[FindingBody]
    notes: list[str] = Field(description="What could not be judged, and why")
    next: LinesPosition | None = Field(description="Where to go on; null if that was all")


class PruneBody(Model):
    """What to remove from the journal."""

    before: Moment = Field(description="Remove what finished before; not in the future")
    limit: int = Field(ROWS_A_PRUNE, ge=1, le=100_000, description="How many rows at most")
    dry_run: bool = Field(False, description="Only say how many rows there are to remove, all in all")
    force: bool = Field(False, description="Remove rows that were tampered with too")


class PruneResponse(Shown):
    """What was removed, or would be."""

    removed: int
    more: bool = Field(description="Whether there is more to remove: ask again")
