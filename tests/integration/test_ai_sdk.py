"""The JavaScript of the how-to, with the published AI SDK."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import sys
from pathlib import Path

import anyio

from pegboard.testing import calls_of, memory_board
from tests.board_surfaces import KEY, served
from tests.docs.pages import ROOT, blocks_of

BIN = Path(sys.executable).parent
PACKAGES = BIN.parent / "reference/node_modules"


async def test_the_ai_sdk_takes_the_definitions_and_calls_the_board(tmp_path: Path) -> None:
    modules = {block.file: block.text for block in blocks_of("docs/howto/dialects.md") if block.language == "js"}
    assert modules.keys() == {"board.mjs", "loop.mjs"}
    for name, text in modules.items():
        (tmp_path / str(name)).write_text(text)
    shutil.copy(ROOT / "tests/reference/ai_sdk.mjs", tmp_path)
    (tmp_path / "node_modules").symlink_to(PACKAGES)
    async with memory_board(admin_key=KEY) as board:

        @board.tool
        async def add(a: int, b: int) -> int:
            """Add two integers."""
            return a + b

        async with served(board) as url:
            process = await asyncio.create_subprocess_exec(
                str(BIN / "node"),
                str(tmp_path / "ai_sdk.mjs"),
                env={**os.environ, "PEGBOARD_URL": url, "PEGBOARD_KEY": KEY},
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
            )
            with anyio.fail_after(60):
                out, errors = await process.communicate()
        assert process.returncode == 0, errors.decode()
        found = json.loads(out)
        assert found["text"] == "3"
        (declared,) = [tool for tool in found["tools"] if tool["name"] == "add"]
        assert declared["inputSchema"]["properties"].keys() == {"a", "b"}
        (received,) = found["told"]["content"]
        assert received["output"] == {"type": "json", "value": 3}
        first, last = found["answers"]
        assert first["content"][0]["output"] == {"type": "json", "value": 3}
        assert last == {"role": "tool", "content": []}
        assert len(await calls_of(board, "add")) == 2
