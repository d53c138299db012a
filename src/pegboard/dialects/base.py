"""What a dialect is: a pure translation between one wire format and the board's own types."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import orjson

from pegboard.core.call import ToolResult
from pegboard.core.tool import Tool


@dataclass(frozen=True, slots=True)
class AskedCall:
    """One call as a payload asks for it."""

    name: str
    arguments: Any
    id: str | None = None


@dataclass(frozen=True, slots=True)
class Asked:
    """The calls of one payload, in order; `many` if the payload was a list."""

    calls: tuple[AskedCall, ...]
    many: bool


class Dialect(Protocol):
    """One shape of calls, answers and definitions."""

    name: str
    abilities: tuple[str, ...]

    def parse(self, payload: Any) -> Asked:
        """The calls in a payload; raises Invalid where it is not of this dialect."""
        ...

    def render(self, result: ToolResult) -> Any:
        """One answer, as JSON data."""
        ...

    def render_json(self, result: ToolResult) -> bytes:
        """The same as JSON text, without serialising the output a second time."""
        ...

    def render_all(self, results: Sequence[ToolResult], many: bool) -> Any:
        """The answers to one payload."""
        ...

    def define(self, tool: Tool) -> dict[str, Any]:
        """How the tool is declared."""
        ...


class Answers(ABC):
    """Answers of one object each, for dialects to build on: they say what goes into the object."""

    @abstractmethod
    def answer(self, result: ToolResult, output: Any) -> dict[str, Any]:
        """The object for one result, with the output in this form."""

    def render(self, result: ToolResult) -> dict[str, Any]:
        """The answer with the output as data."""
        return self.answer(result, result.output)

    def render_json(self, result: ToolResult) -> bytes:
        """The answer with the output's text taken over."""
        return orjson.dumps(self.answer(result, orjson.Fragment(result.output_json)))

    def render_all(self, results: Sequence[ToolResult], many: bool) -> Any:
        """A list for a list, an object for an object."""
        rendered = [self.render(result) for result in results]
        return rendered if many else rendered[0]
