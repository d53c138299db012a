"""What a graph's state holds of calls, and the messages in it that matter to them."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, TypedDict

from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, HumanMessage, ToolMessage
from langgraph.graph import MessagesState

# What the error node marks the answers of tools with that it has given up.
GIVEN_UP = "given_up"


class ToolRun(TypedDict):
    """How one call ended; also the `artifact` of its ToolMessage. `code` and what follows it tell of a failure."""

    tool: str
    call_id: str
    run_id: str
    success: bool
    attempts: int
    fallback: bool
    duration_ms: float
    repeated: bool
    code: str | None
    error_type: str | None
    retryable: bool
    retry_after_ms: int | None


class ToolFailure(TypedDict):
    """A call that failed, as the error node records it; `fallback` where a value of the graph's answered instead.

    `round` is in how many rounds in a row, this one included, no call of the tool has succeeded.
    """

    tool: str
    call_id: str
    run_id: str
    code: str
    message: str
    attempts: int
    fallback: bool
    retryable: bool
    round: int
    given_up: bool


class BoardState(MessagesState):
    """Messages, every call that was run, and every one that failed."""

    tool_runs: Annotated[list[ToolRun], operator.add]
    tool_errors: Annotated[list[ToolFailure], operator.add]


def messages_in(state: Any, key: str) -> Sequence[AnyMessage]:
    """The messages of a state: a list of them, or what has them under this key."""
    if isinstance(state, list):
        return state
    found: Sequence[AnyMessage] = state.get(key, ()) if isinstance(state, Mapping) else getattr(state, key, ())
    return found


def last_round(messages: Sequence[BaseMessage]) -> tuple[AIMessage, list[ToolMessage]]:
    """What the model said last, and the answers that it got; raises ValueError where it has said nothing."""
    answers: list[ToolMessage] = []
    for message in reversed(messages):
        if isinstance(message, AIMessage):
            return message, answers[::-1]
        if isinstance(message, ToolMessage):
            answers.append(message)
    raise ValueError("The state holds no AIMessage; the tool node comes after the node that asks the model")


def answers_of_turn(messages: Sequence[BaseMessage]) -> list[list[ToolMessage]]:
    """The answers since a person spoke last, by rounds: those of each message of the model, the latest first."""
    rounds: list[list[ToolMessage]] = [[]]
    for message in reversed(messages):
        if isinstance(message, HumanMessage):
            break
        if isinstance(message, ToolMessage):
            rounds[-1].append(message)
        elif isinstance(message, AIMessage):
            rounds.append([])
    return rounds


def told_of(message: ToolMessage) -> Mapping[str, Any]:
    """What the board said of the call that this answers; nothing where another node ran it."""
    artifact = message.artifact
    return artifact if isinstance(artifact, dict) and artifact.keys() >= ToolRun.__required_keys__ else {}


def is_given_up(message: ToolMessage) -> bool:
    """Whether this is an answer for want of a tool that was given up."""
    return bool(message.additional_kwargs.get(GIVEN_UP))
