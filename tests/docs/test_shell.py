"""The commands on the pages, run in order against a real server, show what the pages show."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.pages import PAGES, Block, blocks_of

DEFAULT_URL = "http://127.0.0.1:8080"
PROGRAM = Path(sys.executable).with_name("pegboard")
MARK = "@@ block {} @@"


def runnable(page: str) -> list[Block]:
    """What of a page is run here: its commands, and the tutorial's Python code between them."""
    languages = ("sh", "python") if page == "docs/tutorial.md" else ("sh",)
    return [block for block in blocks_of(page) if block.language in languages and block.runs and not block.file]


# Each is told to one server, whose board then has what the pages before have made.
JOURNEYS = {
    "first steps": ["docs/tutorial.md", "README.md"],
    "how to": [page for page in PAGES if page.startswith("docs/howto/") and runnable(page)],
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A working folder with the program in it, as in a checkout after `make serve`."""
    programs = tmp_path / "work" / ".venv" / "bin"
    programs.mkdir(parents=True)
    (programs / "pegboard").symlink_to(PROGRAM)
    (programs / "activate").write_text(f'PATH="{programs}:$PATH"\n')
    return tmp_path / "work"


@pytest.fixture
def environment(tmp_path: Path, folder: Path) -> dict[str, str]:
    """A user who has never used a board."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PEGBOARD_", "XDG_"))}
    path = f"{folder / '.venv' / 'bin'}:{os.environ['PATH']}"
    return {**kept, "HOME": str(tmp_path), "PATH": path, "NO_COLOR": "1", "PYTHON": sys.executable}


@pytest.fixture
def url(folder: Path, environment: dict[str, str]) -> Iterator[str]:
    """Where a server with the demo tools is."""
    server = subprocess.Popen(
        [str(PROGRAM), "serve", "--demo", "--port", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment,
        cwd=folder,
        text=True,
    )
    assert server.stdout is not None
    try:
        said = ""
        while not said.endswith("Ctrl-C lets running calls end, then stops.\n"):
            line = server.stdout.readline()
            assert line, f"the server ended: {said}"
            said += line
        yield re.findall(r"serving at (\S+)", said)[0]
    finally:
        server.send_signal(signal.SIGINT)
        rest, _ = server.communicate(timeout=30)
    assert server.returncode == 0
    assert rest.endswith("Stopped.\n")


@pytest.mark.parametrize("journey", JOURNEYS)
def test_the_commands_of_a_page_do_what_it_says(
    journey: str, folder: Path, environment: dict[str, str], url: str
) -> None:
    for page in JOURNEYS[journey]:
        blocks = runnable(page)
        if any("curl " in block.text for block in blocks) and shutil.which("curl") is None:
            pytest.skip("curl is not installed")
        for block in blocks_of(page):
            if block.file and not block.file.startswith("examples/"):
                (folder / block.file).write_text(block.text, encoding="utf-8")
        outputs = run(blocks, folder, {**environment, "PEGBOARD_URL": url})
        for block, output in zip(blocks, outputs, strict=True):
            if block.output is not None:
                assert settled(output) == settled(block.output), f"{block}: {block.text}"


def run(blocks: list[Block], folder: Path, environment: dict[str, str]) -> list[str]:
    """What each block printed; all of them run in one shell, so that what one sets the next one has."""
    script = "set -e\n" + "\n".join(_part(place, block) for place, block in enumerate(blocks))
    done = subprocess.run(
        ["sh", "-c", script.replace(DEFAULT_URL, environment["PEGBOARD_URL"])],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=environment,
        cwd=folder,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    marks = "|".join(re.escape(MARK.format(place)) + "\n" for place in range(len(blocks)))
    return re.split(marks, done.stdout)[1:]


def _part(place: int, block: Block) -> str:
    command = (
        f"\"$PYTHON\" - <<'END_OF_PYTHON'\n{block.text}END_OF_PYTHON" if block.language == "python" else block.text
    )
    if block.note == "fails":
        command = f"if ( {command} ); then echo 'this should have failed'; exit 97; fi"
    return f"echo '{MARK.format(place)}'\n{command}"


def settled(text: str) -> str:
    """The text without what differs from run to run."""
    for pattern, name in (
        (r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "ID"),
        (r"pb_[\w-]{43}", "KEY"),
        (r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d", "TIME"),
        (r'"execution_time_ms":[\d.]+', '"execution_time_ms":N'),
        (r"\b[\d.]+ ms\b", "N ms"),
        (r"\b\d+\.\d +ID", "N ID"),
        (r"again in [\d.]+ s", "again in N s"),
        (r"under key [0-9a-f]{8}", "under key NAME"),
        (r" +", " "),
    ):
        text = re.sub(pattern, name, text)
    return text.strip()
