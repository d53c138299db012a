"""The tables of the board."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Float,
    ForeignKey,
    Index,
    Integer,
    String,
    UniqueConstraint,
    Uuid,
    false,
    text,
)
from sqlalchemy.orm import Mapped, mapped_column, relationship

from pegboard.core.tool import Kind
from pegboard.store.base_models import Base, Row
from pegboard.store.types import Instant, Words, json_type, name_type

NOT_DELETED = text("is_deleted IS FALSE")
_LOWER_NAME = text("lower(name)")

_KINDS = ", ".join(f"'{kind}'" for kind in Kind)


def _among_not_deleted(name: str, *columns: Any, unique: bool = False) -> Index:
    return Index(name, *columns, unique=unique, sqlite_where=NOT_DELETED, postgresql_where=NOT_DELETED)


class Changing(Row):
    """A row that changes with the board's revision."""

    revision: Mapped[int] = mapped_column(BigInteger, nullable=False)
    created_at: Mapped[datetime] = mapped_column(Instant, nullable=False)


class Updated(Changing):
    """A row that is updated in place."""

    updated_at: Mapped[datetime] = mapped_column(Instant, nullable=False)


class SoftDeleted(Updated):
    """A row that is marked instead of removed."""

    is_deleted: Mapped[bool] = mapped_column(Boolean, nullable=False, default=False)
    deleted_at: Mapped[datetime | None] = mapped_column(Instant)


class BoardState(Base):
    """One row: the number of the board's last change."""

    __tablename__ = "board_state"
    __table_args__ = (CheckConstraint("id = 1", name="single"),)

    id: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=False)
    revision: Mapped[int] = mapped_column(BigInteger, nullable=False)
    # How many writers the journal has had, signed, so that one that is missing shows.
    writers: Mapped[int] = mapped_column(Integer, nullable=False, server_default="0")
    writers_signature: Mapped[str] = mapped_column(String(32), nullable=False, server_default=text("''"))


class User(SoftDeleted, Base):
    """Somebody who owns tools and keys."""

    __tablename__ = "users"

    name: Mapped[str] = mapped_column(name_type(), nullable=False)
    role: Mapped[str] = mapped_column(String(20), nullable=False)
    # Over what gives rights, and the revision; see registry/signing.py.
    mac: Mapped[str] = mapped_column(String(64), nullable=False, default="", server_default=text("''"))
    tools: Mapped[list[Tool]] = relationship(back_populates="owner", lazy="raise")

    __table_args__ = (
        CheckConstraint("role IN ('admin', 'member')", name="role"),
        _among_not_deleted("uq_user_name", _LOWER_NAME, unique=True),
        Index("idx_user_revision", "revision"),
    )


class ApiKey(Changing, Base):
    """A key of a user, as a keyed hash."""

    __tablename__ = "api_keys"
    __table_args__ = (
        UniqueConstraint("key_hash", name="uq_key_hash"),
        Index("idx_key_user", "user_id"),
        Index("idx_key_revision", "revision"),
    )

    user_id: Mapped[str] = mapped_column(Uuid(as_uuid=False), ForeignKey("users.id"), nullable=False)
    name: Mapped[str] = mapped_column(Words(255), nullable=False)
    prefix: Mapped[str] = mapped_column(String(64), nullable=False)
    key_hash: Mapped[str] = mapped_column(String(255), nullable=False)
    agent_id: Mapped[str | None] = mapped_column(Uuid(as_uuid=False), ForeignKey("agents.id"))
    expires_at: Mapped[datetime | None] = mapped_column(Instant)
    revoked_at: Mapped[datetime | None] = mapped_column(Instant)
    mac: Mapped[str] = mapped_column(String(64), nullable=False, default="", server_default=text("''"))
    created_by: Mapped[str | None] = mapped_column(Uuid(as_uuid=False))


class Tool(SoftDeleted, Base):
    """A tool; values that are secret are sealed in `config` and `auth_config`."""

    __tablename__ = "tools"

    owner_id: Mapped[str] = mapped_column(Uuid(as_uuid=False), ForeignKey("users.id"), nullable=False)
    name: Mapped[str] = mapped_column(name_type(), nullable=False)
    description: Mapped[str | None] = mapped_column(Words(2000))
    tool_type: Mapped[str] = mapped_column(String(50), nullable=False)
    config: Mapped[dict[str, Any]] = mapped_column(json_type(), nullable=False)
    input_schema: Mapped[dict[str, Any]] = mapped_column(json_type(), nullable=False)
    output_schema: Mapped[dict[str, Any] | None] = mapped_column(json_type())
    auth_config: Mapped[dict[str, Any] | None] = mapped_column(json_type())
    rate_limit: Mapped[dict[str, Any] | None] = mapped_column(json_type())
    is_active: Mapped[bool] = mapped_column(Boolean, nullable=False, default=True)
    is_public: Mapped[bool] = mapped_column(Boolean, nullable=False, default=False)
    version: Mapped[int] = mapped_column(Integer, nullable=False, default=1)
    display_name: Mapped[str | None] = mapped_column(Words(255))
    tags: Mapped[list[str]] = mapped_column(json_type(), nullable=False)
    timeout: Mapped[float | None] = mapped_column(Float)
    unknown_parameters: Mapped[str] = mapped_column(String(20), nullable=False)
    result_style: Mapped[str] = mapped_column(String(20), nullable=False)
    retry: Mapped[dict[str, Any] | None] = mapped_column(json_type())
    fallback: Mapped[dict[str, Any] | None] = mapped_column(json_type())
    idempotent: Mapped[bool] = mapped_column(Boolean, nullable=False, default=False)
    read_only: Mapped[bool] = mapped_column(Boolean, nullable=False, default=False)
    destructive: Mapped[bool] = mapped_column(Boolean, nullable=False, default=False)
    keep_arguments: Mapped[bool] = mapped_column(Boolean, nullable=False, default=False)
    keep_result: Mapped[bool] = mapped_column(Boolean, nullable=False, default=False, server_default=false())
    max_result_bytes: Mapped[int | None] = mapped_column(Integer)
    drifted: Mapped[bool] = mapped_column(Boolean, nullable=False, default=False)
    display: Mapped[dict[str, Any] | None] = mapped_column(json_type())
    on_disconnect: Mapped[str] = mapped_column(
        String(20), nullable=False, default="cancel", server_default=text("'cancel'")
    )
    bound_tools: Mapped[dict[str, str] | None] = mapped_column(json_type())
    owner: Mapped[User] = relationship(back_populates="tools", lazy="raise")

    __table_args__ = (
        CheckConstraint(f"tool_type IN ({_KINDS})", name="tool_type"),
        CheckConstraint("is_active IS NOT NULL", name="is_active"),
        CheckConstraint("is_public IS NOT NULL", name="is_public"),
        _among_not_deleted("uq_tool_name", _LOWER_NAME, unique=True),
        _among_not_deleted("idx_tool_owner", "owner_id"),
        _among_not_deleted("idx_tool_name", "name"),
        _among_not_deleted("idx_tool_type", "tool_type"),
        _among_not_deleted("idx_tool_active", "is_active"),
        _among_not_deleted("idx_tool_public", "is_public"),
        _among_not_deleted("idx_tool_owner_active", "owner_id", "is_active"),
        Index("idx_tool_revision", "revision"),
    )


class ToolVersion(Row, Base):
    """What a tool was at one of its versions."""

    __tablename__ = "tool_versions"
    __table_args__ = (UniqueConstraint("tool_id", "version", name="uq_tool_version"),)

    tool_id: Mapped[str] = mapped_column(Uuid(as_uuid=False), ForeignKey("tools.id"), nullable=False)
    version: Mapped[int] = mapped_column(Integer, nullable=False)
    definition: Mapped[dict[str, Any]] = mapped_column(json_type(), nullable=False)
    created_at: Mapped[datetime] = mapped_column(Instant, nullable=False)
    created_by: Mapped[str] = mapped_column(Words(255), nullable=False)


class Agent(SoftDeleted, Base):
    """A named set of tools."""

    __tablename__ = "agents"

    owner_id: Mapped[str] = mapped_column(Uuid(as_uuid=False), ForeignKey("users.id"), nullable=False)
    name: Mapped[str] = mapped_column(name_type(), nullable=False)
    description: Mapped[str | None] = mapped_column(Words(2000))
    tools: Mapped[list[str]] = mapped_column(json_type(), nullable=False)

    __table_args__ = (
        _among_not_deleted("uq_agent_name", "owner_id", _LOWER_NAME, unique=True),
        Index("idx_agent_revision", "revision"),
    )


class Secret(Updated, Base):
    """A named credential of a user, sealed; NULL once it was removed."""

    __tablename__ = "secrets"
    __table_args__ = (
        UniqueConstraint("owner_id", "name", name="uq_secret_name"),
        Index("idx_secret_revision", "revision"),
    )

    owner_id: Mapped[str] = mapped_column(Uuid(as_uuid=False), ForeignKey("users.id"), nullable=False)
    name: Mapped[str] = mapped_column(name_type(), nullable=False)
    sealed: Mapped[str | None] = mapped_column(Words())
