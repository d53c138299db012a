"""Files of tool definitions, and what each of them is called in a message."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pegboard.registry.documents import Documents, Misread, read_json, read_text, read_yaml
from pegboard.surfaces.cli.failures import Usage

MAX_BYTES = 32 * 2**20
SUFFIXES = (".yaml", ".yml", ".json")
_SHAPES = "a tool, a list of tools, or {tools: [...]}"


@dataclass(frozen=True, slots=True)
class Piece:
    """One definition, and where it was found."""

    definition: dict[str, Any]
    file: str
    number: int
    line: int | None = None

    @property
    def place(self) -> str:
        """Where to look for it."""
        return f"{self.file}:{self.line}" if self.line is not None else f"{self.file} (tool {self.number})"


def load(sources: Sequence[str]) -> list[Piece]:
    """Every definition in these files and folders, in order; `-` is standard input."""
    return [piece for source in sources for file in _files(source) for piece in _pieces(file)]


def load_object(source: str) -> dict[str, Any]:
    """The one object, YAML or JSON, in a file."""
    found = _documents(source)
    if len(found.values) != 1 or not isinstance(found.values[0], dict):
        raise Usage(f"{_shown(source)}: must hold one object")
    return dict(found.values[0])


def read_input(source: str, most: int = MAX_BYTES) -> bytes:
    """The bytes of a file, or of standard input for `-`; Usage if it cannot be read or has more than `most`."""
    try:
        if source == "-":
            raw = sys.stdin.buffer.read(most + 1)
        else:
            with Path(source).open("rb") as file:
                raw = file.read(most + 1)
    except (OSError, ValueError) as error:
        raise Usage(f"{_shown(source)}: {getattr(error, 'strerror', None) or error}") from None
    if len(raw) > most:
        raise Usage(f"{_shown(source)} is larger than {most // 2**20} MiB")
    return raw


def _files(source: str) -> list[str]:
    folder = Path(source)
    if source == "-" or not folder.is_dir():
        return [source]
    found = sorted(
        path
        for path in folder.rglob("*")
        if path.suffix.lower() in SUFFIXES
        and path.is_file()
        and not any(part.startswith(".") for part in path.relative_to(folder).parts)
    )
    if not found:
        raise Usage(f"{source}: no {', '.join('*' + suffix for suffix in SUFFIXES)} in this folder")
    return [str(path) for path in found]


def _pieces(source: str) -> Iterator[Piece]:
    found = _documents(source)
    number = 0
    empty = True
    for document in found.values:
        if document is None:
            continue
        empty = False
        for definition in _definitions(document, source):
            number += 1
            piece = Piece(definition, _shown(source), number, found.line_of(definition))
            if not isinstance(definition, dict):
                raise Usage(f"{piece.place}: not a tool but {_kind(definition)}")
            yield piece
    if empty:
        raise Usage(f"{_shown(source)}: nothing in it; write {_SHAPES}")


def _definitions(document: Any, source: str) -> list[Any]:
    if isinstance(document, list):
        return document
    if not isinstance(document, dict):
        raise Usage(f"{_shown(source)}: {_kind(document)}; write {_SHAPES}")
    if "tools" not in document or "name" in document:
        return [document]
    others = [key for key in document if key != "tools"]
    if others:
        raise Usage(f"{_shown(source)}: unknown key '{others[0]}' beside 'tools'")
    tools = document["tools"]
    if not isinstance(tools, list):
        raise Usage(f"{_shown(source)}: 'tools' must be a list of tools, not {_kind(tools)}")
    return tools


def _documents(source: str) -> Documents:
    try:
        text = read_text(read_input(source))
        if source.lower().endswith(".json"):
            return Documents([read_json(text)])
        if text.lstrip()[:1] in ("{", "["):
            try:
                return Documents([read_json(text)])
            except Misread:
                return read_yaml(text)
        return read_yaml(text)
    except Misread as error:
        where = f"{_shown(source)}:{error.line}" if error.line else _shown(source)
        raise Usage(f"{where}: {error.message}") from None


def _shown(source: str) -> str:
    return "standard input" if source == "-" else source


def _kind(value: Any) -> str:
    return {dict: "an object", list: "a list", str: "a text", bool: "a boolean", type(None): "nothing"}.get(
        type(value), "a number"
    )
