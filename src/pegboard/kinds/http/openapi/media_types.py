"""Classifies media types by the kind of their bodies and ranks them."""

from __future__ import annotations

import re
from typing import Any

_MEDIA_TYPE = re.compile(r"[A-Za-z0-9!#$&^_.*+-]+/[A-Za-z0-9!#$&^_.*+-]+(?:[ \t]*;[\t -~]*)?", re.ASCII)
_WILDCARD_TYPES = frozenset({"*/*", "application/*"})
_XML_TYPES = frozenset({"application/xml", "text/xml"})
_TEXT_TYPES = frozenset({
    "application/yaml", "application/x-yaml", "application/graphql", "application/javascript", "application/ecmascript",
    "application/x-ndjson", "application/ndjson", "application/jsonl", "application/x-jsonlines", "application/sql",
    "application/toml",
})  # fmt: skip
_FORM_TYPES = {"application/x-www-form-urlencoded": "form", "multipart/form-data": "multipart"}

# Best first; `xml` is text that the model writes.
BODY_KINDS = ("json", "form", "multipart", "text", "xml", "binary")


def classify_media_type(media_type: Any) -> str:
    """Return one of BODY_KINDS, or `unknown` if it is not a media type."""
    if not isinstance(media_type, str) or not _MEDIA_TYPE.fullmatch(media_type) or "{{" in media_type:
        return "unknown"
    bare = strip_media_type(media_type)
    if bare in _WILDCARD_TYPES or bare in ("application/json", "text/json") or bare.endswith("+json"):
        return "json"
    if bare in _XML_TYPES or bare.endswith("+xml"):
        return "xml"
    if bare.startswith("text/") or bare in _TEXT_TYPES:
        return "text"
    return _FORM_TYPES.get(bare, "binary")


def rank_media_type(media_type: Any) -> tuple[int, int]:
    """Return a sort key for media types; smaller is better."""
    kind = classify_media_type(media_type)
    plain = kind != "unknown" and strip_media_type(media_type) in ("application/json", "text/plain")
    return (BODY_KINDS.index(kind) if kind in BODY_KINDS else len(BODY_KINDS), 0 if plain else 1)


def choose_content_type(media_type: str) -> str | None:
    """Return the Content-Type to send, or None if it is the default of its kind."""
    bare = strip_media_type(media_type)
    usual = ("application/json", "application/x-www-form-urlencoded", "multipart/form-data", "text/plain", "text/*")
    return None if bare in usual or bare in _WILDCARD_TYPES else media_type


def strip_media_type(media_type: str) -> str:
    """Return the media type without parameters, in lower case."""
    return media_type.partition(";")[0].strip().lower()
