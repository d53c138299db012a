"""Texts out of an API document, made fit for a definition: storable, and cut where a reader would cut them."""

from __future__ import annotations

from typing import Any

# Of a text that somebody else wrote, more than is kept of any.
_READ = 20_000

_ENDS = (". ", "! ", "? ", ".\n", "!\n", "?\n", ":\n")


def clean(value: Any) -> str:
    """The text without what cannot be stored and without space around it; empty if it is no text at all."""
    if not isinstance(value, str):
        return ""
    start: str = value[:_READ]
    text = start if start.isascii() else start.encode("utf-8", "replace").decode()
    return text.replace("\0", "�").replace("\r\n", "\n").strip()


def one_line(value: Any, length: int) -> str:
    """The text in one line of at most so many characters."""
    return cut_readably(" ".join(clean(value).split()), length)


def cut_readably(text: str, length: int) -> str:
    """The text, or as much of it as fits, ended after a paragraph, a sentence or a word, with `…`."""
    if len(text) <= length:
        return text
    room = text[: length - 2]
    for marks, mark in ((("\n\n",), " …"), (_ENDS, " …"), ((" ", "\n", "\t"), "…")):
        end = max(room.rfind(each) + len(each.rstrip()) for each in marks)
        if end >= length // 2:
            return room[:end].rstrip() + mark
    return room.rstrip() + "…"


def joined(*texts: str) -> str:
    """The texts as paragraphs, without those that another of them says already."""
    kept: list[str] = []
    for text in texts:
        if text and not any(text in other for other in kept):
            kept = [other for other in kept if not text.startswith(other.rstrip("."))] + [text]
    return "\n\n".join(kept)
