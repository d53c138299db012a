"""`pegboard contract check` against tools of a board, and against other servers."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.surfaces.cli.run_program import Program
from tests.unit.contract.servers import INPUT, TOOL, build_response

QUICK = ("--calls", "2", "--p95-ms", "10000")
WORDS = json.dumps({"words": ["a", "bcd", "ef"]})


@contextmanager
def elsewhere(answer: Callable[[dict[str, Any]], Any] = build_response, token: str | None = None) -> Iterator[str]:
    """The URL of a server of another kind that accepts envelopes, perhaps only with a token."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            sent = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            allowed = token is None or self.headers["Authorization"] == f"Bearer {token}"
            body = json.dumps(answer(sent) if allowed else {}).encode()
            self.send_response(200 if allowed else 401)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_words: Any) -> None:
            """Keep quiet."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}/"
        finally:
            server.shutdown()
            thread.join()


@pytest.mark.parametrize(
    ("tool", "arguments", "ordering"),
    [
        ("echo", '{"a": [1, 2]}', "skipped"),
        ("math_eval", '{"expression": "2^10"}', "skipped"),
        ("json_query", None, "skipped"),
        ("query_baseline", None, "skipped"),
        ("batch_baseline_query", None, "passed"),
    ],
)
def test_a_tool_of_the_board_keeps_the_contract(
    admin: Program, tool: str, arguments: str | None, ordering: str
) -> None:
    given = () if arguments is None else ("--args", arguments)
    outcome = admin.run("contract", "check", tool, *given, *QUICK)
    assert outcome.code == 0, outcome.out + outcome.err
    assert [line.split()[:2] for line in outcome.out.splitlines()] == [
        ["TEST", "OUTCOME"],
        ["schema", "passed"],
        ["determinism", "passed"],
        ["errors", "passed"],
        ["performance", "passed"],
        ["ordering", ordering],
    ]


def test_a_tool_that_does_not_fails_with_what_was_sent_and_what_came(admin: Program) -> None:
    definition = {
        "name": "broken_promise",
        "tool_type": "mock",
        "input_schema": {"type": "object"},
        "output_schema": {"type": "object", "required": ["sky"]},
        "config": {"mock_response": {}},
    }
    admin.run("tools", "add", "-", stdin=json.dumps(definition)).done()
    outcome = admin.run("contract", "check", "broken_promise", "--args", "{}", *QUICK)
    assert outcome.code == 1
    assert "schema: good arguments are answered with status new or existing" in outcome.out
    assert '  sent      {"tool_name": "broken_promise", "args": {}, ' in outcome.out
    assert "breaks its output schema" in outcome.out
    report = admin.run("--json", "contract", "check", "broken_promise", "--args", "{}", *QUICK).json
    assert report["passed"] is False
    assert report["tests"][0]["failures"][0]["received"]["status"] == "error"


def test_a_tool_whose_rate_limit_is_too_low_is_not_timed(admin: Program) -> None:
    definition = {
        "name": "limited_promise",
        "tool_type": "mock",
        "input_schema": {"type": "object"},
        "config": {"mock_response": {}},
        "rate_limit": {"max_calls": 10, "period": "hour"},
    }
    admin.run("tools", "add", "-", stdin=json.dumps(definition)).done()
    outcome = admin.run("--json", "contract", "check", "limited_promise", "--args", "{}")
    (timed,) = [test for test in outcome.json["tests"] if test["name"] == "performance"]
    assert (outcome.code, timed["outcome"]) == (0, "skipped")
    assert timed["detail"] == "the tool's rate limit allows 10 calls, and 23 are needed; give fewer calls"


def test_a_tool_with_effects_is_called_only_if_that_is_reported(admin: Program) -> None:
    definition = {
        "name": "notify",
        "tool_type": "http",
        "input_schema": {"type": "object"},
        "config": {"url": "https://example.com/", "method": "POST"},
    }
    admin.run("tools", "add", "-", stdin=json.dumps(definition)).done()
    outcome = admin.run("contract", "check", "notify", "--args", "{}")
    assert outcome.code == 2
    assert "'notify' is not read_only" in outcome.err
    assert "add --yes" in outcome.err
    assert admin.run("--json", "audit", "list", "--tool", "notify").json["items"] == []


def test_another_server_is_checked_where_it_is(admin: Program, tmp_path: Path) -> None:
    with elsewhere() as url:
        outcome = admin.run("contract", "check", url, "--tool", TOOL, "--args", WORDS, "--yes", *QUICK)
        assert outcome.code == 0, outcome.out + outcome.err
        assert "ordering     passed" in outcome.out
        definition = tmp_path / "tool.json"
        definition.write_text(json.dumps({"input_schema": INPUT, "read_only": True}))
        known = admin.run("--json", "contract", "check", url, "--tool", TOOL, "--definition", str(definition), *QUICK)
    assert known.done().json["passed"] is True


def test_the_key_of_the_board_is_shown_to_no_other_user(admin: Program) -> None:
    seen: list[dict[str, Any]] = []

    def answer(sent: dict[str, Any]) -> dict[str, Any]:
        seen.append(sent)
        return build_response(sent)

    with elsewhere(answer, token="theirs") as url:
        words = ("contract", "check", url, "--tool", TOOL, "--args", WORDS, "--yes", *QUICK)
        refused = admin.run(*words, PEGBOARD_KEY="theirs")
        assert refused.code == 1
        assert "HTTP 401" in refused.out
        assert seen == []
        assert admin.run(*words, "--header", "Authorization: Bearer theirs").code == 0


def test_a_baseline_server_that_is_late_and_unordered_fails_those_two_tests(admin: Program) -> None:
    def finding(finding_id: str, composite_hash: str) -> dict[str, Any]:
        return {
            "finding_id": finding_id,
            "composite_hash": composite_hash,
            "first_seen_ts": None,
            "seen_count": 0,
            "baseline_status": "new",
            "confidence_score": 1.0,
        }

    def answer(sent: dict[str, Any]) -> dict[str, Any]:
        good = build_response({**sent, "tool_name": TOOL, "args": {"words": []}})
        try:
            assert good["status"] != "error"
            assert sent["tool_name"] == "batch_baseline_query"
            assert sent["args"]["query_type"] == "batch_baseline_check"
            assert not isinstance(sent["args"]["finding_ids"], str)
            assert all(isinstance(each, str) for each in sent["args"]["finding_ids"])
            pairs = zip(sent["args"]["finding_ids"], sent["args"]["composite_hashes"], strict=True)
            results = [finding(*pair) for pair in pairs]
        except Exception:
            return {**good, "tool_name": sent.get("tool_name"), "status": "error", "payload": None, "error_msg": "no"}
        return {**good, "tool_name": sent["tool_name"], "payload": {"results": sorted(results, key=str, reverse=True)}}

    with elsewhere(answer) as url:
        report = admin.run(
            "--json", "contract", "check", url, "--tool", "batch_baseline_query", "--calls", "2", "--p95-ms", "0"
        ).json
    failed = [test["name"] for test in report["tests"] if test["outcome"] == "failed"]
    assert failed == ["performance", "ordering"], report


@pytest.mark.parametrize(
    ("words", "received"),
    [
        (["http://127.0.0.1:1/"], "Name the tool of that server with --tool"),
        (["http://127.0.0.1:1/", "--tool", "x"], "Give valid ones with --args"),
        (["http://127.0.0.1:1/", "--tool", "x", "--args", "{}"], "'x' is not declared read_only"),
        (["http://127.0.0.1:1/", "--tool", "x", "--args", "{", "--yes"], "--args: not JSON"),
        (["http://127.0.0.1:1/", "--tool", "x", "--args", "nowhere.json"], "nowhere.json: No such file"),
        (["http://[::1", "--tool", "query_baseline"], "is not a URL"),
        (["http://127.0.0.1:1/", "--tool", "query_baseline", "--header", "x"], "--header is NAME:VALUE"),
        (["http://127.0.0.1:99999/", "--tool", "query_baseline"], "is not the URL of a server"),
        (["http://127.0.0.1:1/", "--tool", "query_baseline", "--p95-ms", "nan"], "not nan"),
        (["http://127.0.0.1:1/", "--tool", "query_baseline", "--timeout", "nan"], "not nan"),
        (["echo", "--tool", "x"], "need a URL"),
    ],
)
def test_what_cannot_be_checked_is_reported(admin: Program, words: list[str], received: str) -> None:
    outcome = admin.run("contract", "check", *words)
    assert outcome.code == 2, outcome.out
    assert received in outcome.err


def test_a_definition_with_a_schema_that_is_none_is_reported(admin: Program, tmp_path: Path) -> None:
    file = tmp_path / "tool.json"
    file.write_text('{"read_only": true, "input_schema": {"type": "objct"}}')
    outcome = admin.run("contract", "check", "http://127.0.0.1:1/", "--tool", "x", "--definition", str(file))
    assert outcome.code == 2, outcome.out
    assert "x: input_schema at $.type: must be one of: array, boolean" in outcome.err
    assert "but received 'objct'; did you mean 'object'?" in outcome.err


def test_a_server_that_is_not_there_fails_and_does_not_break_the_program(admin: Program) -> None:
    outcome = admin.run("contract", "check", "http://127.0.0.1:1/", "--tool", "query_baseline")
    assert outcome.code == 1
    assert "no answer: " in outcome.out


def test_a_tool_that_is_not_there_is_reported(admin: Program) -> None:
    outcome = admin.run("contract", "check", "no_such_tool")
    assert outcome.code == 1
    assert "not found" in outcome.err
