"""The progress bar of a call on a terminal."""

from __future__ import annotations

import re

import anyio.to_thread
import pytest

from pegboard import CallContext, Pegboard
from tests.surfaces.cli.run_program import screen
from tests.surfaces.cli.running_program import program_of_admin

STEERING = re.compile(r"\x1b\[[\d;?]*[A-Za-z]")


async def seen_on_terminal(board: Pegboard, tool: str) -> tuple[str, list[str]]:
    """Return the raw output to a terminal, and its lines without escape sequences."""
    async with program_of_admin(board) as program:
        code, seen = await anyio.to_thread.run_sync(lambda: program.on_terminal("call", tool, "--follow"))
    assert code == 0
    return seen, re.split(r"[\r\n]+", STEERING.sub("", seen))


async def test_a_bar_shows_how_far_it_is_and_disappears(board: Pegboard) -> None:
    @board.tool
    async def half(context: CallContext) -> int:
        """Half."""
        context.progress(2, 4, "half [bold]way[/bold]\x1b[2J")
        return 7

    seen, lines = await seen_on_terminal(board, "half")
    assert lines[0] == "🔧 Using Half..."
    assert any("half [bold]way[/bold]\\x1b[2J" in line and "━" in line and "50%" in line for line in lines)
    assert "\x1b[2J" not in seen
    assert [line.partition(":")[0] for line in screen(seen)] == ["🔧 Using Half...", "7", "half", ""]


async def test_a_bar_without_an_end_pulses(board: Pegboard) -> None:
    @board.tool
    async def endless(context: CallContext) -> int:
        """Endless."""
        context.progress(2, message="going on")
        return 7

    _, lines = await seen_on_terminal(board, "endless")
    (bar, *_) = [line for line in lines if "going on" in line]
    assert "━" in bar
    assert "%" not in bar


@pytest.mark.parametrize("pieces", [["one\ntwo"], ["on", "e\nt", "wo"], ["one\r\ntwo\n"]])
async def test_output_stays_above_the_bar_line_by_line(board: Pegboard, pieces: list[str]) -> None:
    @board.tool
    async def talk(context: CallContext) -> int:
        """Talk."""
        for piece in pieces:
            context.partial(piece)
        return 7

    seen, _ = await seen_on_terminal(board, "talk")
    assert screen(seen)[:4] == ["🔧 Using Talk...", "one", "two", "7"]


async def test_output_that_never_ends_its_line_is_shown_whole(board: Pegboard) -> None:
    @board.tool
    async def run_on(context: CallContext) -> int:
        """Run on."""
        context.partial("x" * 200)
        return 7

    seen, _ = await seen_on_terminal(board, "run_on")
    assert screen(seen)[1:5] == ["x" * 80, "x" * 80, "x" * 40, "7"]
