"""Explain why arguments do not fit their schema: one problem per fault, worded so that a model can correct it.

The validator decides quickly whether a value is valid. Listing every error with it can take time exponential in the
depth of the value if a schema refers to itself. So the schema and the value are walked together here, with a limit on
steps and CPU time; the faults found until then are reported. Single keywords, and whether a part is valid, are decided
by the validator. For a union, the branch that was most likely intended is explained.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from pegboard.json_schema.compile import BoundedValidator, CompiledParts, Validator, compile_validator
from pegboard.json_schema.problem_text import (
    ProblemWording,
    build_missing_problem,
    build_problem,
    build_unrecognized_problems,
    describe_expected,
    get_wording,
)
from pegboard.json_schema.schema_document import DRAFT_7, DRAFT_2020, Path, SchemaDocument, make_pointer
from pegboard.json_schema.value_text import format_field_path, shorten
from pegboard.model.call_errors import FieldProblem, Ignored, InvalidArguments


def has_allowed_type(node: Any, value: Any) -> bool:
    """Return True if the value has a type that the schema allows."""
    if not isinstance(node, Mapping):
        return False
    kinds = node.get("type")
    if kinds is None:
        return True
    return not _list_json_types(value).isdisjoint(kinds if isinstance(kinds, list) else [kinds])


def measure_distance(node: Any, value: Any, resolve: Callable[[Any], Any]) -> tuple[int, int, int]:
    """Return how far the value is from this branch, smaller is nearer.

    The parts are the number of differing constants, of missing required fields, and of shared fields (negative).
    """
    if not isinstance(node, Mapping) or not isinstance(value, dict):
        return (0, 0, 0)
    shared = [(name, resolve(part)) for name, part in node.get("properties", {}).items() if name in value]
    different = sum(not _matches_constant(part, value[name]) for name, part in shared)
    absent = sum(name not in value for name in node.get("required", ()))
    return (different, absent, -len(shared))


class UnionTag(NamedTuple):
    """The field that discriminates the branches of a union, its allowed values, and the selected branches."""

    name: str
    options: list[Any]
    chosen: list[int]


def find_tag(nodes: Sequence[Any], value: Any, resolve: Callable[[Any], Any]) -> UnionTag | None:
    """Return the field with a constant in every branch, if the value has it and selects at most one branch."""
    if not isinstance(value, dict) or len(nodes) < 2:
        return None
    for name in nodes[0].get("properties", {}):
        parts = _list_constants(name, nodes, resolve) if name in value else []
        if parts:
            chosen = [index for index, part in enumerate(parts) if _matches_constant(part, value[name])]
            options = [option for part in parts for option in part.get("enum", [part.get("const")])]
            if len(chosen) <= 1:
                return UnionTag(name, options, chosen)
    return None


def _list_constants(name: str, nodes: Sequence[Any], resolve: Callable[[Any], Any]) -> list[Mapping[str, Any]]:
    """Return each branch's schema of the field, or an empty list if a branch does not limit the field to constants."""
    parts: list[Mapping[str, Any]] = []
    for node in nodes:
        part = resolve(node.get("properties", {}).get(name))
        if not isinstance(part, Mapping) or not ("const" in part or "enum" in part):
            return []
        parts.append(part)
    return parts


def _matches_constant(part: Any, value: Any) -> bool:
    if isinstance(part, Mapping) and "const" in part:
        return bool(part["const"] == value)
    return not isinstance(part, Mapping) or "enum" not in part or value in part["enum"]


def _list_json_types(value: Any) -> set[str]:
    if isinstance(value, bool):
        return {"boolean"}
    if isinstance(value, int | float):
        return {"number", "integer"} if float(value).is_integer() else {"number"}
    kinds = ((str, "string"), (dict, "object"), ((list, tuple), "array"), (type(None), "null"))
    return {name for kind, name in kinds if isinstance(value, kind)}


MAX_PROBLEMS = 50
MAX_STEPS = 20_000
MAX_UNIONS = 6
# CPU time of this thread, so that messages do not get shorter on a busy machine.
MAX_SECONDS = 0.1

_ASSERTION_KEYWORDS = frozenset(
    {
        "type", "enum", "const", "multipleOf", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum",
        "minLength", "maxLength", "pattern", "format", "minItems", "maxItems", "uniqueItems", "minProperties",
        "maxProperties", "contentEncoding", "contentMediaType",
    }
)  # fmt: skip
# If one of these fails, other faults of the value are not reported.
_LEADING_KEYWORDS = ("const", "enum", "type")


class LocatedProblem(NamedTuple):
    """A problem and its path, by which problems are sorted."""

    path: Path
    problem: FieldProblem

    @property
    def order(self) -> tuple[bool, list[tuple[bool, int, str]]]:
        """The sort key: missing fields first, in the order of the schema; the others by path."""
        if self.problem.code == "missing":
            return False, []
        return True, [(False, step, "") if isinstance(step, int) else (True, 0, step) for step in self.path]


class SchemaLocation(NamedTuple):
    """A schema with its pointer, and the value that it applies to."""

    node: Any
    value: Any
    path: Path = ()
    pointer: str = "#"

    def under(self, *steps: str | int) -> str:
        """Return the pointer to this part of the schema."""
        return self.pointer + make_pointer(steps)[1:]

    def same(self, *steps: str | int, node: Any) -> SchemaLocation:
        """Return the same value with the subschema at these steps."""
        return SchemaLocation(node, self.value, self.path, self.under(*steps))


class _WalkTimeout(Exception):
    pass


class SchemaWalk:
    """One walk, limited to MAX_STEPS steps and MAX_SECONDS of CPU time."""

    def __init__(self, document: SchemaDocument, subject: str) -> None:
        self._document = document
        self._subject = subject
        self._parts = CompiledParts(document)
        self._steps = MAX_STEPS
        self._unions = 0
        self._end = time.thread_time() + MAX_SECONDS
        self._asserting: dict[int, tuple[Any, Validator | None]] = {}

    def faults(self, node: Any, value: Any, path: Path = (), pointer: str = "#") -> list[LocatedProblem]:
        """Return the faults of the value, sorted and without duplicates."""
        found: dict[FieldProblem, LocatedProblem] = {}
        seen: set[tuple[int, Path]] = set()
        todo = [SchemaLocation(node, value, path, pointer)]
        while todo and self._steps > 0 and len(found) < MAX_PROBLEMS:
            self._steps -= 1
            if time.thread_time() > self._end:
                break
            place = todo.pop()
            if (id(place.node), place.path) in seen:
                continue
            seen.add((id(place.node), place.path))
            further: list[SchemaLocation] = []
            try:
                for item in self._look(place):
                    if isinstance(item, SchemaLocation):
                        further.append(item)
                    else:
                        found.setdefault(item.problem, item)
            except _WalkTimeout:
                break
            todo += reversed(further)
        return sorted(list(found.values())[:MAX_PROBLEMS], key=lambda fault: fault.order)

    def _look(self, place: SchemaLocation) -> Iterator[LocatedProblem | SchemaLocation]:
        """Yield the faults at this location, and the locations to visit next."""
        node = place.node
        if node is False:
            yield self._fault(place, ProblemWording("custom", "is not allowed here", "nothing", shows=False))
        if not isinstance(node, Mapping):
            return
        for _, reference in self._document.references(node):
            yield SchemaLocation(
                self._document.resolve(reference), place.value, place.path, self._document.pointer(reference)
            )
        if self._document.has_overriding_reference(node):
            return
        broken = self._find_broken_keywords(place)
        for keyword, limit in broken.items():
            yield self._fault(place, get_wording(keyword, limit, node, place.value))
        if any(word in broken for word in _LEADING_KEYWORDS):
            return
        if isinstance(place.value, dict):
            yield from self._check_object(place)
        elif isinstance(place.value, list | tuple):
            yield from self._check_array(place)
        yield from self._in_place(place)

    def _is_valid_at(self, pointer: str, value: Any) -> bool:
        if time.thread_time() > self._end:
            raise _WalkTimeout
        return self._parts.is_valid(pointer, value)

    def _find_broken_keywords(self, place: SchemaLocation) -> dict[str, Any]:
        """Return the keywords that the value violates, with their limits; only the leading keyword if there is one."""
        node = place.node
        if id(node) not in self._asserting:
            asserted = {word: asked for word, asked in node.items() if word in _ASSERTION_KEYWORDS}
            dialect = DRAFT_2020 if self._document.is_2020 else DRAFT_7
            self._asserting[id(node)] = (
                node,  # keep a reference, so that the id is not reused
                compile_validator({**asserted, "$schema": dialect}) if asserted else None,
            )
        validator = self._asserting[id(node)][1]
        if validator is None:
            return {}
        broken = {error.kind.name: error.kind.value for error in validator.iter_errors(place.value)}
        return next(({word: broken[word]} for word in _LEADING_KEYWORDS if word in broken), broken)

    def _check_object(self, place: SchemaLocation) -> Iterator[LocatedProblem | SchemaLocation]:
        node, value, path = place.node, place.value, place.path
        properties, patterns = node.get("properties", {}), node.get("patternProperties", {})
        for name in node.get("required", ()):
            if name not in value:
                yield LocatedProblem(
                    (*path, name), build_missing_problem((*path, name), self._resolve_node(properties.get(name, True)))
                )
        for name, part in properties.items():
            if name in value:
                yield SchemaLocation(part, value[name], (*path, name), place.under("properties", name))
        extra = set(value).difference(properties)
        for pattern, part in patterns.items():
            matching = list(filter(compile_validator({"pattern": pattern}).is_valid, value))
            extra.difference_update(matching)
            yield from self._each(
                place, ("patternProperties", pattern), part, ((name, value[name]) for name in matching)
            )
        if node.get("additionalProperties") is False:
            yield from self._explain_unknown(place, extra, properties)
        elif "additionalProperties" in node:
            rest = ((name, value[name]) for name in value if name in extra)
            yield from self._each(place, ("additionalProperties",), node["additionalProperties"], rest)
        if self._document.is_2020 and node.get("unevaluatedProperties") is False:
            known = self._document.list_declared_names(node)[0]
            yield from self._explain_unknown(place, set(value) - known, known)
        if "propertyNames" in node:
            asked = describe_expected(self._resolve_node(node["propertyNames"]))
            for name in value:
                if not self._is_valid_at(place.under("propertyNames"), name):
                    text = f"must not have the key '{shorten(name)}'; a key must be: {asked}"
                    yield self._fault(place, ProblemWording("custom", text, asked, shows=False))
        yield from self._check_dependent(place)

    def _check_dependent(self, place: SchemaLocation) -> Iterator[LocatedProblem | SchemaLocation]:
        value, path = place.value, place.path
        words = ("dependentRequired", "dependentSchemas") if self._document.is_2020 else ("dependencies",)
        for word in words:
            for name, asked in place.node.get(word, {}).items():
                if name in value and isinstance(asked, list):
                    absent = [(*path, other) for other in asked if other not in value]
                    yield from (LocatedProblem(other, build_missing_problem(other)) for other in absent)
                elif name in value:
                    yield place.same(word, name, node=asked)

    def _check_array(self, place: SchemaLocation) -> Iterator[LocatedProblem | SchemaLocation]:
        node, value = place.node, place.value
        if self._document.is_2020:
            first_word, rest_word = "prefixItems", "items"
        else:
            first_word, rest_word = "items", "additionalItems" if isinstance(node.get("items"), list) else "items"
        first = node.get(first_word, []) if first_word != rest_word else []
        for index, part in enumerate(first[: len(value)]):
            yield SchemaLocation(part, value[index], (*place.path, index), place.under(first_word, index))
        if rest_word in node:
            yield from self._each(place, (rest_word,), node[rest_word], list(enumerate(value))[len(first) :])
        if "contains" in node:
            yield from self._check_contains(place)

    def _check_contains(self, place: SchemaLocation) -> Iterator[LocatedProblem]:
        node, pointer = place.node, place.under("contains")
        fitting = sum(self._is_valid_at(pointer, item) for item in place.value)
        least = node.get("minContains", 1) if self._document.is_2020 else 1
        most = node.get("maxContains", fitting) if self._document.is_2020 else fitting
        if not least <= fitting <= most:
            count = f"at least {least}" if fitting < least else f"at most {most}"
            asked = f"{count} of: {describe_expected(self._resolve_node(node['contains']))}"
            yield self._fault(
                place, ProblemWording("custom", f"must contain {asked}, but received {fitting}", asked, shows=False)
            )

    def _each(
        self, place: SchemaLocation, steps: Path, node: Any, entries: Iterable[tuple[str | int, Any]]
    ) -> Iterator[SchemaLocation]:
        """Yield the entries that do not fit their common schema, at most MAX_PROBLEMS; valid entries cost one check."""
        pointer, left = place.under(*steps), MAX_PROBLEMS
        for key, item in entries:
            if not self._is_valid_at(pointer, item):
                yield SchemaLocation(node, item, (*place.path, key), pointer)
                left -= 1
                if left == 0:
                    return

    def _in_place(self, place: SchemaLocation) -> Iterator[LocatedProblem | SchemaLocation]:
        node = place.node
        for index, part in enumerate(node.get("allOf", ())):
            yield place.same("allOf", index, node=part)
        for word in ("anyOf", "oneOf"):
            if word in node:
                yield from self._check_union(place, word)
        if "not" in node and self._is_valid_at(place.under("not"), place.value):
            asked = describe_expected(self._resolve_node(node["not"]))
            yield self._fault(place, ProblemWording("custom", f"must not be: {asked}", f"not: {asked}"))
        if "if" in node:
            word = "then" if self._is_valid_at(place.under("if"), place.value) else "else"
            if word in node:
                yield place.same(word, node=node[word])

    def _check_union(self, place: SchemaLocation, word: str) -> Iterator[LocatedProblem | SchemaLocation]:
        branches = [place.same(word, index, node=part) for index, part in enumerate(place.node[word])]
        fitting = sum(self._is_valid_at(branch.pointer, place.value) for branch in branches)
        if fitting == 1 or (fitting and word == "anyOf"):
            return
        forms = [self._resolve_location(branch) for branch in branches]
        asked = " or ".join(dict.fromkeys(describe_expected(form.node) for form in forms[:10]))
        if fitting:
            text = f"must fit exactly one of {len(forms)} forms, but fits {fitting}"
            yield self._fault(place, ProblemWording("invalid_union", text, asked, shows=False))
            return
        others = [form for form in forms if form.node != {"type": "null"}]
        if len(others) == 1 < len(forms):  # a value that may also be null is not treated as a union
            node = others[0].node
            kind = node.get("type") if isinstance(node, Mapping) else None
            yield others[0]._replace(node={**node, "type": [kind, "null"]} if isinstance(kind, str) else node)
            return
        near = [form for form in others if has_allowed_type(form.node, place.value)]
        tag = find_tag([form.node for form in near], place.value, self._resolve_node)
        if tag is None:
            yield self._explain_nearest(place, near, len(forms), asked)
        elif tag.chosen:
            yield near[tag.chosen[0]]
        else:
            at_tag = SchemaLocation({"enum": tag.options}, place.value[tag.name], (*place.path, tag.name))
            yield self._fault(at_tag, get_wording("enum", tag.options, at_tag.node, at_tag.value))

    def _explain_nearest(
        self, place: SchemaLocation, near: list[SchemaLocation], forms: int, asked: str
    ) -> LocatedProblem:
        inner: list[LocatedProblem] = []
        if near and self._unions < MAX_UNIONS:
            self._unions += 1
            inner = self.faults(
                *min(near, key=lambda form: measure_distance(form.node, place.value, self._resolve_node))
            )
            self._unions -= 1
        if not inner:
            return self._fault(place, ProblemWording("invalid_union", f"must be: {asked}", asked))
        problem = inner[0].problem
        reason = f"missing '{problem.field}'" if problem.code == "missing" else problem.message
        expected = problem.expected if problem.field == format_field_path(place.path) else asked
        text = f"must fit one of {forms} forms; nearest: {reason.rpartition('; nearest: ')[2]}"
        return self._fault(place, ProblemWording("invalid_union", text, expected, shows=False))

    def _explain_unknown(
        self, place: SchemaLocation, names: set[str], known: Iterable[str]
    ) -> Iterator[LocatedProblem]:
        ordered = sorted(names)[:MAX_PROBLEMS]
        problems = build_unrecognized_problems(ordered, known, place.path)
        yield from (
            LocatedProblem((*place.path, name), problem) for name, problem in zip(ordered, problems, strict=True)
        )

    def _fault(self, place: SchemaLocation, words: ProblemWording) -> LocatedProblem:
        return LocatedProblem(
            place.path, build_problem(words, place.path, place.value, place.node, subject=self._subject)
        )

    def _resolve_node(self, node: Any) -> Any:
        return self._resolve_location(SchemaLocation(node, None)).node

    def _resolve_location(self, place: SchemaLocation) -> SchemaLocation:
        """Return the location at the end of a chain of references, if the schema is only a reference."""
        for _ in range(16):
            node = place.node
            if not isinstance(node, Mapping) or not isinstance(node.get("$ref"), str) or "type" in node:
                break
            target = self._document.resolve(node["$ref"])
            if target is None:
                break
            place = place._replace(node=target, pointer=self._document.pointer(node["$ref"]))
        return place


__all__ = ["MAX_PROBLEMS", "build_invalid_arguments", "list_problems"]

MAX_LISTED_PROBLEMS = 10


def list_problems(validator: BoundedValidator, arguments: Any, *, subject: str = "Arguments") -> list[FieldProblem]:
    """Return the problems of the arguments: missing fields first, then by path; empty if the arguments are valid."""
    try:
        found = SchemaWalk(SchemaDocument(validator.schema), subject).faults(validator.schema, arguments)
    except ValueError:  # the validator raises for values deeper than 255 levels, but only when it lists errors
        found = []
    if not found and not validator.is_valid(arguments):
        words = ProblemWording(
            "custom", "must fit the schema of this tool", "a value that fits the schema of this tool", shows=False
        )
        return [build_problem(words, (), arguments, subject=subject)]
    return [fault.problem for fault in found]


def build_invalid_arguments(problems: Sequence[FieldProblem], ignored: tuple[Ignored, ...] = ()) -> InvalidArguments:
    """Return the error for these problems; its message contains the first MAX_LISTED_PROBLEMS.

    If an ignored argument is spelt almost like a missing one, the message suggests the missing name.
    """
    problems = sorted(problems, key=lambda problem: problem.code != "missing")
    listed = problems[:MAX_LISTED_PROBLEMS]
    absent = [f"'{problem.field}'" for problem in listed if problem.code == "missing"]
    parts = [f"missing {', '.join(absent)}"] if absent else []
    parts += [problem.message for problem in listed if problem.code != "missing"]
    named = [item for item in ignored if f"'{item.did_you_mean}'" in absent]
    parts[1:1] = [f"received '{item.name}', did you mean '{item.did_you_mean}'?" for item in named]
    left = len(problems) - len(listed)
    more = f" (and {left} more)" if left else ""
    error = InvalidArguments(f"Invalid parameters: {'; '.join(parts)}{more}", problems=problems)
    error.ignored = ignored
    return error
