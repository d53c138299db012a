"""Arguments that a call had and its tool did not take."""

from __future__ import annotations

from typing import NamedTuple


class Ignored(NamedTuple):
    """An argument that the tool does not declare, so it was dropped, and the declared name that is nearest to it."""

    name: str
    did_you_mean: str | None = None
