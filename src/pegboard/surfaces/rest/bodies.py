"""Pydantic models of request and response bodies, except those of tools."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Generic, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, create_model

from pegboard.model.base_model import Model
from pegboard.model.call import Status
from pegboard.model.journal_row import COLUMNS, ColumnType, JournalColumn
from pegboard.model.tool_definition import JsonObject, ToolResponse
from pegboard.surfaces.rest.routing import ReadableName, UtcTime

T = TypeVar("T")


class ResponseBody(BaseModel):
    """An answer, read off one of the board's own values."""

    model_config = ConfigDict(from_attributes=True)


class PageBody(ResponseBody, Generic[T]):
    """Some items of a list, and where the next ones begin."""

    items: list[T]
    next_cursor: str | None = None


class FaultBody(ResponseBody):
    """One thing wrong with a request."""

    field: str
    message: str


class ProblemBody(ResponseBody):
    """An error of the API itself, after RFC 9457."""

    type: str = "about:blank"
    title: str
    status: int
    detail: str
    errors: list[FaultBody] = []
    request_id: str | None = None


class ErrorDetails(ResponseBody):
    """What programs can tell a failed call's reason by."""

    type: Literal["VALIDATION_ERROR", "DATABASE_ERROR", "CONFIG_ERROR", "UNKNOWN_ERROR"]
    code: str
    field: str | None = None
    expected: str | None = None
    received: str | None = None
    problems: list[JsonObject] = []
    sqlstate: str | None = None
    exit_code: int | None = None
    stdout: str | None = None
    stderr: str | None = None
    retry_after_ms: int | None = None


class IgnoredArgument(ResponseBody):
    """An argument that the tool does not declare, so it was dropped."""

    name: str
    did_you_mean: str | None = None


class PlainResult(ResponseBody):
    """How a call ended, in the plain dialect."""

    success: bool
    result: Any = None
    error: str | None = None
    error_details: ErrorDetails | None = None
    tool_name: str
    execution_time_ms: float
    id: str | None = None
    fallback: bool = False
    ignored: list[IgnoredArgument] | None = None


class ToolPage(PageBody[ToolResponse]):
    """Some tools, and where the next ones begin."""


class VersionResponse(ResponseBody):
    """What a tool was at one version."""

    version: int
    created_at: datetime
    created_by: str
    definition: JsonObject


class VersionPage(PageBody[VersionResponse]):
    """Some versions, newest first."""


class ApplyBody(Model):
    """Definitions that the caller's tools shall match."""

    tools: list[JsonObject] = Field(max_length=20_000)
    prune: bool = Field(False, description="Delete the caller's tools that are not listed")
    dry_run: bool = Field(False, description="Only say what would be done")


class PlanResponse(ResponseBody):
    """What was done, or would be."""

    created: list[str]
    updated: dict[str, list[str]]
    unchanged: list[str]
    deleted: list[str]


class UserCreate(Model):
    """A new user."""

    name: ReadableName
    role: Literal["admin", "member"] = "member"


class UserResponse(ResponseBody):
    """A user."""

    id: str
    name: str
    role: Literal["admin", "member"]
    created_at: datetime
    updated_at: datetime


class UserPage(PageBody[UserResponse]):
    """Some users, oldest first."""


class KeyCreate(Model):
    """A new key."""

    name: ReadableName | Literal[""] = ""
    agent_id: str | None = Field(None, description="Bind the key to this agent: it can then only call its tools")
    expires_at: UtcTime | None = None


class KeyResponse(ResponseBody):
    """A key, without what it opens."""

    id: str
    user_id: str
    name: str
    prefix: str
    agent_id: str | None
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    created_by: str | None = Field(None, description="The user who made it; null if that was not recorded")
    created_by_name: str | None = Field(None, description="That user's name, unless they were removed")


class KeyList(ResponseBody):
    """A user's keys."""

    items: list[KeyResponse]


class NewKeyResponse(KeyResponse):
    """A key at the only time it is shown."""

    key: str


class MeResponse(ResponseBody):
    """Whose key this is."""

    user: UserResponse
    key_id: str | None
    agent_id: str | None = Field(description="The agent that the key is bound to")
    agent_name: str | None


class AgentCreate(Model):
    """A new agent; tools by id or name."""

    name: ReadableName
    description: str | None = Field(None, max_length=2000)
    tools: list[str] = Field([], max_length=10_000)


class AgentUpdate(Model):
    """A change to an agent; what is absent stays."""

    name: ReadableName | None = None
    description: str | None = Field(None, max_length=2000)
    tools: list[str] | None = Field(None, max_length=10_000)


class AgentResponse(ResponseBody):
    """An agent and the ids of its tools."""

    id: str
    owner_id: str
    name: str
    description: str | None
    tools: list[str]
    created_at: datetime
    updated_at: datetime


class AgentPage(PageBody[AgentResponse]):
    """Some agents, oldest first."""


class SecretPut(Model):
    """A secret's value."""

    value: str


class SecretResponse(ResponseBody):
    """A secret, without its value."""

    name: str
    created_at: datetime
    updated_at: datetime


class SecretPage(PageBody[SecretResponse]):
    """Some secrets, oldest first."""


class SkippedRow(ResponseBody):
    """A row that a rotation could not read."""

    table: str
    id: str
    reason: str


class RotationResponse(ResponseBody):
    """What a rotation did."""

    key_id: str
    sealed: int
    total: int
    skipped: list[SkippedRow]
    finished: bool
    note: str | None = None


class TryResponse(ResponseBody):
    """An attempt that failed."""

    attempt: int
    code: str
    error: str
    elapsed_ms: float


_JSON_TYPES: dict[ColumnType, Any] = {
    ColumnType.INTEGER: int,
    ColumnType.FLOAT: float,
    ColumnType.MOMENT: datetime,
}
# Columns that have a narrower type than theirs in the journal.
_NARROWER_TYPES: dict[str, Any] = {"status": Status, "tries": list[TryResponse] | None}


def _build_execution_field(column: JournalColumn) -> Any:
    if column.name in _NARROWER_TYPES:
        return _NARROWER_TYPES[column.name], ...
    if column.type.is_json:
        return Any, None
    known = _JSON_TYPES.get(column.type, str)
    return (known if column.required else known | None), ...


ExecutionResponse = create_model(
    "ExecutionResponse",
    __base__=ResponseBody,
    __doc__="One row of the journal.",
    **{column.name: _build_execution_field(column) for column in COLUMNS},
)


class ExecutionPage(PageBody[ExecutionResponse]):
    """Some executions, newest first."""


class DialectResponse(ResponseBody):
    """A dialect and what it can do."""

    name: str
    aliases: list[str]
    abilities: list[str]


class ThreadCreate(Model):
    """A new conversation."""

    title: str | None = Field(
        None, min_length=1, max_length=200, description="Without one it is called after what its user says first"
    )


class ThreadUpdate(Model):
    """A change to a conversation."""

    title: str | None = Field(min_length=1, max_length=200, description="null: call it after what its user says next")


class ThreadResponse(ResponseBody):
    """A conversation of the caller or of one of their agents."""

    id: str
    title: str | None
    agent_id: str | None = Field(description="The agent whose key began it; null if its user did")
    messages: int = Field(description="How many there are")
    created_at: datetime
    updated_at: datetime


class ThreadPage(PageBody[ThreadResponse]):
    """Some conversations, the one that changed last first."""


class MessageResponse(ResponseBody):
    """One message in memory form."""

    id: str
    role: Literal["user", "assistant", "system"]
    content: str | None
    timestamp: datetime
    tool_calls: list[JsonObject] = Field(
        description="Each `{id, name, arguments, result | error, code?, duration_ms?, attempts?, run_id?, "
        "result_valid?, …}`; without a result or an error where no answer is known"
    )


class MessageList(ResponseBody):
    """Messages that were added, or whose calls got answers."""

    items: list[MessageResponse]


class HistoryPage(ResponseBody):
    """Some messages of a conversation, oldest first."""

    items: list[Any] = Field(description="In memory form, or as messages of the provider that was asked for")
    next_cursor: str | None = None
    system: Any = Field(None, description="The system text, where that provider takes it apart from the messages")
