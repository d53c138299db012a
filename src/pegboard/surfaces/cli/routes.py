"""Paths of the API."""

from __future__ import annotations

from urllib.parse import quote

from pegboard.surfaces.cli.failures import Usage


def route(*parts: str) -> str:
    """A path of the API, safe whatever a name contains."""
    for part in parts:
        if part in ("", ".", "..") or "/" in part:
            raise Usage(f"'{part}' cannot be a name or an id")
    return "/" + "/".join(quote(part, safe="", errors="replace") for part in ("v1", *parts))
