"""Limits the connections to each upstream host, shared between users.

Not aiohttp's `limit_per_host`: it serves requests in the order of arrival, behind a user who sends very many.
"""

from __future__ import annotations

from types import TracebackType

from yarl import URL

from pegboard.concurrency.fair_queue import CallSlot, FairQueue


def get_origin(url: URL) -> str:
    """Return the origin of the URL: scheme, host and port."""
    host = url.host or ""
    return f"{url.scheme}://{f'[{host}]' if ':' in host else host}:{url.port}"


class HostLimiter:
    """Limits the concurrent calls to each origin, shared evenly between the waiting users."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._admissions: dict[str, FairQueue] = {}

    def __len__(self) -> int:
        """Return the number of origins with running or waiting calls."""
        return len(self._admissions)

    @property
    def waiting(self) -> int:
        """Number of calls that wait for a connection."""
        return sum(admission.waiting for admission in self._admissions.values())

    def reserve_slot(self, user_id: str, origin: str, deadline: float) -> HostSlot:
        """Return an asynchronous context manager that holds a connection to the origin for this user.

        Entering it waits for a slot until `deadline` (of time.monotonic), then raises Unavailable.
        """
        # A host name with a trailing dot is the same host.
        return HostSlot(self, user_id, origin.replace(".:", ":"), deadline)

    def get_admission(self, origin: str) -> FairQueue:
        """Return the queue of an origin; for HostSlot."""
        admission = self._admissions.get(origin)
        if admission is None:
            wanted, setting = f"a connection to {origin}", "PEGBOARD_MAX_HOST_CONNECTIONS"
            admission = FairQueue(self._most, wanted=wanted, named="connections", setting=setting)
            self._admissions[origin] = admission
        return admission

    def drop_if_idle(self, origin: str, admission: FairQueue) -> None:
        """Forget the queue of an origin without connections; for HostSlot."""
        if not admission.running and not admission.waiting:
            del self._admissions[origin]


class HostSlot:
    """Holds one of the connections to an origin for a user."""

    __slots__ = ("_deadline", "_hosts", "_origin", "_place", "_user_id")

    def __init__(self, hosts: HostLimiter, user_id: str, origin: str, deadline: float) -> None:
        self._hosts = hosts
        self._user_id = user_id
        self._origin = origin
        self._deadline = deadline
        self._place: tuple[FairQueue, CallSlot] | None = None

    async def __aenter__(self) -> None:
        """Wait for a slot; raise Unavailable at the deadline."""
        admission = self._hosts.get_admission(self._origin)
        self._place = admission, await admission.acquire(self._user_id, self._deadline)

    async def __aexit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        """Release the slot to the next call."""
        assert self._place is not None
        admission, place = self._place
        place.leave()
        self._hosts.drop_if_idle(self._origin, admission)
