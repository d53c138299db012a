"""From an operation to the definition of its tool."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import unquote_plus

import orjson

from pegboard.core.outbound import PLACEHOLDER
from pegboard.registry.openapi.assembling import Assembled, assembled
from pegboard.registry.openapi.bodies import Bodies, Body
from pegboard.registry.openapi.definitions import Definitions
from pegboard.registry.openapi.naming import TAG_LENGTH
from pegboard.registry.openapi.operations import Operation
from pegboard.registry.openapi.pace import Pace
from pegboard.registry.openapi.parameters import Notes, Parameter, Parameters, declared
from pegboard.registry.openapi.references import References, Unusable
from pegboard.registry.openapi.schemas import Schema, Schemas
from pegboard.registry.openapi.security import Security, sent_as
from pegboard.registry.openapi.servers import Servers, url_of
from pegboard.registry.openapi.swagger import Swagger
from pegboard.registry.openapi.texts import clean, cut_readably, joined, one_line
from pegboard.registry.schemas import MAX_BYTES

# Bytes of JSON: what one input schema may come to, all of a document's together, and each one after that.
ROOM = 200_000
ROOM_FOR_ALL = 32_000_000
LITTLE_ROOM = 8_000

MOST_TAGS = 64
DESCRIPTION_LENGTH = 2000
_READ_TAGS = 1000
_NAMED = 5


class Builder:
    """Makes the definitions of one document's tools, one by one; what they share is read once."""

    def __init__(
        self,
        document: Mapping[str, Any],
        references: References,
        operations: Sequence[Operation],
        *,
        is_old: bool,
        source_url: str | None,
        server_url: str | None,
        auth_config: Mapping[str, Any] | None,
        tag: str,
        pace: Pace,
    ) -> None:
        self._schemas = schemas = Schemas(references, is_old=is_old, beat=pace.beat)
        self._references = references
        self._parameters = Parameters(schemas)
        self._bodies = Bodies(references, schemas)
        self._swagger = Swagger(document, schemas, self._bodies) if "openapi" not in document else None
        self._definitions = Definitions(schemas, pace.beat)
        self._servers = Servers(document, references, source_url, server_url)
        self._security = Security(document, references, [each.said for each in operations], auth_config)
        self._tag = tag
        self._room_for_all = ROOM_FOR_ALL

    @property
    def warnings(self) -> list[str]:
        """What was changed in the schemas of the definitions made so far."""
        return self._schemas.warnings

    def bodies(self, operation: Operation, notes: Notes) -> list[Body]:
        """The bodies that the operation can send, the best first; each is a tool of its own; raises Unusable."""
        return self._taken(operation, notes)[1]

    def definition(self, operation: Operation, body: Body | None, notes: Notes) -> dict[str, Any]:
        """The definition of the operation's tool with this body, what it lacks being noted; raises Unusable."""
        said, method = operation.said, operation.method
        base = self._servers.base(said, operation.path_item)
        parameters, _ = self._taken(operation, Notes())
        auth = self._security.of(said)
        if auth is not None and (why := self._servers.withheld(base)) is not None:
            notes.leave_out("its credentials", why)
            auth = None
        filled = sent_as(auth) | {("query", name) for name in _fixed_names(url_of(base, operation.path))}
        parameters = [
            each
            for each in parameters
            if (each.place, each.name.lower() if each.place == "header" else each.name) not in filled
        ]
        tool, schema = self._fitting(operation, parameters, body, notes)
        if said.get("callbacks"):
            notes.leave_out("callbacks", "they are requests that the API sends, and tools only send to it")
        definition: dict[str, Any] = {
            "name": operation.name,
            "description": _description(operation),
            "display_name": one_line(said.get("summary"), 255) or None,
            "tool_type": "http",
            "input_schema": schema,
            "config": tool.config(url_of(base, tool.path)),
            "tags": [*_tags(said.get("tags"), self._tag), self._tag],
            "read_only": method in ("GET", "HEAD", "OPTIONS"),
            "idempotent": method not in ("POST", "PATCH"),
            "destructive": method == "DELETE",
        }
        return definition if auth is None else {**definition, "auth_config": auth}

    def _taken(self, operation: Operation, notes: Notes) -> tuple[list[Parameter], list[Body]]:
        said = operation.said
        raws = declared(self._references, operation.path_item.get("parameters"), said.get("parameters"))
        if self._swagger is not None:
            return self._swagger.parameters(raws, notes), self._swagger.body(raws, said, notes)
        return self._parameters.read(raws, notes), self._bodies.read(said.get("requestBody"), notes)

    def _fitting(
        self, operation: Operation, parameters: list[Parameter], body: Body | None, notes: Notes
    ) -> tuple[Assembled, Schema]:
        """The tool and its input schema, with as much of what it refers to as there is room for."""
        room = ROOM if self._room_for_all > 0 else LITTLE_ROOM
        tool = assembled(operation.method, operation.path, parameters, body, notes)
        part = self._definitions.start(tool.schema)
        if part.size > room and body is not None:
            # As one value, the body is a reference, and can be cut.
            tool = assembled(operation.method, operation.path, parameters, body, Notes(), flatten=False)
            part = self._definitions.start(tool.schema)
        if part.size > room and room == LITTLE_ROOM:
            raise Unusable("the document's schemas come to too much taken together; choose fewer with include")
        if part.size > MAX_BYTES:
            # It would be said later too, after more work.
            raise Unusable(f"its input is {part.size:,} bytes as JSON, at most {MAX_BYTES:,} are accepted")
        schema, cut = self._definitions.whole(part, room)
        self._room_for_all -= len(orjson.dumps(schema))
        if cut:
            more = f" and {len(cut) - _NAMED} more" if len(cut) > _NAMED else ""
            names = ", ".join(name[:50] for name in cut[:_NAMED])
            notes.leave_out(f"the schemas {names}{more}", "its input would be too large; anything is taken there")
        return tool, schema


def _fixed_names(url: str) -> set[str]:
    """The names of the pairs in a URL's query that have no placeholder: their values are set."""
    pairs = url.partition("#")[0].partition("?")[2].split("&")
    return {unquote_plus(pair.partition("=")[0]) for pair in pairs if pair and PLACEHOLDER.search(pair) is None}


def _description(operation: Operation) -> str:
    said, path_item = operation.said, operation.path_item
    text = joined(clean(said.get("summary")), clean(said.get("description")))
    if not text:
        text = joined(clean(path_item.get("summary")), clean(path_item.get("description"))) or clean(operation.route)
    if said.get("deprecated") is True:
        text = f"Deprecated. {text}"
    return cut_readably(text, DESCRIPTION_LENGTH)


def _tags(given: Any, own: str) -> list[str]:
    tags = [one_line(tag, TAG_LENGTH) for tag in given[:_READ_TAGS]] if isinstance(given, list) else []
    return [tag for tag in dict.fromkeys(tags) if tag and tag != own][: MOST_TAGS - 1]
