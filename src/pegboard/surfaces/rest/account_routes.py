"""Routes of users, keys, agents and secrets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Query

from pegboard.model.accounts import ApiKey, Secret
from pegboard.registry.secret_uses import SecretUse
from pegboard.surfaces.rest.bodies import (
    AgentCreate,
    AgentPage,
    AgentResponse,
    AgentUpdate,
    KeyCreate,
    KeyList,
    KeyResponse,
    MeResponse,
    NewKeyResponse,
    RotationResponse,
    SecretPage,
    SecretPut,
    SecretResponse,
    SecretUseResponse,
    UsedSecretResponse,
    UserCreate,
    UserPage,
    UserResponse,
    UserUpdate,
)
from pegboard.surfaces.rest.routing import (
    Board,
    CurrentCaller,
    Cursor,
    KeyRoute,
    Limit,
    allow,
    allow_admins,
    refuse_agent_keys,
    require_own_agent,
    require_own_user,
)
from pegboard.surfaces.rest.tool_routes import DialectQuery, StrictQuery

users_router = APIRouter(prefix="/v1", tags=["users"], route_class=KeyRoute)
_MAX_LISTED_USES = 100

agents_router = APIRouter(prefix="/v1/agents", tags=["agents"], route_class=KeyRoute)
secrets_router = APIRouter(prefix="/v1/secrets", tags=["secrets"], route_class=KeyRoute)


@users_router.get("/me", operation_id="get_me")
async def get_me(board: Board, caller: CurrentCaller) -> MeResponse:
    """The user and the key of this request."""
    user = await board.people.get_user(caller.user_id, caller)
    agent = board.snapshot.agent(caller.agent_id) if caller.agent_id is not None else None
    return MeResponse(
        user=UserResponse.model_validate(user),
        key_id=caller.key_id,
        agent_id=caller.agent_id,
        agent_name=agent.name if agent is not None else None,
    )


@users_router.get("/users", operation_id="list_users")
@allow_admins("list users")
async def list_users(board: Board, caller: CurrentCaller, limit: Limit = 50, cursor: Cursor = None) -> UserPage:
    """All users; admins only."""
    return UserPage.model_validate(await board.people.users(caller, cursor=cursor, limit=limit))


@users_router.post("/users", operation_id="create_user", status_code=201)
@allow_admins("make users")
async def create_user(body: UserCreate, board: Board, caller: CurrentCaller) -> UserResponse:
    """Create a user; admins only."""
    return UserResponse.model_validate(await board.people.create_user(body.name, body.role, caller))


@users_router.get("/users/{user_id}", operation_id="get_user")
async def get_user(user_id: str, board: Board, caller: CurrentCaller) -> UserResponse:
    """One user."""
    return UserResponse.model_validate(await board.people.get_user(user_id, caller))


@users_router.patch("/users/{user_id}", operation_id="update_user")
@allow_admins("change users")
async def update_user(user_id: str, body: UserUpdate, board: Board, caller: CurrentCaller) -> UserResponse:
    """Rename a user or change their role, which applies to all their keys at once; admins only.

    The status is 409 for the last admin who has a valid key, for the board's own admin, and if `updated_at` is stale.
    """
    user = await board.people.update_user(user_id, caller, name=body.name, role=body.role, read_at=body.updated_at)
    return UserResponse.model_validate(user)


@users_router.delete("/users/{user_id}", operation_id="remove_user", status_code=204)
@allow_admins("remove users")
async def remove_user(user_id: str, board: Board, caller: CurrentCaller) -> None:
    """Remove a user; all their keys become invalid at once."""
    await board.people.remove_user(user_id, caller)


@users_router.get("/users/{user_id}/keys", operation_id="list_keys")
@allow(require_own_user)
async def list_keys(user_id: str, board: Board, caller: CurrentCaller) -> KeyList:
    """A user's keys."""
    return KeyList(items=[_build_key_response(board, key) for key in await board.people.keys(user_id, caller)])


@users_router.post("/users/{user_id}/keys", operation_id="create_key", status_code=201)
@allow(require_own_user)
async def create_key(user_id: str, body: KeyCreate, board: Board, caller: CurrentCaller) -> NewKeyResponse:
    """Create a key. This is the only response that contains it."""
    new = await board.people.create_key(
        user_id, caller, name=body.name, agent_id=body.agent_id, expires_at=body.expires_at
    )
    return NewKeyResponse(**_build_key_response(board, new.row).model_dump(), key=new.key)


@users_router.delete("/users/{user_id}/keys/{key_id}", operation_id="revoke_key", status_code=204)
@allow(require_own_user)
async def revoke_key(
    user_id: str,
    key_id: str,
    board: Board,
    caller: CurrentCaller,
    force: Annotated[
        bool, Query(description="Revoke it even if it is the key of this request, or the last one of an admin")
    ] = False,
) -> None:
    """Revoke a key; it becomes invalid at once. The key of this request and the last one of an admin need `force`."""
    await board.people.revoke_key(user_id, key_id, caller, force=force)


@agents_router.get("", operation_id="list_agents")
@allow(refuse_agent_keys)
async def list_agents(board: Board, caller: CurrentCaller, limit: Limit = 50, cursor: Cursor = None) -> AgentPage:
    """The caller's agents, or all agents for an admin."""
    return AgentPage.model_validate(await board.people.agents(caller, cursor=cursor, limit=limit))


@agents_router.post("", operation_id="create_agent", status_code=201)
@allow(refuse_agent_keys)
async def create_agent(body: AgentCreate, board: Board, caller: CurrentCaller) -> AgentResponse:
    """Create an agent with its tools."""
    agent = await board.people.create_agent(body.name, body.tools, caller, body.description)
    return AgentResponse.model_validate(agent)


@agents_router.get("/{agent_id}", operation_id="get_agent")
async def get_agent(agent_id: str, board: Board, caller: CurrentCaller) -> AgentResponse:
    """One agent."""
    return AgentResponse.model_validate(board.people.get_agent(agent_id, caller))


@agents_router.patch("/{agent_id}", operation_id="update_agent")
@allow(require_own_agent)
async def update_agent(agent_id: str, body: AgentUpdate, board: Board, caller: CurrentCaller) -> AgentResponse:
    """Update an agent; absent fields stay, a description of null is cleared."""
    given = body.model_dump(include={"description"}, exclude_unset=True)
    agent = await board.people.update_agent(agent_id, caller, name=body.name, refs=body.tools, **given)
    return AgentResponse.model_validate(agent)


@agents_router.delete("/{agent_id}", operation_id="remove_agent", status_code=204)
@allow(require_own_agent)
async def remove_agent(agent_id: str, board: Board, caller: CurrentCaller) -> None:
    """Remove an agent; keys that are bound to it become invalid."""
    await board.people.remove_agent(agent_id, caller)


@agents_router.get("/{agent_id}/definitions", operation_id="list_agent_definitions")
async def list_agent_definitions(
    agent_id: str, board: Board, caller: CurrentCaller, shape: DialectQuery = "plain", strict: StrictQuery = False
) -> Any:
    """The definitions of the agent's tools for a provider, as a key of the agent gets them."""
    agent = board.people.get_agent(agent_id, caller)
    dialect = board.dialects.named(shape, "as")
    return dialect.declare([item.tool for item in board.snapshot.list_agent_tools(agent.id)], strict=strict)


@secrets_router.get("", operation_id="list_secrets")
@allow(refuse_agent_keys)
async def list_secrets(board: Board, caller: CurrentCaller, limit: Limit = 50, cursor: Cursor = None) -> SecretPage:
    """The caller's secrets, without their values, each with the tools and imported MCP servers that refer to it."""
    page = await board.secrets.page(caller, cursor=cursor, limit=limit)
    uses = await board.secrets.find_uses(caller) if page.items else {}
    items = [_build_secret_response(secret, uses.get(secret.name, [])) for secret in page.items]
    return SecretPage(items=items, next_cursor=page.next_cursor)


@secrets_router.put("/{name}", operation_id="put_secret")
@allow(refuse_agent_keys)
async def put_secret(name: str, body: SecretPut, board: Board, caller: CurrentCaller) -> SecretResponse:
    """Set a secret; tools refer to it as {{secret:NAME}}."""
    return SecretResponse.model_validate(await board.secrets.put(name, body.value, caller))


@secrets_router.delete("/{name}", operation_id="remove_secret", status_code=204)
@allow(refuse_agent_keys)
async def remove_secret(name: str, board: Board, caller: CurrentCaller) -> None:
    """Remove a secret and its value."""
    await board.secrets.remove(name, caller)


@secrets_router.post("/rotate", operation_id="rotate_secrets")
@allow_admins("rotate keys")
async def rotate_secrets(
    board: Board,
    caller: CurrentCaller,
    force: Annotated[bool, Query(description="Drop the old key even if some values cannot be decrypted")] = False,
) -> RotationResponse:
    """Encrypt every credential again with a new key; admins only. Run it again if it was interrupted."""
    return RotationResponse.model_validate(await board.rotate_secrets(force=force))


def _build_key_response(board: Board, key: ApiKey) -> KeyResponse:
    shown = KeyResponse.model_validate(key)
    return shown.model_copy(update={"created_by_name": board.people.find_creator(key)})


def _build_secret_response(secret: Secret, uses: Sequence[SecretUse]) -> UsedSecretResponse:
    return UsedSecretResponse(
        name=secret.name,
        created_at=secret.created_at,
        updated_at=secret.updated_at,
        used_by=[SecretUseResponse.model_validate(use) for use in uses[:_MAX_LISTED_USES]],
        uses=len(uses),
    )
