"""Find what a provider would reject or misread in tool definitions, and estimate how many tokens they cost."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import orjson

from pegboard.dialects.base import Dialect
from pegboard.dialects.schema_adapters import explain_not_strict, inline_references
from pegboard.dialects.schema_adapters.strict_schema import DESCRIBABLE_KEYWORDS, describe_keyword
from pegboard.dialects.shared.function_calls import get_provider_name
from pegboard.json_schema.schema_document import Path, SchemaDocument
from pegboard.model.tool import Tool

_NAMED_SCHEMA_KEYWORDS = ("properties", "patternProperties", "$defs", "definitions")
_DATA_KEYWORDS = ("default", "enum", "const", "examples", "required")
_MAX_VISITED_NODES = 50


class SchemaSummary(NamedTuple):
    """The keywords, descriptions and property names of a schema, the number of its properties and its depth."""

    keywords: frozenset[str]
    names: frozenset[str]
    properties: int
    levels: int
    descriptions: str


def summarize_schema(definition: Any) -> SchemaSummary | None:
    """Return a summary of the parameter schema in a definition, or None if no schema is found."""
    schema = _find_schema(definition)
    if schema is None:
        return None
    keywords: set[str] = set()
    names: set[str] = set()
    descriptions: list[str] = []
    properties = levels = 0
    todo: list[tuple[Any, int]] = [(schema, 0)]
    while todo:
        node, level = todo.pop()
        if isinstance(node, list):
            todo += [(child, level) for child in node]
        if not isinstance(node, Mapping):
            continue
        keywords.update(node)
        if isinstance(node.get("description"), str):
            descriptions.append(node["description"].casefold())
        if isinstance(node.get("properties"), Mapping):
            level += 1
            levels = max(levels, level)
            names.update(node["properties"])
            properties += len(node["properties"])
        for word, value in node.items():
            if word in _NAMED_SCHEMA_KEYWORDS and isinstance(value, Mapping):
                todo += [(child, level) for child in value.values()]
            elif word not in _DATA_KEYWORDS:
                todo.append((value, level))
    return SchemaSummary(frozenset(keywords), frozenset(names), properties, levels, "\n".join(descriptions))


def find_declared_name(definition: Any) -> str | None:
    """Return the tool name in a definition, or None if the definition has no such field."""
    return next(
        (node["name"] for node in _iter_outer_objects_first(definition) if isinstance(node.get("name"), str)), None
    )


def _find_schema(definition: Any) -> Mapping[str, Any] | None:
    for node in _iter_outer_objects_first(definition):
        if isinstance(node.get("properties"), Mapping) or node.get("type") in ("object", "OBJECT"):
            return node
    return None


def _iter_outer_objects_first(definition: Any) -> Iterator[Mapping[str, Any]]:
    """Yield the objects of a definition, outer ones first."""
    todo = [definition]
    for node in todo:
        if isinstance(node, Mapping):
            yield node
        if len(todo) < _MAX_VISITED_NODES:
            todo += node.values() if isinstance(node, Mapping) else node if isinstance(node, list) else ()


TOKENIZER_NOTE = (
    "An estimate: the UTF-8 bytes of the declaration as compact JSON, divided by 4 and rounded up; "
    "a provider's own tokenizer counts differently"
)
_LARGE_ENUM_VALUES = 100
_MAX_LISTED_NAMES = 5
_SCHEMA_FIELD = "input_schema"
# Keywords that restrict values and have no equivalent in what providers support.
_CONSTRAINT_KEYWORDS = DESCRIBABLE_KEYWORDS - {"default", "enum"} | {
    "not", "if", "dependencies", "dependentRequired", "dependentSchemas", "patternProperties", "propertyNames",
    "contains", "prefixItems", "additionalItems", "unevaluatedItems", "unevaluatedProperties",
}  # fmt: skip
_NAME_SEPARATORS = re.compile(r"[-_.\s]+")

Severity = Literal["refuse", "misread", "note"]


class DefinitionFinding(NamedTuple):
    """One finding about a definition: severity, field, and a message with the remedy."""

    severity: Severity
    field: str
    message: str


@dataclass(frozen=True, slots=True)
class ToolLintResult:
    """The findings for one tool's definition: its name at the provider, an estimate of tokens, and what was found."""

    tool: str
    name: str
    tokens: int
    findings: tuple[DefinitionFinding, ...]


@dataclass(frozen=True, slots=True)
class LintReport:
    """The findings for all definitions of one request."""

    dialect: str
    tokens: int
    findings: tuple[DefinitionFinding, ...]
    tools: tuple[ToolLintResult, ...]


def estimate_tokens(definition: Any) -> int:
    """Estimate the tokens of a definition: UTF-8 bytes of its compact JSON or text, divided by 4 and rounded up."""
    written = definition.encode("utf-8", "replace") if isinstance(definition, str) else orjson.dumps(definition)
    return -(-len(written) // 4)


def lint_definition(tool: Tool, dialect: Dialect) -> ToolLintResult:
    """Return what the provider would reject or misread in this tool's definition."""
    definition = dialect.define(tool)
    name = find_declared_name(definition) or get_provider_name(tool)
    findings = [
        *_check_name(tool, name, dialect),
        *_check_description(tool, dialect),
        *_check_parameters(tool),
        *_check_schema(tool, dialect, definition),
    ]
    order: tuple[Severity, ...] = ("refuse", "misread", "note")
    return ToolLintResult(
        tool.name, name, estimate_tokens(definition), tuple(sorted(findings, key=lambda it: order.index(it.severity)))
    )


def lint_definitions(tools: Sequence[Tool], dialect: Dialect) -> LintReport:
    """Check tools that are sent together, including their number and similar names."""
    findings = []
    most = dialect.limits.tools
    if most is not None and len(tools) > most:
        message = f"{len(tools)} tools, {dialect.name} accepts at most {most}; select the needed ones with an agent"
        findings.append(DefinitionFinding("refuse", "tools", message))
    linted = [lint_definition(tool, dialect) for tool in tools]
    alike = _find_similar_names(each.name for each in linted)
    linted = [
        replace(each, findings=(*each.findings, _report_similar_names("name", each.name, alike[each.name])))
        if each.name in alike
        else each
        for each in linted
    ]
    return LintReport(dialect.name, estimate_tokens(dialect.define_all(tools)), tuple(findings), tuple(linted))


def _check_name(tool: Tool, name: str, dialect: Dialect) -> Iterator[DefinitionFinding]:
    fits = dialect.limits.name
    if fits is not None and not fits.fullmatch(name):
        yield DefinitionFinding("refuse", "name", f"'{name}' does not match {fits.pattern}; give the tool another name")
    elif name != tool.name:
        yield DefinitionFinding("note", "name", f"It is declared as '{name}', and calls by that name reach it")


def _check_description(tool: Tool, dialect: Dialect) -> Iterator[DefinitionFinding]:
    description = tool.description or ""
    most = dialect.limits.description
    if not description.strip():
        message = "Without a description, the model has only the name; describe what the tool does and when to call it"
        yield DefinitionFinding("misread", "description", message)
    elif most is not None and len(description) > most:
        yield DefinitionFinding(
            "refuse", "description", f"{len(description)} characters, {dialect.name} accepts at most {most}; shorten it"
        )


def _check_parameters(tool: Tool) -> Iterator[DefinitionFinding]:
    """Yield findings about parameters that models of any provider would misread."""
    silent = []
    for path, node in _iter_own_schemas(tool):
        properties = node.get("properties")
        for name, others in _find_similar_names(properties).items() if isinstance(properties, Mapping) else ():
            yield _report_similar_names(_format_field_path((*path, "properties", name)), name, others)
        if len(path) > 1 and path[-2] == "properties" and not {"description", "title", "const", "$ref"} & node.keys():
            silent.append(str(path[-1]))
        if isinstance(choices := node.get("enum"), list) and len(choices) > _LARGE_ENUM_VALUES:
            message = f"{len(choices)} values are sent with every request; declare a string and check it in the tool"
            yield DefinitionFinding("note", _format_field_path((*path, "enum")), message)
    if silent:
        names = ", ".join(silent[:_MAX_LISTED_NAMES]) + ("…" if len(silent) > _MAX_LISTED_NAMES else "")
        yield DefinitionFinding(
            "note", f"{_SCHEMA_FIELD}.properties", f"Without a description: {names}; describe their values"
        )


def _check_schema(tool: Tool, dialect: Dialect, definition: Any) -> Iterator[DefinitionFinding]:
    limits = dialect.limits
    if not limits.has_schema:
        if tool.input_schema.get("properties"):
            message = "A declaration cannot have parameters; name them in the description"
            yield DefinitionFinding("misread", _SCHEMA_FIELD, message)
        return
    if limits.strict and (why := explain_not_strict(tool.input_schema)) is not None:
        message = f"It is not declared strict, so the provider does not enforce the schema: {why}"
        yield DefinitionFinding("note", _SCHEMA_FIELD, message)
    declared = summarize_schema(definition)
    if declared is None:
        return
    if limits.depth is not None and declared.levels > limits.depth:
        message = f"{declared.levels} levels of objects, {dialect.name} accepts at most {limits.depth}; flatten it"
        yield DefinitionFinding("refuse", _SCHEMA_FIELD, message)
    if limits.properties is not None and declared.properties > limits.properties:
        message = f"{declared.properties} properties, {dialect.name} accepts at most {limits.properties}; declare fewer"
        yield DefinitionFinding("refuse", _SCHEMA_FIELD, message)
    yield from _check_root(tool, dialect)
    yield from _check_items(tool, dialect)
    yield from _check_property_names(tool, dialect, declared)
    yield from _check_keywords(tool, dialect, declared)


def _check_root(tool: Tool, dialect: Dialect) -> Iterator[DefinitionFinding]:
    for word in ("anyOf", "oneOf", "allOf"):
        if word in tool.input_schema and word in dialect.limits.root:
            advice = "" if word == "allOf" else ", and the description lists the valid combinations"
            message = f"Providers reject '{word}' at the root; the properties of its schemas are merged{advice}"
            yield DefinitionFinding("note", f"{_SCHEMA_FIELD}.{word}", message)


def _check_items(tool: Tool, dialect: Dialect) -> Iterator[DefinitionFinding]:
    for path, node in _iter_own_schemas(tool) if dialect.limits.needs_items else ():
        kind, items = node.get("type"), node.get("items")
        is_array = kind == "array" or (isinstance(kind, list) and "array" in kind)
        if isinstance(items, list):
            message = "Providers reject a list of schemas in 'items'; it is declared with items that match any of them"
            yield DefinitionFinding("misread", _format_field_path((*path, "items")), message)
        elif is_array and not isinstance(items, Mapping):
            message = "Providers reject an array without 'items'; it is declared with items of any type"
            yield DefinitionFinding("misread", _format_field_path(path), f"{message}; declare its items")


def _check_property_names(tool: Tool, dialect: Dialect, declared: SchemaSummary) -> Iterator[DefinitionFinding]:
    fits = dialect.limits.property_name
    names = (
        {name: path for path, node in _iter_own_schemas(tool) for name in node.get("properties", ())}
        if fits is not None
        else {}
    )
    for name, path in names.items():
        if fits is None or fits.fullmatch(name):
            continue
        field = _format_field_path((*path, "properties", name))
        if name in declared.names:
            yield DefinitionFinding(
                "refuse", field, f"'{name}' does not match {fits.pattern}; give the property another name"
            )
        else:
            yield DefinitionFinding(
                "note", field, f"'{name}' does not match {fits.pattern}; it is declared under another name"
            )


def _check_keywords(tool: Tool, dialect: Dialect, declared: SchemaSummary) -> Iterator[DefinitionFinding]:
    first: dict[str, tuple[Path, Any]] = {}
    for path, node in _iter_own_schemas(tool):
        for word, value in node.items():
            first.setdefault(word, (path, value))
    for word, (path, value) in first.items():
        field = _format_field_path((*path, word))
        if word in declared.keywords and word in dialect.limits.refused:
            yield DefinitionFinding(
                "refuse", field, f"{dialect.name} rejects '{word}'; describe it in the description instead"
            )
        elif word in declared.keywords and word in dialect.limits.ignored:
            message = f"{dialect.name} does not enforce '{word}'; repeat it in the description"
            yield DefinitionFinding("misread", field, message)
        elif word not in declared.keywords and word in _CONSTRAINT_KEYWORDS:
            yield _report_lost_keyword(word, value, field, declared)
    if "$ref" in first and "$ref" not in declared.keywords:
        field = _format_field_path((*first["$ref"][0], "$ref"))
        if inline_references(tool.input_schema) is None:
            yield DefinitionFinding(
                "misread", field, "It is recursive, and is cut off there; describe the nested values"
            )
        else:
            yield DefinitionFinding("note", field, "Its target is declared in its place")


def _report_lost_keyword(word: str, value: Any, field: str, declared: SchemaSummary) -> DefinitionFinding:
    words = describe_keyword(word, value)
    if words and words.casefold() in declared.descriptions:
        return DefinitionFinding("note", field, f"The provider has no '{word}'; the description has it")
    return DefinitionFinding("misread", field, f"The declaration has no '{word}'; describe it in the description")


def _iter_own_schemas(tool: Tool) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    seen = set()
    for path, node, _ in SchemaDocument(tool.input_schema).iterate_schemas():
        if path not in seen:
            seen.add(path)
            yield path, node


def _find_similar_names(names: Iterable[str]) -> dict[str, list[str]]:
    """Return the names that differ only in case or separators, each with the names it could be confused with."""
    same: dict[str, list[str]] = defaultdict(list)
    for name in names:
        same[_NAME_SEPARATORS.sub("", name.casefold())].append(name)
    return {
        name: [other for other in group if other != name] for group in same.values() if len(group) > 1 for name in group
    }


def _report_similar_names(field: str, name: str, others: Sequence[str]) -> DefinitionFinding:
    alike = ", ".join(f"'{other}'" for other in others[:_MAX_LISTED_NAMES])
    return DefinitionFinding("misread", field, f"Models confuse '{name}' with {alike}; choose names that differ more")


def _format_field_path(path: Path) -> str:
    return ".".join((_SCHEMA_FIELD, *map(str, path)))
