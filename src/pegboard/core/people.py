"""Who uses the board: users, their keys, their agents, their named secrets."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from pegboard.core.call import Role


@dataclass(frozen=True, slots=True)
class User:
    """Somebody who owns tools and keys."""

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
    """A key of a user; the key itself is kept as a hash only."""

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
    # The user who made it; None for keys of the first start and from before this was recorded.
    created_by: str | None = None


@dataclass(frozen=True, slots=True)
class Agent:
    """A named set of tools that one agent is handed."""

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
    """A named credential of a user; `sealed` is None once it was removed."""

    id: str
    owner_id: str
    name: str
    sealed: str | None
    created_at: datetime
    updated_at: datetime
