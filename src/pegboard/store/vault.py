"""Sealing and opening credentials, and deriving keys that are not for encryption."""

from __future__ import annotations

import base64
import re
import secrets

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from pegboard.core.errors import SecretUnreadable
from pegboard.store.keyring import KEY_BYTES, Keyring, KeyringError, decode_key, encode_key

_NONCE_BYTES = 12
# What follows the root once users and keys are signed; no base64 has it.
_SIGNED = ";signed"
# A nonce and a tag are 28 bytes, 38 digits; without padding, so that one ciphertext has one spelling.
_SEALED = re.compile(r"pb1:([0-9a-f]{8}):([A-Za-z0-9_-]{38,})", re.ASCII)


class Vault:
    """Turns text into `pb1:<key id>:<base64url of nonce and ciphertext>` and back: AES-256-GCM, bound to one row."""

    def __init__(
        self,
        keyring: Keyring,
        *,
        root: bytes | None = None,
        has_signed_rows: bool = True,
        is_makeshift: bool = False,
    ) -> None:
        """`has_signed_rows` is False for the root of a database from before users and keys had MACs."""
        self.keyring = keyring
        self.has_signed_rows = has_signed_rows
        self._root = root
        self._is_makeshift = is_makeshift
        self._makeshift = secrets.token_bytes(KEY_BYTES)

    def seal(self, plain: str, owner_row: str) -> str:
        """The text under the primary key, to be opened for this row alone; KeyringError if there is no key."""
        key = self.keyring.primary
        nonce = secrets.token_bytes(_NONCE_BYTES)
        # surrogatepass: JSON may hold lone surrogates, and what was sealed must open.
        data = nonce + AESGCM(key.secret).encrypt(nonce, plain.encode("utf-8", "surrogatepass"), _bound_to(owner_row))
        return f"pb1:{key.id}:{_digits(data)}"

    def open(self, sealed: str, owner_row: str) -> str:
        """The text that was sealed for this row; SecretUnreadable says if the key is missing or the text damaged."""
        parts = _SEALED.fullmatch(sealed)
        if parts is None:
            raise SecretUnreadable("A stored credential is damaged: it is not of the form pb1:KEY:TEXT")
        key_id, digits = parts.groups()
        key = self.keyring.get(key_id)
        if key is None:
            # Callers of a tool read this, so it says nothing of where keys are kept; the log and `doctor` do.
            way_out = "its operator sees why with: pegboard doctor"
            raise SecretUnreadable(f"A stored credential needs key {key_id}, which this board does not have; {way_out}")
        damaged = f"A stored credential is damaged, or was stored for something else: key {key_id} does not open it"
        try:
            data = base64.urlsafe_b64decode(digits + "=" * (-len(digits) % 4))
        except ValueError:
            raise SecretUnreadable(damaged) from None
        if _digits(data) != digits:
            raise SecretUnreadable(damaged)
        try:
            plain = AESGCM(key.secret).decrypt(data[:_NONCE_BYTES], data[_NONCE_BYTES:], _bound_to(owner_row))
        except InvalidTag:
            raise SecretUnreadable(damaged) from None
        return plain.decode("utf-8", "surrogatepass")

    def reseal(self, sealed: str, owner_row: str) -> str:
        """The same text under the primary key."""
        return self.seal(self.open(sealed, owner_row), owner_row)

    def needs_rotation(self, sealed: str) -> bool:
        """Whether anything but the primary key is needed to open this."""
        return not sealed.startswith(f"pb1:{self.keyring.primary.id}:")

    def derive(self, label: str) -> bytes:
        """A key of 32 bytes for one purpose, the same in every process and after every rotation.

        It comes from a root that is not one of the rotating keys, which can all be replaced in time. The root is kept
        in the database, sealed as any credential is (`seal_root` makes it, `with_root` uses it, rotation encrypts it
        anew), so that it stays when keys move from a file to the environment. A key file holds it too.
        While a key file has never been readable the root is random: what is derived then fits nothing stored before,
        so digests compare unequal, but the board runs.
        """
        root = self._root or self.keyring.root
        if root is None:
            if self.keyring.trouble is None and not self._is_makeshift:
                raise KeyringError("these keys have no root to derive from: make the vault with_root")
            root = self._makeshift
        return HKDF(algorithm=SHA256(), length=KEY_BYTES, salt=None, info=b"pegboard:" + label.encode()).derive(root)

    def without_root(self) -> Vault:
        """This vault for a database whose root it cannot open: the key file's root, else one for this process alone."""
        return Vault(self.keyring, is_makeshift=True)

    def digest_key(self) -> bytes:
        """The key of the journal's argument digests."""
        return self.derive("arguments digest")

    @property
    def is_rooted(self) -> bool:
        """Whether it derives from a root that is kept somewhere, in the database or in a key file."""
        return self._root is not None or self.keyring.root is not None

    def seal_root(self, owner_row: str) -> str:
        """The root, sealed for the row that keeps it: this vault's, else the key file's, else a new one.

        The sealed text also says that the rows of the database are signed: it cannot be made to say otherwise without
        the key, or a database writer could have forged rows signed.
        """
        root = self._root or self.keyring.root or secrets.token_bytes(KEY_BYTES)
        return self.seal(encode_key(root) + _SIGNED, owner_row)

    def with_root(self, sealed: str, owner_row: str) -> Vault:
        """This vault, deriving from the root that `seal_root` sealed."""
        text = self.open(sealed, owner_row)
        try:
            root = decode_key(text.removesuffix(_SIGNED)).secret
            return Vault(self.keyring, root=root, has_signed_rows=text.endswith(_SIGNED))
        except ValueError:
            raise SecretUnreadable("the stored root is damaged: it is not a key") from None


def _bound_to(owner_row: str) -> bytes:
    if not owner_row:
        raise ValueError("a credential is sealed for a row: its id is missing")
    return owner_row.encode()


def _digits(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode("ascii")
