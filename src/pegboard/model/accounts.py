"""Users, their API keys, agents and named secrets."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from pegboard.model.api_errors import Forbidden
from pegboard.model.call import Caller, Role

# A row of the keys table: an API key, the session of a browser, or a code that is exchanged for a session once.
KeyKind = Literal["key", "session", "code"]
# The secret with the root key of the board. {{secret:…}} cannot contain this name, so no tool can read the row.
ROOT_ROW_NAME = "$root"


@dataclass(frozen=True, slots=True)
class User:
    """A user, who owns tools and keys."""

    id: str
    name: str
    role: Role
    created_at: datetime
    updated_at: datetime
    is_deleted: bool = False
    deleted_at: datetime | None = None
    revision: int = field(default=0, compare=False)
    mac: str = field(default="", compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ApiKey:
    """An API key of a user, or a session or code that was made with one; the key itself is stored only as a hash."""

    id: str
    user_id: str
    name: str
    prefix: str
    key_hash: str
    created_at: datetime
    agent_id: str | None = None
    expires_at: datetime | None = None
    revoked_at: datetime | None = None
    revision: int = field(default=0, compare=False)
    mac: str = field(default="", compare=False, repr=False)
    # The user who created it; None for the key of the first start and for keys from before this was recorded.
    created_by: str | None = None
    kind: KeyKind = "key"
    # The API key with which a session or code was made; it ends with that key.
    parent_id: str | None = None
    # Accurate to about a minute, and not covered by the MAC.
    last_used_at: datetime | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Agent:
    """A named selection of tools that keys can be limited to."""

    id: str
    owner_id: str
    name: str
    tools: tuple[str, ...]
    created_at: datetime
    updated_at: datetime
    description: str | None = None
    is_deleted: bool = False
    deleted_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Secret:
    """A named credential of a user; `sealed` is None after it was removed."""

    id: str
    owner_id: str
    name: str
    sealed: str | None
    created_at: datetime
    updated_at: datetime


def refuse_agents(caller: Caller) -> None:
    """Raise Forbidden if the key is bound to an agent: such keys can only call tools."""
    if caller.agent_id is not None:
        raise Forbidden("This key is bound to an agent and can only call its tools")


def require_admin(caller: Caller, what: str) -> None:
    """Raise Forbidden unless the caller is an admin and the key is not bound to an agent."""
    refuse_agents(caller)
    if not caller.is_admin:
        raise Forbidden(f"Only admins may {what}")
