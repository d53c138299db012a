"""`pegboard mock`: a real process that answers from a file, and files from a real board."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from tests.fork_server import forked_command
from tests.surfaces.cli.run_program import SECONDS, Program

FIXTURES = """\
tools:
  - name: get_weather
    input_schema: {type: object, properties: {city: {type: string}}, required: [city]}
    output_schema: {type: object, required: [sky]}
    responses:
      - {when: {city: Oslo}, error: {message: The service is down, code: upstream_failed}, times: 1}
      - {when: {city: Oslo}, respond: {}, times: 1}
      - {when: {city: Oslo}, respond: {sky: grey}}
      - {respond: {sky: clear}, latency_ms: 5}
"""
KEY = {"Authorization": "Bearer mock-key"}


@contextmanager
def mocking(file: Path, *options: str) -> Iterator[tuple[str, str]]:
    """A mock server: its URL and its output at the start."""
    with subprocess.Popen(
        forked_command("pegboard", "mock", str(file), "--port", "0", *options),
        env=Program().full_environment(PEGBOARD_HOME=str(file.parent / "home")),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    ) as process:
        assert process.stdout is not None
        message = ""
        for line in process.stdout:
            message += line
            if line.startswith("Ctrl-C"):
                break
        try:
            yield message.partition("serving at ")[2].split()[0], message
        finally:
            process.terminate()
            rest, _ = process.communicate(timeout=SECONDS)
    assert rest.strip() == "Stopped."
    assert process.returncode == 0
    # No file is written.
    assert not (file.parent / "home").exists()


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The fixtures as a file."""
    path = tmp_path_factory.mktemp("fixtures") / "weather.yaml"
    path.write_text(FIXTURES)
    return path


@pytest.fixture(scope="module")
def served(file: Path) -> Iterator[tuple[str, str]]:
    """A mock board for the tests of this module."""
    with mocking(file) as it:
        yield it


@pytest.fixture
def url(served: tuple[str, str]) -> str:
    """The URL, with every sequence reset."""
    address = served[0]
    assert httpx.post(f"{address}/mock/reset", headers=KEY).status_code == 204
    return address


def call_over_rest(url: str, city: str) -> Any:
    """Make a call over REST and return the response."""
    return httpx.post(f"{url}/v1/tools/get_weather/call", json={"city": city}, headers=KEY, timeout=SECONDS).json()


def test_a_client_gets_the_sequence_that_the_file_says(url: str) -> None:
    assert call_over_rest(url, "Oslo")["error"] == "The service is down"
    assert call_over_rest(url, "Oslo")["error_details"]["code"] == "contract_violation"
    assert [call_over_rest(url, "Oslo")["result"] for _ in range(2)] == [{"sky": "grey"}] * 2
    assert call_over_rest(url, "Rome")["result"] == {"sky": "clear"}
    assert httpx.post(f"{url}/mock/reset", headers=KEY).status_code == 204
    assert call_over_rest(url, "Oslo")["error"] == "The service is down"


def test_the_program_is_answered_too(url: str) -> None:
    program = Program({"PEGBOARD_URL": url, "PEGBOARD_KEY": "mock-key"})
    assert program.run("call", "get_weather", "city=Rome").done().json == {"sky": "clear"}
    assert "The service is down" in program.run("call", "get_weather", "city=Oslo").err
    listed = program.run("--json", "tools", "list").done().json["items"]
    assert [tool["name"] for tool in listed] == ["get_weather"]
    row = program.run("--json", "audit", "list", "--limit", "1").done().json["items"][0]
    assert (row["tool_name"], row["status"], row["code"]) == ("get_weather", "failed", "upstream_failed")


def test_every_dialect_is_answered_in_itself(url: str) -> None:
    call = {"type": "tool_use", "id": "t1", "name": "get_weather", "input": {"city": "Rome"}}
    message = httpx.post(f"{url}/v1/calls", json=[call], headers=KEY, timeout=SECONDS).json()
    (block,) = message["content"]
    assert (block["type"], block["tool_use_id"]) == ("tool_result", "t1")
    answer = httpx.post(
        f"{url}/v1/tools/get_weather/call", params={"as": "envelope"}, json={"city": "Rome"}, headers=KEY
    ).json()
    assert answer["payload"] == {"sky": "clear"}


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/v1/tools"),
        ("PATCH", "/v1/tools/get_weather"),
        ("DELETE", "/v1/tools/get_weather"),
        ("DELETE", "/v1/tools/call"),
        ("POST", "/v1/apply"),
        ("POST", "/v1/imports/openapi"),
        ("POST", "/v1/users"),
        ("PUT", "/v1/secrets/x"),
        ("POST", "/v1/callsign"),
        ("PUT", "/mock/reset"),
        ("DELETE", "/mock/reset"),
    ],
)
def test_nothing_on_a_mock_board_can_be_changed(url: str, method: str, path: str) -> None:
    answer = httpx.request(method, url + path, json={}, headers=KEY)
    assert answer.status_code == 403
    assert "has the tools of its fixtures" in answer.json()["detail"]
    assert call_over_rest(url, "Rome")["success"] is True


def test_a_chain_runs_on_a_mock_board_and_is_not_saved_there(url: str) -> None:
    chain = {"steps": [{"id": "a", "tool": "get_weather", "arguments": {"city": "Rome"}}]}
    ran = httpx.post(f"{url}/v1/chains", json=chain, headers=KEY, timeout=SECONDS).json()
    assert ran["output"] == {"sky": "clear"}
    answer = httpx.post(f"{url}/v1/chains", json={**chain, "save": True, "name": "kept"}, headers=KEY)
    assert answer.status_code == 403
    assert "has the tools of its fixtures" in answer.json()["detail"]
    listed = httpx.get(f"{url}/v1/tools", headers=KEY).json()["items"]
    assert [tool["name"] for tool in listed] == ["get_weather"]


def test_a_key_is_needed_for_calls_and_for_resets(url: str) -> None:
    for path in ("/v1/tools/get_weather/call", "/v1/calls", "/mock/reset"):
        for headers in ({}, {"Authorization": "Bearer other-key"}):
            assert httpx.post(url + path, json={}, headers=headers).status_code == 401


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
def test_it_prints_its_url_and_a_command_that_can_be_pasted(served: tuple[str, str]) -> None:
    url, message = served
    assert "Key: mock-key\n" in message
    (line,) = [line for line in message.splitlines() if "/v1/tools/" in line]
    done = subprocess.run(line, shell=True, capture_output=True, text=True, timeout=SECONDS, check=True)
    assert json.loads(done.stdout)["tool_name"] == "get_weather"
    assert f"{url}/mock/reset" in message


def test_a_key_of_ones_own_is_the_only_one(file: Path) -> None:
    with mocking(file, "--key", "my-own-key") as (url, _):
        assert httpx.get(f"{url}/v1/tools", headers=KEY).status_code == 401
        assert httpx.get(f"{url}/v1/tools", headers={"Authorization": "Bearer my-own-key"}).status_code == 200


@pytest.mark.parametrize(
    ("words", "received"),
    [
        (["mock", "nowhere.yaml"], "nowhere.yaml: No such file or directory"),
        (["mock", "--port", "0"], "The fixtures file is missing"),
        (["mock", "{file}", "--host", "0.0.0.0"], "the key 'mock-key' is public"),
        (["mock", "{file}", "--key", "two words"], "without spaces"),
        (["mock", "{bad}"], "bad.yaml:2: tools.0.responses: required"),
        (["mock", "serve", "{bad}"], "bad.yaml:2: tools.0.responses: required"),
    ],
)
def test_what_cannot_be_served_is_reported(file: Path, words: list[str], received: str) -> None:
    bad = file.with_name("bad.yaml")
    bad.write_text("tools:\n  - name: x\n")
    outcome = Program().run(*(word.format(file=file, bad=bad) for word in words))
    assert outcome.code == 2
    assert received in outcome.err


def test_the_json_schema_is_printed() -> None:
    schema = Program().run("mock", "--schema").done().json
    assert set(schema["properties"]) == {"tools"}


# Recording


def test_what_a_real_board_answered_is_served_again(admin: Program, tmp_path: Path) -> None:
    definition = {
        "name": "shout",
        "tool_type": "mock",
        "input_schema": {"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]},
        "output_schema": {"type": "object"},
        "config": {
            "mock_responses": [{"when": {"word": word}, "respond": {"is": word.upper()}} for word in ("a", "b")],
            "mock_response": "breaks the schema",
        },
        "keep_arguments": True,
        "keep_result": True,
    }
    admin.run("tools", "add", "-", stdin=json.dumps(definition)).done()
    words = ["a", "b", "c", "a"]
    asked = [admin.run("--json", "call", "shout", f"word={word}").json for word in words]
    admin.run("call", "echo", "a=1").done()
    admin.run("call", "shout")  # refused: a word is needed
    target = tmp_path / "shout.yaml"
    result = admin.run("mock", "record", "--tool", "shout", "--since", "1h", "-o", str(target)).done().err
    assert "Recorded 4 calls of 1 tool\n" in result
    assert "left out 1: refused before the tool ran" in result
    with mocking(target) as (url, _):
        program = Program({"PEGBOARD_URL": url, "PEGBOARD_KEY": "mock-key"})
        again = [program.run("--json", "call", "shout", f"word={word}").json for word in words]
    for one, other in zip(asked, again, strict=True):
        del one["execution_time_ms"], other["execution_time_ms"]
        assert one == other
    assert yaml.safe_load(target.read_text())["tools"][0]["output_schema"] == {"type": "object"}


def test_fixtures_can_be_recorded_as_json_and_to_standard_output(admin: Program, tmp_path: Path) -> None:
    keeping = {"keep_arguments": True, "keep_result": True}
    definition = {"name": "one", "tool_type": "mock", "input_schema": {"type": "object"}, **keeping}
    admin.run("tools", "add", "-", stdin=json.dumps({**definition, "config": {"mock_response": 1}})).done()
    admin.run("call", "one").done()
    expected = {"tools": [{"name": "one", "responses": [{"respond": 1}]}]}
    assert yaml.safe_load(admin.run("mock", "record", "--tool", "one").done().out) == expected
    admin.run("mock", "record", "--tool", "one", "-o", str(tmp_path / "one.json")).done()
    assert json.loads((tmp_path / "one.json").read_text()) == expected


def test_a_journal_that_keeps_nothing_says_what_is_missing(admin: Program) -> None:
    admin.run("call", "math_eval", "expression=1+1").done()
    outcome = admin.run("mock", "record", "--tool", "math_eval")
    assert outcome.code == 1
    assert outcome.out == ""
    assert "There is nothing to record" in outcome.err
    assert "the tool does not keep_arguments" in outcome.err
    assert admin.run("mock", "record", "--tool", "never_called").code == 1
