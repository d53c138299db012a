"""The stream of changes of resources, in the newer revision. Importing this loads the SDK."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from typing import NamedTuple

from mcp import Client
from mcp.client.subscriptions import Subscription, SubscriptionLost


class ResourceStream(NamedTuple):
    """The URIs that the server has accepted, and a task that is done when the stream has ended."""

    accepted: frozenset[str]
    task: asyncio.Task[None]


@asynccontextmanager
async def open_resource_stream(client: Client, uris: Sequence[str]) -> AsyncIterator[ResourceStream]:
    """Subscribe to these resources; their changes arrive as notifications of the session."""
    async with client.listen(resource_subscriptions=uris) as changes:
        task = asyncio.create_task(_read_all(changes), name="pegboard-mcp-resource-stream")
        try:
            yield ResourceStream(frozenset(changes.honored.resource_subscriptions or ()), task)
        finally:
            task.cancel()
            await asyncio.wait({task})


async def _read_all(changes: Subscription) -> None:
    with suppress(SubscriptionLost):
        async for _ in changes:
            pass
