"""A row of any table is valid, or exactly its invalid fields are reported: compared with a plain model."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from pegboard.json_schema.read_arguments import parse_json
from pegboard.kinds.table.arguments import TableArgumentChecker
from pegboard.kinds.table.config import TableEntry, TableField
from pegboard.kinds.table.config_rules import find_field_faults
from pegboard.kinds.table.generate_tools import build_table_tools
from pegboard.model.call_errors import InvalidArguments
from pegboard.model.timestamps import read_instant
from tests.unit.kinds.table.make_tools import NOW, entry

TEXTS = st.text("ab\0é🙂", max_size=6)
DIGITS = st.decimals(-1000, 1000, places=3) | st.decimals(allow_nan=False, allow_infinity=False, places=2)
SHORT = DIGITS.map(lambda number: number.normalize()).filter(lambda number: abs(number.adjusted()) < 25)
NUMBERS = (
    st.integers(-(2**64), 2**64)
    | st.integers(-20, 20)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.integers(-2000, 2000).map(lambda number: number / 100)
    | SHORT
)
ZONES = st.integers(-1439, 1439).map(lambda minutes: timezone(timedelta(minutes=minutes)))
MOMENTS = st.datetimes(datetime(2024, 1, 1), datetime(2026, 1, 1), timezones=ZONES).map(datetime.isoformat)
OBJECTS = st.dictionaries(TEXTS, TEXTS | NUMBERS | st.lists(TEXTS, max_size=2), max_size=3)
VALUES = (
    st.none() | st.booleans() | TEXTS | NUMBERS | MOMENTS | OBJECTS | st.lists(TEXTS, max_size=2)
    | st.sampled_from(["happy", "sad", "2025-01-01", "2025-01-01T00:00", "2025-01-01T00:00Z"])
)  # fmt: skip


def pairs(values: st.SearchStrategy[Any], low: str, high: str) -> st.SearchStrategy[dict[str, Any]]:
    """A lower and an upper limit, each perhaps and in order."""

    def list_invalid_fields(two: tuple[Any, Any]) -> dict[str, Any]:
        return {word: value for word, value in zip((low, high), two, strict=True) if value is not None}

    return (
        st.tuples(st.none() | values, st.none() | values)
        .filter(lambda two: None in two or two[0] <= two[1])
        .map(list_invalid_fields)
    )


MORE: dict[str, st.SearchStrategy[dict[str, Any]]] = {
    "text": pairs(st.integers(0, 5), "minLength", "maxLength"),
    "integer": pairs(st.integers(-20, 20), "min", "max"),
    "numeric": st.builds(
        lambda bounds, digits: {**bounds, **digits},
        pairs(SHORT, "min", "max"),
        pairs(st.integers(1, 6), "scale", "precision"),
    ),
    "boolean": st.just({}),
    "enum": st.just({"enumValues": ["happy", "sad"]}),
    "datetime": st.sampled_from([{}, {"minDate": "2025-01-01T00:00Z"}, {"maxDate": "2025-01-01T00:00+01:00"}]),
    "json": st.just({}),
}
FIELD = st.sampled_from(list(MORE)).flatmap(
    lambda kind: st.builds(
        lambda more, required: {"dataType": kind, "required": required, **more}, MORE[kind], st.booleans()
    )
)
TABLE = st.lists(FIELD, min_size=1, max_size=4).map(
    lambda fields: [{"name": f"f{place}", **field} for place, field in enumerate(fields)]
)


def exact(value: Any) -> Decimal | None:
    """Return the number with its exact digits, or None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return None
    return Decimal(repr(value)) if isinstance(value, float) else Decimal(value)


def significant(number: Decimal) -> int:
    """Return the number of significant digits, without trailing zeros after the point."""
    digits = f"{abs(number):f}"
    digits = digits.rstrip("0").rstrip(".") if "." in digits else digits
    return len(digits.replace(".", "").lstrip("0"))


def holds_nul(value: Any) -> bool:
    return "\\x00" in repr(value)


def is_number(field: TableField, value: Any) -> bool:
    number = exact(value)
    if (
        number is None
        or (field.min is not None and number < field.min)
        or (field.max is not None and number > field.max)
    ):
        return False
    if field.dataType == "integer":
        return Fraction(number).denominator == 1 and -(2**63) <= number < 2**63
    if field.scale is None:
        return field.precision is None or significant(number) <= field.precision
    fits = (Fraction(number) * 10**field.scale).denominator == 1
    return fits and (field.precision is None or abs(number) < 10 ** (field.precision - field.scale))


def is_moment(field: TableField, value: Any) -> bool:
    try:
        moment = read_instant(value) if isinstance(value, str) else None
    except ValueError:
        return False
    low = read_instant(field.minDate) if field.minDate else datetime.min.replace(tzinfo=UTC)
    high = read_instant(field.maxDate) if field.maxDate else datetime.max.replace(tzinfo=UTC)
    return moment is not None and low <= moment <= high


def fits(field: TableField, value: Any) -> bool:
    """The rules of the contract, as plainly as they can be written."""
    if value is None:
        return not field.required
    if field.dataType == "text":
        most = 10**9 if field.maxLength is None else field.maxLength
        return isinstance(value, str) and (field.minLength or 0) <= len(value) <= most and "\0" not in value
    if field.dataType in ("integer", "numeric"):
        return is_number(field, value)
    if field.dataType == "boolean":
        return isinstance(value, bool)
    if field.dataType == "enum":
        return value in (field.enumValues or ()) and isinstance(value, str)
    if field.dataType == "datetime":
        return is_moment(field, value)
    return isinstance(value, dict) and not holds_nul(value)


def list_invalid_fields(arguments: TableArgumentChecker, given: dict[str, Any]) -> set[str]:
    """The fields that are complained about."""
    try:
        assert arguments.check(given) is given
    except InvalidArguments as error:
        assert all(f"'{problem.field}'" in problem.message for problem in error.problem.problems)
        return {(problem.field or "").split("[")[0] for problem in error.problem.problems}
    return set()


@given(TABLE, st.data())
def test_a_row_fits_or_exactly_its_faulty_fields_are_named(fields: list[dict[str, Any]], data: st.DataObject) -> None:
    table = TableEntry.model_validate(entry(*fields))
    assert not any(find_field_faults(field, "") for field in table.fields)
    row = {
        name: data.draw(VALUES, name) for name in data.draw(st.sets(st.sampled_from(["f0", "f1", "f2", "f3", "f9"])))
    }
    known = {field.name: field for field in table.fields}
    unfit = {name for name in row if name not in known or not fits(known[name], row[name])}
    unfit |= {field.name for field in table.fields if field.required and field.name not in row}
    [tool] = build_table_tools(table, None, owner_id="o", now=NOW)
    assert list_invalid_fields(TableArgumentChecker(tool), row) == unfit


@given(FIELD, st.lists(VALUES, min_size=1, max_size=4))
def test_a_row_of_a_batch_fits_if_it_fits_alone(field: dict[str, Any], values: list[Any]) -> None:
    table = TableEntry.model_validate(entry({"name": "f0", **field}, batch=True))
    one, many = map(TableArgumentChecker, build_table_tools(table, None, owner_id="o", now=NOW))
    unfit = {place for place, value in enumerate(values) if list_invalid_fields(one, {"f0": value})}
    try:
        many.check({"rows": [{"f0": value} for value in values]})
    except InvalidArguments as error:
        received = {(problem.field or "").partition(".")[0] for problem in error.problem.problems}
        assert received == {f"rows[{place}]" for place in unfit}
    else:
        assert not unfit


@given(st.integers(0, 12), st.decimals(-(10**12), 10**12, allow_nan=False), st.integers(0, 14))
def test_decimal_places_are_those_of_the_json(scale: int, number: Decimal, places: int) -> None:
    text = f"{number:.{places}f}"
    field = {"name": "a", "dataType": "numeric", "required": True, "scale": scale}
    [tool] = build_table_tools(TableEntry.model_validate(entry(field)), None, owner_id="o", now=NOW)
    is_fit = (Fraction(text) * 10**scale).denominator == 1
    assert list_invalid_fields(TableArgumentChecker(tool), parse_json(f'{{"a": {text}}}'.encode())) == (
        set() if is_fit else {"a"}
    )
