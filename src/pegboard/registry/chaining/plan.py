"""What a chain's steps wait for, found out before anything runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pegboard.core.chains import Chain, Condition, Step
from pegboard.core.refusals import Fault, Invalid
from pegboard.registry.chaining.references import Misreferred, is_reference, references_in


def plan(chain: Chain) -> Mapping[str, frozenset[str]]:
    """The steps that each step waits for; raises Invalid with every fault."""
    if faults := chain_faults(chain):
        raise Invalid.of("The chain is not valid", faults)
    return _waits(chain)


def chain_faults(chain: Chain, under: str = "") -> list[Fault]:
    """What is wrong with a chain: unknown steps, doubles, references that mean nothing, circles."""
    faults = list(_faults(chain))
    if not faults and (circle := _circle(_waits(chain))):
        faults.append(Fault("steps", f"they wait for each other: {' → '.join(circle)}"))
    return [Fault(f"{under}{fault.field}", fault.message) for fault in faults]


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
    if chain.has_output:
        yield from _reference_faults("output", chain.output, ids, in_loop=False)


def _reference_faults(where: str, value: Any, ids: list[str], *, in_loop: bool) -> Iterator[Fault]:
    try:
        found = list(references_in(value))
    except Misreferred as error:
        yield Fault(where, str(error))
        return
    except RecursionError:
        yield Fault(where, "is nested too deeply")
        return
    for reference in found:
        if reference.step is not None and reference.step not in ids:
            yield Fault(where, f"'{{{{{reference.text}}}}}': {_unknown(reference.step, ids)}")
        if reference.root in ("item", "index") and not in_loop:
            yield Fault(where, f"'{{{{{reference.text}}}}}' means something in the arguments of a for_each only")


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
        yield "when", step.when.model_dump(exclude_unset=True)
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
