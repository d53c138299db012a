"""The body of an operation: its best media type, as fields of a tool or as one value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pegboard.registry.openapi.flattening import Flattening
from pegboard.registry.openapi.forms import form_fields, is_binary
from pegboard.registry.openapi.media import content_type, kind_of_body, rank
from pegboard.registry.openapi.parameters import MOST_PARAMETERS, Notes, Parameter, described, is_scalar
from pegboard.registry.openapi.references import Blended, References, Unusable, kind_of
from pegboard.registry.openapi.schemas import Schema, Schemas

_EXAMPLES = ("example", "examples")


@dataclass(frozen=True, slots=True)
class Body:
    """A request's body: how it is written, what it is as one value, and the fields it is made of, if it is."""

    format: str
    whole: Schema
    required: bool
    fields: tuple[Parameter, ...] = ()
    rest: Any = None
    content_type: str | None = None
    part_types: Mapping[str, str] = field(default_factory=dict)


class _Inexpressible(Exception):
    """A media type that no tool can send; the message goes on from `because`."""


class Bodies:
    """Reads bodies, each of them once."""

    def __init__(self, references: References, schemas: Schemas) -> None:
        self._references = references
        self._schemas = schemas
        self._flattening = Flattening(references, schemas)
        self._read: dict[int, tuple[Any, Body | None, list[str]]] = {}

    def read(self, raw: Any, notes: Notes) -> Body | None:
        """The body of an OpenAPI 3 operation, or None if it has none that can be sent; raises Unusable."""
        if raw is None:
            return None
        body = self._references.followed(raw, "requestBody")
        if isinstance(body, Blended):
            return self.of_content(body.get("content"), body, notes)
        if id(body) not in self._read:
            own = Notes()
            found = self.of_content(body.get("content"), body, own)
            self._read[id(body)] = (body, found, own.texts)  # the body too, so that its id stays its own
        _, found, texts = self._read[id(body)]
        notes.texts += texts
        return found

    def of_content(self, content: Any, about: dict[str, Any], notes: Notes) -> Body | None:
        """The body that the best of these media types makes; `about` says whether it is required, and what it is."""
        if not isinstance(content, dict):
            raise Unusable(f"content of requestBody must be an object, not {kind_of(content)}")
        if len(content) > MOST_PARAMETERS:
            raise Unusable(f"its body has {len(content):,} media types, and at most {MOST_PARAMETERS:,} are looked at")
        why = "it names no media type"
        for media_type in sorted(content, key=rank):
            try:
                body = self._of_type(media_type, content[media_type], about)
            except _Inexpressible as error:
                why = str(error)
                continue
            for other, entry in content.items():
                if other != media_type and self._loses(body, content[media_type], other, entry):
                    notes.leave_out(f"its body as {str(other)[:100]}", f"it is sent as {media_type}")
            if kind_of_body(media_type) == "xml":
                notes.leave_out("the structure of its body", f"{media_type} is written as text")
            return body
        notes.leave_out("its body", why, required=about.get("required") is True)
        return None

    def _of_type(self, media_type: Any, entry: Any, about: dict[str, Any]) -> Body:
        kind = kind_of_body(media_type)
        if kind == "unknown":
            raise _Inexpressible(f"'{str(media_type)[:100]}' is no media type")
        if not isinstance(entry, dict):
            raise Unusable(f"the body as {media_type} must be an object, not {kind_of(entry)}")
        required, raw = about.get("required") is True, entry.get("schema", {})
        schema = self._schemas.kept(raw, "its body")
        said = {"description": about.get("description"), **{word: entry[word] for word in _EXAMPLES if word in entry}}
        sent_as = content_type(media_type)
        if kind in ("text", "xml", "binary"):
            text = self._text(media_type, kind, schema)
            return Body("text", described(text, said), required, content_type=sent_as)
        flat = self._flattening.flat(raw, schema)
        fields = [Parameter(name, "body", item, name in flat.required) for name, item in flat.properties.items()]
        if kind == "json":
            return Body("json", described(schema, said), required, tuple(fields), flat.rest, sent_as)
        fields, part_types = form_fields(fields, entry.get("encoding"), self._schemas, is_multipart=kind == "multipart")
        whole = as_one(fields, flat.rest) if fields else schema
        return Body(kind, described(whole, said), required, tuple(fields), flat.rest, sent_as, part_types)

    def _text(self, media_type: str, kind: str, schema: Schema) -> Schema:
        meant = self._schemas.resolved(schema)
        if kind == "binary" and (not is_scalar(meant) or is_binary(meant)):
            raise _Inexpressible(f"a body of {media_type} is bytes, not text")
        if kind == "text" and is_scalar(meant) and not is_binary(meant):
            return schema
        return {"type": "string", "description": f"The body as {media_type}"}

    def _loses(self, body: Body, chosen: dict[str, Any], other: Any, entry: Any) -> bool:
        """Whether another media type could carry something that the chosen one cannot."""
        kind = kind_of_body(other)
        if kind == "binary":
            return body.format != "text"
        if kind not in ("form", "multipart") or not isinstance(entry, dict):
            return False
        if kind == "form" and entry.get("schema") == chosen.get("schema"):
            return False
        try:
            flat = self._flattening.flat(entry.get("schema", {}), self._schemas.kept(entry.get("schema", {})))
        except Unusable:
            return True
        has_files = any(is_binary(self._schemas.resolved(item)) for item in flat.properties.values())
        known = {each.name for each in body.fields}
        return (has_files and body.format != "multipart") or bool(known and flat.properties.keys() - known)


def as_one(fields: list[Parameter], rest: Any) -> Schema:
    """The object that these fields make up."""
    whole: Schema = {"type": "object", "properties": {each.name: each.schema for each in fields}}
    if required := [each.name for each in fields if each.required]:
        whole["required"] = required
    return whole if rest is None else {**whole, "additionalProperties": rest}
