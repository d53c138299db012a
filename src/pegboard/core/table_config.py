"""Table tools as people configure them: a file of tables, each with the fields that a caller fills in."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, StrictBool, StrictInt, model_validator

from pegboard.core.tool import Model, check_name

DataType = Literal["text", "integer", "numeric", "boolean", "enum", "datetime", "json"]
Identifier = Annotated[str, Field(min_length=1, max_length=255)]
Words = Annotated[str, Field(max_length=2000)]
# Of JSON, a number read without losing a digit; true and false are none.
Number = Annotated[Decimal, Field(allow_inf_nan=False)]

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
BATCH_SUFFIX = "-batch"


class TableField(Model):
    """One field of a table tool's input."""

    name: Identifier
    label: Words | None = None
    description: Words | None = None
    dataType: DataType
    required: StrictBool = False
    default: Any = None
    minLength: StrictInt | None = Field(None, ge=0)
    maxLength: StrictInt | None = Field(None, ge=0)
    min: Number | None = None
    max: Number | None = None
    precision: StrictInt | None = Field(None, ge=1, le=1000)
    scale: StrictInt | None = Field(None, ge=0, le=1000)
    enumValues: list[str] | None = Field(None, min_length=1, max_length=1000)
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
    fields: list[TableField] = Field(min_length=1, max_length=1000)
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
    public: StrictBool = True


class FromEnvironment(Model):
    """A value that the environment holds, and not the file."""

    env: Annotated[str, Field(min_length=1)]


Address = str | FromEnvironment


class TablesFile(Model):
    """A whole file; without `database` the tables are in the board's own."""

    database: Address | None = None
    sources: dict[Identifier, Address] = {}
    tables: list[TableEntry] = []

    @model_validator(mode="after")
    def _somewhere(self) -> TablesFile:
        for place, entry in enumerate(self.tables):
            if entry.source is not None and entry.source not in self.sources:
                known = ", ".join(self.sources) or "none are"
                raise ValueError(f"tables.{place}.source: '{entry.source}' is not among sources ({known} given)")
        return self
