"""A server for tests that kill it: the board over HTTP like `pegboard serve`, with a tool whose effects are durable.

Run it with one argument, the JSON of a ServerConfig; it prints "ready" when it serves, and ends when its stdin does.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import orjson

from pegboard import CallContext, Pegboard
from pegboard.journal import commit_queue
from pegboard.journal.postgresql_backend import PostgresqlBackend
from pegboard.journal.writer_locks import ObservedLeases
from pegboard.storage.database import SQLITE_PRAGMAS, Database
from pegboard.surfaces.rest.server import bind_socket, serve_forever
from pegboard.telemetry.logs import configure_logs
from pegboard.testing import NoSettings

KEY = "a-key-for-tests-0123456789"
NUMBERED = {
    "type": "object",
    "properties": {"n": {"type": "string"}, "seconds": {"type": "number"}, "gated": {"type": "boolean"}},
    "required": ["n"],
}
TOOLS = (
    {
        "name": "note",
        "tool_type": "internal",
        "config": {"handler": "note"},
        "input_schema": NUMBERED,
        "keep_arguments": True,
        "timeout": 20,
    },
    {
        "name": "say",
        "tool_type": "mock",
        "config": {"mock_response": "said"},
        "input_schema": NUMBERED,
        "keep_arguments": True,
    },
)


@dataclass(frozen=True)
class ServerConfig:
    """The configuration of a server."""

    url: str
    home: str
    effects: str
    port: int
    # Seconds; None is the journal's default.
    patience: float | None = None
    grace: float = 1.0
    tend: float = 0.1
    drain: float = 5.0


def hurry(server_config: ServerConfig) -> None:
    """Make the journal lose its patience sooner than a server in the world should."""
    if server_config.patience is None:
        return
    pragmas = (*SQLITE_PRAGMAS, f"busy_timeout = {int(server_config.patience * 1000)}")
    patch.object(Database, "create", partial(Database.create, pragmas=pragmas)).start()
    vars(commit_queue).update(MAINTENANCE_SECONDS=server_config.tend, RETRY_AFTER_MS=100)
    shorter = (
        (commit_queue.DatabaseJournal, "patience", server_config.patience),
        (PostgresqlBackend, "patience", server_config.patience),
        (ObservedLeases, "grace", server_config.grace),
    )
    for made, name, seconds in shorter:
        defaults = made.__init__.__kwdefaults__
        assert defaults is not None
        assert name in defaults
        defaults[name] = seconds


def gate_of(effects: Path, n: str) -> Path:
    """Return the file that, when it exists, lets the call with this number end."""
    return effects.with_name(f"gate-{n}")


def make_handler(effects: Path) -> Callable[..., Awaitable[str]]:
    """Return the handler: its effect is durable at once; then it takes a while, or waits until its gate is opened."""
    descriptor = os.open(effects, os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    async def note(n: str, context: CallContext, seconds: float = 0.0, gated: bool = False) -> str:
        os.write(descriptor, f"{n} {context.run_id}\n".encode())
        await asyncio.sleep(seconds)
        while gated and not gate_of(effects, n).exists():  # noqa: ASYNC110 -- another process opens it
            await asyncio.sleep(0.01)
        return n

    return note


def _end_with_our_parent() -> None:
    sys.stdin.read()
    os._exit(3)


def main(received: str) -> None:
    """Serve until instructed to stop."""
    server_config = ServerConfig(**orjson.loads(received))
    threading.Thread(target=_end_with_our_parent, daemon=True).start()
    configure_logs("warning", "json")
    hurry(server_config)
    settings = NoSettings(
        home=Path(server_config.home),
        database_url=server_config.url,
        admin_key=KEY,
        drain_seconds=server_config.drain,
    )

    async def on_open(opened: Pegboard) -> None:
        opened.handler("note")(make_handler(Path(server_config.effects)))
        for definition in TOOLS:
            if opened.snapshot.find(str(definition["name"])) is None:
                await opened.add(definition)

    def ready() -> None:
        sys.stdout.write("ready\n")
        sys.stdout.flush()

    bound: Any = bind_socket("127.0.0.1", server_config.port)
    with bound:
        serve_forever(settings, "test", bound, on_open=on_open, ready=ready)


if __name__ == "__main__":
    main(sys.argv[1])
