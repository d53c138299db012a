"""The warm process that calls are forked from: it enters its house, imports the libraries, and waits.

Started as `python -I -S -B -c … HOUSE` with the house as JSON, and the socket on which calls come as descriptor 3. It
stays single-threaded, and it holds nothing that a call may not see: calls inherit its memory.
"""

from __future__ import annotations

import ctypes
import gc
import importlib
import json
import os
import resource
import signal
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import NoReturn

from pegboard.sandbox.inside import house as houses
from pegboard.sandbox.inside import syscalls
from pegboard.sandbox.inside.bare import Bare
from pegboard.sandbox.inside.call import Terms
from pegboard.sandbox.inside.frames import Gone, Line
from pegboard.sandbox.inside.imports_guard import guard_imports
from pegboard.sandbox.inside.place import Place
from pegboard.sandbox.inside.rehearsal import practise
from pegboard.sandbox.inside.room import Room
from pegboard.sandbox.inside.steps import StepFailed
from pegboard.sandbox.inside.supervisor import Supervisor

# Numerical libraries start threads of their own otherwise, which no fork survives.
_ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")
_LINE = 3
_NAME = b"pegboard-zygote"
_NETWORK = b"N"
# Supervisors have as much, and what they confine has more.
_NICE = 5


class LibraryFailed(Exception):
    """A library that calls were promised could not be imported."""

    def __init__(self, name: str, why: str) -> None:
        super().__init__(why)
        self.name = name


def main() -> NoReturn:
    """Serve calls until the server has no more of them; this process ends then."""
    line = socket.socket(fileno=_LINE)
    try:
        terms, place = _prepare(sys.argv[1])
    except LibraryFailed as error:
        _fail(line, {"failed": f"importing {error.name}: {error}", "library": error.name})
    except Exception as error:
        _fail(line, {"failed": str(error) if isinstance(error, StepFailed) else f"{type(error).__name__}: {error}"})
    line.send(json.dumps({"ready": True}).encode())
    _serve(line, terms, place)
    # The kernel reaps the children; this waits for the last one.
    with suppress(ChildProcessError):
        os.waitpid(-1, 0)
    os._exit(0)


def _prepare(text: str) -> tuple[Terms, Place]:
    house = houses.House.read(text)
    _rename()
    # The first process of a namespace gets those signals from within that it has a handler for.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    _give_way()
    place: Place
    if house.namespaces:
        houses.build(house)
        place = Room(house)
    else:
        place = Bare(house)
    os.environ.update(dict.fromkeys(_ONE_THREAD, "1"))
    sys.path += house.prefixes
    for name in house.modules:
        _import(name)
    practised = practise(house.modules)
    guard_imports(house.allowed)
    gc.collect()
    gc.freeze()
    syscalls.make_huge_pages()
    terms = Terms(
        readable=houses.readable(house),
        writable=houses.writable(house),
        without=house.without,
        practised=practised,
        baseline=int(Path("/proc/self/statm").read_text().split()[5]) * resource.getpagesize(),
    )
    return terms, place


def _give_way() -> None:
    """Have all else served first; and where the machine runs short of memory, have it look here first."""
    syscalls.lower_priority(_NICE)
    with suppress(OSError):
        syscalls.write("/proc/self/oom_score_adj", "800")


def _rename() -> None:
    """Put a name in the place of the arguments: calls can read those, and they say where the board keeps its files."""
    start, end = map(int, Path("/proc/self/stat").read_text().rpartition(")")[2].split()[45:47])
    ctypes.memset(start, 0, end - start)
    ctypes.memmove(start, _NAME, min(len(_NAME), end - start))
    sys.argv[:] = sys.orig_argv[:] = [_NAME.decode()]


def _import(name: str) -> None:
    try:
        importlib.import_module(name)
    except BaseException as error:
        raise LibraryFailed(name, f"{type(error).__name__}: {error}") from error


def _serve(line: socket.socket, terms: Terms, place: Place) -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    start = partial(Supervisor.start, terms, place)
    spare: Supervisor | None = None
    while True:
        # Most of what it takes to start a call is done before there is one.
        with suppress(OSError):
            spare = spare or start(network=False)
        kind, descriptors, _flags, _address = socket.recv_fds(line, 16, 1)
        if not kind:
            return
        with socket.socket(fileno=descriptors[0]) as call:
            if kind == _NETWORK or spare is None or not spare.take(call):
                _start_late(call, partial(start, network=kind == _NETWORK))
            if kind != _NETWORK:
                spare = None


def _start_late(call: socket.socket, start: Callable[[], Supervisor]) -> None:
    try:
        start().take(call)
    except OSError as error:
        with suppress(Gone):
            Line(call).say_failed(f"starting a supervisor in its own namespaces: {error.strerror}")


def _fail(line: socket.socket, message: dict[str, str]) -> NoReturn:
    line.send(json.dumps(message).encode())
    os._exit(1)
