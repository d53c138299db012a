"""Reports to open streams that a list of their caller has changed: tools, prompts or resources."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from pegboard.model.call import Caller
from pegboard.progress.board_watchers import BoardWatchers
from pegboard.registry.snapshot import Snapshot
from pegboard.surfaces.mcp.entry_list_changes import EntryListChanges, ReportChange
from pegboard.surfaces.mcp.tool_listing import ToolLists

TOOLS_CHANGED = "notifications/tools/list_changed"
# Changes within this time are reported together.
_PAUSE_SECONDS = 0.1
# How often the keys of open streams are checked without a change: a key may expire.
ACCESS_CHECK_SECONDS = 15.0


class ListSubscriber:
    """An open stream and the list that its client knows."""

    __slots__ = ("_report", "caller", "close", "digest", "is_allowed")

    def __init__(
        self,
        caller: Caller,
        digest: str,
        report: ReportChange,
        close: Callable[[], None],
        is_allowed: Callable[[], bool],
    ) -> None:
        self.caller = caller
        self.digest = digest
        self._report = report
        self.close = close
        self.is_allowed = is_allowed

    def report(self, method: str) -> None:
        """Send this notification, or end the stream if the key is no longer valid."""
        if self.is_allowed():
            self._report(method)
        else:
            self.close()


class ListChanges:
    """Compares the lists of all subscribers after a change of the registry by any process."""

    def __init__(
        self, snapshot: Snapshot, watchers: BoardWatchers, lists: ToolLists, entries: EntryListChanges
    ) -> None:
        self._snapshot = snapshot
        self._watchers = watchers
        self._lists = lists
        self._entries = entries
        self._subscribers: set[ListSubscriber] = set()
        self._timer: asyncio.TimerHandle | None = None
        self._access_timer: asyncio.TimerHandle | None = None

    def __len__(self) -> int:
        return len(self._subscribers)

    @contextmanager
    def watch(
        self,
        caller: Caller,
        report: ReportChange,
        close: Callable[[], None],
        is_allowed: Callable[[], bool],
        *,
        has_entries: bool = True,
    ) -> Iterator[None]:
        """Call `report` after each change of a list of the caller, and `close` when the key is no longer valid.

        Prompts and resources are compared only if the stream `has_entries`.
        """
        subscriber = ListSubscriber(caller, self._lists.compute_digest(caller), report, close, is_allowed)
        self._subscribers.add(subscriber)
        if self._access_timer is None:
            self._check_access()
        self._snapshot.on_change.add(self._schedule)
        self._watchers.on_close.add(self._close)
        if self._watchers.events.is_over:
            close()
        end = self._entries.watch(caller, subscriber.report) if has_entries else None
        try:
            yield
        finally:
            if end is not None:
                end()
            self._subscribers.discard(subscriber)
            if not self._subscribers:
                if self._access_timer is not None:
                    self._access_timer.cancel()
                    self._access_timer = None
                self._snapshot.on_change.discard(self._schedule)
                self._watchers.on_close.discard(self._close)

    def _close(self) -> None:
        """End all streams, because the server stops."""
        for subscriber in tuple(self._subscribers):
            subscriber.close()

    def _schedule(self) -> None:
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(_PAUSE_SECONDS, self._compare)

    def _check_access(self) -> None:
        self._access_timer = asyncio.get_running_loop().call_later(ACCESS_CHECK_SECONDS, self._check_access)
        for subscriber in tuple(self._subscribers):
            if not subscriber.is_allowed():
                subscriber.close()

    def _compare(self) -> None:
        self._timer = None
        self._entries.compare()
        for subscriber in tuple(self._subscribers):
            if not subscriber.is_allowed():
                subscriber.close()
                continue
            digest = self._lists.compute_digest(subscriber.caller)
            if digest != subscriber.digest:
                subscriber.digest = digest
                subscriber.report(TOOLS_CHANGED)
