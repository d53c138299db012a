"""Shared fixtures for tests of outbound requests."""

from __future__ import annotations

import asyncio
import errno
import socket
from asyncio import selector_events
from ipaddress import ip_address
from typing import Any

import pytest


@pytest.fixture
def dialled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The addresses of connections; those beyond loopback are recorded and never contacted."""
    seen: list[str] = []
    connect = selector_events.BaseSelectorEventLoop.sock_connect

    async def noted(loop: Any, sock: socket.socket, address: Any) -> None:
        seen.append(address[0])
        reached = ip_address(address[0])
        if not (getattr(reached, "ipv4_mapped", None) or reached).is_loopback:
            raise OSError(errno.ENETUNREACH, "Network is unreachable")
        await connect(loop, sock, address)

    monkeypatch.setattr(asyncio.SelectorEventLoop, "sock_connect", noted)
    return seen
