"""What confined processes do once they are called, and how they end."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable, Sequence
from typing import NamedTuple, NoReturn, Protocol

from pegboard.sandbox.inside.call import Call

# The pipes that a confined process has besides the standard ones.
RESULT, TROUBLE, ORDERS, REPORTS = 3, 4, 5, 6
# Where a command finds the channel for what it reports of itself.
COMMANDS_REPORTS = 3
CANNOT_START, NO_SUCH_PROGRAM = 126, 127

_MOST_WORDS = 500
# As they are now: a tool's code may put something else in their places.
_exit, _getpid, _kill = os._exit, os.getpid, os.kill


class Given(NamedTuple):
    """What a confined process has of its supervisor: the folder and the proxy's port if there are, and the pipes.

    `is_ready` is whether it has the memory already that it will write to.
    """

    folder: str | None
    port: int | None
    ends: Sequence[int]
    is_ready: bool = False


class Work(Protocol):
    """One way to do as ordered."""

    def rehearse(self, is_called: Callable[[float], bool], *, is_ready: bool) -> None:
        """Make ready, confined, until there is a call, which `is_called` waits for so many seconds for."""

    def run(self, call: Call, env: dict[str, str]) -> None:
        """Do what the call says, with this environment; raises StepFailed where it makes no sense."""


def end(code: int) -> NoReturn:
    """End this process, whatever was done to Python in it: it must not come upon the program that it is a copy of."""
    try:
        _exit(code)
    finally:
        while True:
            _kill(_getpid(), signal.SIGKILL)


def tell(fate: str, code: int, message: str, trouble: int = TROUBLE) -> None:
    """Tell the supervisor why this process did not become what it should have."""
    os.write(trouble, json.dumps({"fate": fate, "code": code, "message": message[:_MOST_WORDS]}).encode())
