"""Makes valid names for imported tools, and cleans and shortens imported texts."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from typing import Any

from pegboard.model.tool import MAX_NAME_LENGTH, check_name

MAX_TAG_LENGTH = 64

# Texts of a document are read up to this length, which is more than any field keeps.
_MAX_READ_CHARACTERS = 20_000
_SENTENCE_ENDS = (". ", "! ", "? ", ".\n", "!\n", "?\n", ":\n")
NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_-]+", re.ASCII)


def clean_text(value: Any) -> str:
    """Return the text without characters that cannot be stored, stripped; empty if the value is not a text."""
    if not isinstance(value, str):
        return ""
    start: str = value[:_MAX_READ_CHARACTERS]
    text = start if start.isascii() else start.encode("utf-8", "replace").decode()
    return text.replace("\0", "�").replace("\r\n", "\n").strip()


def shorten_text(text: str, length: int) -> str:
    """Return the text, or its beginning up to a paragraph, a sentence or a word, with `…`."""
    if len(text) <= length:
        return text
    room = text[: length - 2]
    for marks, mark in ((("\n\n",), " …"), (_SENTENCE_ENDS, " …"), ((" ", "\n", "\t"), "…")):
        end = max(room.rfind(each) + len(each.rstrip()) for each in marks)
        if end >= length // 2:
            return room[:end].rstrip() + mark
    return room.rstrip() + "…"


def make_valid_name(text: str) -> str:
    """Return the valid tool name that is closest to this text."""
    name = replace_invalid_characters(text, NOT_IN_NAMES).lstrip("-")
    if not name:
        return f"tool_{make_short_digest(text)}"
    if len(name) > MAX_NAME_LENGTH:
        name = f"{name[: MAX_NAME_LENGTH - 9].rstrip('_-')}_{make_short_digest(text)}"
    for attempt in (name, f"{name}_", f"_{name}", f"tool_{name}"):
        try:
            # A leading digit needs a prefix, a keyword needs a suffix.
            return check_name(attempt if len(attempt) <= MAX_NAME_LENGTH else attempt[:MAX_NAME_LENGTH])
        except ValueError:
            continue
    return f"tool_{make_short_digest(text)}"


def make_short_digest(text: str, length: int = 8) -> str:
    """Return the first hexadecimal digits of the text's SHA-256."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:length]


def replace_invalid_characters(text: str, others: re.Pattern[str]) -> str:
    """Return the text in ASCII without accents; invalid characters become underscores."""
    letters = unicodedata.normalize("NFKD", text) if not text.isascii() else text
    plain = "".join(letter for letter in letters if not unicodedata.combining(letter))
    return others.sub(" ", plain).strip().replace(" ", "_")
