"""Agent loops in Python: a model of a provider with the tools of a board, as scripts that a reader can run."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass

from pegboard.surfaces.clients.mcp_client_formats import KEY_VARIABLE

_QUESTION = "What is the weather in Lisbon?"


@dataclass(frozen=True, slots=True)
class AgentLoop:
    """One script: its SDK, and what has to be installed and set before it runs."""

    title: str
    place: str
    # Called with the address of the server, and the id of an agent or None.
    render: Callable[[str, str | None], str]


def _render_openai(address: str, agent_id: str | None) -> str:
    return f"""{_build_start(address, agent_id, "openai", "OpenAI")}

for _ in range(10):
    response = model.chat.completions.create(model="gpt-5", messages=messages, tools=tools)
    message = response.choices[0].message
    messages.append(message.model_dump(exclude_none=True))
    results = board.post("/v1/calls", json=messages[-1]).raise_for_status().json()
    if not results:
        break
    messages += results
print(message.content)"""


def _render_anthropic(address: str, agent_id: str | None) -> str:
    return f"""{_build_start(address, agent_id, "anthropic", "Anthropic")}

for _ in range(10):
    message = model.messages.create(model="claude-opus-4-6", max_tokens=1000, messages=messages, tools=tools)
    content = [block.model_dump(exclude_none=True) for block in message.content]
    messages.append({{"role": "assistant", "content": content}})
    results = board.post("/v1/calls", json=messages[-1]).raise_for_status().json()
    if not results["content"]:
        break
    messages.append(results)
print(message.content[-1].text)"""


def _build_start(address: str, agent_id: str | None, dialect: str, client: str) -> str:
    """Return the first lines: the clients of the board and of the provider, the tools, and the first message."""
    path = "/v1/definitions" if agent_id is None else f"/v1/agents/{agent_id}/definitions"
    return f"""import os

import httpx
from {dialect} import {client}

board = httpx.Client(
    base_url={json.dumps(address)},
    headers={{"Authorization": "Bearer " + os.environ[{json.dumps(KEY_VARIABLE)}]}},
    timeout=300,
)
tools = board.get({json.dumps(path)}, params={{"as": "{dialect}"}}).raise_for_status().json()
model = {client}()
messages = [{{"role": "user", "content": {json.dumps(_QUESTION)}}}]"""


AGENT_LOOPS: dict[str, AgentLoop] = {
    "openai": AgentLoop(
        "OpenAI SDK",
        "Run it as a Python script, with the packages httpx and openai, and OPENAI_API_KEY",
        _render_openai,
    ),
    "anthropic": AgentLoop(
        "Anthropic SDK",
        "Run it as a Python script, with the packages httpx and anthropic, and ANTHROPIC_API_KEY",
        _render_anthropic,
    ),
}
