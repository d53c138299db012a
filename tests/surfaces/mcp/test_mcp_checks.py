"""The checks of a stateless request give the same answer as those of the official SDK, for any headers and body."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from mcp.shared.inbound import (
    InboundLadderRejection,
    classify_inbound_request,
    decode_header_value,
    encode_header_value,
    find_duplicated_routing_header,
    validate_mcp_param_headers,
)

from pegboard.surfaces.mcp import header_values
from pegboard.surfaces.mcp.header_values import McpHeaders
from pegboard.surfaces.mcp.param_headers import find_param_headers
from pegboard.surfaces.mcp.protocol import ProtocolError
from tests.surfaces.mcp.rpc import STATELESS

VERSION = "io.modelcontextprotocol/protocolVersion"
CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"

versions = st.sampled_from([STATELESS, "2025-11-25", "2099-01-01", "", "x"])
methods = st.sampled_from(["tools/call", "tools/list", "prompts/get", "resources/read", "x", ""])
names = st.sampled_from(["echo", "Echo", "", "süd", " echo", "=?base64?ZWNobw==?=", "a b", "ÿ"])
header_texts = st.one_of(names.map(encode_header_value), st.sampled_from(["echo", "=?base64?!?=", "=?base64?ZWNobw?="]))
odd_values = st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=3), st.just([]), st.just({}))
metas = st.one_of(
    odd_values,
    st.fixed_dictionaries({}, optional={VERSION: st.one_of(versions, odd_values), CAPABILITIES: st.just({})}),
    st.fixed_dictionaries({VERSION: versions, CAPABILITIES: st.just({})}),
)
params = st.fixed_dictionaries({}, optional={"_meta": metas, "name": names, "uri": names})
good_meta = {VERSION: STATELESS, CAPABILITIES: {}}
good_params = st.fixed_dictionaries({"_meta": st.just(good_meta)}, optional={"name": names, "uri": names})
headers = st.lists(
    st.one_of(
        st.tuples(st.just("mcp-protocol-version"), versions),
        st.tuples(st.just("mcp-method"), methods),
        st.tuples(st.just("mcp-name"), header_texts),
    ),
    max_size=5,
)


def ours(sent: list[tuple[str, str]], body: dict[str, Any]) -> int | None:
    """The code of our error."""
    found = McpHeaders([(name.encode(), value.encode("latin-1")) for name, value in sent])
    try:
        found.check_stateless(body["method"], body["params"])
    except ProtocolError as error:
        return error.code
    return None


def theirs(sent: list[tuple[str, str]], body: dict[str, Any]) -> int | None:
    """The code of the SDK's error."""
    folded = dict(reversed([(name, value.strip(" \t")) for name, value in sent]))
    verdict = classify_inbound_request(body, headers=folded)
    if find_duplicated_routing_header(sent) is not None:
        # Duplicates come after `_meta`, as the order of the checks is `_meta`, headers, version.
        is_meta_wrong = isinstance(verdict, InboundLadderRejection) and verdict.code == -32602
        return -32602 if is_meta_wrong else -32020
    return verdict.code if isinstance(verdict, InboundLadderRejection) else None


@given(sent=headers, method=methods, params=st.one_of(params, good_params))
def test_any_headers_and_body(sent: list[tuple[str, str]], method: str, params: dict[str, Any]) -> None:
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    meta = params.get("_meta")
    found, expected = ours(sent, body), theirs(sent, body)
    if isinstance(meta, dict) and not isinstance(meta.get(VERSION, ""), str):
        # A version that is no string is a fault of `_meta`, which comes first here, and last in the SDK.
        assert found == -32602
        assert expected in {-32602, -32020}
    else:
        assert found == expected


@given(method=methods, params=good_params)
def test_matching_headers_pass(method: str, params: dict[str, Any]) -> None:
    name = params.get(header_values.NAMED_BY.get(method, ""))
    sent = [("mcp-protocol-version", STATELESS), ("mcp-method", method)]
    sent += [("mcp-name", encode_header_value(name))] if name is not None else []
    assert ours(sent, {"method": method, "params": params}) is None


@given(st.text(max_size=20))
def test_any_text_survives_a_header(text: str) -> None:
    assert header_values.encode_header_value(text) == encode_header_value(text)
    assert header_values.decode_header_value(encode_header_value(text).encode("latin-1")) == text


@given(st.text(st.characters(max_codepoint=255), max_size=20), st.booleans())
def test_any_header_is_decoded_as_by_the_sdk(text: str, is_base64: bool) -> None:
    value = f"=?base64?{text}?=" if is_base64 else text
    # The SDK's function raises for base64 that is not ASCII, and rejects text with line breaks.
    if "\n" not in value and (text.isascii() or not is_base64):
        assert header_values.decode_header_value(value.encode("latin-1")) == decode_header_value(value)


PROPERTIES = {
    "region": {"type": "string", "x-mcp-header": "Region"},
    "count": {"type": "integer", "x-mcp-header": "Count"},
    "nested": {"type": "object", "properties": {"on": {"type": "boolean", "x-mcp-header": "On"}}},
}
scalars = st.one_of(st.none(), st.booleans(), st.integers(-99, 99), st.sampled_from([1.0, 2.5, "x", "süd", "1", []]))
arguments = st.fixed_dictionaries(
    {},
    optional={
        "region": scalars,
        "count": scalars,
        "nested": st.one_of(scalars, st.fixed_dictionaries({}, optional={"on": scalars})),
    },
)
values = st.one_of(
    st.sampled_from(["x", "1", "1.0", "1.5", "true", "false", "True", "2.5", "", "-1", "=?base64?!?="]),
    st.integers(-99, 99).map(str),
    st.just(encode_header_value("süd")),
)


@given(
    arguments=arguments,
    sent=st.dictionaries(st.sampled_from(["mcp-param-region", "mcp-param-count", "mcp-param-on"]), values),
)
def test_arguments_in_headers(arguments: dict[str, Any], sent: dict[str, str]) -> None:
    schema = {"type": "object", "properties": PROPERTIES}
    expected = validate_mcp_param_headers(schema, arguments, sent)
    given_headers = {name.encode(): value.encode("latin-1") for name, value in sent.items()}
    try:
        for param in find_param_headers(schema):
            param.check(arguments, given_headers, set())
    except ProtocolError as error:
        assert expected is not None
        assert error.code == expected.code
    else:
        assert expected is None
