"""http tools: requests from arguments, outputs from responses."""

from __future__ import annotations

from pegboard.kinds.base import Executor, KindSpec, Services
from pegboard.kinds.http.checks import find_url_faults
from pegboard.kinds.http.config import HttpConfig


def _make_executor(services: Services) -> Executor:
    from pegboard.kinds.http.executor import HttpExecutor  # noqa: PLC0415 -- start-up time

    reach = services.reach
    return HttpExecutor(reach.outbound, reach.breakers, reach.hosts, max_response_bytes=reach.max_bytes)


KIND = KindSpec(
    "http",
    HttpConfig,
    _make_executor,
    url_fields=("url",),
    check=find_url_faults,
    purpose="A request to an HTTP API",
    example={
        "name": "find_article",
        "description": "Find an article by its number.",
        "tool_type": "http",
        "config": {"url": "https://api.example.com/articles/{sku}", "method": "GET"},
        "input_schema": {"type": "object", "properties": {"sku": {"type": "string"}}, "required": ["sku"]},
        "read_only": True,
    },
)
