"""Paths of the API."""

from __future__ import annotations

from urllib.parse import quote

from pegboard.surfaces.cli.exit_codes import UsageError


def build_path(*parts: str) -> str:
    """Return the quoted API path of these parts; raise UsageError if a part cannot be a name or an id."""
    for part in parts:
        if part in ("", ".", "..") or "/" in part:
            raise UsageError(f"'{part}' cannot be a name or an id")
    return "/" + "/".join(quote(part, safe="", errors="replace") for part in ("v1", *parts))
