"""FastMCP with one tool, as a process in an environment of its own: `fastmcp_server.py NAME SOCKET_FD HOME`."""

from __future__ import annotations

import os
import socket
import sys
from typing import Annotated, Any, Literal

import uvicorn
from fastmcp import FastMCP
from fastmcp.server.auth.providers.jwt import StaticTokenVerifier
from pydantic import Field

verifier = StaticTokenVerifier({os.environ["BENCH_KEY"]: {"client_id": "bench", "scopes": []}})
app: FastMCP[Any] = FastMCP("bench", auth=verifier)


@app.tool
def bench_echo(
    text: Annotated[str, Field(max_length=200)],
    count: Annotated[int, Field(ge=0, le=1000)],
    mood: Literal["happy", "sad", "neutral"] = "neutral",
) -> dict[str, Any]:
    """Return the arguments."""
    return {"echo": {"text": text, "count": count, "mood": mood}}


def main() -> None:
    """Serve on an inherited socket until terminated."""
    served = app.http_app(host_origin_protection=False)
    config = uvicorn.Config(served, log_level="critical", access_log=False, loop="uvloop", http="httptools")
    uvicorn.Server(config).run([socket.socket(fileno=int(sys.argv[2]))])


if __name__ == "__main__":
    main()
