"""The Python examples run, and the files on the pages are valid."""

from __future__ import annotations

import asyncio
import runpy
import subprocess
import sys
import tomllib
from pathlib import Path

import httpx
import pytest
import yaml

from pegboard import Settings
from pegboard.testing import memory_board
from tests.docs.pages import ROOT, Block, all_blocks

ON_ITS_OWN_BOARD = "docs/tutorial.md"  # its examples use the results of its commands: see test_shell
PYTHON = [block for block in all_blocks("python") if block.runs and not block.file and block.page != ON_ITS_OWN_BOARD]
FILES = [block for block in all_blocks("python", "toml", "yaml") if block.file]
KEY = "a-key-for-the-examples"
# The examples on these pages have the deadlines that users have, which a busy machine can miss before the code starts.
PAGES_WITH_DEADLINES = ("docs/howto/python-tools.md", "docs/howto/shell-tools.md", "docs/howto/confinement.md")


@pytest.fixture
def clean_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working folder and an empty home of the board."""
    monkeypatch.setenv("PEGBOARD_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("block", PYTHON, ids=str)
def test_a_python_example_runs(block: Block, clean_home: Path) -> None:
    if block.note == "own process":
        subprocess.run([sys.executable, "-c", block.text], check=True, cwd=clean_home, timeout=60)
        return
    code = compile(block.text, str(block), "exec")
    for left in reversed(range(3 if block.page in PAGES_WITH_DEADLINES else 1)):
        try:
            exec(code, {"__name__": "__main__"})
            break
        except AssertionError:
            if not left:
                raise


@pytest.mark.parametrize("block", [block for block in FILES if str(block.file).startswith("examples/")], ids=str)
def test_an_example_file_is_as_its_page_shows_it(block: Block) -> None:
    assert (ROOT / str(block.file)).read_text(encoding="utf-8") == block.text


@pytest.mark.parametrize("block", [block for block in FILES if "tool_type: " in block.text], ids=str)
async def test_a_definition_on_a_page_can_be_registered(block: Block) -> None:
    async with memory_board(egress_allow="127.0.0.1") as board:
        assert (await board.add(yaml.safe_load(block.text))).version == 1


def test_the_settings_file_on_its_page_is_read(clean_home: Path) -> None:
    (block,) = [block for block in FILES if block.file == "pegboard.toml"]
    (clean_home / "pegboard.toml").write_text(block.text, encoding="utf-8")
    settings = Settings()
    assert settings.port == 9000
    assert settings.log_format == "json"
    assert settings.key_rate.max_calls == 600


def test_the_embedding_example_serves_its_function_and_its_route(
    clean_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PEGBOARD_ADMIN_KEY", KEY)
    app = runpy.run_path(str(ROOT / "examples" / "embed.py"))["app"]

    async def visit() -> tuple[httpx.Response, httpx.Response]:
        async with (
            app.router.lifespan_context(app),
            httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://app") as client,
        ):
            hello = await client.get("/hello")
            headers = {"Authorization": f"Bearer {KEY}"}
            return hello, await client.post("/v1/tools/add/call", json={"a": 1, "b": 2}, headers=headers)

    hello, answer = asyncio.run(visit())
    assert hello.json() == {"hello": "world"}
    assert answer.json()["result"] == 3


async def test_the_plugin_example_is_found_by_its_entry_points(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plugin = ROOT / "examples" / "plugin"
    (tmp_path / "acme_pegboard.py").write_text((plugin / "acme_pegboard.py").read_text())
    project = tomllib.loads((plugin / "pyproject.toml").read_text())["project"]
    info = tmp_path / "acme_pegboard-0.1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n")
    lines = [
        f"[{group}]\n{name} = {target}\n"
        for group, each in project["entry-points"].items()
        for name, target in each.items()
    ]
    (info / "entry_points.txt").write_text("".join(lines))
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "acme_pegboard", raising=False)
    schema = {"type": "object", "properties": {"text": {"type": "string"}}}
    slug = {"name": "slug", "tool_type": "internal", "config": {"handler": "slugify"}, "input_schema": schema}
    note = {"name": "note", "tool_type": "template", "config": {"template": "Note: {text}"}, "input_schema": schema}
    async with memory_board([slug, note]) as board:
        asked = [
            {"do": "slug", "with": {"text": "A Good Day"}},
            {"do": "note", "with": {"text": "x"}},
            {"do": "nope"},
        ]
        assert await board.run(asked) == [
            [True, "a-good-day"],
            [True, {"text": "Note: x"}],
            [False, "Tool 'nope' not found; did you mean 'note'?"],
        ]
        assert {"do": "slug", "with": ["text"]} in await board.definitions("pairs")
        assert await board.run([{"do": "echo", "with": {"a": 1}}]) == [[True, {"echo": {"a": 1}}]]
    monkeypatch.delitem(sys.modules, "acme_pegboard", raising=False)
