"""The parameters and bodies of Swagger 2.0."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pegboard.registry.openapi.bodies import Bodies, Body, as_one
from pegboard.registry.openapi.forms import with_files
from pegboard.registry.openapi.media import kind_of_body
from pegboard.registry.openapi.parameters import MOST_PARAMETERS, Notes, Parameter, Style, described, is_sendable
from pegboard.registry.openapi.references import Blended, Unusable, kind_of, shown
from pegboard.registry.openapi.schemas import Schema, Schemas
from pegboard.registry.openapi.texts import clean

_SEPARATORS = {"csv": "a comma", "ssv": "a space", "tsv": "a tab", "pipes": "|"}
_IN_QUERY: dict[str, Style | None] = {
    "csv": {"style": "form", "explode": False},
    "ssv": {"style": "spaceDelimited"},
    "pipes": {"style": "pipeDelimited"},
    "multi": None,
}


class Swagger:
    """Reads what an operation of Swagger 2.0 takes."""

    def __init__(self, document: Mapping[str, Any], schemas: Schemas, bodies: Bodies) -> None:
        self._consumes = document.get("consumes") or []
        self._schemas = schemas
        self._bodies = bodies
        self._parameters: dict[tuple[int, str], tuple[Any, Parameter]] = {}
        self._read: dict[tuple[int, int], tuple[Any, Any, list[Body], list[str]]] = {}

    def parameters(self, raws: list[dict[str, Any]], notes: Notes) -> list[Parameter]:
        """The parameters in path, query and headers; what cannot be sent is noted, or raises Unusable if required."""
        found = []
        for raw in raws:
            name, place = raw["name"], raw["in"]
            if place in ("body", "formData"):
                continue
            what = f"the {place} parameter '{name[:100]}'"
            required = raw.get("required") is True or place == "path"
            if place not in ("path", "query", "header"):
                notes.leave_out(what, f"'{place[:20]}' is no place that Swagger 2.0 knows", required=required)
            elif is_sendable(name, place, what, notes, required=required):
                found.append(self._parameter(raw, place, what, required=required))
        return found

    def body(self, raws: list[dict[str, Any]], operation: Mapping[str, Any], notes: Notes) -> list[Body]:
        """What is sent as the body or as a form, the best first; raises Unusable."""
        whole = [raw for raw in raws if raw["in"] == "body"]
        fields = [raw for raw in raws if raw["in"] == "formData"]
        if not whole and not fields:
            return []
        media_types = operation.get("consumes") or self._consumes
        if not isinstance(media_types, list):
            raise Unusable(f"consumes must be a list, not {kind_of(media_types)}")
        if len(media_types) > MOST_PARAMETERS:
            raise Unusable(f"consumes names {len(media_types):,} types, and at most {MOST_PARAMETERS:,} are looked at")
        texts = [each for each in media_types if isinstance(each, str)]
        if whole and fields:
            raise Unusable("it has a body and a form, and a request has room for one")
        if whole:
            return self._whole(whole[0], media_types, texts, notes)
        return [self._form(fields, texts, notes)]

    def _whole(self, raw: dict[str, Any], media_types: list[Any], texts: list[str], notes: Notes) -> list[Body]:
        entry = {"schema": raw.get("schema", {})}
        content = dict.fromkeys(texts or ["application/json"], entry)
        if isinstance(raw, Blended):
            return self._bodies.of_content(content, raw, notes)
        key = (id(raw), id(media_types))
        if key not in self._read:
            own = Notes()
            found = self._bodies.of_content(content, raw, own)
            self._read[key] = (raw, media_types, found, own.texts)  # these too, so that their ids stay their own
        notes.texts += self._read[key][3]
        return self._read[key][2]

    def _form(self, raws: list[dict[str, Any]], media_types: list[str], notes: Notes) -> Body:
        has_files = any(raw.get("type") == "file" for raw in raws)
        kinds = {kind_of_body(each) for each in media_types}
        is_multipart = has_files or ("multipart" in kinds and "form" not in kinds)
        fields = []
        for raw in raws:
            name, required = raw["name"], raw.get("required") is True
            what = f"the field '{name[:100]}'"
            if is_sendable(name, "body", what, notes, required=required):
                field = self._parameter(raw, "body", what, required=required)
                fields.append(with_files(field, self._schemas) if is_multipart else field)
        needed = any(each.required for each in fields)
        return Body("multipart" if is_multipart else "form", as_one(fields, None), needed, tuple(fields))

    def _parameter(self, raw: dict[str, Any], place: str, what: str, *, required: bool) -> Parameter:
        if isinstance(raw, Blended):
            return self._new(raw, place, what, required=required)
        key = (id(raw), place)
        if key not in self._parameters:
            self._parameters[key] = (raw, self._new(raw, place, what, required=required))
        return self._parameters[key][1]

    def _new(self, raw: dict[str, Any], place: str, what: str, *, required: bool) -> Parameter:
        convert = self._schemas.converted if isinstance(raw, Blended) else self._schemas.kept
        schema = convert(raw["schema"] if "type" not in raw and "schema" in raw else raw, what)
        if not schema.keys() & {"type", "$ref", "allOf", "enum"}:
            schema = {"type": "string", **schema}
        style: Style | None = None
        if schema.get("type") == "array":
            schema, style = _collected(schema, raw.get("collectionFormat", "csv"), place, what)
        return Parameter(raw["name"], place, described(schema, raw), required, style)


def _collected(schema: Schema, how: Any, place: str, what: str) -> tuple[Schema, Style | None]:
    """An array's schema and style; as a text where no style writes it so."""
    if not isinstance(how, str) or how not in (*_SEPARATORS, "multi"):
        raise Unusable(f"{what} has the collectionFormat {shown(how)}; known: csv, ssv, tsv, pipes, multi")
    if place in ("query", "body") and how in _IN_QUERY:
        return schema, _IN_QUERY[how]
    if how in ("csv", "multi"):
        return schema, None
    says = f"Several values, separated by {_SEPARATORS[how]}."
    return {"type": "string", "description": f"{clean(schema.get('description'))}\n\n{says}".strip()}, None
