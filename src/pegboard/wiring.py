"""From the settings to the parts of a board, which take plain values and know nothing of settings."""

from __future__ import annotations

from pathlib import Path

from pegboard.egress.outbound import Resolver
from pegboard.executors.confinement import Confinement
from pegboard.executors.reach import Reach
from pegboard.registry.first_run import Started, start
from pegboard.sandbox.limits import Limits
from pegboard.settings import Settings, toml_files, words
from pegboard.stages.limit import Limiter, MemoryLimiter
from pegboard.stages.validate import Validator
from pegboard.store.database import Database
from pegboard.store.vault import Vault


async def started(settings: Settings, database: Database) -> Started:
    """The board's first row, keys and admin, made if they are not there; a board in memory leaves no file."""
    return await start(
        database,
        admin_key=settings.admin_key.get_secret_value() if settings.admin_key else None,
        secret_key=settings.secret_key.get_secret_value() if settings.secret_key else None,
        key_file=None if database.is_memory else settings.key_file,
        credentials=None if database.is_memory else settings.credentials_file,
    )


def reach_of(settings: Settings, resolver: Resolver | None) -> Reach:
    """The ways to other servers."""
    return Reach.of(
        settings.egress_allow,
        resolver=resolver,
        connect_seconds=settings.connect_seconds,
        max_bytes=settings.max_response_bytes,
        children=settings.mcp_children,
        child_memory=settings.mcp_child_memory,
        host_connections=settings.max_host_connections,
    )


def confinement_of(settings: Settings, database: Database, reach: Reach) -> Confinement:
    """What python and shell tools run in."""
    return Confinement.of(
        Limits(settings.sandbox_memory, settings.sandbox_processes, settings.sandbox_disk, settings.sandbox_output),
        children=settings.sandbox_children,
        zygotes=settings.sandbox_zygotes,
        without=words(settings.sandbox_without),
        own=own_places(settings, database),
        libraries=words(settings.python_libraries),
        max_result_bytes=settings.max_result_bytes,
        outbound=reach.outbound,
    )


def own_places(settings: Settings, database: Database) -> tuple[str, ...]:
    """Where a board keeps what no tool may see: its state, its database and the files of its settings and tables."""
    places = [settings.home, *toml_files(), *([settings.tables] if settings.tables is not None else ())]
    if database.file is not None:
        # As a whole: the files beside a database come and go.
        places.append(database.file.parent)
    return tuple(dict.fromkeys(str(Path(place).absolute()) for place in places))


def validator_of(settings: Settings, vault: Vault) -> Validator:
    """What makes calls ready."""
    return Validator(
        digest_key=vault.digest_key(), max_bytes=settings.max_arguments_bytes, max_depth=settings.max_depth
    )


def limiter_of(settings: Settings) -> Limiter:
    """What counts calls."""
    if settings.redis_url is None:
        return MemoryLimiter()
    from pegboard.stages.valkey_limit import ValkeyLimiter  # noqa: PLC0415 -- start-up time: few boards have one

    return ValkeyLimiter(settings.redis_url.get_secret_value())
