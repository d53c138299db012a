"""Naming the step of the confinement that failed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager


class StepFailed(Exception):
    """A step of the confinement could not be taken; the text says which and why."""


class LibraryFailed(StepFailed):
    """A library that calls were promised could not be imported."""

    def __init__(self, library: str, text: str) -> None:
        super().__init__(text)
        self.library = library


@contextmanager
def step(doing: str) -> Iterator[None]:
    """Whatever the kernel refuses in here becomes a StepFailed that says what was being done."""
    try:
        yield
    except OSError as error:
        raise StepFailed(f"{doing}: {error.strerror or error}") from error


def put_into_words(error: Exception) -> dict[str, str]:
    """Why there can be no calls, for another process to hear."""
    if isinstance(error, LibraryFailed):
        return {"failed": str(error), "library": error.library}
    return {"failed": str(error) if isinstance(error, StepFailed) else f"{type(error).__name__}: {error}"}


def made_of_words(told: Mapping[str, str]) -> StepFailed:
    """What another process has put into words."""
    return LibraryFailed(told["library"], told["failed"]) if "library" in told else StepFailed(told["failed"])
