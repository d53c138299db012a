"""Server processes that tests kill, freeze and restart, and their clients."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import httpx
import orjson

from tests.crash.server_program import KEY, ServerConfig, gate_of
from tests.fork_server import Forked, fork
from tests.servers import free_port
from tests.waiting import until

STARTING = 30.0


class Served:
    """A server process; after its end it can be started again, as another process at the same address."""

    def __init__(self, url: str, folder: Path, *, home: str = "home", name: str = "one", **more: Any) -> None:
        self.url = url
        self.home = folder / home
        self.effects_file = folder / "effects"
        self.log = folder / f"{name}.log"
        self._config = ServerConfig(url, str(self.home), str(self.effects_file), free_port(), **more)
        self._process: Forked | None = None

    @property
    def address(self) -> str:
        """The URL of the server."""
        return f"http://127.0.0.1:{self._config.port}"

    @property
    def process(self) -> Forked:
        """The process that runs now."""
        assert self._process is not None
        return self._process

    def spools(self, pattern: str = "*.spool") -> list[Path]:
        """Return the spools of all servers that have run."""
        file = self.url.partition("sqlite:///")[2]
        return sorted((Path(f"{file}.spool") if file else self.home / "spool").rglob(pattern))

    async def start(self) -> None:
        """Return once it serves."""
        self.spawn()
        with anyio.fail_after(STARTING):
            output = await anyio.to_thread.run_sync(self.process.stdout.readline, abandon_on_cancel=True)
        assert output == b"ready\n", self.log.read_text()

    def spawn(self) -> None:
        """Begin to start."""
        assert self._process is None
        server_config = orjson.dumps(asdict(self._config)).decode()
        with self.log.open("ab") as log:
            self._process = fork(
                "tests.crash.server_program",
                server_config,
                environment=os.environ,
                stdin=subprocess.PIPE,
                stderr=log.fileno(),
            )

    async def end(self, number: int = signal.SIGKILL) -> int:
        """Send a signal that ends it, and wait for that; what it exits with."""
        if self._process is None:
            return 0
        process, self._process = self._process, None
        process.send_signal(number)
        if number == signal.SIGKILL:
            process.send_signal(signal.SIGCONT)
        with process:
            with anyio.fail_after(STARTING):
                return await anyio.to_thread.run_sync(process.wait, abandon_on_cancel=True)

    async def took_effect(self, *numbers: str) -> None:
        """Return once the calls with these numbers did what they do."""

        async def did() -> bool:
            return set(numbers) <= {n for n, _ in self.effects()}

        await until(did, 30)

    def effects(self) -> list[tuple[str, str]]:
        """Return the effects of its tool: the number of the call, and its run id."""
        if not self.effects_file.exists():
            return []
        lines = self.effects_file.read_text().splitlines()
        return [(n, run_id) for n, run_id in (line.split() for line in lines)]


@asynccontextmanager
async def serving(*servers: Served) -> AsyncIterator[None]:
    """Start the servers in order; kill those that still run at the end."""
    try:
        for server in servers:
            await server.start()
        yield
    finally:
        with anyio.CancelScope(shield=True):
            for server in servers:
                await server.end()


@asynccontextmanager
async def caller(server: Served, *, timeout: float = 30.0) -> AsyncIterator[httpx.AsyncClient]:
    """A client of the server."""
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=100)
    headers = {"Authorization": f"Bearer {KEY}"}
    async with httpx.AsyncClient(
        base_url=server.address, headers=headers, timeout=timeout, limits=limits, trust_env=False
    ) as client:
        yield client


async def call(client: httpx.AsyncClient, tool: str, n: str, key: str | None = None, **more: Any) -> httpx.Response:
    """Make one call and return the response."""
    headers = {"Idempotency-Key": key} if key is not None else {}
    return await client.post(f"/v1/tools/{tool}/call", json={"n": n, **more}, headers=headers)


def succeeded(answer: httpx.Response) -> bool:
    """Whether the caller was informed that all went well."""
    return answer.status_code == 200 and answer.json()["success"] is True


def code_of(answer: httpx.Response) -> str:
    """Return the error code of a response."""
    details = answer.json().get("error_details")
    return str(details["code"]) if details else ""


class Notes:
    """Concurrent calls of the tool with effects, and their results so far."""

    def __init__(self, server: Served, client: httpx.AsyncClient) -> None:
        self._server = server
        self._client = client
        self.answers: dict[str, httpx.Response] = {}

    async def send(self, n: str, key: str | None = None) -> None:
        """Make a call that runs until it is let end, and keep its answer."""
        self.answers[n] = await call(self._client, "note", n, key=key, gated=True)

    async def let_end(self, *numbers: str) -> None:
        """End these processes in order, and wait for their answers."""
        for n in numbers:
            self.open(n)
            await self.are_answered(n)

    def open(self, n: str) -> None:
        """Let one call end."""
        gate_of(self._server.effects_file, n).touch()

    async def run(self, *numbers: str) -> None:
        """Return once these have done what they do; how they end is another matter."""
        await self._server.took_effect(*numbers)

    async def are_answered(self, *numbers: str) -> None:
        """Return once these are."""

        async def answered() -> bool:
            return set(numbers) <= set(self.answers)

        await until(answered, 20)

    async def work(self) -> None:
        """Return as soon as the server accepts calls again."""

        async def well() -> bool:
            return succeeded(await call(self._client, "note", "afterwards"))

        await until(well, 20)

    def executions(self, *numbers: str) -> set[str]:
        """Return the rows of these calls, which were all reported as successful."""
        assert {n: self.answers[n].text for n in numbers if not succeeded(self.answers[n])} == {}
        return {self.answers[n].headers["x-execution-id"] for n in numbers}
