"""Credentials of a tool: its auth_config as headers, query parameters and cookies, and the secret texts to mask."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, quote, quote_plus

from pegboard.kinds.config_fields import check_header
from pegboard.model.call_errors import Misconfigured
from pegboard.model.json_text import is_unicode
from pegboard.model.secrets import is_credential_parameter

_REQUIRED_BY_TYPE = {"bearer": ("token",), "basic": ("username", "password"), "api_key": ("api_key",), "custom": ()}
_CREDENTIAL_PLACES = ("headers", "query", "cookies")
# All types accept all of these keys: seed 001 shows auth_config with all of them together.
_KNOWN_KEYS = (
    "type", "token", "username", "password", "api_key", "header_name", "query_name", *_CREDENTIAL_PLACES, "custom"
)  # fmt: skip

_HTTP_TOKEN = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+", re.ASCII)
_COOKIE_VALUE = re.compile(r"[^\x00-\x1f\x7f;]*")
# Names whose values are well known: masking them would damage outputs and protect nothing.
_HARMLESS_NAME = re.compile(
    r"(?:accept|content-|user-agent|cache-control|if-|prefer|x-request|lc_).*"
    r"|(?:.*[-_])?(?:path|dir|directory|file|folder|root|home|host|port|origin|referer|region|zone|timezone|tz|lang"
    r"|language|locale|level|mode|env|environment|format|version|name|user|model|debug|encoding|term|shell|tmp|temp)",
    re.IGNORECASE,
)
_OPAQUE_VALUE = re.compile(r"(?=.*\d)(?=.*[A-Za-z])[A-Za-z0-9_.~+=-]{20,}", re.ASCII)
_AUTH_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9-]* +(?=\S)")
_MIN_SECRET_CHARS = 6


@dataclass(frozen=True, slots=True)
class Credentials:
    """The headers, query parameters and cookies added to each request of a tool, and the secret texts in them."""

    headers: Mapping[str, str]
    query: Mapping[str, str]
    cookies: Mapping[str, str]
    texts: tuple[str, ...]

    @classmethod
    def of(cls, auth: Mapping[str, Any] | None) -> Credentials:
        """Read the credentials of an auth_config; raise Misconfigured, never with a value in the message."""
        if auth is None:
            return cls({}, {}, {}, ())
        unknown = [name for name, value in auth.items() if name not in _KNOWN_KEYS and value not in (None, "", {}, [])]
        if unknown:
            raise Misconfigured(
                f"auth_config holds '{unknown[0]}', which is not known; it may hold {', '.join(_KNOWN_KEYS)}"
            )
        maps: dict[str, dict[str, str]] = {
            place: _read_text_map(auth.get(place), place) for place in _CREDENTIAL_PLACES
        }
        for place, values in _read_custom(auth.get("custom")).items():
            maps[place].update(values)
        _add_typed_credentials(auth, maps)
        for name, value in maps["headers"].items():
            _check_header(name, value)
        for name, value in maps["query"].items():
            if not is_unicode(name + value):
                raise Misconfigured(f"auth_config: the query value of '{name}' cannot be sent as text")
        for name, value in maps["cookies"].items():
            if not (is_valid_cookie(name, value) and is_unicode(value)):
                raise Misconfigured(f"auth_config: the cookie '{name}' holds a character that a cookie cannot")
        secret = [str(auth[name]) for name in ("token", "password", "api_key") if auth.get(name)]
        secret += [
            value for values in maps.values() for name, value in values.items() if not _is_public_value(name, value)
        ]
        return cls(maps["headers"], maps["query"], maps["cookies"], tuple(secret))


def is_valid_cookie(name: str, value: str = "") -> bool:
    """True if a cookie with this name can contain this value without escaping."""
    return _HTTP_TOKEN.fullmatch(name) is not None and _COOKIE_VALUE.fullmatch(value) is not None


def list_request_secrets(credentials: Credentials, headers: Mapping[str, str], query: str) -> tuple[str, ...]:
    """Return all texts to mask, in all encodings in which an upstream may repeat them, longest first."""
    texts = [*credentials.texts, *(value for name, value in parse_qsl(query) if is_credential_parameter(name))]
    found = {form for text in texts for form in _list_encodings(text)}.union(find_secrets(headers))
    return tuple(sorted(found, key=lambda form: (-len(form), form)))


def find_secrets(values: Mapping[str, str]) -> Iterator[str]:
    """Yield the texts to mask among these headers, query parameters or environment variables, in all encodings."""
    for name, value in values.items():
        if _is_public_value(name, value):
            continue
        yield from _list_encodings(value)
        if name.lower() == "cookie":
            for pair in value.split(";"):
                yield from _list_encodings(pair.partition("=")[2].strip())


def _add_typed_credentials(auth: Mapping[str, Any], maps: dict[str, dict[str, str]]) -> None:
    kind = auth.get("type")
    given = [_read_required(auth, name) for name in _REQUIRED_BY_TYPE.get(str(kind), ())]
    if kind == "bearer":
        maps["headers"]["Authorization"] = f"Bearer {given[0]}"
    elif kind == "basic":
        if ":" in given[0]:
            raise Misconfigured("auth_config.username holds a colon, which ends the name in basic authentication")
        maps["headers"]["Authorization"] = f"Basic {_encode_base64(':'.join(given))}"
    elif kind == "api_key":
        header, query = _read_optional(auth, "header_name"), _read_optional(auth, "query_name")
        if header and query:
            raise Misconfigured("auth_config has a header_name and a query_name; keep the one where the key is sent")
        if query:
            maps["query"][query] = given[0]
        else:
            maps["headers"][header or "X-API-Key"] = given[0]
    elif kind != "custom":
        raise Misconfigured(f"auth_config.type is '{str(kind)[:50]}'; use one of: {', '.join(_REQUIRED_BY_TYPE)}")


def _read_custom(given: Any) -> dict[str, dict[str, str]]:
    if isinstance(given, Mapping) and given and not (given.keys() & set(_CREDENTIAL_PLACES)):
        return {"headers": _read_text_map(given, "custom")}
    if given in (None, ""):
        return {}
    if not isinstance(given, Mapping) or not given.keys() <= set(_CREDENTIAL_PLACES):
        raise Misconfigured(
            "auth_config.custom must be an object of headers, or hold nothing but headers, query and cookies"
        )
    return {place: _read_text_map(given.get(place), f"custom.{place}") for place in _CREDENTIAL_PLACES}


def _read_text_map(given: Any, where: str) -> dict[str, str]:
    if given in (None, ""):
        return {}
    if not isinstance(given, Mapping) or not all(isinstance(value, str) for value in given.values()):
        raise Misconfigured(f"auth_config.{where} must be an object whose values are strings")
    return {str(name): value for name, value in given.items()}


def _read_required(auth: Mapping[str, Any], name: str) -> str:
    value = auth.get(name)
    if not isinstance(value, str) or not value:
        raise Misconfigured(f"auth_config of type {auth.get('type')} needs '{name}', a non-empty string")
    return value


def _read_optional(auth: Mapping[str, Any], name: str) -> str | None:
    value = auth.get(name)
    if value is not None and not isinstance(value, str):
        raise Misconfigured(f"auth_config.{name} must be a string")
    return value or None


def _check_header(name: str, value: str) -> None:
    try:
        check_header(name, value)
    except ValueError as error:
        raise Misconfigured(f"auth_config: {error}") from None
    if not is_unicode(value):
        raise Misconfigured(f"auth_config: the value of the header '{name}' cannot be sent as text")


def _is_public_value(name: str, value: str) -> bool:
    """True if the value is public: its name is well known, it contains no @ and does not look like a key."""
    if _HARMLESS_NAME.fullmatch(name) is None or is_credential_parameter(name):
        return False
    return "@" not in value and _OPAQUE_VALUE.fullmatch(value) is None


def _encode_base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def _list_encodings(text: str) -> Iterator[str]:
    """Yield the text as it is and as encoded in URLs, base64 and JSON; for `Bearer X` also X in all of these."""
    for part in _split_scheme(text):
        if len(part) < _MIN_SECRET_CHARS:
            continue
        escaped = json.dumps(part)[1:-1]
        yield from (part, quote(part, safe=""), quote(part), quote_plus(part))
        yield from (_encode_base64(part), base64.urlsafe_b64encode(part.encode()).decode())
        yield from (escaped, escaped.replace("/", "\\/"), json.dumps(part, ensure_ascii=False)[1:-1])


def _split_scheme(text: str) -> Iterable[str]:
    scheme = _AUTH_SCHEME.match(text)
    return (text, text[scheme.end() :]) if scheme else (text,)
