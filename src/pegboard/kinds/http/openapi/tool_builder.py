"""Builds the definition of a tool from an operation: a flat input schema from parameters and body, and the config."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import quote, unquote_plus

import orjson

from pegboard.json_schema.compile import MAX_SCHEMA_BYTES
from pegboard.json_schema.schema_document import DRAFT_2020
from pegboard.json_schema.value_text import format_value
from pegboard.kinds.config_fields import URL_PLACEHOLDER
from pegboard.kinds.http.openapi.api_operations import Operation
from pegboard.kinds.http.openapi.api_parameters import (
    MAX_PARAMETERS,
    OperationNotes,
    Parameter,
    ParameterReader,
    list_declared_parameters,
)
from pegboard.kinds.http.openapi.convert_schema import Schema, SchemaConverter
from pegboard.kinds.http.openapi.document_references import DocumentReferences, Unusable
from pegboard.kinds.http.openapi.import_pace import ImportProgress
from pegboard.kinds.http.openapi.naming import PropertyNames, join_paragraphs, make_one_line
from pegboard.kinds.http.openapi.request_bodies import RequestBody, RequestBodyReader
from pegboard.kinds.http.openapi.security import Security, list_sent_parameters
from pegboard.kinds.http.openapi.servers import ServerUrls, join_url
from pegboard.kinds.http.openapi.shared_schemas import SharedSchemas
from pegboard.kinds.http.openapi.swagger2 import SwaggerReader
from pegboard.kinds.import_names import MAX_TAG_LENGTH, clean_text, shorten_text

_QUERY_METHODS = frozenset({"GET", "HEAD", "DELETE", "OPTIONS"})
_MAX_DEPENDENT_FIELDS = 200
_PARAMETER_PLACES = ("path", "query", "header", "cookie")
_INVALID_PATH_CHARACTERS = re.compile(r"[\x00-\x20\x7f\\{}]+")


@dataclass(slots=True)
class AssembledTool:
    """A tool's input schema without `$defs`, and its config without the base URL."""

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
        """Return the config without empty entries; raise Unusable if a name looks like a secret reference."""
        values = {"params_in": self.params_in, "styles": self.styles, "wire_names": self.wire_names, **self.body}
        if "{{" in str(values):
            # It would refer to a secret of the importing user.
            raise Unusable("a name in it holds '{{'")
        return {"url": url, "method": self.method, **{word: value for word, value in values.items() if value}}


def assemble_tool(
    method: str,
    path: str,
    parameters: list[Parameter],
    body: RequestBody | None,
    notes: OperationNotes,
    *,
    flatten: bool = True,
) -> AssembledTool:
    """Assemble the tool; with `flatten`, the body is split into fields if that is equivalent."""
    tool = AssembledTool(method)
    in_url = {id(each) for each in _add_path(tool, path, parameters, notes)}
    is_flat = body is not None and flatten and _can_flatten(method, body)
    default = "query" if method in _QUERY_METHODS or (body is not None and not is_flat) else "body"
    for place in _PARAMETER_PLACES[1:]:
        for parameter in parameters:
            if parameter.place == place and id(parameter) not in in_url:
                _add_parameter(tool, parameter, default)
    if body is not None:
        if is_flat:
            _add_fields(tool, body, default)
        else:
            _add_whole_body(tool, body)
        if body.format != "json":
            tool.body["body_format"] = body.format
        if body.content_type is not None:
            tool.body["content_type"] = body.content_type
    return tool


def _can_flatten(method: str, body: RequestBody) -> bool:
    if not body.fields or (
        not body.required and len(body.fields) * len(_list_required_fields(body)) > _MAX_DEPENDENT_FIELDS
    ):
        return False
    return method not in _QUERY_METHODS or body.rest is None or body.rest is False


def _list_required_fields(body: RequestBody) -> list[str]:
    """Return the required fields of a body that have no default."""
    return [each.name for each in body.fields if each.required and "default" not in each.schema]


def _add_parameter(tool: AssembledTool, parameter: Parameter, default: str) -> str:
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


def _add_fields(tool: AssembledTool, body: RequestBody, default: str) -> None:
    needed = [] if body.required else _list_required_fields(body)
    fields = body.fields if body.required else [replace(each, required=False) for each in body.fields]
    if needed:
        # A default that is filled in would create a body, which would be incomplete.
        fields = [replace(each, schema=_move_default_to_description(each.schema)) for each in fields]
    names = {each.name: _add_parameter(tool, each, default) for each in fields}
    for each in fields:
        if others := [names[name] for name in needed if name != each.name]:
            tool.together[names[each.name]] = others
    tool.rest = body.rest
    if body.required and not any(each.required for each in fields):
        # An empty body is sent too, but only if params_in shows that there is one.
        tool.params_in |= dict.fromkeys(names.values(), "body")
    if body.part_types:
        tool.body["part_types"] = {names[name]: media_type for name, media_type in body.part_types.items()}


def _move_default_to_description(schema: Schema) -> Schema:
    if "default" not in schema:
        return schema
    default = f"Default: {format_value(schema['default'])}"
    others = {word: value for word, value in schema.items() if word != "default"}
    return {**others, "description": f"{schema.get('description', '')}\n\n{default}".strip()}


def _add_whole_body(tool: AssembledTool, body: RequestBody) -> None:
    name = tool.names.take("body", "request")
    tool.properties[name] = body.whole
    if body.required:
        tool.required.append(name)
    tool.body["body_param"] = name
    if body.format in ("form", "multipart"):
        styles = {each.name: each.style for each in body.fields if each.style is not None}
        if styles.keys() & tool.properties.keys():
            raise Unusable(
                "a parameter and a field of its form have one name, and the form cannot be split into fields"
            )
        tool.styles |= styles
        if body.part_types:
            tool.body["part_types"] = dict(body.part_types)


def _add_path(tool: AssembledTool, path: str, parameters: list[Parameter], notes: OperationNotes) -> list[Parameter]:
    """Build the path with its placeholders; return the parameters that fill them."""
    declared = {each.name: each for each in parameters if each.place == "path"}
    in_query = {each.name: each for each in parameters if each.place == "query"}
    named: dict[str, str] = {}
    filling: list[Parameter] = []
    url = ""
    if path.count("{") > MAX_PARAMETERS:
        raise Unusable(f"its path has more than {MAX_PARAMETERS:,} placeholders")
    for index, piece in enumerate(URL_PLACEHOLDER.split(path.partition("#")[0])):
        if index % 2 == 0:
            url += _INVALID_PATH_CHARACTERS.sub(lambda match: quote(match[0], safe=""), piece)
            continue
        wire = _find_parameter_name(piece, declared)
        if wire not in named:
            asked = declared.get(wire) or (in_query.get(wire) if "?" in url else None)
            filling.append(asked or Parameter(wire, "path", {"type": "string"}, True))
            named[wire] = _add_parameter(tool, filling[-1], "query")
        url += f"{{{named[wire]}}}"
    for name in declared.keys() - named.keys():
        notes.leave_out(f"the path parameter '{name[:100]}'", "the path has no placeholder for it")
    tool.path = url
    return filling


def _find_parameter_name(placeholder: str, declared: Mapping[str, Parameter]) -> str:
    """Return the parameter of a placeholder; some documents write more than its name between the braces."""
    plain = placeholder.strip().strip("+*")
    for name in (placeholder, plain, plain.partition(":")[0], plain.partition("=")[0]):
        if name in declared:
            return name
    return plain or placeholder


# In bytes of JSON: the limit of one input schema, of all schemas of a document, and of each one after that.
MAX_TOOL_SCHEMA_BYTES = 200_000
MAX_TOTAL_SCHEMA_BYTES = 32_000_000
REDUCED_SCHEMA_BYTES = 8_000

MAX_TAGS = 64
MAX_DESCRIPTION_LENGTH = 2000
_MAX_READ_TAGS = 1000
_MAX_LISTED_NAMES = 5


class ToolBuilder:
    """Builds the definitions of one document's tools; shared parts are read once."""

    def __init__(
        self,
        document: Mapping[str, Any],
        references: DocumentReferences,
        operations: Sequence[Operation],
        *,
        is_old: bool,
        source_url: str | None,
        server_url: str | None,
        auth_config: Mapping[str, Any] | None,
        tag: str,
        pace: ImportProgress,
    ) -> None:
        self._schemas = schemas = SchemaConverter(references, is_old=is_old, beat=pace.beat)
        self._references = references
        self._parameters = ParameterReader(schemas)
        self._bodies = RequestBodyReader(references, schemas)
        self._swagger = SwaggerReader(document, schemas, self._bodies) if "openapi" not in document else None
        self._definitions = SharedSchemas(schemas, pace.beat)
        self._servers = ServerUrls(document, references, source_url, server_url)
        self._security = Security(document, references, [each.definition for each in operations], auth_config)
        self._tag = tag
        self._remaining_schema_bytes = MAX_TOTAL_SCHEMA_BYTES

    @property
    def warnings(self) -> list[str]:
        """The changes made to the schemas of the definitions so far."""
        return self._schemas.warnings

    def bodies(self, operation: Operation, notes: OperationNotes) -> list[RequestBody]:
        """Return the bodies that the operation can send, best first; each becomes its own tool; raise Unusable."""
        return self._read_inputs(operation, notes)[1]

    def definition(self, operation: Operation, body: RequestBody | None, notes: OperationNotes) -> dict[str, Any]:
        """Return the definition of the operation's tool with this body, and note what is left out; raise Unusable."""
        spec, method = operation.definition, operation.method
        base = self._servers.base(spec, operation.path_item)
        parameters, _ = self._read_inputs(operation, OperationNotes())
        auth = self._security.of(spec)
        if auth is not None and (why := self._servers.explain_withheld(base)) is not None:
            notes.leave_out("its credentials", why)
            auth = None
        filled = list_sent_parameters(auth) | {
            ("query", name) for name in _list_fixed_query_names(join_url(base, operation.path))
        }
        parameters = [
            each
            for each in parameters
            if (each.place, each.name.lower() if each.place == "header" else each.name) not in filled
        ]
        tool, schema = self._fit_tool(operation, parameters, body, notes)
        if spec.get("callbacks"):
            notes.leave_out("callbacks", "they are requests that the API sends, and tools only send to it")
        definition: dict[str, Any] = {
            "name": operation.name,
            "description": _build_description(operation),
            "display_name": make_one_line(spec.get("summary"), 255) or None,
            "tool_type": "http",
            "input_schema": schema,
            "config": tool.config(join_url(base, tool.path)),
            "tags": [*_list_tags(spec.get("tags"), self._tag), self._tag],
            "read_only": method in ("GET", "HEAD", "OPTIONS"),
            "idempotent": method not in ("POST", "PATCH"),
            "destructive": method == "DELETE",
        }
        return definition if auth is None else {**definition, "auth_config": auth}

    def _read_inputs(self, operation: Operation, notes: OperationNotes) -> tuple[list[Parameter], list[RequestBody]]:
        definition = operation.definition
        raws = list_declared_parameters(
            self._references, operation.path_item.get("parameters"), definition.get("parameters")
        )
        if self._swagger is not None:
            return self._swagger.parameters(raws, notes), self._swagger.body(raws, definition, notes)
        return self._parameters.read(raws, notes), self._bodies.read(definition.get("requestBody"), notes)

    def _fit_tool(
        self, operation: Operation, parameters: list[Parameter], body: RequestBody | None, notes: OperationNotes
    ) -> tuple[AssembledTool, Schema]:
        """Return the tool and its input schema, with as many referenced schemas as fit."""
        room = MAX_TOOL_SCHEMA_BYTES if self._remaining_schema_bytes > 0 else REDUCED_SCHEMA_BYTES
        tool = assemble_tool(operation.method, operation.path, parameters, body, notes)
        part = self._definitions.start(tool.schema)
        if part.size > room and body is not None:
            # As one value, the body is a reference, which can be cut.
            tool = assemble_tool(operation.method, operation.path, parameters, body, OperationNotes(), flatten=False)
            part = self._definitions.start(tool.schema)
        if part.size > room and room == REDUCED_SCHEMA_BYTES:
            raise Unusable("the document's schemas are too large in total; select fewer operations with include")
        if part.size > MAX_SCHEMA_BYTES:
            # Registration would reject it too, but after more work.
            raise Unusable(f"its input is {part.size:,} bytes as JSON, at most {MAX_SCHEMA_BYTES:,} are accepted")
        schema, cut = self._definitions.build_schema(part, room)
        self._remaining_schema_bytes -= len(orjson.dumps(schema))
        if cut:
            more = f" and {len(cut) - _MAX_LISTED_NAMES} more" if len(cut) > _MAX_LISTED_NAMES else ""
            names = ", ".join(name[:50] for name in cut[:_MAX_LISTED_NAMES])
            notes.leave_out(f"the schemas {names}{more}", "its input would be too large; any value is accepted there")
        return tool, schema


def _list_fixed_query_names(url: str) -> set[str]:
    """Return the names of the URL's query parameters without a placeholder: their values are fixed."""
    pairs = url.partition("#")[0].partition("?")[2].split("&")
    return {unquote_plus(pair.partition("=")[0]) for pair in pairs if pair and URL_PLACEHOLDER.search(pair) is None}


def _build_description(operation: Operation) -> str:
    definition = operation.definition
    holders = (definition, operation.path_item)
    texts = (join_paragraphs(clean_text(it.get("summary")), clean_text(it.get("description"))) for it in holders)
    text = next(filter(None, texts), clean_text(operation.route))
    if definition.get("deprecated") is True:
        text = f"Deprecated. {text}"
    return shorten_text(text, MAX_DESCRIPTION_LENGTH)


def _list_tags(given: Any, own: str) -> list[str]:
    tags = [make_one_line(tag, MAX_TAG_LENGTH) for tag in given[:_MAX_READ_TAGS]] if isinstance(given, list) else []
    return [tag for tag in dict.fromkeys(tags) if tag and tag != own][: MAX_TAGS - 1]
