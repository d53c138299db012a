"""Errors that name the step of the confinement that failed, and their JSON form between processes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

# The message of a process that is ready for requests.
READY = {"ready": True}
# Limit of the reason in a failure message.
_MAX_REASON_CHARS = 4000


class StepFailed(Exception):
    """A step of the confinement failed; the message contains the step and the reason."""


class LibraryFailed(StepFailed):
    """A library of the environment could not be imported."""

    def __init__(self, library: str, text: str) -> None:
        super().__init__(text)
        self.library = library


@contextmanager
def step(doing: str) -> Iterator[None]:
    """Convert an OSError inside the block to a StepFailed with the name of the step."""
    try:
        yield
    except OSError as error:
        raise StepFailed(f"{doing}: {error.strerror or error}") from error


def encode_failure(error: Exception) -> dict[str, str]:
    """Encode the reason why there can be no calls, for another process."""
    why = str(error) if isinstance(error, StepFailed) else f"{type(error).__name__}: {error}"
    failure = {"failed": why if len(why) <= _MAX_REASON_CHARS else why[:_MAX_REASON_CHARS] + "…"}
    return failure | {"library": error.library} if isinstance(error, LibraryFailed) else failure


def decode_failure(failure: Any) -> StepFailed:
    """Decode the failure of another process."""
    match failure:
        case {"failed": str(why), "library": str(library)}:
            return LibraryFailed(library, why)
        case {"failed": str(why)}:
            return StepFailed(why)
        case _:
            return StepFailed("loading libraries: the template process sent an invalid message")
