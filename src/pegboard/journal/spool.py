"""The spool: a file of its own for every writer, which keeps journal entries while the database cannot.

An entry is a line of text: a line break, a checksum, the entry's number, the entry in base64, a line break. After the
last one everything is zeros, and there is at least one of them. The checksum covers the writer's id too, so that a line
counts only in its own file; base64 has neither blanks nor line breaks, so that nothing inside an entry can pass for a
line. So a damaged place costs the entries it touches, and no others.

A writer holds a lock on its file for as long as it lives; the kernel ends the lock with the process, however that ends.
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

RESERVE = 2**20
MAX_BYTES = 64 * 2**20

# A file grows by this much at once, so that few appends have to ask the disk for room.
_STEP = 2**16
_NAME = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\.spool")


@dataclass(frozen=True, slots=True)
class SpoolContent:
    """The whole entries of a spool in their order, and whether there may have been others."""

    entries: list[bytes]
    damaged: bool


class Spool:
    """A spool whose lock this process holds; its methods block, and may be called from any thread."""

    def __init__(self, path: Path, descriptor: int, *, is_own: bool, reserve: int, max_bytes: int) -> None:
        self.path = path
        self._descriptor = descriptor
        self._is_own = is_own
        self._reserve = reserve
        self._max_bytes = max_bytes
        self._key = path.stem.encode()
        self._turn = threading.Lock()
        self._number = 0
        # Entries end at `_end`. Between it and `_high` may lie what a failed append, or a dead writer, left there.
        self._end = self._high = 0
        self._is_torn = False

    @classmethod
    def create(cls, folder: Path, writer_id: str, *, reserve: int = RESERVE, max_bytes: int = MAX_BYTES) -> Self:
        """A new spool that is empty, locked, and has room on the disk; OSError if there cannot be one."""
        path = spool_path(folder, writer_id)
        is_new_folder = not folder.exists()
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if os.path.lexists(path):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path))
        # It gets its name last: whoever finds it by that name must find it whole, and locked.
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
    def adopt(cls, path: Path, *, reserve: int = RESERVE, max_bytes: int = MAX_BYTES) -> Self | None:
        """The spool of a dead writer, locked; None if somebody holds its lock, or if it is gone."""
        with ExitStack() as undo:
            try:
                descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
                undo.callback(os.close, descriptor)
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except (FileNotFoundError, BlockingIOError):
                return None
            spool = cls(path, descriptor, is_own=False, reserve=reserve, max_bytes=max_bytes)
            # Between opening and locking it, whoever held the lock may have taken the file away.
            if not spool.is_in_place:
                return None
            spool._measure()
            undo.pop_all()
            return spool

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing in it, not even damage."""
        return not self._end and not self._is_torn

    @property
    def is_in_place(self) -> bool:
        """Whether its name still leads to it; if somebody moved it away, siblings take its writer for dead."""
        try:
            return os.path.samestat(os.fstat(self._open()), self.path.lstat())
        except FileNotFoundError:
            return False

    def append(self, entries: Sequence[bytes]) -> None:
        """Return once all entries are on the disk; on OSError none of them is in the spool."""
        with self._turn:
            descriptor = self._open()
            if not entries:
                return
            lines = b"".join(_line(self._key, number, entry) for number, entry in enumerate(entries, self._number + 1))
            end = self._end + len(lines)
            self._grow(descriptor, end + 1)
            try:
                self._write(descriptor, lines + bytes(max(0, self._high - end)), self._end)
            except BaseException:
                # Else a process that dies now would leave behind, as if they were kept, entries that it gave up.
                with suppress(OSError):
                    self._write(descriptor, bytes(self._high - self._end), self._end)
                raise
            self._number += len(entries)
            self._end = self._high = end
            self._is_torn = False

    def read(self) -> SpoolContent:
        """Every whole entry; damage is skipped, and said."""
        with self._turn:
            kept = _scan(self._key, _get(self._open(), self._end))
            return SpoolContent(kept.entries, kept.has_gaps or kept.end != self._end or self._is_torn)

    def clear(self) -> None:
        """Return once it is empty on the disk, also of what was appended since it was read; its reserve stays."""
        with self._turn:
            descriptor = self._open()
            if os.fstat(descriptor).st_size > self._reserve:
                os.ftruncate(descriptor, self._reserve)
            self._write(descriptor, bytes(min(self._high, self._reserve)), 0)
            self._number = self._end = self._high = 0
            self._is_torn = False

    def set_aside(self) -> Path:
        """Keep the file of a dead writer for people to look at, under the name returned, and close it."""
        with self._turn:
            descriptor = self._open()
            if self._is_own:
                raise RuntimeError("a living writer's spool keeps its name: without it, siblings take it for dead")
            aside = self.path.rename(self.path.with_name(self.path.name + ".damaged"))
            self._close(descriptor)
        _sync_folder(aside.parent)
        return aside

    def close(self, remove: bool) -> None:
        """Give up the lock, and before that the file if it shall go; nothing happens if it is closed."""
        with self._turn:
            if self._descriptor < 0:
                return
            try:
                # Removed while it is locked: who gets the lock afterwards sees that the name does not lead to it.
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
        # Said outright: a process forked from this one, and not replaced yet, would keep the lock otherwise.
        with suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_UN)
        os.close(descriptor)

    def _measure(self) -> None:
        """Find the end of what another process wrote."""
        content = _get(self._descriptor, os.fstat(self._descriptor).st_size)
        kept = _scan(self._key, content)
        self._number, self._end = kept.number, kept.end
        zeros = content.count(0, kept.end)
        self._is_torn = not zeros or zeros != len(content) - kept.end
        self._high = len(content) if self._is_torn else kept.end

    def _grow(self, descriptor: int, needed: int) -> None:
        if needed > self._max_bytes:
            raise OSError(errno.ENOSPC, f"the spool holds at most {self._max_bytes} bytes", str(self.path))
        size = os.fstat(descriptor).st_size
        if needed > size:
            _allocate(descriptor, size, min(-(-needed // _STEP) * _STEP, self._max_bytes))

    def _write(self, descriptor: int, content: bytes, offset: int) -> None:
        left = memoryview(content)
        while left:
            written = os.pwrite(descriptor, left, offset)
            left, offset = left[written:], offset + written
            self._high = max(self._high, offset)
        os.fsync(descriptor)


def spool_path(folder: Path, writer_id: str) -> Path:
    """Where a writer's spool lies; ValueError if that is no writer's id."""
    name = f"{writer_id}.spool"
    if not _NAME.fullmatch(name):
        raise ValueError(f"not the id of a writer: {writer_id!r}")
    return folder / name


def found(folder: Path) -> list[tuple[str, Path]]:
    """The spools that lie in a folder, with their writers' ids, oldest first; those of living writers too."""
    paths = sorted(path for path in folder.iterdir() if _NAME.fullmatch(path.name)) if folder.exists() else []
    return [(path.stem, path) for path in paths if path.is_file() and not path.is_symlink()]


class _Kept(NamedTuple):
    entries: list[bytes]
    number: int
    end: int
    has_gaps: bool


def _scan(key: bytes, content: bytes) -> _Kept:
    """The whole entries of a file's content, the last one's number and end, and whether any is missing before it."""
    entries: list[bytes] = []
    number = end = at = filled = 0
    has_gaps = False
    while (stop := content.find(b"\n", at)) >= 0:
        entry = _parsed(key, content[at:stop].lstrip(b"\0"))
        at = stop + 1
        if entry is None or entry[0] <= number:
            continue
        has_gaps = has_gaps or entry[0] != number + 1
        number, end = entry[0], at
        entries.append(entry[1])
        filled += len(_line(key, *entry))
    # Where something else stands among them, a copy of one for instance, it may stand where the last ones were.
    return _Kept(entries, number, end, has_gaps or filled != end)


def _line(key: bytes, number: int, entry: bytes) -> bytes:
    body = b"%d %s" % (number, b64encode(entry))
    # With a line break in front as well, the loss of one costs one entry and not two.
    return b"\n%s %s\n" % (_checksum(key, body), body)


def _parsed(key: bytes, line: bytes) -> tuple[int, bytes] | None:
    checksum, _, body = line.partition(b" ")
    if checksum != _checksum(key, body):
        return None
    try:
        number, text = body.split(b" ")
        return int(number), b64decode(text, validate=True)
    except ValueError:
        return None


def _checksum(key: bytes, body: bytes) -> bytes:
    return blake2b(body, digest_size=16, key=key).hexdigest().encode()


def _get(descriptor: int, size: int) -> bytes:
    content = bytearray()
    while part := os.pread(descriptor, size - len(content), len(content)):
        content += part
    return bytes(content)


def _allocate(descriptor: int, start: int, stop: int) -> None:
    """Make sure of room on the disk, filled with zeros, at the end of a file."""
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
