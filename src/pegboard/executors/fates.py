"""When a confined call has to end, and how it did, told as an error where it did not end by itself."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterable

from pegboard.core.call import ReadyCall
from pegboard.core.errors import ExecutionFailed, TimedOut, ToolError
from pegboard.core.tool import MASK
from pegboard.executors.attempts import end_of
from pegboard.executors.masking import Mask
from pegboard.sandbox.line import Ended

_SHOWN = 600
# A call is ended by who looks after it this part of its time before the pipeline gives up on it, so that it can say
# what happened.
_EARLY = 0.05
_MOST_EARLY_SECONDS = 0.5
_NEARLY = 0.9
# A text that ends in fewer characters of a secret ends so by chance, and gives nothing away.
_TELLING = 4


def time_for(call: ReadyCall, seconds: float) -> tuple[float, float]:
    """How long a call that begins now may take, of so many seconds at most, and when the sandbox has to end it."""
    left = max(0.0, min(seconds, call.deadline - time.monotonic()))
    if left > seconds * _NEARLY:
        left = seconds  # for a message, that is what it had
    return left, end_of(call, seconds) - min(_MOST_EARLY_SECONDS, left * _EARLY)


def failure_of(ended: Ended, tool: str, seconds: float) -> ToolError | None:
    """Why the call of this tool, which had so many seconds, was ended; None where it ended by itself."""
    match ended.fate:
        case "exited":
            return None
        case "time":
            waited = f", {_short(ended.waited)} s of which it waited to begin" if ended.waited > seconds / 2 else ""
            return TimedOut(f"Tool '{tool}' did not finish within {_short(seconds)} s{waited}")
        case "signalled":
            return ExecutionFailed(f"Tool '{tool}' was ended by {_signal(ended.code)}")
        case _:
            return ExecutionFailed(f"Tool '{tool}' was ended: {ended.message}")


def end_of_text(data: bytes, mask: Mask) -> str:
    """The end of what a call wrote to standard error, for a message: in one line, without credentials."""
    text = " ".join(mask.data(data).decode("utf-8", "replace").split())
    return text if len(text) <= _SHOWN else "…" + text[-_SHOWN:]


def without_half(text: str, secrets: Iterable[str]) -> str:
    """The text, which was cut off somewhere, without the beginning of a secret at its end."""
    half = max((_overlap(text[-len(secret) :], secret) for secret in secrets if secret), default=0)
    return text[:-half] + MASK if half >= _TELLING else text


def _overlap(text: str, secret: str) -> int:
    """How many characters of the secret's beginning the text ends with, found in one go through both."""
    if secret[:_TELLING] not in text:
        return 0
    # For each beginning of the secret, how much of it, short of all, it ends with again.
    again = [0]
    matched = 0
    for letter in secret[1:]:
        while matched and letter != secret[matched]:
            matched = again[matched - 1]
        matched += letter == secret[matched]
        again.append(matched)
    matched = 0
    for letter in text:
        while matched and (matched == len(secret) or letter != secret[matched]):
            matched = again[matched - 1]
        matched += letter == secret[matched]
    return matched if matched < len(secret) else again[-1]


def _short(seconds: float) -> str:
    return f"{round(seconds, 2 if seconds < 10 else 1):g}"


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
