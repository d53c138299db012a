"""Services of kinds that connect to other servers: guarded client, circuit breakers, host limits."""

from __future__ import annotations

from dataclasses import dataclass

from pegboard.http_client.circuit_breaker import CircuitBreakers
from pegboard.http_client.guarded_client import GuardedClient
from pegboard.http_client.host_limits import HostLimiter


@dataclass(frozen=True, slots=True)
class OutboundServices:
    """The board's services for connections to other servers, one object of each."""

    outbound: GuardedClient
    breakers: CircuitBreakers
    hosts: HostLimiter
    max_bytes: int

    async def close(self) -> None:
        """Close all connections."""
        await self.outbound.close()
