"""python and shell tools for tests, and the board's surfaces with its journal, versions and secrets."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict
from typing import Any, Protocol

import httpx

from pegboard import Pegboard
from pegboard.dialects.plain import Plain
from pegboard.model.call import ToolResult
from pegboard.model.filters import ExecutionFilter, ToolFilter
from pegboard.registry.build_tool import build_tool_response
from pegboard.surfaces.rest.app import create_app
from tests.board_surfaces import KEY, CliSurface, LibrarySurface, RestSurface, Surface, served
from tests.surfaces.rest.clients import bearer, good
from tests.unit.dialects.rendering import rendered

SURFACES = ("library", "rest", "cli")
# Tests that read rows again use both kinds of database.
STORED = (*SURFACES, "rest on postgresql")


def python(code: str, name: str = "tool", **more: Any) -> dict[str, Any]:
    """Return a python tool; `libraries`, `env`, `timeout` and `entrypoint` go to its config, all others to the tool."""
    return _tool("python", {"code": code}, name, more)


def shell(command: str, *parameters: str, name: str = "tool", **more: Any) -> dict[str, Any]:
    """Return a shell tool with this command; options of its config go there, all others to the tool."""
    schema = {"type": "object", "properties": {each: {"type": "string"} for each in parameters}}
    return _tool("shell", {"command": command}, name, {"input_schema": schema, **more})


_IN_CONFIG = {
    "libraries",
    "env",
    "timeout",
    "entrypoint",
    "shell",
    "parse",
    "working_dir",
    "writable",
    "network",
    "success_exit_codes",
}


def _tool(kind: str, config: dict[str, Any], name: str, more: dict[str, Any]) -> dict[str, Any]:
    config |= {field: value for field, value in more.items() if field in _IN_CONFIG}
    # A busy machine may need longer than the default to start a call.
    config.setdefault("timeout", 60)
    fields = {field: value for field, value in more.items() if field not in _IN_CONFIG}
    return {"name": name, "tool_type": kind, "config": config, **fields}


class ConfinedSurface(Surface, Protocol):
    """A surface with access to the journal and the versions behind it."""

    async def once(self, tool: str, arguments: Any, key: str) -> dict[str, Any]:
        """Call a tool with a key; the answer in the plain dialect."""

    async def row(self, tool: str) -> dict[str, Any]:
        """The latest execution of a tool, whole."""

    async def versions(self, tool: str) -> list[dict[str, Any]]:
        """Return the versions of a tool, newest first."""

    async def replay(self, execution_id: str, version: int | None = None) -> tuple[bool | None, Any]:
        """Replay a call; return whether it ended the same, and its new output."""

    async def keep(self, name: str, value: str) -> None:
        """Set a named secret."""

    async def lists(self, tool: str) -> str:
        """Return everything that is shown about the tools of this board."""


class LibraryWay(LibrarySurface):
    async def once(self, tool: str, arguments: Any, key: str) -> dict[str, Any]:
        answer: dict[str, Any] = rendered(Plain(), await self._board.call(tool, arguments, key=key))
        return answer

    async def row(self, tool: str) -> dict[str, Any]:
        page = await self._board.executions(ExecutionFilter(tool=tool), limit=1)
        return (await self._board.execution(page.items[0].id))._asdict()

    async def versions(self, tool: str) -> list[dict[str, Any]]:
        page = await self._board.tools.versions(tool, self._board.admin, cursor=None, limit=50)
        return [asdict(each) for each in page.items]

    async def replay(self, execution_id: str, version: int | None = None) -> tuple[bool | None, Any]:
        replay = await self._board.replay(execution_id, version=version)
        return replay.same, answer_of(replay.result)

    async def keep(self, name: str, value: str) -> None:
        await self._board.secrets.put(name, value, self._board.admin)

    async def lists(self, tool: str) -> str:
        board = self._board
        page = await board.tools.page(ToolFilter(), board.admin, cursor=None, limit=200)
        seen = [build_tool_response(each, board.admin).model_dump(mode="json") for each in page.items]
        return str([seen, repr(page.items), await board.definitions()])


class RestWay(RestSurface):
    async def once(self, tool: str, arguments: Any, key: str) -> dict[str, Any]:
        headers = {"Idempotency-Key": key}
        return dict(good(await self._client.post(f"/v1/tools/{tool}/call", json=arguments, headers=headers)))

    async def row(self, tool: str) -> dict[str, Any]:
        page = good(await self._client.get("/v1/executions", params={"tool": tool, "limit": 1}))
        return dict(good(await self._client.get(f"/v1/executions/{page['items'][0]['id']}")))

    async def versions(self, tool: str) -> list[dict[str, Any]]:
        return list(good(await self._client.get(f"/v1/tools/{tool}/versions"))["items"])

    async def replay(self, execution_id: str, version: int | None = None) -> tuple[bool | None, Any]:
        body = {"version": version, "confirm": True}
        done = good(await self._client.post(f"/v1/executions/{execution_id}/replay", json=body))
        return done["same"], done["result"].get("result", done["result"].get("error"))

    async def keep(self, name: str, value: str) -> None:
        good(await self._client.put(f"/v1/secrets/{name}", json={"value": value}))

    async def lists(self, tool: str) -> str:
        paths = [f"v1/tools{which}" for which in ("", f"/{tool}", f"/{tool}/versions", f"/{tool}/definition")]
        more = ("v1/definitions", "v1/secrets", "v1/executions", "metrics")
        return "".join([(await self._client.get(f"/{path}")).text for path in (*paths, *more)])


class CliWay(CliSurface):
    async def once(self, tool: str, arguments: Any, key: str) -> dict[str, Any]:
        words = ("call", tool, "--input", "-", "--once", key, "--json")
        _, out, _ = await self._run(*words, stdin=json.dumps(arguments))
        return dict(json.loads(out))

    async def row(self, tool: str) -> dict[str, Any]:
        page = json.loads(await self._reported("audit", "list", "--tool", tool, "--limit", "1", "--json"))
        return dict(json.loads(await self._reported("audit", "show", page["items"][0]["id"], "--json")))

    async def versions(self, tool: str) -> list[dict[str, Any]]:
        return list(json.loads(await self._reported("tools", "versions", tool, "--json"))["items"])

    async def replay(self, execution_id: str, version: int | None = None) -> tuple[bool | None, Any]:
        against = () if version is None else ("--version", str(version))
        _, out, _ = await self._run("audit", "replay", execution_id, *against, "--yes", "--json")
        done = json.loads(out)
        return done["same"], done["result"].get("result", done["result"].get("error"))

    async def keep(self, name: str, value: str) -> None:
        await self._reported("secrets", "set", name, "--stdin", stdin=value)

    async def lists(self, tool: str) -> str:
        shown = (("tools", "list"), ("tools", "show", tool), ("tools", "versions", tool), ("export",), ("definitions",))
        more = (("tools", "list", "--json"), ("tools", "show", tool, "--json"), ("secrets", "list"), ("audit", "list"))
        return "".join([await self._reported(*words) for words in (*shown, *more)])

    async def _reported(self, *words: str, stdin: str | None = None) -> str:
        code, out, err = await self._run(*words, stdin=stdin)
        assert code == 0, (words, err)
        return out + err


async def warm(way: ConfinedSurface, **config: Any) -> None:
    """Prepare a process for the next call of such a tool, so that the start does not count towards its deadline."""
    await way.create(shell("true", name="warm", **config))
    assert (await way.call("warm"))["success"]


def answer_of(result: ToolResult) -> Any:
    """Return the output of a call, or its error."""
    return result.output if result.problem is None else result.problem.message


@asynccontextmanager
async def way_into(name: str, board: Pegboard) -> AsyncIterator[ConfinedSurface]:
    """The surface of that name."""
    if name == "library":
        yield LibraryWay(board)
    elif name == "rest":
        transport = httpx.ASGITransport(create_app(board, "test"))
        async with httpx.AsyncClient(transport=transport, base_url="http://board", headers=bearer(KEY)) as client:
            yield RestWay(client)
    else:
        async with served(board) as url:
            yield CliWay(url)
