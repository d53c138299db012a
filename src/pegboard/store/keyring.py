"""The keys that encrypt credentials, and those that an environment variable holds."""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass, field
from typing import Protocol

from pegboard.core.errors import Misconfigured

KEY_BYTES = 32

_STANDARD = str.maketrans("-_", "+/")
_HOW_TO_MAKE = "make one with: openssl rand -base64 32"


class KeyringError(Misconfigured):
    """The board's encryption keys cannot be used as they are set up."""


@dataclass(frozen=True, slots=True)
class Key:
    """A key of 32 bytes, and the id that ciphertexts name it by."""

    id: str
    secret: bytes = field(repr=False)

    @classmethod
    def of(cls, secret: bytes) -> Key:
        """The key with these bytes; its id is a digest, so it tells nothing of use about them."""
        return cls(hashlib.sha256(secret).hexdigest()[:8], secret)


class Keyring(Protocol):
    """Where a vault gets its keys."""

    @property
    def primary(self) -> Key:
        """The key that encrypts; KeyringError says why there is none."""

    @property
    def keys(self) -> tuple[Key, ...]:
        """The keys in force, the primary one first; empty while there is trouble."""

    @property
    def root(self) -> bytes | None:
        """What other keys derive from: stays the same when the keys rotate; None if kept elsewhere."""

    @property
    def trouble(self) -> str | None:
        """Why there are no keys, or None if all is well."""

    def get(self, key_id: str) -> Key | None:
        """The key of that id, also one that a rotation dropped while this process ran."""

    def begin_rotation(self) -> Key:
        """The key to encrypt everything with from now on; an unfinished rotation is taken up again."""

    def finish_rotation(self, key: Key) -> str | None:
        """Drop every key but this one, since nothing needs the others; what is left for a person to do, if anything."""


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
                raise KeyringError(f"{which} {error}; {_HOW_TO_MAKE}") from None
            twins = [index for index, other in enumerate(found, start=1) if other.id == key.id]
            if twins:
                raise KeyringError(f"{which} is the same as key {twins[0]}; give each key once")
            found.append(key)
        self._keys = tuple(found)

    @property
    def primary(self) -> Key:
        """The first key of the variable."""
        return self._keys[0]

    @property
    def keys(self) -> tuple[Key, ...]:
        """The keys in the order of the variable."""
        return self._keys

    def get(self, key_id: str) -> Key | None:
        """The key of that id."""
        return next((key for key in self._keys if key.id == key_id), None)

    def begin_rotation(self) -> Key:
        """The first key, if there is a second one to rotate away from."""
        if len(self._keys) < 2:
            raise KeyringError(
                f"{self._variable} holds one key, so there is nothing to rotate to. Put a new key and a comma in front "
                f"of the present one ({_HOW_TO_MAKE}), restart every server with that value, then rotate again"
            )
        return self.primary

    def finish_rotation(self, key: Key) -> str | None:
        """What to take out of the variable, which only a person can change."""
        old = ", ".join(other.id for other in self._keys if other.id != key.id)
        return (
            f"Nothing is encrypted with the old key ({old}) any more. Once every server runs with {key.id} first in "
            f"{self._variable}, remove all but that first key from the variable and restart them"
        )


def encode_key(secret: bytes) -> str:
    """The bytes of a key as `decode_key` reads them."""
    return base64.b64encode(secret).decode("ascii")


def decode_key(text: str) -> Key:
    """The key that the text encodes; ValueError says what is wrong without showing any of it."""
    digits = text.strip().rstrip("=").translate(_STANDARD)
    if not digits:
        raise ValueError("is empty")
    try:
        secret = base64.b64decode(digits + "=" * (-len(digits) % 4), validate=True)
    except ValueError:
        raise ValueError("is not base64") from None
    if len(secret) != KEY_BYTES:
        raise ValueError(f"decodes to {len(secret)} bytes, but a key has exactly {KEY_BYTES}")
    return Key.of(secret)
