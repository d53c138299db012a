"""Services of kinds that connect to other servers: guarded client, MCP sessions, circuit breakers, host limits."""

from __future__ import annotations

from dataclasses import dataclass

from pegboard.http_client.address_policy import AllowList
from pegboard.http_client.circuit_breaker import CircuitBreakers
from pegboard.http_client.guarded_client import GuardedClient, Resolver
from pegboard.http_client.host_limits import HostLimiter
from pegboard.kinds.mcp.session_pool import McpSessionPool


@dataclass(frozen=True, slots=True)
class OutboundServices:
    """The board's services for connections to other servers, one object of each."""

    outbound: GuardedClient
    breakers: CircuitBreakers
    hosts: HostLimiter
    upstreams: McpSessionPool
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
        mcp_connect_seconds: float,
        host_connections: int,
    ) -> OutboundServices:
        """Create the services from these settings; nothing is connected yet."""
        outbound = GuardedClient(AllowList.read(allow), resolver=resolver, connect_seconds=connect_seconds)
        upstreams = McpSessionPool(
            outbound,
            children=children,
            child_memory=child_memory,
            max_bytes=max_bytes,
            connect_seconds=mcp_connect_seconds,
        )
        return cls(outbound, CircuitBreakers(), HostLimiter(host_connections), upstreams, max_bytes)

    async def close(self) -> None:
        """Close all sessions, child processes and connections."""
        await self.upstreams.close()
        await self.outbound.close()
