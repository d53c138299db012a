"""Validates a chain and its input, and computes the dependencies of its steps before anything runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from pegboard.json_schema.compile import SchemaProblem, check_schema
from pegboard.json_schema.read_arguments import ArgumentChecker, check_arguments_extent, convert_to_floats
from pegboard.kinds.chain.step_references import InvalidReference, is_reference, iterate_references
from pegboard.model.api_errors import Fault, Invalid
from pegboard.model.call_errors import ToolError
from pegboard.model.chain import Chain, Condition, Step
from pegboard.model.secrets import list_secret_names as secrets_in


def read_chain_input(schema: Mapping[str, Any], given: dict[str, Any], *, max_depth: int, max_bytes: int) -> Any:
    """Return the input as a saved chain with this schema would get it; raise Invalid if schema or input is invalid."""
    try:
        check_schema(schema, where="input_schema")
    except SchemaProblem as error:
        fault = Fault("input_schema", str(error).removeprefix("input_schema").lstrip(": "))
        raise Invalid.of("The chain is not valid", [fault]) from None
    try:
        if check_arguments_extent(given, max_depth=max_depth, max_values=max_bytes // 2):
            given = convert_to_floats(given)
        return ArgumentChecker(schema).check(given)
    except ToolError as error:
        raise Invalid.of("The chain did not run", [Fault("input", error.message)]) from None


# Maximum number of references in one step or in the output.
_MAX_REFERENCES = 10_000
_MAX_DEPTH = 200
# Maximum number of faults in one response.
_MAX_FAULTS = 100


def plan_chain(chain: Chain) -> Mapping[str, frozenset[str]]:
    """Return the ids of the steps that each step depends on; raise Invalid with all faults."""
    faults = list(islice(_find_faults(chain), _MAX_FAULTS))
    waits = {step.id: frozenset(_iterate_required_steps(step)) for step in (() if faults else chain.steps)}
    if circle := _find_cycle(waits):
        faults.append(Fault("steps", f"they wait for each other: {' → '.join(circle)}"))
    if faults:
        raise Invalid.of("The chain is not valid", faults)
    return waits


def find_chain_faults(chain: Chain, under: str) -> list[Fault]:
    """Return all faults of a chain that is to be stored: those of `plan_chain`, and secrets, which steps do not get."""
    try:
        plan_chain(chain)
    except Invalid as error:
        return [Fault(f"{under}{fault.field}", fault.message) for fault in error.faults]
    secrets = secrets_in(chain.model_dump(exclude_unset=True), None)
    if not secrets:
        return []
    # If they were filled in, the caller of the chain and the journal would see them.
    named = ", ".join(f"'{name}'" for name in sorted(secrets)[:10])
    return [Fault(f"{under}steps", f"a chain gives no secrets to its steps ({named}); a tool that needs one keeps it")]


def _find_faults(chain: Chain) -> Iterator[Fault]:
    ids = [step.id for step in chain.steps]
    for place, step in enumerate(chain.steps):
        where = f"steps.{place}"
        if step.id in ids[:place]:
            yield Fault(f"{where}.id", f"'{step.id}' occurs twice")
        for name in step.after:
            if name not in ids:
                yield Fault(f"{where}.after", _explain_unknown_step(name, ids))
        if isinstance(step.when, str) and not is_reference(step.when):
            yield Fault(f"{where}.when", "must be one reference, such as {{steps.a.output.ok}}, or a comparison")
        for field, value in _iterate_templates(step):
            in_loop = step.for_each is not None and field == "arguments"
            yield from _find_reference_faults(f"{where}.{field}", value, ids, in_loop=in_loop)
        if _is_too_deep(step.fallback):
            yield _build_too_deep_fault(f"{where}.fallback")
    if chain.has_output:
        yield from _find_reference_faults("output", chain.output, ids, in_loop=False)


def _find_reference_faults(where: str, value: Any, ids: list[str], *, in_loop: bool) -> Iterator[Fault]:
    if _is_too_deep(value):
        yield _build_too_deep_fault(where)
        return
    try:
        found = list(islice(iterate_references(value), _MAX_REFERENCES + 1))
    except InvalidReference as error:
        yield Fault(where, str(error))
        return
    if len(found) > _MAX_REFERENCES:
        yield Fault(where, f"has more than {_MAX_REFERENCES:,} references")
        return
    for reference in dict.fromkeys(found):
        if reference.step is not None and reference.step not in ids:
            yield Fault(where, f"'{{{{{reference.text}}}}}': {_explain_unknown_step(reference.step, ids)}")
        if reference.root in ("item", "index") and not in_loop:
            yield Fault(where, f"'{{{{{reference.text}}}}}' is defined only in the arguments of a for_each")


def _is_too_deep(value: Any) -> bool:
    level = [value]
    for _ in range(_MAX_DEPTH):
        level = [
            each
            for one in level
            if isinstance(one, Mapping | list | tuple)
            for each in (one.values() if isinstance(one, Mapping) else one)
        ]
        if not level:
            return False
    return True


def _build_too_deep_fault(where: str) -> Fault:
    return Fault(where, f"is nested more than {_MAX_DEPTH} levels deep")


def _explain_unknown_step(name: str, ids: list[str]) -> str:
    return f"there is no step '{name}'; there are {', '.join(ids[:20])}"


def _iterate_required_steps(step: Step) -> Iterator[str]:
    yield from step.after
    for _, value in _iterate_templates(step):
        for reference in iterate_references(value):
            if reference.step is not None:
                yield reference.step


def _iterate_templates(step: Step) -> Iterator[tuple[str, Any]]:
    yield "arguments", step.arguments
    if isinstance(step.when, Condition):
        yield "when", [getattr(step.when, name) for name in step.when.model_fields_set]
    elif step.when is not None:
        yield "when", step.when
    if step.for_each is not None:
        yield "for_each", step.for_each


def _find_cycle(waits: Mapping[str, frozenset[str]]) -> list[str]:
    """Return the steps of a dependency cycle, with the first one repeated at the end; empty if there is none."""
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
