"""Replace property names that a provider's pattern rejects, and restore them in arguments."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import unquote

from pegboard.dialects.schema_adapters.inline_refs import SCHEMA_KEYWORDS, SCHEMA_LIST_KEYWORDS, SCHEMA_MAP_KEYWORDS
from pegboard.json_schema.schema_document import SchemaDocument, make_pointer

_PROPERTY_NAME_KEYWORDS = frozenset({"properties", "dependencies", "dependentSchemas", "dependentRequired"})
_NAMED_SCHEMA_KEYWORDS = SCHEMA_MAP_KEYWORDS | {"$defs", "definitions"}
_INVALID_CHARACTERS = re.compile(r"[^A-Za-z0-9_]+")
_MAX_DEPTH = 100


def fit_property_names(schema: Mapping[str, Any], pattern: re.Pattern[str]) -> dict[str, Any]:
    """Return the schema with all property names matching; the same object if they do. Call it before other adapters."""
    fitted = _choose_replacements(schema, pattern)
    if not fitted:
        return schema if isinstance(schema, dict) else dict(schema)
    whole: dict[str, Any] = _rename_in_schema(schema, fitted)
    return whole


def restore_property_names(
    arguments: dict[str, Any], schema: Mapping[str, Any], pattern: re.Pattern[str]
) -> dict[str, Any]:
    """Return the arguments under the names of the tool's own schema; the same object if nothing was renamed."""
    if _has_original_names(arguments, schema, 0):
        return arguments
    own = {fitted: name for name, fitted in _choose_replacements(schema, pattern).items()}
    whole: dict[str, Any] = _restore_names(arguments, [schema], SchemaDocument(schema), own, 0) if own else arguments
    return whole


def _has_original_names(value: dict[str, Any] | list[Any], node: Any, depth: int) -> bool:
    """Return True if a quick check shows that all names are the schema's own, as in most calls."""
    if not isinstance(node, dict) or depth > _MAX_DEPTH:
        return False
    if isinstance(value, list):
        below = node.get("items")
        return all(_has_original_names(item, below, depth + 1) for item in value if isinstance(item, dict | list))
    properties = node.get("properties", {})
    for name, item in value.items():
        if name not in properties:
            return False
        if isinstance(item, dict | list) and not _has_original_names(item, properties[name], depth + 1):
            return False
    return True


def _choose_replacements(schema: Mapping[str, Any], pattern: re.Pattern[str]) -> dict[str, str]:
    """Return a replacement for each name that does not match; it does not depend on the order of names."""
    names = set(_iter_property_names(schema))
    taken = {name for name in names if pattern.fullmatch(name)}
    fitted: dict[str, str] = {}
    for name in sorted(names - taken):
        for candidate in _iter_candidates(name):
            if candidate not in names and candidate not in taken and pattern.fullmatch(candidate):
                fitted[name] = candidate
                taken.add(candidate)
                break
    return fitted


def _iter_property_names(schema: Any) -> Iterator[str]:
    """Yield the names of all properties, for any draft of JSON Schema."""
    todo = [schema]
    while todo:
        node = todo.pop()
        if not isinstance(node, Mapping):
            continue
        for word, value in node.items():
            if word == "properties" and isinstance(value, Mapping):
                yield from value
            if word in _NAMED_SCHEMA_KEYWORDS and isinstance(value, Mapping):
                todo += value.values()
            elif word in SCHEMA_LIST_KEYWORDS and isinstance(value, list):
                todo += value
            elif word in SCHEMA_KEYWORDS:
                todo.append(value)


def _iter_candidates(name: str) -> Iterator[str]:
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    plain = _INVALID_CHARACTERS.sub("_", name).strip("_")
    plain = plain if plain and not plain[0].isdigit() else f"p_{plain}".rstrip("_")
    yield plain
    for length in (55, 23, 7):
        yield f"{plain[:length]}_{digest}"
    yield from (f"p_{digest}", f"p{digest}", digest)


def _rename_in_schema(node: Any, fitted: Mapping[str, str]) -> Any:
    if not isinstance(node, Mapping):
        return node
    whole: dict[str, Any] = {}
    for word, value in node.items():
        if word in _PROPERTY_NAME_KEYWORDS and isinstance(value, Mapping):
            whole[word] = {
                fitted.get(name, name): _rename_list_or_schema(child, fitted) for name, child in value.items()
            }
        elif word in _NAMED_SCHEMA_KEYWORDS and isinstance(value, Mapping):
            whole[word] = {name: _rename_in_schema(child, fitted) for name, child in value.items()}
        elif word == "required" and isinstance(value, list):
            whole[word] = _rename_list_or_schema(value, fitted)
        elif word in SCHEMA_LIST_KEYWORDS and isinstance(value, list):
            whole[word] = [_rename_in_schema(child, fitted) for child in value]
        elif word in SCHEMA_KEYWORDS:
            whole[word] = _rename_in_schema(value, fitted)
        elif word == "$ref" and isinstance(value, str) and value.startswith("#/"):
            whole[word] = _rename_pointer(value, fitted)
        else:
            whole[word] = value
    return whole


def _rename_list_or_schema(held: Any, fitted: Mapping[str, str]) -> Any:
    return [fitted.get(name, name) for name in held] if isinstance(held, list) else _rename_in_schema(held, fitted)


def _rename_pointer(pointer: str, fitted: Mapping[str, str]) -> str:
    steps = [step.replace("~1", "/").replace("~0", "~") for step in unquote(pointer).split("/")[1:]]
    path: list[str] = []
    holder = ""
    for step in steps:
        path.append(fitted.get(step, step) if holder in _PROPERTY_NAME_KEYWORDS else step)
        holder = step if not holder and step in _NAMED_SCHEMA_KEYWORDS else ""
    return make_pointer(tuple(path)) if path != steps else pointer


def _restore_names(value: Any, nodes: list[Any], document: SchemaDocument, own: Mapping[str, str], depth: int) -> Any:
    """Return the value with original names, if one of these schemas, or one reachable from them, declares them."""
    if depth > _MAX_DEPTH or not nodes or not isinstance(value, dict | list):
        return value
    reached = _collect_reachable_schemas(nodes, document)
    if isinstance(value, list):
        below = [item for node in reached for item in _get_item_schemas(node)]
        each = [_restore_names(item, below, document, own, depth + 1) for item in value]
        return each if any(new is not old for new, old in zip(each, value, strict=True)) else value
    held = [node["properties"] for node in reached if isinstance(node.get("properties"), Mapping)]
    rest = [node["additionalProperties"] for node in reached if isinstance(node.get("additionalProperties"), Mapping)]
    whole, changed = {}, False
    for name, item in value.items():
        real = own.get(name, name)
        below = [properties[real] for properties in held if real in properties]
        if not below:
            real, below = name, rest
        whole[real] = _restore_names(item, below, document, own, depth + 1)
        changed |= real != name or whole[real] is not item
    return whole if changed else value


def _collect_reachable_schemas(nodes: list[Any], document: SchemaDocument) -> list[Mapping[str, Any]]:
    found: dict[int, Mapping[str, Any]] = {}
    todo = list(nodes)
    while todo:
        node = todo.pop()
        if isinstance(node, Mapping) and id(node) not in found:
            found[id(node)] = node
            todo += [child for _, child in document.iterate_in_place(node)]
    return list(found.values())


def _get_item_schemas(node: Mapping[str, Any]) -> list[Any]:
    found = []
    for word in ("items", "prefixItems", "additionalItems", "contains"):
        held = node.get(word)
        found += held if isinstance(held, list) else [held] if held is not None else []
    return found
