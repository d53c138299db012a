"""Files that commands read: tool definitions, payloads, arguments, findings."""

from __future__ import annotations

import codecs
import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pegboard.model.documents import DocumentError, YamlDocuments, read_json, read_json_or_yaml, read_text
from pegboard.surfaces.cli.exit_codes import UsageError

MAX_FILE_BYTES = 32 * 2**20
DEFINITION_SUFFIXES = (".yaml", ".yml", ".json")
_TEXT_SUFFIXES = (".txt", ".text", ".md", ".jsonl", ".ndjson", ".sse")
_DEFINITION_SHAPES = "a tool, a list of tools, or {tools: [...]}"


@dataclass(frozen=True, slots=True)
class LocatedDefinition:
    """One definition and its location in a file."""

    definition: dict[str, Any]
    file: str
    number: int
    line: int | None = None

    @property
    def place(self) -> str:
        """The file and line, or the file and index, for messages."""
        return f"{self.file}:{self.line}" if self.line is not None else f"{self.file} (tool {self.number})"


def load_definitions(sources: Sequence[str]) -> list[LocatedDefinition]:
    """Return the definitions of these files and folders in order; `-` is standard input."""
    return [piece for source in sources for file in _list_files(source) for piece in _read_definitions(file)]


def load_object(source: str) -> dict[str, Any]:
    """Return the single YAML or JSON object of a file; raise UsageError if there is not exactly one."""
    found = _read_documents(source)
    if len(found.values) != 1 or not isinstance(found.values[0], dict):
        raise UsageError(f"{name_source(source)}: must hold one object")
    return dict(found.values[0])


def read_input(source: str, most: int = MAX_FILE_BYTES) -> bytes:
    """Return the bytes of a file, `-` for standard input; raise UsageError if unreadable or larger than `most`."""
    try:
        if source == "-":
            raw = sys.stdin.buffer.read(most + 1)
        else:
            with Path(source).open("rb") as file:
                raw = file.read(most + 1)
    except (OSError, ValueError) as error:
        raise UsageError(f"{name_source(source)}: {getattr(error, 'strerror', None) or error}") from None
    if len(raw) > most:
        raise UsageError(f"{name_source(source)} is larger than {most // 2**20} MiB")
    return raw


def read_payload(source: str) -> tuple[bytes, str]:
    """Return the bytes of a file or of standard input, and their media type."""
    # Windows programs may add a byte order mark, which JSON does not allow.
    body = read_input(source).removeprefix(codecs.BOM_UTF8)
    return body, "application/json" if _is_json_payload(source, body) else "text/plain; charset=utf-8"


def _is_json_payload(source: str, body: bytes) -> bool:
    suffix = Path(source).suffix.lower() if source != "-" else ""
    if suffix == ".json" or suffix in _TEXT_SUFFIXES:
        return suffix == ".json"
    try:
        json.loads(body)
    except (ValueError, RecursionError):
        return False
    return True


def read_json_text(source: str) -> tuple[str, Any]:
    """Return the text of a JSON file and its value; raise UsageError if it is not valid."""
    with locate_document_errors(source):
        text = read_text(read_input(source))
        return text, read_json(text)


def _list_files(source: str) -> list[str]:
    folder = Path(source)
    if source == "-" or not folder.is_dir():
        return [source]
    found = sorted(
        path
        for path in folder.rglob("*")
        if path.suffix.lower() in DEFINITION_SUFFIXES
        and path.is_file()
        and not any(part.startswith(".") for part in path.relative_to(folder).parts)
    )
    if not found:
        raise UsageError(f"{source}: no {', '.join('*' + suffix for suffix in DEFINITION_SUFFIXES)} in this folder")
    return [str(path) for path in found]


def _read_definitions(source: str) -> Iterator[LocatedDefinition]:
    found = _read_documents(source)
    number = 0
    empty = True
    for document in found.values:
        if document is None:
            continue
        empty = False
        for definition in _split_document(document, source):
            number += 1
            piece = LocatedDefinition(definition, name_source(source), number, found.line_of(definition))
            if not isinstance(definition, dict):
                raise UsageError(f"{piece.place}: not a tool but {_describe_type(definition)}")
            yield piece
    if empty:
        raise UsageError(f"{name_source(source)}: nothing in it; write {_DEFINITION_SHAPES}")


def _split_document(document: Any, source: str) -> list[Any]:
    if isinstance(document, list):
        return document
    if not isinstance(document, dict):
        raise UsageError(f"{name_source(source)}: {_describe_type(document)}; write {_DEFINITION_SHAPES}")
    if "tools" not in document or "name" in document:
        return [document]
    others = [key for key in document if key != "tools"]
    if others:
        raise UsageError(f"{name_source(source)}: unknown key '{others[0]}' beside 'tools'")
    tools = document["tools"]
    if not isinstance(tools, list):
        raise UsageError(f"{name_source(source)}: 'tools' must be a list of tools, not {_describe_type(tools)}")
    return tools


def _read_documents(source: str) -> YamlDocuments:
    with locate_document_errors(source):
        text = read_text(read_input(source))
        if source.lower().endswith(".json"):
            return YamlDocuments([read_json(text)])
        return read_json_or_yaml(text)


@contextmanager
def locate_document_errors(source: str) -> Iterator[None]:
    """Convert a DocumentError to a UsageError with the name of the file and the line."""
    try:
        yield
    except DocumentError as error:
        where = f"{name_source(source)}:{error.line}" if error.line else name_source(source)
        raise UsageError(f"{where}: {error.message}") from None


def name_source(source: str) -> str:
    """Return the name of a file for messages."""
    return "standard input" if source == "-" else source


def _describe_type(value: Any) -> str:
    return {dict: "an object", list: "a list", str: "a text", bool: "a boolean", type(None): "nothing"}.get(
        type(value), "a number"
    )
