"""How a confined call ended, told as an error where it did not end by itself."""

from __future__ import annotations

import signal

from pegboard.core.errors import ExecutionFailed, TimedOut, ToolError
from pegboard.executors.masking import Mask
from pegboard.sandbox.line import Ended

_SHOWN = 600


def failure_of(ended: Ended, tool: str, seconds: float) -> ToolError | None:
    """Why the call of this tool, which had so many seconds, was ended; None where it ended by itself."""
    match ended.fate:
        case "exited":
            return None
        case "time":
            return TimedOut(f"Tool '{tool}' did not finish within {seconds:g} s")
        case "signalled":
            return ExecutionFailed(f"Tool '{tool}' was ended by {_signal(ended.code)}")
        case _:
            return ExecutionFailed(f"Tool '{tool}' was ended: {ended.message}")


def end_of_text(data: bytes, mask: Mask) -> str:
    """The end of what a call wrote to standard error, for a message: in one line, without credentials."""
    text = " ".join(mask.data(data).decode("utf-8", "replace").split())
    return text if len(text) <= _SHOWN else "…" + text[-_SHOWN:]


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
