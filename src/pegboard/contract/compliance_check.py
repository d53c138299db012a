"""The five compliance tests of the envelope contract, including the order of batch results."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from pegboard.contract.baseline_schemas import BASELINE_SCHEMAS
from pegboard.contract.compliance_report import Failure, Report, Test, TestName
from pegboard.contract.envelope_rules import PayloadRules, find_broken_error_rules, find_broken_rules
from pegboard.contract.sample_arguments import make_invalid_arguments, make_valid_arguments
from pegboard.contract.send_envelope import EnvelopeExchange, EnvelopeSender, Send
from pegboard.json_schema.compile import BoundedValidator, check_schema
from pegboard.kinds.catalog import find_kind

_MIN_INPUTS = 3
_BATCH_SIZE_ARGUMENT = "batch_size"


class _OrderingCase(NamedTuple):
    """A variant of the arguments, and the positions of its expected results in the first results."""

    what: str
    arguments: dict[str, Any]
    places: Sequence[int]


async def run_ordering_test(asker: EnvelopeSender, first: EnvelopeExchange, schema: Mapping[str, Any] | None) -> Test:
    """Test that results follow the order of their inputs: shuffled, shortened, and with other batch sizes."""
    arguments: dict[str, Any] = first.sent["args"]
    names, count = _find_list_arguments(arguments)
    results = _find_results(first.payload, count)
    if not names or results is None:
        return Test("ordering", "skipped", "not a batch tool: no list of results for a list of inputs")
    if count < _MIN_INPUTS:
        return Test(
            "ordering", "skipped", f"{count} inputs show little about order; give at least {_MIN_INPUTS} of them"
        )
    if len(results) != count:
        wanted = first.failure(f"there is a result for each of the {count} inputs, and there are {len(results)}")
        return Test.of("ordering", f"{count} inputs", [wanted])
    if all(each == results[0] for each in results):
        return Test("ordering", "skipped", "all results are the same, so their order cannot be seen")
    validator = None if schema is None else BoundedValidator(schema)
    cases = [
        case
        for case in _build_ordering_cases(arguments, names, count, schema)
        if validator is None or validator.is_valid(case.arguments)
    ]
    failures: list[Failure] = []
    for case in cases:
        asked = await asker.send_valid(case.arguments)
        if _find_results(asked.payload, len(case.places)) != [results[place] for place in case.places]:
            failures.append(asked.failure(f"{case.what}, the results are in the order of their inputs"))
    return Test.of("ordering", f"{count} inputs in {len(cases)} orders and sizes", failures)


def _find_list_arguments(arguments: Mapping[str, Any]) -> tuple[list[str], int]:
    """Return the list arguments of the most common length, and that length."""
    lengths = {name: len(value) for name, value in arguments.items() if isinstance(value, list) and value}
    if not lengths:
        return [], 0
    length = Counter(lengths.values()).most_common(1)[0][0]
    return [name for name in lengths if lengths[name] == length], length


def _find_results(payload: Any, count: int) -> list[Any] | None:
    """Return the payload's `results`, or its only list if it has as many items as there are inputs."""
    if not isinstance(payload, dict):
        return None
    if isinstance(payload.get("results"), list):
        return list(payload["results"])
    lists = [value for value in payload.values() if isinstance(value, list)]
    return lists[0] if len(lists) == 1 and len(lists[0]) == count else None


def _build_ordering_cases(
    arguments: Mapping[str, Any], names: Sequence[str], count: int, schema: Mapping[str, Any] | None
) -> Iterator[_OrderingCase]:
    everything = list(range(count))
    shuffled = random.Random(count).sample(everything, count)  # noqa: S311 -- the same in every run, on purpose
    orders = {"moved on by one": everything[1:] + everything[:1], "turned round": everything[::-1]}
    for what, places in {**orders, "shuffled": shuffled}.items():
        yield _OrderingCase(f"with the inputs {what}", _reorder_lists(arguments, names, places), places)
    for size in sorted({1, 2, count - 1}):
        yield _OrderingCase(
            f"with the first {size} inputs", _reorder_lists(arguments, names, everything[:size]), everything[:size]
        )
    properties = (schema or {}).get("properties")
    if _BATCH_SIZE_ARGUMENT in arguments or (isinstance(properties, Mapping) and _BATCH_SIZE_ARGUMENT in properties):
        for size in (1, 2, count + 1):
            yield _OrderingCase(
                f"with a {_BATCH_SIZE_ARGUMENT} of {size}", {**arguments, _BATCH_SIZE_ARGUMENT: size}, everything
            )


def _reorder_lists(arguments: Mapping[str, Any], names: Sequence[str], places: Sequence[int]) -> dict[str, Any]:
    return {**arguments, **{name: [arguments[name][place] for place in places] for name in names}}


TIMED_CALLS = 20
MAX_P95_MS = 200.0
ANSWER_TIMEOUT_SECONDS = 10.0
_VOLATILE_FIELDS = ("request_id", "processing_time_ms", "timestamp")
_LATER_TESTS: tuple[TestName, ...] = ("determinism", "errors", "performance", "ordering")
# Number of valid calls that the earlier tests make.
_EARLIER_CALLS = 3
_UNKNOWN_TOOL = "00000000-no-such-tool"


class _InvalidEnvelope(NamedTuple):
    """An envelope that must be refused: a description of the error, and the invalid field."""

    what: str
    field: str
    envelope: dict[str, Any]


def has_effects(definition: Mapping[str, Any]) -> bool:
    """Return True if calls of this tool may change something."""
    return not definition["read_only"] and find_kind(definition["tool_type"]).has_effects


async def check(
    send: Send,
    tool: str,
    args: Mapping[str, Any] | None = None,
    *,
    input_schema: Mapping[str, Any] | None = None,
    output_schema: Mapping[str, Any] | None = None,
    refuses_unknown: bool = False,
    calls: int = TIMED_CALLS,
    p95_ms: float = MAX_P95_MS,
    seconds: float = ANSWER_TIMEOUT_SECONDS,
    most_calls: int | None = None,
) -> Report:
    """Run the five compliance tests against a tool; `send` delivers envelopes to it, `args` are valid arguments.

    Without `args`, arguments are generated from the input_schema. Raises ValueError if that fails or a schema is
    invalid. `seconds` is the timeout of each answer, `most_calls` the number of calls that the tool's rate limit
    allows. Exceptions raised by `send` are reported in the result.
    """
    if tool in BASELINE_SCHEMAS:
        input_schema = input_schema or BASELINE_SCHEMAS[tool].input_schema
        output_schema = output_schema or BASELINE_SCHEMAS[tool].output_schema
    for where, schema in (("input_schema", input_schema), ("output_schema", output_schema)):
        if schema is not None:
            check_schema(schema, where=where)
    good = dict(args) if args is not None else make_valid_arguments(input_schema or {})
    asker = EnvelopeSender(send, tool, seconds)
    first = await asker.send_valid(good)
    tests = [_run_schema_test(first, PayloadRules(output_schema))]
    if first.why is not None or _is_error(first.received):
        # A tool that refuses every call would pass some of the other tests without proving anything.
        return Report(
            tool, (*tests, *(Test(name, "skipped", "a good call got no good answer") for name in _LATER_TESTS))
        )
    tests.append(await _run_determinism_test(asker, first))
    tests.append(await _run_errors_test(asker, good, input_schema, refuses_unknown=refuses_unknown))
    if most_calls is not None and most_calls < calls + _EARLIER_CALLS:
        why = (
            f"the tool's rate limit allows {most_calls} calls, and {calls + _EARLIER_CALLS} are needed; "
            "give fewer calls"
        )
        tests.append(Test("performance", "skipped", why))
    else:
        tests.append(await _run_performance_test(asker, good, calls, p95_ms))
    tests.append(await run_ordering_test(asker, first, input_schema))
    return Report(tool, tuple(tests))


def _is_error(received: Any) -> bool:
    return isinstance(received, dict) and received.get("status") == "error"


def _run_schema_test(first: EnvelopeExchange, payloads: PayloadRules) -> Test:
    if first.why is not None:
        return Test.of("schema", "a good call", [first.failure("a good call is answered with an envelope")])
    rules = find_broken_rules(first.sent, first.received, payloads)
    if _is_error(first.received):
        rules.append("good arguments are answered with status new or existing")
    return Test.of("schema", "a good call", [first.failure(rule) for rule in rules])


async def _run_determinism_test(asker: EnvelopeSender, first: EnvelopeExchange) -> Test:
    failures: list[Failure] = []
    for _ in range(2):
        again = await asker.send_valid(first.sent["args"])
        if again.why is not None:
            failures.append(again.failure("the same arguments are answered again"))
            continue
        where = _find_difference(*map(_drop_volatile_fields, (first.received, again.received)))
        if where is not None:
            expected = f"the same arguments get the same answer under another request_id, but {where} differs"
            failures.append(Failure(expected, [first.sent, again.sent], [first.received, again.received]))
    return Test.of("determinism", "3 calls with the same arguments", failures)


def _drop_volatile_fields(received: Any) -> Any:
    if not isinstance(received, dict):
        return received
    return {key: value for key, value in received.items() if key not in _VOLATILE_FIELDS}


def _find_difference(one: Any, other: Any, path: str = "") -> str | None:
    """Return the path of the first difference between two answers, or None."""
    if isinstance(one, dict) and isinstance(other, dict):
        places = [(f"{path}.{key}", one.get(key, ...), other.get(key, ...)) for key in {**one, **other}]
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        places = [(f"{path}[{at}]", each, other[at]) for at, each in enumerate(one)]
    else:
        same = one == other and isinstance(one, bool) == isinstance(other, bool)
        return None if same else path.removeprefix(".") or "the whole"
    return next((found for where, a, b in places if (found := _find_difference(a, b, where)) is not None), None)


async def _run_errors_test(
    asker: EnvelopeSender, good: Mapping[str, Any], schema: Mapping[str, Any] | None, *, refuses_unknown: bool
) -> Test:
    failures: list[Failure] = []
    count = 0
    for wrong in _build_invalid_envelopes(asker, good, schema, refuses_unknown=refuses_unknown):
        count += 1
        asked = await asker.ask(wrong.envelope)
        rules = ["the answer is an error envelope"]
        if asked.why is None:
            rules = find_broken_error_rules(wrong.envelope, asked.received, wrong.field)
        failures += [asked.failure(f"where {wrong.what}, {rule}") for rule in rules]
    return Test.of("errors", f"{count} wrong calls", failures)


def _build_invalid_envelopes(
    asker: EnvelopeSender, good: Mapping[str, Any], schema: Mapping[str, Any] | None, *, refuses_unknown: bool
) -> Iterator[_InvalidEnvelope]:
    for what, arguments in make_invalid_arguments(schema or {}, good, refuses_unknown=refuses_unknown):
        yield _InvalidEnvelope(what, "args", asker.envelope(arguments))
    yield _InvalidEnvelope("args is a text", "args", asker.envelope(good, args="text"))
    yield _InvalidEnvelope("args is missing", "args", asker.envelope(good, args=None))
    yield _InvalidEnvelope("request_id is no UUID", "request_id", asker.envelope(good, request_id="not-a-uuid"))
    yield _InvalidEnvelope("request_id is a number", "request_id", asker.envelope(good, request_id=7))
    yield _InvalidEnvelope("timestamp is no time", "timestamp", asker.envelope(good, timestamp="yesterday"))
    yield _InvalidEnvelope("version is unknown", "version", asker.envelope(good, version="99.0"))
    yield _InvalidEnvelope("tool_name is unknown", "tool", asker.envelope(good, tool_name=_UNKNOWN_TOOL))
    yield _InvalidEnvelope("tool_name is empty", "tool_name", asker.envelope(good, tool_name=""))
    yield _InvalidEnvelope("tool_name has 101 characters", "tool_name", asker.envelope(good, tool_name="x" * 101))


async def _run_performance_test(asker: EnvelopeSender, good: Mapping[str, Any], calls: int, p95_ms: float) -> Test:
    # Without the received envelopes, which would all be kept in memory.
    timed: list[tuple[float, dict[str, Any]]] = []
    for number in range(1, calls + 1):
        asked = await asker.send_valid(good)
        if asked.why is not None or _is_error(asked.received):
            unanswered = asked.failure("every good call is answered with status new or existing")
            return Test.of("performance", f"call {number} of {calls}", [unanswered])
        timed.append((asked.elapsed_ms, asked.sent))
    took, sent = sorted(timed, key=lambda each: each[0])[math.ceil(0.95 * calls) - 1]
    detail = f"p95 of {calls} calls is {took:.1f} ms, at most {p95_ms:g} ms are allowed"
    late = Failure(f"p95 is within {p95_ms:g} ms", sent, f"an answer after {took:.1f} ms")
    return Test.of("performance", detail, [late] if took > p95_ms else [])
