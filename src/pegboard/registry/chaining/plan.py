"""What a chain's steps wait for, found out before anything runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from pegboard.core.chains import Chain, Condition, Step
from pegboard.core.refusals import Fault, Invalid
from pegboard.registry.chaining.references import Misreferred, is_reference, references_in
from pegboard.registry.sealing import references as secrets_in

# How many references one step, or the output, may have.
_MOST_REFERENCES = 10_000
_DEEPEST = 200
# How many faults are told at once.
_MOST_FAULTS = 100


def plan(chain: Chain) -> Mapping[str, frozenset[str]]:
    """The steps that each step waits for; raises Invalid with every fault."""
    faults = list(islice(_faults(chain), _MOST_FAULTS))
    waits: Mapping[str, frozenset[str]] = {} if faults else _waits(chain)
    if circle := _circle(waits):
        faults.append(Fault("steps", f"they wait for each other: {' → '.join(circle)}"))
    if faults:
        raise Invalid.of("The chain is not valid", faults)
    return waits


def chain_faults(chain: Chain, under: str) -> list[Fault]:
    """What is wrong with a chain that is to be kept: all that `plan` finds, and secrets, which steps are not given."""
    try:
        plan(chain)
    except Invalid as error:
        return [Fault(f"{under}{fault.field}", fault.message) for fault in error.faults]
    secrets = secrets_in(chain.model_dump(exclude_unset=True), None)
    if not secrets:
        return []
    # Filled in, they would be read by whoever calls the chain, and stand in the journal.
    named = ", ".join(f"'{name}'" for name in sorted(secrets)[:10])
    return [Fault(f"{under}steps", f"a chain gives no secrets to its steps ({named}); a tool that needs one keeps it")]


def _waits(chain: Chain) -> dict[str, frozenset[str]]:
    return {step.id: frozenset(_needs(step)) for step in chain.steps}


def _faults(chain: Chain) -> Iterator[Fault]:
    ids = [step.id for step in chain.steps]
    for place, step in enumerate(chain.steps):
        where = f"steps.{place}"
        if step.id in ids[:place]:
            yield Fault(f"{where}.id", f"'{step.id}' is there twice")
        for name in step.after:
            if name not in ids:
                yield Fault(f"{where}.after", _unknown(name, ids))
        if isinstance(step.when, str) and not is_reference(step.when):
            yield Fault(f"{where}.when", "must be one reference, such as {{steps.a.output.ok}}, or a comparison")
        for field, value in _templates(step):
            in_loop = step.for_each is not None and field == "arguments"
            yield from _reference_faults(f"{where}.{field}", value, ids, in_loop=in_loop)
        if _is_too_deep(step.fallback):
            yield _too_deep(f"{where}.fallback")
    if chain.has_output:
        yield from _reference_faults("output", chain.output, ids, in_loop=False)


def _reference_faults(where: str, value: Any, ids: list[str], *, in_loop: bool) -> Iterator[Fault]:
    if _is_too_deep(value):
        yield _too_deep(where)
        return
    try:
        found = list(islice(references_in(value), _MOST_REFERENCES + 1))
    except Misreferred as error:
        yield Fault(where, str(error))
        return
    if len(found) > _MOST_REFERENCES:
        yield Fault(where, f"has more than {_MOST_REFERENCES:,} references")
        return
    for reference in dict.fromkeys(found):
        if reference.step is not None and reference.step not in ids:
            yield Fault(where, f"'{{{{{reference.text}}}}}': {_unknown(reference.step, ids)}")
        if reference.root in ("item", "index") and not in_loop:
            yield Fault(where, f"'{{{{{reference.text}}}}}' means something in the arguments of a for_each only")


def _is_too_deep(value: Any) -> bool:
    level = [value]
    for _ in range(_DEEPEST):
        level = [
            each
            for one in level
            if isinstance(one, Mapping | list | tuple)
            for each in (one.values() if isinstance(one, Mapping) else one)
        ]
        if not level:
            return False
    return True


def _too_deep(where: str) -> Fault:
    return Fault(where, f"is nested more than {_DEEPEST} levels deep")


def _unknown(name: str, ids: list[str]) -> str:
    return f"there is no step '{name}'; there are {', '.join(ids[:20])}"


def _needs(step: Step) -> Iterator[str]:
    yield from step.after
    for _, value in _templates(step):
        for reference in references_in(value):
            if reference.step is not None:
                yield reference.step


def _templates(step: Step) -> Iterator[tuple[str, Any]]:
    yield "arguments", step.arguments
    if isinstance(step.when, Condition):
        yield "when", [getattr(step.when, name) for name in step.when.model_fields_set]
    elif step.when is not None:
        yield "when", step.when
    if step.for_each is not None:
        yield "for_each", step.for_each


def _circle(waits: Mapping[str, frozenset[str]]) -> list[str]:
    """Steps that wait for each other, the first of them again at the end; empty if none do."""
    done: set[str] = set()
    for start in waits:
        way: list[str] = []
        ahead = [(start, iter(sorted(waits[start])))] if start not in done else []
        on_way = {start}
        while ahead:
            name, rest = ahead[-1]
            following = next(rest, None)
            if following is None:
                done.add(name)
                on_way.discard(name)
                ahead.pop()
            elif following in on_way:
                way = [each for each, _ in ahead]
                return [*way[way.index(following) :], following]
            elif following not in done:
                on_way.add(following)
                ahead.append((following, iter(sorted(waits[following]))))
    return []
