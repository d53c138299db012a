"""Table tools: each call inserts a row, or all the rows of a batch, and is answered with their ids."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from datetime import time as time_of_day
from typing import Any

from pegboard.core.call import ReadyCall
from pegboard.core.errors import InternalError, ToolError, Unavailable
from pegboard.core.instants import write_instant
from pegboard.core.table_config import TableConfig
from pegboard.executors.attempts import attempt_seconds, end_of
from pegboard.executors.base import OpenTool, Output, Prepared
from pegboard.executors.reading import read_config
from pegboard.executors.table.planning import ROWS, Finding, Plan, plan
from pegboard.executors.table.refusing import written
from pegboard.executors.table.source import Answered, Entry, Fault, Key, Source
from pegboard.executors.table.sources import Read, Sources
from pegboard.executors.table.wording import Wording, unusable
from pegboard.telemetry.logs import get_logger

log = get_logger(__name__)

# How long a table that cannot be used is not looked at again.
_LOOK_AGAIN_SECONDS = 1.0
_SOON_MS = 1000
_MOST_KEPT = 100
_NULL = "23502"


class TableExecutor:
    """Inserts rows into the tables of the board's sources."""

    def __init__(self, sources: Sources) -> None:
        self._sources = sources

    def prepare(self, tool: OpenTool) -> Prepared:
        """The config, read once; the table itself is looked at when the first call comes."""
        config = read_config(TableConfig, tool.config)
        table = _Table(self._sources, config, attempt_seconds(tool.tool))
        return Prepared(table.run, receipts=self._sources.named(config.source).is_own)

    async def close(self) -> None:
        """Close every source, what is running in it ended."""
        await self._sources.close()


class _Table:
    """One tool's way into its table, planned once and kept until the facts of the table are read anew."""

    def __init__(self, sources: Sources, config: TableConfig, seconds: float) -> None:
        self._sources = sources
        self._config = config
        self._seconds = seconds
        # So that there is time left to hear of a COMMIT that is under way when time is up.
        self._margin = min(1.0, 0.1 * seconds)
        self._wording = Wording(config)
        self._filled = frozenset(config.column_of(field.name) for field in config.fields)
        self._at = (config.schema_, config.tableName)
        self._planned_from: Read | None = None
        self._found: Plan | list[Finding] = []

    async def run(self, call: ReadyCall) -> Output:
        """The ids of the inserted rows, how many there are and a sentence for the model."""
        try:
            return await self._run(call)
        except ToolError:
            raise
        except Exception:  # there is no code of the tool's own here, so that it is a fault of ours
            log.exception("table_tool_broke", tool=call.tool.name, run_id=call.run_id)
            raise InternalError from None

    async def _run(self, call: ReadyCall) -> Output:
        source = self._sources.named(self._config.source)
        now = await self._planned(source)
        # Where the journal counts on a receipt, the row may go nowhere but to the board's own database.
        if (call.receipts and not source.is_own) or self._sources.named(self._config.source) is not source:
            refusal = Unavailable("The tool's database is being changed; try again", retry_after_ms=_SOON_MS)
            refusal.did_run = False
            raise refusal
        try:
            answered = await self._insert(source, now, call)
        except Fault as fault:
            if fault.is_unknown or not self._may_have_changed(fault):
                raise self._wording.failed(fault, now.facts) from None
            answered = await self._insert_again(source, now, call, fault)
        return Output(answered.output, row_id=answered.row_id)

    async def _insert(self, source: Source, now: Plan, call: ReadyCall) -> Answered:
        arguments = call.arguments
        rows = now.rows(arguments)
        given = arguments[ROWS] if now.is_batch else (arguments,)
        entry = Entry(
            now.facts,
            rows,
            call.run_id,
            lambda keys: self._answered(now, given, keys),
            end_of(call, self._seconds) - self._margin,
        )
        return await source.insert(entry)

    async def _insert_again(self, source: Source, before: Plan, call: ReadyCall, fault: Fault) -> Answered:
        """Another try after the table was looked at anew, since it seems to have changed."""
        log.info("table_may_have_changed", table=self._config.tableName, code=fault.code, sqlstate=fault.sqlstate)
        now = await self._planned(source, since=before)
        try:
            return await self._insert(source, now, call)
        except Fault as again:
            raise self._wording.failed(again, now.facts) from None

    def _may_have_changed(self, fault: Fault) -> bool:
        # A column that a field fills in and this call does not is the caller's affair.
        is_left_out = fault.sqlstate == _NULL and bool(fault.columns) and self._filled.issuperset(fault.columns)
        return fault.is_stale and not is_left_out

    async def _planned(self, source: Source, since: Plan | None = None) -> Plan:
        """How rows get into the table, by facts other than those of `since`; raises TableUnusable, DatabaseFailed."""
        read = self._sources.last_read(source, *self._at)
        if read is None or (since is not None and read.facts is since.facts):
            read = await self._look(source)
        planned = self._plan_by(read, source)
        if not isinstance(planned, Plan) and time.monotonic() - read.at >= _LOOK_AGAIN_SECONDS:
            planned = self._plan_by(await self._look(source), source)
        if isinstance(planned, Plan):
            return planned
        raise unusable(planned)

    async def _look(self, source: Source) -> Read:
        try:
            return await self._sources.read(source, *self._at)
        except Fault as fault:
            raise self._wording.failed(fault, None) from None

    def _plan_by(self, read: Read, source: Source) -> Plan | list[Finding]:
        if read is not self._planned_from:
            self._found = plan(self._config, read.facts, source.kind)
            self._planned_from = read
        return self._found

    def _answered(self, now: Plan, given: Sequence[Mapping[str, Any]], keys: Sequence[Key]) -> Answered:
        ids = [self._id_of(now, key) for key in keys] if now.facts.key else []
        output: dict[str, Any] = {}
        row_id = None
        if ids and now.is_batch:
            output["ids"], row_id = ids, _row_ids(ids)
        elif ids:
            output["id"], row_id = ids[0], ids[0] if isinstance(ids[0], str) else written(ids[0])
        output["rowCount"] = len(given)
        output["message"] = self._wording.inserted(given, ids)
        return Answered(output, row_id)

    def _id_of(self, now: Plan, key: Key) -> Any:
        if len(key) == 1:
            return _as_json(key[0])
        columns = now.facts.key
        return {self._wording.field(column): _as_json(value) for column, value in zip(columns, key, strict=True)}


def _row_ids(ids: list[Any]) -> str:
    """The ids as the journal keeps them, whose rows are listed by the page."""
    left = len(ids) - _MOST_KEPT
    return written(ids) if left <= 0 else f"{written(ids[:_MOST_KEPT])} and {left} more"


def _as_json(value: Any) -> Any:
    """A key's value in its own JSON type, or as text where JSON has none for it."""
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, datetime):
        return value.isoformat() if value.tzinfo is None else write_instant(value)
    if isinstance(value, date | time_of_day):
        return value.isoformat()
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, list):
        return [_as_json(item) for item in value]
    return str(value)
