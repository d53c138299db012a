"""Names that are spelt almost like a given name.

Candidates are generated from the given name and looked up, so the cost does not depend on the number of tools.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

# Longer names have too many candidates.
MAX_SPELLED_LENGTH = 40
_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789_-"
_SEPARATORS = re.compile(r"[-_.:/ ]+")
_PREFIX = re.compile(r"^.*[.:/]")


def iterate_near_spellings(name: str) -> Iterator[str]:
    """Yield lower-case names that differ in separators, or by one missing, added, changed or swapped letter."""
    if len(name) > MAX_SPELLED_LENGTH:
        return
    words = [word for word in _SEPARATORS.split(name) if word]
    for separator in ("_", "-", ""):
        yield separator.join(words)
    # Models add a prefix such as `functions.`; try without it.
    yield _PREFIX.sub("", name)
    ends = [(name[:place], name[place:]) for place in range(len(name) + 1)]
    for start, end in ends:
        if len(end) > 1:
            yield start + end[1] + end[0] + end[2:]
        if end:
            yield start + end[1:]
    for start, end in ends:
        for letter in _LETTERS:
            yield start + letter + end
            if end:
                yield start + letter + end[1:]
