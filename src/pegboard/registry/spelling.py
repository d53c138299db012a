"""Names that are spelt almost like a given one.

They are made from the given name and looked up, so that a misspelt name costs the same with 10 tools and 100,000.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

# Of longer names there would be too many.
LONGEST = 40
_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789_-"
_SEPARATORS = re.compile(r"[-_.:/ ]+")
_PREFIX = re.compile(r"^.*[.:/]")


def near_spellings(name: str) -> Iterator[str]:
    """Names in lower case that differ in separators, or in one letter that is missing, added, changed or swapped."""
    if len(name) > LONGEST:
        return
    words = [word for word in _SEPARATORS.split(name) if word]
    for separator in ("_", "-", ""):
        yield separator.join(words)
    # Without a prefix such as `functions.`, which models add.
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
