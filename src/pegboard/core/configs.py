"""What each kind of tool needs in its `config`, one model a kind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import AliasChoices, Field, model_validator

from pegboard.core.tool import Kind, Model

Seconds = Annotated[float, Field(gt=0, le=3600)]
Text = Annotated[str, Field(min_length=1)]


def _refuse_credentials(url: str) -> None:
    """A URL is shown and logged, so it may not hold a password."""
    if "@" in url.partition("://")[2].partition("/")[0].partition("?")[0]:
        raise ValueError("a URL may not hold a user or password; put them in auth_config, where they are encrypted")


class HttpConfig(Model):
    """A request to a URL; `{param}` in the URL is filled from the arguments."""

    url: Text
    method: Literal["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
    headers: dict[str, str] = {}
    timeout: Seconds | None = None
    params_in: dict[str, Literal["path", "query", "header", "cookie", "body"]] = {}
    body_format: Literal["json", "form", "multipart", "text"] = "json"
    response: Literal["body", "full"] = "body"

    @model_validator(mode="before")
    @classmethod
    def _method_in_capitals(cls, data: Any) -> Any:
        if isinstance(data, dict) and isinstance(data.get("method"), str):
            return {**data, "method": data["method"].upper()}
        return data

    @model_validator(mode="after")
    def _absolute_url(self) -> HttpConfig:
        if not self.url.startswith(("http://", "https://")):
            raise ValueError(f"url must start with http:// or https://, but is '{self.url[:100]}'")
        _refuse_credentials(self.url)
        return self


class McpConfig(Model):
    """A tool of an MCP server, reached over HTTP or, for admins, started as a command."""

    server_url: Text | None = None
    command: list[Text] | None = Field(None, min_length=1)
    tool: Text | None = None
    method: Literal["call_tool"] = "call_tool"
    headers: dict[str, str] = {}
    env: dict[str, str] = {}
    timeout: Seconds | None = None

    @model_validator(mode="after")
    def _one_way_in(self) -> McpConfig:
        if (self.server_url is None) == (self.command is None):
            raise ValueError("server_url is required (or, for admins, command in its place)")
        if self.server_url is not None and not self.server_url.startswith(("http://", "https://")):
            raise ValueError(f"server_url must start with http:// or https://, but is '{self.server_url[:100]}'")
        _refuse_credentials(self.server_url or "")
        return self


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
