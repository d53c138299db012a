"""How a field's value becomes what its column takes; chosen once, when the facts of the table are known."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any, Literal, get_args

from pegboard.core.table_config import DataType
from pegboard.executors.table import numbers, texts
from pegboard.executors.table.facts import Column, Family
from pegboard.executors.table.refusing import Refused

Kind = Literal["sqlite", "postgresql"]
# Takes a value that is not null and fits its field; raises Refused where the column does not take it.
Binder = Callable[[Any], Any]


def binder_of(data_type: DataType, column: Column, kind: Kind) -> Binder | None:
    """What makes such a field's values fit for the column; None if the two do not go together."""
    made = (_POSTGRESQL if kind == "postgresql" else _SQLITE).get((data_type, column.family))
    return None if made is None else made(column)


def types_for(column: Column, kind: Kind) -> list[DataType]:
    """The types of fields that the column takes values of."""
    return [name for name in get_args(DataType) if binder_of(name, column, kind) is not None]


def _as_is(_column: Column) -> Binder:
    return lambda value: value


# What an element of an array is, by what its column holds, and as which Python types JSON has it.
_ELEMENTS: Mapping[Family, tuple[DataType, tuple[type, ...], str]] = {
    "text": ("text", (str,), "string"),
    "enum": ("text", (str,), "string"),
    "uuid": ("text", (str,), "string"),
    "date": ("text", (str,), "string"),
    "time": ("text", (str,), "string"),
    "integer": ("integer", (int,), "integer"),
    "numeric": ("numeric", (int, float, Decimal), "number"),
    "float": ("numeric", (int, float, Decimal), "number"),
    "boolean": ("boolean", (bool,), "true or false"),
    "instant": ("datetime", (str,), "string"),
    "local": ("datetime", (str,), "string"),
    "json": ("json", (object,), "value"),
    # Sent as text, which the server reads.
    "other": ("text", (str,), "string"),
}


def _array(column: Column) -> Binder | None:
    element = column.element
    if element is None or element.family not in _ELEMENTS:
        return None
    data_type, types, word = _ELEMENTS[element.family]
    bind_one = binder_of(data_type, element, "postgresql")
    if bind_one is None:
        return None

    def bind_item(item: Any) -> Any:
        if item is None:
            return None
        if isinstance(item, float) and types == (int,) and item.is_integer():
            return bind_one(item)
        if not isinstance(item, types) or (isinstance(item, bool) and int in types):
            raise Refused("invalid_type", f"must be {_article(word)}", word)
        return bind_one(item)

    def bind(value: Any) -> list[Any]:
        if not isinstance(value, list | tuple):
            raise Refused("invalid_type", "must be an array", "array")
        bound = []
        for index, item in enumerate(value):
            try:
                bound.append(bind_item(item))
            except Refused as refused:
                refused.place, refused.element = f"[{index}]", item
                raise
        return bound

    return bind


def _article(word: str) -> str:
    return word if word.startswith("true") else f"{'an' if word[0] in 'aeiou' else 'a'} {word}"


_Choice = Mapping[tuple[DataType, Family], Callable[[Column], Binder | None]]

_POSTGRESQL: _Choice = {
    ("text", "text"): texts.postgresql_text,
    ("text", "enum"): texts.label,
    ("text", "uuid"): texts.uuid,
    ("text", "date"): texts.date,
    ("text", "time"): texts.time,
    ("text", "other"): texts.postgresql_text,
    ("integer", "integer"): numbers.integer,
    ("integer", "numeric"): numbers.exact,
    ("integer", "float"): numbers.floating,
    ("numeric", "numeric"): numbers.exact,
    ("numeric", "float"): numbers.floating,
    ("boolean", "boolean"): _as_is,
    ("enum", "enum"): texts.label,
    ("enum", "text"): texts.postgresql_text,
    ("datetime", "instant"): texts.postgresql_instant,
    ("datetime", "local"): texts.postgresql_local,
    ("json", "json"): texts.postgresql_json,
    ("json", "array"): _array,
}
_SQLITE: _Choice = {
    ("text", "text"): texts.text,
    ("text", "uuid"): texts.sqlite_uuid,
    ("text", "date"): texts.date,
    ("text", "time"): texts.time,
    ("integer", "integer"): numbers.integer,
    ("integer", "numeric"): numbers.sqlite_number,
    ("integer", "float"): numbers.sqlite_float,
    ("numeric", "numeric"): numbers.sqlite_number,
    ("numeric", "float"): numbers.sqlite_float,
    ("numeric", "text"): numbers.sqlite_digits,
    ("boolean", "boolean"): lambda _: int,
    ("boolean", "integer"): lambda _: int,
    ("enum", "text"): texts.text,
    ("datetime", "instant"): texts.sqlite_instant,
    ("datetime", "local"): texts.sqlite_instant,
    ("datetime", "text"): texts.sqlite_instant,
    ("json", "json"): texts.json,
    ("json", "text"): texts.json,
    ("text", "other"): texts.sqlite_untyped,
    ("integer", "other"): numbers.integer,
    ("numeric", "other"): numbers.sqlite_number,
    ("boolean", "other"): lambda _: int,
    ("enum", "other"): texts.sqlite_untyped,
    ("datetime", "other"): texts.sqlite_instant,
    ("json", "other"): texts.json,
}
