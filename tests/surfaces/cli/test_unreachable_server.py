"""Servers that cannot be reached, invalid keys, and users who interrupt the program."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from dirty_equals import IsStr

from tests.fork_server import forked_command
from tests.surfaces.cli.run_program import SECONDS, Program

NOT_OURS = b"HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s"


@pytest.fixture
def listening() -> Iterator[socket.socket]:
    """A socket that accepts connections and sends nothing."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(SECONDS)
        yield server


def url_of(server: socket.socket) -> str:
    return f"http://127.0.0.1:{server.getsockname()[1]}"


@pytest.fixture
def unreachable(listening: socket.socket) -> Program:
    """The program with the address of a server that does not run any more."""
    url = url_of(listening)
    listening.close()
    return Program({"PEGBOARD_URL": url, "PEGBOARD_KEY": "a-key-0123456789"})


def test_no_board_at_the_address_exits_3_and_says_how_to_start_one(unreachable: Program) -> None:
    ran = unreachable.start("call", "echo")
    assert (ran.code, ran.out) == (3, "")
    assert unreachable.environment["PEGBOARD_URL"] in ran.err
    assert "pegboard serve" in ran.err


def test_no_key_exits_2_and_says_where_it_was_searched_for(admin: Program, tmp_path: Path) -> None:
    ran = admin.run("whoami", PEGBOARD_HOME=str(tmp_path))
    assert ran.code == 2
    assert "PEGBOARD_KEY" in ran.err
    assert str(tmp_path / "credentials") in ran.err


def test_a_wrong_key_exits_1_and_says_where_it_came_from(admin: Program, tmp_path: Path) -> None:
    assert "--key or PEGBOARD_KEY" in admin.run("whoami", "--key", "pb_wrong").err
    (tmp_path / "credentials").write_text("pb_wrong\n")
    ran = admin.run("whoami", PEGBOARD_HOME=str(tmp_path))
    assert ran.code == 1
    assert "This key is not known here" in ran.err
    assert str(tmp_path / "credentials") in ran.err


@pytest.mark.parametrize("key", ["two words", "schlüssel", "a\nb", " "])
def test_a_key_that_no_header_can_hold_exits_2(admin: Program, key: str) -> None:
    assert admin.run("whoami", "--key", key).code == 2


def test_options_after_the_command_win_over_those_before(admin: Program, unreachable: Program) -> None:
    url = admin.environment["PEGBOARD_URL"]
    assert unreachable.run("whoami", "--url", url, PEGBOARD_KEY="wrong-0123456789").code == 1
    assert admin.run("--url", "http://127.0.0.1:1", "whoami", "--url", url).code == 0


@pytest.mark.parametrize("url", ["board", "127.0.0.1:8080", "ftp://x", "http://", "http://x:y", "http://x?y=1"])
def test_what_is_no_address_of_a_board_exits_2(admin: Program, url: str) -> None:
    assert admin.run("whoami", "--url", url).code == 2


def test_an_address_without_a_scheme_is_shown_with_one(admin: Program) -> None:
    ran = admin.run("whoami", "--url", "127.0.0.1:8300")
    assert "'127.0.0.1:8300' is not the URL of a server. Write it like http://127.0.0.1:8300" in ran.err


@pytest.mark.parametrize(
    "words", [["--local", "--url", "http://x", "whoami"], ["whoami", "--local", "--url", "http://x"]]
)
def test_local_and_a_url_do_not_go_together(admin: Program, words: list[str]) -> None:
    ran = admin.run(*words)
    assert (ran.code, "--local" in ran.err, "--url" in ran.err) == (2, True, True)


@pytest.mark.parametrize(
    ("words", "flag"), [(["--local"], "--local"), (["--url", "http://x"], "--url"), (["--json"], "--json")]
)
def test_serve_refuses_the_options_of_clients(admin: Program, words: list[str], flag: str) -> None:
    ran = admin.run(*words, "serve", "--port", "0")
    assert (ran.code, f"serve runs a server itself and does not take {flag}" in ran.err) == (2, True)


def test_an_address_that_the_machine_does_not_have_is_reported_with_host(admin: Program) -> None:
    ran = admin.run("serve", "--host", "192.0.2.1", "--port", "0")
    assert (ran.code, "this machine does not have that address" in ran.err, "--host" in ran.err) == (2, True, True)


def test_with_json_a_refusal_is_a_problem_on_standard_output(admin: Program) -> None:
    ran = admin.run("--json", "tools", "show", "no_such_tool")
    assert (ran.code, ran.json["status"], ran.json["detail"]) == (
        1,
        404,
        IsStr(regex="Tool 'no_such_tool' not found.*"),
    )
    usage = admin.run("tools", "add", "/no/such/file", "--json")
    assert (usage.code, "/no/such/file" in usage.json["detail"]) == (2, True)


def test_an_empty_list_says_so(admin: Program) -> None:
    ran = admin.run("tools", "list", "--tag", "no-such-tag").done()
    assert (ran.out, ran.err) == ("", "No tools match.\n")


def test_an_empty_secret_is_refused(admin: Program) -> None:
    ran = admin.run("secrets", "set", "EMPTY", "--stdin", stdin="")
    assert (ran.code, "value: is empty" in ran.err) == (1, True)


def test_help_names_values_by_words_and_not_by_types(admin: Program) -> None:
    shown = admin.run("tools", "list", "--help").done().out
    assert "--tag TEXT" in shown
    assert "--limit N" in shown
    assert "<" not in shown


def test_settings_that_are_wrong_exit_2_and_are_named(admin: Program) -> None:
    ran = admin.run("whoami", PEGBOARD_PORT="many")
    assert ran.code == 2
    assert "PEGBOARD_PORT" in ran.err


@pytest.mark.parametrize(
    ("status", "kind", "body"),
    [
        (b"200 OK", b"text/html", b"<h1>hello</h1>"),
        (b"200 OK", b"application/json", b'{"hello": "world"}'),
        (b"404 Not Found", b"application/json", b"{}"),
        (b"302 Found", b"text/html", b""),
        (b"200 OK", b"application/json", b"not json"),
        (b"502 Bad Gateway", b"text/plain", b"no"),
    ],
)
def test_a_server_that_is_no_board_exits_3(listening: socket.socket, status: bytes, kind: bytes, body: bytes) -> None:
    program = Program({"PEGBOARD_URL": url_of(listening), "PEGBOARD_KEY": "a-key-0123456789"})
    process = subprocess.Popen(
        forked_command("pegboard", "whoami"),
        env=program.full_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with process, listening.accept()[0] as connection:
        connection.recv(65536)
        connection.sendall(NOT_OURS % (status, kind, len(body), body))
        _, err = process.communicate(timeout=SECONDS)
    assert process.returncode == 3, err
    assert f"{url_of(listening)} is not a Pegboard server (it answered " in err


def test_ctrl_c_exits_130_without_a_word(listening: socket.socket) -> None:
    program = Program({"PEGBOARD_URL": url_of(listening), "PEGBOARD_KEY": "a-key-0123456789"})
    process = subprocess.Popen(
        [sys.executable, "-m", "pegboard", "call", "echo"],
        env=program.full_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with process, listening.accept()[0] as connection:
        connection.recv(65536)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=SECONDS)
    assert (process.returncode, out, err) == (130, "", "")


def test_a_reader_who_stops_reading_is_no_error(admin: Program) -> None:
    many = json.dumps({str(number): "x" * 100 for number in range(5_000)})
    process = subprocess.Popen(
        [sys.executable, "-m", "pegboard", "call", "echo", "--input", "-"],
        env=admin.full_environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        process.stdin.write(many)
        process.stdin.close()
        err = process.stderr.read()
    assert (process.returncode, err) == (141, "")


def test_a_proxy_is_not_asked_for_a_board_on_this_machine(admin: Program) -> None:
    admin.run("whoami", HTTP_PROXY="http://127.0.0.1:1", http_proxy="http://127.0.0.1:1", NO_PROXY="").done()
