"""The parameters of an operation, as OpenAPI 3 declares them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from pegboard.core.outbound import check_header
from pegboard.registry.openapi.examples import modest
from pegboard.registry.openapi.media import is_json, is_text
from pegboard.registry.openapi.references import Blended, References, Unusable, kind_of, shown
from pegboard.registry.openapi.schemas import TEXT_LENGTH, Schema, Schemas
from pegboard.registry.openapi.texts import clean, cut_readably, joined

Style = dict[str, Any]

# More than any API has, so that what grows with each of them stays within bounds.
MOST_PARAMETERS = 1000

SCALARS = frozenset({"string", "integer", "number", "boolean", "null"})

_STYLES: dict[str, tuple[str, ...]] = {
    "path": ("simple", "label", "matrix"),
    "query": ("form", "spaceDelimited", "pipeDelimited", "deepObject"),
    "header": ("simple",),
    "cookie": ("form",),
    "body": ("form", "spaceDelimited", "pipeDelimited", "deepObject"),
}
# OpenAPI has these said elsewhere: by the media types, and by the security schemes.
_PASSED_OVER = frozenset({"accept", "content-type", "authorization"})
_TOKEN = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+", re.ASCII)


@dataclass(frozen=True, slots=True)
class Parameter:
    """One thing that a request is filled with: where it goes, under which name, and how it is written there."""

    name: str
    place: str
    schema: Schema
    required: bool = False
    style: Style | None = None


@dataclass(slots=True)
class Notes:
    """What of an operation is left out while the rest is taken."""

    texts: list[str] = field(default_factory=list)

    def leave_out(self, what: str, why: str, *, required: bool = False) -> None:
        """Note a part that cannot be expressed; raises Unusable where the operation needs it."""
        if required:
            raise Unusable(f"{what} is required, and {why}")
        self.texts.append(f"without {what}: {why}")


def declared(references: References, *holders: Any) -> list[dict[str, Any]]:
    """The parameters that a path and its operation declare, the operation's in place of the path's."""
    count = sum(len(given) for given in holders if isinstance(given, list))
    if count > MOST_PARAMETERS:
        raise Unusable(f"it has {count:,} parameters, and a tool takes at most {MOST_PARAMETERS:,}")
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for given in holders:
        if given is None:
            continue
        if not isinstance(given, list):
            raise Unusable(f"parameters must be a list, not {kind_of(given)}")
        for each in given:
            raw = references.followed(each, "a parameter")
            name, place = raw.get("name"), raw.get("in")
            if not isinstance(place, str):
                raise Unusable(f"a parameter must say where it is `in`; {shown(name)} does not")
            if not isinstance(name, str) or not name:
                raise Unusable(f"a parameter in {place[:20]} must have a name, which is a text")
            found[place, name.lower() if place == "header" else "" if place == "body" else name] = raw
    return list(found.values())


class Parameters:
    """Reads parameters, each of them once."""

    def __init__(self, schemas: Schemas) -> None:
        self._schemas = schemas
        self._read: dict[int, tuple[Any, Parameter | None, list[str]]] = {}

    def read(self, raws: list[dict[str, Any]], notes: Notes) -> list[Parameter]:
        """The parameters that can be sent; those that cannot are noted, or raise Unusable where they are required."""
        return [found for raw in raws if (found := self._one(raw, notes)) is not None]

    def _one(self, raw: dict[str, Any], notes: Notes) -> Parameter | None:
        if isinstance(raw, Blended):
            return self._new(raw, notes)
        if id(raw) not in self._read:
            own = Notes()
            self._read[id(raw)] = (raw, self._new(raw, own), own.texts)  # itself too, so that its id stays its own
        _, found, texts = self._read[id(raw)]
        notes.texts += texts
        return found

    def _new(self, raw: dict[str, Any], notes: Notes) -> Parameter | None:
        name, place = raw["name"], raw["in"]
        required = raw.get("required") is True or place == "path"
        what = f"the {place} parameter '{name[:100]}'"
        if place not in ("path", "query", "header", "cookie"):
            notes.leave_out(what, f"'{place[:20]}' is no place that a tool can send to", required=required)
            return None
        if not is_sendable(name, place, what, notes, required=required):
            return None
        if "content" in raw:
            schema, style = self._with_content(raw, what, notes, required=required)
            if schema is None:
                return None
        elif "schema" in raw:
            schema = self._schemas.kept(raw["schema"], what)
            style = styled(place, raw, self._schemas.resolved(schema), what)
        else:
            schema, style = {"type": "string"}, None
        return Parameter(name, place, described(schema, raw), required, style)

    def _with_content(
        self, raw: dict[str, Any], what: str, notes: Notes, *, required: bool
    ) -> tuple[Schema | None, Style | None]:
        content = raw["content"]
        if not isinstance(content, dict) or len(content) != 1:
            raise Unusable(f"content of {what} must be an object with one media type")
        media_type, entry = next(iter(content.items()))
        if not isinstance(entry, dict):
            raise Unusable(f"content of {what} must be an object, not {kind_of(entry)}")
        schema = self._schemas.kept(entry.get("schema", {}), what)
        if is_json(media_type):
            return schema, {"style": "json"}
        if is_text(media_type):
            return (schema if is_scalar(self._schemas.resolved(schema)) else {"type": "string"}), None
        notes.leave_out(what, f"it is written as {str(media_type)[:100]}", required=required)
        return None, None


def is_sendable(name: str, place: str, what: str, notes: Notes, *, required: bool) -> bool:
    """Whether a parameter of this name can be sent in its place; where it cannot, that is noted."""
    if place == "header":
        if name.lower() in _PASSED_OVER:
            return False
        try:
            check_header(name)
        except ValueError as error:
            is_own = _TOKEN.fullmatch(name) is not None
            notes.leave_out(what, str(error), required=required and not is_own)
            return False
    if place == "cookie" and not _TOKEN.fullmatch(name):
        notes.leave_out(what, "a cookie cannot have this name", required=required)
        return False
    if "{{" in name:
        # In a config, that would name one of the importer's own secrets.
        notes.leave_out(what, "its name holds '{{'", required=required)
        return False
    return True


def styled(place: str, raw: dict[str, Any], schema: Any, what: str) -> Style | None:
    """How the values are written, or None where that is the usual way in this place."""
    usual = _STYLES[place][0]
    style, explode = raw.get("style", usual), raw.get("explode")
    if style == "cookie" and place == "cookie":
        style = "form"
    if style not in _STYLES[place]:
        raise Unusable(f"{what} has the style {shown(style)}; known there: {', '.join(_STYLES[place])}")
    if explode is not None and not isinstance(explode, bool):
        raise Unusable(f"explode of {what} must be true or false, not {kind_of(explode)}")
    found: Style = {"style": style}
    if is_scalar(schema):
        if style in ("spaceDelimited", "pipeDelimited", "deepObject"):
            found["style"] = usual
    elif explode is not None and explode != (style == "form") and style != "deepObject":
        found["explode"] = explode
    if raw.get("allowReserved") is True and place in ("query", "body"):
        found["allow_reserved"] = True
    return None if found == {"style": usual} else found


def is_scalar(schema: Any) -> bool:
    """Whether every value of the schema is a single one: no array, no object."""
    if not isinstance(schema, dict):
        return False
    kinds = schema.get("type")
    if isinstance(kinds, list):
        return bool(kinds) and all(isinstance(kind, str) and kind in SCALARS for kind in kinds)
    return isinstance(kinds, str) and kinds in SCALARS


def described(schema: Schema, raw: dict[str, Any]) -> Schema:
    """The schema with what is said of the parameter or body beside it."""
    is_deprecated = raw.get("deprecated") is True or schema.get("deprecated") is True
    text = joined(clean(raw.get("description")), schema.get("description", ""))
    if is_deprecated:
        text = f"Deprecated. {text}".strip()
    whole = dict(schema)
    if text:
        whole.pop("title", None)
        whole["description"] = cut_readably(text, TEXT_LENGTH)
    if is_deprecated:
        whole["deprecated"] = True
    if "examples" not in whole and (examples := modest(raw)):
        whole["examples"] = examples
    return whole
