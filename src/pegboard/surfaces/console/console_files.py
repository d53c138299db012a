"""The files of the built console: read and compressed once, and kept in memory."""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import mimetypes
from pathlib import Path
from typing import NamedTuple

# The folder that the build of the console writes; absent if it was not built.
BUILD_FOLDER = Path(__file__).parent / "static"
_PAGE = "index.html"
# The build puts a hash into the names of the files in this folder.
_HASHED_FOLDER = "assets/"
_COMPRESSED_TYPES = ("text/", "application/json", "application/manifest+json", "image/svg+xml")
_MEDIA_TYPES = {".js": "text/javascript", ".webmanifest": "application/manifest+json", ".woff2": "font/woff2"}


class ConsoleFile(NamedTuple):
    """One file: its content, the same compressed if that is smaller, and its media type."""

    content: bytes
    compressed: bytes | None
    media_type: str
    is_hashed: bool


class ConsoleFiles:
    """The files of one build; only those that exist when it is opened can be read."""

    def __init__(self, folder: Path, names: frozenset[str]) -> None:
        self._folder = folder
        self._names = names
        self._loaded: dict[str, ConsoleFile] = {}
        self.page = (folder / _PAGE).read_text(encoding="utf-8")
        # Changes with every build, because the page names the hashed files.
        self.build_id = hashlib.sha256(self.page.encode()).hexdigest()[:16]

    @classmethod
    def open(cls, folder: Path) -> ConsoleFiles | None:
        """Return the files in a folder, or None if the console was not built there."""
        if not (folder / _PAGE).is_file():
            return None
        paths = (path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
        return cls(folder, frozenset(paths) - {_PAGE})

    async def find(self, name: str) -> ConsoleFile | None:
        """Return a file by its path in the folder, or None."""
        if name not in self._names:
            return None
        if name not in self._loaded:
            self._loaded[name] = await asyncio.to_thread(self._load, name)
        return self._loaded[name]

    def is_file_path(self, name: str) -> bool:
        """Return True if a missing file of this path is an error, and no page of the console."""
        return name.startswith(_HASHED_FOLDER) or name in self._names

    def _load(self, name: str) -> ConsoleFile:
        path = self._folder / name
        content = path.read_bytes()
        media_type = _MEDIA_TYPES.get(path.suffix) or mimetypes.guess_type(name)[0] or "application/octet-stream"
        compressed = gzip.compress(content, 9, mtime=0) if media_type.startswith(_COMPRESSED_TYPES) else None
        if compressed is not None and len(compressed) >= len(content):
            compressed = None
        if media_type.startswith("text/"):
            media_type += "; charset=utf-8"
        return ConsoleFile(content, compressed, media_type, name.startswith(_HASHED_FOLDER))
