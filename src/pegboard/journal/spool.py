"""The spool: one file per writer, which holds journal entries while the database is unavailable.

An entry is a line: line break, checksum, entry number, entry in base64, line break. After the last entry the file
contains only zeros, at least one. The checksum includes the writer's id, so that a line is valid only in its own file;
base64 contains neither spaces nor line breaks, so that no part of an entry can look like a line. Damage therefore
affects only the entries that it overwrites.

A writer holds a lock on its file as long as it lives; the kernel releases the lock when the process ends, for any
reason.

Not an SQLite file, which needs free space to commit: the spool has reserved its space before the disk is full.
"""

from __future__ import annotations

import errno
import fcntl
import os
import re
import threading
from base64 import b64decode, b64encode
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple, Self

RESERVED_BYTES = 2**20
MAX_SPOOL_BYTES = 64 * 2**20

# The file grows in steps of this size, so that few appends have to allocate disk space.
_GROWTH_BYTES = 2**16
_SPOOL_NAME = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\.spool")


@dataclass(frozen=True, slots=True)
class SpoolContent:
    """The complete entries of a spool in order, and whether entries may be missing."""

    entries: list[bytes]
    damaged: bool


class Spool:
    """A spool whose lock this process holds; its methods block and are thread-safe."""

    def __init__(self, path: Path, descriptor: int, *, is_own: bool, reserve: int, max_bytes: int) -> None:
        self.path = path
        self._descriptor = descriptor
        self._is_own = is_own
        self._reserve = reserve
        self._max_bytes = max_bytes
        self._key = path.stem.encode()
        self._turn = threading.Lock()
        self._number = 0
        # Entries end at `_end`. Between it and `_written_end` may be remains of a failed append or of a dead writer.
        self._end = self._written_end = 0
        self._is_torn = False

    @classmethod
    def create(
        cls, folder: Path, writer_id: str, *, reserve: int = RESERVED_BYTES, max_bytes: int = MAX_SPOOL_BYTES
    ) -> Self:
        """Create an empty, locked spool with reserved disk space; raise OSError if that fails."""
        path = get_spool_path(folder, writer_id)
        is_new_folder = not folder.exists()
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if os.path.lexists(path):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path))
        # Renamed last: a process that finds the file by this name must find it complete and locked.
        name = path.with_name(path.name + ".new")
        descriptor = os.open(name, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            _allocate(descriptor, 0, reserve)
            os.fsync(descriptor)
            name = name.rename(path)
            _sync_folder(folder)
            if is_new_folder:
                _sync_folder(folder.parent)
        except BaseException:
            with suppress(OSError):
                name.unlink()
            os.close(descriptor)
            raise
        return cls(path, descriptor, is_own=True, reserve=reserve, max_bytes=max_bytes)

    @classmethod
    def adopt(cls, path: Path, *, reserve: int = RESERVED_BYTES, max_bytes: int = MAX_SPOOL_BYTES) -> Self | None:
        """Lock and return the spool of a dead writer; None if its lock is held or the file is gone."""
        with ExitStack() as undo:
            try:
                descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
                undo.callback(os.close, descriptor)
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except (FileNotFoundError, BlockingIOError):
                return None
            spool = cls(path, descriptor, is_own=False, reserve=reserve, max_bytes=max_bytes)
            # Between open and flock, the former holder of the lock may have removed the file.
            if not spool.is_in_place:
                return None
            spool._measure()
            undo.pop_all()
            return spool

    @property
    def is_empty(self) -> bool:
        """True if it contains nothing, not even damaged data."""
        return not self._end and not self._is_torn

    @property
    def is_in_place(self) -> bool:
        """True if the path still refers to this file; if it was moved, other writers consider this one dead."""
        try:
            return os.path.samestat(os.fstat(self._open()), self.path.lstat())
        except FileNotFoundError:
            return False

    def append(self, entries: Sequence[bytes]) -> None:
        """Write all entries and fsync; on OSError none of them is in the spool."""
        with self._turn:
            descriptor = self._open()
            if not entries:
                return
            lines = b"".join(
                _format_line(self._key, number, entry) for number, entry in enumerate(entries, self._number + 1)
            )
            end = self._end + len(lines)
            self._grow(descriptor, end + 1)
            try:
                self._write(descriptor, lines + bytes(max(0, self._written_end - end)), self._end)
            except BaseException:
                # Otherwise, if the process dies now, entries whose append failed would look valid.
                with suppress(OSError):
                    self._write(descriptor, bytes(self._written_end - self._end), self._end)
                raise
            self._number += len(entries)
            self._end = self._written_end = end
            self._is_torn = False

    def read(self) -> SpoolContent:
        """Return every complete entry and whether damage was skipped."""
        with self._turn:
            kept = _scan(self._key, _read_bytes(self._open(), self._end))
            return SpoolContent(kept.entries, kept.has_gaps or kept.end != self._end or self._is_torn)

    def clear(self) -> None:
        """Empty the spool on disk, including entries appended since it was read; the reserved space stays."""
        with self._turn:
            descriptor = self._open()
            if os.fstat(descriptor).st_size > self._reserve:
                os.ftruncate(descriptor, self._reserve)
            self._write(descriptor, bytes(min(self._written_end, self._reserve)), 0)
            self._number = self._end = self._written_end = 0
            self._is_torn = False

    def set_aside(self) -> Path:
        """Rename the file of a dead writer for inspection, close it and return the new path."""
        with self._turn:
            descriptor = self._open()
            if self._is_own:
                raise RuntimeError("a living writer's spool keeps its name: without it, siblings take it for dead")
            aside = self.path.rename(self.path.with_name(self.path.name + ".damaged"))
            self._close(descriptor)
        _sync_folder(aside.parent)
        return aside

    def close(self, remove: bool) -> None:
        """Release the lock, and remove the file before that if `remove`; do nothing if it is closed."""
        with self._turn:
            if self._descriptor < 0:
                return
            try:
                # Remove it while it is locked: the next process to get the lock sees that the path no longer refers to
                # it.
                if remove and self.is_in_place:
                    self.path.unlink()
                    _sync_folder(self.path.parent)
            finally:
                self._close(self._descriptor)

    def _open(self) -> int:
        if self._descriptor < 0:
            raise OSError(errno.EBADF, "the spool is closed", str(self.path))
        return self._descriptor

    def _close(self, descriptor: int) -> None:
        self._descriptor = -1
        # Unlock explicitly: a forked child that has not called exec yet would keep the lock otherwise.
        with suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_UN)
        os.close(descriptor)

    def _measure(self) -> None:
        """Find the end of the entries that another process wrote."""
        content = _read_bytes(self._descriptor, os.fstat(self._descriptor).st_size)
        kept = _scan(self._key, content)
        self._number, self._end = kept.number, kept.end
        zeros = content.count(0, kept.end)
        self._is_torn = not zeros or zeros != len(content) - kept.end
        self._written_end = len(content) if self._is_torn else kept.end

    def _grow(self, descriptor: int, needed: int) -> None:
        if needed > self._max_bytes:
            raise OSError(errno.ENOSPC, f"the spool holds at most {self._max_bytes} bytes", str(self.path))
        size = os.fstat(descriptor).st_size
        if needed > size:
            _allocate(descriptor, size, min(-(-needed // _GROWTH_BYTES) * _GROWTH_BYTES, self._max_bytes))

    def _write(self, descriptor: int, content: bytes, offset: int) -> None:
        left = memoryview(content)
        while left:
            written = os.pwrite(descriptor, left, offset)
            left, offset = left[written:], offset + written
            self._written_end = max(self._written_end, offset)
        os.fsync(descriptor)


def get_spool_path(folder: Path, writer_id: str) -> Path:
    """Return the path of a writer's spool; raise ValueError if the id is invalid."""
    name = f"{writer_id}.spool"
    if not _SPOOL_NAME.fullmatch(name):
        raise ValueError(f"not the id of a writer: {writer_id!r}")
    return folder / name


def list_spools(folder: Path) -> list[tuple[str, Path]]:
    """Return the writer ids and paths of all spools in a folder, oldest first, including those of living writers."""
    paths = sorted(path for path in folder.iterdir() if _SPOOL_NAME.fullmatch(path.name)) if folder.exists() else []
    return [(path.stem, path) for path in paths if path.is_file() and not path.is_symlink()]


class _ScannedEntries(NamedTuple):
    entries: list[bytes]
    number: int
    end: int
    has_gaps: bool


def _scan(key: bytes, content: bytes) -> _ScannedEntries:
    """Return the complete entries, the number and end of the last one, and whether any is missing before it."""
    entries: list[bytes] = []
    number = end = at = filled = 0
    has_gaps = False
    while (stop := content.find(b"\n", at)) >= 0:
        entry = _parse_line(key, content[at:stop].lstrip(b"\0"))
        at = stop + 1
        if entry is None or entry[0] <= number:
            continue
        has_gaps = has_gaps or entry[0] != number + 1
        number, end = entry[0], at
        entries.append(entry[1])
        filled += len(_format_line(key, *entry))
    # Other data between the entries, such as a copy of one, may have overwritten the last entries.
    return _ScannedEntries(entries, number, end, has_gaps or filled != end)


def _format_line(key: bytes, number: int, entry: bytes) -> bytes:
    body = b"%d %s" % (number, b64encode(entry))
    # A line break on both sides: the loss of one line break costs one entry and not two.
    return b"\n%s %s\n" % (_compute_checksum(key, body), body)


def _parse_line(key: bytes, line: bytes) -> tuple[int, bytes] | None:
    checksum, _, body = line.partition(b" ")
    if checksum != _compute_checksum(key, body):
        return None
    try:
        number, text = body.split(b" ")
        return int(number), b64decode(text, validate=True)
    except ValueError:
        return None


def _compute_checksum(key: bytes, body: bytes) -> bytes:
    return blake2b(body, digest_size=16, key=key).hexdigest().encode()


def _read_bytes(descriptor: int, size: int) -> bytes:
    content = bytearray()
    while part := os.pread(descriptor, size - len(content), len(content)):
        content += part
    return bytes(content)


def _allocate(descriptor: int, start: int, stop: int) -> None:
    """Allocate zero-filled disk space at the end of a file."""
    try:
        os.posix_fallocate(descriptor, start, stop - start)
    except (AttributeError, OSError) as error:
        if isinstance(error, OSError) and error.errno not in {errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP}:
            raise
        while start < stop:
            start += os.pwrite(descriptor, bytes(stop - start), start)


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
