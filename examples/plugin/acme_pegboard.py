"""A handler, a dialect and an executor for a Pegboard."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from pegboard import Tool, ToolResult
from pegboard.core.call import ReadyCall
from pegboard.core.refusals import Invalid
from pegboard.dialects.base import Asked, AskedCall
from pegboard.executors.base import OpenTool, Prepared


def slugify(text: str) -> str:
    """The text as it would stand in an address."""
    return "-".join(text.lower().split())


class Pairs:
    """Calls as [name, arguments] pairs, answers as [ok, value] pairs."""

    name = "pairs"

    def parse(self, payload: Any) -> Asked:
        """The calls in a list of pairs."""
        if not isinstance(payload, list) or any(not isinstance(item, list) or len(item) != 2 for item in payload):
            raise Invalid("'pairs' wants a list of [name, arguments]")
        return Asked(tuple(AskedCall(str(name), arguments) for name, arguments in payload), many=True)

    def render(self, result: ToolResult) -> Any:
        """One answer."""
        if result.problem is not None:
            return [False, result.problem.message]
        return [True, result.output]

    def render_json(self, result: ToolResult) -> bytes:
        """One answer as text."""
        return json.dumps(self.render(result)).encode()

    def render_all(self, results: Sequence[ToolResult], many: bool) -> Any:
        """The answers to one payload."""
        return [self.render(result) for result in results]

    def define(self, tool: Tool) -> dict[str, Any]:
        """How a model is told of the tool."""
        return {"call": tool.name, "with": list(tool.input_schema.get("properties", {}))}


class PrintedTable:
    """Runs tools of kind table by saying what they would insert."""

    def prepare(self, tool: OpenTool) -> Prepared:
        """Read the config once; the function it returns runs every call."""
        table = tool.config["tableName"]

        async def run(call: ReadyCall) -> Any:
            return {"would_insert_into": table, "row": call.arguments}

        return Prepared(run)

    async def close(self) -> None:
        """Nothing is held open."""
