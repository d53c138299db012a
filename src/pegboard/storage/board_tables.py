"""The base classes of all tables, and the tables of tools, users, keys, agents, secrets, conversations and findings."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, ClassVar

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Float,
    ForeignKey,
    Index,
    MetaData,
    String,
    Table,
    TextClause,
    UniqueConstraint,
    Uuid,
    false,
    text,
)
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, relationship

from pegboard.storage.column_types import ExactJson, Instant, StorableText, make_json_type, make_name_type

# A UUID as text.
Id = Annotated[str, mapped_column(Uuid(as_uuid=False))]


class Base(DeclarativeBase):
    """The base class of all tables; a column is NOT NULL unless its annotation allows None."""

    type_annotation_map: ClassVar[dict[Any, Any]] = {
        str: StorableText(),
        datetime: Instant,
        dict[str, Any]: make_json_type(),
        dict[str, str]: make_json_type(),
        list[str]: make_json_type(),
    }
    metadata = MetaData(
        naming_convention={
            "ck": "ck_%(table_name)s_%(constraint_name)s",
            "fk": "fk_%(table_name)s_%(column_0_name)s",
            "pk": "pk_%(table_name)s",
        }
    )


class Row:
    """Mixin for an id."""

    id: Mapped[Id] = mapped_column(primary_key=True)


def get_table(model: type[Base]) -> Table:
    """Return the table of a model, for queries that need no objects."""
    return Base.metadata.tables[model.__tablename__]


NOT_DELETED = text("is_deleted IS FALSE")
_LOWER_NAME = text("lower(name)")
_IS_RESOLVED = text("resolved_at IS NOT NULL")


def build_partial_index(name: str, condition: TextClause, *columns: Any, unique: bool = False) -> Index:
    """Return an index of the rows that meet the condition."""
    return Index(name, *columns, unique=unique, sqlite_where=condition, postgresql_where=condition)


class Changing(Row):
    """Mixin for a row that changes with the board's revision."""

    revision: Mapped[int] = mapped_column(BigInteger)
    created_at: Mapped[datetime]


class Updated(Changing):
    """Mixin for a row that is updated in place."""

    updated_at: Mapped[datetime]


class SoftDeleted(Updated):
    """Mixin for a row that is marked as deleted instead of removed."""

    is_deleted: Mapped[bool] = mapped_column(default=False)
    deleted_at: Mapped[datetime | None]


class BoardRow(Base):
    """One row: the revision of the board's last change."""

    __tablename__ = "board_state"
    __table_args__ = (CheckConstraint("id = 1", name="single"),)

    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    revision: Mapped[int] = mapped_column(BigInteger)
    # The number of writers that the journal has had, signed, so that a missing one is detected.
    writers: Mapped[int] = mapped_column(server_default="0")
    writers_signature: Mapped[str] = mapped_column(String(32), server_default=text("''"))


class User(SoftDeleted, Base):
    """A user, who owns tools and keys."""

    __tablename__ = "users"

    name: Mapped[str] = mapped_column(make_name_type())
    role: Mapped[str] = mapped_column(String(20))
    # Covers the fields that grant rights, and the revision; see registry/account_macs.py.
    mac: Mapped[str] = mapped_column(String(64), default="", server_default=text("''"))
    tools: Mapped[list[Tool]] = relationship(back_populates="owner", lazy="raise")

    __table_args__ = (
        CheckConstraint("role IN ('admin', 'member')", name="role"),
        build_partial_index("uq_user_name", NOT_DELETED, _LOWER_NAME, unique=True),
        Index("idx_user_revision", "revision"),
    )


class ApiKey(Changing, Base):
    """An API key of a user, or a session or code that was made with one, as a keyed hash."""

    __tablename__ = "api_keys"
    __table_args__ = (
        UniqueConstraint("key_hash", name="uq_key_hash"),
        Index("idx_key_user", "user_id"),
        Index("idx_key_revision", "revision"),
    )

    user_id: Mapped[Id] = mapped_column(ForeignKey("users.id"))
    name: Mapped[str] = mapped_column(StorableText(255))
    prefix: Mapped[str] = mapped_column(String(64))
    key_hash: Mapped[str] = mapped_column(String(255))
    agent_id: Mapped[Id | None] = mapped_column(ForeignKey("agents.id"))
    expires_at: Mapped[datetime | None]
    revoked_at: Mapped[datetime | None]
    mac: Mapped[str] = mapped_column(String(64), default="", server_default=text("''"))
    created_by: Mapped[Id | None]
    kind: Mapped[str] = mapped_column(String(20), default="key", server_default=text("'key'"))
    parent_id: Mapped[Id | None]
    last_used_at: Mapped[datetime | None]


class Tool(SoftDeleted, Base):
    """A tool; secret values are encrypted in `config` and `auth_config`."""

    __tablename__ = "tools"

    owner_id: Mapped[Id] = mapped_column(ForeignKey("users.id"))
    name: Mapped[str] = mapped_column(make_name_type())
    description: Mapped[str | None] = mapped_column(StorableText(2000))
    tool_type: Mapped[str] = mapped_column(String(50))
    config: Mapped[dict[str, Any]]
    input_schema: Mapped[dict[str, Any]]
    output_schema: Mapped[dict[str, Any] | None]
    auth_config: Mapped[dict[str, Any] | None]
    rate_limit: Mapped[dict[str, Any] | None]
    is_active: Mapped[bool] = mapped_column(default=True)
    is_public: Mapped[bool] = mapped_column(default=False)
    version: Mapped[int] = mapped_column(default=1)
    display_name: Mapped[str | None] = mapped_column(StorableText(255))
    tags: Mapped[list[str]]
    timeout: Mapped[float | None] = mapped_column(Float)
    unknown_parameters: Mapped[str] = mapped_column(String(20))
    result_style: Mapped[str] = mapped_column(String(20))
    retry: Mapped[dict[str, Any] | None]
    fallback: Mapped[dict[str, Any] | None]
    idempotent: Mapped[bool] = mapped_column(default=False)
    read_only: Mapped[bool] = mapped_column(default=False)
    destructive: Mapped[bool] = mapped_column(default=False)
    keep_arguments: Mapped[bool] = mapped_column(default=False)
    keep_result: Mapped[bool] = mapped_column(default=False, server_default=false())
    max_result_bytes: Mapped[int | None]
    drifted: Mapped[bool] = mapped_column(default=False)
    display: Mapped[dict[str, Any] | None]
    on_disconnect: Mapped[str] = mapped_column(String(20), default="cancel", server_default=text("'cancel'"))
    bound_tools: Mapped[dict[str, str] | None]
    owner: Mapped[User] = relationship(back_populates="tools", lazy="raise")

    __table_args__ = (
        CheckConstraint("is_active IS NOT NULL", name="is_active"),
        CheckConstraint("is_public IS NOT NULL", name="is_public"),
        build_partial_index("uq_tool_name", NOT_DELETED, _LOWER_NAME, unique=True),
        build_partial_index("idx_tool_owner", NOT_DELETED, "owner_id"),
        build_partial_index("idx_tool_name", NOT_DELETED, "name"),
        build_partial_index("idx_tool_type", NOT_DELETED, "tool_type"),
        build_partial_index("idx_tool_active", NOT_DELETED, "is_active"),
        build_partial_index("idx_tool_public", NOT_DELETED, "is_public"),
        build_partial_index("idx_tool_owner_active", NOT_DELETED, "owner_id", "is_active"),
        Index("idx_tool_revision", "revision"),
    )


class ToolVersion(Row, Base):
    """The definition of a tool at one of its versions."""

    __tablename__ = "tool_versions"
    __table_args__ = (UniqueConstraint("tool_id", "version", name="uq_tool_version"),)

    tool_id: Mapped[Id] = mapped_column(ForeignKey("tools.id"))
    version: Mapped[int]
    definition: Mapped[dict[str, Any]]
    created_at: Mapped[datetime]
    created_by: Mapped[str] = mapped_column(StorableText(255))


class Agent(SoftDeleted, Base):
    """A named set of tools."""

    __tablename__ = "agents"

    owner_id: Mapped[Id] = mapped_column(ForeignKey("users.id"))
    name: Mapped[str] = mapped_column(make_name_type())
    description: Mapped[str | None] = mapped_column(StorableText(2000))
    tools: Mapped[list[str]]

    __table_args__ = (
        build_partial_index("uq_agent_name", NOT_DELETED, "owner_id", _LOWER_NAME, unique=True),
        Index("idx_agent_revision", "revision"),
    )


class Secret(Updated, Base):
    """A named secret of a user, encrypted; NULL after removal."""

    __tablename__ = "secrets"
    __table_args__ = (
        UniqueConstraint("owner_id", "name", name="uq_secret_name"),
        Index("idx_secret_revision", "revision"),
    )

    owner_id: Mapped[Id] = mapped_column(ForeignKey("users.id"))
    name: Mapped[str] = mapped_column(make_name_type())
    sealed: Mapped[str | None]


class UpstreamRow(SoftDeleted, Base):
    """An imported MCP server; secret values are encrypted in `config` and `auth_config`, and gone after removal."""

    __tablename__ = "upstreams"
    __table_args__ = (Index("idx_upstream_owner", "owner_id", "id"), Index("idx_upstream_revision", "revision"))

    owner_id: Mapped[Id] = mapped_column(ForeignKey("users.id"))
    name: Mapped[str] = mapped_column(make_name_type())
    prefix: Mapped[str] = mapped_column(StorableText(64))
    config: Mapped[dict[str, Any]]
    auth_config: Mapped[dict[str, Any] | None]
    include: Mapped[list[str]]
    is_public: Mapped[bool | None]
    follow: Mapped[bool]
    tools: Mapped[list[str]]
    # As text: what MCP clients get keeps its digits and the order of its keys.
    entries: Mapped[dict[str, Any]] = mapped_column(ExactJson)


class Thread(Row, Base):
    """One conversation of a user, or of one of the user's agents."""

    __tablename__ = "threads"
    __table_args__ = (
        Index("idx_thread_owner", "owner_id", "updated_at", "id"),
        Index("idx_thread_agent", "agent_id", "updated_at", "id"),
    )

    owner_id: Mapped[Id] = mapped_column(ForeignKey("users.id"))
    title: Mapped[str | None]
    # The number of messages, and so the position of the next one: a writer locks this row.
    messages: Mapped[int]
    created_at: Mapped[datetime]
    updated_at: Mapped[datetime]
    agent_id: Mapped[Id | None]


class Message(Base):
    """One message of a conversation; `raw` is the message as received, in its dialect."""

    __tablename__ = "messages"
    __table_args__ = (UniqueConstraint("id", name="uq_message_id"), {"sqlite_with_rowid": False})

    thread_id: Mapped[Id] = mapped_column(ForeignKey("threads.id", ondelete="CASCADE"), primary_key=True)
    position: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    id: Mapped[Id]
    role: Mapped[str] = mapped_column(String(20))
    content: Mapped[str | None]
    timestamp: Mapped[datetime]
    # As text: numbers keep their digits, objects the order of their keys.
    tool_calls: Mapped[list[Any]] = mapped_column(ExactJson)
    dialect: Mapped[str | None] = mapped_column(String(64))
    raw: Mapped[Any] = mapped_column(ExactJson, nullable=True)


class Cancellation(Base):
    """A requested cancellation of a call, which may run in another process."""

    __tablename__ = "cancellations"

    id: Mapped[Id] = mapped_column(primary_key=True)
    run_id: Mapped[Id]
    why: Mapped[str]
    # The user and the agent whose calls it may cancel; null for any.
    user_id: Mapped[Id | None]
    agent_id: Mapped[Id | None]
    asked_at: Mapped[datetime]


class Finding(Base):
    """A recorded finding; shared findings have the nil UUID as their owner."""

    __tablename__ = "findings"
    __table_args__ = (
        # Resolved findings are few, and are searched for removal.
        build_partial_index("idx_finding_resolved", _IS_RESOLVED, "owner_id", "composite_hash"),
        {"sqlite_with_rowid": False},
    )

    owner_id: Mapped[Id] = mapped_column(primary_key=True)
    composite_hash: Mapped[str] = mapped_column(make_name_type(64), primary_key=True)
    finding_id: Mapped[str]
    seen_count: Mapped[int] = mapped_column(BigInteger)
    first_seen_at: Mapped[datetime]
    last_seen_at: Mapped[datetime]
    resolved_at: Mapped[datetime | None]
