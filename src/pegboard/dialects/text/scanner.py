"""Scan a text that arrives in pieces, once from start to end, for marks that are compiled into one pattern."""

from __future__ import annotations

import re
from collections.abc import Generator
from functools import cache
from typing import Any


@cache
def compile_marks(marks: tuple[str, ...]) -> re.Pattern[str]:
    """Return a pattern that finds the first of these marks, and the longest of those that start there.

    It is built from a prefix tree: each character of a text is compared once, however many marks share a prefix.
    """
    tree: dict[str, Any] = {}
    for mark in marks:
        branch = tree
        for letter in mark:
            branch = branch.setdefault(letter, {})
        branch[""] = {}
    return re.compile(_write_pattern(tree))


def _write_pattern(tree: dict[str, Any]) -> str:
    branches = [re.escape(letter) + _write_pattern(branch) for letter, branch in tree.items() if letter]
    if not branches:
        return ""
    written = branches[0] if len(branches) == 1 and "" not in tree else f"(?:{'|'.join(branches)})"
    return f"{written}?" if "" in tree else written


# A scanner yields when it needs more text.
Scan = Generator[None, None, None]

_SPACE = re.compile(r"\s*")
_JSON_STRUCTURE = re.compile(r'["{}\[\]]')
_JSON_STRING_END = re.compile(r'["\\]')


class Text:
    """The part of a text that has arrived and is not read yet.

    Its methods are generators that wait for more: `before, mark = yield from text.until("<a>", "<b>")`. Each
    character is examined once, however small the pieces are.
    """

    def __init__(self) -> None:
        self._data = ""
        self._at = 0
        self._is_over = False

    def add(self, piece: str) -> None:
        """Append a piece."""
        self._data = self._data[self._at :] + piece
        self._at = 0

    def close(self) -> None:
        """Mark the end of the text."""
        self._is_over = True

    def until(self, *marks: str) -> Generator[None, None, tuple[str, str]]:
        """Return the text before the first of these marks, and that mark; "" for the mark if the text ends first."""
        pattern, overlap = _get_pattern(marks)
        before: list[str] = []
        while True:
            match = pattern.search(self._data, self._at)
            if match is not None and (self._is_over or not self._may_be_longer(match.start(), overlap, marks)):
                before.append(self._data[self._at : match.start()])
                self._at = match.end()
                return "".join(before), match.group()
            if self._is_over:
                before.append(self._data[self._at :])
                self._at = len(self._data)
                return "".join(before), ""
            end = len(self._data) if match is None else match.start()
            safe = max(self._at, min(end, len(self._data) - overlap))
            before.append(self._data[self._at : safe])
            self._at = safe
            yield

    def back(self, mark: str) -> None:
        """Put back the mark that was read last, to be read again."""
        self._at -= len(mark)

    def ahead(self, mark: str) -> Generator[None, None, bool]:
        """Read this mark if it comes next, after optional whitespace, and return whether it did."""
        _, found = yield from self.then(mark)
        return bool(found)

    def then(self, *marks: str) -> Generator[None, None, tuple[str, str]]:
        """Return the next whitespace, and the mark that follows it, which is read; "" if none of these follows."""
        space = yield from self.run(_SPACE)
        while not self._is_over and self._may_be_longer(self._at, max(map(len, marks)), marks):
            yield
        found = [mark for mark in marks if self._data.startswith(mark, self._at)]
        mark = max(found, key=len, default="")
        self._at += len(mark)
        return space, mark

    def run(self, pattern: re.Pattern[str]) -> Generator[None, None, str]:
        """Return the next characters that match this pattern of single characters, such as `[a-z]*`."""
        taken: list[str] = []
        while True:
            match = pattern.match(self._data, self._at)
            assert match is not None
            taken.append(match.group())
            self._at = match.end()
            if self._at < len(self._data) or self._is_over:
                return "".join(taken)
            yield

    def is_cut(self, *marks: str) -> bool:
        """Return True if the text has ended, with nothing left or in the middle of one of these marks."""
        if not self._is_over or self._at == len(self._data):
            return self._is_over
        return self._may_be_longer(self._at, max(map(len, marks), default=0), marks)

    def json(self) -> Generator[None, None, tuple[str, bool]]:
        """Return the next object or array after optional whitespace, or "", and whether it is complete."""
        yield from self.run(_SPACE)
        if self._data[self._at : self._at + 1] not in ("{", "["):
            return "", False
        taken: list[str] = []
        depth, in_string, place = 0, False, self._at
        while True:
            match = (_JSON_STRING_END if in_string else _JSON_STRUCTURE).search(self._data, place)
            if match is None or (match.group() == "\\" and match.end() == len(self._data)):
                keep = len(self._data) if match is None else match.start()
                taken.append(self._data[self._at : keep])
                self._at = place = keep
                if self._is_over:
                    taken.append(self._data[keep:])
                    self._at = len(self._data)
                    return "".join(taken), False
                yield
                place = self._at
                continue
            place = match.end()
            match match.group():
                case '"':
                    in_string = not in_string
                case "\\":
                    place += 1
                case "{" | "[":
                    depth += 1
                case _:
                    depth -= 1
                    if depth == 0:
                        taken.append(self._data[self._at : place])
                        self._at = place
                        return "".join(taken), True

    def _may_be_longer(self, place: int, overlap: int, marks: tuple[str, ...]) -> bool:
        """Return True if, with more text, the mark at this position could become part of another mark."""
        for begin in range(max(self._at, len(self._data) - overlap), place + 1):
            rest = self._data[begin:]
            if any(len(rest) < len(mark) and mark.startswith(rest) for mark in marks):
                return True
        return False


@cache
def _get_pattern(marks: tuple[str, ...]) -> tuple[re.Pattern[str], int]:
    return compile_marks(marks), max(map(len, marks)) - 1
