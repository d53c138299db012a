"""Each violation of the contract is found by its test."""

from __future__ import annotations

from typing import Any

import pytest

from pegboard.contract import Report, check, sender
from tests.unit.contract import servers
from tests.unit.contract.servers import INPUT, OUTPUT, TOOL, Spoil, changed, errors_changed, reordered, serving

WORDS = {"words": ["a", "bcd", "ef", "ghijk"]}


async def checked(spoil: Spoil = lambda _sent, answer: answer, **options: Any) -> Report:
    """Return the report on a server whose responses are changed like this."""
    schemas = {"input_schema": INPUT, "output_schema": OUTPUT, "p95_ms": 10_000, "calls": 2}
    async with serving(spoil) as url, sender(url) as send:
        return await check(send, TOOL, WORDS, **{**schemas, **options})


def failed(report: Report) -> list[str]:
    """The tests that were not passed."""
    return [test.name for test in report.tests if test.outcome == "failed"]


async def test_a_tool_that_keeps_the_contract_passes_all_five_tests() -> None:
    report = await checked()
    assert report.passed, report.text
    assert [test.name for test in report.tests] == ["schema", "determinism", "errors", "performance", "ordering"]
    assert {test.outcome for test in report.tests} == {"passed"}


@pytest.mark.parametrize(
    ("spoil", "caught_by", "rule"),
    [
        (changed(status="ok"), "schema", "status is one of new, existing, error"),
        (changed(error_msg=...), "schema", "error_msg is there and null"),
        (changed(error_msg="all is well"), "schema", "error_msg is there and null"),
        (changed(request_id="00000000-0000-4000-8000-000000000000"), "schema", "request_id is that of the request"),
        (changed(tool_name="other"), "schema", "tool_name is that of the request"),
        (changed(processing_time_ms=0), "schema", "processing_time_ms is a positive integer"),
        (changed(processing_time_ms="3"), "schema", "processing_time_ms is a positive integer"),
        (changed(processing_time_ms=True), "schema", "processing_time_ms is a positive integer"),
        (changed(processing_time_ms=1.5), "schema", "processing_time_ms is a positive integer"),
        (changed(timestamp="2020-01-01T00:00:00Z"), "schema", "timestamp is after that of the request"),
        (changed(timestamp="2099-01-01T00:00:00"), "schema", "it has no zone"),
        (changed(timestamp=...), "schema", "timestamp is an ISO 8601 time"),
        (changed(version="2"), "schema", "version is '1.0'"),
        (errors_changed(error_msg=...), "errors", "error_msg is a text that is not empty"),
        (errors_changed(error_msg=" "), "errors", "error_msg is a text that is not empty"),
        (errors_changed(status="new", payload={}, error_msg=None), "errors", "status is error"),
        (errors_changed(processing_time_ms=-1), "errors", "processing_time_ms is a positive integer"),
        (errors_changed(version="0"), "errors", "version is one of 1.0, 1.1"),
        (servers.counting, "determinism", "payload.clock differs"),
        (servers.once_in_a_while, "errors", "the answer is an error envelope"),
        (reordered(lambda results: results[::-1]), "ordering", "in the order of their inputs"),
        (reordered(lambda results: sorted(results, key=str)), "ordering", "in the order of their inputs"),
        (reordered(lambda results: results[1:]), "ordering", "a result for each of the 4 inputs"),
    ],
)
async def test_a_broken_rule_is_found_by_the_test_that_is_about_it(spoil: Spoil, caught_by: str, rule: str) -> None:
    report = await checked(spoil)
    assert failed(report) == [caught_by], report.text
    (test,) = [test for test in report.tests if test.name == caught_by]
    assert rule in test.failures[0].expected
    assert test.failures[0].sent
    assert test.failures[0].received


@pytest.mark.parametrize(
    ("spoil", "seconds", "came"),
    [
        (servers.broken, 30, "HTTP 500: Internal Server Error"),
        (servers.garbage, 30, "HTTP 200 with something that is not JSON: <html>welcome</html>"),
        (servers.hanging, 0.2, "nothing within 0.2 s"),
    ],
)
async def test_a_server_without_envelopes_fails_at_once_and_says_what_came(
    spoil: Spoil, seconds: float, came: str
) -> None:
    report = await checked(spoil, seconds=seconds)
    assert failed(report) == ["schema"]
    assert report.tests[0].failures[0].received == came
    assert [test.outcome for test in report.tests[1:]] == ["skipped"] * 4


async def test_a_server_that_hangs_on_a_wrong_call_fails_the_errors() -> None:
    report = await checked(servers.hanging_on_times, seconds=2)
    assert failed(report) == ["errors"]
    assert report.tests[2].failures[0].received == "nothing within 2 s"


async def test_a_slow_tool_fails_the_performance_alone() -> None:
    report = await checked(servers.slow, p95_ms=50)
    assert failed(report) == ["performance"]
    assert "at most 50 ms are allowed" in report.tests[3].detail


async def test_a_tool_that_soon_refuses_good_calls_fails_the_performance_at_the_first_of_them() -> None:
    good = 0

    def tired(_sent: dict[str, Any], answer: dict[str, Any]) -> dict[str, Any]:
        nonlocal good
        good += answer["status"] != "error"
        return {**answer, "status": "error", "error_msg": "no more", "payload": None} if good > 4 else answer

    report = await checked(tired, calls=20)
    assert "performance" in failed(report)
    assert report.tests[3].detail == "call 2 of 20: 1 rule broken"
    assert "status new or existing" in report.tests[3].failures[0].expected


@pytest.mark.parametrize("which", ["input_schema", "output_schema"])
@pytest.mark.parametrize("schema", ["text", {"type": "objct"}, {"$ref": "http://127.0.0.1:1/x"}])
async def test_a_schema_that_is_none_is_reported_before_anything_is_called(which: str, schema: Any) -> None:
    async def send(_envelope: dict[str, Any]) -> Any:
        pytest.fail("the tool was called")

    with pytest.raises(ValueError, match=which):
        await check(send, TOOL, WORDS, **{which: schema})


async def test_a_payload_that_breaks_the_output_schema_is_found() -> None:
    report = await checked(changed(payload={"results": [{"word": "a"}]}))
    assert "schema" in failed(report)
    assert "output_schema" in report.tests[0].failures[0].expected
    assert (await checked(changed(payload=[1]))).tests[0].failures[0].expected.startswith("payload is an object")


async def test_a_result_that_is_no_object_travels_under_result() -> None:
    report = await checked(changed(payload={"result": 4}), output_schema={"type": "integer"})
    assert report.passed, report.text
    assert "schema" in failed(await checked(changed(payload={"result": "4"}), output_schema={"type": "integer"}))


async def test_an_error_to_good_arguments_is_no_good_answer() -> None:
    report = await checked(changed(status="error", error_msg="no", payload=None))
    assert "good arguments are answered with status new or existing" in report.text


async def test_arguments_are_generated_from_the_schema_if_none_are_given() -> None:
    async with serving() as url, sender(url) as send:
        report = await check(send, TOOL, input_schema=INPUT, p95_ms=10_000, calls=2)
    assert report.passed, report.text
    assert report.tests[4].outcome == "passed"


async def test_a_send_that_raises_or_gives_no_json_is_a_finding_and_no_exception() -> None:
    async def raises(_envelope: dict[str, Any]) -> Any:
        raise RuntimeError("out of order")

    async def gives_a_set(_envelope: dict[str, Any]) -> Any:
        return {1}

    assert "RuntimeError: out of order" in (await check(raises, TOOL, {})).text
    assert "not JSON" in (await check(gives_a_set, TOOL, {})).text


async def test_unknown_arguments_are_only_sent_to_tools_that_refuse_them() -> None:
    seen: list[dict[str, Any]] = []

    async def send(envelope: dict[str, Any]) -> Any:
        seen.append(envelope)
        return servers.build_response(envelope)

    options: dict[str, Any] = {"calls": 1, "p95_ms": 10_000}
    await check(send, TOOL, WORDS, **options)
    assert not [sent for sent in seen if "no_such_argument" in sent.get("args", {})]
    await check(send, TOOL, WORDS, refuses_unknown=True, **options)
    assert [sent for sent in seen if "no_such_argument" in sent.get("args", {})]


async def test_the_report_is_json_that_says_what_was_sent_what_came_and_what_was_expected() -> None:
    report = await checked(changed(status="ok"))
    assert report.data["passed"] is False
    failure = report.data["tests"][0]["failures"][0]
    assert failure["sent"]["args"] == WORDS
    assert failure["received"]["status"] == "ok"
    assert failure["expected"] == "status is one of new, existing, error"
