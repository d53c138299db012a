"""`pegboard console`, and the address that `pegboard serve` prints."""

from __future__ import annotations

import json
import webbrowser
from pathlib import Path

import anyio.to_thread
import httpx
import pytest
from typer.testing import CliRunner

from pegboard import Pegboard
from pegboard.surfaces.cli.board_server import build_welcome, create_console_address
from pegboard.surfaces.cli.main import app as program
from pegboard.testing import NoSettings, memory_board
from tests.board_surfaces import KEY, served


async def run(*arguments: str) -> tuple[int, str, str]:
    """The exit code and the output of a command."""
    result = await anyio.to_thread.run_sync(lambda: CliRunner().invoke(program, arguments))
    return result.exit_code, result.stdout, result.stderr


async def log_in(address: str) -> int:
    """Log in with the code in an address, like the page; return the status."""
    base, code = address.split("/console/#code=")
    async with httpx.AsyncClient(base_url=base) as page:
        return (await page.post("/v1/sessions", json={"code": code})).status_code


async def test_the_printed_address_logs_in_once() -> None:
    async with memory_board(admin_key=KEY) as board, served(board) as url:
        options = ("--url", url, "--key", KEY)
        _, printed, _ = await run(*options, "console", "--print")
        assert printed.startswith(f"{url}/console/#code=pbc_")
        assert await log_in(printed.strip()) == 201
        assert await log_in(printed.strip()) == 401
        _, as_json, _ = await run(*options, "--json", "console", "--print")
        assert set(json.loads(as_json)) == {"address", "expires_at"}
        code, _, error = await run("--url", url, "--key", "wrong", "console", "--print")
        assert code != 0
        assert "key" in error


async def test_the_browser_is_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []

    def open_browser(address: str) -> bool:
        opened.append(address)
        return len(opened) == 1

    monkeypatch.setattr(webbrowser, "open", open_browser)
    async with memory_board(admin_key=KEY) as board, served(board) as url:
        options = ("--url", url, "--key", KEY)
        assert (await run(*options, "console"))[0] == 0
        assert await log_in(opened[0]) == 201
        code, _, error = await run(*options, "console")
        assert code == 2
        assert "pegboard console --print" in error


async def test_a_board_without_a_server_has_no_console() -> None:
    code, _, error = await run("--local", "console")
    assert code == 2
    assert "served by a server" in error


async def test_a_server_prints_an_address_that_logs_in_the_admin(tmp_path: Path) -> None:
    settings = NoSettings(home=tmp_path / "home")
    for _ in range(2):  # the first start makes the key, later ones read it from the credentials
        async with Pegboard.open(settings=settings) as board, served(board) as url:
            address = await create_console_address(board, url)
            assert address.startswith(f"{url}/console/#code=")
            assert await log_in(address) == 201
            text = build_welcome(url, None, settings, demo=False, console=address)
            assert f"  {address}\n" in text
    settings.credentials_file.write_text("wrong\n")
    async with Pegboard.open(settings=settings) as board:
        assert await create_console_address(board, "http://0.0.0.0:80") == "http://127.0.0.1:80/console/"
    public = NoSettings(home=tmp_path / "home", public_url="https://tools.example/board/")
    async with Pegboard.open(settings=public) as board:
        assert await create_console_address(board, url) == "https://tools.example/board/console/"
