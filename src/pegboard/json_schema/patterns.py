"""Which regular expressions a schema may use, and the longest text that each of them is matched against.

Plain patterns run on an engine with time linear in the text and in the compiled pattern. Look-around and
back-references need a backtracking engine, which stops after a fixed number of steps; then the text is rejected.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from jsonschema_rs import Draft7Validator, FancyRegexOptions, RegexOptions

from pegboard.json_schema.schema_document import Path, SchemaDocument
from pegboard.json_schema.value_text import shorten

KIB = 1024
MAX_PATTERN_BYTES = 1024 * KIB
MAX_TOTAL_PATTERN_BYTES = 16 * MAX_PATTERN_BYTES
REGEX_ENGINE = FancyRegexOptions(backtrack_limit=1000, size_limit=MAX_PATTERN_BYTES)

# Compiled size in bytes, the longest text that a pattern of that size is matched against, and its checks per character
# at worst, each about 0.1 µs: together they limit the time of a match.
_COST_BY_SIZE = ((KIB, None, 0.3), (8 * KIB, 8_192, 2.5), (64 * KIB, 8_192, 40.0), (MAX_PATTERN_BYTES, 1_024, 1_300.0))
_BACKTRACKING_TEXT = 8_192
_BACKTRACKING_CHECKS = 0.4
# One character class from start to end, such as `^[a-z]{1,64}$`: cheap for any number of repetitions.
_SINGLE_CLASS_PATTERN = re.compile(r"\^(?:\.|\\[dDwWsS]|\[[^\[\]\\]+\])(?:[*+?]|\{\d+(?:,\d*)?\})?\$")
_SINGLE_CLASS_CHECKS = 0.3
_SHORT_PATTERN = 20
_is_regex = Draft7Validator({"format": "regex"}, validate_formats=True).is_valid
_NEEDS_BACKTRACKING = re.compile(r"\(\?(?:[=!>]|<[=!])|\\[1-9]|\\k<|[*+?}]\+")


class PatternProblem(ValueError):
    """A pattern that cannot be used, and the reason."""


@dataclass(frozen=True, slots=True)
class PatternCost:
    """A pattern's compiled size, longest text, checks per character, and whether it needs the backtracking engine."""

    size: int
    longest: int | None
    per_character: float
    backtracks: bool = False


def measure_pattern(pattern: str) -> PatternCost:
    """Return the cost of a pattern; raise PatternProblem if it cannot be used."""
    for size, longest, checks in _COST_BY_SIZE:
        if _is_compilable(pattern, RegexOptions(size_limit=size)):
            # Only counted repetition makes a short pattern expensive; `\S` may be matched against a text of any length.
            short = len(pattern) <= _SHORT_PATTERN and "{" not in pattern.replace(r"\p{", "")
            per_character = _SINGLE_CLASS_CHECKS if _SINGLE_CLASS_PATTERN.fullmatch(pattern) else checks
            return PatternCost(size, None if short and size < MAX_PATTERN_BYTES else longest, per_character)
    if _NEEDS_BACKTRACKING.search(pattern):
        if _is_compilable(pattern, REGEX_ENGINE):
            return PatternCost(MAX_PATTERN_BYTES, _BACKTRACKING_TEXT, _BACKTRACKING_CHECKS, backtracks=True)
        raise PatternProblem(f"the pattern '{shorten(pattern)}' does not compile, or is too large with its look-around")
    if _is_regex(pattern):
        raise PatternProblem(
            f"the pattern '{shorten(pattern)}' is too large once its repetitions are counted out; "
            "bound the length with minLength and maxLength instead"
        )
    raise PatternProblem(f"the pattern '{shorten(pattern)}' is not a regular expression that compiles")


def check_patterns(document: SchemaDocument) -> None:
    """Raise PatternProblem, with the path as second argument, for the first pattern that may not be used."""
    weights: dict[str, PatternCost] = {}
    for path, node, decides in document.iterate_schemas():
        found: list[tuple[str, Path, bool]] = []
        if isinstance(node.get("pattern"), str):
            found.append((node["pattern"], (*path, "pattern"), decides))
        if isinstance(node.get("patternProperties"), Mapping):
            found += [(key, (*path, "patternProperties", key), False) for key in node["patternProperties"]]
        for pattern, where, may_give_up in found:
            try:
                weight = weights.get(pattern) or measure_pattern(pattern)
            except PatternProblem as problem:
                raise PatternProblem(str(problem), where) from None
            weights[pattern] = weight
            if not may_give_up and (weight.backtracks or weight.size == MAX_PATTERN_BYTES):
                what = "uses look-around or a back-reference" if weight.backtracks else "is very large"
                raise PatternProblem(
                    f"the pattern '{shorten(pattern)}' {what}; such a pattern is not allowed in patternProperties, "
                    "not, if, oneOf or contains",
                    where,
                )
        if sum(weight.size for weight in weights.values()) > MAX_TOTAL_PATTERN_BYTES:
            raise PatternProblem("the patterns of this schema are too large taken together", path)


def bound_pattern_texts(document: SchemaDocument) -> dict[str, Any]:
    """Return the schema with a length check in front of every expensive pattern."""
    bounds: dict[int, int] = {}
    weights: dict[str, PatternCost] = {}
    undecided: set[int] = set()
    for _, node, decides in document.iterate_schemas():
        pattern = node.get("pattern")
        if isinstance(pattern, str):
            weight = weights[pattern] = weights.get(pattern) or measure_pattern(pattern)
            if not decides:
                undecided.add(id(node))
            elif weight.longest is not None:
                bounds[id(node)] = weight.longest
    bounds = {key: longest for key, longest in bounds.items() if key not in undecided}
    schema = document.root if isinstance(document.root, dict) else dict(document.root)
    return _bound_patterns(schema, bounds) if bounds else schema


def _bound_patterns(value: Any, bounds: Mapping[int, int]) -> Any:
    if isinstance(value, list):
        return [_bound_patterns(item, bounds) for item in value]
    if not isinstance(value, Mapping):
        return value
    copied = {key: _bound_patterns(item, bounds) for key, item in value.items()}
    longest = bounds.get(id(value))
    if longest is not None:
        guarded = {"if": {"maxLength": longest}, "then": {"pattern": copied.pop("pattern")}}
        copied["allOf"] = [*copied.get("allOf", ()), {**guarded, "else": {"maxLength": longest}}]
    return copied


def _is_compilable(pattern: str, engine: FancyRegexOptions | RegexOptions) -> bool:
    try:
        Draft7Validator({"pattern": pattern}, pattern_options=engine)
    except ValueError:
        return False
    return True
