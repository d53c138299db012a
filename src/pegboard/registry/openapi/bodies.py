"""The bodies of an operation: its best media type, and those that carry something else, each as fields or one value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pegboard.registry.openapi.flattening import Flattening
from pegboard.registry.openapi.forms import file_schema, files_in, form_fields, is_binary
from pegboard.registry.openapi.media import bare_type, content_type, kind_of_body, rank
from pegboard.registry.openapi.parameters import MOST_PARAMETERS, Notes, Parameter, described, is_scalar
from pegboard.registry.openapi.references import Blended, References, Unusable, kind_of
from pegboard.registry.openapi.schemas import Schema, Schemas

_EXAMPLES = ("example", "examples")

# Tools that are made of one operation beside the first, for media types that carry something else.
MOST_OTHERS = 4


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
    media_type: str = ""


class _Inexpressible(Exception):
    """A media type that no tool can send; the message goes on from `because`."""


class Bodies:
    """Reads bodies, each of them once."""

    def __init__(self, references: References, schemas: Schemas) -> None:
        self._references = references
        self._schemas = schemas
        self._flattening = Flattening(references, schemas)
        self._read: dict[int, tuple[Any, list[Body], list[str]]] = {}

    def read(self, raw: Any, notes: Notes) -> list[Body]:
        """The bodies of an OpenAPI 3 operation, the best first; none if none can be sent; raises Unusable."""
        if raw is None:
            return []
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

    def of_content(self, content: Any, about: dict[str, Any], notes: Notes) -> list[Body]:
        """The body of the best of these media types, and of those that carry what it cannot.

        `about` says whether a body is required, and what it is.
        """
        if not isinstance(content, dict):
            raise Unusable(f"content of requestBody must be an object, not {kind_of(content)}")
        if len(content) > MOST_PARAMETERS:
            raise Unusable(f"its body has {len(content):,} media types, and at most {MOST_PARAMETERS:,} are looked at")
        why = "it names no media type"
        found: list[Body] = []
        for media_type in self._in_order(content):
            what, entry = f"its body as {str(media_type)[:100]}", content[media_type]
            if found and not self._loses(found[0], content[found[0].media_type], media_type, entry):
                continue
            if len(found) > MOST_OTHERS:
                notes.leave_out(what, f"at most {MOST_OTHERS + 1} tools are made of one operation")
                continue
            try:
                found.append(self._of_type(media_type, entry, about))
            except _Inexpressible as error:
                why = str(error)
                if found:
                    notes.leave_out(what, why)
            except Unusable as error:
                if not found:
                    raise
                notes.leave_out(what, str(error))
        if not found:
            notes.leave_out("its body", why, required=about.get("required") is True)
        elif kind_of_body(found[0].media_type) == "xml":
            notes.leave_out("the structure of its body", f"{found[0].media_type} is written as text")
        return found

    def _in_order(self, content: Mapping[Any, Any]) -> list[Any]:
        """The media types, the best first: multipart in front where it has the same fields, and files among them."""
        order = sorted(content, key=rank)
        for media_type in order[1:]:
            entry, best = content[media_type], content[order[0]]
            if not isinstance(entry, dict) or not isinstance(best, dict) or kind_of_body(media_type) != "multipart":
                continue
            if entry.get("schema") == best.get("schema") and self._has_files(entry.get("schema", {})):
                return [media_type, *(each for each in order if each != media_type)]
        return order

    def _has_files(self, raw: Any) -> bool:
        try:
            schema = self._schemas.kept(raw)
            return files_in(schema, self._schemas, fields=True) is not schema
        except Unusable:
            return False

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
            form, whole = self._text(media_type, kind, schema)
            # A pattern such as image/* cannot be sent: the argument names the type.
            sent_as = None if form == "binary" and "*" in media_type else sent_as
            return Body(form, described(whole, said), required, content_type=sent_as, media_type=media_type)
        flat = self._flattening.flat(raw, schema)
        fields = [Parameter(name, "body", item, name in flat.required) for name, item in flat.properties.items()]
        if kind == "json":
            return Body("json", described(schema, said), required, tuple(fields), flat.rest, sent_as, {}, media_type)
        fields, part_types = form_fields(fields, entry.get("encoding"), self._schemas, is_multipart=kind == "multipart")
        whole = as_one(fields, flat.rest) if fields else schema
        if not fields and kind == "multipart":
            whole = files_in(schema, self._schemas, fields=True)
        return Body(kind, described(whole, said), required, tuple(fields), flat.rest, sent_as, part_types, media_type)

    def _text(self, media_type: str, kind: str, schema: Schema) -> tuple[str, Schema]:
        """The format of a body that is one value, and its schema."""
        meant = self._schemas.resolved(schema)
        if kind == "binary" and bare_type(media_type).startswith("multipart/"):
            raise _Inexpressible(f"{media_type} has parts without names; multipart/form-data can be sent")
        if kind == "binary" and (not is_scalar(meant) or is_binary(meant)):
            about = {"description": f"The body as {media_type}", **schema}
            return "binary", file_schema(about, is_body=True, has_type="*" in media_type)
        if kind == "text" and is_scalar(meant) and not is_binary(meant):
            return "text", schema
        return "text", {"type": "string", "description": f"The body as {media_type}"}

    def _loses(self, body: Body, chosen: dict[str, Any], other: Any, entry: Any) -> bool:
        """Whether another media type could carry something that the chosen one cannot."""
        kind = kind_of_body(other)
        if kind not in ("form", "multipart", "binary") or not isinstance(entry, dict):
            return False
        if kind == "binary":
            # Generators list every type that a framework knows for one and the same object.
            is_same = entry.get("schema", {}) == chosen.get("schema", {})
            return body.format not in ("text", "binary") and not (is_same and body.fields)
        if kind == "form" and entry.get("schema") == chosen.get("schema"):
            return False
        try:
            flat = self._flattening.flat(entry.get("schema", {}), self._schemas.kept(entry.get("schema", {})))
        except Unusable:
            return True
        known = {each.name for each in body.fields}
        if kind == "multipart" and body.format != "multipart" and self._has_files(entry.get("schema", {})):
            return True
        return bool(known and flat.properties.keys() - known)


def as_one(fields: list[Parameter], rest: Any) -> Schema:
    """The object that these fields make up."""
    whole: Schema = {"type": "object", "properties": {each.name: each.schema for each in fields}}
    if required := [each.name for each in fields if each.required]:
        whole["required"] = required
    return whole if rest is None else {**whole, "additionalProperties": rest}
