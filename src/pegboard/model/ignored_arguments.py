"""Arguments of a call that its tool does not declare."""

from __future__ import annotations

from typing import NamedTuple


class Ignored(NamedTuple):
    """An argument that was dropped because the tool does not declare it, and the most similar declared name."""

    name: str
    did_you_mean: str | None = None
