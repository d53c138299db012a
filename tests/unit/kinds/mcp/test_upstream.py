"""An upstream from a config and its credentials, and the digest of a pinned definition."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard.kinds.mcp.config import McpConfig
from pegboard.kinds.mcp.upstream import Upstream, compute_digest
from pegboard.model.call_errors import Misconfigured

URL = "https://mcp.example.com:8443/mcp?team=7"


def upstream(auth: dict[str, Any] | None = None, **config: Any) -> Upstream:
    return Upstream.of(McpConfig(**({"server_url": URL} | config)), auth)


@pytest.mark.parametrize(
    ("auth", "headers", "url"),
    [
        ({"type": "bearer", "token": "t0k3n"}, {"Authorization": "Bearer t0k3n"}, URL),
        ({"type": "basic", "username": "ü", "password": "p:w"}, {"Authorization": "Basic w7w6cDp3"}, URL),
        ({"type": "api_key", "api_key": "k"}, {"X-API-Key": "k"}, URL),
        ({"type": "api_key", "api_key": "k", "header_name": "Key"}, {"Key": "k"}, URL),
        ({"type": "api_key", "api_key": "a&b", "query_name": "key"}, {}, URL + "&key=a%26b"),
        ({"type": "custom", "headers": {"A": "1"}, "query": {"q": "2"}}, {"A": "1"}, URL + "&q=2"),
        ({"type": "custom", "cookies": {"s": "1", "t": "2"}}, {"Cookie": "s=1; t=2"}, URL),
        ({"type": "custom", "custom": {"X-One": "1"}}, {"X-One": "1"}, URL),
        ({"type": "custom", "custom": {"headers": {"X-Two": "2"}}}, {"X-Two": "2"}, URL),
    ],
)
def test_credentials_go_where_their_type_says(auth: dict[str, Any], headers: dict[str, str], url: str) -> None:
    made = upstream(auth)
    assert dict(made.headers) == headers
    assert made.server_url == url


def test_credentials_win_over_a_header_of_the_same_name() -> None:
    made = upstream({"type": "bearer", "token": "right"}, headers={"authorization": "wrong", "X-Other": "1"})
    assert dict(made.headers) == {"Authorization": "Bearer right", "X-Other": "1"}


@pytest.mark.parametrize(
    "auth",
    [
        {"type": "bearer"},
        {"type": "bearer", "token": "a\r\nX-Evil: 1"},
        {"type": "bearer", "token": "Evil-ü"},
        {"type": "api_key", "api_key": "k", "header_name": "Bad Name"},
        {"type": "custom", "headers": {"A": 1}},
        {"type": "custom", "cookies": {"a": "1; b=2"}},
        {"type": "oauth9"},
    ],
)
def test_credentials_that_cannot_be_sent_are_refused_without_being_shown(auth: dict[str, Any]) -> None:
    with pytest.raises(Misconfigured) as refused:
        upstream(auth)
    assert "Evil" not in refused.value.message


def test_a_command_takes_its_credentials_through_env() -> None:
    with pytest.raises(Misconfigured, match="through env"):
        Upstream.of(McpConfig(command=["server"]), {"type": "bearer", "token": "x"})


def test_upstreams_are_the_same_if_all_about_them_is() -> None:
    one, other = upstream(headers={"A": "1", "B": "2"}), upstream(headers={"B": "2", "A": "1"})
    assert one == other
    assert hash(one) == hash(other)
    assert one != upstream(headers={"A": "1", "B": "3"})


def test_two_owners_share_no_session_over_http_and_one_process_of_a_command() -> None:
    web, command = McpConfig(server_url=URL), McpConfig(command=["server"])
    assert Upstream.of(web, None, "ann") != Upstream.of(web, None, "bob")
    assert Upstream.of(command, None, "ann") == Upstream.of(command, None, "bob")


@pytest.mark.parametrize(
    ("config", "shown"),
    [
        ({"server_url": URL}, "https://mcp.example.com:8443"),
        ({"command": ["/opt/bin/mcp-server-git", "--token", "s3cr3t"]}, "MCP server 'mcp-server-git'"),
        ({"command": ["npx", "-y", "@scope/server", "s3cr3t"]}, "MCP server 'npx server'"),
        ({"command": ["python3.12", "-m", "mcp_server_time"]}, "MCP server 'python3.12 mcp_server_time'"),
    ],
)
def test_messages_name_an_upstream_without_its_secrets(config: dict[str, Any], shown: str) -> None:
    assert Upstream.of(McpConfig(**config), None).display_name == shown


def test_commands_that_differ_in_anything_fail_apart() -> None:
    made = [Upstream.of(McpConfig(command=["server"], env=env), None) for env in ({"A": "1"}, {"A": "2"})]
    assert made[0].origin != made[1].origin


def test_secrets_are_the_values_that_are_not_common_knowledge() -> None:
    web = upstream({"type": "api_key", "api_key": "k&y-123", "query_name": "key"}, headers={"Accept": "text/plain"})
    assert web.secrets == {"k&y-123", "k%26y-123", "ayZ5LTEyMw=="}
    env = {"TZ": "Europe/Berlin", "DATA_DIR": "/srv/data", "DB_URL": "pg://u:p@h/db", "PIN": "1234", "MODE": "quiet"}
    assert Upstream.of(McpConfig(command=["x"], env=env), None).secrets == {
        "pg://u:p@h/db",
        "pg:\\/\\/u:p@h\\/db",
        "pg%3A%2F%2Fu%3Ap%40h%2Fdb",
        "pg%3A//u%3Ap%40h/db",
        "cGc6Ly91OnBAaC9kYg==",
    }
    assert "hunter2hunter2" in upstream({"type": "bearer", "token": "hunter2hunter2"}).secrets


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)
OBJECTS = st.dictionaries(st.text(), JSON, max_size=4)


@given(st.text(), st.none() | st.text(), OBJECTS, st.none() | OBJECTS, OBJECTS)
def test_a_digest_does_not_depend_on_the_order_of_keys(
    name: str, text: str | None, schema: dict[str, Any], output: dict[str, Any] | None, annotations: dict[str, Any]
) -> None:
    def turned(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: turned(value[key]) for key in reversed(value)}
        return [turned(item) for item in value] if isinstance(value, list) else value

    first = compute_digest(name, text, text, schema, output, annotations)
    assert first == compute_digest(name, text, text, turned(schema), turned(output), turned(annotations))
    assert len(first) == 64


@given(OBJECTS, OBJECTS)
def test_definitions_that_differ_have_different_digests(one: dict[str, Any], other: dict[str, Any]) -> None:
    same = json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)
    assert (compute_digest("t", None, None, one, None, {}) == compute_digest("t", None, None, other, None, {})) is same


@pytest.mark.parametrize("field", range(6))
def test_each_part_of_a_definition_counts(field: int) -> None:
    parts: list[Any] = ["name", "title", "about", {"type": "object"}, {"type": "object"}, {"readOnlyHint": True}]
    changed = list(parts)
    changed[field] = "other" if isinstance(parts[field], str) else {"type": "array"}
    assert compute_digest(*parts) != compute_digest(*changed)


def test_a_credential_in_the_query_replaces_a_pair_of_the_url_that_has_its_name() -> None:
    config = McpConfig.model_validate({"server_url": "https://mcp.example/mcp?key=demo&k%65y=2&page=1"})
    auth = {"type": "api_key", "api_key": "owners", "query_name": "key"}
    assert Upstream.of(config, auth).server_url == "https://mcp.example/mcp?page=1&key=owners"
