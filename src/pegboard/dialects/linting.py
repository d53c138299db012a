"""What a provider would refuse or misread in the definitions it is handed, and what they cost in tokens."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import orjson

from pegboard.core.tool import Tool
from pegboard.dialects.adapting import inlined, why_not_strict
from pegboard.dialects.adapting.wording import SAYABLE, said
from pegboard.dialects.base import Dialect
from pegboard.dialects.declared import Declared, declared_in, name_in
from pegboard.dialects.parts.defining import name_for
from pegboard.registry.subschemas import Document, Path

COUNTED = (
    "An estimate: the UTF-8 bytes of the declaration as compact JSON, divided by 4 and rounded up; "
    "a provider's own tokenizer counts differently"
)
_MANY_CHOICES = 100
_SHOWN = 5
_SCHEMA = "input_schema"
# What tells values apart, and is not merely another way of writing what providers have.
_TELLING = SAYABLE - {"default", "enum"} | {
    "not", "if", "dependencies", "dependentRequired", "dependentSchemas", "patternProperties", "propertyNames",
    "contains", "prefixItems", "additionalItems", "unevaluatedItems", "unevaluatedProperties",
}  # fmt: skip
_SAME = re.compile(r"[-_.\s]+")

Severity = Literal["refuse", "misread", "note"]


class Finding(NamedTuple):
    """One thing to know before a provider is handed a definition, with the way out."""

    severity: Severity
    field: str
    message: str


@dataclass(frozen=True, slots=True)
class Linted:
    """One tool's definition for a provider: its name there, about how many tokens, and what was found."""

    tool: str
    name: str
    tokens: int
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class LintedAll:
    """The definitions that a provider is handed together."""

    dialect: str
    tokens: int
    findings: tuple[Finding, ...]
    tools: tuple[Linted, ...]


def tokens(definition: Any) -> int:
    """About how many tokens a declaration costs: UTF-8 bytes of its compact JSON, or of its text, by 4, rounded up."""
    written = definition.encode("utf-8", "replace") if isinstance(definition, str) else orjson.dumps(definition)
    return -(-len(written) // 4)


def lint(tool: Tool, dialect: Dialect) -> Linted:
    """What the provider would refuse or misread in this tool's definition."""
    definition = dialect.define(tool)
    name = name_in(definition) or name_for(tool)
    findings = [
        *_named(tool, name, dialect),
        *_described(tool, dialect),
        *_parameters(tool),
        *_schema(tool, dialect, definition),
    ]
    order: tuple[Severity, ...] = ("refuse", "misread", "note")
    return Linted(tool.name, name, tokens(definition), tuple(sorted(findings, key=lambda it: order.index(it.severity))))


def lint_all(tools: Sequence[Tool], dialect: Dialect) -> LintedAll:
    """The same for tools that are handed over together."""
    findings = []
    most = dialect.limits.tools
    if most is not None and len(tools) > most:
        message = f"{len(tools)} tools, {dialect.name} takes {most}; put the ones that are needed on an agent"
        findings.append(Finding("refuse", "tools", message))
    linted = [lint(tool, dialect) for tool in tools]
    alike = _alike(each.name for each in linted)
    linted = [
        replace(each, findings=(*each.findings, _mistaken("name", each.name, alike[each.name])))
        if each.name in alike
        else each
        for each in linted
    ]
    return LintedAll(dialect.name, tokens(dialect.define_all(tools)), tuple(findings), tuple(linted))


def _named(tool: Tool, name: str, dialect: Dialect) -> Iterator[Finding]:
    fits = dialect.limits.name
    if fits is not None and not fits.fullmatch(name):
        yield Finding("refuse", "name", f"'{name}' does not match {fits.pattern}; give the tool another name")
    elif name != tool.name:
        yield Finding("note", "name", f"It is declared as '{name}', and calls by that name reach it")


def _described(tool: Tool, dialect: Dialect) -> Iterator[Finding]:
    told = tool.description or ""
    most = dialect.limits.description
    if not told.strip():
        message = "The model has nothing but the name to tell when to call it; describe what it does and when"
        yield Finding("misread", "description", message)
    elif most is not None and len(told) > most:
        yield Finding("refuse", "description", f"{len(told)} characters, {dialect.name} takes {most}; shorten it")


def _parameters(tool: Tool) -> Iterator[Finding]:
    """What any provider's model would misread."""
    silent = []
    for path, node in _own(tool):
        properties = node.get("properties")
        for name, others in _alike(properties).items() if isinstance(properties, Mapping) else ():
            yield _mistaken(_field((*path, "properties", name)), name, others)
        if len(path) > 1 and path[-2] == "properties" and not {"description", "title", "const", "$ref"} & node.keys():
            silent.append(str(path[-1]))
        if isinstance(choices := node.get("enum"), list) and len(choices) > _MANY_CHOICES:
            message = f"{len(choices)} choices, all of which are in every request; take a text and check it in the tool"
            yield Finding("note", _field((*path, "enum")), message)
    if silent:
        names = ", ".join(silent[:_SHOWN]) + ("…" if len(silent) > _SHOWN else "")
        yield Finding("note", f"{_SCHEMA}.properties", f"Without a description: {names}; say what to put there")


def _schema(tool: Tool, dialect: Dialect, definition: Any) -> Iterator[Finding]:
    limits = dialect.limits
    if not limits.has_schema:
        if tool.input_schema.get("properties"):
            message = "A declaration has no place for parameters; name them in the description"
            yield Finding("misread", _SCHEMA, message)
        return
    if limits.strict and (why := why_not_strict(tool.input_schema)) is not None:
        message = f"It is not declared strict, so the model is not held to the schema: {why}"
        yield Finding("note", _SCHEMA, message)
    declared = declared_in(definition)
    if declared is None:
        return
    if limits.depth is not None and declared.levels > limits.depth:
        message = f"{declared.levels} levels of objects, {dialect.name} takes {limits.depth}; flatten it"
        yield Finding("refuse", _SCHEMA, message)
    if limits.properties is not None and declared.properties > limits.properties:
        message = f"{declared.properties} properties, {dialect.name} takes {limits.properties}; take fewer"
        yield Finding("refuse", _SCHEMA, message)
    yield from _root(tool, dialect)
    yield from _items(tool, dialect)
    yield from _properties(tool, dialect, declared)
    yield from _keywords(tool, dialect, declared)


def _root(tool: Tool, dialect: Dialect) -> Iterator[Finding]:
    for word in ("anyOf", "oneOf", "allOf"):
        if word in tool.input_schema and word in dialect.limits.root:
            told = "" if word == "allOf" else ", and the description says which go together"
            message = f"Providers refuse '{word}' at the root; the properties are declared side by side{told}"
            yield Finding("note", f"{_SCHEMA}.{word}", message)


def _items(tool: Tool, dialect: Dialect) -> Iterator[Finding]:
    for path, node in _own(tool) if dialect.limits.needs_items else ():
        kind, items = node.get("type"), node.get("items")
        is_array = kind == "array" or (isinstance(kind, list) and "array" in kind)
        if isinstance(items, list):
            message = "Providers refuse a list of schemas in 'items'; it is declared with items that fit any of them"
            yield Finding("misread", _field((*path, "items")), message)
        elif is_array and not isinstance(items, Mapping):
            message = "Providers refuse an array without 'items'; it is declared with items of any kind"
            yield Finding("misread", _field(path), f"{message}: say what is in it")


def _properties(tool: Tool, dialect: Dialect, declared: Declared) -> Iterator[Finding]:
    fits = dialect.limits.property_name
    names = {name: path for path, node in _own(tool) for name in node.get("properties", ())} if fits is not None else {}
    for name, path in names.items():
        if fits is None or fits.fullmatch(name):
            continue
        field = _field((*path, "properties", name))
        if name in declared.names:
            yield Finding("refuse", field, f"'{name}' does not match {fits.pattern}; give the property another name")
        else:
            yield Finding(
                "note", field, f"'{name}' does not match {fits.pattern}; it is declared under a name that does"
            )


def _keywords(tool: Tool, dialect: Dialect, declared: Declared) -> Iterator[Finding]:
    first: dict[str, tuple[Path, Any]] = {}
    for path, node in _own(tool):
        for word, value in node.items():
            first.setdefault(word, (path, value))
    for word, (path, value) in first.items():
        field = _field((*path, word))
        if word in declared.keywords and word in dialect.limits.refused:
            yield Finding("refuse", field, f"{dialect.name} does not take '{word}'; say it in the description instead")
        elif word in declared.keywords and word in dialect.limits.ignored:
            message = f"{dialect.name} does not hold the model to '{word}'; say it in the description too"
            yield Finding("misread", field, message)
        elif word not in declared.keywords and word in _TELLING:
            yield _lost(word, value, field, declared)
    if "$ref" in first and "$ref" not in declared.keywords:
        field = _field((*first["$ref"][0], "$ref"))
        if inlined(tool.input_schema) is None:
            yield Finding("misread", field, "It leads back to itself, and is cut there; describe what goes inside")
        else:
            yield Finding("note", field, "What it names is written out in its place")


def _lost(word: str, value: Any, field: str, declared: Declared) -> Finding:
    words = said(word, value)
    if words and words.casefold() in declared.told:
        return Finding("note", field, f"'{word}' is said in the description, the provider has no such keyword")
    return Finding("misread", field, f"The model is not told of '{word}'; say it in the description")


def _own(tool: Tool) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    seen = set()
    for path, node, _ in Document(tool.input_schema).everything():
        if path not in seen:
            seen.add(path)
            yield path, node


def _alike(names: Iterable[str]) -> dict[str, list[str]]:
    """The names that differ only in case, hyphens and underscores, each with those it could be taken for."""
    same: dict[str, list[str]] = defaultdict(list)
    for name in names:
        same[_SAME.sub("", name.casefold())].append(name)
    return {
        name: [other for other in group if other != name] for group in same.values() if len(group) > 1 for name in group
    }


def _mistaken(field: str, name: str, others: Sequence[str]) -> Finding:
    alike = ", ".join(f"'{other}'" for other in others[:_SHOWN])
    return Finding("misread", field, f"A model takes '{name}' for {alike}; give them names that differ in more")


def _field(path: Path) -> str:
    return ".".join((_SCHEMA, *map(str, path)))
