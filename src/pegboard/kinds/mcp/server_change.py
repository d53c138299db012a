"""A change that an MCP server reports."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple


class ServerChange(NamedTuple):
    """What has changed: the list of "tools", "prompts" or "resources", the "resource" of this URI, or perhaps anything
    since the last "session".
    """

    what: str
    uri: str = ""


OnChange = Callable[[ServerChange], None]
