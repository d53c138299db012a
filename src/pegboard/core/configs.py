"""What each kind of tool needs in its `config`, one model a kind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import AliasChoices, Field, model_validator

from pegboard.core.outbound import HttpConfig, McpConfig, Seconds, Text
from pegboard.core.tool import Kind, Model


class PythonConfig(Model):
    """A Python function, run confined."""

    code: Text
    timeout: Seconds | None = None
    libraries: list[Text] = []
    entrypoint: Text | None = None
    env: dict[str, str] = {}
    network: bool = False


class ShellConfig(Model):
    """A command, run confined; `{param}` fills whole argv elements and is never split again."""

    command: Text
    working_dir: Text | None = None
    timeout: Seconds | None = None
    env: dict[str, str] = {}
    shell: bool = False
    parse: Literal["text", "json"] = "text"
    writable: bool = Field(False, description="Whether the command may change what is in working_dir")
    network: bool = False


class BuiltinConfig(Model):
    """An operation shipped with the board; `parameters` are defaults under the call's arguments."""

    operation: Text = Field(validation_alias=AliasChoices("operation", "handler"))
    parameters: dict[str, Any] = {}


class MockAnswer(Model):
    """An answer for the calls whose arguments contain `when`."""

    when: dict[str, Any] = {}
    respond: Any


class MockConfig(Model):
    """A fixed answer, or the first of several whose condition fits the arguments."""

    mock_response: Any = None
    mock_responses: list[MockAnswer] = []

    @model_validator(mode="after")
    def _some_answer(self) -> MockConfig:
        if not self.model_fields_set & {"mock_response", "mock_responses"}:
            raise ValueError("mock_response or mock_responses is required")
        return self


class InternalConfig(Model):
    """A handler that the process running the board provides."""

    handler: Text


class TableField(Model):
    """One field of a table tool's input."""

    name: Text
    label: str | None = None
    description: str | None = None
    dataType: Literal["text", "integer", "numeric", "boolean", "enum", "datetime", "json"]
    required: bool = False
    default: Any = None
    minLength: int | None = Field(None, ge=0)
    maxLength: int | None = Field(None, ge=0)
    min: float | None = None
    max: float | None = None
    precision: int | None = Field(None, ge=1)
    scale: int | None = Field(None, ge=0)
    enumValues: list[str] | None = Field(None, min_length=1)
    minDate: str | None = None
    maxDate: str | None = None


class TableConfig(Model):
    """A database table that rows are inserted into."""

    tableName: Text
    schema_: str | None = Field(None, alias="schema")
    source: Text | None = None
    fields: list[TableField] = Field(min_length=1)
    columnMappings: dict[str, str] = {}
    successMessage: str | None = None
    audit: bool = False
    batch: bool = False


KindConfig = (
    HttpConfig | McpConfig | PythonConfig | ShellConfig | BuiltinConfig | MockConfig | InternalConfig | TableConfig
)

CONFIGS: Mapping[Kind, type[KindConfig]] = {
    Kind.HTTP: HttpConfig,
    Kind.MCP: McpConfig,
    Kind.PYTHON: PythonConfig,
    Kind.SHELL: ShellConfig,
    Kind.BUILTIN: BuiltinConfig,
    Kind.MOCK: MockConfig,
    Kind.INTERNAL: InternalConfig,
    Kind.TABLE: TableConfig,
}

# The parts of a config whose values may be credentials, and are therefore encrypted at rest.
SECRET_MAPS = ("headers", "env")


def default_timeout(kind: Kind) -> float:
    """Seconds a call of this kind may take unless the tool says otherwise."""
    return {Kind.PYTHON: 10.0, Kind.SHELL: 60.0}.get(kind, 30.0)
