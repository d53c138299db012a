"""The commands on the pages, run in order against a real server, show what the pages show."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO
from uuid import uuid4

import pytest

from tests.docs.pages import PAGES, Block, blocks_of
from tests.docs.warm_shell import client
from tests.fork_server import Forked, fork

DEFAULT_URL = "http://127.0.0.1:8080"
DEFAULT_PORT = "9000"  # where the pages' own servers listen, which the board may reach
PROGRAM = Path(sys.executable).with_name("pegboard")
MARK = "@@ block {} @@"


def runnable(page: str) -> list[Block]:
    """Return the blocks of a page that run here: its commands, and the tutorial's Python code between them."""
    languages = ("sh", "python") if page == "docs/tutorial.md" else ("sh",)
    return [block for block in blocks_of(page) if block.language in languages and block.runs and not block.file]


REACHING_OUT = [f"docs/howto/{page}.md" for page in ("http-tools", "import", "mcp-tools", "egress")]
# These pages share one server, so the board has everything that the pages before have created.
HOW_TO = [page for page in PAGES if page.startswith("docs/howto/") and page not in REACHING_OUT and runnable(page)]
JOURNEYS = {
    "first steps": ["docs/tutorial.md"],
    "the page that people see first": ["README.md"],
    **{f"how to, from {Path(HOW_TO[at]).stem} on": HOW_TO[at : at + 3] for at in range(0, len(HOW_TO), 3)},
    "reaching out": REACHING_OUT,
}
# On the first pages, every command starts a new program; on others, it is already loaded.
FROM_NOTHING = ("first steps", "the page that people see first")


@pytest.fixture
def warm(journey: str) -> str | None:
    """The name of the shell with the loaded program, or None."""
    return None if journey in FROM_NOTHING else f"pegboard-{uuid4().hex}"


@pytest.fixture
def folder(tmp_path: Path, warm: str | None) -> Path:
    """A working folder with the program, as in a checkout after `make serve`."""
    programs = tmp_path / "work" / ".venv" / "bin"
    programs.mkdir(parents=True)
    (programs / "mcp-server-time").symlink_to(PROGRAM.with_name("mcp-server-time"))
    (programs / "python").write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    (programs / "python").chmod(0o755)
    if warm is None:
        (programs / "pegboard").symlink_to(PROGRAM)
    else:
        (programs / "pegboard").write_text(client(warm))
        (programs / "pegboard").chmod(0o755)
    (programs / "activate").write_text(f'PATH="{programs}:$PATH"\n')
    return tmp_path / "work"


@pytest.fixture
def port() -> str:
    """A port on which a page can serve."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return str(probe.getsockname()[1])


@pytest.fixture
def environment(tmp_path: Path, folder: Path, port: str) -> dict[str, str]:
    """The environment of a new user whose board lets tools reach the servers of the pages."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PEGBOARD_", "XDG_"))}
    path = f"{folder / '.venv' / 'bin'}:{os.environ['PATH']}"
    own = {"HOME": str(tmp_path), "PATH": path, "NO_COLOR": "1", "PYTHON": sys.executable}
    return {**kept, **own, "PEGBOARD_EGRESS_ALLOW": f"127.0.0.1:{port}"}


@pytest.fixture
def url(folder: Path, environment: dict[str, str], warm: str | None) -> Iterator[str]:
    """The URL of a server with the demo tools."""
    with _server(folder, environment, warm) as server:
        assert server.stdout is not None
        try:
            message = ""
            while not message.endswith("Ctrl-C lets running calls end, then stops.\n"):
                line = server.stdout.readline().decode()
                assert line, f"the server ended: {message}"
                message += line
            yield re.findall(r"serving at (\S+)", message)[0]
        finally:
            server.send_signal(signal.SIGINT)
            status = server.wait(30)
        assert server.stdout.read().endswith(b"Stopped.\n")
    assert status == 0


def _server(folder: Path, environment: dict[str, str], warm: str | None) -> subprocess.Popen[bytes] | Forked:
    words = ("serve", "--demo", "--port", "0")
    with Path(os.devnull).open("r+b") as nothing:
        if warm is None:
            return subprocess.Popen(
                [str(PROGRAM), *words], stdout=subprocess.PIPE, stderr=nothing, env=environment, cwd=folder
            )
        return fork(
            "pegboard", *words, environment=environment, stdin=nothing.fileno(), stderr=nothing.fileno(), folder=folder
        )


@pytest.mark.timeout(300)
@pytest.mark.parametrize("journey", JOURNEYS)
def test_the_commands_of_a_page_do_what_it_says(
    journey: str, folder: Path, environment: dict[str, str], url: str, port: str, warm: str | None
) -> None:
    here = {DEFAULT_URL: url, DEFAULT_PORT: port}
    for page in JOURNEYS[journey]:
        blocks = runnable(page)
        if any("curl " in block.text for block in blocks) and shutil.which("curl") is None:
            pytest.skip("curl is not installed")
        for block in blocks_of(page):
            if block.file and not block.file.startswith("examples/"):
                (folder / block.file).write_text(put(block.text, here), encoding="utf-8")
        outputs = run(blocks, folder, {**environment, "PEGBOARD_URL": url}, here, warm)
        for block, output in zip(blocks, outputs, strict=True):
            if block.output is not None:
                assert remove_variable_text(output) == remove_variable_text(put(block.output, here)), (
                    f"{block}: {block.text}"
                )


def put(text: str, here: dict[str, str]) -> str:
    """The text with the addresses that the pages name as they are here."""
    for shown, real in here.items():
        text = re.sub(rf"(?<!\d){re.escape(shown)}(?!\d)", real, text)
    return text


def run(
    blocks: list[Block], folder: Path, environment: dict[str, str], here: dict[str, str], warm: str | None
) -> list[str]:
    """Return the output of each block; all run in one shell, so that each sees the variables of earlier ones."""
    script = put("set -e\n" + "\n".join(_part(place, block) for place, block in enumerate(blocks)), here)
    # A file, because a server that a page has left running would keep a pipe open.
    printed = folder / "printed.txt"
    with printed.open("w") as output, _shell(script, folder, environment, output, warm) as shell:
        try:
            status = shell.wait(timeout=100)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(shell.pid, signal.SIGKILL)
    text = printed.read_text(encoding="utf-8")
    assert status == 0, text
    marks = "|".join(re.escape(MARK.format(place)) + "\n" for place in range(len(blocks)))
    return re.split(marks, text)[1:]


def _shell(
    script: str, folder: Path, environment: dict[str, str], output: IO[str], warm: str | None
) -> subprocess.Popen[bytes] | Forked:
    if warm is None:
        return subprocess.Popen(
            ["sh", "-c", script],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=environment,
            cwd=folder,
            start_new_session=True,
        )
    words = (warm, str(folder), script)
    with Path(os.devnull).open("rb") as nothing:
        return fork(
            "tests.docs.warm_shell", *words, environment=environment, stdin=nothing.fileno(), stderr=output.fileno()
        )


def _part(place: int, block: Block) -> str:
    command = (
        f"\"$PYTHON\" - <<'END_OF_PYTHON'\n{block.text}END_OF_PYTHON" if block.language == "python" else block.text
    )
    if block.note == "fails":
        command = f"if ( {command} ); then echo 'this should have failed'; exit 97; fi"
    return f"echo '{MARK.format(place)}'\n{command}"


def remove_variable_text(text: str) -> str:
    """Return the text without the parts that differ from run to run."""
    for pattern, name in (
        (r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "ID"),
        (r"pb_[\w-]{43}", "KEY"),
        (r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d", "TIME"),
        (r'"execution_time_ms":[\d.]+', '"execution_time_ms":N'),
        (r"\b[\d.]+ ms\b", "N ms"),
        (r"\b\d+\.\d +ID", "N ID"),
        (r"again in [\d.]+ s", "again in N s"),
        (r"under key [0-9a-f]{8}", "under key NAME"),
        (r"\b[0-9a-f]{64}\b", "DIGEST"),
        (r" +", " "),
    ):
        text = re.sub(pattern, name, text)
    return text.strip()
