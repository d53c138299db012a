"""Estimate the cost of validating a value before the validator runs.

The validator cannot be interrupted and holds the GIL, so its work is limited in advance. The unit is a check: one
schema applied to one value, about 0.1 µs at worst. The cost of a schema is computed once, as checks per value and per
character at each depth; the cost of a call is then a multiplication, and for large arguments a count of their values by
depth.

A schema is expanded as the validator executes it: it applies the target of a reference once for each path to it. Only a
reference back into a schema that is being applied is cached per value, so it counts once per value.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from operator import add
from typing import Any, NamedTuple

from pegboard.json_schema.patterns import PatternCost, measure_pattern
from pegboard.json_schema.schema_document import SchemaDocument

# Limits on how many schemas are expanded from one schema, and how many are visited over all depths.
MAX_EXPANDED = 10_000
MAX_RATES = 40_000

# Checks per value for keywords that take much longer than others.
_FORMAT_CHECKS = {"date-time": 7.0, "email": 3.0, "idn-email": 3.0, "idn-hostname": 12.0}
_SLOW_FORMATS = frozenset({"idn-hostname", "regex"})
_DECIMAL_STEP = 25.0
_COMPARE_CHECKS, _DECIMAL_CHECKS = 3.0, 14.0
_UNIQUE_CHECKS = 3.0
# Checks per character.
_FORMAT_TEXT, _SLOW_FORMAT_TEXT, _CONTENT_TEXT, _UNIQUE_TEXT = 0.1, 0.4, 0.3, 0.02
# The values that `uniqueItems` hashes may be nested as deeply as arguments.
_MAX_DEPTH = 64
_UNBOUNDED_CHECKS = 1e9


class TooManySchemas(Exception):
    """Following the references of a schema gives more than MAX_EXPANDED schemas."""


class CostProfile(NamedTuple):
    """Checks per value and per character of text at each depth, deepest first."""

    per_value: list[float]
    per_character: list[float]


@dataclass(slots=True, eq=False)
class _Frame:
    """A schema whose parts are being expanded."""

    slot: str
    factor: float
    result: CostProfile
    todo: Iterator[tuple[str, float, Any, bool]]
    # Profiles that apply to children: at most one of the named properties applies, but all others may apply together.
    named: CostProfile | None = None
    object: CostProfile | None = None
    array: CostProfile | None = None
    target: int | None = None


class SchemaExpansion:
    """The expansion of one document."""

    def __init__(self, document: SchemaDocument) -> None:
        self._document = document
        self._recursive: dict[int, Any] = {}
        self._left = MAX_EXPANDED
        self._in_place: dict[int, float] = {}
        self._patterns: dict[str, PatternCost] = {}

    def profile(self, root: Any) -> CostProfile:
        """Return the profile of one schema; raise TooManySchemas if it is too large."""
        open_targets: set[int] = {id(root)}
        stack = [self._frame("", 1.0, root)]
        stack[0].target = id(root)
        while True:
            frame = stack[-1]
            step = next(frame.todo, None)
            if step is not None:
                slot, factor, node, is_reference = step
                if is_reference and id(node) in open_targets:
                    self._recursive.setdefault(id(node), node)
                    _add_profile(frame, slot, factor, CostProfile([self._cost_in_place(node)], [0.0]))
                    continue
                below = self._frame(slot, factor, node)
                if is_reference:
                    open_targets.add(id(node))
                    below.target = id(node)
                stack.append(below)
                continue
            stack.pop()
            if frame.target is not None:
                open_targets.discard(frame.target)
            done = _close_frame(frame)
            if not stack:
                return done
            _add_profile(stack[-1], frame.slot, frame.factor, done)

    def recursive_targets(self) -> Iterator[CostProfile]:
        """Yield the profile of each schema that is applied again inside itself."""
        self._left = MAX_EXPANDED
        done: set[int] = set()
        while waiting := [node for key, node in self._recursive.items() if key not in done]:
            for node in waiting:
                done.add(id(node))
                yield self.profile(node)

    def rates(self, root: Any) -> list[tuple[float, float]]:
        """Return the checks per value and per character at each depth, for the first few dozen, as if nothing were
        cached.

        The result is high for a recursive union, and low for objects that refer to each other in many ways, which
        `profile` cannot expand. It ends at the depth at which the rate exceeds a limit.
        """
        order = [(node, self._own(node), list(self._children(node))) for node in self._list_parts_first(root)]
        rates: dict[int, tuple[float, float]] = {}
        found: list[tuple[float, float]] = []
        for depth in range(max(8, min(_MAX_DEPTH, MAX_RATES // len(order)))):
            above, rates = rates, {}
            for node, own, children in order:
                total, named = [_get_rate(own.per_value, depth), _get_rate(own.per_character, depth)], [0.0, 0.0]
                for slot, factor, child, _ in children:
                    rate = (rates if slot == "same" else above).get(id(child), (0.0, 0.0))
                    for index in (0, 1):
                        if slot == "named":
                            named[index] = max(named[index], rate[index])
                        else:
                            total[index] += factor * rate[index]
                rates[id(node)] = (total[0] + named[0], total[1] + named[1])
            if max(rates[id(root)]) > _UNBOUNDED_CHECKS:
                break
            found.append(rates[id(root)])
        return found

    def _list_parts_first(self, root: Any) -> list[Any]:
        """Return every schema below the root, each after the schemas that apply to the same value."""
        found: list[Any] = []
        done: set[int] = set()
        starts = [root]
        while starts:
            todo: list[tuple[Any, bool]] = [(starts.pop(), False)]
            while todo:
                node, is_leaving = todo.pop()
                if is_leaving:
                    found.append(node)
                    starts += [child for _, child in self._document.inside(node)]
                elif id(node) not in done:
                    done.add(id(node))
                    todo.append((node, True))
                    todo += [(child, False) for _, child in self._document.iterate_in_place(node)]
        return found

    def _frame(self, slot: str, factor: float, node: Any) -> _Frame:
        self._left -= 1
        if self._left < 0:
            raise TooManySchemas
        return _Frame(slot, factor, self._own(node), self._children(node))

    def _children(self, node: Any) -> Iterator[tuple[str, float, Any, bool]]:
        """Yield for each part: the slot of its profile, how often it is applied, the schema, whether by reference."""
        if not isinstance(node, Mapping):
            return
        # To find the evaluated properties, the validator applies the parts a second time.
        again = 2.0 if "unevaluatedProperties" in node or "unevaluatedItems" in node else 1.0
        references = {word for word, _ in self._document.references(node)}
        for path, child in self._document.iterate_in_place(node):
            yield "same", again, child, path[0] in references
        for path, child in self._document.inside(node):
            word = path[0]
            if word in ("properties", "additionalProperties", "unevaluatedProperties"):
                yield "named", 1.0, child, False
            elif word in ("patternProperties", "propertyNames"):
                yield "object", 1.0, child, False
            else:
                yield "array", again if word == "contains" else 1.0, child, False

    def _cost_in_place(self, node: Any) -> float:
        """Return the checks for a scalar; the validator does not cache a recursive reference for scalars."""
        if id(node) not in self._in_place:
            total = 0.0
            todo = [(node, 1.0)]
            left = MAX_EXPANDED
            while todo and left:
                part, factor = todo.pop()
                left -= 1
                total += self._own(part).per_value[-1] * factor
                twice = isinstance(part, Mapping) and ("unevaluatedProperties" in part or "unevaluatedItems" in part)
                todo += [(child, factor * (2 if twice else 1)) for _, child in self._document.iterate_in_place(part)]
            self._in_place[id(node)] = total
        return self._in_place[id(node)]

    def _own(self, node: Any) -> CostProfile:
        """Return the cost of the schema itself, without its parts."""
        if not isinstance(node, Mapping):
            return CostProfile([1.0], [0.0])
        value, character = 1.0, 0.0
        for word in ("required", "dependencies", "dependentRequired"):
            held = node.get(word)
            if isinstance(held, list):
                value += len(held)
            elif isinstance(held, Mapping):
                value += sum(1 + (len(names) if isinstance(names, list) else 0) for names in held.values())
        if "const" in node:
            value += _count_compare_checks(node["const"])
        if isinstance(node.get("enum"), list):
            value += _count_enum_checks(node["enum"])
        if isinstance(node.get("multipleOf"), float):
            value += _DECIMAL_STEP
        if isinstance(name := node.get("format"), str):
            value += _FORMAT_CHECKS.get(name, 1.0)
            character += _SLOW_FORMAT_TEXT if name in _SLOW_FORMATS else _FORMAT_TEXT
        if "contentEncoding" in node or "contentMediaType" in node:
            value += _COMPARE_CHECKS
            character += _CONTENT_TEXT
        if isinstance(pattern := node.get("pattern"), str):
            character += self._measure_pattern(pattern)
        patterns = node.get("patternProperties")
        if isinstance(patterns, Mapping):
            character += sum(self._measure_pattern(pattern) for pattern in patterns)
        if node.get("uniqueItems") is True:
            return CostProfile([_UNIQUE_CHECKS] * _MAX_DEPTH + [value], [_UNIQUE_TEXT] * _MAX_DEPTH + [character])
        return CostProfile([value], [character])

    def _measure_pattern(self, pattern: str) -> float:
        if pattern not in self._patterns:
            self._patterns[pattern] = measure_pattern(pattern)
        return self._patterns[pattern].per_character


def _get_rate(rates: list[float], depth: int) -> float:
    """Return the rate at this depth of a profile, which is stored deepest first."""
    return rates[-1 - depth] if depth < len(rates) else 0.0


def _add_profile(frame: _Frame, slot: str, factor: float, profile: CostProfile) -> None:
    if factor != 1.0:
        profile = CostProfile(
            [rate * factor for rate in profile.per_value], [rate * factor for rate in profile.per_character]
        )
    if slot == "same":
        frame.result = _merge_profiles(frame.result, profile, add)
    elif slot == "named":
        frame.named = _merge_profiles(frame.named, profile, max)
    elif slot == "object":
        frame.object = _merge_profiles(frame.object, profile, add)
    else:
        frame.array = _merge_profiles(frame.array, profile, add)


def _close_frame(frame: _Frame) -> CostProfile:
    """Return the profile of the whole frame; the children's profiles are one depth below its own."""
    below = frame.named
    if frame.object is not None:
        below = _merge_profiles(below, frame.object, add)
    if frame.array is not None:
        below = _merge_profiles(below, frame.array, max)
    if below is None:
        return frame.result
    # One check to look up the schema of a child.
    below.per_value[-1] += 1.0
    below.per_value.append(0.0)
    below.per_character.append(0.0)
    return _merge_profiles(frame.result, below, add)


def _merge_profiles(one: CostProfile | None, other: CostProfile, merge: Callable[[float, float], float]) -> CostProfile:
    """Merge the rates of the shorter profile into the longer one, in place, and return it."""
    if one is None:
        return other
    long, short = (one, other) if len(one.per_value) >= len(other.per_value) else (other, one)
    for into, rates in zip(long, short, strict=True):
        for index in range(1, len(rates) + 1):
            into[-index] = merge(into[-index], rates[-index])
    return long


def _count_enum_checks(options: list[Any]) -> float:
    """Return the checks to compare a value with these options; only strings or only integers are a single lookup."""
    kinds = {type(option) for option in options} - {type(None)}
    return 1.0 if kinds <= {str} or kinds <= {int} else sum(map(_count_compare_checks, options))


def _count_compare_checks(value: Any) -> float:
    """Return the checks to compare a value with this one."""
    total, todo = 0.0, [value]
    while todo:
        item = todo.pop()
        total += 1.0 if isinstance(item, str) else _DECIMAL_CHECKS if isinstance(item, float) else _COMPARE_CHECKS
        todo += item.values() if isinstance(item, Mapping) else item if isinstance(item, list) else ()
    return total


# The limit for one value. With the slowest schemas and values it takes 0.25 s.
MAX_CHECKS = 2_000_000


class TooCostly(ValueError):
    """Validating the value would take more than MAX_CHECKS checks."""

    def __init__(self) -> None:
        super().__init__(
            f"validation would take more than {MAX_CHECKS:,} checks, which is values times the schemas that apply to "
            "each; send fewer or shorter values, or make the unions and patterns of the schema smaller"
        )


class SchemaCost(NamedTuple):
    """The cost of a schema: checks per value and per character at each depth, and at most per byte of JSON."""

    by_depth: tuple[tuple[float, float], ...]
    # The rate at every depth beyond `by_depth`.
    deeper: tuple[float, float]
    per_byte: float

    def check(self, value: Any) -> None:
        """Raise TooCostly if validating the value takes too many checks."""
        total = 0.0
        level: list[Any] = [value]
        depth = 0
        while level:
            values, characters, below = _measure_level(level)
            per_value, per_character = self.by_depth[depth] if depth < len(self.by_depth) else self.deeper
            total += values * per_value + (characters * per_character if characters else 0.0)
            if total > MAX_CHECKS:
                raise TooCostly
            level, depth = below, depth + 1


def compute_cost(document: SchemaDocument, node: Any) -> SchemaCost:
    """Return the cost of a schema of the document."""
    expansion = SchemaExpansion(document)
    expanded = _expand_rates(expansion, node)
    if expanded is None:
        rates = expansion.rates(node)
        ends = bool(rates) and rates[-1] == (0.0, 0.0)
        deeper = (0.0, 0.0) if ends else (math.inf, math.inf)
    else:
        rates, deeper = expanded
        if deeper != (0.0, 0.0):
            # Both are upper bounds, so the smaller one is used.
            least = expansion.rates(node)
            rates += [deeper] * (len(least) - len(rates))
            rates[: len(least)] = [(min(a, c), min(b, d)) for (a, b), (c, d) in zip(rates, least, strict=False)]
    return SchemaCost(tuple(rates), deeper, max(map(sum, (*rates, deeper))))


def _expand_rates(
    expansion: SchemaExpansion, node: Any
) -> tuple[list[tuple[float, float]], tuple[float, float]] | None:
    """Return the rates by depth and what recursion adds at every depth; None if there are too many schemas."""
    try:
        root = expansion.profile(node)
        recursive = list(expansion.recursive_targets())
    except TooManySchemas:
        return None
    value = sum(sum(target.per_value) for target in recursive)
    character = sum(sum(target.per_character) for target in recursive)
    # Profiles are stored deepest first.
    pairs = zip(reversed(root.per_value), reversed(root.per_character), strict=True)
    return [(own + value, text + character) for own, text in pairs], (value, character)


def _measure_level(level: list[Any]) -> tuple[int, int, list[Any]]:
    """Return how many values and characters are on this level, keys included, and the values on the next level."""
    characters = 0
    below: list[Any] = []
    for value in level:
        if isinstance(value, str):
            characters += len(value)
        elif isinstance(value, Mapping):
            characters += sum(map(len, value))
            below += value.values()
        elif isinstance(value, list | tuple):
            below += value
    return len(level), characters, below
