"""Read messages like a thread, without a board."""

from __future__ import annotations

from typing import Any, cast

from pegboard.conversations.read_messages import IncomingMessage, MessageReader
from pegboard.dialect_calls import PayloadRunner
from pegboard.dialects.catalog import load_dialects
from pegboard.model.call import Caller
from pegboard.model.ids import new_id


class _NoTools:
    """A snapshot of a board without tools."""

    def find(self, _name: str) -> None:
        """Return no messages."""


ADMIN = Caller(new_id(), "admin", "admin")
DIALECTS = load_dialects()
PAYLOADS = PayloadRunner(DIALECTS, cast(Any, None), cast(Any, _NoTools()), cast(Any, None))


def read_body(body: Any, dialect: str | None = None) -> list[IncomingMessage]:
    """Return the messages of a body."""
    return list(MessageReader(DIALECTS, PAYLOADS, ADMIN, dialect).read(body))
