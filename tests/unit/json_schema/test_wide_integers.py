"""Integers of a schema outside 64 bits."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from pegboard import Pegboard
from pegboard.json_schema.compile import check_schema
from pegboard.json_schema.wide_integers import fit_schema
from pegboard.kinds.http.openapi.import_document import import_document
from pegboard.testing import memory_board
from tests.unit.kinds.http.openapi.make_documents import Json, api, body, ref
from tests.unit.kinds.mcp.changeable_server import changeable_server, tool

# As documents write the bounds of a signed 64-bit integer: rounded to what JavaScript prints.
LOW, HIGH = -9223372036854776000, 9223372036854776000


def fitted(schema: Json) -> tuple[Json, list[str]]:
    """Return the schema as it is stored, and the notes about it."""
    notes: list[str] = []
    return fit_schema(schema, notes.append), notes


def test_an_operation_with_a_bound_outside_64_bits_becomes_a_tool_and_the_bound_is_widened() -> None:
    seed = {"type": ["integer", "null"], "minimum": LOW, "maximum": HIGH}
    chat = {"allOf": [{"properties": {"model": {"type": "string"}}}, {"properties": {"seed": seed}}]}
    document = api({"/chat": {"post": body(ref("Chat"))}}, components={"schemas": {"Chat": chat}})
    found = import_document(document)
    assert [each["name"] for each in found.definitions] == ["post_chat"]
    assert not found.left_out
    made = found.definitions[0]["input_schema"]
    kept = made["properties"]["seed"]
    assert kept["minimum"] <= LOW
    assert kept["maximum"] == HIGH  # fits into 64 bits without a sign
    assert orjson.loads(orjson.dumps(made)) == made
    assert len(found.warnings) == 1
    assert "'seed'" in found.warnings[0]
    assert str(LOW) in found.warnings[0]


@pytest.mark.parametrize(
    ("word", "value"),
    [("minimum", LOW), ("exclusiveMinimum", -(2**80) - 1), ("maximum", 2**64), ("exclusiveMaximum", 2**80 + 1)],
)
def test_a_bound_is_never_narrowed(word: str, value: int) -> None:
    made, [note] = fitted({"properties": {"a": {"type": "number", word: value}}})
    bound = made["properties"]["a"][word]
    assert isinstance(bound, float)
    assert bound <= value if "inimum" in word else bound >= value
    assert bound == pytest.approx(value)
    assert str(value) in note
    check_schema(made, where="input_schema")


@pytest.mark.parametrize(
    "schema",
    [{"minimum": -(10**400)}, {"maxLength": 2**70}, {"minItems": 2**64}, {"default": 2**64}, {"enum": [10**400, 1]}],
)
def test_what_no_float_can_say_is_dropped_with_a_note(schema: Json) -> None:
    made, notes = fitted({"type": "object", "properties": {"a": schema}})
    assert made == {"type": "object", "properties": {"a": {}}}
    assert len(notes) == 1


def test_values_become_floats_wherever_they_stand_and_the_rest_stays() -> None:
    made, notes = fitted({"properties": {"minimum": {"const": {"a": [2**70]}}, "e": {"enum": [2**70, None, 5]}}})
    assert made == {"properties": {"minimum": {"const": {"a": [float(2**70)]}}, "e": {"enum": [float(2**70), None, 5]}}}
    assert len(notes) == 2
    plain = {"type": "object", "properties": {"a": {"minimum": -(2**63), "maximum": 2**64 - 1, "enum": [True, 1.5]}}}
    assert fitted(plain) == (plain, [])


def test_a_schema_without_end_is_left_to_the_check_of_schemas() -> None:
    deep: Any = {"minimum": 2**70}
    for _ in range(5000):
        deep = {"not": deep}
    notes: list[str] = []
    fit_schema(deep, notes.append)
    assert notes == []


async def test_a_tool_of_an_mcp_server_with_such_a_bound_is_imported_too() -> None:
    schema = {"type": "object", "properties": {"seed": {"type": "integer", "minimum": LOW, "maximum": 2**70}}}
    board: Pegboard
    async with (
        memory_board(egress_allow="127.0.0.1") as board,
        changeable_server(tool("say", inputSchema=schema)) as server,
    ):
        taken = await board.imports.mcp(board.admin, server_url=server.url)
        assert taken.created == ["say"]
        assert [text.partition(":")[0] for text in taken.warnings] == ["say", "say"]
        assert (await board.call("say", {"seed": 5})).success
        again = await board.imports.mcp(board.admin, server_url=server.url)
        assert (again.unchanged, again.drifted) == (["say"], [])


def test_an_integer_outside_64_bits_in_an_unexpected_place_is_left_to_the_check_of_schemas() -> None:
    parameters = [{"name": "p", "in": "query", "schema": {"type": [2**70]}}]
    found = import_document(api({"/x": {"get": {"parameters": parameters}}}))
    assert [each.name for each in found.left_out] == ["get_x"]
