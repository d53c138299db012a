"""Streams of content blocks that are begun, filled and stopped by index."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pegboard.dialects.asked import ABSENT, NOTHING
from pegboard.dialects.assembly import Assembly
from pegboard.dialects.parts.blocks import given_input

Key = tuple[int, Any]


class BlockStream:
    """Where such a stream stands.

    A block that stops without arguments has none, unless the message turns out to be cut off there: it waits until the
    next thing in the stream tells. One that the provider runs itself waits for its result.
    """

    __slots__ = ("_index", "_message", "_preset", "_server", "_silent", "_waiting", "is_cut", "results")

    def __init__(self) -> None:
        self.is_cut = False
        # Results in the making.
        self.results: dict[Key, dict[str, Any]] = {}
        self._message = 0
        self._index: Any = None
        self._silent: set[Key] = set()
        self._preset: set[Key] = set()
        self._server: set[Key] = set()
        self._waiting: Key | None = None

    def key(self, index: Any) -> Key:
        """What a block goes by; an event that does not say is about the last one."""
        if isinstance(index, int):
            self._index = index
        return self._message, self._index

    def message_begins(self, into: Assembly) -> None:
        """Another message: its blocks are counted anew."""
        self.settle(into)
        self._message += 1
        self.is_cut = False

    def message_ends(self, into: Assembly) -> None:
        """Nothing more comes; the last block may lack its end if the message is cut off."""
        if not self.is_cut:
            into.all_over()

    def begin(
        self,
        key: Key,
        into: Assembly,
        *,
        name: Any,
        id: Any,
        is_server: bool,
        arguments: Any = None,
        extra: Mapping[str, Any] = NOTHING,
    ) -> None:
        """A call begins, perhaps with its arguments."""
        into.piece(key, name=name, id=id, provider_executed=is_server, extra=extra)
        if is_server:
            self._server.add(key)
        if arguments:
            self._preset.add(key)
            into.snapshot(key, given_input(arguments))
        elif not is_server:
            self._silent.add(key)

    def fill(self, key: Key, text: Any, into: Assembly) -> None:
        """A piece of its arguments."""
        if not isinstance(text, str) or not text:
            return
        self._silent.discard(key)
        if key in self._preset:
            # What a block begins with is only a preview where its arguments come after all.
            self._preset.discard(key)
            into.snapshot(key, ABSENT)
        into.piece(key, text)

    def stop(self, key: Key, into: Assembly) -> None:
        """A block is complete."""
        if key in self._silent:
            self._waiting = key
        elif key not in self._server:
            into.over(key)

    def settle(self, into: Assembly) -> None:
        """Whatever waited is complete, as the message went on after it."""
        if self._waiting is not None and not self.is_cut:
            into.over(self._waiting)
        self._waiting = None


def stream_in(into: Assembly) -> BlockStream:
    """The stream that this assembly's dialect reads."""
    if into.state is None:
        into.state = BlockStream()
    stream: BlockStream = into.state
    return stream
