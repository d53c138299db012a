"""Tools out of an API document, OpenAPI 3.0, 3.1 and 3.2 or Swagger 2.0, without anything being fetched."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pegboard.core.errors import Misconfigured
from pegboard.core.outbound import HttpConfig
from pegboard.core.refusals import Fault, Invalid
from pegboard.executors.http.template import RequestTemplate
from pegboard.registry.definition import checked, read_definition
from pegboard.registry.documents import Misread
from pegboard.registry.openapi.bodies import Body
from pegboard.registry.openapi.building import DESCRIPTION_LENGTH, Builder
from pegboard.registry.openapi.naming import name_with_body, source_tag
from pegboard.registry.openapi.operations import Include, Operation, labels_of, left_out, operations_of
from pegboard.registry.openapi.pace import SECONDS, Pace
from pegboard.registry.openapi.parameters import Notes
from pegboard.registry.openapi.reading import check_extent
from pegboard.registry.openapi.references import References, Unusable
from pegboard.registry.openapi.texts import cut_readably, one_line
from pegboard.registry.schemas import SchemaProblem, check_schema
from pegboard.registry.storable import unstorable
from pegboard.registry.taking import LeftOut

__all__ = ["Imported", "LeftOut", "import_document"]

MAX_OPERATIONS = 10_000
MOST_NOTES = 50

_VERSION = re.compile(r"3\.([012])(?:\.|$)", re.ASCII)
_PREFIX = re.compile(r"(?:[A-Za-z_-][A-Za-z0-9_-]{0,127})?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Imported:
    """The tools that a document describes, and what of it did not become one, or not wholly, with the reason."""

    title: str
    definitions: tuple[dict[str, Any], ...]
    left_out: tuple[LeftOut, ...]
    warnings: tuple[str, ...] = ()


def import_document(
    document: Mapping[str, Any],
    *,
    source_url: str | None = None,
    server_url: str | None = None,
    prefix: str = "",
    include: Sequence[str] = (),
    auth_config: Mapping[str, Any] | None = None,
    on_progress: Callable[[int, int], None] | None = None,
    seconds: float = SECONDS,
) -> Imported:
    """A definition for each operation, and each thing left out with why; raises Invalid where it is no API document."""
    # It is told how many operations are done, and of how many; what it raises ends the import.
    pace = Pace(seconds, on_progress)
    is_old = _check(document, prefix, pace)
    wanted = Include(include)
    references = References(document, source_url, pace.beat)
    everything, others = operations_of(document, references, prefix, pace)
    missing = [item for item, labels in others if wanted(labels)]
    operations = []
    for operation in everything:
        pace.beat()
        if wanted(labels_of(operation)):
            operations.append(operation)
    if len(operations) > MAX_OPERATIONS:
        raise Invalid(
            f"The document has {len(operations):,} operations; at most {MAX_OPERATIONS:,} are imported at once, "
            "choose some with include"
        )
    builder = Builder(
        document, references, everything, is_old=is_old,
        source_url=source_url, server_url=server_url, auth_config=auth_config, tag=source_tag(_title(document)),
        pace=pace,
    )  # fmt: skip
    definitions: list[dict[str, Any]] = []
    names = {operation.name.lower() for operation in everything}
    for place, operation in enumerate(operations):
        notes = Notes()
        try:
            bodies = builder.bodies(operation, notes)
            definitions.append(_sound(builder.definition(operation, bodies[0] if bodies else None, notes)))
            definitions += _with_other_bodies(builder, operation, bodies[1:], names, notes)
            missing += [left_out(operation.name, text) for text in _some(notes.texts)]
        except Unusable as error:
            missing.append(left_out(operation.name, f"{cut_readably(operation.route, 500)}: {error}"))
        pace.reached(place + 1, len(operations))
    if not include and document.get("webhooks"):
        missing.append(left_out("webhooks", "they are requests that the API sends, and tools only send to it"))
    return Imported(_title(document), tuple(definitions), (*missing, *wanted.unused()), tuple(builder.warnings))


def _with_other_bodies(
    builder: Builder, operation: Operation, bodies: Sequence[Body], names: set[str], notes: Notes
) -> Iterator[dict[str, Any]]:
    """A definition for each further body of the operation, under a name of its own; what cannot be is noted."""
    for body in bodies:
        name = name_with_body(operation.name, body.media_type, names)
        try:
            definition = _sound(builder.definition(replace(operation, name=name), body, Notes()))
        except Unusable as error:
            notes.leave_out(f"its body as {body.media_type[:100]}", str(error))
            continue
        names.add(name.lower())
        text = f"{definition['description']}\n\nThis tool sends the body as {body.media_type[:100]}."
        yield {**definition, "description": text if len(text) <= DESCRIPTION_LENGTH else definition["description"]}


def _some(notes: list[str]) -> list[str]:
    """The notes of one operation, of very many only the first."""
    more = len(notes) - MOST_NOTES
    return notes if more <= 0 else [*notes[:MOST_NOTES], f"without {more:,} more of its parts, for reasons like these"]


def _check(document: Mapping[str, Any], prefix: str, pace: Pace) -> bool:
    """Whether the document is of a version before 3.1; raises Invalid where it is of none that is known."""
    try:
        check_extent(dict(document), pace)
    except Misread as error:
        raise Invalid(f"The document cannot be read: {error.message}") from None
    if not _PREFIX.fullmatch(prefix):
        fault = "may hold ASCII letters, digits, - and _, and cannot start with a digit; at most 128 characters"
        raise Invalid.of("The import is not valid", [Fault("prefix", fault)])
    if "openapi" in document:
        match = _VERSION.match(str(document["openapi"]))
        if match:
            return match[1] == "0"
    elif str(document.get("swagger")) in ("2.0", "2"):
        return True
    field = "openapi" if "openapi" in document else "swagger" if "swagger" in document else ""
    if not field:
        raise Invalid('This is no API document: it has neither `openapi: 3.x` nor `swagger: "2.0"` in it')
    says = f"'{str(document[field])[:50]}' is not supported; OpenAPI 3.0, 3.1 and 3.2 are, and Swagger 2.0"
    raise Invalid.of("The document cannot be imported", [Fault(field, says)])


def _title(document: Mapping[str, Any]) -> str:
    info = document.get("info")
    return one_line(info.get("title") if isinstance(info, dict) else None, 200) or "API"


def _sound(definition: dict[str, Any]) -> dict[str, Any]:
    """The definition, if the board would take it; raises Unusable with every reason otherwise."""
    try:
        read_definition(definition)
        RequestTemplate.of(checked(HttpConfig, definition["config"], "config"), None)
        check_schema(definition["input_schema"], where="input_schema")
    except Invalid as error:
        raise Unusable("; ".join(f"{fault.field}: {fault.message}" for fault in error.faults)) from None
    except Misconfigured as error:
        raise Unusable(error.message) from None
    except SchemaProblem as error:
        raise Unusable(str(error)) from None
    if faults := unstorable(definition):
        raise Unusable("; ".join(f"{fault.field}: {fault.message}" for fault in faults))
    return definition
