"""Calls in memory form: what was asked for, how it ended, and how it went."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pegboard.core.call import Caller, Malformed
from pegboard.core.ids import new_id
from pegboard.dialects.asked import ABSENT, AskedCall
from pegboard.dialects.base import Answer
from pegboard.payloads import Answered
from pegboard.registry.arguments import as_floats
from pegboard.registry.cost import TooCostly
from pegboard.registry.snapshot import Snapshot

# What stands for the outcome of a call whose arguments could not be read, until somebody answers it.
MALFORMED = "malformed_arguments"
_UNNAMED = "unknown"
_UNANSWERED = object()


def kept(call: AskedCall) -> dict[str, Any]:
    """A call in memory form, as it came."""
    arguments = call.arguments
    form: dict[str, Any] = {
        "id": call.id or f"call_{new_id().replace('-', '')}",
        "name": call.name or _UNNAMED,
        "arguments": None if isinstance(arguments, Malformed) else arguments,
    }
    if call.result is not ABSENT:
        form["result"] = call.result
    if call.error is not None:
        form["error"] = call.error
    if isinstance(arguments, Malformed):
        form |= {"error": call.error or MALFORMED, "raw_arguments": arguments.text}
    if call.provider_executed:
        form["provider_executed"] = True
    return form | {key: value for key, value in call.extra.items() if key not in form}


def ran(answer: Answer) -> dict[str, Any]:
    """A call in memory form that this board ran."""
    form = kept(answer.call) | {"id": answer.id}
    result = answer.result
    form.pop("error", None)
    if result.problem is None:
        form["result"] = result.output
    else:
        form |= {"error": result.problem.message, "code": result.problem.code}
    return form | {"duration_ms": result.elapsed_ms, "attempts": result.attempts, "run_id": answer.run_id}


def all_of(answered: Answered) -> tuple[dict[str, Any], ...]:
    """Every call of a payload in memory form; those that the board did not run with what is known of them.

    Answers to calls that are not in the payload are left out where they do not even say what was called.
    """
    answers = iter(answered.answers)
    forms = []
    for call in answered.asked.calls:
        answer = next(answers, None) if call.is_open else None
        if answer is not None:
            forms.append(ran(answer))
        elif call.name or call.arguments is not None:
            forms.append(kept(call))
    return tuple(forms)


def is_open(form: Mapping[str, Any]) -> bool:
    """Whether no answer to this call is known."""
    if "result" in form:
        return False
    return form.get("error") is None or (form["error"] == MALFORMED and "raw_arguments" in form)


def answered(form: Mapping[str, Any], answer: AskedCall) -> dict[str, Any]:
    """The call with the answer that came for it."""
    outcome = {"result": answer.result} if answer.error is None else {"error": answer.error}
    return {key: value for key, value in form.items() if key != "error"} | outcome


def checked(form: dict[str, Any], snapshot: Snapshot, caller: Caller) -> dict[str, Any]:
    """The call, and whether its result is what the tool says it returns, where this caller has that tool."""
    result = form.get("result", _UNANSWERED)
    peg = snapshot.find(form["name"]) if result is not _UNANSWERED else None
    if peg is None or peg.tool.output_schema is None or not snapshot.may_call(peg.tool, caller):
        return {key: value for key, value in form.items() if key != "result_valid"}
    try:
        is_valid = peg.output.is_valid(as_floats(result))
    except TooCostly:
        return {key: value for key, value in form.items() if key != "result_valid"}
    except ValueError:  # a value that is no JSON
        is_valid = False
    return form | {"result_valid": is_valid}


def is_deep(value: Any, most: int) -> bool:
    """Whether more lists and objects are in one another than so many."""
    level = [value]
    for _ in range(most):
        level = [
            inner
            for item in level
            for inner in (item.values() if isinstance(item, Mapping) else item)
            if isinstance(inner, dict | list | tuple)
        ]
        if not level:
            return False
    return True


def split(calls: Sequence[AskedCall]) -> tuple[list[AskedCall], list[AskedCall]]:
    """What a model asks for, and what only answers earlier calls."""
    asked = [call for call in calls if call.arguments is not None]
    return asked, [call for call in calls if call.arguments is None and not call.is_open]
