"""How a tool proves itself: its auth_config as headers, query pairs and cookies, and what must never be shown."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, quote, quote_plus

from pegboard.core.errors import Misconfigured
from pegboard.core.outbound import check_header

_OF_TYPE = {"bearer": ("token",), "basic": ("username", "password"), "api_key": ("api_key",), "custom": ()}
_PLACES = ("headers", "query", "cookies")
# Every type may have these: seed 001 shows auth_config with all of them side by side.
_KNOWN = (
    "type", "token", "username", "password", "api_key", "header_name", "query_name", *_PLACES, "custom"
)  # fmt: skip

_TOKEN = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+", re.ASCII)
_COOKIE_VALUE = re.compile(r"[^\x00-\x1f\x7f;]*")
_SENSITIVE = re.compile(
    r"auth(?!or(?!i[sz]))|token|secret|passw|pwd|credential|cookie|session|signature|jwt|(?:api|access)[-_.]?key|^appid$"
    r"|(?:^|[-_.])(?:key|sig|sid)(?:$|[-_.])",
    re.IGNORECASE,
)
# Names whose values everybody knows: hiding those would spoil answers and protect nobody.
_HARMLESS = re.compile(
    r"(?:accept|content-|user-agent|cache-control|if-|prefer|x-request|lc_).*"
    r"|(?:.*[-_])?(?:path|dir|directory|file|folder|root|home|host|port|origin|referer|region|zone|timezone|tz|lang"
    r"|language|locale|level|mode|env|environment|format|version|name|user|model|debug|encoding|term|shell|tmp|temp)",
    re.IGNORECASE,
)
_OPAQUE = re.compile(r"(?=.*\d)(?=.*[A-Za-z])[A-Za-z0-9_.~+=-]{20,}", re.ASCII)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9-]* +(?=\S)")
_SHORTEST = 6


@dataclass(frozen=True, slots=True)
class Credentials:
    """What is added to each request of a tool, and the texts in it that are secret."""

    headers: Mapping[str, str]
    query: Mapping[str, str]
    cookies: Mapping[str, str]
    texts: tuple[str, ...]

    @classmethod
    def of(cls, auth: Mapping[str, Any] | None) -> Credentials:
        """The credentials of an auth_config; raises Misconfigured, never with a value in its message."""
        if auth is None:
            return cls({}, {}, {}, ())
        unknown = [name for name, value in auth.items() if name not in _KNOWN and value not in (None, "", {}, [])]
        if unknown:
            raise Misconfigured(
                f"auth_config holds '{unknown[0]}', which is not known; it may hold {', '.join(_KNOWN)}"
            )
        maps: dict[str, dict[str, str]] = {place: _texts(auth.get(place), place) for place in _PLACES}
        for place, values in _custom(auth.get("custom")).items():
            maps[place].update(values)
        _add_own(auth, maps)
        for name, value in maps["headers"].items():
            _check(name, value)
        for name, value in maps["query"].items():
            if not _is_text(name + value):
                raise Misconfigured(f"auth_config: the query value of '{name}' cannot be sent as text")
        for name, value in maps["cookies"].items():
            if not (is_cookie(name, value) and _is_text(value)):
                raise Misconfigured(f"auth_config: the cookie '{name}' holds a character that a cookie cannot")
        secret = [str(auth[name]) for name in ("token", "password", "api_key") if auth.get(name)]
        secret += [value for values in maps.values() for name, value in values.items() if not _is_open(name, value)]
        return cls(maps["headers"], maps["query"], maps["cookies"], tuple(secret))


def is_cookie(name: str, value: str = "") -> bool:
    """Whether a cookie of this name can hold this value as it is."""
    return _TOKEN.fullmatch(name) is not None and _COOKIE_VALUE.fullmatch(value) is not None


def is_sensitive(name: str) -> bool:
    """Whether a header or query value of this name is likely a credential."""
    return _SENSITIVE.search(name) is not None


def secrets_of(credentials: Credentials, headers: Mapping[str, str], query: str) -> tuple[str, ...]:
    """Every text that must not be shown, in the forms it may come back in, the longest first."""
    texts = [*credentials.texts, *(value for name, value in parse_qsl(query) if is_sensitive(name))]
    found = {form for text in texts for form in _forms(text)}.union(secrets_in(headers))
    return tuple(sorted(found, key=lambda form: (-len(form), form)))


def secrets_in(values: Mapping[str, str]) -> Iterator[str]:
    """The texts among these headers, query or environment values that must not be shown, in all their forms."""
    for name, value in values.items():
        if _is_open(name, value):
            continue
        yield from _forms(value)
        if name.lower() == "cookie":
            for pair in value.split(";"):
                yield from _forms(pair.partition("=")[2].strip())


def _add_own(auth: Mapping[str, Any], maps: dict[str, dict[str, str]]) -> None:
    kind = auth.get("type")
    given = [_required(auth, name) for name in _OF_TYPE.get(str(kind), ())]
    if kind == "bearer":
        maps["headers"]["Authorization"] = f"Bearer {given[0]}"
    elif kind == "basic":
        if ":" in given[0]:
            raise Misconfigured("auth_config.username holds a colon, which ends the name in basic authentication")
        maps["headers"]["Authorization"] = f"Basic {_base64(':'.join(given))}"
    elif kind == "api_key":
        header, query = _optional(auth, "header_name"), _optional(auth, "query_name")
        if header and query:
            raise Misconfigured("auth_config has a header_name and a query_name; keep the one that the key goes to")
        if query:
            maps["query"][query] = given[0]
        else:
            maps["headers"][header or "X-API-Key"] = given[0]
    elif kind != "custom":
        raise Misconfigured(f"auth_config.type is '{str(kind)[:50]}'; use one of: {', '.join(_OF_TYPE)}")


def _custom(given: Any) -> dict[str, dict[str, str]]:
    if isinstance(given, Mapping) and given and not (given.keys() & set(_PLACES)):
        return {"headers": _texts(given, "custom")}
    if given in (None, ""):
        return {}
    if not isinstance(given, Mapping) or not given.keys() <= set(_PLACES):
        raise Misconfigured(
            "auth_config.custom must be an object of headers, or hold nothing but headers, query and cookies"
        )
    return {place: _texts(given.get(place), f"custom.{place}") for place in _PLACES}


def _texts(given: Any, where: str) -> dict[str, str]:
    if given in (None, ""):
        return {}
    if not isinstance(given, Mapping) or not all(isinstance(value, str) for value in given.values()):
        raise Misconfigured(f"auth_config.{where} must be an object whose values are strings")
    return {str(name): value for name, value in given.items()}


def _required(auth: Mapping[str, Any], name: str) -> str:
    value = auth.get(name)
    if not isinstance(value, str) or not value:
        raise Misconfigured(f"auth_config of type {auth.get('type')} needs '{name}', a non-empty string")
    return value


def _optional(auth: Mapping[str, Any], name: str) -> str | None:
    value = auth.get(name)
    if value is not None and not isinstance(value, str):
        raise Misconfigured(f"auth_config.{name} must be a string")
    return value or None


def _check(name: str, value: str) -> None:
    try:
        check_header(name, value)
    except ValueError as error:
        raise Misconfigured(f"auth_config: {error}") from None
    if not _is_text(value):
        raise Misconfigured(f"auth_config: the value of the header '{name}' cannot be sent as text")


def _is_text(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _is_open(name: str, value: str) -> bool:
    """Whether everybody may see the value: its name is well known, and it does not look like a key or an address."""
    if _HARMLESS.fullmatch(name) is None or is_sensitive(name):
        return False
    return "@" not in value and _OPAQUE.fullmatch(value) is None


def _base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def _forms(text: str) -> Iterator[str]:
    """The text as it is, and as it looks in a URL, in base64 and in JSON; of `Bearer X` also X in all of these."""
    for part in _parts(text):
        if len(part) < _SHORTEST:
            continue
        escaped = json.dumps(part)[1:-1]
        yield from (part, quote(part, safe=""), quote(part), quote_plus(part))
        yield from (_base64(part), base64.urlsafe_b64encode(part.encode()).decode())
        yield from (escaped, escaped.replace("/", "\\/"), json.dumps(part, ensure_ascii=False)[1:-1])


def _parts(text: str) -> Iterable[str]:
    scheme = _SCHEME.match(text)
    return (text, text[scheme.end() :]) if scheme else (text,)
