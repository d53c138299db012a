"""How a tool proves itself to an MCP server: its auth_config as headers and query pairs, and what must not be shown."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote, quote_plus

from pegboard.executors.credentials import SHORTEST, Credentials

# Names whose values everybody knows: hiding those would spoil answers and protect nobody.
_HARMLESS = re.compile(
    r"(?:accept|content-|user-agent|cache-control|x-request|lc_).*"
    r"|(?:.*[-_])?(?:path|dir|directory|file|folder|root|home|host|port|origin|referer|region|zone|timezone|tz|lang"
    r"|language|locale|level|mode|env|environment|format|version|name|user|model|debug|encoding|term|shell|tmp|temp)",
    re.IGNORECASE,
)
_OPAQUE = re.compile(r"(?=.*\d)(?=.*[A-Za-z])[A-Za-z0-9_.~+=-]{20,}", re.ASCII)


def placed(auth: Mapping[str, Any] | None) -> tuple[dict[str, str], dict[str, str]]:
    """The headers and the query pairs that an auth_config asks for; raises Misconfigured, never with a value in it."""
    credentials = Credentials.of(auth)
    headers = dict(credentials.headers)
    if credentials.cookies:
        headers["Cookie"] = "; ".join(f"{name}={value}" for name, value in credentials.cookies.items())
    return headers, dict(credentials.query)


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


def _base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()
