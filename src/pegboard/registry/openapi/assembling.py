"""One tool out of an operation's parameters and body: a flat input schema, and the config that sends it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import quote

from pegboard.core.outbound import PLACEHOLDER
from pegboard.registry.openapi.bodies import Body
from pegboard.registry.openapi.naming import PropertyNames
from pegboard.registry.openapi.parameters import MOST_PARAMETERS, Notes, Parameter
from pegboard.registry.openapi.references import Unusable
from pegboard.registry.openapi.schemas import Schema
from pegboard.registry.shown import text_of
from pegboard.registry.subschemas import DRAFT_2020

_IN_QUERY = frozenset({"GET", "HEAD", "DELETE", "OPTIONS"})
_MOST_TOGETHER = 200
_PLACES = ("path", "query", "header", "cookie")
_UNFIT = re.compile(r"[\x00-\x20\x7f\\{}]+")


@dataclass(slots=True)
class Assembled:
    """A tool's input schema, without `$defs`, and its config, without its URL's base."""

    method: str
    properties: dict[str, Schema] = field(default_factory=dict)
    required: list[str] = field(default_factory=list)
    rest: Any = None
    together: dict[str, list[str]] = field(default_factory=dict)
    params_in: dict[str, str] = field(default_factory=dict)
    styles: dict[str, Any] = field(default_factory=dict)
    wire_names: dict[str, str] = field(default_factory=dict)
    body: dict[str, Any] = field(default_factory=dict)
    path: str = ""
    names: PropertyNames = field(default_factory=PropertyNames)

    @property
    def schema(self) -> Schema:
        """The input schema."""
        schema: Schema = {"$schema": DRAFT_2020, "type": "object", "properties": self.properties}
        if self.required:
            schema["required"] = self.required
        if self.together:
            schema["dependentRequired"] = self.together
        return schema if self.rest is None else {**schema, "additionalProperties": self.rest}

    def config(self, url: str) -> dict[str, Any]:
        """The config, with nothing in it that goes without saying."""
        said = {"params_in": self.params_in, "styles": self.styles, "wire_names": self.wire_names, **self.body}
        if "{{" in str(said):
            # It would name one of the importer's own secrets.
            raise Unusable("a name in it holds '{{'")
        return {"url": url, "method": self.method, **{word: value for word, value in said.items() if value}}


def assembled(
    method: str, path: str, parameters: list[Parameter], body: Body | None, notes: Notes, *, flatten: bool = True
) -> Assembled:
    """The tool; a body is taken apart into its fields where that says the same, unless told not to."""
    tool = Assembled(method)
    in_url = {id(each) for each in _add_path(tool, path, parameters, notes)}
    is_flat = body is not None and flatten and _may_be_flat(method, body)
    default = "query" if method in _IN_QUERY or (body is not None and not is_flat) else "body"
    for place in _PLACES[1:]:
        for parameter in parameters:
            if parameter.place == place and id(parameter) not in in_url:
                _add(tool, parameter, default)
    if body is not None:
        if is_flat:
            _add_fields(tool, body, default)
        else:
            _add_whole(tool, body)
        if body.format != "json":
            tool.body["body_format"] = body.format
        if body.content_type is not None:
            tool.body["content_type"] = body.content_type
    return tool


def _may_be_flat(method: str, body: Body) -> bool:
    if not body.fields or (not body.required and len(body.fields) * len(_needed(body)) > _MOST_TOGETHER):
        return False
    return method not in _IN_QUERY or body.rest is None or body.rest is False


def _needed(body: Body) -> list[str]:
    """The fields that a body cannot do without."""
    return [each.name for each in body.fields if each.required and "default" not in each.schema]


def _add(tool: Assembled, parameter: Parameter, default: str) -> str:
    name = tool.names.take(parameter.name, parameter.place)
    tool.properties[name] = parameter.schema
    if parameter.required:
        tool.required.append(name)
    if parameter.place not in ("path", default):
        tool.params_in[name] = parameter.place
    if parameter.style is not None:
        tool.styles[name] = parameter.style
    is_named = parameter.place != "path" or (parameter.style or {}).get("style") == "matrix"
    if name != parameter.name and is_named:
        tool.wire_names[name] = parameter.name
    return name


def _add_fields(tool: Assembled, body: Body, default: str) -> None:
    needed = [] if body.required else _needed(body)
    fields = body.fields if body.required else [replace(each, required=False) for each in body.fields]
    if needed:
        # A default that is filled in would make a body of itself, and not a whole one.
        fields = [replace(each, schema=_without_default(each.schema)) for each in fields]
    names = {each.name: _add(tool, each, default) for each in fields}
    for each in fields:
        if others := [names[name] for name in needed if name != each.name]:
            tool.together[names[each.name]] = others
    tool.rest = body.rest
    if body.required and not any(each.required for each in fields):
        # An empty body is sent too, but only where it is known that there is one.
        tool.params_in |= dict.fromkeys(names.values(), "body")
    if body.part_types:
        tool.body["part_types"] = {names[name]: media_type for name, media_type in body.part_types.items()}


def _without_default(schema: Schema) -> Schema:
    if "default" not in schema:
        return schema
    says = f"Default: {text_of(schema['default'])}"
    others = {word: value for word, value in schema.items() if word != "default"}
    return {**others, "description": f"{schema.get('description', '')}\n\n{says}".strip()}


def _add_whole(tool: Assembled, body: Body) -> None:
    name = tool.names.take("body", "request")
    tool.properties[name] = body.whole
    if body.required:
        tool.required.append(name)
    tool.body["body_param"] = name
    if body.format in ("form", "multipart"):
        styles = {each.name: each.style for each in body.fields if each.style is not None}
        if styles.keys() & tool.properties.keys():
            raise Unusable("a parameter and a field of its form have one name, and the form cannot be taken apart")
        tool.styles |= styles
        if body.part_types:
            tool.body["part_types"] = dict(body.part_types)


def _add_path(tool: Assembled, path: str, parameters: list[Parameter], notes: Notes) -> list[Parameter]:
    """Make the path with its placeholders, and say which parameters fill them."""
    declared = {each.name: each for each in parameters if each.place == "path"}
    in_query = {each.name: each for each in parameters if each.place == "query"}
    named: dict[str, str] = {}
    filling: list[Parameter] = []
    url = ""
    if path.count("{") > MOST_PARAMETERS:
        raise Unusable(f"its path has more than {MOST_PARAMETERS:,} placeholders")
    for index, piece in enumerate(PLACEHOLDER.split(path.partition("#")[0])):
        if index % 2 == 0:
            url += _UNFIT.sub(lambda match: quote(match[0], safe=""), piece)
            continue
        wire = _meant(piece, declared)
        if wire not in named:
            asked = declared.get(wire) or (in_query.get(wire) if "?" in url else None)
            filling.append(asked or Parameter(wire, "path", {"type": "string"}, True))
            named[wire] = _add(tool, filling[-1], "query")
        url += f"{{{named[wire]}}}"
    for name in declared.keys() - named.keys():
        notes.leave_out(f"the path parameter '{name[:100]}'", "the path has no place for it")
    tool.path = url
    return filling


def _meant(placeholder: str, declared: Mapping[str, Parameter]) -> str:
    """The parameter that a placeholder stands for; some documents write more than its name between the braces."""
    plain = placeholder.strip().strip("+*")
    for name in (placeholder, plain, plain.partition(":")[0], plain.partition("=")[0]):
        if name in declared:
            return name
    return plain or placeholder
