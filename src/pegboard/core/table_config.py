"""Table tools as people configure them: a file of tables, each with the fields that a caller fills in."""

from __future__ import annotations

import re
from decimal import Decimal
from difflib import get_close_matches
from typing import Annotated, Any, Literal, get_args

from pydantic import AfterValidator, BeforeValidator, Field, PlainSerializer, StrictBool, StrictInt

from pegboard.core.model import Model
from pegboard.core.tool import check_name

DataType = Literal["text", "integer", "numeric", "boolean", "enum", "datetime", "json"]
LONGEST_NAME = 255
MOST_FIELDS = 1000
MOST_OPTIONS = 1000
Identifier = Annotated[str, Field(min_length=1, max_length=LONGEST_NAME)]
Words = Annotated[str, Field(max_length=2000)]

# Ten to the power of more than this is no number to every reader of JSON.
MOST_DIGITS = 300
BATCH_SUFFIX = "-batch"
# What a success message may name: `{field}`, `{id}` and `{rowCount}`.
PLACEHOLDER = re.compile(r"\{([^{}]+)\}")
ALWAYS_NAMED = ("id", "rowCount")


def as_number(number: Decimal) -> int | float | Decimal:
    """The number as JSON has it everywhere, if it has so few digits; else itself."""
    if not number:
        return 0
    if number == number.to_integral_value():
        return int(number) if -(2**63) <= number < 2**63 else _as_float(number)
    return _as_float(number)


def _as_float(number: Decimal) -> float | Decimal:
    near = float(number)
    return near if Decimal(repr(near)) == number else number


def _a_number(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal | str):
        raise ValueError("must be a number")
    try:
        number = Decimal(repr(value) if isinstance(value, float) else value)
    except ArithmeticError:
        raise ValueError("must be a number") from None
    if not number:
        return Decimal(0)
    if not number.is_finite() or number.adjusted() >= MOST_DIGITS or int(number.as_tuple().exponent) < -MOST_DIGITS:
        raise ValueError(f"must be a number of at most {MOST_DIGITS} digits before the point and after it")
    return number


# Types that other systems have, by the name that they have here.
_OTHER_NAMES: dict[str, DataType] = {
    "string": "text", "varchar": "text", "char": "text", "uuid": "text",
    "int": "integer", "bigint": "integer", "smallint": "integer",
    "number": "numeric", "float": "numeric", "double": "numeric", "decimal": "numeric", "real": "numeric",
    "bool": "boolean", "date": "text", "time": "text", "timestamp": "datetime", "timestamptz": "datetime",
    "object": "json", "jsonb": "json", "array": "json",
}  # fmt: skip


def _nearest_type(name: str) -> list[str]:
    known = _OTHER_NAMES.get(name.lower())
    return [known] if known is not None else get_close_matches(name.lower(), get_args(DataType), 1)


def _a_type(value: Any) -> Any:
    if value in get_args(DataType):
        return value
    near = _nearest_type(value) if isinstance(value, str) else []
    raise ValueError(
        f"'{str(value)[:100]}' is not a type; "
        + (f"did you mean '{near[0]}'?" if near else f"types are: {', '.join(get_args(DataType))}")
    )


def _plain(value: Any) -> Any:
    """What a file says of a default, its numbers those of JSON."""
    if isinstance(value, Decimal):
        return as_number(value)
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list) else value


def _written(number: Decimal) -> int | float | str:
    found = as_number(number)
    return str(found) if isinstance(found, Decimal) else found


# Read without losing a digit; written as a text only where JSON's numbers would lose some.
Number = Annotated[Decimal, BeforeValidator(_a_number), PlainSerializer(_written, when_used="json")]

# Which constraints go with which type; on any other they are a mistake worth telling.
CONSTRAINTS: dict[DataType, tuple[str, ...]] = {
    "text": ("minLength", "maxLength"),
    "integer": ("min", "max"),
    "numeric": ("min", "max", "precision", "scale"),
    "boolean": (),
    "enum": ("enumValues",),
    "datetime": ("minDate", "maxDate"),
    "json": (),
}


class TableField(Model):
    """One field of a table tool's input."""

    name: Identifier
    label: Words | None = None
    description: Words | None = None
    dataType: Annotated[DataType, BeforeValidator(_a_type)]
    required: StrictBool = False
    default: Annotated[Any, AfterValidator(_plain)] = None
    minLength: StrictInt | None = Field(None, ge=0)
    maxLength: StrictInt | None = Field(None, ge=0)
    min: Number | None = None
    max: Number | None = None
    precision: StrictInt | None = Field(None, ge=1, le=MOST_DIGITS)
    scale: StrictInt | None = Field(None, ge=0, le=MOST_DIGITS)
    enumValues: list[str] | None = Field(None, min_length=1, max_length=MOST_OPTIONS)
    minDate: str | None = None
    maxDate: str | None = None

    @property
    def has_default(self) -> bool:
        """Whether a value is given for callers that give none."""
        return "default" in self.model_fields_set


class TableConfig(Model):
    """A database table that rows are inserted into: one a call, or with `batch` all the `rows` of it or none."""

    tableName: Identifier
    schema_: Identifier | None = Field(None, alias="schema")
    source: Identifier | None = None
    fields: list[TableField] = Field(min_length=1, max_length=MOST_FIELDS)
    columnMappings: dict[Identifier, Identifier] = {}
    successMessage: Words | None = None
    audit: StrictBool = False
    batch: StrictBool = False

    def column_of(self, field: str) -> str:
        """The column that a field's value goes to."""
        return self.columnMappings.get(field, field)


class TableEntry(TableConfig):
    """One table of the file: a tool that inserts a row, and with `batch` another beside it that inserts many."""

    toolId: Annotated[str, AfterValidator(check_name)]
    displayName: Annotated[str, Field(min_length=1, max_length=255)]
    description: Annotated[str, Field(min_length=1, max_length=2000)]
    public: StrictBool = False


class FromEnvironment(Model):
    """A value that the environment holds, and not the file."""

    env: Annotated[str, Field(min_length=1)]


def _an_address(value: Any) -> Any:
    if isinstance(value, FromEnvironment) or (isinstance(value, str) and value):
        return value
    if isinstance(value, dict) and value.keys() == {"env"} and isinstance(value["env"], str) and value["env"]:
        return FromEnvironment(env=value["env"])
    raise ValueError('must be a URL such as postgresql://user@host/name, or {"env": NAME} of the variable that has it')


Address = Annotated[str | FromEnvironment, BeforeValidator(_an_address)]


class TablesFile(Model):
    """A whole file; without `database` the tables are in the board's own."""

    database: Address | None = None
    sources: dict[Identifier, Address] = {}
    tables: list[TableEntry] = []
