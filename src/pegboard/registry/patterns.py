"""Which regular expressions a schema may use, and how long a text each of them may be given.

Plain patterns run on an engine whose time is proportional to the text and to the compiled pattern. Look-around and
back-references need an engine that backtracks; it stops after a set number of steps, and then the text is refused.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from jsonschema_rs import Draft7Validator, FancyRegexOptions, RegexOptions

from pegboard.registry.subschemas import Document, Path

KIB = 1024
LARGEST = 1024 * KIB
LARGEST_OF_ALL = 16 * LARGEST
ENGINE = FancyRegexOptions(backtrack_limit=1000, size_limit=LARGEST)

# Compiled size, the longest text that a pattern of that size is given, and its checks for a character at worst, each
# about 0.1 µs: together they bound the time of a match.
_SIZES = ((KIB, None, 0.3), (8 * KIB, 8_192, 2.5), (64 * KIB, 8_192, 40.0), (LARGEST, 1_024, 1_300.0))
_BACKTRACKING_TEXT = 8_192
_BACKTRACKING_CHECKS = 0.4
# One kind of character from the beginning to the end, as `^[a-z]{1,64}$`: however often it repeats, it is cheap.
_ONE_KIND = re.compile(r"\^(?:\.|\\[dDwWsS]|\[[^\[\]\\]+\])(?:[*+?]|\{\d+(?:,\d*)?\})?\$")
_ONE_KIND_CHECKS = 0.3
_SHORT_PATTERN = 20
_is_regex = Draft7Validator({"format": "regex"}, validate_formats=True).is_valid
_NEEDS_BACKTRACKING = re.compile(r"\(\?(?:[=!>]|<[=!])|\\[1-9]|\\k<|[*+?}]\+")


class PatternProblem(ValueError):
    """A pattern that cannot be used, and why."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """A pattern's compiled size, the longest text for it, its checks for a character, whether it needs backtracking."""

    size: int
    longest: int | None
    per_character: float
    backtracks: bool = False


def weigh(pattern: str) -> Pattern:
    """How costly a pattern is; raises PatternProblem where it cannot be used at all."""
    for size, longest, checks in _SIZES:
        if _compiles(pattern, RegexOptions(size_limit=size)):
            # Only counted repetition makes a short pattern costly; a text of any length may be matched against `\S`.
            short = len(pattern) <= _SHORT_PATTERN and "{" not in pattern.replace(r"\p{", "")
            per_character = _ONE_KIND_CHECKS if _ONE_KIND.fullmatch(pattern) else checks
            return Pattern(size, None if short and size < LARGEST else longest, per_character)
    if _NEEDS_BACKTRACKING.search(pattern):
        if _compiles(pattern, ENGINE):
            return Pattern(LARGEST, _BACKTRACKING_TEXT, _BACKTRACKING_CHECKS, backtracks=True)
        raise PatternProblem(f"the pattern '{_cut(pattern)}' does not compile, or is too large with its look-around")
    if _is_regex(pattern):
        raise PatternProblem(
            f"the pattern '{_cut(pattern)}' is too large once its repetitions are counted out; "
            "bound the length with minLength and maxLength instead"
        )
    raise PatternProblem(f"the pattern '{_cut(pattern)}' is not a regular expression that compiles")


def check_patterns(document: Document) -> None:
    """Raise PatternProblem, with the path as second argument, for the first pattern that may not be used."""
    weights: dict[str, Pattern] = {}
    for path, node, decides in document.everything():
        found: list[tuple[str, Path, bool]] = []
        if isinstance(node.get("pattern"), str):
            found.append((node["pattern"], (*path, "pattern"), decides))
        if isinstance(node.get("patternProperties"), Mapping):
            found += [(key, (*path, "patternProperties", key), False) for key in node["patternProperties"]]
        for pattern, where, may_give_up in found:
            try:
                weight = weights.get(pattern) or weigh(pattern)
            except PatternProblem as problem:
                raise PatternProblem(str(problem), where) from None
            weights[pattern] = weight
            if not may_give_up and (weight.backtracks or weight.size == LARGEST):
                what = "uses look-around or a back-reference" if weight.backtracks else "is very large"
                raise PatternProblem(
                    f"the pattern '{_cut(pattern)}' {what}; such a pattern may not stand in patternProperties, "
                    "not, if, oneOf or contains",
                    where,
                )
        if sum(weight.size for weight in weights.values()) > LARGEST_OF_ALL:
            raise PatternProblem("the patterns of this schema are too large taken together", path)


def with_bounded_texts(document: Document) -> dict[str, Any]:
    """The schema, with every costly pattern put behind a check of the text's length."""
    bounds: dict[int, int] = {}
    weights: dict[str, Pattern] = {}
    undecided: set[int] = set()
    for _, node, decides in document.everything():
        pattern = node.get("pattern")
        if isinstance(pattern, str):
            weight = weights[pattern] = weights.get(pattern) or weigh(pattern)
            if not decides:
                undecided.add(id(node))
            elif weight.longest is not None:
                bounds[id(node)] = weight.longest
    bounds = {key: longest for key, longest in bounds.items() if key not in undecided}
    schema = document.root if isinstance(document.root, dict) else dict(document.root)
    return _bounded(schema, bounds) if bounds else schema


def _bounded(value: Any, bounds: Mapping[int, int]) -> Any:
    if isinstance(value, list):
        return [_bounded(item, bounds) for item in value]
    if not isinstance(value, Mapping):
        return value
    copied = {key: _bounded(item, bounds) for key, item in value.items()}
    longest = bounds.get(id(value))
    if longest is not None:
        guarded = {"if": {"maxLength": longest}, "then": {"pattern": copied.pop("pattern")}}
        copied["allOf"] = [*copied.get("allOf", ()), {**guarded, "else": {"maxLength": longest}}]
    return copied


def _compiles(pattern: str, engine: FancyRegexOptions | RegexOptions) -> bool:
    try:
        Draft7Validator({"pattern": pattern}, pattern_options=engine)
    except ValueError:
        return False
    return True


def _cut(text: str) -> str:
    return text if len(text) <= 100 else text[:99] + "…"
