"""What every table is made of."""

from __future__ import annotations

from sqlalchemy import MetaData, Table, Uuid
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column


class Base(DeclarativeBase):
    """What all tables share."""

    metadata = MetaData(
        naming_convention={
            "ck": "ck_%(table_name)s_%(constraint_name)s",
            "fk": "fk_%(table_name)s_%(column_0_name)s",
            "pk": "pk_%(table_name)s",
        }
    )


class Row:
    """An id."""

    id: Mapped[str] = mapped_column(Uuid(as_uuid=False), primary_key=True)


def table_of(model: type[Base]) -> Table:
    """The table behind a model, for queries that need no objects."""
    return Base.metadata.tables[model.__tablename__]
