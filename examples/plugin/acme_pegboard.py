"""A handler, a dialect and an executor for a Pegboard."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pegboard.extend import Answer, AskedCall, Assembly, Dialect, OpenTool, Prepared, ReadyCall, Tool, Unreadable


def slugify(text: str) -> str:
    """The text as it would stand in an address."""
    return "-".join(text.lower().split())


class Pairs(Dialect):
    """Calls as {"do": name, "with": arguments}, answers as [ok, value] pairs."""

    name = "pairs"
    keys = frozenset({"do"})

    def recognises(self, item: Any) -> bool:
        """Whether an object says what to do."""
        return isinstance(item, dict) and isinstance(item.get("do"), str)

    def read(self, item: Any, into: Assembly) -> None:
        """Take in one call."""
        if not self.recognises(item):
            raise Unreadable("'pairs' wants objects {do, with}")
        into.call(item["do"], item.get("with"))

    def compose(self, calls: Sequence[AskedCall]) -> Any:
        """The calls as a model would make them."""
        return [{"do": call.name, "with": call.arguments} for call in calls]

    def render(self, answers: Sequence[Answer], *, many: bool) -> Any:
        """A pair for each answer."""
        results = [answer.result for answer in answers]
        return [[result.success, result.problem.message if result.problem else result.output] for result in results]

    def define(self, tool: Tool) -> Any:
        """How a model sees the tool."""
        return {"do": tool.name, "with": list(tool.input_schema.get("properties", {}))}


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
