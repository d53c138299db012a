"""Naming the step of the confinement that failed."""

from __future__ import annotations

from typing import Any

# What a process says that others may call upon now.
READY = {"ready": True}
# Of why there can be no calls, so many characters are told.
_LONGEST_REASON = 4000


class StepFailed(Exception):
    """A step of the confinement could not be taken; the text says which and why."""


class LibraryFailed(StepFailed):
    """A library that calls were promised could not be imported."""

    def __init__(self, library: str, text: str) -> None:
        super().__init__(text)
        self.library = library


class step:
    """Whatever the kernel refuses in here becomes a StepFailed that says what was being done."""

    __slots__ = ("_doing",)

    def __init__(self, doing: str) -> None:
        self._doing = doing

    def __enter__(self) -> None:
        """Take the step."""

    def __exit__(self, _kind: object, error: BaseException | None, _traceback: object) -> None:
        """Name the step where it failed."""
        if isinstance(error, OSError):
            raise StepFailed(f"{self._doing}: {error.strerror or error}") from error


def put_into_words(error: Exception) -> dict[str, str]:
    """Why there can be no calls, for another process to hear."""
    why = str(error) if isinstance(error, StepFailed) else f"{type(error).__name__}: {error}"
    told = {"failed": why if len(why) <= _LONGEST_REASON else why[:_LONGEST_REASON] + "…"}
    return told | {"library": error.library} if isinstance(error, LibraryFailed) else told


def made_of_words(told: Any) -> StepFailed:
    """What another process has put into words, if it was that."""
    match told:
        case {"failed": str(why), "library": str(library)}:
            return LibraryFailed(library, why)
        case {"failed": str(why)}:
            return StepFailed(why)
        case _:
            return StepFailed("loading libraries: one of them said something that cannot be read")
