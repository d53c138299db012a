"""Stored calls in memory form (name, arguments, result and statistics), and the titles of threads."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

from pegboard.dialect_calls import AnsweredCalls
from pegboard.dialects.base import Answer
from pegboard.dialects.parsed_calls import ABSENT, AskedCall
from pegboard.json_schema.read_arguments import convert_to_floats
from pegboard.json_schema.validation_cost import TooCostly
from pegboard.model.api_errors import Fault, Invalid
from pegboard.model.call import Caller, Malformed
from pegboard.model.ids import make_call_id, new_id
from pegboard.registry.snapshot import Snapshot

# The error of a call whose arguments could not be parsed, until an answer replaces it.
MALFORMED_ERROR = "malformed_arguments"
_UNKNOWN_NAME = "unknown"
_NO_RESULT = object()


def to_memory_form(call: AskedCall) -> dict[str, Any]:
    """Return a parsed call in memory form."""
    arguments = call.arguments
    form: dict[str, Any] = {
        "id": call.id or make_call_id(new_id()),
        "name": call.name or _UNKNOWN_NAME,
        "arguments": None if isinstance(arguments, Malformed) else arguments,
    }
    if call.result is not ABSENT:
        form["result"] = call.result
    if call.error is not None:
        form["error"] = call.error
    if isinstance(arguments, Malformed):
        form |= {"error": call.error or MALFORMED_ERROR, "raw_arguments": arguments.text}
    if call.provider_executed:
        form["provider_executed"] = True
    return form | {key: value for key, value in call.extra.items() if key not in form}


def to_memory_form_with_result(answer: Answer) -> dict[str, Any]:
    """Return a call that this board ran, in memory form."""
    form = to_memory_form(answer.call) | {"id": answer.id}
    result = answer.result
    form.pop("error", None)
    if result.problem is None:
        form["result"] = result.output
    else:
        form |= {"error": result.problem.message, "code": result.problem.code}
    return form | {"duration_ms": result.elapsed_ms, "attempts": result.attempts, "run_id": answer.run_id}


def list_memory_forms(answered: AnsweredCalls) -> tuple[dict[str, Any], ...]:
    """Return every call of a payload in memory form, including those that the board did not run.

    Answers to calls that are not in the payload are left out if they do not name a tool.
    """
    answers = iter(answered.answers)
    forms = []
    for call in answered.asked.calls:
        answer = next(answers, None) if call.is_open else None
        if answer is not None:
            forms.append(to_memory_form_with_result(answer))
        elif call.name or call.arguments is not None:
            forms.append(to_memory_form(call))
    return tuple(forms)


def is_unanswered(form: Mapping[str, Any]) -> bool:
    """Return True if the call has no answer yet."""
    if "result" in form:
        return False
    return form.get("error") is None or (form["error"] == MALFORMED_ERROR and "raw_arguments" in form)


def set_answer(form: Mapping[str, Any], answer: AskedCall) -> dict[str, Any]:
    """Return the call with its answer."""
    outcome = {"result": answer.result} if answer.error is None else {"error": answer.error}
    return {key: value for key, value in form.items() if key != "error"} | outcome


def check_result(form: dict[str, Any], snapshot: Snapshot, caller: Caller) -> dict[str, Any]:
    """Return the call with `result_valid`, if the caller may call the tool and the tool has an output schema."""
    result = form.get("result", _NO_RESULT)
    compiled = snapshot.find(form["name"]) if result is not _NO_RESULT else None
    if compiled is None or compiled.tool.output_schema is None or not snapshot.may_call(compiled.tool, caller):
        return {key: value for key, value in form.items() if key != "result_valid"}
    try:
        is_valid = compiled.output.is_valid(convert_to_floats(result))
    except TooCostly:
        return {key: value for key, value in form.items() if key != "result_valid"}
    except ValueError:  # the value is not JSON
        is_valid = False
    return form | {"result_valid": is_valid}


def is_deeper_than(value: Any, most: int) -> bool:
    """Return True if lists and objects are nested more than `most` levels deep."""
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


def split_calls_and_answers(calls: Sequence[AskedCall]) -> tuple[list[AskedCall], list[AskedCall]]:
    """Split into calls that a model makes and answers to earlier calls."""
    asked = [call for call in calls if call.arguments is not None]
    return asked, [call for call in calls if call.arguments is None and not call.is_open]


MAX_TITLE_CHARS = 200
_MAX_DERIVED_TITLE_CHARS = 80


def check_title(title: str | None) -> str | None:
    """Return the title on one line; raise Invalid if it is too long or blank."""
    if title is None:
        return None
    line = _to_single_line(title[: 4 * MAX_TITLE_CHARS])
    if not line or len(line) > MAX_TITLE_CHARS or len(title) > 4 * MAX_TITLE_CHARS:
        raise Invalid.of(
            "The title of the thread is not valid",
            [Fault("title", f"must have 1 to {MAX_TITLE_CHARS} characters, or be null")],
        )
    return line


def derive_title(text: str | None) -> str | None:
    """Derive a title from the first message, cut after a word."""
    line = _to_single_line((text or "")[: 4 * _MAX_DERIVED_TITLE_CHARS])
    if len(line) <= _MAX_DERIVED_TITLE_CHARS:
        return line or None
    words = line[:_MAX_DERIVED_TITLE_CHARS].rpartition(" ")[0]
    return (words if len(words) > _MAX_DERIVED_TITLE_CHARS // 2 else line[: _MAX_DERIVED_TITLE_CHARS - 1]).rstrip(
        " ,;:.-–"
    ) + "…"


def _to_single_line(text: str) -> str:
    return " ".join("".join(" " if unicodedata.category(letter) in ("Cc", "Cs") else letter for letter in text).split())
