"""Encryption, decryption and key derivation."""

from __future__ import annotations

import base64
import string
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard.model.call_errors import SecretUnreadable
from pegboard.model.ids import new_id
from pegboard.storage.keyring import EnvironmentKeyring, FileKeyring, Key, KeyringError, encode_key
from pegboard.storage.vault import Vault

ONE, TWO = (bytes([number]) * 32 for number in (1, 2))
ROW = "0199d0c4-0000-7000-8000-000000000001"
SAYS_WHICH = r"key [0-9a-f]{8}"

rows = st.uuids().map(str)


def vault_with(*secrets: bytes) -> Vault:
    return Vault(EnvironmentKeyring(",".join(encode_key(secret) for secret in secrets)))


@given(st.text(st.characters()), rows)
def test_whatever_is_sealed_opens_again(plain: str, row: str) -> None:
    vault = vault_with(ONE)
    sealed = vault.seal(plain, row)
    assert sealed.startswith("pb1:")
    assert vault.open(sealed, row) == plain


def test_lone_surrogates_open_again_too() -> None:
    vault = vault_with(ONE)
    assert vault.open(vault.seal("a\ud800b", ROW), ROW) == "a\ud800b"


def test_a_sealed_text_names_its_key_and_begins_with_a_nonce_of_twelve_bytes() -> None:
    scheme, key_id, digits = vault_with(ONE).seal("four", ROW).split(":")
    assert (scheme, key_id) == ("pb1", Key.of(ONE).id)
    assert len(base64.urlsafe_b64decode(digits + "==")) == 12 + 4 + 16


def test_no_nonce_comes_twice() -> None:
    vault = vault_with(ONE)
    sealed = [vault.seal("the same", ROW).split(":")[2] for _ in range(200)]
    assert len({base64.urlsafe_b64decode(digits + "==")[:12] for digits in sealed}) == 200


@given(st.text(max_size=30), st.data())
def test_a_changed_byte_makes_it_unreadable(plain: str, data: st.DataObject) -> None:
    vault = vault_with(ONE)
    head, key_id, digits = vault.seal(plain, ROW).split(":")
    raw = bytearray(base64.urlsafe_b64decode(digits + "=" * (-len(digits) % 4)))
    place = data.draw(st.integers(0, len(raw) - 1))
    raw[place] ^= data.draw(st.integers(1, 255))
    changed = base64.urlsafe_b64encode(bytes(raw)).decode().rstrip("=")
    with pytest.raises(SecretUnreadable, match=SAYS_WHICH):
        vault.open(f"{head}:{key_id}:{changed}", ROW)


@given(st.text(max_size=30), st.data())
def test_a_changed_character_anywhere_makes_it_unreadable(plain: str, data: st.DataObject) -> None:
    vault = vault_with(ONE)
    sealed = vault.seal(plain, ROW)
    place = data.draw(st.integers(0, len(sealed) - 1))
    other = data.draw(st.characters().filter(lambda character: character != sealed[place]))
    with pytest.raises(SecretUnreadable):
        vault.open(sealed[:place] + other + sealed[place + 1 :], ROW)


@pytest.mark.parametrize("plain", ["", "1", "12"])
def test_bits_that_base64_leaves_unused_cannot_be_changed_either(plain: str) -> None:
    vault = vault_with(ONE)
    sealed = vault.seal(plain, ROW)
    for other in set(string.ascii_letters + string.digits + "-_") - {sealed[-1]}:
        with pytest.raises(SecretUnreadable):
            vault.open(sealed[:-1] + other, ROW)


@given(st.text(max_size=30), st.integers(0, 200))
def test_a_text_cut_short_or_with_something_behind_it_is_unreadable(plain: str, cut: int) -> None:
    vault = vault_with(ONE)
    sealed = vault.seal(plain, ROW)
    for changed in (sealed[: min(cut, len(sealed) - 1)], sealed + "A" * (cut + 1), sealed + "=", sealed + "\n"):
        with pytest.raises(SecretUnreadable):
            vault.open(changed, ROW)


@given(st.text(max_size=30), rows, rows)
def test_it_opens_for_no_other_row(plain: str, row: str, other: str) -> None:
    vault = vault_with(ONE)
    sealed = vault.seal(plain, row)
    if row != other:
        with pytest.raises(SecretUnreadable, match="damaged, or was stored for something else"):
            vault.open(sealed, other)


def test_a_row_without_an_id_is_refused() -> None:
    with pytest.raises(ValueError, match="its id is missing"):
        vault_with(ONE).seal("x", "")


def test_a_missing_key_is_named() -> None:
    sealed = vault_with(ONE).seal("hunter2", ROW)
    with pytest.raises(SecretUnreadable, match=f"needs key {Key.of(ONE).id}, which this board does not have") as caught:
        vault_with(TWO).open(sealed, ROW)
    assert caught.value.code == "secret_unreadable"
    assert "hunter2" not in str(caught.value)


def test_a_lost_key_file_is_not_shown_to_callers(tmp_path: Path) -> None:
    path = tmp_path / "secret.key"
    sealed = Vault(FileKeyring(path, create=True)).seal("hunter2", ROW)
    path.unlink()
    vault = Vault(FileKeyring(path))
    assert vault.keyring.trouble is not None
    assert f"the key file {path} is missing" in vault.keyring.trouble
    with pytest.raises(SecretUnreadable, match="which this board does not have; its operator sees why"):
        vault.open(sealed, ROW)
    with pytest.raises(KeyringError, match=f"Nothing can be encrypted: the key file {path} is missing"):
        vault.seal("more", ROW)


def test_both_keys_open_during_a_rotation_and_the_first_one_seals() -> None:
    old, both, new = vault_with(ONE), vault_with(TWO, ONE), vault_with(TWO)
    sealed = old.seal("text", ROW)
    assert both.needs_rotation(sealed)
    again = both.reseal(sealed, ROW)
    assert not both.needs_rotation(again)
    assert both.open(sealed, ROW) == both.open(again, ROW) == new.open(again, ROW) == "text"


@pytest.mark.parametrize("text", ["", "pb1", "pb1::", "pb1:12345678:", "pb2:12345678:" + "A" * 40, "hunter2"])
def test_other_text_is_not_sealed_and_does_not_open(text: str) -> None:
    vault = vault_with(ONE)
    assert vault.needs_rotation(text)
    with pytest.raises(SecretUnreadable, match="not of the form"):
        vault.open(text, ROW)


def test_derived_keys_differ_by_label_and_outlive_a_rotation_of_the_file(tmp_path: Path) -> None:
    keyring = FileKeyring(tmp_path / "secret.key", create=True)
    before = Vault(keyring).digest_key()
    keyring.finish_rotation(keyring.begin_rotation())
    after = Vault(FileKeyring(tmp_path / "secret.key"))
    assert after.digest_key() == before
    assert len(before) == 32
    assert after.derive("something else") != before
    assert before not in (keyring.root, keyring.primary.secret)


def test_keys_of_the_environment_derive_from_a_root_kept_in_the_database_through_rotations() -> None:
    row = new_id()
    vault = vault_with(ONE)
    with pytest.raises(KeyringError, match="with_root"):
        vault.digest_key()
    kept = vault.seal_root(row)
    digest_key = vault.with_root(kept, row).digest_key()
    kept = vault_with(TWO, ONE).reseal(kept, row)
    assert vault_with(TWO).with_root(kept, row).digest_key() == digest_key
    assert vault.with_root(vault.seal_root(row), row).digest_key() != digest_key


def test_a_root_that_is_no_key_is_refused() -> None:
    vault = vault_with(ONE)
    with pytest.raises(SecretUnreadable, match="the stored root is damaged"):
        vault.with_root(vault.seal("nonsense", ROW), ROW)


def test_without_a_readable_key_file_a_makeshift_root_keeps_the_board_running(tmp_path: Path) -> None:
    vault = Vault(FileKeyring(tmp_path / "secret.key"))
    assert vault.digest_key() == vault.digest_key()
    assert vault.digest_key() != Vault(FileKeyring(tmp_path / "secret.key")).digest_key()
