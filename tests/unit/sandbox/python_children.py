"""Runs python jobs as the sandbox does, each in a fork of a clean process, but unconfined."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

SOURCE = Path(__file__).parents[3] / "src" / "pegboard"
LIMITS = {"memory": 512 * 2**20, "result": 64 * 1024}

_PROGRAM = """
import importlib, json, os, sys, types
package = types.ModuleType("pegboard")
package.__path__ = [sys.argv[1]]
sys.modules["pegboard"] = package
from pegboard.sandbox.child import python_call as python_job
from pegboard.sandbox.child.python_runner import guard_imports
sys.path += json.loads(sys.argv[3])
for name in json.loads(sys.argv[4]):
    importlib.import_module(name)
for line in sys.stdin:
    job = json.loads(line)
    files = [os.path.join(sys.argv[2], name) for name in ("result", "stdout", "stderr")]
    child = os.fork()
    if not child:
        opened = [os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC) for path in files]
        os.dup2(opened[1], 1)
        os.dup2(opened[2], 2)
        guard_imports(job["allowed"])
        python_job.clear_parent_state()
        python_job.open_output()
        python_job.reseed_process()
        python_job.run_python_job(job, opened[0])
        os._exit(0)
    _, status = os.waitpid(child, 0)
    print(os.waitstatus_to_exitcode(status), flush=True)
"""


class Ran(NamedTuple):
    """The result of a job."""

    code: int
    result: bytes
    stdout: str
    stderr: str

    @property
    def answer(self) -> dict[str, Any]:
        """The one JSON object of the result."""
        return dict(json.loads(self.result))


class Children:
    """A process that forks one child for each job."""

    def __init__(self, process: subprocess.Popen[str], folder: Path) -> None:
        self._process = process
        self._folder = folder

    def run(self, code: str, entry: str = "f", **job: Any) -> Ran:
        """Return the result of a call of this code's function."""
        values = {"code": code, "entry": entry, "arguments": {}, "limits": LIMITS, "allowed": [], **job}
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(values) + "\n")
        self._process.stdin.flush()
        ended = int(self._process.stdout.readline())
        result, stdout, stderr = (self._folder / name for name in ("result", "stdout", "stderr"))
        return Ran(ended, result.read_bytes(), stdout.read_text("utf-8"), stderr.read_text("utf-8"))


@contextmanager
def children(folder: Path, modules: tuple[str, ...] = ()) -> Iterator[Children]:
    """A clean process with these modules imported."""
    site = [path for path in sys.path if path.endswith("site-packages")]
    command = [sys.executable, "-I", "-S", "-B", "-c", _PROGRAM, str(SOURCE), str(folder)]
    command += [json.dumps(site), json.dumps(modules)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield Children(process, folder)
