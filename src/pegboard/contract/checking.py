"""The five tests that every tool of the contract must pass."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from pegboard.contract.asking import Asked, Asker
from pegboard.contract.baseline import BASELINE
from pegboard.contract.ordering import ordering
from pegboard.contract.report import Failure, Name, Report, Test
from pegboard.contract.rules import Payloads, broken_error_rules, broken_rules
from pegboard.contract.samples import bad_arguments, good_arguments
from pegboard.contract.sending import Send
from pegboard.registry.schemas import check_schema

CALLS = 20
P95_MS = 200.0
SECONDS = 10.0
_VOLATILE = ("request_id", "processing_time_ms", "timestamp")
_AFTER: tuple[Name, ...] = ("determinism", "errors", "performance", "ordering")
# Valid calls that the tests before the timed ones make.
_CALLS_BEFORE = 3
_NEVER = "00000000-no-such-tool"


class _Wrong(NamedTuple):
    """An envelope that must be refused: what is wrong with it, and in which field."""

    what: str
    field: str
    envelope: dict[str, Any]


async def check(
    send: Send,
    tool: str,
    args: Mapping[str, Any] | None = None,
    *,
    input_schema: Mapping[str, Any] | None = None,
    output_schema: Mapping[str, Any] | None = None,
    refuses_unknown: bool = False,
    calls: int = CALLS,
    p95_ms: float = P95_MS,
    seconds: float = SECONDS,
    most_calls: int | None = None,
) -> Report:
    """Run the five compliance tests against a tool that `send` takes envelopes to; `args` are good arguments.

    Without `args` they are made up from the input_schema. Raises ValueError where they cannot be, or a schema is none.
    `seconds` is how long any answer may take, `most_calls` how many calls the tool's rate limit allows. What `send`
    raises is in the report.
    """
    if tool in BASELINE:
        input_schema = input_schema or BASELINE[tool].input_schema
        output_schema = output_schema or BASELINE[tool].output_schema
    for where, schema in (("input_schema", input_schema), ("output_schema", output_schema)):
        if schema is not None:
            check_schema(schema, where=where)
    good = dict(args) if args is not None else good_arguments(input_schema or {})
    asker = Asker(send, tool, seconds)
    first = await asker.good(good)
    tests = [_schema(first, Payloads(output_schema))]
    if first.why is not None or _is_error(first.received):
        # A tool that refuses everything would pass some of the others without having shown anything.
        return Report(tool, (*tests, *(Test(name, "skipped", "a good call got no good answer") for name in _AFTER)))
    tests.append(await _determinism(asker, first))
    tests.append(await _errors(asker, good, input_schema, refuses_unknown=refuses_unknown))
    if most_calls is not None and most_calls < calls + _CALLS_BEFORE:
        why = (
            f"the tool's rate limit allows {most_calls} calls, and {calls + _CALLS_BEFORE} are needed; give fewer calls"
        )
        tests.append(Test("performance", "skipped", why))
    else:
        tests.append(await _performance(asker, good, calls, p95_ms))
    tests.append(await ordering(asker, first, input_schema))
    return Report(tool, tuple(tests))


def _is_error(received: Any) -> bool:
    return isinstance(received, dict) and received.get("status") == "error"


def _schema(first: Asked, payloads: Payloads) -> Test:
    if first.why is not None:
        return Test.of("schema", "a good call", [first.failure("a good call is answered with an envelope")])
    rules = broken_rules(first.sent, first.received, payloads)
    if _is_error(first.received):
        rules.append("good arguments are answered with status new or existing")
    return Test.of("schema", "a good call", [first.failure(rule) for rule in rules])


async def _determinism(asker: Asker, first: Asked) -> Test:
    failures: list[Failure] = []
    for _ in range(2):
        again = await asker.good(first.sent["args"])
        if again.why is not None:
            failures.append(again.failure("the same arguments are answered again"))
        elif (where := _difference(_settled(first.received), _settled(again.received))) is not None:
            failures.append(
                Failure(
                    f"the same arguments get the same answer under another request_id, but {where} differs",
                    [first.sent, again.sent],
                    [first.received, again.received],
                )
            )
    return Test.of("determinism", "3 calls with the same arguments", failures)


def _settled(received: Any) -> Any:
    return {key: received[key] for key in received if key not in _VOLATILE} if isinstance(received, dict) else received


def _difference(one: Any, other: Any, path: str = "") -> str | None:
    """The first place where two answers differ."""
    if isinstance(one, dict) and isinstance(other, dict):
        places = [(f"{path}.{key}", one.get(key, ...), other.get(key, ...)) for key in {**one, **other}]
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        places = [(f"{path}[{at}]", each, other[at]) for at, each in enumerate(one)]
    else:
        same = one == other and isinstance(one, bool) == isinstance(other, bool)
        return None if same else path.removeprefix(".") or "the whole"
    return next((found for where, a, b in places if (found := _difference(a, b, where)) is not None), None)


async def _errors(
    asker: Asker, good: Mapping[str, Any], schema: Mapping[str, Any] | None, *, refuses_unknown: bool
) -> Test:
    failures: list[Failure] = []
    count = 0
    for wrong in _wrong_envelopes(asker, good, schema, refuses_unknown=refuses_unknown):
        count += 1
        asked = await asker.ask(wrong.envelope)
        rules = (
            broken_error_rules(wrong.envelope, asked.received, wrong.field)
            if asked.why is None
            else ["the answer is an error envelope"]
        )
        failures += [asked.failure(f"where {wrong.what}, {rule}") for rule in rules]
    return Test.of("errors", f"{count} wrong calls", failures)


def _wrong_envelopes(
    asker: Asker, good: Mapping[str, Any], schema: Mapping[str, Any] | None, *, refuses_unknown: bool
) -> Iterator[_Wrong]:
    for what, arguments in bad_arguments(schema or {}, good, refuses_unknown=refuses_unknown):
        yield _Wrong(what, "args", asker.envelope(arguments))
    yield _Wrong("args is a text", "args", asker.envelope(good, args="text"))
    yield _Wrong("args is missing", "args", asker.envelope(good, args=None))
    yield _Wrong("request_id is no UUID", "request_id", asker.envelope(good, request_id="not-a-uuid"))
    yield _Wrong("request_id is a number", "request_id", asker.envelope(good, request_id=7))
    yield _Wrong("timestamp is no time", "timestamp", asker.envelope(good, timestamp="yesterday"))
    yield _Wrong("version is unknown", "version", asker.envelope(good, version="99.0"))
    yield _Wrong("tool_name is unknown", "tool", asker.envelope(good, tool_name=_NEVER))
    yield _Wrong("tool_name is empty", "tool_name", asker.envelope(good, tool_name=""))
    yield _Wrong("tool_name has 101 characters", "tool_name", asker.envelope(good, tool_name="x" * 101))


async def _performance(asker: Asker, good: Mapping[str, Any], calls: int, p95_ms: float) -> Test:
    # Without what came: that would be kept for every call.
    timed: list[tuple[float, dict[str, Any]]] = []
    for number in range(1, calls + 1):
        asked = await asker.good(good)
        if asked.why is not None or _is_error(asked.received):
            unanswered = asked.failure("every good call is answered with status new or existing")
            return Test.of("performance", f"call {number} of {calls}", [unanswered])
        timed.append((asked.elapsed_ms, asked.sent))
    took, sent = sorted(timed, key=lambda each: each[0])[math.ceil(0.95 * calls) - 1]
    detail = f"p95 of {calls} calls is {took:.1f} ms, at most {p95_ms:g} ms are allowed"
    late = Failure(f"p95 is within {p95_ms:g} ms", sent, f"an answer after {took:.1f} ms")
    return Test.of("performance", detail, [late] if took > p95_ms else [])
