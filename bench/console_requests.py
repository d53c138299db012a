"""The time of each request that a page of the web console makes, on a board with a full journal."""

from __future__ import annotations

import time
from datetime import datetime, timedelta
from typing import Any

import httpx

from bench.harness import median

# Names and ids as `bench.journal` makes them.
_TOOL, _TOOL_ID = "tool_3", f"00000000-0000-7000-9000-{3:012}"
_USER_ID = f"00000000-0000-7000-8000-{7:012}"
_RARE_ID = f"00000000-0000-7000-8000-{99:012}"


async def time_requests(port: int, key: str, now: datetime, rounds: int) -> list[tuple[str, float]]:
    """Return the median time of each request in milliseconds, slowest first."""
    async with httpx.AsyncClient(
        base_url=f"http://127.0.0.1:{port}", headers={"Authorization": f"Bearer {key}"}, timeout=60, trust_env=False
    ) as client:
        found: list[tuple[str, float]] = []
        for name, (path, query) in _list_requests(now).items():
            found.append((name, median([await _time(client, path, query) for _ in range(rounds)])))
        newest = (await client.get("/v1/executions", params={"limit": 1})).json()["items"][0]["id"]
        for part in ("", "/proof"):
            times = [await _time(client, f"/v1/executions/{newest}{part}", {}) for _ in range(rounds)]
            found.append((f"a row{part}", median(times)))
    return sorted(found, key=lambda each: -each[1])


def _list_requests(now: datetime) -> dict[str, tuple[str, dict[str, Any]]]:
    def ago(**span: float) -> str:
        return (now - timedelta(**span)).isoformat()

    filters: dict[str, dict[str, Any]] = {
        "all": {},
        "tool": {"tool": _TOOL},
        "tool id": {"tool": _TOOL_ID},
        "failed": {"status": "failed"},
        "succeeded": {"status": "succeeded"},
        "in doubt": {"status": "in_doubt"},
        "code": {"code": "timeout"},
        "caller": {"caller": _USER_ID},
        "tool, failed": {"tool": _TOOL, "status": "failed"},
        "since an hour": {"since": ago(hours=1)},
        "until 20 days ago": {"until": ago(days=20)},
        "surface, of which there is none": {"surface": "console"},
        "kind": {"kind": "http"},
        "kind, of which there is none": {"kind": "python"},
        "dialect, of which there is none": {"dialect": "openai"},
        "duration over 1 s": {"min_ms": 1000},
        "agent, of which there is none": {"agent": _RARE_ID},
        "thread, of which there is none": {"thread": _RARE_ID},
        "chain, of which there is none": {"chain": _RARE_ID},
        "request id": {"request_id": f"request-{7:032}"},
    }
    statistics: dict[str, dict[str, Any]] = {
        "hour": {"since": ago(hours=1), "by": "hour"},
        "day": {"since": ago(days=1), "by": "hour"},
        "week": {"since": ago(days=7), "by": "day"},
        "30 days": {"since": ago(days=30), "by": "day"},
        "day, a tool": {"since": ago(days=1), "by": "hour", "tool": _TOOL},
        "sparklines": {"by": "hour", "compact": "true", "tool": [f"tool_{number}" for number in range(50)]},
    }
    return {
        **{f"executions: {name}": ("/v1/executions", {**query, "limit": 100}) for name, query in filters.items()},
        **{f"statistics: {name}": ("/v1/executions/statistics", query) for name, query in statistics.items()},
        "tools": ("/v1/tools", {"view": "summary", "limit": 100, "count": "true"}),
        "search": ("/v1/search", {"q": "tool"}),
        "running calls": ("/v1/calls", {}),
        "MCP servers": ("/v1/upstreams", {}),
        "agents": ("/v1/agents", {}),
        "threads": ("/v1/threads", {}),
        "board": ("/v1/board", {}),
        "verification": ("/v1/executions/verification", {}),
    }


async def _time(client: httpx.AsyncClient, path: str, query: dict[str, Any]) -> float:
    begun = time.perf_counter()
    response = await client.get(path, params=query)
    took = (time.perf_counter() - begun) * 1000
    response.raise_for_status()
    return took
