"""Tools that are Python functions of the server process, and chains."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from pegboard.json_schema.value_text import shorten
from pegboard.kinds.base import Executor, KindSpec, Registration, RegistrationRules
from pegboard.kinds.chain.plan import find_chain_faults
from pegboard.kinds.internal.config import InternalConfig
from pegboard.model.api_errors import Fault
from pegboard.model.call import Caller
from pegboard.model.chain import CHAIN_HANDLER, get_chain_timeout
from pegboard.model.tool import Tool

if TYPE_CHECKING:
    from pegboard.kinds.internal.executor import InternalExecutor

# How many names an error message lists.
_MAX_LISTED_NAMES = 20


class _Services(Protocol):
    @property
    def internal(self) -> InternalExecutor: ...


def _check(registration: Registration) -> list[Fault]:
    config: InternalConfig = registration.config
    return [] if config.chain is None else find_chain_faults(config.chain, "config.chain.")


def _may_register(tool: Tool, caller: Caller, rules: RegistrationRules) -> str | None:
    """Return why the tool of a member cannot name its handler, or None."""
    name = str(tool.config.get("handler"))
    if name == CHAIN_HANDLER or (caller.is_admin and tool.owner_id == caller.user_id):
        return None
    if rules.may_use_handler(tool.owner_id, name):
        return None
    return (
        f"A member's tool cannot name the handler '{shorten(name)}'. Handlers for members: "
        f"{', '.join(rules.list_member_handlers()[:_MAX_LISTED_NAMES]) or 'none'}. The program that runs the board "
        "marks them with @board.handler(NAME, for_members=True)"
    )


def _list_tool_names(config: Mapping[str, Any]) -> Iterator[str]:
    for step in (config.get("chain") or {}).get("steps", ()):
        yield step["tool"]


def _get_executor(services: _Services) -> Executor:
    """Return the executor that the board has already: the functions of its process are registered there."""
    return services.internal


KIND = KindSpec(
    "internal",
    InternalConfig,
    _get_executor,
    check=_check,
    may_register=_may_register,
    get_timeout=lambda config: get_chain_timeout(config.get(CHAIN_HANDLER)),
    list_tool_names=_list_tool_names,
    purpose="A function of the process that runs the board, or a saved chain of calls",
    example={
        "name": "echo_twice",
        "description": "Repeat a text, and the repetition.",
        "tool_type": "internal",
        "config": {
            "handler": CHAIN_HANDLER,
            "chain": {
                "steps": [
                    {"id": "first", "tool": "echo", "arguments": {"text": "{{input.text}}"}},
                    {"id": "second", "tool": "echo", "arguments": {"text": "{{steps.first.output.echo.text}}"}},
                ]
            },
        },
        "input_schema": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
    },
    restriction="Tools of members may name the handler chain, and handlers that the program offers to members",
)
