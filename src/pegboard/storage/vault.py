"""Encrypts and decrypts credentials, and derives keys for other purposes."""

from __future__ import annotations

import base64
import re
import secrets

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from pegboard.model.call_errors import SecretUnreadable
from pegboard.storage.keyring import KEY_BYTES, Keyring, KeyringError, decode_key, encode_key

_NONCE_BYTES = 12
# Suffix of the root if users and keys are signed; not a base64 character sequence.
_SIGNED_SUFFIX = ";signed"
# Nonce and tag are 28 bytes, 38 digits; without padding, so that each ciphertext has one spelling.
_SEALED_TEXT = re.compile(r"pb1:([0-9a-f]{8}):([A-Za-z0-9_-]{38,})", re.ASCII)


class Vault:
    """Encrypts text as `pb1:<key id>:<base64url of nonce and ciphertext>`: AES-256-GCM, bound to one row."""

    def __init__(
        self,
        keyring: Keyring,
        *,
        root: bytes | None = None,
        has_signed_rows: bool = True,
        is_makeshift: bool = False,
    ) -> None:
        """Create a vault; `has_signed_rows` is False for a root from before users and keys had MACs."""
        self.keyring = keyring
        self.has_signed_rows = has_signed_rows
        self._root = root
        self._is_temporary = is_makeshift
        self._temporary_root = secrets.token_bytes(KEY_BYTES)

    def seal(self, plain: str, owner_row: str) -> str:
        """Return the text encrypted with the primary key for this row; raise KeyringError if there is no key."""
        key = self.keyring.primary
        nonce = secrets.token_bytes(_NONCE_BYTES)
        # surrogatepass: JSON may contain lone surrogates, and the text must decrypt again.
        data = nonce + AESGCM(key.secret).encrypt(
            nonce, plain.encode("utf-8", "surrogatepass"), _encode_row_id(owner_row)
        )
        return f"pb1:{key.id}:{_encode_base64url(data)}"

    def open(self, sealed: str, owner_row: str) -> str:
        """Return the decrypted text of this row; raise SecretUnreadable if the key is missing or the text damaged."""
        parts = _SEALED_TEXT.fullmatch(sealed)
        if parts is None:
            raise SecretUnreadable("A stored credential is damaged: it is not of the form pb1:KEY:TEXT")
        key_id, digits = parts.groups()
        key = self.keyring.get(key_id)
        if key is None:
            # Callers of a tool read this, so it does not mention where keys are stored; the log and `doctor` do.
            way_out = "its operator sees why with: pegboard doctor"
            raise SecretUnreadable(f"A stored credential needs key {key_id}, which this board does not have; {way_out}")
        damaged = f"A stored credential is damaged, or was stored for something else: key {key_id} does not open it"
        try:
            data = base64.urlsafe_b64decode(digits + "=" * (-len(digits) % 4))
        except ValueError:
            raise SecretUnreadable(damaged) from None
        if _encode_base64url(data) != digits:
            raise SecretUnreadable(damaged)
        try:
            plain = AESGCM(key.secret).decrypt(data[:_NONCE_BYTES], data[_NONCE_BYTES:], _encode_row_id(owner_row))
        except InvalidTag:
            raise SecretUnreadable(damaged) from None
        return plain.decode("utf-8", "surrogatepass")

    def reseal(self, sealed: str, owner_row: str) -> str:
        """Return the same text encrypted with the primary key."""
        return self.seal(self.open(sealed, owner_row), owner_row)

    def needs_rotation(self, sealed: str) -> bool:
        """True if the text is not encrypted with the primary key."""
        return not sealed.startswith(f"pb1:{self.keyring.primary.id}:")

    def derive(self, label: str) -> bytes:
        """Return a key of 32 bytes for one purpose, the same in every process and after every rotation.

        It is derived from a root that is not one of the rotating keys. The root is stored in the database, encrypted
        like any credential (`seal_root` creates it, `with_root` uses it, rotation encrypts it again), so that it stays
        the same if keys move from a file to the environment. A key file contains it too. If the key file has never been
        readable, the root is random: derived keys match nothing stored before, so digests compare unequal, but the
        board runs.
        """
        root = self._root or self.keyring.root
        if root is None:
            if self.keyring.trouble is None and not self._is_temporary:
                raise KeyringError("these keys have no root to derive from: make the vault with_root")
            root = self._temporary_root
        return HKDF(algorithm=SHA256(), length=KEY_BYTES, salt=None, info=b"pegboard:" + label.encode()).derive(root)

    def without_root(self) -> Vault:
        """Return a vault for a database whose root it cannot decrypt: with the key file's root or a temporary one."""
        return Vault(self.keyring, is_makeshift=True)

    def digest_key(self) -> bytes:
        """Return the key of the journal's argument digests."""
        return self.derive("arguments digest")

    @property
    def is_rooted(self) -> bool:
        """True if keys derive from a stored root, in the database or in a key file."""
        return self._root is not None or self.keyring.root is not None

    def seal_root(self, owner_row: str) -> str:
        """Return the encrypted root for the row that stores it: this vault's, the key file's, or a new one.

        The encrypted text also records that the rows of the database are signed. Without the key it cannot be changed;
        otherwise an attacker who can write to the database could get forged rows signed.
        """
        root = self._root or self.keyring.root or secrets.token_bytes(KEY_BYTES)
        return self.seal(encode_key(root) + _SIGNED_SUFFIX, owner_row)

    def with_root(self, sealed: str, owner_row: str) -> Vault:
        """Return this vault with the root that `seal_root` encrypted."""
        text = self.open(sealed, owner_row)
        try:
            root = decode_key(text.removesuffix(_SIGNED_SUFFIX)).secret
            return Vault(self.keyring, root=root, has_signed_rows=text.endswith(_SIGNED_SUFFIX))
        except ValueError:
            raise SecretUnreadable("the stored root is damaged: it is not a key") from None


def _encode_row_id(owner_row: str) -> bytes:
    if not owner_row:
        raise ValueError("a credential is sealed for a row: its id is missing")
    return owner_row.encode()


def _encode_base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode("ascii")
