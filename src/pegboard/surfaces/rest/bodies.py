"""Pydantic models of request and response bodies, except those of tools."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Generic, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, create_model

from pegboard.model.base_model import Model
from pegboard.model.call import Status, Surface
from pegboard.model.journal_row import COLUMNS, ColumnType, JournalColumn
from pegboard.model.tool_definition import JsonObject, KindName, ToolResponse
from pegboard.surfaces.rest.routing import ReadableName, UtcTime

T = TypeVar("T")


class ResponseBody(BaseModel):
    """A response body that is built from the attributes of an object."""

    model_config = ConfigDict(from_attributes=True)


class PageBody(ResponseBody, Generic[T]):
    """One page of a list, and the cursor of the next page."""

    items: list[T]
    next_cursor: str | None = None


class FaultBody(ResponseBody):
    """One fault of a request."""

    field: str
    message: str


class ProblemBody(ResponseBody):
    """An error of the API itself, as defined in RFC 9457."""

    type: str = "about:blank"
    title: str
    status: int
    detail: str
    errors: list[FaultBody] = []
    request_id: str | None = None


ErrorType = Literal["VALIDATION_ERROR", "DATABASE_ERROR", "CONFIG_ERROR", "UNKNOWN_ERROR"]


class ErrorDetails(ResponseBody):
    """The reason why a call failed, for programs."""

    type: ErrorType
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
    """An argument that was dropped because the tool does not declare it."""

    name: str
    did_you_mean: str | None = None


class PlainResult(ResponseBody):
    """The result of a call in the plain dialect."""

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
    """One page of tools."""


class CountedToolPage(ToolPage):
    """One page of tools, and the number of all that match."""

    count: int


class ToolSummary(ResponseBody):
    """A tool in a list of summaries, at most 300 bytes of JSON unless its name is long; defaults are absent."""

    id: str
    name: str
    tool_type: KindName
    owner_id: str
    version: int
    updated_at: datetime = Field(description="In whole seconds")
    is_active: bool = True
    is_public: bool = False
    drifted: bool = False
    is_deleted: bool = False
    tags: list[str] = Field([], description="The first ones that fit")
    description: str | None = Field(None, description="The beginning that fits, in one line")


class ToolSummaryPage(PageBody[ToolSummary]):
    """One page of summaries, and with `count` the number of all tools that match."""

    count: int | None = None


class AccessResponse(ResponseBody):
    """One reason why a tool can be called."""

    because: Literal["owner", "public", "admin", "agent"]
    user_id: str | None = Field(description="null for all users (`public`), and for all admins if you are not one")
    user_name: str | None
    agent_id: str | None
    agent_name: str | None
    keys: int | None = Field(description="How many valid keys it applies to")


class ToolAccessResponse(ResponseBody):
    """Who can call a tool."""

    tool_id: str
    tool_name: str
    blocked_by: Literal["inactive", "drifted"] | None = Field(description="Why no call is accepted now")
    items: list[AccessResponse] = Field(description="At most 200")
    more: bool = Field(description="Whether there are more")


class VersionResponse(ResponseBody):
    """One version of a tool."""

    version: int
    created_at: datetime
    created_by: str
    created_by_name: str | None = Field(
        description="null for a user who was removed, and for an admin if you are not one"
    )
    definition: JsonObject


class VersionPage(PageBody[VersionResponse]):
    """One page of versions, newest first."""


class ApplyBody(Model):
    """The definitions that the caller's tools are to match."""

    tools: list[JsonObject] = Field(max_length=20_000)
    prune: bool = Field(False, description="Delete the caller's tools that are not listed")
    dry_run: bool = Field(False, description="Only report what would be done")


class DraftsBody(Model):
    """Definitions that are not saved."""

    tools: list[JsonObject] = Field(
        max_length=1000, description="As in `POST /v1/tools`; without `config`, only the part for models is checked"
    )


class PlanResponse(ResponseBody):
    """The changes that were made, or that a dry run would make."""

    created: list[str]
    updated: dict[str, list[str]]
    unchanged: list[str]
    deleted: list[str]


class UserCreate(Model):
    """A new user."""

    name: ReadableName
    role: Literal["admin", "member"] = "member"


class UserUpdate(Model):
    """Changes of a user; absent fields stay."""

    name: ReadableName | None = None
    role: Literal["admin", "member"] | None = None
    updated_at: UtcTime | None = Field(None, description="As it was read: 409 if the user has changed since")


class UserResponse(ResponseBody):
    """A user."""

    id: str
    name: str
    role: Literal["admin", "member"]
    created_at: datetime
    updated_at: datetime


class UserPage(PageBody[UserResponse]):
    """One page of users, oldest first."""


class KeyCreate(Model):
    """A new key."""

    name: ReadableName | Literal[""] = ""
    agent_id: str | None = Field(None, description="Bind the key to this agent: it can then only call its tools")
    expires_at: UtcTime | None = None


class KeyResponse(ResponseBody):
    """A key, without its secret part."""

    id: str
    user_id: str
    name: str
    prefix: str
    agent_id: str | None
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    created_by: str | None = Field(None, description="The user who created it; null if that was not recorded")
    last_used_at: datetime | None = Field(None, description="When it was last used, accurate to a minute or two")
    created_by_name: str | None = Field(None, description="That user's name, unless they were removed")


class KeyList(ResponseBody):
    """A user's keys."""

    items: list[KeyResponse]


class NewKeyResponse(KeyResponse):
    """A new key. This is the only response that contains it."""

    key: str


class MeResponse(ResponseBody):
    """The user and the key of a request."""

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
    """A change to an agent; absent fields stay."""

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
    """One page of agents, oldest first."""


class SecretPut(Model):
    """A secret's value."""

    value: str


class SecretResponse(ResponseBody):
    """A secret, without its value."""

    name: str
    created_at: datetime
    updated_at: datetime


class SecretUseResponse(ResponseBody):
    """A tool or an imported MCP server that refers to a secret."""

    type: Literal["tool", "upstream"]
    id: str
    name: str


class UsedSecretResponse(SecretResponse):
    """A secret without its value, and what fails without it."""

    used_by: list[SecretUseResponse] = Field(description="Your tools and imported MCP servers; at most 100")
    uses: int = Field(description="The number of all of them")


class SecretPage(PageBody[UsedSecretResponse]):
    """One page of secrets, oldest first."""


class SkippedRow(ResponseBody):
    """A row with a value that the rotation could not decrypt."""

    table: str
    id: str
    reason: str


class RotationResponse(ResponseBody):
    """The result of a key rotation."""

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
    """One page of the journal, newest first."""


class SearchedExecutionPage(ExecutionPage):
    """One page of a search in the journal by something that has no index."""

    searched_to: datetime | None = Field(
        None,
        description="Older calls are not searched yet, and `next_cursor` continues; null if the page is full or the "
        "search has ended",
    )


class RunningCallResponse(ResponseBody):
    """A call that runs now."""

    run_id: str
    tool_name: str
    caller_id: str
    caller: str
    agent_id: str | None
    surface: Surface
    started_at: datetime
    chain_id: str | None
    thread_id: str | None
    progress: float | None = Field(description="What its tool reported last; null without a report or a subscriber")
    total: float | None = Field(description="What `progress` is at the end, if that is known")


class RunningCallList(ResponseBody):
    """The calls that run now, oldest first."""

    items: list[RunningCallResponse]
    total: int = Field(description="How many run; `items` may be fewer")


class DialectResponse(ResponseBody):
    """A dialect and its abilities."""

    name: str
    aliases: list[str]
    abilities: list[str]


class ThreadCreate(Model):
    """A new conversation."""

    title: str | None = Field(
        None, min_length=1, max_length=200, description="By default the beginning of its user's first message"
    )


class ThreadUpdate(Model):
    """A change to a conversation."""

    title: str | None = Field(
        min_length=1, max_length=200, description="null: the beginning of its user's next message"
    )


class ThreadResponse(ResponseBody):
    """A conversation of the caller or of one of their agents."""

    id: str
    title: str | None
    agent_id: str | None = Field(description="The agent whose key created it; null if it was not a key of an agent")
    messages: int = Field(description="The number of its messages")
    created_at: datetime
    updated_at: datetime


class ThreadPage(PageBody[ThreadResponse]):
    """One page of conversations, last changed first."""


class MessageResponse(ResponseBody):
    """One message in memory form."""

    id: str
    role: Literal["user", "assistant", "system"]
    content: str | None
    timestamp: datetime
    tool_calls: list[JsonObject] = Field(
        description="Each `{id, name, arguments, result | error, code?, duration_ms?, attempts?, run_id?, "
        "result_valid?, …}`; neither `result` nor `error` if the result is not known"
    )


class MessageList(ResponseBody):
    """The messages that were added, and those whose calls got results."""

    items: list[MessageResponse]


class HistoryPage(ResponseBody):
    """One page of the messages of a conversation, oldest first."""

    items: list[Any] = Field(description="In memory form, or as messages of the requested provider")
    next_cursor: str | None = None
    system: Any = Field(None, description="The system text, if that provider takes it separately from the messages")
