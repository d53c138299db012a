"""Bodies read as a thread would hear them, without a board."""

from __future__ import annotations

from typing import Any, cast

from pegboard.core.call import Caller
from pegboard.core.ids import new_id
from pegboard.dialects.catalog import dialects
from pegboard.memory.reading import Heard, Reading
from pegboard.payloads import Payloads


class _NoTools:
    """A snapshot of a board without tools."""

    def find(self, _name: str) -> None:
        """Nothing."""


ADMIN = Caller(new_id(), "admin", "admin")
DIALECTS = dialects()
PAYLOADS = Payloads(DIALECTS, cast(Any, None), cast(Any, _NoTools()), cast(Any, None))


def heard(body: Any, dialect: str | None = None) -> list[Heard]:
    """What a body says."""
    return list(Reading(DIALECTS, PAYLOADS, ADMIN, dialect).read(body))
