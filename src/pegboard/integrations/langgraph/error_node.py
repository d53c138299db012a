"""The LangGraph node that handles the failed calls of a round."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.messages import BaseMessage, ToolMessage

from pegboard.integrations.langgraph.graph_state import (
    GIVEN_UP_KEY,
    ToolFailure,
    find_last_round,
    get_messages,
    get_tool_run,
    group_answers_by_round,
    is_given_up,
)
from pegboard.model.call_errors import AnswerNotKept, ErrorType, ExecutionFailed, InDoubt, Unrecorded

_UNCERTAIN_CODES = (InDoubt.code, Unrecorded.code, AnswerNotKept.code)


class ToolErrorNode:
    """Records the failures of the last round in `tool_errors`, and adds advice for the model to each answer.

    A tool that has failed in `max_rounds` rounds in a row is given up: the graph continues with the tool's value in
    `fallback`, or without it, and calls of it do not run until the next human message.
    """

    def __init__(
        self, *, max_rounds: int = 3, fallback: Mapping[str, Any] | None = None, messages_key: str = "messages"
    ) -> None:
        if max_rounds < 1:
            raise ValueError(f"max_rounds is {max_rounds}; it must be at least 1")
        self._max_rounds = max_rounds
        self._fallback = {tool: _to_text(value) for tool, value in (fallback or {}).items()}
        self._messages_key = messages_key

    def __call__(self, state: Any) -> Any:
        """Return the state update: the failed answers with advice, under their ids, and the failures."""
        messages = get_messages(state, self._messages_key)
        failed = [answer for answer in find_last_round(messages)[1] if answer.status == "error"]
        rounds = {name: _count_failed_rounds(name, messages) for name in {answer.name for answer in failed}}
        failures = [self._build_failure(answer, rounds[answer.name]) for answer in failed]
        handled = [self._handle_failure(*each) for each in zip(failed, failures, strict=True)]
        return handled if isinstance(state, list) else {self._messages_key: handled, "tool_errors": failures}

    def _build_failure(self, answer: ToolMessage, rounds: int) -> ToolFailure:
        result = get_tool_run(answer)
        given_up = rounds >= self._max_rounds
        return ToolFailure(
            tool=answer.name or "",
            call_id=answer.tool_call_id,
            run_id=result.get("run_id", ""),
            code=result.get("code") or ExecutionFailed.code,
            message=answer.text,
            attempts=result.get("attempts", 1),
            fallback=given_up and answer.name in self._fallback,
            retryable=result.get("retryable", False),
            round=rounds,
            given_up=given_up,
        )

    def _handle_failure(self, answer: ToolMessage, failure: ToolFailure) -> ToolMessage:
        result = get_tool_run(answer)
        update: dict[str, Any] = {"content": f"{failure['message']}\n\n{_advise_model(failure, result)}"}
        if failure["given_up"]:
            update["additional_kwargs"] = {**answer.additional_kwargs, GIVEN_UP_KEY: True}
        if failure["fallback"]:
            update |= {"content": self._fallback[failure["tool"]], "status": "success"}
            if result:
                update["artifact"] = {**result, "fallback": True}
        return answer.model_copy(update=update)


def _to_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _count_failed_rounds(tool: str | None, messages: Sequence[BaseMessage]) -> int:
    """Return in how many consecutive rounds, up to the last, all calls of this tool have failed."""
    count = 0
    for round in group_answers_by_round(messages):
        answers = [answer for answer in round if answer.name == tool]
        if any(answer.status == "success" and not is_given_up(answer) for answer in answers):
            break
        count += bool(answers)
    return count


def _advise_model(failure: ToolFailure, fields: Mapping[str, Any]) -> str:
    """Return the advice for the model on how to continue."""
    if failure["given_up"]:
        count = failure["round"]
        times = "" if count == 1 else f" {count} times in a row"
        return f"It has failed{times}: do not call it again. Continue without it, and mention what is missing."
    if failure["code"] in _UNCERTAIN_CODES:
        return "It may have taken effect: find out whether it did before you call it again."
    if fields.get("error_type") == ErrorType.VALIDATION:
        return "Correct the arguments and call it again."
    if fields.get("error_type") == ErrorType.CONFIG:
        return "Calling it again will not help: use another tool, or continue without it."
    if failure["retryable"]:
        wait = fields.get("retry_after_ms")
        return f"It may work if you call it again{f' in {wait / 1000:g} s' if wait else ''}."
    return "Call it with other arguments, use another tool, or continue without it."
