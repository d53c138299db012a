"""The encryption keys of a board, from a key file or an environment variable.

The file is JSON, mode 0600: `{"version": 1, "keys": [base64, …], "root": base64}`. The first key encrypts; the others,
present during an unfinished rotation, only decrypt. `root` is not an encryption key and survives every rotation.
"""

from __future__ import annotations

import base64
import fcntl
import hashlib
import json
import os
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from pegboard.model.call_errors import Misconfigured

KEY_BYTES = 32

_BASE64_TABLE = str.maketrans("-_", "+/")
_KEY_HINT = "make one with: openssl rand -base64 32"


class KeyringError(Misconfigured):
    """Raised if the board's encryption keys cannot be used."""


@dataclass(frozen=True, slots=True)
class Key:
    """A key of 32 bytes, and the id that ciphertexts refer to it by."""

    id: str
    secret: bytes = field(repr=False)

    @classmethod
    def of(cls, secret: bytes) -> Key:
        """Return the key with these bytes; its id is a digest, which does not reveal them."""
        return cls(hashlib.sha256(secret).hexdigest()[:8], secret)


class Keyring(Protocol):
    """The source of a vault's keys."""

    @property
    def primary(self) -> Key:
        """The key that encrypts; raises KeyringError with the reason if there is none."""

    @property
    def keys(self) -> tuple[Key, ...]:
        """The active keys, the primary one first; empty if `trouble` is set."""

    @property
    def root(self) -> bytes | None:
        """The bytes that other keys derive from, unchanged by rotation; None if stored elsewhere."""

    @property
    def trouble(self) -> str | None:
        """The reason why there are no keys, or None."""

    def get(self, key_id: str) -> Key | None:
        """Return the key with that id, also one that a rotation dropped while this process ran."""

    def begin_rotation(self) -> Key:
        """Return the key to encrypt everything with from now on; continue an unfinished rotation."""

    def finish_rotation(self, key: Key) -> str | None:
        """Drop every key but this one, because the others are unused; return what the operator must do, or None."""


class EnvironmentKeyring:
    """The keys of an environment variable: base64, separated by commas, the one that encrypts first."""

    root: bytes | None = None
    trouble: str | None = None

    def __init__(self, value: str, variable: str = "PEGBOARD_SECRET_KEY") -> None:
        self._variable = variable
        parts = value.split(",")
        found: list[Key] = []
        for number, part in enumerate(parts, start=1):
            which = variable if len(parts) == 1 else f"{variable}: key {number} of {len(parts)}"
            try:
                key = decode_key(part)
            except ValueError as error:
                raise KeyringError(f"{which} {error}; {_KEY_HINT}") from None
            twins = [index for index, other in enumerate(found, start=1) if other.id == key.id]
            if twins:
                raise KeyringError(f"{which} is the same as key {twins[0]}; give each key once")
            found.append(key)
        self.primary = found[0]
        self.keys = tuple(found)

    def get(self, key_id: str) -> Key | None:
        """Return the key with that id."""
        return next((key for key in self.keys if key.id == key_id), None)

    def begin_rotation(self) -> Key:
        """Return the first key; raise KeyringError if there is no second one to rotate away from."""
        if len(self.keys) < 2:
            raise KeyringError(
                f"{self._variable} holds one key, so there is nothing to rotate to. Put a new key and a comma in front "
                f"of the present one ({_KEY_HINT}), restart every server with that value, then rotate again"
            )
        return self.primary

    def finish_rotation(self, key: Key) -> str | None:
        """Return which keys the operator must remove from the variable."""
        old = ", ".join(other.id for other in self.keys if other.id != key.id)
        return (
            f"Nothing is encrypted with the old key ({old}) any more. Once every server runs with {key.id} first in "
            f"{self._variable}, remove all but that first key from the variable and restart them"
        )


def encode_key(secret: bytes) -> str:
    """Return the bytes of a key in the format of `decode_key`."""
    return base64.b64encode(secret).decode("ascii")


def decode_key(text: str) -> Key:
    """Return the key that the text encodes; raise ValueError with the reason, without any of the text."""
    digits = text.strip().rstrip("=").translate(_BASE64_TABLE)
    if not digits:
        raise ValueError("is empty")
    try:
        secret = base64.b64decode(digits + "=" * (-len(digits) % 4), validate=True)
    except ValueError:
        raise ValueError("is not base64") from None
    if len(secret) != KEY_BYTES:
        raise ValueError(f"decodes to {len(secret)} bytes, but a key has exactly {KEY_BYTES}")
    return Key.of(secret)


@dataclass(frozen=True, slots=True)
class _KeyFileContents:
    """The contents of a key file."""

    keys: tuple[Key, ...] = ()
    root: bytes | None = field(default=None, repr=False)


class _KeyFileExposed(KeyringError):
    """Raised if users other than the owner may read the key file."""


class FileKeyring:
    """The keys of a file; read again whenever it changed, so that a rotation elsewhere needs no restart.

    A missing or damaged file does not stop the board: `trouble` has the reason, nothing can be encrypted, and only keys
    read before can decrypt. A file that others may read is refused when the board starts.
    """

    def __init__(self, path: Path, *, create: bool = False) -> None:
        self._path = path
        self._known: dict[str, Key] = {}
        self._contents = _KeyFileContents()
        # The problem with the file, or None.
        self.trouble: str | None = None
        self._stamp: tuple[int, ...] | None = None
        if create:
            self._create()
        if (error := self._load()) and isinstance(error, _KeyFileExposed):
            raise error

    @property
    def primary(self) -> Key:
        """The first key of the file as it is on disk now, so that a dropped key is not used to encrypt."""
        if _read_stamp(self._path) != self._stamp:
            self._load()
        if self.trouble is not None:
            raise KeyringError(f"Nothing can be encrypted: {self.trouble}")
        return self._contents.keys[0]

    @property
    def keys(self) -> tuple[Key, ...]:
        """The keys in the order of the file."""
        return self._contents.keys

    @property
    def root(self) -> bytes | None:
        """The random bytes in the file, unchanged since it was created."""
        return self._contents.root

    def get(self, key_id: str) -> Key | None:
        """Return the key with that id, from the file or from an earlier state of it.

        Dropped keys are kept because a process may hold ciphertexts that it read before they were rewritten.
        """
        if key_id not in self._known:
            self._load()
        return self._known.get(key_id)

    def begin_rotation(self) -> Key:
        """Add a new primary key before the old ones and return it; the present one if a rotation is unfinished."""
        _read_key_file(self._path)  # so that a missing file is reported, and not its lock
        with self._lock_file():
            contents = _read_key_file(self._path)
            if len(contents.keys) == 1:
                contents = replace(contents, keys=(_generate_key(contents.keys), *contents.keys))
                self._write(contents)
        self._load()
        return contents.keys[0]

    def finish_rotation(self, key: Key) -> str | None:
        """Drop every key but this one; raise KeyringError if it is no longer the primary key."""
        with self._lock_file():
            contents = _read_key_file(self._path)
            if contents.keys[0].id != key.id:
                other = contents.keys[0].id
                raise KeyringError(f"another rotation, to key {other}, began before the one to {key.id} ended")
            if len(contents.keys) > 1:
                self._write(replace(contents, keys=(contents.keys[0],)))
        self._load()
        return None

    def _create(self) -> None:
        # lexists: a dangling link was created on purpose and must not be replaced.
        if os.path.lexists(self._path):
            return
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise KeyringError(f"the folder of the key file {self._path} cannot be made: {error.strerror}") from None
        with self._lock_file():
            if not os.path.lexists(self._path):
                self._write(_KeyFileContents((_generate_key(()),), secrets.token_bytes(KEY_BYTES)))

    def _load(self) -> KeyringError | None:
        # Read the stamp first: if the file is replaced in between, the next check sees another stamp and reads again.
        self._stamp = _read_stamp(self._path)
        try:
            contents = _read_key_file(self._path)
        except KeyringError as error:
            self.trouble = str(error)
            # The root stays: derived keys must not change because a file became unreadable.
            self._contents = replace(self._contents, keys=())
            return error
        self._known.update({key.id: key for key in contents.keys})
        self._contents, self.trouble = contents, None
        return None

    @contextmanager
    def _lock_file(self) -> Iterator[None]:
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

    def _write(self, contents: _KeyFileContents) -> None:
        """Replace the file atomically; only under the lock, so that the leftover of a killed writer can be removed."""
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


def _read_stamp(path: Path) -> tuple[int, ...] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def _read_key_file(path: Path) -> _KeyFileContents:
    try:
        with path.open("rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            if mode & 0o077:
                raise _KeyFileExposed(
                    f"the key file {path} may be read or changed by others than its owner; run: chmod 600 {path}"
                )
            raw = file.read()
    except FileNotFoundError:
        raise KeyringError(f"the key file {path} is missing; restore it from a backup") from None
    except OSError as error:
        raise KeyringError(f"the key file {path} cannot be read: {error.strerror}") from None
    try:
        return _parse_key_file(raw)
    except ValueError as error:
        raise KeyringError(f"the key file {path} is damaged: {error}; restore it from a backup") from None


def _parse_key_file(raw: bytes) -> _KeyFileContents:
    try:
        document = json.loads(raw)
    except (ValueError, RecursionError):
        raise ValueError("it is not JSON") from None
    if not isinstance(document, dict) or document.get("version") != 1:
        raise ValueError("it is not a key file of version 1")
    texts = document.get("keys")
    if not isinstance(texts, list) or not texts:
        raise ValueError("it holds no keys")
    keys = tuple(_read_key_part(f"key {number}", text) for number, text in enumerate(texts, start=1))
    return _KeyFileContents(keys, _read_key_part("root", document.get("root")).secret)


def _read_key_part(name: str, text: object) -> Key:
    if not isinstance(text, str):
        raise ValueError(f"{name} is missing")
    try:
        return decode_key(text)
    except ValueError as error:
        raise ValueError(f"{name} {error}") from None


def _generate_key(others: Sequence[Key]) -> Key:
    while True:
        key = Key.of(secrets.token_bytes(KEY_BYTES))
        if all(key.id != other.id for other in others):
            return key
