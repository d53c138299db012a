"""The graph state for tool calls, functions that read it, and the routing functions."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, TypedDict

from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, HumanMessage, ToolMessage
from langgraph.graph import MessagesState

# Marks the answers of tools that the error node has given up.
GIVEN_UP_KEY = "given_up"


class ToolRun(TypedDict):
    """The result of one call, also the `artifact` of its ToolMessage; the fields from `code` on describe a failure."""

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
    """A failed call as recorded by the error node; `fallback` is True if a value of the graph was used instead.

    `round` is the number of consecutive rounds, including this one, in which no call of the tool succeeded.
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
    """Messages, all calls that were run, and all that failed."""

    tool_runs: Annotated[list[ToolRun], operator.add]
    tool_errors: Annotated[list[ToolFailure], operator.add]


def get_messages(state: Any, key: str) -> Sequence[AnyMessage]:
    """Return the messages of a state: the state itself if it is a list, else its value under this key."""
    if isinstance(state, list):
        return state
    found: Sequence[AnyMessage] = state.get(key, ()) if isinstance(state, Mapping) else getattr(state, key, ())
    return found


def find_last_round(messages: Sequence[BaseMessage]) -> tuple[AIMessage, list[ToolMessage]]:
    """Return the last AIMessage and its answers; raise ValueError if there is none."""
    answers: list[ToolMessage] = []
    for message in reversed(messages):
        if isinstance(message, AIMessage):
            return message, answers[::-1]
        if isinstance(message, ToolMessage):
            answers.append(message)
    raise ValueError("The state has no AIMessage; put the tool node after the node that calls the model")


def group_answers_by_round(messages: Sequence[BaseMessage]) -> list[list[ToolMessage]]:
    """Return the answers since the last human message, grouped by AI message, latest first."""
    rounds: list[list[ToolMessage]] = [[]]
    for message in reversed(messages):
        if isinstance(message, HumanMessage):
            break
        if isinstance(message, ToolMessage):
            rounds[-1].append(message)
        elif isinstance(message, AIMessage):
            rounds.append([])
    return rounds


def get_tool_run(message: ToolMessage) -> Mapping[str, Any]:
    """Return the artifact of the call that this answers; empty if another node ran it."""
    artifact = message.artifact
    return artifact if isinstance(artifact, dict) and artifact.keys() >= ToolRun.__required_keys__ else {}


def is_given_up(message: ToolMessage) -> bool:
    """True if this is the answer for a tool that was given up."""
    return bool(message.additional_kwargs.get(GIVEN_UP_KEY))


def route_after_agent(state: Any, *, messages_key: str = "messages") -> Literal["tools", "__end__"]:
    """Return "tools" if the last AI message has calls, including those with invalid arguments; else the end."""
    message, _ = find_last_round(get_messages(state, messages_key))
    return "tools" if message.tool_calls or message.invalid_tool_calls else "__end__"


def route_after_tools(state: Any, *, messages_key: str = "messages") -> Literal["error_handler", "agent"]:
    """Return "error_handler" if a call of the last round failed, else "agent"."""
    _, answers = find_last_round(get_messages(state, messages_key))
    return "error_handler" if any(answer.status == "error" for answer in answers) else "agent"
