"""A text that comes in pieces, read once from front to back."""

from __future__ import annotations

import re
from collections.abc import Generator
from functools import cache

from pegboard.dialects.text.marks import pattern_of

# What a scanner yields when it needs more text.
Scan = Generator[None, None, None]

_SPACE = re.compile(r"\s*")
_STRUCTURE = re.compile(r'["{}\[\]]')
_IN_STRING = re.compile(r'["\\]')


class Text:
    """What has come of a text and is not read yet.

    Its methods are generators that wait for more: `before, mark = yield from text.until("<a>", "<b>")`. Each character
    is looked at once, however small the pieces are.
    """

    def __init__(self) -> None:
        self._data = ""
        self._at = 0
        self._is_over = False

    def add(self, piece: str) -> None:
        """One more piece."""
        self._data = self._data[self._at :] + piece
        self._at = 0

    def close(self) -> None:
        """Nothing more comes."""
        self._is_over = True

    def until(self, *marks: str) -> Generator[None, None, tuple[str, str]]:
        """What stands before the first of these marks, and which it is: "" where none comes any more."""
        pattern, overlap = _pattern(marks)
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
        """Put the mark that was read last back, to be read again."""
        self._at -= len(mark)

    def ahead(self, mark: str) -> Generator[None, None, bool]:
        """Whether this mark comes next, after any space; if so it is read."""
        _, found = yield from self.then(mark)
        return bool(found)

    def then(self, *marks: str) -> Generator[None, None, tuple[str, str]]:
        """The space that comes next, and the mark that follows it, which is read; "" where none of these does."""
        space = yield from self.run(_SPACE)
        while not self._is_over and self._may_be_longer(self._at, max(map(len, marks)), marks):
            yield
        found = [mark for mark in marks if self._data.startswith(mark, self._at)]
        mark = max(found, key=len, default="")
        self._at += len(mark)
        return space, mark

    def run(self, pattern: re.Pattern[str]) -> Generator[None, None, str]:
        """The characters that come next and fit this pattern of single characters, such as `[a-z]*`."""
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
        """Whether the text is over, with nothing left or in the middle of one of these marks."""
        if not self._is_over or self._at == len(self._data):
            return self._is_over
        return self._may_be_longer(self._at, max(map(len, marks), default=0), marks)

    def json(self) -> Generator[None, None, tuple[str, bool]]:
        """The object or array that comes next, after any space, and whether it is whole; "" where none comes."""
        yield from self.run(_SPACE)
        if self._data[self._at : self._at + 1] not in ("{", "["):
            return "", False
        taken: list[str] = []
        depth, in_string, place = 0, False, self._at
        while True:
            match = (_IN_STRING if in_string else _STRUCTURE).search(self._data, place)
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
        """Whether the mark that stands there may yet turn out to be a part of another one."""
        for begin in range(max(self._at, len(self._data) - overlap), place + 1):
            rest = self._data[begin:]
            if any(len(rest) < len(mark) and mark.startswith(rest) for mark in marks):
                return True
        return False


@cache
def _pattern(marks: tuple[str, ...]) -> tuple[re.Pattern[str], int]:
    return pattern_of(marks), max(map(len, marks)) - 1
