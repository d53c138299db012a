"""An application with a board in it; run it with: uvicorn embed:app."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI

from pegboard import Pegboard, create_app


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    """Open the board, hang functions on it, and serve it for as long as the application runs."""
    async with Pegboard.open() as board:

        @board.tool(is_public=True)
        async def add(a: int, b: int) -> int:
            """Add two integers."""
            return a + b

        app.mount("", create_app(board))
        yield


app = FastAPI(lifespan=lifespan, docs_url=None, openapi_url=None)


@app.get("/hello")
async def hello() -> dict[str, str]:
    """A route of the application itself."""
    return {"hello": "world"}
