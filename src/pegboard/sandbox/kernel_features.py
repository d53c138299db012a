"""Detects whether the kernel can confine calls, by a probe process before the first call, and caches the result."""

from __future__ import annotations

import asyncio
import errno
import json
import math
import os
import signal
import sys
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field

from pegboard.model.call_errors import Misconfigured
from pegboard.sandbox.environment_spec import (
    EnvironmentSpec,
    build_child_command,
    build_zygote_spec,
    inherit_environment,
)
from pegboard.sandbox.limits import KERNEL_FEATURES, make_unavailable, timeout_at

PROBE_SECONDS = 10.0

PROBE_CODE = "from pegboard.sandbox.child.probe_main import main\nmain()\n"
_MAX_ERROR_CHARS = 600
# Errors of a machine that is only busy.
_BUSY_ERRNOS = (errno.EAGAIN, errno.EMFILE, errno.ENFILE, errno.ENOMEM)

_FEATURE_REQUIREMENTS = {
    "landlock": "It needs Linux 5.13 or later with 'landlock' among its security modules (lsm= on the kernel's command "
    "line), and in a container a seccomp profile that lets it through",
    "namespaces": "They need user.max_user_namespaces above 0, kernel.unprivileged_userns_clone=1 and "
    "kernel.apparmor_restrict_unprivileged_userns=0 where sysctl has these, and in a container profiles that let "
    "unshare, mount and pivot_root through (--security-opt seccomp=unconfined --security-opt apparmor=unconfined); a "
    "board that runs as root needs the capabilities SETUID and SETGID, or better runs as an ordinary user",
    "seccomp": "They need a 64-bit Linux on x86_64 or aarch64 with CONFIG_SECCOMP_FILTER",
}
_FEATURE_TITLES = {"landlock": "Landlock", "namespaces": "Namespaces", "seccomp": "Filters of system calls (seccomp)"}


@dataclass(frozen=True)
class KernelFeatures:
    """The kernel features that work: Landlock (its ABI version, 0 for none), namespaces, seccomp, and a /proc per call.

    `reasons` explains, by field name, why a feature does not work. Without `proc`, memory is limited for each process
    of a call, not for all of them together. If `probe_error` is set, the probe could not run and no feature is known.
    """

    landlock: int
    namespaces: bool
    seccomp: bool
    proc: bool
    reasons: Mapping[str, str] = field(default_factory=dict)
    probe_error: str | None = None

    def missing(self, without: Iterable[str]) -> list[str]:
        """Return a sentence for each feature that is missing and not in `without`: the reason and how to fix it."""
        given_up = set(without)
        if self.probe_error is not None:
            why = f"could not be probed here: {self.probe_error}. The machine is too busy; try again"
            return [f"{_FEATURE_TITLES[name]} {why}" for name in KERNEL_FEATURES if name not in given_up]
        return [
            f"{_FEATURE_TITLES[name]} cannot be used here: "
            f"{self.reasons.get(name, 'the kernel refuses')}. {_FEATURE_REQUIREMENTS[name]}. To "
            f"run python and shell tools without, add '{name}' to PEGBOARD_SANDBOX_WITHOUT."
            for name in KERNEL_FEATURES
            if not getattr(self, name) and name not in given_up
        ]


def _make_unsupported(reason: str, *, is_probed: bool = True) -> KernelFeatures:
    reasons = dict.fromkeys((*KERNEL_FEATURES, "proc"), reason)
    return KernelFeatures(0, False, False, False, reasons, None if is_probed else reason)


async def detect_kernel_features(seconds: float = PROBE_SECONDS, code: str = PROBE_CODE) -> KernelFeatures:
    """Return the features of this machine, as the probe's `code` reports them in JSON.

    `probe_error` is set if the probe could not run within the time.
    """
    if sys.platform != "linux":
        return _make_unsupported(f"the system is {sys.platform}, not Linux")
    try:
        process = await asyncio.create_subprocess_exec(
            *build_child_command(code, build_zygote_spec(EnvironmentSpec())),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=inherit_environment(),
            cwd="/",
            start_new_session=True,
        )
    except OSError as error:
        why = f"the probe process could not be started: {error.strerror}"
        return _make_unsupported(why, is_probed=error.errno not in _BUSY_ERRNOS)
    try:
        output, complaint = await asyncio.wait_for(process.communicate(), seconds)
    except TimeoutError:
        return _make_unsupported(f"the probe process did not end within {seconds:g} s", is_probed=False)
    finally:
        if process.returncode is None:
            # The probe has its own process group: this also kills its child processes.
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
    if process.returncode == -signal.SIGKILL:
        return _make_unsupported(
            "the probe process was killed from outside, perhaps by the OOM killer", is_probed=False
        )
    return _read_probe_output(output, complaint)


def _read_probe_output(output: bytes, complaint: bytes) -> KernelFeatures:
    try:
        return KernelFeatures(**json.loads(output))
    except (ValueError, TypeError):
        why = complaint.decode("utf-8", "replace").strip().rpartition("\n")[2][:_MAX_ERROR_CHARS]
        return _make_unsupported(f"the probe process failed: {why or 'it wrote nothing to stderr'}")


class KernelFeatureCheck:
    """The detected kernel features, for a board that may run without those in `without`."""

    def __init__(self, without: tuple[str, ...], *, retry_seconds: float = 30.0) -> None:
        """Create a check that probes again after `retry_seconds`: an administrator may have enabled a feature."""
        self._disabled_features = without
        self._retry_seconds = retry_seconds
        self._detect_task: asyncio.Task[KernelFeatures] | None = None
        self._retry_at = math.inf
        self._has_passed = False

    async def abilities(self) -> KernelFeatures:
        """Return the kernel features; probed once, and again if a feature was missing or the probe could not run."""
        task = self._detect_task
        if task is None or (task.done() and (time.monotonic() >= self._retry_at or _has_failed(task))):
            self._retry_at = math.inf
            task = self._detect_task = asyncio.create_task(detect_kernel_features())
        found = await asyncio.shield(task)
        if task is self._detect_task and self._retry_at == math.inf and found.missing(self._disabled_features):
            self._retry_at = time.monotonic() + (self._retry_seconds if found.probe_error is None else 0.0)
        return found

    async def check(self, deadline: float) -> None:
        """Raise Misconfigured if calls cannot be confined, and Unavailable if that is not known by the deadline."""
        if self._has_passed:
            return
        try:
            async with timeout_at(deadline):
                found = await self.abilities()
        except TimeoutError:
            raise make_unavailable(
                "The kernel features that confine tools were still being probed at the deadline"
            ) from None
        missing = found.missing(self._disabled_features)
        if missing and found.probe_error is not None:
            raise make_unavailable(
                f"The kernel features that confine tools could not be probed: {found.probe_error}; try again"
            )
        if missing:
            raise Misconfigured("This board cannot confine tools, so it does not run them: " + "; ".join(missing))
        self._has_passed = True

    async def close(self, seconds: float) -> None:
        """Wait at most this many seconds for a running probe to end."""
        if self._detect_task is not None:
            await asyncio.wait([self._detect_task], timeout=seconds)


def _has_failed(task: asyncio.Task[KernelFeatures]) -> bool:
    return task.cancelled() or task.exception() is not None
