"""Names of properties that a provider's pattern refuses, replaced by ones that fit, and put back."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import unquote

from pegboard.dialects.adapting.inlining import LISTS, MAPS, ONE
from pegboard.registry.subschemas import Document, pointer_to

_NAMED = frozenset({"properties", "dependencies", "dependentSchemas", "dependentRequired"})
_HOLDERS = MAPS | {"$defs", "definitions"}
_OTHER = re.compile(r"[^A-Za-z0-9_]+")
_MAX_DEPTH = 100


def fitted_names(schema: Mapping[str, Any], pattern: re.Pattern[str]) -> dict[str, Any]:
    """The schema with names of properties that all match; the same object if they do. Fit first, then adapt."""
    fitted = _fitted(schema, pattern)
    if not fitted:
        return schema if isinstance(schema, dict) else dict(schema)
    whole: dict[str, Any] = _renamed(schema, fitted)
    return whole


def own_names(arguments: dict[str, Any], schema: Mapping[str, Any], pattern: re.Pattern[str]) -> dict[str, Any]:
    """The arguments under the names that the tool's own schema has; the same object if they have them already."""
    if _are_own(arguments, schema, 0):
        return arguments
    own = {fitted: name for name, fitted in _fitted(schema, pattern).items()}
    whole: dict[str, Any] = _put_back(arguments, [schema], Document(schema), own, 0) if own else arguments
    return whole


def _are_own(value: dict[str, Any] | list[Any], node: Any, depth: int) -> bool:
    """Whether all names are seen at a glance to be the schema's own, as they are for most calls."""
    if not isinstance(node, dict) or depth > _MAX_DEPTH:
        return False
    if isinstance(value, list):
        below = node.get("items")
        return all(_are_own(item, below, depth + 1) for item in value if isinstance(item, dict | list))
    properties = node.get("properties", {})
    for name, item in value.items():
        if name not in properties:
            return False
        if isinstance(item, dict | list) and not _are_own(item, properties[name], depth + 1):
            return False
    return True


def _fitted(schema: Mapping[str, Any], pattern: re.Pattern[str]) -> dict[str, str]:
    """Each name that does not match, with the one that stands for it; the same for the same names in any order."""
    names = set(_names(schema))
    taken = {name for name in names if pattern.fullmatch(name)}
    fitted: dict[str, str] = {}
    for name in sorted(names - taken):
        for candidate in _candidates(name):
            if candidate not in names and candidate not in taken and pattern.fullmatch(candidate):
                fitted[name] = candidate
                taken.add(candidate)
                break
    return fitted


def _names(schema: Any) -> Iterator[str]:
    """The names of all properties, in whichever draft the schema is."""
    todo = [schema]
    while todo:
        node = todo.pop()
        if not isinstance(node, Mapping):
            continue
        for word, value in node.items():
            if word == "properties" and isinstance(value, Mapping):
                yield from value
            if word in _HOLDERS and isinstance(value, Mapping):
                todo += value.values()
            elif word in LISTS and isinstance(value, list):
                todo += value
            elif word in ONE:
                todo.append(value)


def _candidates(name: str) -> Iterator[str]:
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    plain = _OTHER.sub("_", name).strip("_")
    plain = plain if plain and not plain[0].isdigit() else f"p_{plain}".rstrip("_")
    yield plain
    for length in (55, 23, 7):
        yield f"{plain[:length]}_{digest}"
    yield from (f"p_{digest}", f"p{digest}", digest)


def _renamed(node: Any, fitted: Mapping[str, str]) -> Any:
    if not isinstance(node, Mapping):
        return node
    whole: dict[str, Any] = {}
    for word, value in node.items():
        if word in _NAMED and isinstance(value, Mapping):
            whole[word] = {fitted.get(name, name): _renamed_names(child, fitted) for name, child in value.items()}
        elif word in _HOLDERS and isinstance(value, Mapping):
            whole[word] = {name: _renamed(child, fitted) for name, child in value.items()}
        elif word == "required" and isinstance(value, list):
            whole[word] = _renamed_names(value, fitted)
        elif word in LISTS and isinstance(value, list):
            whole[word] = [_renamed(child, fitted) for child in value]
        elif word in ONE:
            whole[word] = _renamed(value, fitted)
        elif word == "$ref" and isinstance(value, str) and value.startswith("#/"):
            whole[word] = _renamed_pointer(value, fitted)
        else:
            whole[word] = value
    return whole


def _renamed_names(held: Any, fitted: Mapping[str, str]) -> Any:
    return [fitted.get(name, name) for name in held] if isinstance(held, list) else _renamed(held, fitted)


def _renamed_pointer(pointer: str, fitted: Mapping[str, str]) -> str:
    steps = [step.replace("~1", "/").replace("~0", "~") for step in unquote(pointer).split("/")[1:]]
    path: list[str] = []
    holder = ""
    for step in steps:
        path.append(fitted.get(step, step) if holder in _NAMED else step)
        holder = step if not holder and step in _HOLDERS else ""
    return pointer_to(tuple(path)) if path != steps else pointer


def _put_back(value: Any, nodes: list[Any], document: Document, own: Mapping[str, str], depth: int) -> Any:
    """The value with the names back, where any of these schemas, or one they lead to, declares them."""
    if depth > _MAX_DEPTH or not nodes or not isinstance(value, dict | list):
        return value
    reached = _reached(nodes, document)
    if isinstance(value, list):
        below = [item for node in reached for item in _items(node)]
        each = [_put_back(item, below, document, own, depth + 1) for item in value]
        return each if any(new is not old for new, old in zip(each, value, strict=True)) else value
    held = [node["properties"] for node in reached if isinstance(node.get("properties"), Mapping)]
    rest = [node["additionalProperties"] for node in reached if isinstance(node.get("additionalProperties"), Mapping)]
    whole, changed = {}, False
    for name, item in value.items():
        real = own.get(name, name)
        below = [properties[real] for properties in held if real in properties]
        if not below:
            real, below = name, rest
        whole[real] = _put_back(item, below, document, own, depth + 1)
        changed |= real != name or whole[real] is not item
    return whole if changed else value


def _reached(nodes: list[Any], document: Document) -> list[Mapping[str, Any]]:
    found: dict[int, Mapping[str, Any]] = {}
    todo = list(nodes)
    while todo:
        node = todo.pop()
        if isinstance(node, Mapping) and id(node) not in found:
            found[id(node)] = node
            todo += [child for _, child in document.in_place(node)]
    return list(found.values())


def _items(node: Mapping[str, Any]) -> list[Any]:
    found = []
    for word in ("items", "prefixItems", "additionalItems", "contains"):
        held = node.get(word)
        found += held if isinstance(held, list) else [held] if held is not None else []
    return found
