"""Credentials in definitions: decrypted, resolved, compared."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard.model.call_errors import SecretUnreadable
from pegboard.model.secrets import list_secret_names
from pegboard.registry.secret_fields import (
    are_equal_unsealed,
    map_sealed,
    open_auth,
    open_config,
    seal_auth,
    seal_config,
)
from pegboard.storage.keyring import EnvironmentKeyring, encode_key
from pegboard.storage.vault import Vault

TOOL = "0199d0c4-0000-7000-8000-000000000001"
OTHER = "0199d0c4-0000-7000-8000-000000000002"
HTTP = {"url": "https://example.com", "method": "GET", "headers": {"X-Key": "hunter2", "A.b": "swordfish"}}
CUSTOM = {"type": "custom", "headers": {"X-A": "one", "X-B": "two"}, "query": {}, "n": 7, "list": ["three"]}

names = st.from_regex(r"\A[A-Za-z_][A-Za-z0-9_.-]{0,20}\Z")
texts = st.text(max_size=6)
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


def test_references_are_replaced_wherever_they_stand() -> None:
    known = {"HOST": "example.com", "KEY": "hunter2"}
    config = {
        "url": "https://{{secret:HOST}}/x",
        "headers": {"A": "Bearer {{secret:KEY}}", "B": "{{secret:KEY}}:{{secret:HOST}}"},
        "nested": [{"deep": "{{secret:KEY}}"}, 7, None, "{{ secret:KEY }}"],
    }
    sealed = seal_config(config, VAULT, TOOL)
    assert open_config(MappingProxyType(sealed), VAULT, TOOL, known.__getitem__) == {
        "url": "https://example.com/x",
        "headers": {"A": "Bearer hunter2", "B": "hunter2:example.com"},
        "nested": [{"deep": "hunter2"}, 7, None, "{{ secret:KEY }}"],
    }
    auth = sealed_auth({"type": "custom", "headers": {"X": "k={{secret:KEY}}"}})
    assert open_auth(auth, VAULT, TOOL, known.__getitem__) == {"type": "custom", "headers": {"X": "k=hunter2"}}


@given(names, st.text(max_size=10), st.text(max_size=10), names)
def test_what_a_secret_contains_is_plain_text(name: str, before: str, after: str, other: str) -> None:
    value = f"{{{{secret:{other}}}}}"
    sealed = seal_config({"headers": {"X": f"{before}{{{{secret:{name}}}}}{after}"}}, VAULT, TOOL)
    opened = open_config(sealed, VAULT, TOOL, {name: value}.__getitem__)
    assert opened["headers"]["X"] == f"{before}{value}{after}"


def test_a_secret_that_is_not_there_is_named_with_the_command_that_sets_it() -> None:
    with pytest.raises(SecretUnreadable, match=r"Secret 'KEY' does not exist; .*: pegboard secrets set KEY$"):
        open_config({"url": "{{secret:KEY}}"}, VAULT, TOOL, no_secrets)


def test_what_cannot_be_opened_is_named_by_its_place() -> None:
    sealed = seal_config(HTTP, VAULT, TOOL)
    with pytest.raises(SecretUnreadable, match=r"^config.headers.X-Key cannot be read\. A stored credential needs key"):
        open_config(sealed, vault_with(2), TOOL, no_secrets)
    with pytest.raises(SecretUnreadable, match=r"^auth_config cannot be read\. A stored credential is damaged"):
        open_auth(sealed_auth(CUSTOM), VAULT, OTHER, no_secrets)
    with pytest.raises(SecretUnreadable, match="set it again"):
        open_auth({"type": "bearer"}, VAULT, TOOL, no_secrets)


def test_the_references_of_a_definition_are_all_found() -> None:
    config = {"url": "{{secret:A}}", "headers": {"X": "Bearer {{secret:B}}"}, "list": ["{{secret:C}}{{secret:A}}"]}
    assert list_secret_names(config, {"type": "bearer", "token": "x{{secret:D.e-f}}"}) == {"A", "B", "C", "D.e-f"}
    assert list_secret_names({"url": "{{secret:}} {secret:X}"}, None) == set()


@given(configs, auths)
def test_two_sealings_of_one_definition_are_equal(config: dict[str, Any], auth: dict[str, Any]) -> None:
    one = seal_config(config, VAULT, TOOL), sealed_auth(auth)
    other = seal_config(config, VAULT, TOOL), sealed_auth(dict(reversed(auth.items())))
    assert are_equal_unsealed(*one, *other, VAULT, TOOL)
    assert not are_equal_unsealed(*one, one[0], sealed_auth({**auth, "another": 1}), VAULT, TOOL)
    assert not are_equal_unsealed(*one, {**one[0], "url": config["url"] + "x"}, one[1], VAULT, TOOL)
    assert not are_equal_unsealed(*one, one[0], None, VAULT, TOOL)


def test_a_number_is_not_equal_to_a_truth() -> None:
    one, other = sealed_auth({"type": "custom", "n": 1}), sealed_auth({"type": "custom", "n": True})
    assert not are_equal_unsealed({}, one, {}, other, VAULT, TOOL)


def test_a_definition_that_cannot_be_opened_equals_only_itself() -> None:
    one, other = seal_config(HTTP, VAULT, TOOL), seal_config(HTTP, VAULT, TOOL)
    lost = vault_with(2)
    assert are_equal_unsealed(one, None, dict(one), None, lost, TOOL)
    assert not are_equal_unsealed(one, None, other, None, lost, TOOL)


def test_only_what_the_board_sealed_is_changed_by_a_rotation() -> None:
    config = seal_config({**HTTP, "mock_response": {"$sealed": "theirs"}}, VAULT, TOOL)
    seen: list[str] = []

    def change(text: str) -> str:
        seen.append(text)
        return "changed"

    new_config, new_auth = map_sealed(config, sealed_auth(CUSTOM), change)
    assert len(seen) == 3
    assert all(text.startswith("pb1:") for text in seen)
    assert new_config["headers"] == {"X-Key": {"$sealed": "changed"}, "A.b": {"$sealed": "changed"}}
    assert new_config["mock_response"] == {"$sealed": "theirs"}
    assert new_auth is not None
    assert new_auth["$sealed"] == "changed"
    assert new_auth["fields"] == [{"headers": ["X-A", "X-B"]}, {"query": []}, "n", "list"]
    assert map_sealed(config, None, change)[1] is None
