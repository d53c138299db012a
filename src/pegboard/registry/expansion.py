"""A schema expanded the way the validator runs it: every reference followed, up to the ones that recurse.

The validator applies the target of a reference once for each way that leads to it. Only a reference that leads back
into a schema that is being applied is remembered for each value, so it counts once for a value.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from pegboard.registry.patterns import Pattern, weigh
from pegboard.registry.subschemas import Document

# How many schemas are expanded from one, and how many are looked at over all depths.
MAX_EXPANDED = 10_000
MAX_RATES = 40_000

# Checks for one value, where a keyword takes much longer than the rest.
_FORMATS = {"date-time": 7.0, "email": 3.0, "idn-email": 3.0, "idn-hostname": 12.0}
_SLOW_TEXT = frozenset({"idn-hostname", "regex"})
_DECIMAL_STEP = 25.0
_COMPARED, _DECIMAL = 3.0, 14.0
_UNIQUE = 3.0
# Checks for one character.
_FORMAT_TEXT, _SLOW_FORMAT_TEXT, _CONTENT_TEXT, _UNIQUE_TEXT = 0.1, 0.4, 0.3, 0.02
# What `uniqueItems` hashes may be nested as deep as arguments are.
_DEEPEST = 64
_TOO_MUCH = 1e9


class TooManySchemas(Exception):
    """The references of a schema, followed, come to more schemas than MAX_EXPANDED."""


class Profile(NamedTuple):
    """Checks for one value and for one character of text at each depth, the deepest first."""

    per_value: list[float]
    per_character: list[float]


class _Frame:
    """A schema whose parts are being expanded."""

    __slots__ = ("array", "factor", "named", "object", "result", "slot", "target", "todo")

    def __init__(self, slot: str, factor: float, own: Profile, todo: Iterator[tuple[str, float, Any, bool]]) -> None:
        self.slot = slot
        self.factor = factor
        self.result = own
        # What applies to a child: of the named properties only one does, everything else may at once.
        self.named: Profile | None = None
        self.object: Profile | None = None
        self.array: Profile | None = None
        self.todo = todo
        self.target: int | None = None


class Expansion:
    """The expansion of one document."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._recursive: dict[int, Any] = {}
        self._left = MAX_EXPANDED
        self._in_place: dict[int, float] = {}
        self._patterns: dict[str, Pattern] = {}

    def profile(self, root: Any) -> Profile:
        """The profile of one schema; raises TooManySchemas."""
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
                    _add(frame, slot, factor, Profile([self._cost_in_place(node)], [0.0]))
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
            done = _closed(frame)
            if not stack:
                return done
            _add(stack[-1], frame.slot, frame.factor, done)

    def recursive_targets(self) -> Iterator[Profile]:
        """The profile of each schema that is applied again inside itself."""
        self._left = MAX_EXPANDED
        done: set[int] = set()
        while waiting := [node for key, node in self._recursive.items() if key not in done]:
            for node in waiting:
                done.add(id(node))
                yield self.profile(node)

    def rates(self, root: Any) -> list[tuple[float, float]]:
        """Checks for one value and one character at each depth, the first few dozen, if no reference were remembered.

        This is much for a recursive union, and little for objects that refer to each other in many ways, which
        `profile` cannot expand. It ends where nothing applies any more, or too much.
        """
        order = [(node, self._own(node), list(self._children(node))) for node in self._parts_first(root)]
        rates: dict[int, tuple[float, float]] = {}
        found: list[tuple[float, float]] = []
        for depth in range(max(8, min(_DEEPEST, MAX_RATES // len(order)))):
            above, rates = rates, {}
            for node, own, children in order:
                total, named = [_at(own.per_value, depth), _at(own.per_character, depth)], [0.0, 0.0]
                for slot, factor, child, _ in children:
                    rate = (rates if slot == "same" else above).get(id(child), (0.0, 0.0))
                    for index in (0, 1):
                        if slot == "named":
                            named[index] = max(named[index], rate[index])
                        else:
                            total[index] += factor * rate[index]
                rates[id(node)] = (total[0] + named[0], total[1] + named[1])
            if max(rates[id(root)]) > _TOO_MUCH:
                break
            found.append(rates[id(root)])
        return found

    def _parts_first(self, root: Any) -> list[Any]:
        """Every schema below the root, each after those that apply to the same value."""
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
                    todo += [(child, False) for _, child in self._document.in_place(node)]
        return found

    def _frame(self, slot: str, factor: float, node: Any) -> _Frame:
        self._left -= 1
        if self._left < 0:
            raise TooManySchemas
        return _Frame(slot, factor, self._own(node), self._children(node))

    def _children(self, node: Any) -> Iterator[tuple[str, float, Any, bool]]:
        """Each part as: where its profile goes, how often it is applied, the schema, whether by reference."""
        if not isinstance(node, Mapping):
            return
        # To know what was evaluated, the validator applies the parts a second time.
        again = 2.0 if "unevaluatedProperties" in node or "unevaluatedItems" in node else 1.0
        references = {word for word, _ in self._document.references(node)}
        for path, child in self._document.in_place(node):
            yield "same", again, child, path[0] in references
        for path, child in self._document.inside(node):
            word = path[0]
            if word in ("properties", "additionalProperties", "unevaluatedProperties"):
                yield "named", 1.0, child, False
            elif word in ("patternProperties", "propertyNames"):
                yield "object", 1.0, child, False
            elif word == "contains":
                yield "array", again, child, False
            else:
                yield "array", 1.0, child, False

    def _cost_in_place(self, node: Any) -> float:
        """What a scalar costs, for which a recursive reference is not remembered."""
        if id(node) not in self._in_place:
            total = 0.0
            todo = [(node, 1.0)]
            left = MAX_EXPANDED
            while todo and left:
                part, factor = todo.pop()
                left -= 1
                total += self._own(part).per_value[-1] * factor
                twice = isinstance(part, Mapping) and ("unevaluatedProperties" in part or "unevaluatedItems" in part)
                todo += [(child, factor * (2 if twice else 1)) for _, child in self._document.in_place(part)]
            self._in_place[id(node)] = total
        return self._in_place[id(node)]

    def _own(self, node: Any) -> Profile:
        """What the schema itself takes, without its parts."""
        if not isinstance(node, Mapping):
            return Profile([1.0], [0.0])
        value, character = 1.0, 0.0
        for word in ("required", "dependencies", "dependentRequired"):
            held = node.get(word)
            if isinstance(held, list):
                value += len(held)
            elif isinstance(held, Mapping):
                value += sum(1 + (len(names) if isinstance(names, list) else 0) for names in held.values())
        if "const" in node:
            value += _compared(node["const"])
        if isinstance(node.get("enum"), list):
            value += _listed(node["enum"])
        if isinstance(node.get("multipleOf"), float):
            value += _DECIMAL_STEP
        if isinstance(name := node.get("format"), str):
            value += _FORMATS.get(name, 1.0)
            character += _SLOW_FORMAT_TEXT if name in _SLOW_TEXT else _FORMAT_TEXT
        if "contentEncoding" in node or "contentMediaType" in node:
            value += _COMPARED
            character += _CONTENT_TEXT
        if isinstance(pattern := node.get("pattern"), str):
            character += self._weighed(pattern)
        patterns = node.get("patternProperties")
        if isinstance(patterns, Mapping):
            character += sum(self._weighed(pattern) for pattern in patterns)
        if node.get("uniqueItems") is True:
            return Profile([_UNIQUE] * _DEEPEST + [value], [_UNIQUE_TEXT] * _DEEPEST + [character])
        return Profile([value], [character])

    def _weighed(self, pattern: str) -> float:
        if pattern not in self._patterns:
            self._patterns[pattern] = weigh(pattern)
        return self._patterns[pattern].per_character


def _at(rates: list[float], depth: int) -> float:
    """The rate at a depth of a profile, which is kept deepest first."""
    return rates[-1 - depth] if depth < len(rates) else 0.0


def _add(frame: _Frame, slot: str, factor: float, profile: Profile) -> None:
    if factor != 1.0:
        profile = Profile(
            [rate * factor for rate in profile.per_value], [rate * factor for rate in profile.per_character]
        )
    if slot == "same":
        frame.result = _sum(frame.result, profile)
    elif slot == "named":
        frame.named = profile if frame.named is None else _largest(frame.named, profile)
    elif slot == "object":
        frame.object = profile if frame.object is None else _sum(frame.object, profile)
    else:
        frame.array = profile if frame.array is None else _sum(frame.array, profile)


def _closed(frame: _Frame) -> Profile:
    """The profile of the whole frame, the children's one depth below its own."""
    below = frame.named
    if frame.object is not None:
        below = frame.object if below is None else _sum(below, frame.object)
    if frame.array is not None:
        below = frame.array if below is None else _largest(below, frame.array)
    if below is None:
        return frame.result
    # One check to find the schema of a child.
    below.per_value[-1] += 1.0
    below.per_value.append(0.0)
    below.per_character.append(0.0)
    return _sum(frame.result, below)


def _sum(one: Profile, other: Profile) -> Profile:
    return _merged(one, other, largest=False)


def _largest(one: Profile, other: Profile) -> Profile:
    return _merged(one, other, largest=True)


def _merged(one: Profile, other: Profile, *, largest: bool) -> Profile:
    """Both profiles in the longer one, which is changed: only as many depths as the shorter one has are touched."""
    long, short = (one, other) if len(one.per_value) >= len(other.per_value) else (other, one)
    for into, rates in zip(long, short, strict=True):
        for index in range(1, len(rates) + 1):
            into[-index] = max(into[-index], rates[-index]) if largest else into[-index] + rates[-index]
    return long


def _listed(options: list[Any]) -> float:
    """What it takes to compare a value with these: texts alone and integers alone are looked up."""
    kinds = {type(option) for option in options} - {type(None)}
    return 1.0 if kinds <= {str} or kinds <= {int} else sum(map(_compared, options))


def _compared(value: Any) -> float:
    """What it takes to compare a value with this one."""
    total, todo = 0.0, [value]
    while todo:
        item = todo.pop()
        total += 1.0 if isinstance(item, str) else _DECIMAL if isinstance(item, float) else _COMPARED
        todo += item.values() if isinstance(item, Mapping) else item if isinstance(item, list) else ()
    return total
