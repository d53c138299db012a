"""Naming the step of the confinement that failed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class StepFailed(Exception):
    """A step of the confinement could not be taken; the text says which and why."""


@contextmanager
def step(doing: str) -> Iterator[None]:
    """Whatever the kernel refuses in here becomes a StepFailed that says what was being done."""
    try:
        yield
    except OSError as error:
        raise StepFailed(f"{doing}: {error.strerror or error}") from error
