"""Processes that confine themselves and then evaluate an expression: a clean program forks one for each attempt."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pegboard

# The part of the package that a confined process can import, besides the standard library.
STAND_IN = (
    "import sys, types; package = types.ModuleType('pegboard'); "
    f"package.__path__ = [{str(Path(pegboard.__file__).parent)!r}]; sys.modules['pegboard'] = package\n"
)

# Imported here, so that no attempt imports anything once it is confined.
_FORKER = """
import asyncio, ctypes, errno, fcntl, json, mmap, multiprocessing, os, resource, select, signal, socket, stat
import subprocess, tempfile, threading, time
from pegboard.sandbox.child import landlock, seccomp_filter as seccomp, syscalls
from pegboard.sandbox.child.syscall_numbers import SYSCALL_NUMBERS as NUMBERS, get_machine as machine

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long

def number(name):
    return NUMBERS[machine()][name]

def call(name, *arguments):
    made = libc.syscall(number(name) if isinstance(name, str) else name, *map(ctypes.c_long, arguments))
    if made < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return made

def attempt(job):
    try:
        exec(job["before"], globals())
        syscalls.forbid_new_privileges()
        if job["landlock"] is not None:
            landlock.apply_landlock(**job["landlock"])
        if job["seccomp"] is not None:
            seccomp.apply_seccomp(network=job["seccomp"])
        outcome = eval(job["code"], globals())
    except OSError as error:
        outcome = errno.errorcode.get(error.errno, str(error))
        if job["message"]:
            outcome = str(error)
    except BaseException as error:
        outcome = repr(error)
    return json.dumps(outcome, default=repr).encode()

for line in sys.stdin:
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        os.write(write, attempt(json.loads(line)))
        os._exit(0)
    os.close(write)
    said = b""
    while piece := os.read(read, 65536):
        said += piece
    os.close(read)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if status != 0:
        said = json.dumps(signal.Signals(-status).name if status < 0 else f"exit {status}").encode()
    print(said.decode(), flush=True)
"""


class Forker:
    """Evaluates expressions in confined processes, one after the other."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def attempt(
        self,
        code: str,
        *,
        seccomp: bool | None = None,
        landlock: dict[str, Any] | None = None,
        before: str = "",
        message: bool = False,
    ) -> Any:
        """Return the value of an expression in a process confined so, or the name of its error or signal.

        `before` runs unconfined; `seccomp` is whether there is a network, None for no filter.
        """
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        job = {"code": code, "seccomp": seccomp, "landlock": landlock, "before": before, "message": message}
        self._process.stdin.write(json.dumps(job) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())


@contextmanager
def forker() -> Iterator[Forker]:
    """A program that forks confined processes."""
    command = [sys.executable, "-I", "-S", "-B", "-c", STAND_IN + _FORKER]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield Forker(process)
        assert process.stdin is not None
        process.stdin.close()


def run_under_filter(*command: str, network: bool = False, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Return how a program ends that runs under the filter of system calls, with `cwd` as its home too."""
    boot = (
        "import os\nfrom pegboard.sandbox.child import seccomp_filter as seccomp, syscalls\n"
        f"syscalls.forbid_new_privileges(); seccomp.apply_seccomp(network={network})\n"
        "os.execvp(sys.argv[1], sys.argv[1:])"
    )
    return subprocess.run(
        [sys.executable, "-I", "-S", "-B", "-c", STAND_IN + boot, *command],
        cwd=cwd,
        env={"PATH": "/usr/bin:/bin", "HOME": str(cwd), "TMPDIR": str(cwd), "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
