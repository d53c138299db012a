"""Conversion of definitions to tools and back."""

from __future__ import annotations

import base64
import math
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard import Caller, Tool
from pegboard.json_schema.storable_json import MAX_DEPTH, find_unstorable
from pegboard.kinds.libraries import Libraries
from pegboard.model.api_errors import Invalid
from pegboard.model.page import cut_page, read_cursor, read_id, read_name, read_version, write_cursor
from pegboard.registry.build_tool import build_tool, build_tool_response, make_empty_tool, write_definition
from pegboard.registry.registration_policy import RegistrationPolicy
from pegboard.registry.tool_create import ToolCreate, read_definition
from pegboard.storage.keyring import EnvironmentKeyring
from pegboard.storage.vault import Vault
from tests.surfaces.rest.clients import mock

NOW = datetime(2026, 1, 2, tzinfo=UTC)
RULES = RegistrationPolicy(False, Libraries(()), 2**20)
ADMIN = Caller("owner", "admin", "admin")
VAULT = Vault(EnvironmentKeyring(base64.b64encode(b"k" * 32).decode()))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text("ab"), inner, max_size=4),
    max_leaves=10,
)


def built(tool: Tool | None = None, **fields: Any) -> Tool:
    return build_tool(
        read_definition(mock(**fields)), VAULT, ADMIN, tool or make_empty_tool("id", "owner", NOW), NOW, rules=RULES
    )


def faults(**fields: Any) -> dict[str, str]:
    with pytest.raises(Invalid) as refused:
        built(**fields)
    return {fault.field: fault.message for fault in refused.value.faults}


class TestBuilding:
    def test_what_is_written_again_gives_the_same_tool(self) -> None:
        http = {"url": "https://example.com", "method": "GET", "headers": {"X": "hush"}}
        tool = built(
            tool_type="http",
            config=http,
            auth_config={"type": "custom", "headers": {"Y": "hush"}, "query": {}},
            retry={"max_attempts": 2, "on": ["timeout"]},
            fallback={"value": None},
            tags=["a"],
        )
        again = build_tool(read_definition(write_definition(tool)), VAULT, ADMIN, tool, NOW, rules=RULES)
        assert again == tool
        assert "hush" not in str(tool)

    def test_faults_of_every_part_are_reported_together(self) -> None:
        found = faults(
            config={"mock_respons": 1},
            auth_config={"type": "bearer"},
            input_schema={"type": "nothing"},
            output_schema={"$ref": "https://example.com"},
        )
        assert set(found) == {"config.mock_respons", "auth_config", "input_schema", "output_schema"}
        assert found["config.mock_respons"] == "unknown key; did you mean 'mock_response'?"
        assert found["output_schema"].startswith("at $.$ref: ")

    def test_a_mask_stands_for_what_is_stored_or_for_nothing(self) -> None:
        tool = built(auth_config={"type": "basic", "username": "u", "password": "hush"})
        masked = {"type": "basic", "username": "********", "password": "********"}
        kept = built(tool, auth_config=masked)
        assert kept.sealed_auth == tool.sealed_auth
        assert "none is stored" in faults(auth_config=masked)["auth_config.username"]

    def test_config_and_credentials_are_shown_to_the_owner_and_admins_only(self) -> None:
        tool = built(auth_config={"type": "bearer", "token": "hush"}, is_public=True)
        owner, other = Caller("owner", "ada"), Caller("other", "bob")
        agents = replace(owner, agent_id="some-agent")
        for caller, whole in ((owner, True), (ADMIN, True), (other, False), (agents, False)):
            found = build_tool_response(tool, caller)
            assert (found.config is not None, found.auth_config is not None) == (whole, whole)
            assert "hush" not in found.model_dump_json()


class TestStorable:
    @given(JSON)
    def test_any_json_of_bounded_depth_can_be_kept(self, value: Any) -> None:
        assert find_unstorable({"config": {"mock_response": value}}) == []

    @pytest.mark.parametrize(
        ("value", "field", "words"),
        [
            (math.nan, "config.a", "not JSON"),
            ([1, -math.inf], "config.a[1]", "not JSON"),
            (2**64, "config.a", "beyond 64 bits"),
            (-(2**63) - 1, "config.a", "beyond 64 bits"),
            ("\0", "config.a", "NUL"),
            ("\ud800", "config.a", "surrogate"),
            ({"\0": 1}, "config.a", "NUL"),
            ({1: 1}, "config.a", "not a string"),
            ({"b": object()}, "config.a.b", "type object"),
            ({"b": b"x"}, "config.a.b", "type bytes"),
        ],
    )
    def test_what_cannot_be_kept_is_named_by_its_path(self, value: Any, field: str, words: str) -> None:
        ((where, why),) = [(fault.field, fault.message) for fault in find_unstorable({"config": {"a": value}})]
        assert where == field
        assert words in why

    def test_depth_is_bounded_and_faults_are_few(self) -> None:
        deep: Any = 0
        for _ in range(MAX_DEPTH):
            deep = [deep]
        assert find_unstorable({"config": deep}) == []
        assert "levels deep" in find_unstorable({"config": [deep]})[0].message
        for _ in range(5000):
            deep = [deep]
        assert len(find_unstorable({"config": deep})) == 1
        assert len(find_unstorable({"config": [math.nan] * 1000})) == 5

    def test_such_a_tool_is_refused_wherever_it_is(self) -> None:
        assert "fallback.value" in faults(fallback={"value": math.inf})
        assert "description" in faults(description="a\0b")
        assert "tags[0]" in faults(tags=["\0"])
        assert "input_schema.title" in faults(input_schema={"title": "\0"})


class TestCursors:
    @given(st.text(), st.uuids())
    def test_a_cursor_is_read_as_it_was_written_or_refused(self, name: str, key: Any) -> None:
        cursor = write_cursor([name, str(key)]) if name.isascii() else name
        try:
            assert read_cursor(cursor, read_name, read_id) == [name, str(key)]
        except Invalid as refused:
            assert refused.faults[0].field == "cursor"
            assert not (name.isascii() and name.isprintable())

    @given(st.text())
    def test_garbage_is_never_more_than_refused(self, garbage: str) -> None:
        for readers in ((read_id,), (read_version,), (read_name, read_id)):
            with pytest.raises(Invalid):
                read_cursor(garbage, *readers)

    def test_versions_are_small_numbers(self) -> None:
        assert read_cursor(write_cursor(["12"]), read_version) == [12]
        for wrong in ("²", "-1", "1.0", "", "9" * 10, "٣"):
            with pytest.raises(Invalid):
                read_cursor(write_cursor([wrong]), read_version)

    def test_a_page_says_where_the_next_begins_only_if_there_is_one(self) -> None:
        assert cut_page([1, 2], 2, lambda item: [str(item)]).next_cursor is None
        page = cut_page([1, 2, 3], 2, lambda item: [str(item)])
        assert (page.items, page.next_cursor) == ([1, 2], write_cursor(["2"]))
        assert read_cursor(None, read_id) is None


def test_every_field_of_a_definition_is_a_field_of_the_tool() -> None:
    names = {name if name != "auth_config" else "sealed_auth" for name in ToolCreate.model_fields}
    assert names <= set(Tool.__dataclass_fields__)
