"""A hand-written application that inserts rows: FastAPI, pydantic and a SQLAlchemy session."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any, Literal

from fastapi import FastAPI
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field
from sqlalchemy import BigInteger, DateTime, Integer, Numeric, Text
from sqlalchemy.ext.asyncio import async_sessionmaker, create_async_engine
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

TABLE = "by_hand"
# The fastest here of 5 (the default), 10, 30 and 100.
CONNECTIONS = 10


class _Base(DeclarativeBase):
    pass


class Stored(_Base):
    """A row of the table."""

    __tablename__ = TABLE

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    user_id: Mapped[str] = mapped_column(Text)
    mood: Mapped[str] = mapped_column(Text)
    energy: Mapped[int] = mapped_column(Integer)
    amount: Mapped[Decimal] = mapped_column(Numeric(10, 2))
    noted_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))


class RowRequest(BaseModel):
    """The body of a request."""

    model_config = ConfigDict(extra="forbid")

    user_id: Annotated[str, Field(max_length=50)]
    mood: Literal["happy", "sad", "neutral", "anxious"]
    energy: Annotated[int, Field(ge=1, le=10)]
    amount: Annotated[Decimal, Field(ge=0, max_digits=10, decimal_places=2)]
    noted_at: AwareDatetime


class RowResponse(BaseModel):
    """The body of a response."""

    id: int
    rowCount: int


def app(url: str) -> Any:
    """Return an application with one route that inserts a validated row."""
    engine = create_async_engine(url, pool_size=CONNECTIONS, max_overflow=0)
    sessions = async_sessionmaker(engine, expire_on_commit=False)
    made = FastAPI()

    @made.post("/rows")
    async def insert(given: RowRequest) -> RowResponse:
        async with sessions() as session, session.begin():
            stored = Stored(**given.model_dump())
            session.add(stored)
        return RowResponse(id=stored.id, rowCount=1)

    return made
