"""A walk through a schema and a value side by side, to every fault of the value.

The validator says quickly whether a value fits. Asking it for every fault may take time exponential in the value's
depth where a schema refers to itself, so the schema is walked here instead, with a bound on the steps and on the CPU
time; what was found until then is reported. Single keywords, and whether a part fits, are decided by the validator.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from pegboard.core.errors import FieldProblem
from pegboard.registry.schemas import Parts, Validator, compile_validator
from pegboard.registry.shown import cut, field_of
from pegboard.registry.subschemas import DRAFT_7, DRAFT_2020, Document, Path, pointer_to
from pegboard.registry.unions import distance, is_near, tag_of
from pegboard.registry.wording import Words, expected_of, missing, problem_of, unrecognized, words_for

MAX_PROBLEMS = 50
MAX_STEPS = 20_000
MAX_UNIONS = 6
# CPU time of this thread: a busy machine does not make the messages shorter.
MAX_SECONDS = 0.1

_ASSERTIONS = frozenset(
    {
        "type", "enum", "const", "multipleOf", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum",
        "minLength", "maxLength", "pattern", "format", "minItems", "maxItems", "uniqueItems", "minProperties",
        "maxProperties", "contentEncoding", "contentMediaType",
    }
)  # fmt: skip
# Where one of these fails, nothing else about the value is worth saying.
_LEADING = ("const", "enum", "type")


class Fault(NamedTuple):
    """A problem with the path to it, by which problems are put in order."""

    path: Path
    problem: FieldProblem

    @property
    def order(self) -> tuple[bool, list[tuple[bool, int, str]]]:
        """Missing fields come first, in the order the schema asks for them; the rest by path."""
        if self.problem.code == "missing":
            return False, []
        return True, [(False, step, "") if isinstance(step, int) else (True, 0, step) for step in self.path]


class Place(NamedTuple):
    """A schema, by pointer too, and the value it applies to."""

    node: Any
    value: Any
    path: Path = ()
    pointer: str = "#"

    def under(self, *steps: str | int) -> str:
        """The pointer to what the schema holds there."""
        return self.pointer + pointer_to(steps)[1:]

    def same(self, *steps: str | int, node: Any) -> Place:
        """The same value under another schema, which this one holds there."""
        return Place(node, self.value, self.path, self.under(*steps))


class _OutOfTime(Exception):
    pass


class Walk:
    """One walk; it ends after a set number of steps or a set time, whatever the schema and the value."""

    def __init__(self, document: Document, subject: str) -> None:
        self._document = document
        self._subject = subject
        self._parts = Parts(document)
        self._steps = MAX_STEPS
        self._unions = 0
        self._end = time.thread_time() + MAX_SECONDS
        self._asserting: dict[int, tuple[Any, Validator | None]] = {}

    def faults(self, node: Any, value: Any, path: Path = (), pointer: str = "#") -> list[Fault]:
        """The faults of the value in order, each once."""
        found: dict[FieldProblem, Fault] = {}
        seen: set[tuple[int, Path]] = set()
        todo = [Place(node, value, path, pointer)]
        while todo and self._steps > 0 and len(found) < MAX_PROBLEMS:
            self._steps -= 1
            if time.thread_time() > self._end:
                break
            place = todo.pop()
            if (id(place.node), place.path) in seen:
                continue
            seen.add((id(place.node), place.path))
            further: list[Place] = []
            try:
                for item in self._look(place):
                    if isinstance(item, Place):
                        further.append(item)
                    else:
                        found.setdefault(item.problem, item)
            except _OutOfTime:
                break
            todo += reversed(further)
        return sorted(list(found.values())[:MAX_PROBLEMS], key=lambda fault: fault.order)

    def _look(self, place: Place) -> Iterator[Fault | Place]:
        """What is wrong right here, and where else to look."""
        node = place.node
        if node is False:
            yield self._fault(place, Words("custom", "is not allowed here", "nothing", shows=False))
        if not isinstance(node, Mapping):
            return
        for _, reference in self._document.references(node):
            yield Place(self._document.resolve(reference), place.value, place.path, self._document.pointer(reference))
        if self._document.overrides(node):
            return
        broken = self._broken(place)
        for keyword, limit in broken.items():
            yield self._fault(place, words_for(keyword, limit, node, place.value))
        if any(word in broken for word in _LEADING):
            return
        if isinstance(place.value, dict):
            yield from self._in_object(place)
        elif isinstance(place.value, list | tuple):
            yield from self._in_array(place)
        yield from self._in_place(place)

    def _fits(self, pointer: str, value: Any) -> bool:
        if time.thread_time() > self._end:
            raise _OutOfTime
        return self._parts.is_valid(pointer, value)

    def _broken(self, place: Place) -> dict[str, Any]:
        """The keywords that the value breaks, each with what it asks for; only one where that says it all."""
        node = place.node
        if id(node) not in self._asserting:
            asserted = {word: asked for word, asked in node.items() if word in _ASSERTIONS}
            dialect = DRAFT_2020 if self._document.is_2020 else DRAFT_7
            self._asserting[id(node)] = (
                node,  # kept, so that its id stays its own
                compile_validator({**asserted, "$schema": dialect}) if asserted else None,
            )
        validator = self._asserting[id(node)][1]
        if validator is None:
            return {}
        broken = {error.kind.name: error.kind.value for error in validator.iter_errors(place.value)}
        return next(({word: broken[word]} for word in _LEADING if word in broken), broken)

    def _in_object(self, place: Place) -> Iterator[Fault | Place]:
        node, value, path = place.node, place.value, place.path
        properties, patterns = node.get("properties", {}), node.get("patternProperties", {})
        for name in node.get("required", ()):
            if name not in value:
                yield Fault((*path, name), missing((*path, name), self._meant(properties.get(name, True))))
        for name, part in properties.items():
            if name in value:
                yield Place(part, value[name], (*path, name), place.under("properties", name))
        extra = set(value).difference(properties)
        for pattern, part in patterns.items():
            matching = list(filter(compile_validator({"pattern": pattern}).is_valid, value))
            extra.difference_update(matching)
            yield from self._each(
                place, ("patternProperties", pattern), part, ((name, value[name]) for name in matching)
            )
        if node.get("additionalProperties") is False:
            yield from self._unknown(place, extra, properties)
        elif "additionalProperties" in node:
            rest = ((name, value[name]) for name in value if name in extra)
            yield from self._each(place, ("additionalProperties",), node["additionalProperties"], rest)
        if self._document.is_2020 and node.get("unevaluatedProperties") is False:
            known = self._document.declared(node)[0]
            yield from self._unknown(place, set(value) - known, known)
        if "propertyNames" in node:
            asked = expected_of(self._meant(node["propertyNames"]))
            for name in value:
                if not self._fits(place.under("propertyNames"), name):
                    says = f"must not have the key '{cut(name)}'; a key must be: {asked}"
                    yield self._fault(place, Words("custom", says, asked, shows=False))
        yield from self._dependent(place)

    def _dependent(self, place: Place) -> Iterator[Fault | Place]:
        value, path = place.value, place.path
        words = ("dependentRequired", "dependentSchemas") if self._document.is_2020 else ("dependencies",)
        for word in words:
            for name, asked in place.node.get(word, {}).items():
                if name in value and isinstance(asked, list):
                    absent = [(*path, other) for other in asked if other not in value]
                    yield from (Fault(other, missing(other)) for other in absent)
                elif name in value:
                    yield place.same(word, name, node=asked)

    def _in_array(self, place: Place) -> Iterator[Fault | Place]:
        node, value = place.node, place.value
        if self._document.is_2020:
            first_word, rest_word = "prefixItems", "items"
        else:
            first_word, rest_word = "items", "additionalItems" if isinstance(node.get("items"), list) else "items"
        first = node.get(first_word, []) if first_word != rest_word else []
        for index, part in enumerate(first[: len(value)]):
            yield Place(part, value[index], (*place.path, index), place.under(first_word, index))
        if rest_word in node:
            yield from self._each(place, (rest_word,), node[rest_word], list(enumerate(value))[len(first) :])
        if "contains" in node:
            yield from self._contained(place)

    def _contained(self, place: Place) -> Iterator[Fault]:
        node, pointer = place.node, place.under("contains")
        fitting = sum(self._fits(pointer, item) for item in place.value)
        least = node.get("minContains", 1) if self._document.is_2020 else 1
        most = node.get("maxContains", fitting) if self._document.is_2020 else fitting
        if not least <= fitting <= most:
            count = f"at least {least}" if fitting < least else f"at most {most}"
            asked = f"{count} of: {expected_of(self._meant(node['contains']))}"
            yield self._fault(
                place, Words("custom", f"must contain {asked}, but received {fitting}", asked, shows=False)
            )

    def _each(self, place: Place, steps: Path, node: Any, entries: Iterable[tuple[str | int, Any]]) -> Iterator[Place]:
        """The entries that do not fit the one schema they share; those that do are passed over quickly."""
        pointer, left = place.under(*steps), MAX_PROBLEMS
        for key, item in entries:
            if not self._fits(pointer, item):
                yield Place(node, item, (*place.path, key), pointer)
                left -= 1
                if left == 0:
                    return

    def _in_place(self, place: Place) -> Iterator[Fault | Place]:
        node = place.node
        for index, part in enumerate(node.get("allOf", ())):
            yield place.same("allOf", index, node=part)
        for word in ("anyOf", "oneOf"):
            if word in node:
                yield from self._in_union(place, word)
        if "not" in node and self._fits(place.under("not"), place.value):
            asked = expected_of(self._meant(node["not"]))
            yield self._fault(place, Words("custom", f"must not be: {asked}", f"not: {asked}"))
        if "if" in node:
            word = "then" if self._fits(place.under("if"), place.value) else "else"
            if word in node:
                yield place.same(word, node=node[word])

    def _in_union(self, place: Place, word: str) -> Iterator[Fault | Place]:
        branches = [place.same(word, index, node=part) for index, part in enumerate(place.node[word])]
        fitting = sum(self._fits(branch.pointer, place.value) for branch in branches)
        if fitting == 1 or (fitting and word == "anyOf"):
            return
        forms = [self._meant_place(branch) for branch in branches]
        asked = " or ".join(dict.fromkeys(expected_of(form.node) for form in forms[:10]))
        if fitting:
            says = f"must fit exactly one of {len(forms)} forms, but fits {fitting}"
            yield self._fault(place, Words("invalid_union", says, asked, shows=False))
            return
        others = [form for form in forms if form.node != {"type": "null"}]
        if len(others) == 1 < len(forms):  # a value that may also be null is hardly a union
            node = others[0].node
            kind = node.get("type") if isinstance(node, Mapping) else None
            yield others[0]._replace(node={**node, "type": [kind, "null"]} if isinstance(kind, str) else node)
            return
        near = [form for form in others if is_near(form.node, place.value)]
        tag = tag_of([form.node for form in near], place.value, self._meant)
        if tag is None:
            yield self._nearest(place, near, len(forms), asked)
        elif tag.chosen:
            yield near[tag.chosen[0]]
        else:
            told = Place({"enum": tag.options}, place.value[tag.name], (*place.path, tag.name))
            yield self._fault(told, words_for("enum", tag.options, told.node, told.value))

    def _nearest(self, place: Place, near: list[Place], forms: int, asked: str) -> Fault:
        inner: list[Fault] = []
        if near and self._unions < MAX_UNIONS:
            self._unions += 1
            inner = self.faults(*min(near, key=lambda form: distance(form.node, place.value, self._meant)))
            self._unions -= 1
        if not inner:
            return self._fault(place, Words("invalid_union", f"must be: {asked}", asked))
        problem = inner[0].problem
        reason = f"missing '{problem.field}'" if problem.code == "missing" else problem.message
        expected = problem.expected if problem.field == field_of(place.path) else asked
        says = f"must fit one of {forms} forms; nearest: {reason.rpartition('; nearest: ')[2]}"
        return self._fault(place, Words("invalid_union", says, expected, shows=False))

    def _unknown(self, place: Place, names: set[str], known: Iterable[str]) -> Iterator[Fault]:
        ordered = sorted(names)[:MAX_PROBLEMS]
        problems = unrecognized(ordered, known, place.path)
        yield from (Fault((*place.path, name), problem) for name, problem in zip(ordered, problems, strict=True))

    def _fault(self, place: Place, words: Words) -> Fault:
        return Fault(place.path, problem_of(words, place.path, place.value, place.node, subject=self._subject))

    def _meant(self, node: Any) -> Any:
        return self._meant_place(Place(node, None)).node

    def _meant_place(self, place: Place) -> Place:
        """The place that a chain of references, if the schema is no more than one, ends at."""
        for _ in range(16):
            node = place.node
            if not isinstance(node, Mapping) or not isinstance(node.get("$ref"), str) or "type" in node:
                break
            target = self._document.resolve(node["$ref"])
            if target is None:
                break
            place = place._replace(node=target, pointer=self._document.pointer(node["$ref"]))
        return place
