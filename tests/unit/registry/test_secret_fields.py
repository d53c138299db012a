"""Credentials in definitions: encrypted, masked, and kept on updates."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard.kinds.http.config import HttpConfig
from pegboard.model.secrets import MASK
from pegboard.model.tool import AuthConfig
from pegboard.registry.secret_fields import (
    MaskedAuth,
    keep_masked,
    keep_masked_auth,
    mask_auth,
    mask_config,
    open_auth,
    seal_auth,
    seal_config,
    unseal_auth,
    unseal_config,
)
from pegboard.storage.keyring import EnvironmentKeyring, encode_key
from pegboard.storage.vault import Vault

TOOL = "0199d0c4-0000-7000-8000-000000000001"
HTTP = {"url": "https://example.com", "method": "GET", "headers": {"X-Key": "hunter2", "A.b": "swordfish"}}
CUSTOM = {"type": "custom", "headers": {"X-A": "one", "X-B": "two"}, "query": {}, "n": 7, "list": ["three"]}

texts = st.text(max_size=20).filter(lambda text: text != MASK)
leaves = texts | st.integers() | st.booleans() | st.none() | st.lists(texts, max_size=2)
auths = st.dictionaries(texts, st.recursive(leaves, lambda inner: st.dictionaries(texts, inner, max_size=3))).map(
    lambda fields: {**fields, "type": "custom"}
)
configs = st.fixed_dictionaries(
    {"url": texts}, optional={group: st.dictionaries(texts, texts, max_size=3) for group in ("headers", "env")}
)


def vault_with(number: int) -> Vault:
    return Vault(EnvironmentKeyring(encode_key(bytes([number]) * 32)))


VAULT = vault_with(1)


def no_secrets(name: str) -> str:
    raise KeyError(name)


def sealed_auth(auth: dict[str, Any]) -> dict[str, Any]:
    sealed = seal_auth(auth, VAULT, TOOL)
    assert sealed is not None
    return sealed


# Sealing


@given(configs)
def test_a_sealed_config_shows_no_credential_and_opens_to_what_it_was(config: dict[str, Any]) -> None:
    before = copy.deepcopy(config)
    sealed = seal_config(config, VAULT, TOOL)
    assert config == before
    assert json.loads(json.dumps(sealed)) == sealed
    for group in ("headers", "env"):
        assert all(list(value) == ["$sealed"] for value in sealed.get(group, {}).values())
    assert unseal_config(sealed, VAULT, TOOL) == config


@given(auths)
def test_a_sealed_auth_config_shows_its_type_and_names_alone_and_opens_to_what_it_was(auth: dict[str, Any]) -> None:
    sealed = sealed_auth(auth)
    assert set(sealed) == {"type", "fields", "$sealed"}
    assert sealed["type"] == "custom"
    assert unseal_auth(json.loads(json.dumps(sealed)), VAULT, TOOL) == auth


def test_the_example_of_a_bearer_token() -> None:
    sealed = sealed_auth({"type": "bearer", "token": "hunter2"})
    assert (sealed["type"], sealed["fields"]) == ("bearer", ["token"])
    assert sealed["$sealed"].startswith("pb1:")
    assert mask_auth(sealed) == {"type": "bearer", "token": MASK}


@pytest.mark.parametrize("value", ["{{secret:KEY}}", "Bearer {{secret:KEY}}", "token {{secret:a.b-c}}"])
def test_a_mere_reference_stays_readable(value: str) -> None:
    sealed = seal_config({"headers": {"Authorization": value}}, VAULT, TOOL)
    assert sealed["headers"]["Authorization"] == value
    assert mask_config(sealed)["headers"]["Authorization"] == value


@pytest.mark.parametrize(
    "value",
    [
        "hunter2 {{secret:KEY}}",
        "Bearer hunter2 {{secret:KEY}}",
        "{{secret:KEY}}hunter2",
        "{{secret:KEY}} ",
        "{{secret:KEY}}\n",
        "{{secret:1KEY}}",
        "{{secret:}}",
        "{{secret:" + "k" * 256 + "}}",
        "{{secret:KEY}}{{secret:KEY}}",
        "",
    ],
)
def test_anything_beside_a_reference_is_sealed(value: str) -> None:
    sealed = seal_config({"env": {"KEY": value}}, VAULT, TOOL)
    assert list(sealed["env"]["KEY"]) == ["$sealed"]
    assert mask_config(sealed)["env"]["KEY"] == MASK


@pytest.mark.parametrize("value", [{"$sealed": VAULT.seal("stolen", TOOL)}, 7, None, ["x"]])
def test_a_value_that_is_no_string_is_refused_and_never_taken_for_a_sealed_one(value: object) -> None:
    with pytest.raises(ValueError, match=r"config.headers.X must be a string"):
        seal_config({"headers": {"X": value}}, VAULT, TOOL)


def test_headers_that_are_no_object_are_refused_and_masked() -> None:
    with pytest.raises(ValueError, match=r"config.env must be an object of strings"):
        seal_config({"env": "KEY=hunter2"}, VAULT, TOOL)
    assert mask_config({"env": "KEY=hunter2"}) == {"env": MASK}


def test_an_auth_config_that_pretends_to_be_sealed_is_sealed_like_any_other() -> None:
    given_auth = {"type": "custom", "$sealed": VAULT.seal('{"type":"bearer","token":"stolen"}', TOOL), "fields": ["x"]}
    sealed = sealed_auth(given_auth)
    assert unseal_auth(sealed, VAULT, TOOL) == given_auth
    assert mask_auth(sealed) == {"type": "custom", "$sealed": MASK, "fields": MASK}


def test_what_is_not_json_in_an_auth_config_is_refused() -> None:
    with pytest.raises(ValueError, match="a value of type set is not JSON"):
        seal_auth({"type": "custom", "x": {1}}, VAULT, TOOL)


# Masking


def test_every_leaf_of_a_custom_auth_config_is_masked() -> None:
    assert mask_auth(sealed_auth(CUSTOM)) == {
        "type": "custom",
        "headers": {"X-A": MASK, "X-B": MASK},
        "query": {},
        "n": MASK,
        "list": MASK,
    }
    assert mask_auth(None) is None


@given(configs)
def test_masking_needs_no_key_and_hides_plain_values_too(config: dict[str, Any]) -> None:
    assert mask_config(config) == mask_config(seal_config(config, VAULT, TOOL))
    assert mask_config(config)["url"] == config["url"]
    for group in ("headers", "env"):
        assert set(mask_config(config).get(group, {}).values()) <= {MASK}


# Keeping


@given(configs)
def test_what_was_shown_can_be_sent_back_and_changes_nothing(config: dict[str, Any]) -> None:
    stored = seal_config(config, VAULT, TOOL)
    assert seal_config(keep_masked(mask_config(stored), stored), VAULT, TOOL) == stored


@given(auths)
def test_an_auth_config_that_was_shown_can_be_sent_back_even_if_its_key_is_lost(auth: dict[str, Any]) -> None:
    stored = sealed_auth(auth)
    lost = vault_with(2)
    assert seal_auth(keep_masked_auth(mask_auth(stored), stored, lost, TOOL), lost, TOOL) == stored


def test_values_sent_along_with_masks_replace_their_own_and_keep_the_others() -> None:
    stored = seal_config(HTTP, VAULT, TOOL)
    kept = keep_masked({**HTTP, "headers": {"X-Key": "new", "A.b": MASK}}, stored)
    sealed = seal_config(kept, VAULT, TOOL)
    assert sealed["headers"]["A.b"] == stored["headers"]["A.b"]
    assert unseal_config(sealed, VAULT, TOOL)["headers"] == {"X-Key": "new", "A.b": "swordfish"}


def test_values_of_an_auth_config_are_kept_leaf_by_leaf() -> None:
    stored = sealed_auth(CUSTOM)
    sent = {"type": "custom", "headers": {"X-A": MASK, "X-C": "new"}, "list": MASK, "query": {}}
    assert keep_masked_auth(sent, stored, VAULT, TOOL) == {
        "type": "custom",
        "headers": {"X-A": "one", "X-C": "new"},
        "list": ["three"],
        "query": {},
    }


def test_kept_values_pass_the_models_as_the_masks_they_stand_for() -> None:
    config = keep_masked(mask_config(HTTP), seal_config(HTTP, VAULT, TOOL))
    assert HttpConfig.model_validate(config).headers == {"X-Key": MASK, "A.b": MASK}
    stored = sealed_auth({"type": "bearer", "token": "hunter2"})
    auth = keep_masked_auth({"type": "bearer", "token": MASK}, stored, VAULT, TOOL)
    assert AuthConfig.model_validate(auth).type == "bearer"


@pytest.mark.parametrize("stored", [None, {}, {"headers": {"Y": "x"}}, {"env": {"X": "x"}}])
def test_a_mask_with_nothing_to_keep_is_refused_by_name_with_the_way_out(stored: dict[str, Any] | None) -> None:
    with pytest.raises(ValueError, match=r"config.headers.X is '\*{8}', .* none is stored: give the value itself"):
        keep_masked({"headers": {"X": MASK}}, stored)


@pytest.mark.parametrize(
    ("sent", "path"),
    [
        ({"type": "basic", "username": "me", "password": MASK}, "auth_config.password"),
        ({"type": "custom", "headers": {"X-Z": MASK}}, "auth_config.headers.X-Z"),
        ({"type": "custom", "n": {"deep": {"er": MASK}}}, "auth_config.n.deep.er"),
    ],
)
def test_a_masked_field_that_is_not_stored_is_refused_by_name(sent: dict[str, Any], path: str) -> None:
    for stored in (sealed_auth(CUSTOM), None):
        with pytest.raises(ValueError, match=path):
            keep_masked_auth(sent, stored, VAULT, TOOL)


def test_a_mask_is_never_sealed_as_if_it_were_the_credential() -> None:
    with pytest.raises(ValueError, match=r"config.env.KEY"):
        seal_config({"env": {"KEY": MASK}}, VAULT, TOOL)
    with pytest.raises(ValueError, match=r"auth_config.headers.X"):
        seal_auth({"type": "custom", "headers": {"X": MASK}}, VAULT, TOOL)


def test_no_auth_config_stays_none() -> None:
    assert keep_masked_auth(None, sealed_auth(CUSTOM), VAULT, TOOL) is None
    assert seal_auth(None, VAULT, TOOL) is None
    assert unseal_auth(None, VAULT, TOOL) is None
    assert open_auth(None, VAULT, TOOL, no_secrets) is None


def test_a_reference_in_an_auth_config_is_shown_unchanged_and_everything_else_is_masked() -> None:
    auth = {
        "type": "custom",
        "headers": {"A": "{{secret:A}}", "B": "Bearer {{secret:B}}", "C": "hush {{secret:C}}", "D": "hush"},
        "query": {"q": "hush"},
        "token": "{{secret:T}} hush",
        "username": "me",
    }
    stored = seal_auth(auth, VAULT, "tool")
    assert "hush" not in json.dumps(stored)
    assert mask_auth(stored) == {
        "type": "custom",
        "headers": {"A": "{{secret:A}}", "B": "Bearer {{secret:B}}", "C": MASK, "D": MASK},
        "query": {"q": MASK},
        "token": MASK,
        "username": "me",
    }
    kept = keep_masked_auth(mask_auth(stored), stored, VAULT, "tool")
    assert isinstance(kept, MaskedAuth)
    changed = keep_masked_auth({**(mask_auth(stored) or {}), "username": "you"}, stored, VAULT, "tool")
    assert changed == {**auth, "username": "you"}


def test_names_are_masked_if_nothing_is_a_reference() -> None:
    auth = {"type": "api_key", "api_key": "hush", "header_name": "X", "username": "u", "headers": {"username": "v"}}
    shown = mask_auth(seal_auth(auth, VAULT, "tool"))
    masked = {"api_key": MASK, "header_name": MASK, "username": MASK, "headers": {"username": MASK}}
    assert shown == {"type": "api_key", **masked}
