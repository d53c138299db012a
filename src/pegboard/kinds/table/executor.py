"""Executor of table tools: each call inserts one row, or all rows of a batch, and returns their ids."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from datetime import time as time_of_day
from typing import Any

from pegboard.kinds.base import OpenTool, Output, Prepared, read_config
from pegboard.kinds.table import KIND
from pegboard.kinds.table.config import TableConfig
from pegboard.kinds.table.error_text import TableMessages, make_unusable_error
from pegboard.kinds.table.insert_plan import ROWS_FIELD, InsertPlan, TableConfigProblem, make_insert_plan
from pegboard.kinds.table.insert_refusals import encode_compact_json
from pegboard.kinds.table.source import InsertAnswer, InsertEntry, InsertFault, RowKey, TableSource
from pegboard.kinds.table.sources import SchemaReading, TableSources
from pegboard.kinds.upstream_limits import compute_attempt_deadline, get_attempt_seconds
from pegboard.model.call import ReadyCall
from pegboard.model.call_errors import InternalError, ToolError, Unavailable
from pegboard.model.timestamps import write_instant
from pegboard.telemetry.logs import get_logger

log = get_logger(__name__)

# Minimum time before an unusable table is read again.
_MIN_REREAD_SECONDS = 1.0
_RETRY_AFTER_MS = 1000
_MAX_KEPT_IDS = 100
_NOT_NULL_SQLSTATE = "23502"


class TableExecutor:
    """Inserts rows into the tables of the board's sources."""

    def __init__(self, sources: TableSources) -> None:
        self._sources = sources

    def prepare(self, tool: OpenTool) -> Prepared:
        """Read the config once; the table's schema is read at the first call."""
        config = read_config(TableConfig, tool.config)
        table = _TableRunner(self._sources, config, get_attempt_seconds(tool.tool, KIND.default_timeout))
        source = self._sources.get_source(config.source)
        has_receipts = config.receipts and not source.is_own and self._sources.receipts is not None
        receipts_in = source.receipts.name if has_receipts else None
        return Prepared(table.run, is_transactional=source.is_transactional, receipts_in=receipts_in)

    async def close(self) -> None:
        """Close all sources and end what runs in them."""
        await self._sources.close()


class _TableRunner:
    """Inserts the rows of one tool; the plan is kept until the table's schema is read again."""

    def __init__(self, sources: TableSources, config: TableConfig, seconds: float) -> None:
        self._sources = sources
        self._config = config
        self._seconds = seconds
        # Leaves time for the result of a COMMIT that is in progress at the deadline.
        self._margin_seconds = min(1.0, 0.1 * seconds)
        self._messages = TableMessages(config)
        self._filled = frozenset(config.column_of(field.name) for field in config.fields)
        self._at = (config.schema_, config.tableName)
        self._planned_schema: SchemaReading | None = None
        self._found: InsertPlan | list[TableConfigProblem] = []

    async def run(self, call: ReadyCall) -> Output:
        """Insert the rows; return their ids, the row count and a message for the model."""
        try:
            return await self._run(call)
        except ToolError:
            raise
        except Exception:  # no user code runs here, so this is an internal error
            log.exception("table_tool_broke", tool=call.tool.name, run_id=call.run_id)
            raise InternalError from None

    async def _run(self, call: ReadyCall) -> Output:
        source = self._sources.get_source(self._config.source)
        now = await self._load_plan(source)
        # If the call has no intent, its row must go to the database that was expected when the call began.
        is_replaced = self._sources.get_source(self._config.source) is not source
        is_other = call.receipts_in is not None and call.receipts_in != source.receipts.name
        if is_replaced or is_other or (call.is_transactional and not source.is_transactional):
            refusal = Unavailable("The tool's database is being changed; try again", retry_after_ms=_RETRY_AFTER_MS)
            refusal.did_run = False
            raise refusal
        try:
            answered = await self._insert(source, now, call)
        except InsertFault as fault:
            if fault.is_unknown or not self._may_be_stale(fault):
                raise self._messages.build_error(fault, now.facts) from None
            answered = await self._retry_insert(source, now, call, fault)
        return Output(answered.output, row_id=answered.row_id)

    async def _insert(self, source: TableSource, now: InsertPlan, call: ReadyCall) -> InsertAnswer:
        if call.receipts_in is not None:
            await source.receipts.prepare()
        arguments = call.arguments
        rows = now.rows(arguments)
        given = arguments[ROWS_FIELD] if now.is_batch else (arguments,)
        entry = InsertEntry(
            now.facts,
            rows,
            call.run_id,
            lambda keys: self._build_answer(now, given, keys, call),
            compute_attempt_deadline(call, self._seconds) - self._margin_seconds,
        )
        return await source.insert(entry)

    async def _retry_insert(
        self, source: TableSource, before: InsertPlan, call: ReadyCall, fault: InsertFault
    ) -> InsertAnswer:
        """Read the table's schema again and retry, because it seems to have changed."""
        log.info("table_may_have_changed", table=self._config.tableName, code=fault.code, sqlstate=fault.sqlstate)
        now = await self._load_plan(source, since=before)
        source.receipts.is_ready = False
        try:
            return await self._insert(source, now, call)
        except InsertFault as again:
            raise self._messages.build_error(again, now.facts) from None

    def _may_be_stale(self, fault: InsertFault) -> bool:
        # A missing value for a column that a field fills is an error of the caller.
        is_left_out = (
            fault.sqlstate == _NOT_NULL_SQLSTATE and bool(fault.columns) and self._filled.issuperset(fault.columns)
        )
        return fault.is_stale and not is_left_out

    async def _load_plan(self, source: TableSource, since: InsertPlan | None = None) -> InsertPlan:
        """Return the insert plan for a schema other than that of `since`; raise TableUnusable or DatabaseFailed."""
        read = self._sources.get_last_reading(source, *self._at)
        if read is None or (since is not None and read.facts is since.facts):
            read = await self._look(source)
        planned = self._make_plan(read, source)
        if not isinstance(planned, InsertPlan) and time.monotonic() - read.at >= _MIN_REREAD_SECONDS:
            planned = self._make_plan(await self._look(source), source)
        if isinstance(planned, InsertPlan):
            return planned
        raise make_unusable_error(planned)

    async def _look(self, source: TableSource) -> SchemaReading:
        try:
            return await self._sources.read(source, *self._at)
        except InsertFault as fault:
            raise self._messages.build_error(fault, None) from None

    def _make_plan(self, read: SchemaReading, source: TableSource) -> InsertPlan | list[TableConfigProblem]:
        if read is not self._planned_schema:
            self._found = make_insert_plan(self._config, read.facts, source.kind)
            self._planned_schema = read
        return self._found

    def _build_answer(
        self, now: InsertPlan, given: Sequence[Mapping[str, Any]], keys: Sequence[RowKey], call: ReadyCall
    ) -> InsertAnswer:
        ids = [self._id_of(now, key) for key in keys] if now.facts.key else []
        output: dict[str, Any] = {}
        row_id = None
        if ids and now.is_batch:
            output["ids"], row_id = ids, _format_row_ids(ids)
        elif ids:
            output["id"], row_id = ids[0], ids[0] if isinstance(ids[0], str) else encode_compact_json(ids[0])
        output["rowCount"] = len(given)
        output["message"] = self._messages.build_message(given, ids)
        closing = call.conclude(Output(output, row_id=row_id)) if call.conclude is not None else None
        if closing is not None and call.receipts_in is not None:
            assert self._sources.receipts is not None
            return InsertAnswer(output, row_id, receipt=self._sources.receipts.make(closing))
        return InsertAnswer(output, row_id, closing)

    def _id_of(self, now: InsertPlan, key: RowKey) -> Any:
        if len(key) == 1:
            return _to_json_value(key[0])
        columns = now.facts.key
        return {self._messages.field(column): _to_json_value(value) for column, value in zip(columns, key, strict=True)}


def _format_row_ids(ids: list[Any]) -> str:
    """Return the ids for the journal, limited because its rows are listed in pages."""
    left = len(ids) - _MAX_KEPT_IDS
    return encode_compact_json(ids) if left <= 0 else f"{encode_compact_json(ids[:_MAX_KEPT_IDS])} and {left} more"


def _to_json_value(value: Any) -> Any:
    """Return a key's value in its JSON type, or as text if JSON has no type for it."""
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, datetime):
        return value.isoformat() if value.tzinfo is None else write_instant(value)
    if isinstance(value, date | time_of_day):
        return value.isoformat()
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, list):
        return [_to_json_value(item) for item in value]
    return str(value)
