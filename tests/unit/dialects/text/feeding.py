"""Parse texts at once and in chunks, for dialects that have their calls between marks."""

from __future__ import annotations

from typing import Any

from pegboard import Problem, ToolResult
from pegboard.dialects.base import Answer, Dialect
from pegboard.dialects.call_assembler import Assembly
from pegboard.dialects.parsed_calls import AskedCall
from pegboard.dialects.text.base_text import TextDialect
from pegboard.dialects.text.cohere_text import CohereR7B
from pegboard.dialects.text.gemma import Gemma4
from pegboard.dialects.text.harmony import Harmony
from pegboard.dialects.text.llama import Llama31
from pegboard.dialects.text.marked_calls import DeepSeekR1, DeepSeekV31, Functionary31, KimiK2
from pegboard.dialects.text.mistral_text import MistralNemo, MistralSmall32
from pegboard.dialects.text.pythonic import Lfm25Pythonic
from pegboard.model.call_errors import ErrorType

MARKED: list[TextDialect] = [
    DeepSeekR1(),
    DeepSeekV31(),
    MistralNemo(),
    MistralSmall32(),
    CohereR7B(),
    Functionary31(),
    Gemma4(),
    Harmony(),
    KimiK2(),
    Lfm25Pythonic(),
    Llama31(),
]


def calls_of(dialect: Dialect, *pieces: Any) -> list[AskedCall]:
    """Return the calls of a text that arrives in these chunks."""
    into = Assembly(lambda _name: None)
    for piece in pieces:
        dialect.read(piece, into)
    dialect.finish(into)
    return into.calls()


def list_valid_calls(dialect: Dialect, *pieces: Any) -> list[tuple[str, Any]]:
    """Names and arguments of the calls that may run."""
    return [(call.name, call.arguments) for call in calls_of(dialect, *pieces) if not call.is_malformed]


def list_malformed_calls(dialect: Dialect, *pieces: Any) -> list[tuple[str, str]]:
    """Names and the texts of the arguments of the calls that may not."""
    return [(call.name, call.arguments.text) for call in calls_of(dialect, *pieces) if call.is_malformed]


def in_pieces(text: str, size: int) -> list[str]:
    """The text cut up."""
    return [text[place : place + size] for place in range(0, len(text), size)]


def render_success(dialect: Dialect, times: int = 1, id: str = "") -> str:
    """Return what the model receives about one or several calls that succeeded."""
    result = ToolResult("get_weather", True, '{"temp_c": 7.5, "sky": "bewölkt"}'.encode(), run_id="r-1")
    answer = Answer(AskedCall("get_weather", {}, id), result)
    return str(dialect.render([answer] * times, many=times > 1))


def failed(dialect: Dialect, id: str = "") -> str:
    """Return what the model receives about a call that failed."""
    problem = Problem(ErrorType.UNKNOWN, "failed", 'It said "no"', False)
    answer = Answer(AskedCall("get_weather", {}, id), ToolResult("get_weather", False, problem=problem))
    return str(dialect.render([answer], many=False))
