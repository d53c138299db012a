"""Lists and calls with a client of the SDK before version 2: `older_program.py CLIENT URL`.

The key is in PEGBOARD_KEY. Runs in the environment of requirements/clients.txt, where Pegboard and the tests are not
installed. Prints the names of the tools, the results of calls and the message of a failure as JSON.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable
from typing import Any

# Returns the text of a result; raises an exception with the message if the call failed.
Call = Callable[[str, dict[str, Any]], Awaitable[str]]
MANY = 50


async def langchain(url: str, headers: dict[str, str]) -> dict[str, Any]:
    """Use langchain-mcp-adapters, which opens a session for every call."""
    from langchain_mcp_adapters.client import MultiServerMCPClient

    server = {"transport": "http", "url": url, "headers": headers}
    client = MultiServerMCPClient({"pegboard": server}, handle_tool_errors=False)
    tools = {tool.name: tool for tool in await client.get_tools()}

    async def call(name: str, arguments: dict[str, Any]) -> str:
        content = await tools[name].ainvoke(arguments)
        return content if isinstance(content, str) else "".join(block["text"] for block in content)

    return {"tools": list(tools), **(await use(call) if "math_eval" in tools else {})}


async def openai_agents(url: str, headers: dict[str, str]) -> dict[str, Any]:
    """Use the OpenAI Agents SDK, with one session."""
    from agents.mcp import MCPServerStreamableHttp

    params: Any = {"url": url, "headers": headers}
    async with MCPServerStreamableHttp(params, client_session_timeout_seconds=60) as server:
        names = [tool.name for tool in await server.list_tools()]

        async def call(name: str, arguments: dict[str, Any]) -> str:
            result = await server.call_tool(name, arguments)
            text = "".join(block.text for block in result.content)
            if result.isError:
                raise RuntimeError(text)
            return text

        return {"tools": names, **(await use(call) if "math_eval" in names else {})}


async def use(call: Call) -> dict[str, Any]:
    """Make calls that succeed and one that fails."""
    texts = await asyncio.gather(*(call("math_eval", {"expression": f"{number}+1"}) for number in range(MANY)))
    try:
        failure = f"no failure: {await call('math_eval', {'expression': '1/0'})}"
    except Exception as error:  # each client has its own
        failure = str(error)
    return {"results": [json.loads(text)["result"] for text in texts], "failure": failure}


def main() -> None:
    """Print what the client did."""
    client = {"langchain": langchain, "openai-agents": openai_agents}[sys.argv[1]]
    headers = {"Authorization": f"Bearer {os.environ['PEGBOARD_KEY']}"}
    sys.stdout.write(json.dumps(asyncio.run(client(sys.argv[2], headers))))


if __name__ == "__main__":
    main()
