"""What a table tool says: of the row that is in, and of why one is not, by the names of the input's fields."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pegboard.core.errors import FieldProblem, InDoubt, ToolError
from pegboard.core.table_config import TableConfig
from pegboard.core.table_errors import DatabaseFailed, TableUnusable
from pegboard.executors.table.facts import Facts, ForeignKey
from pegboard.executors.table.planning import ROWS, Finding
from pegboard.executors.table.refusing import HIDDEN, is_secret, shown
from pegboard.executors.table.source import Fault

_SOON = 1000
_MOST_FIELDS = 4
_SHORT = 60
_MOST_IDS = 5
_LONGEST = 300
_NOT_YOURS = "; the administrator of the database has to correct it"
_NAMES = re.compile(r"""'(?:[^']|'')*'|"(?P<quoted>(?:[^"]|"")+)"|(?P<plain>\w+)""")
# A cast, or a quoted text or name in which nothing is one.
_CASTS = re.compile(
    r"""(?P<text>'(?:[^']|'')*'|"(?:[^"]|"")*")|::[a-z_]+(?: varying| precision)?(?:\(\d+\))?(?:\[\])?"""
)
_PARENTHESES = re.compile(r"""'(?:[^']|'')*'|"(?:[^"]|"")*"|[()]""")
_PLACEHOLDER = re.compile(r"\{([^{}]*)\}")
# Faults of the way there or of the moment, which pass.
_PASSING = frozenset({"P1001", "P1008", "P1017", "P2024", "P2034", "P2037"})


class Wording:
    """The sentences of one tool."""

    def __init__(self, config: TableConfig) -> None:
        self._table = config.tableName
        self._is_batch = config.batch
        self._field_of = {config.column_of(field.name): field.name for field in config.fields}
        self._noun = config.tableName.replace("_", " ") if config.batch else _singular(config.tableName)
        self._hidden = frozenset(field.name for field in config.fields if is_secret(field.name))
        # Text and the names of placeholders by turns.
        parts = _PLACEHOLDER.split(config.successMessage) if config.successMessage else []
        self._parts = tuple(parts)
        # What is told without being asked: nothing long, and nothing secret.
        told = [field for field in config.fields if field.dataType != "json" and field.name not in self._hidden]
        self._told = tuple(field.name for field in sorted(told, key=lambda field: not field.required)[:_MOST_FIELDS])

    def field(self, column: str) -> str:
        """The field that fills a column, or the column itself if none does."""
        return self._field_of.get(column, column)

    def inserted(self, rows: Sequence[Mapping[str, Any]], ids: Sequence[Any]) -> str:
        """What is said of rows that are in the table, with their ids if they have any."""
        if not self._parts:
            return self._batch_inserted(rows, ids) if self._is_batch else self._row_inserted(rows[0], ids)
        text = self._parts[0]
        for name, then in zip(self._parts[1::2], self._parts[2::2], strict=True):
            text += self._filled(name, rows, ids) + then
        return text

    def _row_inserted(self, row: Mapping[str, Any], ids: Sequence[Any]) -> str:
        values = ", ".join(f"{name} {_short(row[name])}" for name in self._told if row.get(name) is not None)
        return (
            f"Successfully inserted row into {self._table}"
            + (f" (id {shown(ids[0])})" if ids else "")
            + (f": {values}" if values else "")
        )

    def _batch_inserted(self, rows: Sequence[Mapping[str, Any]], ids: Sequence[Any]) -> str:
        text = f"Successfully inserted {len(rows)} row{'' if len(rows) == 1 else 's'} into {self._table}"
        return text + (f" (ids {_listed(ids)})" if ids else "")

    def _filled(self, name: str, rows: Sequence[Mapping[str, Any]], ids: Sequence[Any]) -> str:
        # A field may well be called id: what the caller gave is then what is meant.
        if name in self._field_of.values():
            return HIDDEN if name in self._hidden else _listed([row.get(name) for row in rows])
        if name == "id":
            return _listed(ids) if ids else "none"
        return str(len(rows)) if name == "rowCount" else f"{{{name}}}"

    def failed(self, fault: Fault, facts: Facts | None) -> ToolError:
        """Why the rows are not in, or that nobody knows, as the error to answer with."""
        if fault.is_unknown:
            return InDoubt(
                f"The connection to the database was lost while it inserted {self._noun}, and whether it did is not "
                "known; look before you insert again"
            )
        fields = [self.field(column) for column in fault.columns]
        says = _SAYS.get(fault.code, _refused)(fault, facts, fields, self._table)
        at = f"{ROWS}[{fault.row}]." if self._is_batch and fault.row is not None else ""
        before = f"Row {fault.row}: " if at else ""
        return DatabaseFailed(
            fault.code,
            f"{before}Failed to insert {self._noun}: {says}",
            field=", ".join(at + field for field in fields) or None,
            sqlstate=fault.sqlstate,
            retry_after_ms=fault.retry_after_ms or (_SOON if fault.code in _PASSING else None),
        )


def unusable(findings: Sequence[Finding]) -> TableUnusable:
    """The error for a table that cannot be used as its tool's config says, with everything that is found."""
    error = TableUnusable(findings[0].code, "; ".join(finding.message for finding in findings[:10]))
    error.problems = tuple(FieldProblem(finding.code, finding.message, finding.field) for finding in findings)
    return error


def _unique(fault: Fault, facts: Facts | None, fields: list[str], table: str) -> str:
    if not fields:
        return f"unique constraint violation{_named(fault)}; such a row exists already"
    return f"unique constraint violation on ({', '.join(fields)})"


def _foreign_key(fault: Fault, facts: Facts | None, fields: list[str], table: str) -> str:
    key = _foreign_key_of(fault, facts)
    other = f"table '{key.table}'" if key is not None else "the table it refers to"
    if not fields:
        return f"foreign key violation{_named(fault)}; a row that it refers to does not exist"
    which = "this value" if len(fields) == 1 else "these values"
    return (
        f"foreign key violation on ({', '.join(fields)}): there is no row with {which} in {other}; use an existing row"
    )


def _foreign_key_of(fault: Fault, facts: Facts | None) -> ForeignKey | None:
    keys = facts.foreign_keys if facts is not None else {}
    named = keys.get(fault.constraint or "")
    return named or next((key for key in keys.values() if fault.columns and key.columns == fault.columns), None)


def _null(fault: Fault, facts: Facts | None, fields: list[str], table: str) -> str:
    name = f"'{fields[0]}'" if fields else "a column"
    is_made = facts is not None and any(facts.columns[column].has_default for column in fault.columns)
    return f"{name} cannot be null. Give a value" + (", or leave it out for the default" if is_made else "")


def _check(fault: Fault, facts: Facts | None, fields: list[str], table: str) -> str:
    on = f" on ({', '.join(fields)})" if fields else ""
    if fault.sqlstate == "23P01":
        return f"exclusion constraint violation{_named(fault)}{on}; a row that excludes this one exists already"
    if fault.constraint is None:
        return f"check constraint violation{on}; perhaps no partition of '{table}' takes such a row"
    rule = facts.checks.get(fault.constraint) if facts is not None else None
    # SQLite calls a check without a name by its expression.
    says = f"check constraint violation{_named(fault) if fault.constraint != rule else ''}{on}"
    return says + f"; the rule is: {_in_one_line(_of_fields(_expression(rule), fault, fields))}" if rule else says


def _expression(rule: str) -> str:
    """The expression of a check constraint without PostgreSQL's `CHECK (…)` and casts."""
    text = _CASTS.sub(lambda part: part["text"] or "", rule.strip())
    if text[:5].upper() == "CHECK":
        text = text[5:].strip()
    while text.startswith("(") and _closing(text) == len(text) - 1:
        text = text[1:-1].strip()
    return text


def _closing(text: str) -> int:
    """The place of the parenthesis that closes the one at the beginning of the text; -1 if none does."""
    depth = 0
    for part in _PARENTHESES.finditer(text):
        depth += {"(": 1, ")": -1}.get(part[0], 0)
        if depth == 0:
            return part.start()
    return -1


def _of_fields(rule: str, fault: Fault, fields: list[str]) -> str:
    """What a check asks for, by the names of the fields."""
    named = dict(zip(fault.columns, fields, strict=True))

    def renamed(part: re.Match[str]) -> str:
        name = (part["quoted"] or part["plain"] or "").replace('""', '"')
        return named.get(name, part[0])

    return _NAMES.sub(renamed, rule)


def _in_one_line(told: str) -> str:
    """What the database says, not too long."""
    text = " ".join(told.split())
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _too_long(fault: Fault, facts: Facts | None, fields: list[str], table: str) -> str:
    names = ", ".join(f"'{field}'" for field in fields) or "a field"
    lengths = {facts.columns[column].max_length for column in fault.columns} if facts is not None else set()
    most = lengths.pop() if len(lengths) == 1 else None
    return f"{names} is too long" + ("; give a shorter value" if most is None else f": at most {most} characters")


def _not_of_type(fault: Fault, facts: Facts | None, fields: list[str], table: str) -> str:
    names = ", ".join(f"'{field}'" for field in fields) or "a field"
    types = {facts.columns[column].type for column in fault.columns} if facts is not None else set()
    return f"{names} is not a valid {types.pop() if len(types) == 1 else 'value of its column'}; give another value"


def _denied(fault: Fault, facts: Facts | None, fields: list[str], table: str) -> str:
    if fault.constraint:
        return f"{fault.constraint} of '{table}' keeps this row out; give other values"
    return f"the board's database user may not insert into '{table}'; the administrator of the database has to grant it"


def _refused(fault: Fault, facts: Facts | None, fields: list[str], table: str) -> str:
    state = f" (SQLSTATE {fault.sqlstate})" if fault.sqlstate else ""
    return f"the database refused it{state}: {_in_one_line(fault.message)}"


def _said(sentence: str) -> Callable[[Fault, Facts | None, list[str], str], str]:
    """A sentence about `{fields}` of `{table}`."""

    def say(fault: Fault, facts: Facts | None, fields: list[str], table: str) -> str:
        names = ", ".join(f"'{field}'" for field in fields) or "a field"
        return sentence.replace("{fields}", names).replace("{table}", table)

    return say


_SAYS: Mapping[str, Callable[[Fault, Facts | None, list[str], str], str]] = {
    "P1000": _said(
        "the database does not accept the board's credentials; the operator of the board has to correct them"
    ),
    "P1001": _said("the database cannot be reached; nothing was inserted, try again in a moment"),
    "P1003": _said("the database does not exist; the operator of the board has to create it or correct its URL"),
    "P1008": _said("the database took too long, perhaps '{table}' is locked; nothing was inserted, try again"),
    "P1010": _denied,
    "P1017": _said("the connection to the database was lost; nothing was inserted, try again in a moment"),
    "P2000": _too_long,
    "P2002": _unique,
    "P2003": _foreign_key,
    "P2004": _check,
    "P2007": _not_of_type,
    "P2011": _null,
    "P2020": _said("the number in {fields} is out of the range of its column; give one nearer to zero"),
    # Told only after the table was looked at and found to be as it should.
    "P2021": _said("a table that '{table}' needs, in a trigger perhaps, does not exist" + _NOT_YOURS),
    "P2022": _said("a column that '{table}' needs, in a trigger perhaps, does not exist" + _NOT_YOURS),
    "P2024": _said("no connection to the database came free in time; nothing was inserted, try again in a moment"),
    "P2034": _said("it collided with another transaction; nothing was inserted, try again"),
    "P2037": _said("the database has too many connections; nothing was inserted, try again in a moment"),
}


def _named(fault: Fault) -> str:
    return f" '{shown(fault.constraint)}'" if fault.constraint else ""


def _listed(values: Sequence[Any]) -> str:
    listed = ", ".join("none" if value is None else _short(value) for value in values[:_MOST_IDS])
    left = len(values) - _MOST_IDS
    return f"{listed} and {left} more" if left > 0 else listed


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else shown(value)
    return text if len(text) <= _SHORT else text[: _SHORT - 1] + "…"


def _singular(table: str) -> str:
    """What one row of the table is called: `mood_entries` has a mood entry."""
    text = table.replace("_", " ")
    for ending, single in (("ies", "y"), ("sses", "ss"), ("uses", "us"), ("xes", "x"), ("ches", "ch"), ("shes", "sh")):
        if text.endswith(ending) and len(text) > len(ending) + 1:
            return text.removesuffix(ending) + single
    return text.removesuffix("s") if not text.endswith(("ss", "us", "is")) else text
