"""The columns of the journal, each described once, and the form in which a row is stored.

The table in the database, both journal backends, the hash chain, exports, events and the REST API derive from
`COLUMNS`. A stored row is a tuple in the order of `Execution`: one string, number or None per column, the same for
every database, because its MAC covers this form.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum
from operator import itemgetter
from typing import Any

from pegboard.model.call import Execution
from pegboard.model.json_text import json_text, replace_unstorable


class ColumnType(Enum):
    """What a column holds: `KEYWORD` is a word of the board, `JSON` is text and `NATIVE_JSON` json in PostgreSQL."""

    UUID = "uuid"
    TEXT = "text"
    KEYWORD = "keyword"
    INTEGER = "integer"
    FLOAT = "float"
    MOMENT = "moment"
    JSON = "json"
    NATIVE_JSON = "native json"

    @property
    def is_json(self) -> bool:
        """True if the stored value is JSON text."""
        return self in (ColumnType.JSON, ColumnType.NATIVE_JSON)


@dataclass(frozen=True, slots=True)
class JournalColumn:
    """One column of the journal.

    `max_chars` is the length at which values are cut. Large columns are left out of events and logs. A column with
    `since`, the migration that added it, accepts None: it is then not covered by the MAC, like in older rows.
    """

    name: str
    type: ColumnType = ColumnType.TEXT
    required: bool = False
    max_chars: int | None = None
    is_large: bool = False
    since: str | None = None


# PostgreSQL rejects longer index entries, and a call must never be missing from the journal.
MAX_INDEXED_CHARS = 255

# In the order of the REST API.
COLUMNS = (
    JournalColumn("id", ColumnType.UUID, required=True),
    JournalColumn("tool_name", required=True, max_chars=MAX_INDEXED_CHARS),
    JournalColumn("tool_id"),
    JournalColumn("tool_version", ColumnType.INTEGER),
    JournalColumn("kind"),
    JournalColumn("caller", required=True),
    JournalColumn("caller_id", required=True, max_chars=MAX_INDEXED_CHARS),
    JournalColumn("key_id"),
    JournalColumn("agent_id"),
    JournalColumn("surface", required=True),
    JournalColumn("dialect", required=True),
    JournalColumn("request_id"),
    JournalColumn("status", ColumnType.KEYWORD, required=True),
    JournalColumn("code"),
    JournalColumn("error"),
    JournalColumn("arguments_digest"),
    JournalColumn("arguments", ColumnType.NATIVE_JSON, is_large=True),
    JournalColumn("row_id"),
    JournalColumn("attempts", ColumnType.INTEGER, required=True),
    JournalColumn("elapsed_ms", ColumnType.FLOAT, required=True),
    JournalColumn("started_at", ColumnType.MOMENT, required=True),
    JournalColumn("finished_at", ColumnType.MOMENT, required=True),
    JournalColumn("chain_id"),
    JournalColumn("thread_id"),
    JournalColumn("repeat_of"),
    JournalColumn("result", ColumnType.JSON, is_large=True),
    JournalColumn("printed", is_large=True, since="0004_printed"),
    JournalColumn("tries", ColumnType.JSON, since="0007_tries"),
)

StoredRow = tuple[Any, ...]

FIELDS = Execution._fields
_COLUMN_BY_NAME = {column.name: column for column in COLUMNS}
STORED_COLUMNS = tuple(_COLUMN_BY_NAME[name] for name in FIELDS)
# Older rows end before one of the columns that were added later.
ADDED_FIELDS = tuple(column.name for column in STORED_COLUMNS if column.since is not None)
_FIRST_ADDED = len(FIELDS) - len(ADDED_FIELDS)
LARGE_FIELDS = tuple(column.name for column in STORED_COLUMNS if column.is_large)
get_large_values: Callable[[StoredRow], tuple[str | None, ...]] = itemgetter(*map(FIELDS.index, LARGE_FIELDS))


def serialize_execution(execution: Execution) -> StoredRow:
    """Return the execution as a stored row."""
    # One check of all strings together: unstorable characters are rare, and this runs for every call.
    try:
        texts = "".join(filter(None, _get_texts(execution)))
    except TypeError:  # a value that is not a string
        texts = "\0"
    if not texts.isascii() or "\0" in texts:
        row = [replace_unstorable(value) if isinstance(value, str) else value for value in execution]
    else:
        row = list(execution)
    for place, encode in _ENCODERS:
        value = row[place]
        if value is not None:
            row[place] = encode(value)
    return tuple(row)


def restore_execution(row: StoredRow) -> Execution:
    """Return the execution of a stored row; raise ValueError if the row is invalid."""
    known = dict(zip(FIELDS, fill_missing_fields(row), strict=True))
    for column in COLUMNS:
        value = known[column.name]
        if column.type is ColumnType.MOMENT:
            known[column.name] = datetime.fromisoformat(f"{value}+00:00")
        elif column.type.is_json and value is not None:
            known[column.name] = json.loads(value)
    return Execution(**known)


def fill_missing_fields(row: Sequence[Any]) -> StoredRow:
    """Return a stored row with every field; rows from before the last fields were added are shorter."""
    return (*row, *(None,) * (len(FIELDS) - len(row))) if len(row) >= _FIRST_ADDED else tuple(row)


def select_signed_fields(row: StoredRow) -> StoredRow:
    """Return the fields that a MAC covers: without empty trailing fields, which older rows do not have."""
    end = len(row)
    while end > _FIRST_ADDED and row[end - 1] is None:
        end -= 1
    return row[:end]


def replace_fields(row: StoredRow, **values: Any) -> StoredRow:
    """Return the stored row with other values in some fields."""
    return tuple(values.get(name, value) for name, value in zip(FIELDS, row, strict=True))


def format_moment(moment: datetime) -> str:
    """Return a time as it is stored."""
    if moment.tzinfo is not UTC:
        moment = moment.astimezone(UTC)
    return moment.isoformat(" ", "microseconds")[:26]


def format_now() -> str:
    """Return the current time as it is stored."""
    return format_moment(datetime.now(UTC))


def _choose_encoder(column: JournalColumn) -> Callable[[Any], Any] | None:
    """Return the function from a value of an Execution to the stored one; None if they are the same."""
    if column.max_chars is not None:
        return itemgetter(slice(column.max_chars))
    if column.type is ColumnType.TEXT and column.is_large:
        return replace_unstorable  # not checked together with the others
    # A float as it is read back, because the row's MAC covers its text.
    known: dict[ColumnType, Callable[[Any], Any]] = {ColumnType.MOMENT: format_moment, ColumnType.FLOAT: float}
    return json_text if column.type.is_json else known.get(column.type)


_ENCODERS = tuple(
    (place, encode) for place, column in enumerate(STORED_COLUMNS) if (encode := _choose_encoder(column)) is not None
)
_TEXT_FIELDS = [column.name for column in STORED_COLUMNS if column.type is ColumnType.TEXT and not column.is_large]
_get_texts: Callable[[Execution], tuple[Any, ...]] = itemgetter(*map(FIELDS.index, _TEXT_FIELDS))
