"""The tool type: its name, kind, schemas, limits and credentials."""

from __future__ import annotations

import hashlib
import keyword
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Literal
from uuid import UUID

from pydantic import ConfigDict, Field, model_validator

from pegboard.model.base_model import Model
from pegboard.model.display_format import Display

MAX_NAME_LENGTH = 255
MAX_ALIAS_LENGTH = 64

_NAME = re.compile(r"[A-Za-z_-][A-Za-z0-9_-]*", re.ASCII)
_PORTABLE_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}", re.ASCII)
# Longer names have too many candidates.
MAX_SPELLED_LENGTH = 40
_NAME_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789_-"
_NAME_SEPARATORS = re.compile(r"[-_.:/ ]+")
_NAME_PREFIX = re.compile(r"^.*[.:/]")
_KEYWORDS = frozenset(word.lower() for word in keyword.kwlist)


class Kind(StrEnum):
    """How a tool runs."""

    HTTP = "http"
    MCP = "mcp"
    PYTHON = "python"
    SHELL = "shell"
    BUILTIN = "builtin"
    MOCK = "mock"
    INTERNAL = "internal"
    TABLE = "table"


_BUILT_IN_KINDS: dict[str, Kind] = {kind.value: kind for kind in Kind}


def read_kind(name: str) -> str:
    """Return the name of a kind, as a Kind if it is a built-in one."""
    return _BUILT_IN_KINDS.get(name, name)


def check_name(name: str) -> str:
    """Return the name if it is a valid tool name; raise ValueError with the violated rule otherwise."""
    if not 1 <= len(name) <= MAX_NAME_LENGTH:
        raise ValueError(f"a tool name has 1 to {MAX_NAME_LENGTH} characters, this one has {len(name)}")
    if name[0].isascii() and name[0].isdigit():
        raise ValueError(f"a tool name cannot start with a number: '{name}'")
    if not _NAME.fullmatch(name):
        raise ValueError(f"a tool name has ASCII letters, digits, underscores and hyphens only: '{name}'")
    if name.lower() in _KEYWORDS:
        raise ValueError(f"'{name}' is a reserved keyword")
    if _is_uuid(name):
        raise ValueError(f"a tool name cannot look like an id: '{name}'")
    return name


def make_alias(name: str) -> str | None:
    """Return the shorter name for providers that limit names, or None if the name itself is valid everywhere."""
    if _PORTABLE_NAME.fullmatch(name):
        return None
    digest = hashlib.sha256(name.lower().encode()).hexdigest()[:8]
    return f"{('_' + name if name[0] == '-' else name)[: MAX_ALIAS_LENGTH - 9]}_{digest}"


def list_lookup_names(name: str) -> tuple[str, ...]:
    """Return the lower-case names by which a tool is found: its name, and its alias if it has one."""
    alias = make_alias(name)
    return (name.lower(),) if alias is None else (name.lower(), alias.lower())


def iterate_near_spellings(name: str) -> Iterator[str]:
    """Yield lower-case names that differ in separators, or by one missing, added, changed or swapped letter.

    They are generated from the given name and looked up, so the cost does not depend on the number of tools.
    """
    if len(name) > MAX_SPELLED_LENGTH:
        return
    words = [word for word in _NAME_SEPARATORS.split(name) if word]
    for separator in ("_", "-", ""):
        yield separator.join(words)
    # Models add a prefix such as `functions.`; try without it.
    yield _NAME_PREFIX.sub("", name)
    ends = [(name[:place], name[place:]) for place in range(len(name) + 1)]
    for start, end in ends:
        if len(end) > 1:
            yield start + end[1] + end[0] + end[2:]
        if end:
            yield start + end[1:]
    for start, end in ends:
        for letter in _NAME_LETTERS:
            yield start + letter + end
            if end:
                yield start + letter + end[1:]


def _is_uuid(text: str) -> bool:
    try:
        UUID(text)
    except ValueError:
        return False
    return True


class RateLimit(Model):
    """Capacity `burst` (or `max_calls`), refilled at `max_calls` a period."""

    max_calls: int = Field(ge=1, le=10**9, description="Calls allowed per period")
    period: Literal["second", "minute", "hour"] = Field(description="second, minute or hour")
    burst: int | None = Field(None, ge=1, le=10**9, description="How many may come at once; max_calls if absent")
    scope: Literal["caller", "tool"] = Field("caller", description="One bucket a caller, or one for all callers")

    @property
    def capacity(self) -> int:
        """The number of calls that may come at once."""
        return self.burst or self.max_calls


class Retry(Model):
    """When and how often a failed attempt is made again."""

    max_attempts: int = Field(ge=1, le=10, description="Attempts in all, the first included")
    on: frozenset[Literal["contract_violation", "execution_failed", "timeout", "transport", "rate_limited"]] = (
        frozenset({"contract_violation"})
    )
    backoff_ms: int = Field(0, ge=0, le=60_000, description="Wait before the second attempt; doubles each time")


class Fallback(Model):
    """The answer after every attempt has failed: a value, or another tool."""

    value: Any = None
    tool: str | None = None

    @model_validator(mode="after")
    def _check_one_of_two(self) -> Fallback:
        # Responses show a fallback on a tool as {"value": null, "tool": NAME}; accept the same in requests.
        if (not self.tool and "value" not in self.model_fields_set) or (self.tool and self.value is not None):
            raise ValueError('a fallback is either {"value": …} or {"tool": NAME}')
        return self


class AuthConfig(Model):
    """The tool's credentials for its upstream; encrypted at rest, masked in every response."""

    model_config = ConfigDict(frozen=True, extra="allow")

    type: Literal["bearer", "basic", "api_key", "custom"]

    @model_validator(mode="after")
    def _complete(self) -> AuthConfig:
        needed: dict[str, tuple[str, ...]] = {
            "bearer": ("token",),
            "basic": ("username", "password"),
            "api_key": ("api_key",),
            "custom": (),
        }
        given = self.model_extra or {}
        for name in needed[self.type]:
            if not isinstance(given.get(name), str) or not given[name]:
                raise ValueError(f"auth_config of type {self.type} needs '{name}', a non-empty string")
        return self


@dataclass(frozen=True, slots=True, weakref_slot=True)
class Tool:
    """A tool as stored; secret values are encrypted in `config` and `sealed_auth`."""

    id: str
    owner_id: str
    name: str
    tool_type: str
    config: Mapping[str, Any]
    input_schema: Mapping[str, Any]
    created_at: datetime
    updated_at: datetime
    version: int = 1
    description: str | None = None
    output_schema: Mapping[str, Any] | None = None
    sealed_auth: Mapping[str, Any] | None = None
    rate_limit: RateLimit | None = None
    is_active: bool = True
    is_public: bool = False
    is_deleted: bool = False
    deleted_at: datetime | None = None
    display_name: str | None = None
    tags: tuple[str, ...] = ()
    timeout: float | None = None
    unknown_parameters: Literal["ignore", "reject"] = "ignore"
    result_style: Literal["plain", "detailed", "envelope"] = "plain"
    retry: Retry | None = None
    fallback: Fallback | None = None
    idempotent: bool = False
    read_only: bool = False
    destructive: bool = False
    keep_arguments: bool = False
    keep_result: bool = False
    max_result_bytes: int | None = None
    drifted: bool = False
    display: Display | None = None
    on_disconnect: Literal["cancel", "detach"] = "cancel"
    # The ids of the tools that its chain and its fallback refer to, by lower-case name.
    bound_tools: Mapping[str, str] = field(default_factory=dict)

    @property
    def alias(self) -> str | None:
        """The shorter name for providers that limit names, or None."""
        return make_alias(self.name)
