"""Run the command line program as its users do."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

from typer.testing import CliRunner

from pegboard.surfaces.cli.main import app
from tests.fork_server import fork, forked_command

SECONDS = 60


@dataclass(frozen=True, slots=True)
class Outcome:
    """The exit code and the output of a run."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The stdout, which must be one JSON document."""
        return json.loads(self.out)

    def done(self) -> Outcome:
        """Itself, if the run succeeded."""
        assert self.code == 0, (self.code, self.out, self.err)
        return self


@dataclass(frozen=True, slots=True)
class Program:
    """The program with the environment of one user."""

    environment: Mapping[str, str] = field(default_factory=dict)

    def run(self, *words: str, stdin: str | bytes | None = None, **more: str) -> Outcome:
        """Run it within this process, which is quick."""
        without = {name: None for name in os.environ if name.startswith("PEGBOARD_")}
        result = CliRunner().invoke(app, list(words), input=stdin, env={**without, **self.environment, **more})
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return Outcome(result.exit_code, result.stdout, result.stderr)

    def start(self, *words: str, stdin: str | None = None, **more: str) -> Outcome:
        """Run it as a separate process."""
        with TemporaryFile() as given, TemporaryFile() as opened:
            given.write((stdin or "").encode())
            given.seek(0)
            environment = self.full_environment(**more)
            with fork(
                "pegboard", *words, environment=environment, stdin=given.fileno(), stderr=opened.fileno()
            ) as process:
                late = threading.Timer(SECONDS, process.kill)
                late.start()
                out = process.stdout.read().decode()
                late.cancel()
                code = process.wait(SECONDS)
            opened.seek(0)
            return Outcome(code, out, opened.read().decode())

    def launch(self, *words: str, stdin: str | None = None, **more: str) -> Outcome:
        """Run the program as a new process, as a shell does."""
        done = subprocess.run(
            [sys.executable, "-m", "pegboard", *words],
            input=stdin,
            stdin=subprocess.DEVNULL if stdin is None else None,
            env=self.full_environment(**more),
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=SECONDS,
            check=False,
        )
        return Outcome(done.returncode, done.stdout, done.stderr)

    def full_environment(self, **more: str) -> dict[str, str]:
        """The environment of a separate process."""
        clean = {name: value for name, value in os.environ.items() if not name.startswith("PEGBOARD_")}
        return {**clean, "NO_COLOR": "1", **self.environment, **more}

    def but(self, **more: str) -> Program:
        """The same program in a changed environment."""
        return Program({**self.environment, **more})

    def on_terminal(self, *words: str, **more: str) -> tuple[int, str]:
        """Run the program on a terminal of 80 columns; return its exit code and everything on the screen."""
        ours, theirs = pty.openpty()
        environment = {"COLUMNS": "80", "TERM": "xterm", **self.full_environment(**more)}
        process = subprocess.Popen(
            forked_command("pegboard", *words), env=environment, stdin=theirs, stdout=theirs, stderr=theirs
        )
        os.close(theirs)
        seen = b""
        with process, suppress(OSError):  # a terminal ends with an error
            while part := os.read(ours, 65536):
                seen += part
        os.close(ours)
        return process.returncode, seen.decode()


def screen(seen: str) -> list[str]:
    """Return the final content of the terminal, line by line."""
    lines, row, column = [""], 0, 0
    for move, text in re.findall(r"(\x1b\[[\d;?]*[A-Za-z]|[\r\n])|([^\x1b\r\n]+)", seen):
        if move == "\r":
            column = 0
        elif move == "\n":
            row += 1
            lines += [""] * (row + 1 - len(lines))
        elif move.endswith("A"):
            row -= int(move[2:-1])
        elif move == "\x1b[2K":
            lines[row] = ""
        elif text:
            lines[row] = lines[row][:column].ljust(column) + text + lines[row][column + len(text) :]
            column += len(text)
    return [line.rstrip() for line in lines]


@contextmanager
def serving(home: Path, *options: str) -> Iterator[str]:
    """Run a server with its state in this folder; yield its address."""
    environment = Program({"PEGBOARD_HOME": str(home)}).full_environment()
    with Path(os.devnull).open("r+b") as nothing:
        words = ("serve", "--port", "0", *options)
        process = fork("pegboard", *words, environment=environment, stdin=nothing.fileno(), stderr=nothing.fileno())
    with process:
        try:
            yield next(_addresses(line.decode() for line in process.stdout))
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(SECONDS)


def _addresses(lines: Iterator[str]) -> Iterator[str]:
    for line in lines:
        _, found, rest = line.partition("serving at ")
        if found:
            yield rest.split()[0]
