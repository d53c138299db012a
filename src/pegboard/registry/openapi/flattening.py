"""Bodies that are objects, taken apart into the fields they are made of."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from pegboard.registry.openapi.parameters import MOST_PARAMETERS
from pegboard.registry.openapi.references import References, Unusable
from pegboard.registry.openapi.schemas import DEFS, Schema, Schemas

MAX_DEPTH = 8
MAX_PARTS = 200

# A schema that says more than this of an object cannot be said field by field.
_KNOWN = frozenset({
    "$ref", "type", "title", "description", "properties", "required", "additionalProperties", "allOf", "examples",
    "deprecated",
})  # fmt: skip


@dataclass(slots=True)
class Flat:
    """The fields of an object, none where it cannot be taken apart, and what others must fit, if it says so."""

    properties: dict[str, Any] = field(default_factory=dict)
    required: dict[str, None] = field(default_factory=dict)
    rest: Any = None
    parts: int = 0


class Flattening:
    """Takes the bodies of one document apart."""

    def __init__(self, references: References, schemas: Schemas) -> None:
        self._references = references
        self._schemas = schemas

    def flat(self, raw: Any, schema: Schema) -> Flat:
        """The fields of a schema, given as the document has it and as it was converted; raises Unusable."""
        if isinstance(raw, dict) and "discriminator" in self._references.followed(raw, "its body"):
            return Flat()  # there are kinds of it with further fields, which would otherwise be dropped
        found = Flat()
        if not self._add(found, schema, 0) or not found.properties:
            return Flat()
        hidden = self._schemas.only_read(raw)
        found.required = {name: None for name in found.required if name in found.properties or name not in hidden}
        for name in found.required:
            found.properties.setdefault(name, {})
        return found if len(found.properties) <= MOST_PARAMETERS else Flat()

    def _add(self, found: Flat, schema: Any, depth: int) -> bool:
        """Whether the schema's fields could be added to those found."""
        found.parts += 1
        if depth > MAX_DEPTH or found.parts > MAX_PARTS or not isinstance(schema, dict) or schema.keys() - _KNOWN:
            return False
        if schema.get("type", "object") not in ("object", ["object"], ["object", "null"], ["null", "object"]) or (
            len(schema.get("properties", ())) > MOST_PARAMETERS
        ):
            return False
        parts = [self._schemas.named(schema["$ref"].removeprefix(DEFS))] if "$ref" in schema else []
        parts += schema.get("allOf", ())
        if not all(self._add(found, part, depth + 1) for part in parts):
            return False
        own, required = schema.get("properties", {}), schema.get("required", [])
        if "additionalProperties" in schema:
            if parts or (depth and found.properties):
                return False  # it speaks of the fields beside it only
            found.rest = schema["additionalProperties"]
        elif found.rest is not None and own:
            return False
        for name, item in own.items():
            before = found.properties.get(name, item)
            found.properties[name] = item if before == item else {"allOf": [before, item]}
        if not isinstance(required, list) or not all(isinstance(name, str) for name in required):
            raise Unusable("required in its body must be a list of names")
        found.required |= dict.fromkeys(required)
        return True
