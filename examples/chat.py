"""One turn of a chat, from an agent's answer to the memory and a live client; the agent follows a script.

Run it beside a board: `make serve`, then `PEGBOARD_KEY=… python examples/chat.py "Who approves a budget?"`.
"""

import json
import os
import sys
from collections.abc import Iterator
from typing import Any

import httpx

from pegboard import format_tool_args, get_tool_display_name, normalize_tool_calls

TOOLS = [  # what the agent may call; answers are samples, so that the example needs nothing else
    {"name": "queryHandbook", "config": {"mock_response": {"answer": "The team lead, up to 5,000 EUR."}}},
    {"name": "getTeamDirectory", "config": {"mock_response": [{"name": "Ada", "role": "AI Engineer"}]}},
    {"name": "createProjectTicket", "config": {"mock_response": {"ticket": "DEMO-7"}}},
]


def generate(message: str) -> dict[str, Any]:
    """What the agent answers: a text, and calls in each of the three forms that Mastra gives them."""
    return {
        "text": "I look that up, ask the team and open a ticket.",
        "toolCalls": [
            {
                "from": "AGENT",
                "payload": {"toolCallId": "call_1", "toolName": "queryHandbook", "args": {"query": message}},
            },
            {"id": "call_2", "toolName": "getTeamDirectory", "args": {"role": "AI Engineer"}},
            {"toolCallId": "call_3", "name": "createProjectTicket", "arguments": {"assignee": "Ada"}},
        ],
    }


def events(response: httpx.Response) -> Iterator[tuple[str, Any]]:
    """The server-sent events of a response: each one's name and data."""
    name = ""
    for line in response.iter_lines():
        word, _, value = line.partition(": ")
        if word == "event":
            name = value
        elif word == "data":
            yield name, json.loads(value)


def handle_chat_message(board: httpx.Client, message: str, thread_id: str) -> None:
    """Run what the agent asks for, show it as it happens, and leave the turn in the memory."""
    board.post(f"/v1/threads/{thread_id}/messages", json={"role": "user", "content": message}).raise_for_status()
    answer = generate(message)

    print("[Tools Used]:")
    for call in normalize_tool_calls(answer["toolCalls"]):
        print(f"  - {get_tool_display_name(call)}")
        print(f"    {format_tool_args(call.args)}")

    # The board runs the calls, tells how it goes, and remembers them with their results.
    live = {"Accept": "text/event-stream"}
    with board.stream("POST", "/v1/calls", params={"thread": thread_id}, json=answer, headers=live) as response:
        if response.status_code != 200:
            raise SystemExit(response.read().decode())
        for name, data in events(response):
            if name == "tool_use":
                print(data["message"])
            elif name == "tool_result":
                print(f"   {data['name']}: {data.get('error') or json.dumps(data['result'])}")
            elif name == "complete":
                print(data["text"], f"({len(data['tool_calls'])} calls, thread {data['thread_id']})")


def main() -> None:
    """Set up the tools and a conversation, take one turn, and show what is remembered of it."""
    message = " ".join(sys.argv[1:]) or "Who approves a budget?"
    headers = {"Authorization": f"Bearer {os.environ['PEGBOARD_KEY']}"}
    with httpx.Client(base_url=os.environ.get("PEGBOARD_URL", "http://127.0.0.1:8080"), headers=headers) as board:
        tools = [{"tool_type": "mock", "input_schema": {"type": "object"}, **tool} for tool in TOOLS]
        board.post("/v1/apply", json={"tools": tools}).raise_for_status()
        thread_id = board.post("/v1/threads", json={}).raise_for_status().json()["id"]

        handle_chat_message(board, message, thread_id)

        print("[Remembered, and ready for another provider]:")
        history = board.get(f"/v1/threads/{thread_id}/messages", params={"as": "openai"}).raise_for_status().json()
        for item in history["items"]:
            print(f"  {item['role']}: {json.dumps(item.get('content'))}")


if __name__ == "__main__":
    main()
