"""Parses OpenAPI 3.0 to 3.2 and Swagger 2.0 documents and builds tool definitions from them; fetches nothing."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pegboard.json_schema.compile import SchemaProblem, check_schema
from pegboard.json_schema.storable_json import find_unstorable
from pegboard.kinds.http.config import HttpConfig
from pegboard.kinds.http.openapi.api_operations import (
    Operation,
    OperationSelection,
    list_labels,
    list_operations,
    make_left_out,
)
from pegboard.kinds.http.openapi.api_parameters import OperationNotes
from pegboard.kinds.http.openapi.document_references import DocumentReferences, Unusable
from pegboard.kinds.http.openapi.import_pace import MAX_IMPORT_SECONDS, ImportProgress
from pegboard.kinds.http.openapi.naming import make_body_variant_name, make_one_line, make_openapi_source_tag
from pegboard.kinds.http.openapi.request_bodies import RequestBody
from pegboard.kinds.http.openapi.tool_builder import MAX_DESCRIPTION_LENGTH, ToolBuilder
from pegboard.kinds.http.request_template import RequestTemplate
from pegboard.kinds.import_names import shorten_text
from pegboard.model.api_errors import Fault, Invalid
from pegboard.model.call_errors import Misconfigured
from pegboard.model.documents import MAX_DEPTH, DocumentError, read_json_or_yaml, read_text
from pegboard.model.import_report import LeftOut
from pegboard.model.tool_definition import ToolDefinition
from pegboard.model.validation_messages import validate_model

MAX_VALUES = 5_000_000
MAX_CHARACTERS = 128_000_000

_VALUES_PER_BEAT = 10_000


def read_document(
    text: str | bytes, *, seconds: float = MAX_IMPORT_SECONDS, on_progress: Callable[[int, int], None] | None = None
) -> dict[str, Any]:
    """Parse the document, JSON or YAML, with limits for depth and size; raise Invalid with the line."""
    try:
        whole = text.removeprefix("\ufeff") if isinstance(text, str) else read_text(text)
        return _parse_document(whole, ImportProgress(seconds, on_progress))
    except DocumentError as error:
        where = f" in line {error.line}" if error.line else ""
        raise Invalid(f"The document cannot be read{where}: {error.message}") from None


def _parse_document(text: str, pace: ImportProgress) -> dict[str, Any]:
    start = text.lstrip()[:1]
    if not start:
        raise DocumentError("it is empty")
    if start == "<":
        raise DocumentError("it is HTML or XML; give the API document itself, which is JSON or YAML")
    found = [value for value in read_json_or_yaml(text, pace.beat).values if value is not None]
    if len(found) != 1:
        raise DocumentError(f"it holds {len(found)} YAML documents; an API document is one")
    document = found[0]
    if not isinstance(document, dict):
        raise DocumentError("an API document is an object with `openapi` or `swagger` in it")
    check_document_extent(document, pace)
    return document


def check_document_extent(document: Any, pace: ImportProgress) -> None:
    """Raise DocumentError if the document, with shared parts counted each time, is too deep or too large."""
    level: list[Any] = [document]
    values = characters = 0
    for _ in range(MAX_DEPTH + 1):
        values += len(level)
        below: list[Any] = []
        for start in range(0, len(level), _VALUES_PER_BEAT):
            pace.beat()
            for value in level[start : start + _VALUES_PER_BEAT]:
                if isinstance(value, str):
                    characters += len(value)
                elif isinstance(value, dict):
                    below += value.values()
                    characters += sum(len(key) for key in value if isinstance(key, str))
                elif isinstance(value, list):
                    below += value
                # Not once per level: a level of shared lists may be larger than the memory.
                if values + len(below) > MAX_VALUES:
                    raise DocumentError(f"more than {MAX_VALUES:,} values")
            if characters > MAX_CHARACTERS:
                raise DocumentError(f"more than {MAX_CHARACTERS:,} characters")
        if not below:
            return
        level = below
    raise DocumentError(f"nested more than {MAX_DEPTH} levels deep")


__all__ = ["ImportedDocument", "LeftOut", "import_document"]

MAX_OPERATIONS = 10_000
MAX_NOTES = 50

_VERSION = re.compile(r"3\.([012])(?:\.|$)", re.ASCII)
_PREFIX = re.compile(r"(?:[A-Za-z_-][A-Za-z0-9_-]{0,127})?", re.ASCII)


@dataclass(frozen=True, slots=True)
class ImportedDocument:
    """The definitions from a document, and the parts that were left out, with reasons."""

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
    seconds: float = MAX_IMPORT_SECONDS,
) -> ImportedDocument:
    """Return a definition for each operation and everything left out; raise Invalid if this is not an API document."""
    # `on_progress` gets the number of finished operations and the total; an exception from it ends the import.
    pace = ImportProgress(seconds, on_progress)
    is_old = _check_document(document, prefix, pace)
    wanted = OperationSelection(include)
    references = DocumentReferences(document, source_url, pace.beat)
    everything, others = list_operations(document, references, prefix, pace)
    missing = [item for item, labels in others if wanted(labels)]
    operations = []
    for operation in everything:
        pace.beat()
        if wanted(list_labels(operation)):
            operations.append(operation)
    if len(operations) > MAX_OPERATIONS:
        raise Invalid(
            f"The document has {len(operations):,} operations; at most {MAX_OPERATIONS:,} are imported at once, "
            "choose some with include"
        )
    builder = ToolBuilder(
        document,
        references,
        everything,
        is_old=is_old,
        source_url=source_url,
        server_url=server_url,
        auth_config=auth_config,
        tag=make_openapi_source_tag(_read_title(document)),
        pace=pace,
    )
    definitions: list[dict[str, Any]] = []
    names = {operation.name.lower() for operation in everything}
    for place, operation in enumerate(operations):
        notes = OperationNotes()
        try:
            bodies = builder.bodies(operation, notes)
            definitions.append(_check_definition(builder.definition(operation, bodies[0] if bodies else None, notes)))
            definitions += _iterate_other_bodies(builder, operation, bodies[1:], names, notes)
            missing += [make_left_out(operation.name, text) for text in _limit_notes(notes.texts)]
        except Unusable as error:
            missing.append(make_left_out(operation.name, f"{shorten_text(operation.route, 500)}: {error}"))
        pace.report_progress(place + 1, len(operations))
    if not include and document.get("webhooks"):
        missing.append(make_left_out("webhooks", "they are requests that the API sends, and tools only send to it"))
    return ImportedDocument(
        _read_title(document), tuple(definitions), (*missing, *wanted.list_unused()), tuple(builder.warnings)
    )


def _iterate_other_bodies(
    builder: ToolBuilder, operation: Operation, bodies: Sequence[RequestBody], names: set[str], notes: OperationNotes
) -> Iterator[dict[str, Any]]:
    """Yield a definition for each further body of the operation, under its own name; note those that fail."""
    for body in bodies:
        name = make_body_variant_name(operation.name, body.media_type, names)
        try:
            definition = _check_definition(builder.definition(replace(operation, name=name), body, OperationNotes()))
        except Unusable as error:
            notes.leave_out(f"its body as {body.media_type[:100]}", str(error))
            continue
        names.add(name.lower())
        text = f"{definition['description']}\n\nThis tool sends the body as {body.media_type[:100]}."
        yield {**definition, "description": text if len(text) <= MAX_DESCRIPTION_LENGTH else definition["description"]}


def _limit_notes(notes: list[str]) -> list[str]:
    more = len(notes) - MAX_NOTES
    return notes if more <= 0 else [*notes[:MAX_NOTES], f"without {more:,} more of its parts, for reasons like these"]


def _check_document(document: Mapping[str, Any], prefix: str, pace: ImportProgress) -> bool:
    """Return True if the version is before 3.1; raise Invalid if the version is unknown."""
    try:
        check_document_extent(dict(document), pace)
    except DocumentError as error:
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
        raise Invalid('This is not an API document: it has neither `openapi: 3.x` nor `swagger: "2.0"` in it')
    message = f"'{str(document[field])[:50]}' is not supported; OpenAPI 3.0, 3.1 and 3.2 are, and Swagger 2.0"
    raise Invalid.of("The document cannot be imported", [Fault(field, message)])


def _read_title(document: Mapping[str, Any]) -> str:
    info = document.get("info")
    return make_one_line(info.get("title") if isinstance(info, dict) else None, 200) or "API"


def _check_definition(definition: dict[str, Any]) -> dict[str, Any]:
    """Return the definition if the board would accept it; raise Unusable with all reasons if not."""
    try:
        validate_model(ToolDefinition, definition, "")
        RequestTemplate.of(validate_model(HttpConfig, definition["config"], "config"), None)
        check_schema(definition["input_schema"], where="input_schema")
    except Invalid as error:
        raise Unusable("; ".join(f"{fault.field}: {fault.message}" for fault in error.faults)) from None
    except Misconfigured as error:
        raise Unusable(error.message) from None
    except SchemaProblem as error:
        raise Unusable(str(error)) from None
    if faults := find_unstorable(definition):
        raise Unusable("; ".join(f"{fault.field}: {fault.message}" for fault in faults))
    return definition
