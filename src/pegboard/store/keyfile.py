"""The keys of a file that only its owner may read.

The file is JSON, mode 0600: `{"version": 1, "keys": [base64, …], "root": base64}`. The first key encrypts; the others,
there while a rotation is unfinished, only decrypt. `root` is no encryption key and outlives every rotation.
"""

from __future__ import annotations

import fcntl
import json
import os
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from pegboard.store.keyring import KEY_BYTES, Key, KeyringError, decode_key, encode_key


@dataclass(frozen=True, slots=True)
class _Contents:
    """A key file as it was read."""

    keys: tuple[Key, ...] = ()
    root: bytes | None = field(default=None, repr=False)


class _Exposed(KeyringError):
    """Others than the owner may read the key file."""


class FileKeyring:
    """The keys of a file; read again whenever it changed, so that a rotation elsewhere is seen without a restart.

    A file that is missing or damaged does not stop the board: `trouble` says what is wrong, nothing can be encrypted,
    and only keys seen before the trouble began decrypt. A file that others may read is refused when the board starts.
    """

    def __init__(self, path: Path, *, create: bool = False) -> None:
        self._path = path
        self._known: dict[str, Key] = {}
        self._contents = _Contents()
        self._trouble: str | None = None
        self._stamp: tuple[int, ...] | None = None
        if create:
            self._create()
        if (error := self._load()) and isinstance(error, _Exposed):
            raise error

    @property
    def primary(self) -> Key:
        """The first key of the file as it is on disk now, so nothing is encrypted with a key that is being dropped."""
        if _stamp(self._path) != self._stamp:
            self._load()
        if self._trouble is not None:
            raise KeyringError(f"Nothing can be encrypted: {self._trouble}")
        return self._contents.keys[0]

    @property
    def keys(self) -> tuple[Key, ...]:
        """The keys in the order of the file."""
        return self._contents.keys

    @property
    def root(self) -> bytes | None:
        """The random bytes that the file has kept since it was made."""
        return self._contents.root

    @property
    def trouble(self) -> str | None:
        """What is wrong with the file, or None."""
        return self._trouble

    def get(self, key_id: str) -> Key | None:
        """The key of that id: of the file, or one this process has seen there before.

        Dropped keys are remembered because a process may hold ciphertexts that it read before they were rewritten.
        """
        if key_id not in self._known:
            self._load()
        return self._known.get(key_id)

    def begin_rotation(self) -> Key:
        """A new primary key, written in front of the old ones; the present one if a rotation is unfinished."""
        _read(self._path)  # so that a missing file is the complaint, not its lock
        with self._locked():
            contents = _read(self._path)
            if len(contents.keys) == 1:
                contents = replace(contents, keys=(_new_key(contents.keys), *contents.keys))
                self._write(contents)
        self._load()
        return contents.keys[0]

    def finish_rotation(self, key: Key) -> str | None:
        """Drop every key but this one; refused when it is no longer the primary, since then the others are in use."""
        with self._locked():
            contents = _read(self._path)
            if contents.keys[0].id != key.id:
                other = contents.keys[0].id
                raise KeyringError(f"another rotation, to key {other}, began before the one to {key.id} ended")
            if len(contents.keys) > 1:
                self._write(replace(contents, keys=(contents.keys[0],)))
        self._load()
        return None

    def _create(self) -> None:
        # lexists: a dangling link is a file that somebody meant to be there, and is not ours to replace.
        if os.path.lexists(self._path):
            return
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise KeyringError(f"the folder of the key file {self._path} cannot be made: {error.strerror}") from None
        with self._locked():
            if not os.path.lexists(self._path):
                self._write(_Contents((_new_key(()),), secrets.token_bytes(KEY_BYTES)))

    def _load(self) -> KeyringError | None:
        # The stamp is taken first: if the file is replaced in between, the next look sees another one and reads again.
        self._stamp = _stamp(self._path)
        try:
            contents = _read(self._path)
        except KeyringError as error:
            self._trouble = str(error)
            # The root stays: what was derived from it must not change because a file became unreadable.
            self._contents = replace(self._contents, keys=())
            return error
        self._known.update({key.id: key for key in contents.keys})
        self._contents, self._trouble = contents, None
        return None

    @contextmanager
    def _locked(self) -> Iterator[None]:
        lock = self._path.with_name(self._path.name + ".lock")
        try:
            descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise KeyringError(f"the key file's lock {lock} cannot be opened: {error.strerror}") from None
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX)
            except OSError as error:
                raise KeyringError(f"the key file's lock {lock} cannot be taken: {error.strerror}") from None
            yield
        finally:
            os.close(descriptor)

    def _write(self, contents: _Contents) -> None:
        """Replace the file in one step; only under the lock, so that a leftover of a killed writer can be removed."""
        path = self._path.resolve()
        fresh = path.with_name(path.name + ".new")
        assert contents.root is not None
        text = json.dumps(
            {
                "version": 1,
                "keys": [encode_key(key.secret) for key in contents.keys],
                "root": encode_key(contents.root),
            },
            indent=2,
        )
        try:
            fresh.unlink(missing_ok=True)
            descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            with os.fdopen(descriptor, "w", encoding="ascii") as file:
                file.write(text + "\n")
                file.flush()
                os.fsync(file.fileno())
            fresh.replace(path)
            folder = os.open(path.parent, os.O_RDONLY | os.O_CLOEXEC)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)
        except OSError as error:
            raise KeyringError(f"the key file {path} cannot be written: {error.strerror}") from None


def _stamp(path: Path) -> tuple[int, ...] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def _read(path: Path) -> _Contents:
    try:
        with path.open("rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            if mode & 0o077:
                raise _Exposed(
                    f"the key file {path} may be read or changed by others than its owner; run: chmod 600 {path}"
                )
            raw = file.read()
    except FileNotFoundError:
        raise KeyringError(f"the key file {path} is missing; restore it from a backup") from None
    except OSError as error:
        raise KeyringError(f"the key file {path} cannot be read: {error.strerror}") from None
    try:
        return _parse(raw)
    except ValueError as error:
        raise KeyringError(f"the key file {path} is damaged: {error}; restore it from a backup") from None


def _parse(raw: bytes) -> _Contents:
    try:
        document = json.loads(raw)
    except (ValueError, RecursionError):
        raise ValueError("it is not JSON") from None
    if not isinstance(document, dict) or document.get("version") != 1:
        raise ValueError("it is not a key file of version 1")
    texts = document.get("keys")
    if not isinstance(texts, list) or not texts:
        raise ValueError("it holds no keys")
    keys = tuple(_part(f"key {number}", text) for number, text in enumerate(texts, start=1))
    return _Contents(keys, _part("root", document.get("root")).secret)


def _part(name: str, text: object) -> Key:
    if not isinstance(text, str):
        raise ValueError(f"{name} is missing")
    try:
        return decode_key(text)
    except ValueError as error:
        raise ValueError(f"{name} {error}") from None


def _new_key(others: Sequence[Key]) -> Key:
    while True:
        key = Key.of(secrets.token_bytes(KEY_BYTES))
        if all(key.id != other.id for other in others):
            return key
