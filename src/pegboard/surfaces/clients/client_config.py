"""What a person needs to connect a client: its configuration, where that belongs, and how the client gets the key."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import quote

from pegboard.surfaces.clients.agent_loops import AGENT_LOOPS
from pegboard.surfaces.clients.mcp_client_formats import (
    KEY_PLACEHOLDER,
    KEY_VARIABLE,
    MCP_CLIENTS,
    McpClientFormat,
    McpTarget,
    McpTransport,
    TextLanguage,
)

# The command that relays to a server, on the machine of the client.
RELAY_COMMAND = "pegboard"
CREATE_KEY_HINT = "create a key with: pegboard keys create"


@dataclass(frozen=True, slots=True)
class ClientConfig:
    """The text for one client over one transport, and what a person has to do with it."""

    name: str
    title: str
    transport: McpTransport
    language: TextLanguage
    config: str
    notes: list[str]


def build_mcp_path(agent: str | None) -> str:
    """Return the path of the MCP endpoint, of an agent by its name or id if there is one."""
    return "/mcp" if agent is None else f"/agents/{quote(agent, safe='')}/mcp"


def describe_server_key(form: McpClientFormat, target: McpTarget) -> list[str]:
    """Return what a person has to do so that the client sends a key to a server."""
    if form.key_source == "prompt":
        return [f"{form.title} asks for the key when it starts the server; {CREATE_KEY_HINT}"]
    if form.key_source == "variable":
        return [f"Set {KEY_VARIABLE} in the environment of the client; {CREATE_KEY_HINT}"]
    if target.url is None:
        return [
            f"The command reads the key from the file credentials in PEGBOARD_HOME. {form.title} cannot refer to a "
            f"variable: for another key, add {KEY_VARIABLE} to env, in plaintext."
        ]
    return [
        f"Replace {KEY_PLACEHOLDER}; {CREATE_KEY_HINT}",
        f"{form.title} cannot refer to a variable. To keep the key out of its settings, use --transport stdio.",
    ]


def list_client_configs(address: str, agent: str | None) -> Iterator[ClientConfig]:
    """Yield what each MCP client needs to use the tools of the server at this address, by client and transport."""
    for name, form in MCP_CLIENTS.items():
        for transport in form.transports:
            target = _build_target(address, agent, transport)
            notes = [f"{form.place}.", *describe_server_key(form, target), *(f"{limit}." for limit in form.limits)]
            yield ClientConfig(name, form.title, transport, form.language, form.render(target), notes)


def list_agent_loops(address: str, agent_id: str | None) -> Iterator[ClientConfig]:
    """Yield a script for each SDK of a provider that hands the calls of a model to the server at this address."""
    for name, loop in AGENT_LOOPS.items():
        key = f"Set {KEY_VARIABLE}; {CREATE_KEY_HINT}"
        yield ClientConfig(name, loop.title, "http", "python", loop.render(address, agent_id), [f"{loop.place}.", key])


def _build_target(address: str, agent: str | None, transport: McpTransport) -> McpTarget:
    if transport == "http":
        return McpTarget(url=address + build_mcp_path(agent))
    args = ("mcp", "--url", address, *(() if agent is None else ("--agent", agent)))
    return McpTarget(command=RELAY_COMMAND, args=args, needs_key=True)
