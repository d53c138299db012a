"""Zygotes to run calls in, and folders for them."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.unit.sandbox.supervisor_channel import USERS, Zygote, make_zygote_spec, zygote


@pytest.fixture(scope="module", params=USERS)
def user(request: pytest.FixtureRequest) -> str:
    """The users that the board runs as: root, and an ordinary user."""
    name: str = request.param
    return name


@pytest.fixture(scope="module")
def calls(user: str) -> Iterator[Zygote]:
    """A zygote whose calls see only the system and the interpreter."""
    with zygote(make_zygote_spec(), user) as started:
        yield started


@pytest.fixture(scope="module")
def functions(user: str) -> Iterator[Zygote]:
    """The same for calls of functions in Python."""
    with zygote(make_zygote_spec(python=True), user) as started:
        yield started


@pytest.fixture
def folder() -> Iterator[Path]:
    """An empty folder that every user can enter, read and write."""
    with tempfile.TemporaryDirectory(prefix="pegboard-shown-") as name:
        path = Path(name).resolve()
        path.chmod(0o777)
        yield path
