"""The route that checks the caller's tools against the rules of providers."""

from __future__ import annotations

import asyncio
from typing import Annotated, Literal

from fastapi import APIRouter, Query

from pegboard.dialects.base import Dialect
from pegboard.dialects.definition_lint import TOKENIZER_NOTE, lint_definitions
from pegboard.model.api_errors import Fault, Invalid
from pegboard.surfaces.rest.bodies import ResponseBody
from pegboard.surfaces.rest.route_parameters import Board, CurrentCaller
from pegboard.surfaces.rest.routing import KeyRoute

router = APIRouter(prefix="/v1", tags=["tools"], route_class=KeyRoute)

# The dialects of the most common providers.
DEFAULT_PROVIDERS = (
    "openai_chat",
    "anthropic_messages",
    "gemini_generate_content",
    "bedrock_converse",
    "mistral",
    "cohere_v2",
    "mcp",
)


class LintFinding(ResponseBody):
    """One thing to know before a provider is handed a definition, with the way out."""

    severity: Literal["refuse", "misread", "note"]
    field: str
    message: str


class LintedTool(ResponseBody):
    """One tool as a provider is handed it."""

    tool: str
    name: str
    tokens: int
    findings: list[LintFinding]


class LintedProvider(ResponseBody):
    """The tools that a provider is handed together."""

    dialect: str
    tokens: int
    findings: list[LintFinding]
    tools: list[LintedTool]


class LintResponse(ResponseBody):
    """What each provider would refuse or misread, and how tokens were counted."""

    counted: str
    providers: list[LintedProvider]


@router.get("/lint", operation_id="lint_tools")
async def lint_tools(
    board: Board,
    caller: CurrentCaller,
    shapes: Annotated[
        list[str] | None, Query(alias="for", description="A provider's dialect; the main ones if absent")
    ] = None,
    names: Annotated[
        list[str] | None, Query(alias="tool", description="A tool by name or id; those of /v1/definitions if absent")
    ] = None,
) -> LintResponse:
    """What a provider would refuse or misread in the tools it is handed, and what they cost in tokens."""
    spoken = (
        DEFAULT_PROVIDERS
        if shapes is None
        else list(dict.fromkeys(_require_define(board.dialects.named(shape, "for")).name for shape in shapes))
    )
    if names is None:
        tools = [peg.tool for peg in board.snapshot.list_offered_tools(caller)]
    else:
        found = [await board.tools.get(name, caller) for name in names]
        tools = list({tool.id: tool for tool in found}.values())
    # One OS thread call per provider, so that other tasks run in between, however many tools there are.
    linted = [await asyncio.to_thread(lint_definitions, tools, board.dialects[name]) for name in spoken]
    return LintResponse(counted=TOKENIZER_NOTE, providers=[LintedProvider.model_validate(each) for each in linted])


def _require_define(dialect: Dialect) -> Dialect:
    if "define" not in dialect.abilities:
        raise Invalid.of("There is nothing to check", [Fault("for", f"'{dialect.name}' declares no tools")])
    return dialect
