"""The route that lists how clients, frameworks and SDKs connect to this server."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request
from pydantic import AfterValidator, Field

from pegboard.settings import check_public_url
from pegboard.surfaces.clients.client_config import build_mcp_path, list_agent_loops, list_client_configs
from pegboard.surfaces.rest.bodies import ResponseBody
from pegboard.surfaces.rest.routing import Board, CurrentCaller, KeyRoute

router = APIRouter(prefix="/v1/connect", tags=["server"], route_class=KeyRoute)

ServerAddress = Annotated[str, Field(max_length=2000), AfterValidator(check_public_url)]


class ClientConfigResponse(ResponseBody):
    """The text that connects one client; it never contains a key."""

    name: str
    title: str
    transport: Literal["http", "stdio"] = Field(
        description="`http`: it connects to this server; `stdio`: it starts `pegboard mcp`, which relays to this server"
    )
    language: Literal["json", "toml", "python", "shell"]
    config: str
    notes: list[str] = Field(description="Where the text belongs, how the client gets the key, and its limits")


class ConnectResponse(ResponseBody):
    """How clients connect to this server."""

    address: str = Field(description="The address of this server in the texts, without a slash at its end")
    mcp_url: str = Field(description="The address of its MCP endpoint, of the agent if one was named")
    clients: list[ClientConfigResponse] = Field(description="MCP clients and frameworks, by transport")
    loops: list[ClientConfigResponse] = Field(description="Scripts that hand the calls of a model to this server")


@router.get("", operation_id="list_client_configs")
async def list_configs(
    request: Request,
    board: Board,
    caller: CurrentCaller,
    agent: Annotated[str | None, Query(description="Only the tools of this agent, by name or id")] = None,
    address: Annotated[
        ServerAddress | None,
        Query(description="The address of this server, if it is neither PEGBOARD_PUBLIC_URL nor that of the request"),
    ] = None,
) -> ConnectResponse:
    """The configuration of each MCP client and framework for this server, and agent loops with SDKs of providers."""
    found = None if agent is None else board.people.find_agent(agent, caller)
    chosen = address or board.settings.public_url or str(request.base_url).rstrip("/")
    return ConnectResponse.model_validate(
        {
            "address": chosen,
            "mcp_url": chosen + build_mcp_path(agent),
            "clients": list(list_client_configs(chosen, agent)),
            "loops": list(list_agent_loops(chosen, None if found is None else found.id)),
        }
    )
