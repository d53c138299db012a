"""How a tool proves itself to an MCP server: its auth_config as headers and query pairs, and what must not be shown."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote, quote_plus

from pegboard.core.errors import Misconfigured
from pegboard.core.outbound import check_header

_PLACES = ("headers", "query", "cookies")
_COOKIE = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+=[^\x00-\x1f\x7f;]*")
# Names whose values everybody knows: hiding those would spoil answers and protect nobody.
_HARMLESS = re.compile(
    r"(?:accept|content-|user-agent|cache-control|x-request|lc_).*"
    r"|(?:.*[-_])?(?:path|dir|directory|file|folder|root|home|host|port|origin|referer|region|zone|timezone|tz|lang"
    r"|language|locale|level|mode|env|environment|format|version|name|user|model|debug|encoding|term|shell|tmp|temp)",
    re.IGNORECASE,
)
_OPAQUE = re.compile(r"(?=.*\d)(?=.*[A-Za-z])[A-Za-z0-9_.~+=-]{20,}", re.ASCII)
SHORTEST = 6


def placed(auth: Mapping[str, Any] | None) -> tuple[dict[str, str], dict[str, str]]:
    """The headers and the query pairs that an auth_config asks for; raises Misconfigured, never with a value in it."""
    if auth is None:
        return {}, {}
    maps = {place: _texts(auth, place) for place in _PLACES}
    custom = auth.get("custom")
    if isinstance(custom, Mapping):
        # Either the three maps again, or nothing but headers.
        nested = custom if custom.keys() & set(_PLACES) else {"headers": custom}
        for place in _PLACES:
            maps[place].update(_texts(nested, place))
    _add_own(auth, maps["headers"], maps["query"])
    if maps["cookies"]:
        pairs = [f"{name}={value}" for name, value in maps["cookies"].items()]
        if not all(map(_COOKIE.fullmatch, pairs)):
            raise Misconfigured("auth_config.cookies holds a character that a cookie cannot")
        maps["headers"]["Cookie"] = "; ".join(pairs)
    for name, value in maps["headers"].items():
        try:
            check_header(name, value)
        except ValueError as error:
            raise Misconfigured(f"auth_config: {error}") from None
    return maps["headers"], maps["query"]


def secrets_in(values: Mapping[str, str]) -> Iterator[str]:
    """The texts among these headers, query or environment values that must not be shown."""
    for name, value in values.items():
        if _HARMLESS.fullmatch(name) and "@" not in value and not _OPAQUE.fullmatch(value):
            continue
        parts = {value, value.partition(" ")[2]}
        if name.lower() == "cookie":
            parts |= {pair.partition("=")[2].strip() for pair in value.split(";")}
        for part in parts:
            if len(part) >= SHORTEST:
                yield from (part, quote(part, safe=""), quote_plus(part), _base64(part))


def _add_own(auth: Mapping[str, Any], headers: dict[str, str], query: dict[str, str]) -> None:
    match auth.get("type"):
        case "bearer":
            headers["Authorization"] = f"Bearer {_needed(auth, 'token')}"
        case "basic":
            pair = f"{_needed(auth, 'username')}:{_needed(auth, 'password')}"
            headers["Authorization"] = f"Basic {_base64(pair)}"
        case "api_key" if auth.get("query_name"):
            query[str(auth["query_name"])] = _needed(auth, "api_key")
        case "api_key":
            headers[str(auth.get("header_name") or "X-API-Key")] = _needed(auth, "api_key")
        case "custom":
            pass
        case other:
            raise Misconfigured(f"auth_config.type is '{str(other)[:50]}'; use bearer, basic, api_key or custom")


def _base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def _needed(auth: Mapping[str, Any], name: str) -> str:
    value = auth.get(name)
    if not isinstance(value, str) or not value:
        raise Misconfigured(f"auth_config of type {auth.get('type')} needs '{name}', a non-empty string")
    return value


def _texts(given: Mapping[str, Any], place: str) -> dict[str, str]:
    found = given.get(place) or {}
    if not isinstance(found, Mapping) or not all(isinstance(value, str) for value in found.values()):
        raise Misconfigured(f"auth_config.{place} must be an object whose values are strings")
    return dict(found)
