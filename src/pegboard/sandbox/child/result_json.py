"""Encodes the result of a tool's function as JSON, exactly, with a size limit and with the path of an invalid value.

Values of the standard library, numpy and pandas without a JSON type are converted to text, numbers, lists or objects;
numpy and pandas are not imported here. NaN, NaT and NA in arrays, series and frames become None, because there they
mark a missing value. Not `json` or orjson alone: they round or refuse some values, have no limit, and name no path.
"""

from __future__ import annotations

import dataclasses
import datetime
import enum
import json
import math
import sys
import types
import uuid
from collections import abc
from collections.abc import Callable, Collection, Iterable
from decimal import Decimal
from typing import Any, NamedTuple

NOT_CONVERTED = object()

# Integers above this are not exact in every language that reads JSON.
_MAX_EXACT_INTEGER = 2**53


class UnserializableValue(Exception):
    """A value that cannot be JSON; the message continues after the path of the value: '$.a is …'."""


class JsonTooLarge(Exception):
    """The JSON is larger than the limit."""


def convert_standard_value(value: Any) -> Any:
    """Return the JSON value for a value of the standard library, or NOT_CONVERTED; a missing value becomes None."""
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, datetime.datetime | datetime.date | datetime.time):
        # Only pandas' NaT, which is a datetime, is not equal to itself.
        return value.isoformat() if value == value else None  # noqa: PLR0124
    if isinstance(value, datetime.timedelta):
        seconds = value.days * 86400 + value.seconds
        # A pandas Timedelta is a timedelta with additional nanoseconds.
        return format_iso_duration((seconds * 10**6 + value.microseconds) * 1000 + getattr(value, "nanoseconds", 0))
    if isinstance(value, Decimal):
        return _convert_decimal(value)
    if isinstance(value, uuid.UUID):
        return str(value)
    return NOT_CONVERTED


def _convert_decimal(value: Decimal) -> int | str:
    """Return the exact number: a float would lose digits.

    Decimals without a fraction part become integers. All others become text, also 10.00: otherwise amounts of money
    would sometimes be numbers and sometimes text, and would lose their cents.
    """
    if not value.is_finite():
        raise UnserializableValue(
            f"is a Decimal that is {value}, for which JSON has no number; return None, or leave it out"
        )
    exponent = value.as_tuple().exponent
    assert isinstance(exponent, int)
    return int(value) if 0 <= exponent <= 16 and abs(value) <= _MAX_EXACT_INTEGER else str(value)


def format_iso_duration(nanoseconds: int) -> str:
    """Return the duration in ISO 8601, such as P1DT2H or -PT0.5S."""
    sign = "-" if nanoseconds < 0 else ""
    seconds, fraction = divmod(abs(nanoseconds), 10**9)
    days, seconds = divmod(seconds, 86400)
    hours, seconds = divmod(seconds, 3600)
    minutes, seconds = divmod(seconds, 60)
    part = f".{fraction:09d}".rstrip("0") if fraction else ""
    clock = "".join(f"{count}{unit}" for count, unit in ((hours, "H"), (minutes, "M")) if count)
    if seconds or part or not (days or clock):
        clock += f"{seconds}{part}S"
    return f"{sign}P{f'{days}D' if days else ''}{f'T{clock}' if clock else ''}"


def format_key(key: Any) -> str:
    """Return the key as text for a JSON object; raise UnserializableValue if there is none."""
    if isinstance(key, enum.Enum):
        key = key.value
    if isinstance(key, str):
        return str.__str__(key)
    if isinstance(key, tuple):
        return ", ".join(map(format_key, key))
    if key is None or isinstance(key, int) or (isinstance(key, float) and math.isfinite(key)):
        return json.dumps(key)
    stands_for = convert_standard_value(key)
    if stands_for is NOT_CONVERTED or stands_for is None:
        shown = "that is not finite" if isinstance(key, float) else f"of type {type_name(key)}"
        raise UnserializableValue(f"has a key {shown}, and keys in JSON are texts; use str(…) for it")
    return str(stands_for)


def type_name(value: Any) -> str:
    """Return the qualified name of the value's type."""
    kind = type(value)
    module = kind.__module__
    return str(kind.__qualname__ if module in ("builtins", "tool") else f"{module}.{kind.__qualname__}")


_NANOSECONDS = {"W": 604800 * 10**9, "D": 86400 * 10**9, "h": 3600 * 10**9, "m": 60 * 10**9, "s": 10**9}
_NANOSECONDS |= {"ms": 10**6, "us": 1000, "ns": 1}


class ObjectItems(NamedTuple):
    """Keys and values of an object; the keys may not be text yet, and may not be unique as text."""

    items: list[tuple[Any, Any]]


def convert_array_value(value: Any, room: int) -> Any:
    """Return the JSON value for a value of numpy or pandas, or NOT_CONVERTED; raise JsonTooLarge above `room` bytes."""
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        if isinstance(value, numpy.ndarray):
            return _convert_array(numpy, value, room)
        if isinstance(value, numpy.generic):
            return _convert_scalar(numpy, value)
    pandas = sys.modules.get("pandas")
    return NOT_CONVERTED if pandas is None else _convert_pandas(pandas, value, room)


def _convert_scalar(numpy: Any, value: Any) -> Any:
    kind = value.dtype.kind
    plain: dict[str, Callable[[Any], Any]] = {"b": bool, "i": int, "u": int, "f": float}
    if kind in plain:
        return plain[kind](value)
    if kind in "Mm":
        return _convert_array(numpy, numpy.asarray(value), 100)
    return value.item() if kind == "V" and value.dtype.names else NOT_CONVERTED


def _convert_array(numpy: Any, array: Any, room: int) -> Any:
    _check_size(array.size, room)
    kind = array.dtype.kind
    masks = sys.modules.get("numpy.ma")
    if kind in "OVT" or (masks is not None and isinstance(array, masks.MaskedArray)):
        return _map_nested(array.tolist(), array.ndim, _convert_cell)
    if kind == "f":
        # For floats larger than eight bytes, tolist() does not return Python floats.
        array = array.astype(numpy.float64) if array.dtype.itemsize > 8 else array
        missing = numpy.isnan(array)
        if missing.any():
            array = array.astype(object)
            array[missing] = None
    elif kind == "M":
        return _map_nested(_format_datetimes(numpy, array), array.ndim, _trim_datetime)
    elif kind == "m":
        unit, count = numpy.datetime_data(array.dtype)
        return _map_nested(
            array.astype("int64").tolist(), array.ndim, lambda number: _format_timedelta(number, unit, count)
        )
    return array.tolist()


def _format_datetimes(numpy: Any, array: Any) -> Any:
    unit = numpy.datetime_data(array.dtype)[0]
    finer = {"Y": "D", "M": "D", "W": "D", "h": "s", "m": "s"}.get(unit)
    return numpy.datetime_as_string(array if finer is None else array.astype(f"datetime64[{finer}]")).tolist()


def _trim_datetime(text: str) -> str | None:
    """Return the format of datetime.isoformat: no fraction if it is zero, otherwise six or nine digits."""
    if text == "NaT":
        return None
    whole, _, fraction = text.partition(".")
    if not fraction.strip("0"):
        return whole
    return f"{whole}.{fraction.rstrip('0').ljust(6, '0')}" if len(fraction) <= 9 else text


def _format_timedelta(number: int, unit: str, count: int) -> str | None:
    if number == -(2**63):
        return None  # NaT
    if unit in ("Y", "M"):
        return f"{'-' if number < 0 else ''}P{abs(number * count)}{unit}"
    if unit not in _NANOSECONDS:
        raise UnserializableValue(f"is a timedelta64 of unit '{unit}'; convert it with .astype('timedelta64[ns]')")
    return format_iso_duration(number * count * _NANOSECONDS[unit])


def _convert_pandas(pandas: Any, value: Any, room: int) -> Any:
    if value is pandas.NA or value is pandas.NaT:
        return None
    if isinstance(value, pandas.Series):
        _check_size(len(value), room)
        cells = _convert_cells(value)
        return (
            cells
            if _is_plain_range(pandas, value.index)
            else ObjectItems(list(zip(value.index.tolist(), cells, strict=True)))
        )
    if isinstance(value, pandas.DataFrame):
        return _convert_frame(pandas, value, room)
    if isinstance(value, pandas.Index | pandas.api.extensions.ExtensionArray):
        _check_size(len(value), room)
        return _convert_cells(value)
    return str(value) if isinstance(value, pandas.Period | pandas.Interval) else NOT_CONVERTED


def _convert_frame(pandas: Any, frame: Any, room: int) -> list[dict[str, Any]]:
    """Return one object per row; the index is one of its fields unless it only numbers the rows."""
    rows, columns = frame.shape
    _check_size(rows * (columns + 1), room)
    names = [format_key(name) for name in frame.columns.tolist()]
    cells = [_convert_cells(frame.iloc[:, place]) for place in range(columns)]
    index = frame.index
    if isinstance(index, pandas.MultiIndex) or index.name is not None or index.dtype.kind not in "iu":
        for level in reversed(range(index.nlevels)):
            name = index.names[level]
            text = format_key(name) if name is not None else "index" if index.nlevels == 1 else f"level_{level}"
            if text not in names:
                names.insert(0, text)
                cells.insert(0, _convert_cells(index.get_level_values(level)))
    if len(set(names)) < len(names):
        twice = next(name for place, name in enumerate(names) if name in names[:place])
        raise UnserializableValue(f"has two columns that are both called '{twice}'; rename one")
    return [dict(zip(names, row, strict=True)) for row in zip(*cells, strict=True)] if cells else [{}] * rows


def _is_plain_range(pandas: Any, index: Any) -> bool:
    """Return True if the index only counts from 0."""
    return isinstance(index, pandas.RangeIndex) and index.start == 0 and index.step == 1


def _convert_cells(column: Iterable[Any]) -> list[Any]:
    return [_convert_cell(value) for value in (column.tolist() if hasattr(column, "tolist") else column)]


def _convert_cell(value: Any) -> Any:
    if isinstance(value, float):
        return None if value != value else value  # noqa: PLR0124 -- what is not itself is NaN
    return None if isinstance(value, Decimal) and value.is_nan() else value


def _map_nested(value: Any, depth: int, change: Callable[[Any], Any]) -> Any:
    return change(value) if depth == 0 else [_map_nested(item, depth - 1, change) for item in value]


def _check_size(count: int, room: int) -> None:
    if 2 * count > room + 1:  # each item takes a character and a comma, except the last
        raise JsonTooLarge


__all__ = ["JsonTooLarge", "UnserializableValue", "encode_result"]

MAX_RESULT_DEPTH = 64
_MAX_PATH_CHARS = 300
_PLAIN_TYPES = frozenset({str, int, float, bool, type(None)})
_DICT_VIEWS = (abc.KeysView, abc.ValuesView, abc.ItemsView)
_encode = json.JSONEncoder(ensure_ascii=False, check_circular=False, allow_nan=False, separators=(",", ":")).encode


def encode_result(value: Any, most: int) -> bytes:
    """Encode the value as UTF-8 JSON; raise UnserializableValue with the path, or JsonTooLarge above `most` bytes."""
    writer = _JsonWriter(most)
    try:
        writer.write(value)
    except UnserializableValue as error:
        raise UnserializableValue(f"{_format_path(writer.path)} {error}") from None
    return b"".join(writer.parts)


class _JsonWriter:
    """Writes values, and keeps the current path and the number of bytes that are left."""

    def __init__(self, most: int) -> None:
        self.parts: list[bytes] = []
        self._room = most
        self.path: list[str | int] = []
        self._around: dict[int, int] = {}

    def write(self, value: Any) -> None:
        """Write the value; raise UnserializableValue or JsonTooLarge."""
        kind = type(value)
        if kind is str:
            self._text(value)
        elif value is None or kind is bool:
            self._add({None: "null", True: "true", False: "false"}[value])
        elif kind is dict:
            self._enter(value, self._mapping)
        elif kind is list or kind is tuple:
            self._enter(value, self._sequence)
        elif (stands_for := convert_standard_value(value)) is not NOT_CONVERTED:
            self.write(stands_for)
        elif isinstance(value, str):
            self._text(str.__str__(value))
        elif isinstance(value, int):
            self._write_integer(value)
        elif isinstance(value, float):
            self._number(value)
        else:
            self._enter(value, self._other)

    def _other(self, value: Any) -> None:
        if isinstance(value, bytes | bytearray | memoryview):
            raise UnserializableValue(
                f"is {type(value).__name__}, and JSON holds texts: return .decode(), or base64.b64encode(…).decode()"
            )
        if isinstance(value, ObjectItems):
            self._pairs(value.items)
        elif isinstance(value, abc.Mapping):
            self._mapping(value)
        elif isinstance(value, (abc.Sequence, *_DICT_VIEWS)):
            self._sequence(value)
        elif isinstance(value, abc.Set):
            self._sequence(_sort_set(value))
        elif dataclasses.is_dataclass(value) and not isinstance(value, type):
            self._pairs([(field.name, getattr(value, field.name)) for field in dataclasses.fields(value)])
        elif (stands_for := convert_array_value(value, self._room)) is not NOT_CONVERTED:
            self.write(stands_for)
        else:
            raise UnserializableValue(_explain_unserializable(value))

    def _enter(self, value: Any, write: Any) -> None:
        if id(value) in self._around:
            outer = _format_path(self.path[: self._around[id(value)]])
            raise UnserializableValue(f"is {outer} again, a circular reference; return each object once")
        if len(self.path) >= MAX_RESULT_DEPTH and not _is_scalar(value):
            raise UnserializableValue(f"is nested more than {MAX_RESULT_DEPTH} levels deep; return something flatter")
        self._around[id(value)] = len(self.path)
        write(value)
        del self._around[id(value)]

    def _mapping(self, value: abc.Mapping[Any, Any]) -> None:
        if (
            type(value) is dict
            and set(map(type, value)) <= {str}
            and self._try_write_plain(value, [*value, *value.values()])
        ):
            return
        self._pairs(value.items())

    def _pairs(self, items: Iterable[tuple[Any, Any]]) -> None:
        seen: set[str] = set()
        for key, item in items:
            text = key if type(key) is str else _format_any_key(key)
            if text in seen:
                raise UnserializableValue(
                    f"has two keys that are both '{text[:100]}' as text; return them under names that differ"
                )
            self._add("," if seen else "{")
            seen.add(text)
            self.path.append(text)
            self._text(text)
            self._add(":")
            self.write(item)
            self.path.pop()
        self._add("}" if seen else "{}")

    def _sequence(self, value: Collection[Any]) -> None:
        if type(value) in (list, tuple) and self._try_write_plain(value, value):
            return
        self._add("[")
        for place, item in enumerate(value):
            if place:
                self._add(",")
            self.path.append(place)
            self.write(item)
            self.path.pop()
        self._add("]")

    def _try_write_plain(self, value: Any, items: Collection[Any]) -> bool:
        """Write the value at once if all items are plain, which is many times faster.

        Return False if that is not possible.
        """
        kinds = set(map(type, items))
        if not kinds <= _PLAIN_TYPES:
            return False
        if 2 * len(items) > self._room:
            raise JsonTooLarge
        if str in kinds and sum(len(item) for item in items if type(item) is str) > self._room:
            raise JsonTooLarge
        if int in kinds and not all(_fits_64_bits(item) for item in items if type(item) is int):
            return False
        try:
            self._add(_encode(value))
        except ValueError:
            return False  # writing the items one by one will find the path of the invalid value
        return True

    def _text(self, text: str) -> None:
        if len(text) > self._room:
            raise JsonTooLarge
        try:
            self._add(_encode(text))
        except UnicodeEncodeError:
            raise UnserializableValue(
                "is a text that is not valid Unicode: it contains half of a surrogate pair; return "
                "text.encode('utf-8', 'replace').decode()"
            ) from None

    def _write_integer(self, value: int) -> None:
        if not _fits_64_bits(value):
            raise UnserializableValue(
                "is an integer beyond 64 bits, which few readers of JSON keep exact; return str(…) or float(…)"
            )
        self._add(int.__repr__(value))

    def _number(self, value: float) -> None:
        if not math.isfinite(value):
            word = "NaN" if math.isnan(value) else "infinite"
            raise UnserializableValue(
                f"is {word}, for which JSON has no number; return None, or check with math.isfinite() first"
            )
        self._add(float.__repr__(value))

    def _add(self, text: str) -> None:
        data = text.encode()
        self._room -= len(data)
        if self._room < 0:
            raise JsonTooLarge
        self.parts.append(data)


def _format_path(path: list[str | int]) -> str:
    """Return the path in the form `$.rows[3].price`."""
    steps = [
        f"[{step}]" if isinstance(step, int) else f".{step}" if step.isidentifier() else f"[{json.dumps(step)}]"
        for step in path
    ]
    text = "$" + "".join(steps)
    return text if len(text) <= _MAX_PATH_CHARS else f"{text[:_MAX_PATH_CHARS]}…"


def _format_any_key(key: Any) -> str:
    stands_for = convert_array_value(key, 0)
    return format_key(key if stands_for is NOT_CONVERTED else stands_for)


def _fits_64_bits(value: int) -> bool:
    return -(2**63) <= value < 2**64


def _is_scalar(value: Any) -> bool:
    return not isinstance(value, abc.Iterable) and not dataclasses.is_dataclass(value)


def _sort_set(values: abc.Set[Any]) -> list[Any]:
    try:
        return sorted(values)
    except TypeError:
        # The iteration order of a set of strings differs between processes.
        return sorted(values, key=lambda value: (type(value).__name__, repr(value)))


def _explain_unserializable(value: Any) -> str:
    if isinstance(value, types.CoroutineType | abc.Awaitable):
        return "is a coroutine that was not awaited; write await before the call"
    if isinstance(value, abc.AsyncIterator):
        return "is an asynchronous generator; return [item async for item in …]"
    if isinstance(value, abc.Iterator):
        return f"is of type {type_name(value)}, whose items can be read only once; return list(…)"
    if callable(value):
        return f"is a {type(value).__name__}, not its result; call it"
    return f"is of type {type_name(value)}, which has no form in JSON; return texts, numbers, lists and dicts of it"
