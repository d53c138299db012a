"""The hash chain, which makes changes to the journal detectable.

Every row carries a MAC over its own content, its position, and the MAC of the previous row of the same writer. A
writer's head (its last row) and a prune marker (the last removed row) are signed. An attacker who can write to the
database but does not have the key cannot create any of them.
"""

from __future__ import annotations

import hmac
from collections.abc import Iterable
from typing import NamedTuple

import orjson

from pegboard.model.journal_row import StoredRow, select_signed_fields

# The MAC before the first row of a chain.
FIRST_MAC = ""
_MAC_LENGTH = 32


class ChainPosition(NamedTuple):
    """A position in one writer's hash chain: the number of a row and its MAC."""

    seq: int = 0
    mac: str = FIRST_MAC


class HashChain:
    """Computes and compares MACs with the board's chain key."""

    def __init__(self, key: bytes) -> None:
        # Keyed once: copying the HMAC object is faster than creating one with the key each time.
        self._keyed = hmac.new(key, digestmod="sha256")

    def link(self, before: str, writer: int, seq: int, row: StoredRow) -> str:
        """Return the MAC of a row that follows the row with the MAC `before`."""
        return self._mac(("link", before, writer, seq, select_signed_fields(row)))

    def links(self, writer: int, head: ChainPosition, rows: Iterable[StoredRow]) -> list[ChainPosition]:
        """Return the chain positions of rows that follow the head, in order."""
        seq, mac = head
        places = []
        for row in rows:
            seq += 1
            mac = self._mac(("link", mac, writer, seq, select_signed_fields(row)))
            places.append(ChainPosition(seq, mac))
        return places

    def sign_head(self, writer: int, head: ChainPosition) -> str:
        """Return the signature of a writer's head."""
        return self._mac(("head", writer, *head))

    def sign_pruned(self, writer: int, last: ChainPosition) -> str:
        """Return the signature of the last row that was pruned from the start of a chain."""
        return self._mac(("pruned", writer, *last))

    def sign_writers(self, count: int) -> str:
        """Return the signature of the number of writers."""
        return self._mac(("writers", count))

    def sign(self, content: tuple[object, ...]) -> str:
        """Return the MAC of an entry outside the chain; its first element is the type of entry."""
        return self._mac(content)

    def is_same_mac(self, one: str, other: str) -> bool:
        """Compare two MACs in constant time."""
        return hmac.compare_digest(*(text.encode("utf-8", "surrogatepass") for text in (one, other)))

    def _mac(self, content: tuple[object, ...]) -> str:
        mac = self._keyed.copy()
        mac.update(orjson.dumps(content))
        return mac.hexdigest()[:_MAC_LENGTH]
