"""Every call and every stream in tests/formats is parsed as its index states."""

from __future__ import annotations

from typing import Any

import pytest

from pegboard.dialects.catalog import load_dialects
from pegboard.dialects.parsed_calls import ABSENT, AskedCall
from pegboard.model.call import Malformed
from tests.formats import TOOLS, Case, cases

KNOWN = load_dialects()
READ = [*cases("call"), *cases("stream")]


def shown(call: AskedCall) -> dict[str, Any]:
    """Return the call in the form of an index."""
    arguments = call.arguments
    values: dict[str, Any] = {"id": call.id or None, "name": call.name or None, "arguments": arguments}
    if isinstance(arguments, Malformed):
        values |= {"arguments": None, "raw_arguments": arguments.text, "error": "malformed_arguments"}
    if call.result is not ABSENT:
        values["result"] = call.result
    if call.error is not None:
        values["error"] = call.error
    if call.provider_executed:
        values["provider_executed"] = True
    return values | dict(call.extra)


def check(case: Case, calls: list[AskedCall]) -> None:
    """Hold the calls against the index."""
    if case.about.get("allow_error"):
        assert all(call.is_malformed for call in calls)
        return
    expected = case.about["expected"]
    assert len(calls) == len(expected)
    for call, wanted in zip(calls, expected, strict=True):
        message = shown(call)
        assert {key: message.get(key) for key in wanted} == wanted
        # A stream may also have the results of its calls; its index has only the calls.
        assert case.kind == "stream" or ("error" in message, "result" in message) == (
            "error" in wanted,
            "result" in wanted,
        )
        assert call.provider_executed == wanted.get("provider_executed", False)


@pytest.mark.parametrize("case", READ, ids=str)
def test_a_payload_whose_dialect_is_named_becomes_its_calls(case: Case) -> None:
    check(case, list(KNOWN.read(case.payload, case.dialect, TOOLS.get).calls))


@pytest.mark.parametrize("case", READ, ids=str)
def test_a_payload_whose_dialect_is_found_out_becomes_its_calls(case: Case) -> None:
    check(case, list(KNOWN.read(case.payload, None, TOOLS.get).calls))


@pytest.mark.parametrize("case", cases("stream"), ids=str)
def test_a_stream_fed_chunk_by_chunk_gives_every_call_once(case: Case) -> None:
    stream = KNOWN.stream(case.dialect, TOOLS.get)
    calls = [call for chunk in case.payload for call in stream.feed(chunk)]
    check(case, calls + stream.end())


@pytest.mark.parametrize("case", cases("stream"), ids=str)
def test_a_stream_whose_dialect_is_found_out_on_the_way_gives_every_call_once(case: Case) -> None:
    stream = KNOWN.stream(None, TOOLS.get)
    calls = [call for chunk in case.payload for call in stream.feed(chunk)]
    check(case, calls + stream.end())
