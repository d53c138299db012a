"""The error handler of a graph: what it records, which message the model gets, and when it disables a tool."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from pegboard.integrations.langgraph import ToolErrorNode, ToolRun, route_after_agent, route_after_tools
from pegboard.testing import calls_of, memory_board
from tests.integration.langgraph_agents import agent_graph, answers_in, asks, call, texts_in

BEGIN: dict[str, Any] = {"messages": [HumanMessage("begin")]}


def failed(name: str, **received: Any) -> ToolMessage:
    """An answer with an error."""
    run = ToolRun(
        tool=name,
        call_id="x",
        run_id="run",
        success=False,
        attempts=1,
        fallback=False,
        duration_ms=1.0,
        repeated=False,
        code="execution_failed",
        error_type="UNKNOWN_ERROR",
        retryable=False,
        retry_after_ms=None,
    )
    artifact = {**run, **received}
    return ToolMessage("It broke", name=name, tool_call_id="x", status="error", artifact=artifact, id="answer")


def test_a_graph_ends_if_the_model_makes_no_call_and_else_goes_to_its_tools() -> None:
    assert route_after_agent({"messages": [AIMessage("Hello")]}) == "__end__"
    assert route_after_agent({"messages": [asks(call("echo"))]}) == "tools"


def test_a_failure_in_the_last_round_leads_to_the_error_handler_and_an_earlier_one_does_not() -> None:
    bad, good = failed("a"), ToolMessage("fine", tool_call_id="y")
    assert route_after_tools({"messages": [asks(), good, bad]}) == "error_handler"
    assert route_after_tools({"messages": [asks(), bad, good]}) == "error_handler"
    assert route_after_tools({"messages": [asks(), bad, asks(), good]}) == "agent"


async def test_failures_are_recorded_in_the_state_and_the_model_continues() -> None:
    async with memory_board() as board:

        @board.tool
        def broken() -> None:
            raise ValueError("no paper")

        graph = agent_graph(board, [asks(call("broken", "x"), call("echo", "y"))])
        ended = await graph.ainvoke(BEGIN)
        (row,) = await calls_of(board, "broken")
    assert ended["tool_errors"] == [
        {
            "tool": "broken",
            "call_id": "x",
            "run_id": row.id,
            "code": "execution_failed",
            "message": "no paper",
            "attempts": 1,
            "fallback": False,
            "retryable": False,
            "round": 1,
            "given_up": False,
        }
    ]
    received, fine = texts_in(ended["messages"])
    assert received.startswith("no paper\n\n")
    assert "other arguments" in received
    assert "other arguments" not in fine
    assert ended["messages"][-1].text == "done"


@pytest.mark.parametrize(
    ("received", "advice"),
    [
        ({"error_type": "VALIDATION_ERROR", "code": "missing"}, "Correct the arguments"),
        ({"error_type": "CONFIG_ERROR", "code": "tool_not_found"}, "will not help"),
        ({"code": "rate_limited", "retryable": True, "retry_after_ms": 1500}, "call it again in 1.5 s."),
        ({"code": "timeout", "retryable": True}, "call it again."),
        ({"code": "in_doubt"}, "find out whether it did"),
        ({}, "use another tool"),
    ],
)
def test_what_the_model_receives_depends_on_what_went_wrong(received: dict[str, Any], advice: str) -> None:
    update = ToolErrorNode()({"messages": [asks(call("a")), failed("a", **received)]})
    (answer,) = update["messages"]
    assert answer.text.startswith("It broke\n\n")
    assert advice in answer.text
    assert (answer.id, answer.status) == ("answer", "error")


def test_failures_of_another_tool_node_are_handled_too() -> None:
    message = ToolMessage("Error: boom", name="theirs", tool_call_id="x", status="error", artifact={"code": 404})
    update = ToolErrorNode(max_rounds=1)({"messages": [asks(call("theirs")), message]})
    (failure,) = update["tool_errors"]
    assert (failure["tool"], failure["code"], failure["given_up"]) == ("theirs", "execution_failed", True)
    (answer,) = update["messages"]
    assert "do not call it again" in answer.text
    assert answer.artifact == {"code": 404}


def test_a_list_of_messages_gets_a_list() -> None:
    (answer,) = ToolErrorNode()([asks(call("a")), failed("a")])
    assert "use another tool" in answer.text


async def test_a_tool_that_fails_in_so_many_rounds_is_given_up_and_runs_no_more_until_a_person_speaks() -> None:
    async with memory_board() as board:
        ran = 0

        @board.tool
        def broken(n: int) -> None:
            nonlocal ran
            ran += 1
            raise ValueError("no paper")

        script = [*(asks(call("broken", n=n)) for n in range(4)), AIMessage("Without it"), asks(call("broken", n=9))]
        graph = agent_graph(board, script, errors=ToolErrorNode(max_rounds=2))
        ended = await graph.ainvoke(BEGIN)
        assert ran == 2
        again = await graph.ainvoke({"messages": [*ended["messages"], HumanMessage("Try again")]})
    assert ran == 3
    assert [failure["round"] for failure in ended["tool_errors"]] == [1, 2, 3, 4]
    assert [failure["given_up"] for failure in ended["tool_errors"]] == [False, True, True, True]
    assert "do not call it again" in texts_in(ended["messages"])[1]
    assert "did not run" in texts_in(ended["messages"])[2]
    assert [failure["round"] for failure in again["tool_errors"]] == [1]


async def test_a_tool_that_was_given_up_does_not_run_under_another_spelling() -> None:
    async with memory_board() as board:
        ran = 0

        @board.tool
        def broken() -> None:
            nonlocal ran
            ran += 1
            raise ValueError("no paper")

        graph = agent_graph(board, [asks(call(it)) for it in ("broken", "BROKEN")], errors=ToolErrorNode(max_rounds=1))
        ended = await graph.ainvoke(BEGIN)
    assert ran == 1
    assert "did not run" in texts_in(ended["messages"])[1]


async def test_a_tool_that_succeeds_in_between_is_not_given_up() -> None:
    async with memory_board() as board:
        fails = [True, False, True]

        @board.tool
        def moody() -> str:
            if fails.pop(0):
                raise ValueError("not now")
            return "fine"

        script = [asks(call("moody")) for _ in range(3)]
        ended = await agent_graph(board, script, errors=ToolErrorNode(max_rounds=2)).ainvoke(BEGIN)
    assert [failure["round"] for failure in ended["tool_errors"]] == [1, 1]
    assert fails == []


async def test_the_graph_continues_with_its_fallback_if_a_tool_is_given_up() -> None:
    async with memory_board() as board:

        @board.tool
        def weather() -> None:
            raise ValueError("no satellite")

        script = [asks(call("weather")) for _ in range(3)]
        errors = ToolErrorNode(max_rounds=2, fallback={"weather": {"sky": "unknown"}})
        ended = await agent_graph(board, script, errors=errors).ainvoke(BEGIN)
    first, *rest = answers_in(ended["messages"])
    assert first.status == "error"
    assert [(answer.status, answer.text, answer.artifact["fallback"]) for answer in rest] == [
        ("success", '{"sky": "unknown"}', True)
    ] * 2
    assert [failure["fallback"] for failure in ended["tool_errors"]] == [False, True, True]


def test_less_than_one_round_is_refused() -> None:
    with pytest.raises(ValueError, match="max_rounds is 0"):
        ToolErrorNode(max_rounds=0)
