"""Services of kinds that connect to other servers: guarded client, circuit breakers, host limits."""

from __future__ import annotations

from dataclasses import dataclass

from pegboard.http_client.address_policy import AllowList
from pegboard.http_client.circuit_breaker import CircuitBreakers
from pegboard.http_client.guarded_client import GuardedClient, Resolver
from pegboard.http_client.host_limits import HostLimiter


@dataclass(frozen=True, slots=True)
class OutboundServices:
    """The board's services for connections to other servers, one object of each."""

    outbound: GuardedClient
    breakers: CircuitBreakers
    hosts: HostLimiter
    max_bytes: int

    @classmethod
    def of(
        cls,
        allow: str,
        *,
        resolver: Resolver | None,
        connect_seconds: float,
        max_bytes: int,
        host_connections: int,
    ) -> OutboundServices:
        """Create the services from these settings; nothing is connected yet."""
        outbound = GuardedClient(AllowList.read(allow), resolver=resolver, connect_seconds=connect_seconds)
        return cls(outbound, CircuitBreakers(), HostLimiter(host_connections), max_bytes)

    async def close(self) -> None:
        """Close all connections."""
        await self.outbound.close()
