"""Compiled SQL statements that all engines of a test process share."""

from __future__ import annotations

from typing import Any

from sqlalchemy.engine import Compiled, Dialect


class CompiledStatements(dict[Any, Compiled]):
    """A value of SQLAlchemy's option `compiled_cache`, for many engines.

    The keys of SQLAlchemy contain the dialect object, of which each engine has its own; here they contain its name.
    All engines of one dialect are connected to servers of the same version.
    """

    def get(self, key: Any, default: Any = None) -> Any:
        """Return the compiled statement, or the default."""
        return super().get(_without_engine(key), default)

    def __setitem__(self, key: Any, compiled: Compiled) -> None:
        super().__setitem__(_without_engine(key), compiled)


def _without_engine(key: Any) -> Any:
    return tuple(part.name if isinstance(part, Dialect) else part for part in key)
