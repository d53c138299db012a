"""Answers of the board that are JSON Lines."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Any

import httpx

from pegboard.surfaces.cli.api_client import ApiClient, ApiReply


class LinesClient(ApiClient):
    """A client that also reads JSON Lines; `data` of such a reply is the cursor of the next lines."""

    @classmethod
    def of(cls, client: ApiClient) -> LinesClient:
        """The same client, so able."""
        return cls(client._http, client._url, client._key_source)

    async def lines(self, path: str, params: Mapping[str, Any]) -> AsyncIterator[str]:
        """Yield the text of each response until there are no more lines."""
        cursor: str | None = None
        while True:
            reply = await self.get(path, **params, cursor=cursor)
            yield reply.text
            cursor = reply.data
            if cursor is None:
                return

    def _read(self, response: httpx.Response, *, any_status: bool) -> ApiReply:
        kind = response.headers.get("content-type", "").partition(";")[0]
        if response.is_success and kind == "application/x-ndjson" and "x-request-id" in response.headers:
            return ApiReply(response.status_code, response.text, response.headers.get("x-next-cursor"))
        return super()._read(response, any_status=any_status)
