"""Messages of a table tool about inserted rows and errors, with the names of the input's fields."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pegboard.kinds.table.config import DatabaseFailed, TableConfig, TableUnusable
from pegboard.kinds.table.insert_plan import ROWS_FIELD, TableConfigProblem
from pegboard.kinds.table.insert_refusals import shorten_value
from pegboard.kinds.table.source import InsertFault
from pegboard.kinds.table.table_schema import ForeignKey, TableSchema
from pegboard.model.call_errors import FieldProblem, InDoubt, ToolError
from pegboard.model.secrets import HIDDEN, is_secret_name

_RETRY_AFTER_MS = 1000
_MAX_SHOWN_FIELDS = 4
_MAX_SHORT_CHARS = 60
_MAX_SHOWN_IDS = 5
_MAX_LINE_CHARS = 300
_ADMINISTRATOR_HINT = "; the administrator of the database has to correct it"
_SQL_NAMES = re.compile(r"""'(?:[^']|'')*'|"(?P<quoted>(?:[^"]|"")+)"|(?P<plain>\w+)""")
# A cast, or a quoted text or name, which may look like a cast.
_SQL_CASTS = re.compile(
    r"""(?P<text>'(?:[^']|'')*'|"(?:[^"]|"")*")|::[a-z_]+(?: varying| precision)?(?:\(\d+\))?(?:\[\])?"""
)
_SQL_PARENTHESES = re.compile(r"""'(?:[^']|'')*'|"(?:[^"]|"")*"|[()]""")
_PLACEHOLDER = re.compile(r"\{([^{}]*)\}")
# Transport errors and temporary errors, after which a retry may succeed.
_TRANSIENT_CODES = frozenset({"P1001", "P1008", "P1017", "P2024", "P2034", "P2037"})


class TableMessages:
    """The messages of one tool."""

    def __init__(self, config: TableConfig) -> None:
        self._table = config.tableName
        self._is_batch = config.batch
        self._field_by_column = {config.column_of(field.name): field.name for field in config.fields}
        self._noun = config.tableName.replace("_", " ") if config.batch else _make_singular(config.tableName)
        self._hidden = frozenset(field.name for field in config.fields if is_secret_name(field.name))
        # Alternately text and the names of placeholders.
        parts = _PLACEHOLDER.split(config.successMessage) if config.successMessage else []
        self._parts = tuple(parts)
        # Fields of the default message: no long and no secret values.
        found = [field for field in config.fields if field.dataType != "json" and field.name not in self._hidden]
        self._shown_fields = tuple(
            field.name for field in sorted(found, key=lambda field: not field.required)[:_MAX_SHOWN_FIELDS]
        )

    def field(self, column: str) -> str:
        """Return the field of a column, or the column itself if no field fills it."""
        return self._field_by_column.get(column, column)

    def build_message(self, rows: Sequence[Mapping[str, Any]], ids: Sequence[Any]) -> str:
        """Return the message for inserted rows, with their ids if they have any."""
        if not self._parts:
            return self._describe_batch(rows, ids) if self._is_batch else self._describe_row(rows[0], ids)
        text = self._parts[0]
        for name, then in zip(self._parts[1::2], self._parts[2::2], strict=True):
            text += self._get_value(name, rows, ids) + then
        return text

    def _describe_row(self, row: Mapping[str, Any], ids: Sequence[Any]) -> str:
        values = ", ".join(
            f"{name} {_format_short(row[name])}" for name in self._shown_fields if row.get(name) is not None
        )
        return (
            f"Successfully inserted row into {self._table}"
            + (f" (id {shorten_value(ids[0])})" if ids else "")
            + (f": {values}" if values else "")
        )

    def _describe_batch(self, rows: Sequence[Mapping[str, Any]], ids: Sequence[Any]) -> str:
        text = f"Successfully inserted {len(rows)} row{'' if len(rows) == 1 else 's'} into {self._table}"
        return text + (f" (ids {_format_list(ids)})" if ids else "")

    def _get_value(self, name: str, rows: Sequence[Mapping[str, Any]], ids: Sequence[Any]) -> str:
        # A field may be called id: the caller's value then has priority.
        if name in self._field_by_column.values():
            return HIDDEN if name in self._hidden else _format_list([row.get(name) for row in rows])
        if name == "id":
            return _format_list(ids) if ids else "none"
        return str(len(rows)) if name == "rowCount" else f"{{{name}}}"

    def build_error(self, fault: InsertFault, facts: TableSchema | None) -> ToolError:
        """Return the error for rows that were not inserted, or whose state is unknown."""
        if fault.is_unknown:
            return InDoubt(
                f"The connection to the database was lost while it inserted {self._noun}, and whether it did is not "
                "known; look before you insert again"
            )
        fields = [self.field(column) for column in fault.columns]
        explanation = EXPLANATIONS.get(fault.code, _explain_refused)(fault, facts, fields, self._table)
        at = f"{ROWS_FIELD}[{fault.row}]." if self._is_batch and fault.row is not None else ""
        before = f"Row {fault.row}: " if at else ""
        return DatabaseFailed(
            fault.code,
            f"{before}Failed to insert {self._noun}: {explanation}",
            field=", ".join(at + field for field in fields) or None,
            sqlstate=fault.sqlstate,
            retry_after_ms=fault.retry_after_ms or (_RETRY_AFTER_MS if fault.code in _TRANSIENT_CODES else None),
        )


def make_unusable_error(findings: Sequence[TableConfigProblem]) -> TableUnusable:
    """Return the error for a table that does not match its tool's config, with all problems."""
    error = TableUnusable(findings[0].code, "; ".join(finding.message for finding in findings[:10]))
    error.problems = tuple(FieldProblem(finding.code, finding.message, finding.field) for finding in findings)
    return error


def _explain_unique(fault: InsertFault, facts: TableSchema | None, fields: list[str], table: str) -> str:
    if not fields:
        return f"unique constraint violation{_format_constraint(fault)}; such a row exists already"
    return f"unique constraint violation on ({', '.join(fields)})"


def _explain_foreign_key(fault: InsertFault, facts: TableSchema | None, fields: list[str], table: str) -> str:
    key = _find_foreign_key(fault, facts)
    other = f"table '{key.table}'" if key is not None else "the table it refers to"
    if not fields:
        return f"foreign key violation{_format_constraint(fault)}; a row that it refers to does not exist"
    which = "this value" if len(fields) == 1 else "these values"
    return (
        f"foreign key violation on ({', '.join(fields)}): there is no row with {which} in {other}; use an existing row"
    )


def _find_foreign_key(fault: InsertFault, facts: TableSchema | None) -> ForeignKey | None:
    keys = facts.foreign_keys if facts is not None else {}
    named = keys.get(fault.constraint or "")
    return named or next((key for key in keys.values() if fault.columns and key.columns == fault.columns), None)


def _explain_null(fault: InsertFault, facts: TableSchema | None, fields: list[str], table: str) -> str:
    name = f"'{fields[0]}'" if fields else "a column"
    is_made = facts is not None and any(facts.columns[column].has_default for column in fault.columns)
    return f"{name} cannot be null. Give a value" + (", or leave it out for the default" if is_made else "")


def _explain_check(fault: InsertFault, facts: TableSchema | None, fields: list[str], table: str) -> str:
    on = f" on ({', '.join(fields)})" if fields else ""
    if fault.sqlstate == "23P01":
        return (
            f"exclusion constraint violation{_format_constraint(fault)}{on}; a row that excludes this one "
            "exists already"
        )
    if fault.constraint is None:
        return f"check constraint violation{on}; perhaps no partition of '{table}' takes such a row"
    rule = facts.checks.get(fault.constraint) if facts is not None else None
    # SQLite reports an unnamed check by its expression.
    explanation = f"check constraint violation{_format_constraint(fault) if fault.constraint != rule else ''}{on}"
    return (
        explanation + f"; the rule is: {_shorten_line(_rename_to_fields(_strip_check(rule), fault, fields))}"
        if rule
        else explanation
    )


def _strip_check(rule: str) -> str:
    """Return the expression of a check constraint without PostgreSQL's `CHECK (…)` and casts."""
    text = _SQL_CASTS.sub(lambda part: part["text"] or "", rule.strip())
    if text[:5].upper() == "CHECK":
        text = text[5:].strip()
    while text.startswith("(") and _find_closing(text) == len(text) - 1:
        text = text[1:-1].strip()
    return text


def _find_closing(text: str) -> int:
    """Return the index of the parenthesis that closes the first one, or -1."""
    depth = 0
    for part in _SQL_PARENTHESES.finditer(text):
        depth += {"(": 1, ")": -1}.get(part[0], 0)
        if depth == 0:
            return part.start()
    return -1


def _rename_to_fields(rule: str, fault: InsertFault, fields: list[str]) -> str:
    """Return the check's expression with the names of fields instead of columns."""
    named = dict(zip(fault.columns, fields, strict=True))

    def replace_name(part: re.Match[str]) -> str:
        name = (part["quoted"] or part["plain"] or "").replace('""', '"')
        return named.get(name, part[0])

    return _SQL_NAMES.sub(replace_name, rule)


def _shorten_line(message: str) -> str:
    """Return the text in one line of at most 300 characters."""
    text = " ".join(message.split())
    return text if len(text) <= _MAX_LINE_CHARS else text[: _MAX_LINE_CHARS - 1] + "…"


def _explain_too_long(fault: InsertFault, facts: TableSchema | None, fields: list[str], table: str) -> str:
    names = ", ".join(f"'{field}'" for field in fields) or "a field"
    lengths = {facts.columns[column].max_length for column in fault.columns} if facts is not None else set()
    most = lengths.pop() if len(lengths) == 1 else None
    return f"{names} is too long" + ("; give a shorter value" if most is None else f": at most {most} characters")


def _explain_wrong_type(fault: InsertFault, facts: TableSchema | None, fields: list[str], table: str) -> str:
    names = ", ".join(f"'{field}'" for field in fields) or "a field"
    types = {facts.columns[column].type for column in fault.columns} if facts is not None else set()
    return f"{names} is not a valid {types.pop() if len(types) == 1 else 'value of its column'}; give another value"


def _explain_denied(fault: InsertFault, facts: TableSchema | None, fields: list[str], table: str) -> str:
    if fault.constraint:
        return f"{fault.constraint} of '{table}' keeps this row out; give other values"
    return f"the board's database user may not insert into '{table}'; the administrator of the database has to grant it"


def _explain_refused(fault: InsertFault, facts: TableSchema | None, fields: list[str], table: str) -> str:
    state = f" (SQLSTATE {fault.sqlstate})" if fault.sqlstate else ""
    return f"the database refused it{state}: {_shorten_line(fault.message)}"


def _make_sentence(sentence: str) -> Callable[[InsertFault, TableSchema | None, list[str], str], str]:
    """Return a function that fills `{fields}` and `{table}` into a sentence."""

    def explain(fault: InsertFault, facts: TableSchema | None, fields: list[str], table: str) -> str:
        names = ", ".join(f"'{field}'" for field in fields) or "a field"
        return sentence.replace("{fields}", names).replace("{table}", table)

    return explain


EXPLANATIONS: Mapping[str, Callable[[InsertFault, TableSchema | None, list[str], str], str]] = {
    "P1000": _make_sentence(
        "the database does not accept the board's credentials; the operator of the board has to correct them"
    ),
    "P1001": _make_sentence("the database cannot be reached; nothing was inserted, try again in a moment"),
    "P1003": _make_sentence(
        "the database does not exist; the operator of the board has to create it or correct its URL"
    ),
    "P1008": _make_sentence("the database took too long, perhaps '{table}' is locked; nothing was inserted, try again"),
    "P1010": _explain_denied,
    "P1017": _make_sentence("the connection to the database was lost; nothing was inserted, try again in a moment"),
    "P2000": _explain_too_long,
    "P2002": _explain_unique,
    "P2003": _explain_foreign_key,
    "P2004": _explain_check,
    "P2007": _explain_wrong_type,
    "P2011": _explain_null,
    "P2020": _make_sentence("the number in {fields} is out of the range of its column; give one nearer to zero"),
    # Reached only if the table itself was read again and matches its config.
    "P2021": _make_sentence("a table that '{table}' needs, in a trigger perhaps, does not exist" + _ADMINISTRATOR_HINT),
    "P2022": _make_sentence(
        "a column that '{table}' needs, in a trigger perhaps, does not exist" + _ADMINISTRATOR_HINT
    ),
    "P2024": _make_sentence(
        "no connection to the database came free in time; nothing was inserted, try again in a moment"
    ),
    "P2034": _make_sentence("it collided with another transaction; nothing was inserted, try again"),
    "P2037": _make_sentence("the database has too many connections; nothing was inserted, try again in a moment"),
}


def _format_constraint(fault: InsertFault) -> str:
    return f" '{shorten_value(fault.constraint)}'" if fault.constraint else ""


def _format_list(values: Sequence[Any]) -> str:
    listed = ", ".join("none" if value is None else _format_short(value) for value in values[:_MAX_SHOWN_IDS])
    left = len(values) - _MAX_SHOWN_IDS
    return f"{listed} and {left} more" if left > 0 else listed


def _format_short(value: Any) -> str:
    text = value if isinstance(value, str) else shorten_value(value)
    return text if len(text) <= _MAX_SHORT_CHARS else text[: _MAX_SHORT_CHARS - 1] + "…"


def _make_singular(table: str) -> str:
    """Return the singular of a table name: `mood_entries` becomes "mood entry", for messages."""
    text = table.replace("_", " ")
    for ending, single in (("ies", "y"), ("sses", "ss"), ("uses", "us"), ("xes", "x"), ("ches", "ch"), ("shes", "sh")):
        if text.endswith(ending) and len(text) > len(ending) + 1:
            return text.removesuffix(ending) + single
    return text.removesuffix("s") if not text.endswith(("ss", "us", "is")) else text
