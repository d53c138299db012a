"""What tools that reach out share: the guarded way out, sessions with MCP servers, and who is left alone for now."""

from __future__ import annotations

from dataclasses import dataclass

from pegboard.egress.allow import AllowList
from pegboard.egress.breaker import Breakers
from pegboard.egress.hosts import Hosts
from pegboard.egress.outbound import Outbound, Resolver
from pegboard.executors.mcp.pool import Upstreams


@dataclass(frozen=True, slots=True)
class Reach:
    """The board's ways to other servers, one of each."""

    outbound: Outbound
    breakers: Breakers
    hosts: Hosts
    upstreams: Upstreams
    max_bytes: int

    @classmethod
    def of(
        cls,
        allow: str,
        *,
        resolver: Resolver | None,
        connect_seconds: float,
        max_bytes: int,
        children: int,
        child_memory: int,
        host_connections: int,
    ) -> Reach:
        """The ways out that these settings open; nothing is connected yet."""
        outbound = Outbound(AllowList.read(allow), resolver=resolver, connect_seconds=connect_seconds)
        upstreams = Upstreams(outbound, children=children, child_memory=child_memory, max_bytes=max_bytes)
        return cls(outbound, Breakers(), Hosts(host_connections), upstreams, max_bytes)

    async def close(self) -> None:
        """End every session, child process and connection."""
        await self.upstreams.close()
        await self.outbound.close()
