"""Values of numpy and pandas as values of Python; neither is imported here, only looked for.

NaN, NaT and NA within arrays, series and frames are None: there they mean that a value is missing.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from decimal import Decimal
from typing import Any, NamedTuple

from pegboard.sandbox.inside.json_texts import NOTHING_KNOWN, TooLarge, Unfit, duration, key_text

_NANOSECONDS = {"W": 604800 * 10**9, "D": 86400 * 10**9, "h": 3600 * 10**9, "m": 60 * 10**9, "s": 10**9}
_NANOSECONDS |= {"ms": 10**6, "us": 1000, "ns": 1}


class Pairs(NamedTuple):
    """Keys and values of an object, the keys not yet texts, nor known to differ."""

    items: list[tuple[Any, Any]]


def of_arrays(value: Any, room: int) -> Any:
    """What stands for a value of numpy or pandas, or NOTHING_KNOWN; TooLarge where it would take more than `room`."""
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        if isinstance(value, numpy.ndarray):
            return _array(numpy, value, room)
        if isinstance(value, numpy.generic):
            return _scalar(numpy, value)
    pandas = sys.modules.get("pandas")
    return NOTHING_KNOWN if pandas is None else _of_pandas(pandas, value, room)


def _scalar(numpy: Any, value: Any) -> Any:
    kind = value.dtype.kind
    plain: dict[str, Callable[[Any], Any]] = {"b": bool, "i": int, "u": int, "f": float}
    if kind in plain:
        return plain[kind](value)
    if kind in "Mm":
        return _array(numpy, numpy.asarray(value), 100)
    return value.item() if kind == "V" and value.dtype.names else NOTHING_KNOWN


def _array(numpy: Any, array: Any, room: int) -> Any:
    _check_room(array.size, room)
    kind = array.dtype.kind
    masks = sys.modules.get("numpy.ma")
    if kind in "OVT" or (masks is not None and isinstance(array, masks.MaskedArray)):
        return _each(array.tolist(), array.ndim, _cell)
    if kind == "f":
        # Beyond eight bytes tolist() gives no floats of Python's.
        array = array.astype(numpy.float64) if array.dtype.itemsize > 8 else array
        missing = numpy.isnan(array)
        if missing.any():
            array = array.astype(object)
            array[missing] = None
    elif kind == "M":
        return _each(_instants(numpy, array), array.ndim, _instant)
    elif kind == "m":
        unit, count = numpy.datetime_data(array.dtype)
        return _each(array.astype("int64").tolist(), array.ndim, lambda number: _length(number, unit, count))
    return array.tolist()


def _instants(numpy: Any, array: Any) -> Any:
    unit = numpy.datetime_data(array.dtype)[0]
    finer = {"Y": "D", "M": "D", "W": "D", "h": "s", "m": "s"}.get(unit)
    return numpy.datetime_as_string(array if finer is None else array.astype(f"datetime64[{finer}]")).tolist()


def _instant(text: str) -> str | None:
    """As datetime.isoformat writes it: no fraction where there is none, else six digits, or nine."""
    if text == "NaT":
        return None
    whole, _, fraction = text.partition(".")
    if not fraction.strip("0"):
        return whole
    return f"{whole}.{fraction.rstrip('0').ljust(6, '0')}" if len(fraction) <= 9 else text


def _length(number: int, unit: str, count: int) -> str | None:
    if number == -(2**63):
        return None  # NaT
    if unit in ("Y", "M"):
        return f"{'-' if number < 0 else ''}P{abs(number * count)}{unit}"
    if unit not in _NANOSECONDS:
        raise Unfit(f"is a timedelta64 of unit '{unit}'; convert it with .astype('timedelta64[ns]')")
    return duration(number * count * _NANOSECONDS[unit])


def _of_pandas(pandas: Any, value: Any, room: int) -> Any:
    if value is pandas.NA or value is pandas.NaT:
        return None
    if isinstance(value, pandas.Series):
        _check_room(len(value), room)
        cells = _cells(value)
        return cells if _counts(pandas, value.index) else Pairs(list(zip(value.index.tolist(), cells, strict=True)))
    if isinstance(value, pandas.DataFrame):
        return _records(pandas, value, room)
    if isinstance(value, pandas.Index | pandas.api.extensions.ExtensionArray):
        _check_room(len(value), room)
        return _cells(value)
    return str(value) if isinstance(value, pandas.Period | pandas.Interval) else NOTHING_KNOWN


def _records(pandas: Any, frame: Any, room: int) -> list[dict[str, Any]]:
    """One object a row; the index is among its fields unless it only numbers the rows."""
    rows, columns = frame.shape
    _check_room(rows * (columns + 1), room)
    names = [key_text(name) for name in frame.columns.tolist()]
    cells = [_cells(frame.iloc[:, place]) for place in range(columns)]
    index = frame.index
    if isinstance(index, pandas.MultiIndex) or index.name is not None or index.dtype.kind not in "iu":
        for level in reversed(range(index.nlevels)):
            name = index.names[level]
            text = key_text(name) if name is not None else "index" if index.nlevels == 1 else f"level_{level}"
            if text not in names:
                names.insert(0, text)
                cells.insert(0, _cells(index.get_level_values(level)))
    if len(set(names)) < len(names):
        twice = next(name for place, name in enumerate(names) if name in names[:place])
        raise Unfit(f"has two columns that are both called '{twice}'; rename one")
    return [dict(zip(names, row, strict=True)) for row in zip(*cells, strict=True)] if cells else [{}] * rows


def _counts(pandas: Any, index: Any) -> bool:
    """Whether the index only counts from 0."""
    return isinstance(index, pandas.RangeIndex) and index.start == 0 and index.step == 1


def _cells(column: Iterable[Any]) -> list[Any]:
    return [_cell(value) for value in (column.tolist() if hasattr(column, "tolist") else column)]


def _cell(value: Any) -> Any:
    if isinstance(value, float):
        return None if value != value else value  # noqa: PLR0124 -- what is not itself is NaN
    return None if isinstance(value, Decimal) and value.is_nan() else value


def _each(value: Any, depth: int, change: Callable[[Any], Any]) -> Any:
    return change(value) if depth == 0 else [_each(item, depth - 1, change) for item in value]


def _check_room(count: int, room: int) -> None:
    if 2 * count > room + 1:  # each takes a character and a comma, but for the last
        raise TooLarge
