"""The config models of table tools and of the tables file, and the errors of calls that insert rows."""

from __future__ import annotations

import re
from decimal import Decimal
from difflib import get_close_matches
from typing import Annotated, Any, Literal, get_args

from pydantic import AfterValidator, BeforeValidator, Field, PlainSerializer, StrictBool, StrictInt

from pegboard.model.base_model import Model
from pegboard.model.call_errors import ErrorType, FieldProblem, ToolError
from pegboard.model.tool import check_name

DataType = Literal["text", "integer", "numeric", "boolean", "enum", "datetime", "json"]
MAX_IDENTIFIER_CHARACTERS = 255
MAX_FIELDS = 1000
MAX_OPTIONS = 1000
Identifier = Annotated[str, Field(min_length=1, max_length=MAX_IDENTIFIER_CHARACTERS)]
DescriptionText = Annotated[str, Field(max_length=2000)]

# Some JSON parsers cannot read numbers above ten to this power.
MAX_DIGITS = 300
BATCH_SUFFIX = "-batch"
# Placeholders of a success message: `{field}`, `{id}` and `{rowCount}`.
MESSAGE_PLACEHOLDER = re.compile(r"\{([^{}]+)\}")
STANDARD_PLACEHOLDERS = ("id", "rowCount")


def to_json_number(number: Decimal) -> int | float | Decimal:
    """Return the number as an int or float if that loses no digit, else unchanged."""
    if not number:
        return 0
    if number == number.to_integral_value():
        return int(number) if -(2**63) <= number < 2**63 else _to_exact_float(number)
    return _to_exact_float(number)


def _to_exact_float(number: Decimal) -> float | Decimal:
    near = float(number)
    return near if Decimal(repr(near)) == number else number


def _read_number(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal | str):
        raise ValueError("must be a number")
    try:
        number = Decimal(repr(value) if isinstance(value, float) else value)
    except ArithmeticError:
        raise ValueError("must be a number") from None
    if not number:
        return Decimal(0)
    if not number.is_finite() or number.adjusted() >= MAX_DIGITS or int(number.as_tuple().exponent) < -MAX_DIGITS:
        raise ValueError(f"must be a number of at most {MAX_DIGITS} digits before the point and after it")
    return number


# Type names of other systems and their names here.
_TYPE_SYNONYMS: dict[str, DataType] = {
    "string": "text", "varchar": "text", "char": "text", "uuid": "text",
    "int": "integer", "bigint": "integer", "smallint": "integer",
    "number": "numeric", "float": "numeric", "double": "numeric", "decimal": "numeric", "real": "numeric",
    "bool": "boolean", "date": "text", "time": "text", "timestamp": "datetime", "timestamptz": "datetime",
    "object": "json", "jsonb": "json", "array": "json",
}  # fmt: skip


def _suggest_type(name: str) -> list[str]:
    known = _TYPE_SYNONYMS.get(name.lower())
    return [known] if known is not None else get_close_matches(name.lower(), get_args(DataType), 1)


def _check_type(value: Any) -> Any:
    if value in get_args(DataType):
        return value
    near = _suggest_type(value) if isinstance(value, str) else []
    raise ValueError(
        f"'{str(value)[:100]}' is not a type; "
        + (f"did you mean '{near[0]}'?" if near else f"types are: {', '.join(get_args(DataType))}")
    )


def _normalize_default(value: Any) -> Any:
    """Return the default value of a file with Decimals converted to JSON numbers."""
    if isinstance(value, Decimal):
        return to_json_number(value)
    if isinstance(value, dict):
        return {key: _normalize_default(item) for key, item in value.items()}
    return [_normalize_default(item) for item in value] if isinstance(value, list) else value


def _serialize_number(number: Decimal) -> int | float | str:
    found = to_json_number(number)
    return str(found) if isinstance(found, Decimal) else found


# Read without losing a digit; serialised as a string only if a JSON number would lose digits.
Number = Annotated[Decimal, BeforeValidator(_read_number), PlainSerializer(_serialize_number, when_used="json")]

# The constraints that each type allows; any other is reported as a mistake.
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
    label: DescriptionText | None = None
    description: DescriptionText | None = None
    dataType: Annotated[DataType, BeforeValidator(_check_type)]
    required: StrictBool = False
    default: Annotated[Any, AfterValidator(_normalize_default)] = None
    minLength: StrictInt | None = Field(None, ge=0)
    maxLength: StrictInt | None = Field(None, ge=0)
    min: Number | None = None
    max: Number | None = None
    precision: StrictInt | None = Field(None, ge=1, le=MAX_DIGITS)
    scale: StrictInt | None = Field(None, ge=0, le=MAX_DIGITS)
    enumValues: list[str] | None = Field(None, min_length=1, max_length=MAX_OPTIONS)
    minDate: str | None = None
    maxDate: str | None = None

    @property
    def has_default(self) -> bool:
        """True if the field has a default."""
        return "default" in self.model_fields_set


class TableConfig(Model):
    """A database table that rows are inserted into: one a call, or with `batch` all the `rows` of it or none."""

    tableName: Identifier
    schema_: Identifier | None = Field(None, alias="schema")
    source: Identifier | None = None
    fields: list[TableField] = Field(min_length=1, max_length=MAX_FIELDS)
    columnMappings: dict[Identifier, Identifier] = {}
    successMessage: DescriptionText | None = None
    audit: StrictBool = False
    batch: StrictBool = False
    receipts: StrictBool = False

    def column_of(self, field: str) -> str:
        """Return the column of a field."""
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


def _check_address(value: Any) -> Any:
    if isinstance(value, FromEnvironment) or (isinstance(value, str) and value):
        return value
    if isinstance(value, dict) and value.keys() == {"env"} and isinstance(value["env"], str) and value["env"]:
        return FromEnvironment(env=value["env"])
    raise ValueError('must be a URL such as postgresql://user@host/name, or {"env": NAME} of the variable that has it')


DatabaseAddress = Annotated[str | FromEnvironment, BeforeValidator(_check_address)]


class TablesFile(Model):
    """A whole file; without `database` the tables are in the board's own."""

    database: DatabaseAddress | None = None
    sources: dict[Identifier, DatabaseAddress] = {}
    tables: list[TableEntry] = []


class TableUnusable(ToolError):
    """The table does not exist or does not match the tool's config."""

    type = ErrorType.CONFIG
    code = "table_unusable"
    did_run = False

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message, problems=[FieldProblem(code, message)])


class DatabaseFailed(ToolError):
    """The database rejected the rows or could not be reached; `code` is one of Prisma's error codes."""

    type = ErrorType.DATABASE
    code = "P2010"
    did_run = False

    def __init__(
        self,
        code: str,
        message: str,
        *,
        field: str | None = None,
        sqlstate: str | None = None,
        retry_after_ms: int | None = None,
    ) -> None:
        super().__init__(message, problems=[FieldProblem(code, message, field)], retry_after_ms=retry_after_ms)
        self.sqlstate = sqlstate

    @property
    def retry_reason(self) -> str:
        """Errors with a retry time count as transport errors."""
        return "transport" if self.retry_after_ms is not None else self.code
