"""The chain: what makes a change to the journal show.

Every row carries a MAC over its own content, its place, and the MAC of the row before it by the same writer. A writer's
head (how far its chain goes) and a prune marker (from where on its rows are still there) are signed. Whoever can
write to the database but does not hold the key cannot make any of them.
"""

from __future__ import annotations

import hmac
from collections.abc import Iterable
from typing import NamedTuple

import orjson

from pegboard.store.executions import PRINTED, TRIES, Row

# What the first row of a chain has before it.
START = ""
_MAC_LENGTH = 32


class Place(NamedTuple):
    """A place in one writer's chain: the number of a row and its MAC."""

    seq: int = 0
    mac: str = START


class Chain:
    """Makes and checks MACs with the board's chain key."""

    def __init__(self, key: bytes) -> None:
        # Keyed once: a copy is quicker than to begin with the key each time.
        self._keyed = hmac.new(key, digestmod="sha256")

    def link(self, before: str, writer: int, seq: int, row: Row) -> str:
        """The MAC of a row that comes after the one with the MAC `before`."""
        return self._mac(("link", before, writer, seq, _signed(row)))

    def links(self, writer: int, head: Place, rows: Iterable[Row]) -> list[Place]:
        """The places of rows that follow the head, in order."""
        seq, mac = head
        places = []
        for row in rows:
            seq += 1
            mac = self._mac(("link", mac, writer, seq, _signed(row)))
            places.append(Place(seq, mac))
        return places

    def sign_head(self, writer: int, head: Place) -> str:
        """The signature of how far a writer's chain goes."""
        return self._mac(("head", writer, *head))

    def sign_pruned(self, writer: int, last: Place) -> str:
        """The signature of the last row that was taken away from the beginning of a chain."""
        return self._mac(("pruned", writer, *last))

    def sign_writers(self, count: int) -> str:
        """The signature of how many writers there have been."""
        return self._mac(("writers", count))

    def sign_receipt(self, run_id: str, row_id: str | None, output: str | None) -> str:
        """The MAC of a receipt."""
        return self._mac(("receipt", run_id, row_id, output))

    def sign(self, content: tuple[object, ...]) -> str:
        """The MAC of an entry that is in no chain; its first element says what kind of entry it is."""
        return self._mac(content)

    def same(self, one: str, other: str) -> bool:
        """Whether two MACs are the same, without telling by the time it takes where they differ."""
        return hmac.compare_digest(*(text.encode("utf-8", "surrogatepass") for text in (one, other)))

    def _mac(self, content: tuple[object, ...]) -> str:
        mac = self._keyed.copy()
        mac.update(orjson.dumps(content))
        return mac.hexdigest()[:_MAC_LENGTH]


def _signed(row: Row) -> Row:
    """What a row's MAC is over: where the last fields are empty, the row as it was before there were these fields."""
    if len(row) <= PRINTED or (len(row) > TRIES and row[TRIES] is not None):
        return row
    return row[:PRINTED] if row[PRINTED] is None else row[:TRIES]
