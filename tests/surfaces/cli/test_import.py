"""`pegboard import` and `pegboard tools accept`."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio.to_thread
import pytest

from pegboard import Pegboard
from pegboard.testing import memory_board
from tests.api_documents import STYLES, document, pets
from tests.board_surfaces import KEY, served
from tests.surfaces.cli.run_program import Outcome, Program
from tests.unit.kinds.mcp.changeable_server import changeable_server, odd, tool
from tests.upstreams import answer, answer_json, upstream

Run = Callable[..., Awaitable[Outcome]]


@pytest.fixture
async def board() -> AsyncIterator[Pegboard]:
    """A fresh board in memory that may reach loopback."""
    async with memory_board(admin_key=KEY, drain_seconds=2, egress_allow="127.0.0.1") as fresh:
        yield fresh


@pytest.fixture
async def program(board: Pegboard, tmp_path: Path) -> AsyncIterator[Program]:
    """The program as the board's admin runs it."""
    async with served(board) as url:
        yield Program({"PEGBOARD_URL": url, "PEGBOARD_KEY": KEY, "PEGBOARD_HOME": str(tmp_path / "home")})


@pytest.fixture
def run(program: Program) -> Run:
    """Runs the program while the board serves."""

    async def runs(*words: str, stdin: str | bytes | None = None, **more: str) -> Outcome:
        return await anyio.to_thread.run_sync(lambda: program.run(*words, stdin=stdin, **more))

    return runs


def write_document(folder: Path, document: Any, name: str = "api.json") -> str:
    """Write the document to a file and return its path."""
    path = folder / name
    path.write_text(document if isinstance(document, str) else json.dumps(document))
    return str(path)


async def test_every_place_and_style_works_from_file_to_call(run: Run, tmp_path: Path) -> None:
    async with upstream() as running_server:
        imported = await run("import", "openapi", write_document(tmp_path, document()), "--server", running_server.url)
        lines = imported.done().out.splitlines()
        xml = " (without the structure of its body: application/xml is written as text)"
        assert lines == [f"+ {case.name}{xml if case.name == 'xml_body' else ''}" for case in STYLES]
        assert imported.err == f"Imported: {len(STYLES)} created\n"
        for case in STYLES:
            called = await run("call", case.name, "--input", "-", stdin=json.dumps(case.arguments))
            called.done()
            case.check(running_server.last)


async def test_imported_documents_are_listed(run: Run, tmp_path: Path) -> None:
    assert (await run("import", "list")).done().err == "No tools were imported from API documents.\n"
    (await run("import", "openapi", write_document(tmp_path, pets("cats")), "--server", "https://a.example/v1")).done()
    heading, row = (await run("import", "list")).done().out.splitlines()
    assert heading.split() == ["TAG", "SERVERS", "TOOLS", "ACTIVE", "CHANGED"]
    assert row.split()[1:4] == ["https://a.example", "1", "1"]


async def test_a_document_comes_from_a_file_a_pipe_or_a_url(run: Run, tmp_path: Path) -> None:
    yaml = (
        "openapi: 3.0.0\ninfo: {title: Yaml, version: '1'}\nservers: [{url: 'https://a.example'}]\n"
        "paths: {/ü: {get: {operationId: y}}}\n"
    )
    (await run("import", "openapi", write_document(tmp_path, yaml, "y.yaml"))).done()
    (await run("import", "openapi", "-", stdin="\ufeff" + json.dumps(pets("piped")))).done()
    async with upstream(answer_json(pets("fetched"))) as running_server:
        (await run("import", "openapi", f"{running_server.url}/openapi.json")).done()
    names = (await run("tools", "list", "--type", "http", "--json")).done().json
    assert [item["name"] for item in names["items"]] == ["fetched", "piped", "y"]


async def test_run_again_it_says_what_changed_and_a_dry_run_shows_how(run: Run, tmp_path: Path) -> None:
    file = write_document(tmp_path, pets("cats", "dogs"))
    (await run("import", "openapi", file, "--prefix", "my_")).done()
    again = (await run("import", "openapi", file, "--prefix", "my_")).done()
    assert (again.out, again.err) == ("", "Imported: 2 unchanged\n")
    changed = pets("cats", "fish")
    changed["paths"]["/cats"]["get"]["summary"] = "Look at\u2028all\x85cats\x1b[31m"
    file = write_document(tmp_path, changed)
    shown = (await run("import", "openapi", file, "--prefix", "my_", "--dry-run")).done()
    assert shown.out.splitlines()[:2] == ["+ my_fish", "~ my_cats"]
    assert "--- my_cats (before)" in shown.out
    assert "-description: Look at cats" in shown.out
    assert "+description: " in shown.out
    assert "\x1b" not in shown.out
    assert "Would import: 1 created, 1 updated, 1 gone" in shown.err
    assert "gone my_dogs no longer exists; remove it with: pegboard tools remove my_dogs" in shown.err
    assert (await run("tools", "show", "my_fish")).code == 1
    done = (await run("import", "openapi", file, "--prefix", "my_")).done()
    assert done.out.splitlines() == ["+ my_fish", "~ my_cats"]


async def test_json_is_the_reports_own(run: Run, tmp_path: Path) -> None:
    file = write_document(tmp_path, pets("cats", "echo"))
    report = (await run("import", "openapi", file, "--json")).done()
    assert report.err == ""
    assert report.json["created"] == ["cats"]
    assert [item["name"] for item in report.json["left_out"]] == ["echo"]
    assert set(report.json) == {"created", "updated", "unchanged", "drifted", "gone", "left_out", "warnings", "changes"}


async def test_choices_and_credentials_are_passed_on(run: Run, tmp_path: Path) -> None:
    file = write_document(tmp_path, pets("get_cats", "get_dogs", "feed"))
    auth = tmp_path / "auth.yaml"
    auth.write_text("type: basic\nusername: u\npassword: very-secret-word\n")
    words = ("--include", "get_*", "--include", "none", "--public", "--auth", str(auth))
    imported = (await run("import", "openapi", file, *words)).done()
    assert imported.out == "+ get_cats\n+ get_dogs\n"
    assert "left out none: " in imported.err
    shown = (await run("tools", "show", "get_cats", "--json")).done().json
    assert (shown["is_public"], shown["auth_config"]["password"]) == (True, "********")
    (await run("import", "openapi", file, "--include", "feed", "--bearer", "MY_KEY", "--private")).done()
    shown = (await run("tools", "show", "feed", "--json")).done().json
    assert (shown["is_public"], shown["auth_config"]["type"]) == (False, "bearer")
    called = await run("call", "feed")
    assert "Secret 'MY_KEY' does not exist" in called.err + called.out
    diff = (await run("import", "openapi", file, "--include", "feed", "--bearer", "OTHER", "--dry-run")).done()
    assert diff.out.splitlines()[0] == "~ feed"
    assert "very-secret-word" not in diff.out


async def test_an_mcp_servers_tools_come_from_a_url_or_a_command(run: Run, tmp_path: Path) -> None:
    async with changeable_server(tool("say", "Say it.")) as running_server:
        imported = await run("import", "mcp", running_server.url, "--header", "X-Team=blue=green", "--prefix", "t_")
        assert imported.done().out == "+ t_say\n"
        assert (await run("call", "t_say", "text=hi")).done().json == '{"called": "say", "text": "hi"}'
        assert running_server.server.last.one("X-Team") == "blue=green"
    words = ("--prefix", "o_", "--env", "A=b", "--working-dir", str(tmp_path))
    imported = await run("import", "mcp", *words, "--", *odd("folder"))
    assert imported.done().out == "+ o_echo\n"
    assert (await run("call", "o_echo")).done().json == str(tmp_path)
    assert (await run("import", "mcp", *words, *odd("folder"))).done().err == "Imported: 1 unchanged\n"


async def test_a_changed_tool_is_shown_refused_and_accepted(run: Run) -> None:
    async with changeable_server(tool("say"), tool("look")) as running_server:
        (await run("import", "mcp", running_server.url)).done()
        running_server.tools[0] = tool("say", "Otherwise.")
        running_server.restart()
        refused = await run("call", "say")
        assert refused.code == 1
        assert "has changed the tool 'say'" in refused.out + refused.err
        listed = (await run("import", "mcp", running_server.url)).done()
        assert "! say changed upstream, refused until accepted" in listed.out
        assert "-description: Says something." in listed.out
        assert "+description: Otherwise." in listed.out
        assert listed.err == "Imported: 1 unchanged, 1 drifted\n"
        looked = (await run("tools", "accept", "say", "--dry-run")).done()
        assert "+description: Otherwise." in looked.out
        assert "Nothing was changed" in looked.err
        assert (await run("call", "say")).code == 1
        accepted = (await run("tools", "accept", "say")).done()
        assert "+description: Otherwise." in accepted.out
        assert "accepted say" in accepted.err
        (await run("call", "say")).done()
        running_server.tools[0] = tool("say", "A third time.")
        running_server.restart()
        assert (await run("call", "say")).code == 1
        assert (await run("import", "mcp", running_server.url, "--accept")).done().out == "~ say\n"
        (await run("call", "say")).done()
        as_json = (await run("tools", "accept", "say", "--json")).done().json
        assert (as_json["name"], as_json["changes"]) == ("say", {})
        assert (await run("tools", "accept", "echo")).code == 1


async def test_a_member_gets_no_command_started(run: Run) -> None:
    (await run("users", "add", "mia")).done()
    key = (await run("keys", "create", "mia")).done().out.strip()
    refused = await run("import", "mcp", "--", *odd("fine"), PEGBOARD_KEY=key)
    assert (refused.code, refused.out) == (1, "")
    assert "Only admins may import from a command" in refused.err


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["openapi"], 2, "Missing argument"),
        (["openapi", "/no/such/file"], 2, "/no/such/file: No such file"),
        (["openapi", "BROKEN"], 1, "cannot be read in line 1"),
        (["openapi", "LATIN"], 2, ":1: not UTF-8 text"),
        (["openapi", "PETS", "--prefix", "1"], 1, "prefix"),
        (["openapi", "PETS", "--auth", "PETS", "--bearer", "X"], 2, "not both"),
        (["openapi", "PETS", "--auth", "PETS"], 1, "auth_config"),
        (["openapi", "http://10.0.0.1/"], 1, "PEGBOARD_EGRESS_ALLOW"),
        (["openapi", "http://127.0.0.1:1/"], 1, "127.0.0.1:1"),
        (["mcp"], 2, "Missing argument"),
        (["mcp", "http://127.0.0.1:1/"], 1, "127.0.0.1:1"),
        (["mcp", "https://x.example", "extra"], 2, "A URL takes no further arguments, but 'extra' follows it"),
        (["mcp", "--acept", "x"], 2, "No such option: --acept"),
        (["mcp", "x", "--env", "novalue"], 2, "--env takes NAME=VALUE, not 'novalue'"),
        (["mcp", "--", "/no/such/program"], 1, "program"),
    ],
)
async def test_what_cannot_be_imported_says_why_and_exits_so(
    run: Run, tmp_path: Path, words: list[str], code: int, message: str
) -> None:
    (tmp_path / "latin").write_bytes("title: Grüße".encode("latin-1"))
    files = {
        "BROKEN": write_document(tmp_path, "{"),
        "LATIN": str(tmp_path / "latin"),
        "PETS": write_document(tmp_path, pets("cats"), "pets.json"),
    }
    failed = await run("import", *(files.get(word, word) for word in words))
    assert (failed.code, failed.out) == (code, "")
    assert message in failed.err
    assert "Traceback" not in failed.err


async def test_bytes_that_are_no_text_on_the_command_line_are_no_crash(run: Run, tmp_path: Path) -> None:
    refused = await run("import", "openapi", write_document(tmp_path, pets("cats")), "--prefix", "\udcff")
    assert (refused.code, refused.out) == (1, "")
    assert refused.err.startswith("Error: ")


async def test_a_board_that_disappears_in_the_middle_is_unreachable(tmp_path: Path) -> None:
    events = {"Content_Type": "text/event-stream", "X_Request_Id": "1"}
    progress = 'event: progress\ndata: {"what": "reading", "done": 1, "total": 2}\n\n'
    for behaviour in (answer(200, progress, **events), answer(200, "", **events)):
        async with upstream(behaviour) as unreachable:
            program = Program({"PEGBOARD_URL": unreachable.url, "PEGBOARD_KEY": KEY})
            words = ("import", "openapi", write_document(tmp_path, pets("cats")))
            failed = await anyio.to_thread.run_sync(program.run, *words)
            assert failed.code == 3
            assert "was closed before the import ended" in failed.err


async def test_the_real_program_imports_with_a_server_and_without_one(program: Program, tmp_path: Path) -> None:
    file = write_document(tmp_path, pets("cats"))
    away = await anyio.to_thread.run_sync(lambda: program.start("import", "openapi", file))
    assert away.done().out == "+ cats\n"
    here = program.but(PEGBOARD_HOME=str(tmp_path / "own"))
    local = await anyio.to_thread.run_sync(lambda: here.start("import", "openapi", file, "--local", "--json"))
    assert local.done().json["created"] == ["cats"]
    command = ("import", "mcp", "--local", "--prefix", "o_", "--", *odd("fine"))
    local = await anyio.to_thread.run_sync(lambda: here.start(*command))
    assert local.done().out == "+ o_echo\n"


async def test_on_a_terminal_the_progress_goes_and_the_report_stays(program: Program, tmp_path: Path) -> None:
    file = write_document(tmp_path, pets(*(f"pet{number}" for number in range(50))))
    code, seen = await anyio.to_thread.run_sync(lambda: program.on_terminal("import", "openapi", file))
    assert code == 0
    assert "+ pet49" in seen
    assert "Imported: 50 created" in seen


async def test_an_import_of_which_everything_is_left_out_fails_and_says_each_reason_once(
    run: Run, tmp_path: Path
) -> None:
    names = [f"op{number}" for number in range(30)]
    file = write_document(tmp_path, pets(*names))
    for more in ((), ("--dry-run",)):
        refused = await run("import", "openapi", file, "--server", "http://10.1.1.1", *more)
        assert (refused.code, refused.out) == (1, "")
        first, second, last = refused.err.splitlines()
        assert first.startswith("left out 30 operations: ")
        assert first.count("10.1.1.1") == refused.err.count("10.1.1.1")
        assert second.strip() == ", ".join(names)
        assert last.endswith("30 left out")
    assert (await run("import", "openapi", file, "--server", "http://10.1.1.1", "--json")).code == 1
    assert (await run("import", "openapi", file, "--include", "none")).code == 1
    assert (await run("import", "openapi", file)).code == 0
    assert (await run("import", "openapi", file)).code == 0


async def test_a_secret_that_is_not_set_is_named_once_before_any_call_fails(run: Run, tmp_path: Path) -> None:
    file = write_document(tmp_path, pets("cats", "dogs"))
    for more in (("--dry-run",), ()):
        imported = (await run("import", "openapi", file, "--bearer", "NOPE", *more)).done()
        assert imported.err.count("NOPE") == 2
        assert "warning There is no secret 'NOPE'" in imported.err
        assert "pegboard secrets set NOPE" in imported.err
    (await run("secrets", "set", "NOPE", "a-token-of-mine")).done()
    imported = (await run("import", "openapi", file, "--bearer", "NOPE")).done()
    assert "NOPE" not in imported.err


async def test_a_document_that_is_too_large_names_the_setting(tmp_path: Path) -> None:
    document = pets("cats")
    document["info"]["description"] = "x" * 3_000_000
    file = write_document(tmp_path, document)
    async with memory_board(admin_key=KEY, max_import_bytes=2**20) as small, served(small) as url:
        program = Program({"PEGBOARD_URL": url, "PEGBOARD_KEY": KEY, "PEGBOARD_HOME": str(tmp_path / "home")})
        refused = await anyio.to_thread.run_sync(lambda: program.run("import", "openapi", file))
    assert refused.code == 1
    message = "is larger than the server accepts. Raise PEGBOARD_MAX_IMPORT_BYTES on the server."
    assert refused.err == f"Error: {file} {message}\n"
