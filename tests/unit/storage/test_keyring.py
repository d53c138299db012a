"""Keys from an environment variable."""

from __future__ import annotations

import base64
import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard.storage.keyring import EnvironmentKeyring, Key, KeyringError, decode_key, encode_key

ONE, TWO, THREE = (bytes([number]) * 32 for number in (1, 2, 3))


def text(*secrets: bytes) -> str:
    return ",".join(encode_key(secret) for secret in secrets)


def test_the_first_key_encrypts_and_the_others_are_found_by_their_id() -> None:
    keyring = EnvironmentKeyring(text(ONE, TWO, THREE))
    assert keyring.primary.secret == ONE
    assert [key.secret for key in keyring.keys] == [ONE, TWO, THREE]
    second = keyring.get(Key.of(TWO).id)
    assert second is not None
    assert second.secret == TWO
    assert keyring.get("00000000") is None


def test_a_keys_id_is_the_beginning_of_its_digest() -> None:
    assert Key.of(ONE).id == hashlib.sha256(ONE).hexdigest()[:8]


def test_the_representation_of_a_key_does_not_show_it() -> None:
    assert repr(Key.of(ONE)) == f"Key(id='{Key.of(ONE).id}')"


@given(st.binary(min_size=32, max_size=32), st.booleans(), st.booleans(), st.sampled_from(["", " ", "\n"]))
def test_keys_are_read_in_either_base64_padded_or_not(secret: bytes, urlsafe: bool, padded: bool, around: str) -> None:
    encoded = (base64.urlsafe_b64encode if urlsafe else base64.b64encode)(secret).decode()
    given_text = encoded if padded else encoded.rstrip("=")
    assert decode_key(around + given_text + around) == Key.of(secret)


@pytest.mark.parametrize(
    ("value", "complaint"),
    [
        ("", "PEGBOARD_SECRET_KEY is empty"),
        (" \n", "PEGBOARD_SECRET_KEY is empty"),
        ("not base64 at all!", "PEGBOARD_SECRET_KEY is not base64"),
        ("schlüssel", "PEGBOARD_SECRET_KEY is not base64"),
        ("A" * 41, "PEGBOARD_SECRET_KEY is not base64"),
        (base64.b64encode(bytes(31)).decode(), "PEGBOARD_SECRET_KEY decodes to 31 bytes, but a key has exactly 32"),
        (bytes(32).hex(), "PEGBOARD_SECRET_KEY decodes to 48 bytes, but a key has exactly 32"),
        (text(ONE) + ",", "PEGBOARD_SECRET_KEY: key 2 of 2 is empty"),
        (text(ONE) + ",AAAA", "PEGBOARD_SECRET_KEY: key 2 of 2 decodes to 3 bytes"),
        (text(ONE, TWO, ONE), "PEGBOARD_SECRET_KEY: key 3 of 3 is the same as key 1"),
    ],
)
def test_a_value_that_cannot_be_used_is_refused_with_the_reason(value: str, complaint: str) -> None:
    with pytest.raises(KeyringError) as caught:
        EnvironmentKeyring(value)
    assert str(caught.value).startswith(complaint)


@given(st.text(alphabet="ABCDEFabcdef0123456789+/-_=,", min_size=8, max_size=60))
def test_an_error_never_shows_any_of_the_value(value: str) -> None:
    try:
        EnvironmentKeyring(value)
    except KeyringError as error:
        # Eight consecutive characters that are in none of our own words.
        parts = {value[start : start + 8] for start in range(len(value) - 7)}
        assert not any(part in str(error) for part in parts)
        assert error.__cause__ is None


def test_one_key_alone_cannot_be_rotated_and_the_error_says_how_to_continue() -> None:
    with pytest.raises(KeyringError, match=r"holds one key.*a new key and a comma in front.*openssl rand -base64 32"):
        EnvironmentKeyring(text(ONE)).begin_rotation()


def test_with_two_keys_rotation_goes_to_the_first_and_ends_by_naming_the_one_to_drop() -> None:
    keyring = EnvironmentKeyring(text(TWO, ONE))
    key = keyring.begin_rotation()
    assert key == Key.of(TWO)
    left_to_do = keyring.finish_rotation(key)
    assert left_to_do is not None
    assert f"old key ({Key.of(ONE).id})" in left_to_do
    assert "remove all but that first key from the variable" in left_to_do
