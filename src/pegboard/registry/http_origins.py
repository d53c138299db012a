"""The origins that HTTP tools call: their tools, and whether calls to them fail."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from yarl import URL

from pegboard.http_client.circuit_breaker import OriginHealth
from pegboard.http_client.host_limits import get_origin
from pegboard.model.tool import Tool

_MAX_ORIGINS = 200
_MAX_LISTED_TOOLS = 20


@dataclass(frozen=True, slots=True)
class HttpOrigin:
    """Scheme, host and port of a server; `tools` are the first of its tools by name, `count` the number of all."""

    origin: str
    tools: Sequence[Tool]
    count: int
    health: OriginHealth


@dataclass(frozen=True, slots=True)
class HttpOrigins:
    """The origins, those with refused calls first; `more` is True if the list is cut."""

    items: Sequence[HttpOrigin]
    more: bool


def list_http_origins(tools: Iterable[Tool], health: Mapping[str, OriginHealth]) -> HttpOrigins:
    """Return the origins of those of these tools that have a URL; the tools are sorted by name."""
    by_origin: dict[str, list[Tool]] = {}
    for tool in tools:
        url = tool.config.get("url")
        if isinstance(url, str) and (origin := _find_origin(url)) is not None:
            by_origin.setdefault(origin, []).append(tool)
    found = [
        HttpOrigin(origin, theirs[:_MAX_LISTED_TOOLS], len(theirs), health.get(origin, OriginHealth()))
        for origin, theirs in by_origin.items()
    ]
    found.sort(key=lambda each: (not each.health.open_circuits, each.health.last_failure is None, each.origin))
    return HttpOrigins(found[:_MAX_ORIGINS], len(found) > _MAX_ORIGINS)


def _find_origin(url: str) -> str | None:
    """Return the origin of the URL of a tool, whose path may have placeholders; None if it is not valid."""
    scheme, _, rest = url.partition("://")
    for end in "/?#":
        rest = rest.partition(end)[0]
    try:
        return get_origin(URL(f"{scheme}://{rest}"))
    except ValueError:
        return None
