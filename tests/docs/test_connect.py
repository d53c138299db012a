"""The configurations on the page about MCP clients are those that the program prints."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from pegboard.surfaces.clients.mcp_client_formats import MCP_CLIENTS
from tests.docs.pages import Block, blocks_of, section
from tests.golden.program import run_program

PAGE = "docs/howto/connect.md"
COMMAND = "not run: pegboard mcp config "
PROGRAM = str(Path(sys.executable).with_name("pegboard"))
SHOWN = [block for block in blocks_of(PAGE) if block.note.startswith(COMMAND)]


@pytest.mark.parametrize("block", SHOWN, ids=lambda block: block.note.removeprefix(COMMAND))
def test_the_page_shows_what_the_program_prints(block: Block) -> None:
    code, out, _ = run_program("mcp", "config", *block.note.removeprefix(COMMAND).split())
    assert code == 0
    assert out.replace(PROGRAM, "/path/to/pegboard") == block.text


def test_every_client_is_shown_over_each_of_its_transports_and_has_its_limits() -> None:
    words = [block.note.removeprefix(COMMAND).split() for block in SHOWN]
    shown = {(client, transport) for client, _, transport, *_ in words}
    assert shown == {(name, transport) for name, form in MCP_CLIENTS.items() for transport in form.transports}
    limits = section(PAGE, "Limits of the clients")
    assert [name for name in MCP_CLIENTS if f"`{name}`" not in limits] == []
