"""Whether a tool that takes many inputs at once answers them in their order."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from pegboard.contract.asking import Asked, Asker
from pegboard.contract.report import Failure, Test
from pegboard.registry.schemas import BoundedValidator

_FEWEST = 3
_SIZE = "batch_size"


class _Case(NamedTuple):
    """Other arguments, and at which places of the first results theirs are found."""

    what: str
    arguments: dict[str, Any]
    places: Sequence[int]


async def ordering(asker: Asker, first: Asked, schema: Mapping[str, Any] | None) -> Test:
    """Shuffled inputs get shuffled results, fewer inputs the first of them, in batches of any size."""
    arguments: dict[str, Any] = first.sent["args"]
    names, count = _inputs(arguments)
    results = _results(first.payload, count)
    if not names or results is None:
        return Test("ordering", "skipped", "not a batch tool: no list of results for a list of inputs")
    if count < _FEWEST:
        return Test("ordering", "skipped", f"{count} inputs say little about order; give at least {_FEWEST} of them")
    if len(results) != count:
        wanted = first.failure(f"there is a result for each of the {count} inputs, and there are {len(results)}")
        return Test.of("ordering", f"{count} inputs", [wanted])
    if all(each == results[0] for each in results):
        return Test("ordering", "skipped", "all results are the same, so their order cannot be seen")
    cases = [case for case in _cases(arguments, names, count, schema) if _fits(case.arguments, schema)]
    failures: list[Failure] = []
    for case in cases:
        asked = await asker.good(case.arguments)
        if _results(asked.payload, len(case.places)) != [results[place] for place in case.places]:
            failures.append(asked.failure(f"{case.what}, the results are in the order of their inputs"))
    return Test.of("ordering", f"{count} inputs in {len(cases)} orders and sizes", failures)


def _inputs(arguments: Mapping[str, Any]) -> tuple[list[str], int]:
    """The arguments that are lists of one length, the most usual one, and that length."""
    lengths = {name: len(value) for name, value in arguments.items() if isinstance(value, list) and value}
    if not lengths:
        return [], 0
    length = Counter(lengths.values()).most_common(1)[0][0]
    return [name for name in lengths if lengths[name] == length], length


def _results(payload: Any, count: int) -> list[Any] | None:
    """The payload's `results`, or its only list if that is as long as the inputs are many."""
    if not isinstance(payload, dict):
        return None
    if isinstance(payload.get("results"), list):
        return list(payload["results"])
    lists = [value for value in payload.values() if isinstance(value, list)]
    return lists[0] if len(lists) == 1 and len(lists[0]) == count else None


def _cases(
    arguments: Mapping[str, Any], names: Sequence[str], count: int, schema: Mapping[str, Any] | None
) -> Iterator[_Case]:
    everything = list(range(count))
    shuffled = random.Random(count).sample(everything, count)  # noqa: S311 -- the same in every run, on purpose
    orders = {"moved on by one": everything[1:] + everything[:1], "turned round": everything[::-1]}
    for what, places in {**orders, "shuffled": shuffled}.items():
        yield _Case(f"with the inputs {what}", _with(arguments, names, places), places)
    for size in sorted({1, 2, count - 1}):
        yield _Case(f"with the first {size} inputs", _with(arguments, names, everything[:size]), everything[:size])
    properties = (schema or {}).get("properties")
    if _SIZE in arguments or (isinstance(properties, Mapping) and _SIZE in properties):
        for size in (1, 2, count + 1):
            yield _Case(f"with a {_SIZE} of {size}", {**arguments, _SIZE: size}, everything)


def _with(arguments: Mapping[str, Any], names: Sequence[str], places: Sequence[int]) -> dict[str, Any]:
    return {**arguments, **{name: [arguments[name][place] for place in places] for name in names}}


def _fits(arguments: Mapping[str, Any], schema: Mapping[str, Any] | None) -> bool:
    return schema is None or BoundedValidator(schema).is_valid(arguments)
