"""Runs the function of a python tool in the confined process, writes its result, and reports its progress."""

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
from collections.abc import Callable, Mapping
from types import ModuleType, TracebackType
from typing import Any

from pegboard.sandbox.child.pipes import RESULT_END
from pegboard.sandbox.child.result_json import JsonTooLarge, UnserializableValue, encode_result

# References from before the tool's code runs, which may replace these functions.
_write, _dumps = os.write, json.dumps
# A write of at most 4096 bytes to a pipe is atomic. Escaped, a character takes at most 6 bytes.
_PIECE_CHARS = 650
_MAX_REPORT_CHARS = 1000
# Integers up to here are exact in every JSON implementation.
_MAX_EXACT_INTEGER = 2**53


def make_reporters(fd: int | None) -> dict[str, Callable[..., None]]:
    """Return the reporting functions by name.

    They write one line per report to the file descriptor, or nothing if None.
    """

    def report_progress(progress: float, total: float | None = None, message: str | None = None) -> None:
        """Report the progress of the call, such as 3 of 10, and optionally what it does now."""
        report: dict[str, Any] = {"progress": _check_number("progress", progress)}
        if total is not None:
            report["total"] = _check_number("total", total)
        if message is not None:
            report["message"] = _check_text("report_progress() takes the message", message)[:_MAX_REPORT_CHARS]
        if fd is not None:
            _send_report(fd, report)

    def report_partial(text: str) -> None:
        """Send a piece of the output to the caller; the function must still return its result."""
        text = _check_text("report_partial() takes its text", text)
        if fd is not None:
            for start in range(0, len(text), _PIECE_CHARS):
                _send_report(fd, {"partial": text[start : start + _PIECE_CHARS]})

    return {"report_progress": report_progress, "report_partial": report_partial}


def _check_number(name: str, value: Any) -> float | None:
    """Return the number, or None if JSON cannot hold it; raise TypeError if it is not a number."""
    if isinstance(value, bool) or not hasattr(value, "__float__"):
        raise TypeError(f"report_progress() takes {name} as a number, not as {type(value).__name__}")
    if isinstance(value, int) and -_MAX_EXACT_INTEGER <= value <= _MAX_EXACT_INTEGER:
        return int(value)
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if number - number == 0 else None  # neither infinite nor NaN


def _check_text(what: str, value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{what} as a str, not as {type(value).__name__}")
    return value


def _send_report(fd: int, report: dict[str, Any]) -> None:
    line = _dumps(report, ensure_ascii=False).encode("utf-8", "replace") + b"\n"
    try:
        while line:
            line = line[_write(fd, line) :]
    except OSError:
        pass  # the code has closed it, or the reader is gone


_CODE_FILE = "<tool>"
_MODULE_NAME = "tool"
# The bytes around a result: {"ok":…} and the end mark.
_ENVELOPE_BYTES = 8
_MAX_TYPE_CHARS = 200
_MAX_ERROR_CHARS = 4000
_MAX_SOURCE_CHARS = 200
_MIN_RECURSION_LIMIT = 1000
# The message of Python 3.11 if there is no memory for another function call.
_NO_MEMORY_MESSAGE = "error return without exception set"
# A reference from before the tool's code runs, which may replace the function.
_exit = os._exit
_BROKEN_ANSWER = b'{"error":{"type":"Exception","message":"the code failed, and changed Python itself so that the \
error cannot be described","line":null,"source":null}}'


def run_python_job(job: Mapping[str, Any], result_fd: int, reports_fd: int | None = None) -> None:
    """Run the code of the job and write its outcome, one JSON object, to the file descriptor; raise nothing.

    The object is `{"ok": result}`, `{"error": {type, message, line, source}}`, `{"unfit": why}` if the result cannot be
    JSON, or `{"large": most}` if it is larger than that many bytes. A line feed follows it and does not occur in it.
    Reports of the running code are written to `reports_fd`, one per line, or dropped if it is None.
    """
    process = os.getpid()
    try:
        answer = _build_answer(job, reports_fd)
    except BaseException:  # the code may have broken the functions that build the answer
        answer = _BROKEN_ANSWER
    if os.getpid() != process:
        _exit(0)  # a fork that the code made: only the original process answers
    _flush_output()
    _write_all(result_fd, answer + RESULT_END)


def _build_answer(job: Mapping[str, Any], reports_fd: int | None) -> bytes:
    most = int(job["limits"]["result"]) - _ENVELOPE_BYTES
    try:
        return b'{"ok":' + encode_result(_call_function(job, reports_fd), most) + b"}"
    except UnserializableValue as error:
        return _encode_object({"unfit": str(error)[:_MAX_ERROR_CHARS]})
    except JsonTooLarge:
        return _encode_object({"large": most})
    except BaseException as error:
        return _encode_object({"error": _describe_error(error, job)})


def clear_parent_state() -> None:
    """Remove the environment and arguments of the parent process before this process is forked for calls."""
    os.environ.clear()
    sys.argv, sys.orig_argv = [_CODE_FILE], [_CODE_FILE]
    sys.path[:] = [path for path in sys.path if path]


def open_output() -> None:
    """Direct sys.stdout and sys.stderr to file descriptors 1 and 2, even if a library replaced them."""
    sys.stdout, sys.stderr = _open_printer(1), _open_printer(2)


def reseed_process() -> None:
    """Reset the state that forks of the same process must not share, such as random seeds."""
    if (tempfile := sys.modules.get("tempfile")) is not None:
        tempfile.tempdir = None  # type: ignore[attr-defined]
    random.seed()
    if (numpy_random := sys.modules.get("numpy.random")) is not None:
        # numpy's own seeding takes ten times as long.
        numpy_random.seed(int.from_bytes(os.urandom(4)))


def _open_printer(descriptor: int) -> io.TextIOWrapper:
    # Line-buffered, so that the output of code that is killed is not lost.
    raw = open(descriptor, "wb", closefd=False)  # noqa: SIM115 -- as long as the process
    return io.TextIOWrapper(raw, "utf-8", "backslashreplace", line_buffering=True)


def _call_function(job: Mapping[str, Any], reports_fd: int | None) -> Any:
    code: str = job["code"]
    lines = io.StringIO(code, newline=None).readlines()  # the lines that Python counts, unlike splitlines()
    linecache.cache[_CODE_FILE] = (len(code), None, lines, _CODE_FILE)
    module = ModuleType(_MODULE_NAME)
    module.__file__ = _CODE_FILE
    module.__dict__.update(make_reporters(reports_fd))
    # Classes and functions of the code refer to this module name; `__main__` would be the program of this process.
    sys.modules[_MODULE_NAME] = sys.modules["__main__"] = module
    exec(compile(code, _CODE_FILE, "exec", dont_inherit=True), module.__dict__)  # noqa: S102 -- what all of this is for
    result = getattr(module, job["entry"])(**job["arguments"])
    if inspect.iscoroutine(result):
        result = asyncio.run(result)
    # The code may have lowered the limit, and encoding its result may need more.
    sys.setrecursionlimit(max(sys.getrecursionlimit(), _MIN_RECURSION_LIMIT))
    return result


def _describe_error(error: BaseException, job: Mapping[str, Any]) -> dict[str, Any]:
    """Return the message of the exception, and the last line of the tool's code in its traceback."""
    line = _find_tool_line(error.__traceback__)
    while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
        line = _find_tool_line(error.__traceback__) or line
    if isinstance(error, SyntaxError) and error.filename == _CODE_FILE:
        line = error.lineno
    # The frames hold references to the objects that used the memory.
    traceback.clear_frames(error.__traceback__)
    source = linecache.getline(_CODE_FILE, line).strip() if line is not None else ""
    return {
        "type": type(error).__name__[:_MAX_TYPE_CHARS],
        "message": _explain_error(error, job)[:_MAX_ERROR_CHARS],
        "line": line,
        "source": source[:_MAX_SOURCE_CHARS] or None,
    }


def _find_tool_line(trace: TracebackType | None) -> int | None:
    last = None
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == _CODE_FILE:
            last = trace.tb_lineno
        trace = trace.tb_next
    return last


def _explain_error(error: BaseException, job: Mapping[str, Any]) -> str:
    if isinstance(error, MemoryError) or (isinstance(error, SystemError) and _NO_MEMORY_MESSAGE in error.args):
        return f"a call may take {int(job['limits']['memory']) // 2**20} MiB of memory; work on less at once"
    if isinstance(error, SystemExit):
        return "the code ended its process instead of returning a result"
    if isinstance(error, KeyboardInterrupt):
        return "the code was interrupted by a signal"
    try:
        text = str(error)
    except BaseException as failure:
        return f"(its message cannot be read: {type(failure).__name__})"
    if isinstance(error, RecursionError):
        return f"{text}: the code calls itself without end, or too often"
    return text


def _flush_output() -> None:
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BaseException:  # noqa: S112 -- the code may have put anything there, and the result matters more
            continue


def _encode_object(value: dict[str, Any]) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")


def _write_all(descriptor: int, data: bytes) -> None:
    left = memoryview(data)
    while left:
        left = left[os.write(descriptor, left) :]
