"""One pattern for many marks."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any


def pattern_of(marks: Iterable[str]) -> re.Pattern[str]:
    """A pattern that finds the first of these marks, and the longest of those that begin there.

    It is made of a tree of their letters: each letter of a text is compared once, however many marks begin alike.
    """
    tree: dict[str, Any] = {}
    for mark in marks:
        branch = tree
        for letter in mark:
            branch = branch.setdefault(letter, {})
        branch[""] = {}
    return re.compile(_written(tree))


def _written(tree: dict[str, Any]) -> str:
    branches = [re.escape(letter) + _written(branch) for letter, branch in tree.items() if letter]
    if not branches:
        return ""
    written = branches[0] if len(branches) == 1 and "" not in tree else f"(?:{'|'.join(branches)})"
    return f"{written}?" if "" in tree else written
