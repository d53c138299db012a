"""Services shared by the kinds that run code in the sandbox, and the deadline and the error of a confined call."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterable
from dataclasses import dataclass

from pegboard.kinds.libraries import Libraries
from pegboard.kinds.secret_mask import SecretMask
from pegboard.kinds.upstream_limits import compute_attempt_deadline
from pegboard.model.call import ReadyCall
from pegboard.model.call_errors import ExecutionFailed, TimedOut, ToolError
from pegboard.model.secrets import MASK
from pegboard.sandbox.call_channel import ConfinedResult
from pegboard.sandbox.kernel_features import KernelFeatures
from pegboard.sandbox.sandbox import Sandbox
from pegboard.telemetry.logs import get_logger

log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class ConfinedServices:
    """The board's sandbox, libraries and their limits; one object per board."""

    sandbox: Sandbox
    libraries: Libraries
    own: tuple[str, ...]
    without: tuple[str, ...]
    max_result_bytes: int

    @property
    def can_hide(self) -> bool:
        """True if the board's own files can be hidden inside a folder that a command sees."""
        return "namespaces" not in self.without

    async def log_features(self) -> None:
        """Log the kernel features that confine python and shell tools on this machine."""
        log_confinement(await self.sandbox.abilities(), self.without)

    async def close(self) -> None:
        """End all confined processes."""
        await self.sandbox.close()


def log_confinement(found: KernelFeatures, without: tuple[str, ...]) -> None:
    """Log these kernel features as the confinement of tools; warn if some are missing or may be missing."""
    has = {"landlock": found.landlock, "namespaces": found.namespaces, "seccomp": found.seccomp, "proc": found.proc}
    if missing := found.missing(without):
        log.warning("sandbox_missing", **has, missing=missing)
    elif without:
        log.warning("sandbox_without", **has, without=list(without))
    else:
        log.info("sandbox_ready", **has)


_MAX_SHOWN_CHARS = 600
# The supervisor ends a call this fraction of its time before the pipeline does, so that the error can name the cause.
_EARLY_FRACTION = 0.05
_MAX_EARLY_SECONDS = 0.5
_FULL_TIME_FRACTION = 0.9
# A shorter overlap with a secret is likely a coincidence and reveals nothing.
_MIN_OVERLAP_CHARS = 4


def compute_call_time(call: ReadyCall, seconds: float) -> tuple[float, float]:
    """Return the seconds that a call starting now has, at most `seconds`, and when the sandbox must end it."""
    left = max(0.0, min(seconds, call.deadline - time.monotonic()))
    if left > seconds * _FULL_TIME_FRACTION:
        left = seconds  # the number for messages
    return left, compute_attempt_deadline(call, seconds) - min(_MAX_EARLY_SECONDS, left * _EARLY_FRACTION)


def explain_confined_end(ended: ConfinedResult, tool: str, seconds: float) -> ToolError | None:
    """Return the error for a call with this time limit; None if its process exited by itself."""
    match ended.fate:
        case "exited":
            return None
        case "time":
            waited = (
                f", {_format_seconds(ended.waited)} s of which it waited to begin" if ended.waited > seconds / 2 else ""
            )
            return TimedOut(f"Tool '{tool}' did not finish within {_format_seconds(seconds)} s{waited}")
        case "signalled":
            return ExecutionFailed(f"Tool '{tool}' was ended by {_signal_name(ended.code)}")
        case _:
            return ExecutionFailed(f"Tool '{tool}' was ended: {ended.message}")


def shorten_stderr(data: bytes, mask: SecretMask) -> str:
    """Return the end of the standard error of a call for a message: in one line, without credentials."""
    text = " ".join(mask.data(data).decode("utf-8", "replace").split())
    return text if len(text) <= _MAX_SHOWN_CHARS else "…" + text[-_MAX_SHOWN_CHARS:]


def mask_partial_secret(text: str, secrets: Iterable[str]) -> str:
    """Return a truncated text without the beginning of a secret at its end."""
    half = max((_measure_overlap(text[-len(secret) :], secret) for secret in secrets if secret), default=0)
    return text[:-half] + MASK if half >= _MIN_OVERLAP_CHARS else text


def _measure_overlap(text: str, secret: str) -> int:
    """Return the length of the longest prefix of the secret that the text ends with, in linear time (KMP)."""
    if secret[:_MIN_OVERLAP_CHARS] not in text:
        return 0
    # The KMP failure function: for each prefix, the length of its longest proper prefix that is also its suffix.
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


def _format_seconds(seconds: float) -> str:
    return f"{round(seconds, 2 if seconds < 10 else 1):g}"


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
