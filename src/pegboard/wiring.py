"""Builds the components of a board from the settings; the components take plain values and do not import settings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from pegboard.http_client.address_policy import AllowList
from pegboard.http_client.circuit_breaker import CircuitBreakers
from pegboard.http_client.guarded_client import GuardedClient, Resolver
from pegboard.http_client.host_limits import HostLimiter
from pegboard.kinds.confined_call import ConfinedServices
from pegboard.kinds.internal.executor import InternalExecutor
from pegboard.kinds.libraries import Libraries
from pegboard.kinds.mcp.session_pool import McpSessionPool
from pegboard.kinds.mcp.upstream import UpstreamTool
from pegboard.kinds.table.sources import TableSources
from pegboard.kinds.upstream_limits import OutboundServices
from pegboard.model.tool import Tool
from pegboard.registry.account_macs import AccountSigner
from pegboard.registry.accounts_service import AccountsService
from pegboard.registry.first_start import StartedBoard, start_board
from pegboard.registry.sessions import Sessions
from pegboard.registry.snapshot import Snapshot
from pegboard.sandbox.limits import SandboxLimits
from pegboard.sandbox.sandbox import Sandbox
from pegboard.settings import Settings, list_toml_files, split_comma_list
from pegboard.stages.rate_limit import Limiter, MemoryLimiter
from pegboard.stages.validate_arguments import ArgumentValidator
from pegboard.storage.database import Database
from pegboard.storage.vault import Vault


@dataclass(frozen=True, slots=True)
class ExecutorServices:
    """The services that a board passes to its executors."""

    reach: OutboundServices
    confinement: ConfinedServices
    internal: InternalExecutor
    upstreams: McpSessionPool
    on_drift: Callable[[Tool, UpstreamTool | None], None]
    sources: TableSources


async def run_first_start(settings: Settings, database: Database) -> StartedBoard:
    """Create the board's first row, keys and admin if they are missing; a board in memory writes no file."""
    return await start_board(
        database,
        admin_key=settings.admin_key.get_secret_value() if settings.admin_key else None,
        secret_key=settings.secret_key.get_secret_value() if settings.secret_key else None,
        key_file=None if database.is_memory else settings.key_file,
        credentials=None if database.is_memory else settings.credentials_file,
    )


def create_outbound_services(settings: Settings, resolver: Resolver | None) -> OutboundServices:
    """Return the HTTP client that tools use to reach other servers."""
    allowed = AllowList.read(settings.egress_allow)
    outbound = GuardedClient(allowed, connect_seconds=settings.connect_seconds, resolver=resolver)
    hosts = HostLimiter(settings.max_host_connections)
    return OutboundServices(outbound, CircuitBreakers(), hosts, settings.max_response_bytes)


def create_mcp_sessions(settings: Settings, outbound: GuardedClient) -> McpSessionPool:
    """Return the sessions with MCP servers; nothing is connected yet."""
    return McpSessionPool(
        outbound,
        children=settings.mcp_children,
        child_memory=settings.mcp_child_memory,
        max_bytes=settings.max_response_bytes,
        connect_seconds=settings.mcp_connect_seconds,
    )


def create_confinement(settings: Settings, database: Database, reach: OutboundServices) -> ConfinedServices:
    """Return the sandbox services that python and shell tools run in."""
    without = split_comma_list(settings.sandbox_without)
    own = list_private_paths(settings, database)
    sandbox = Sandbox(
        SandboxLimits(
            settings.sandbox_memory, settings.sandbox_processes, settings.sandbox_disk, settings.sandbox_output
        ),
        children=settings.sandbox_children,
        zygotes=settings.sandbox_zygotes,
        without=without,
        masked=own,
        outbound=reach.outbound,
    )
    libraries = Libraries(split_comma_list(settings.python_libraries))
    return ConfinedServices(sandbox, libraries, own, without, settings.max_result_bytes)


def list_private_paths(settings: Settings, database: Database) -> tuple[str, ...]:
    """Return the paths that no tool may see: state, database, and the settings and tables files."""
    places = [settings.home, *list_toml_files(), *([settings.tables] if settings.tables is not None else ())]
    if database.file is not None:
        # The whole folder: SQLite creates and removes files next to the database.
        places.append(database.file.parent)
    return tuple(dict.fromkeys(str(Path(place).absolute()) for place in places))


def create_accounts(
    settings: Settings, database: Database, snapshot: Snapshot, signer: AccountSigner
) -> tuple[AccountsService, Sessions]:
    """Return the services for users, keys and agents, and for sessions of the web console."""
    return AccountsService(database, snapshot, signer), Sessions(database, snapshot, signer, settings.session_seconds)


def create_validator(settings: Settings, vault: Vault) -> ArgumentValidator:
    """Return the validator for arguments."""
    return ArgumentValidator(
        digest_key=vault.digest_key(), max_bytes=settings.max_arguments_bytes, max_depth=settings.max_depth
    )


def create_limiter(settings: Settings) -> Limiter:
    """Return the rate limiter: in Valkey if `redis_url` is set, otherwise in memory."""
    if settings.redis_url is None:
        return MemoryLimiter()
    from pegboard.stages.valkey_rate_limit import ValkeyLimiter  # noqa: PLC0415 -- start-up time: few boards have one

    return ValkeyLimiter(settings.redis_url.get_secret_value())
