"""Connections to each upstream host, shared between users."""

from __future__ import annotations

from types import TracebackType

from yarl import URL

from pegboard.core.admission import Admission, Place

# How many calls one host is sent at once.
MOST_CONNECTIONS = 400


def origin_of(url: URL) -> str:
    """The scheme, host and port that the URL leads to."""
    host = url.host or ""
    return f"{url.scheme}://{f'[{host}]' if ':' in host else host}:{url.port}"


class Hosts:
    """Admits calls to each origin: a bounded number at once, shared evenly between the users who wait."""

    def __init__(self, most: int = MOST_CONNECTIONS) -> None:
        self._most = most
        self._admissions: dict[str, Admission] = {}

    def __len__(self) -> int:
        """The number of origins that calls are sent to or wait for."""
        return len(self._admissions)

    def admitted(self, user_id: str, origin: str, deadline: float) -> Admitted:
        """An asynchronous context in which this user has a connection to the origin.

        Entering it waits for a connection until `deadline` (of time.monotonic), and raises Unavailable then.
        """
        # A name with a dot at its end is the same host.
        return Admitted(self, user_id, origin.replace(".:", ":"), deadline)

    def _of(self, origin: str) -> Admission:
        admission = self._admissions.get(origin)
        if admission is None:
            wanted, setting = f"a connection to {origin}", "PEGBOARD_MAX_HOST_CONNECTIONS"
            admission = Admission(self._most, wanted=wanted, named="connections", setting=setting)
            self._admissions[origin] = admission
        return admission

    def _left(self, origin: str, admission: Admission) -> None:
        if not admission.running and not admission.waiting:
            del self._admissions[origin]


class Admitted:
    """The time in which a user has a connection to an origin."""

    __slots__ = ("_deadline", "_hosts", "_origin", "_place", "_user_id")

    def __init__(self, hosts: Hosts, user_id: str, origin: str, deadline: float) -> None:
        self._hosts = hosts
        self._user_id = user_id
        self._origin = origin
        self._deadline = deadline
        self._place: tuple[Admission, Place] | None = None

    async def __aenter__(self) -> None:
        """Wait for a connection."""
        admission = self._hosts._of(self._origin)
        self._place = admission, await admission.enter(self._user_id, self._deadline)

    async def __aexit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        """Leave the connection to the next call."""
        assert self._place is not None
        admission, place = self._place
        place.leave()
        self._hosts._left(self._origin, admission)
