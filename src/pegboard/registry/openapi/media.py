"""Media types: what a body of each can be made of, and which is best."""

from __future__ import annotations

import re
from typing import Any

_MEDIA_TYPE = re.compile(r"[A-Za-z0-9!#$&^_.*+-]+/[A-Za-z0-9!#$&^_.*+-]+(?:[ \t]*;[\t -~]*)?", re.ASCII)
_WILD = frozenset({"*/*", "application/*"})
_XML = frozenset({"application/xml", "text/xml"})
_TEXTS = frozenset({
    "application/yaml", "application/x-yaml", "application/graphql", "application/javascript", "application/ecmascript",
    "application/x-ndjson", "application/ndjson", "application/jsonl", "application/x-jsonlines", "application/sql",
    "application/toml",
})  # fmt: skip
_FORMS = {"application/x-www-form-urlencoded": "form", "multipart/form-data": "multipart"}

# The best first; `xml` is written by the model itself, as text.
KINDS = ("json", "form", "multipart", "text", "xml", "binary")


def kind_of_body(media_type: Any) -> str:
    """One of KINDS, or `unknown` where it is no media type."""
    if not isinstance(media_type, str) or not _MEDIA_TYPE.fullmatch(media_type) or "{{" in media_type:
        return "unknown"
    bare = bare_type(media_type)
    if bare in _WILD or bare in ("application/json", "text/json") or bare.endswith("+json"):
        return "json"
    if bare in _XML or bare.endswith("+xml"):
        return "xml"
    if bare.startswith("text/") or bare in _TEXTS:
        return "text"
    return _FORMS.get(bare, "binary")


def rank(media_type: Any) -> tuple[int, int]:
    """Where a media type stands among others: the smaller, the better."""
    kind = kind_of_body(media_type)
    plain = kind != "unknown" and bare_type(media_type) in ("application/json", "text/plain")
    return (KINDS.index(kind) if kind in KINDS else len(KINDS), 0 if plain else 1)


def is_json(media_type: Any) -> bool:
    """Whether what is of this type is JSON."""
    return kind_of_body(media_type) == "json"


def is_text(media_type: Any) -> bool:
    """Whether what is of this type is text."""
    return kind_of_body(media_type) == "text"


def content_type(media_type: str) -> str | None:
    """The Content-Type to send, or None where it is the usual one of its kind."""
    bare = bare_type(media_type)
    usual = ("application/json", "application/x-www-form-urlencoded", "multipart/form-data", "text/plain", "text/*")
    return None if bare in usual or bare in _WILD else media_type


def bare_type(media_type: str) -> str:
    """The media type without its parameters, in lower case."""
    return media_type.partition(";")[0].strip().lower()
