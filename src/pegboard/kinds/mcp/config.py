"""The config of mcp tools."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, field_validator, model_validator

from pegboard.kinds.config_fields import NonEmptyText, Seconds, StringMap, check_header, check_url
from pegboard.model.base_model import Bounded, Model


class McpConfig(Model):
    """A tool of an MCP server, reached over HTTP or, for admins, started as a command."""

    server_url: NonEmptyText | None = None
    command: Annotated[list[NonEmptyText], Bounded] | None = Field(None, min_length=1)
    tool: NonEmptyText | None = None
    method: Literal["call_tool"] = "call_tool"
    headers: StringMap = {}
    env: StringMap = {}
    working_dir: NonEmptyText | None = None
    timeout: Seconds | None = None
    response: Literal["auto", "full"] = "auto"
    pinned: str | None = Field(
        None, pattern=r"^[0-9a-f]{64}$", description="Digest of the upstream's definition that the owner took on"
    )

    listed: dict[str, Any] = Field(
        {}, description="What MCP clients see of the upstream's definition beside the fields of the tool"
    )

    @field_validator("command", mode="before")
    @classmethod
    def _check_command_not_empty(cls, command: Any) -> Any:
        if command == []:
            raise ValueError("command is empty; give the program to start, and its arguments after it")
        return command

    @field_validator("server_url")
    @classmethod
    def _check_url(cls, url: str | None) -> str | None:
        return None if url is None else check_url(url, "server_url")

    @model_validator(mode="after")
    def _check_transport(self) -> McpConfig:
        if (self.server_url is None) == (self.command is None):
            raise ValueError("server_url is required (or, for admins, command in its place)")
        if self.server_url is None and self.headers:
            raise ValueError("headers are for a server_url; a command takes env")
        if self.command is None and (self.env or self.working_dir):
            raise ValueError("env and working_dir are for a command; a server_url takes headers")
        for name, value in self.headers.items():
            check_header(name, value)
        if any("\0" in word for word in (self.command or ())):
            raise ValueError("command holds the character NUL")
        return self
