"""A python tool's call, within the process that is confined for it: its function runs, and what it returns goes out."""

from __future__ import annotations

import asyncio
import inspect
import io
import json
import linecache
import os
import random
import sys
import traceback
from collections.abc import Mapping
from types import ModuleType, TracebackType
from typing import Any

from pegboard.sandbox.inside.json_values import TooLarge, Unfit, json_text
from pegboard.sandbox.inside.reporting import reporters
from pegboard.sandbox.inside.streams import END

_FILE = "<tool>"
_MODULE = "tool"
# What stands around a result: {"ok":…}, and what tells that it is whole.
_AROUND = 8
_LONGEST_TYPE = 200
_LONGEST_MESSAGE = 4000
_LONGEST_SOURCE = 200
_RECURSION = 1000
# What Python 3.11 says where there is no memory for one more call of a function.
_NO_FRAME = "error return without exception set"
# As it is now: the code may put something else in its place.
_exit = os._exit
_BROKEN = b'{"error":{"type":"Exception","message":"the code failed, and what it did to Python itself keeps it from \
saying how","line":null,"source":null}}'


def run(job: Mapping[str, Any], result_fd: int, reports_fd: int | None = None) -> None:
    """Run the code of the job and write what came of it, one JSON object, to the descriptor; nothing is raised.

    The object is `{"ok": result}`, `{"error": {type, message, line, source}}`, `{"unfit": why}` where the result is no
    JSON, or `{"large": most}` where it is more than that many bytes; a line feed follows it, and none is in it. What
    the code reports while it runs goes to the other descriptor, a line each, or nowhere.
    """
    process = os.getpid()
    try:
        answer = _answer(job, reports_fd)
    except BaseException:  # the code may have broken whatever the answer is made with
        answer = _BROKEN
    if os.getpid() != process:
        _exit(0)  # a fork that the code made: the first process answers
    _flush()
    _send(result_fd, answer + END)


def _answer(job: Mapping[str, Any], reports_fd: int | None) -> bytes:
    most = int(job["limits"]["result"]) - _AROUND
    try:
        return b'{"ok":' + json_text(_called(job, reports_fd), most) + b"}"
    except Unfit as error:
        return _object({"unfit": str(error)[:_LONGEST_MESSAGE]})
    except TooLarge:
        return _object({"large": most})
    except BaseException as error:
        return _object({"error": _described(error, job)})


def tidy() -> None:
    """Leave nothing of whoever started this process, for the copies of it that are made for calls."""
    os.environ.clear()
    sys.argv, sys.orig_argv = [_FILE], [_FILE]
    sys.path[:] = [path for path in sys.path if path]


def open_output() -> None:
    """Have what is printed go to the usual descriptors, whatever a library has put there."""
    sys.stdout, sys.stderr = _printer(1), _printer(2)


def differ() -> None:
    """Have as this process's own what no two copies of the same may share."""
    if (tempfile := sys.modules.get("tempfile")) is not None:
        tempfile.tempdir = None  # type: ignore[attr-defined]
    random.seed()
    if (numpy_random := sys.modules.get("numpy.random")) is not None:
        # Its own way to come by a seed takes ten times as long.
        numpy_random.seed(int.from_bytes(os.urandom(4)))


def _printer(descriptor: int) -> io.TextIOWrapper:
    # By the line, so that what was printed is known even of code that is ended.
    raw = open(descriptor, "wb", closefd=False)  # noqa: SIM115 -- as long as the process
    return io.TextIOWrapper(raw, "utf-8", "backslashreplace", line_buffering=True)


def _called(job: Mapping[str, Any], reports_fd: int | None) -> Any:
    code: str = job["code"]
    lines = io.StringIO(code, newline=None).readlines()  # those that Python counts, which splitlines() does not
    linecache.cache[_FILE] = (len(code), None, lines, _FILE)
    module = ModuleType(_MODULE)
    module.__file__ = _FILE
    module.__dict__.update(reporters(reports_fd))
    # By this name what the code defines finds itself; `__main__` would be this process's own program.
    sys.modules[_MODULE] = sys.modules["__main__"] = module
    exec(compile(code, _FILE, "exec", dont_inherit=True), module.__dict__)  # noqa: S102 -- what all of this is for
    result = getattr(module, job["entry"])(**job["arguments"])
    if inspect.iscoroutine(result):
        result = asyncio.run(result)
    # Code that lowered it is done; what it returned may take more.
    sys.setrecursionlimit(max(sys.getrecursionlimit(), _RECURSION))
    return result


def _described(error: BaseException, job: Mapping[str, Any]) -> dict[str, Any]:
    """What the exception says, and the last line of the tool's own code that it came through."""
    line = _line(error.__traceback__)
    while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
        line = _line(error.__traceback__) or line
    if isinstance(error, SyntaxError) and error.filename == _FILE:
        line = error.lineno
    # The frames hold what took the memory.
    traceback.clear_frames(error.__traceback__)
    source = linecache.getline(_FILE, line).strip() if line is not None else ""
    return {
        "type": type(error).__name__[:_LONGEST_TYPE],
        "message": _message(error, job)[:_LONGEST_MESSAGE],
        "line": line,
        "source": source[:_LONGEST_SOURCE] or None,
    }


def _line(trace: TracebackType | None) -> int | None:
    last = None
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == _FILE:
            last = trace.tb_lineno
        trace = trace.tb_next
    return last


def _message(error: BaseException, job: Mapping[str, Any]) -> str:
    if isinstance(error, MemoryError) or (isinstance(error, SystemError) and _NO_FRAME in error.args):
        return f"a call may take {int(job['limits']['memory']) // 2**20} MiB of memory; work on less at once"
    if isinstance(error, SystemExit):
        return "the code ended its process, where it should return a result"
    if isinstance(error, KeyboardInterrupt):
        return "the code was interrupted by a signal"
    try:
        text = str(error)
    except BaseException as failure:
        return f"(its message cannot be read: {type(failure).__name__})"
    if isinstance(error, RecursionError):
        return f"{text}: the code calls itself without end, or too often"
    return text


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BaseException:  # noqa: S112 -- the code may have put anything there, and the result matters more
            continue


def _object(value: dict[str, Any]) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")


def _send(descriptor: int, data: bytes) -> None:
    left = memoryview(data)
    while left:
        left = left[os.write(descriptor, left) :]
