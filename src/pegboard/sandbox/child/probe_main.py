"""Probes the kernel features that confine a call, each in its own process, and prints which work and why others do not.

Started as `python -I -S -B -c … PACKAGE SPEC`, with the JSON spec of an environment that contains only the interpreter.
It takes the same steps as a call, so that it also detects a kernel that has a feature but does not permit its use.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

from pegboard.sandbox.child import landlock, seccomp_filter, syscalls
from pegboard.sandbox.child.job import Job, JobLimits
from pegboard.sandbox.child.namespace_isolation import NamespaceIsolation
from pegboard.sandbox.child.rootfs import ZygoteSpec, build_rootfs
from pegboard.sandbox.child.setup_steps import StepFailed

# Settings of an administrator, with the value that blocks namespaces.
_BLOCKING_SYSCTLS = {
    "kernel.unprivileged_userns_clone": "0",
    "kernel.apparmor_restrict_unprivileged_userns": "1",
    **{f"user.max_{kind}_namespaces": "0" for kind in ("user", "pid", "mnt", "ipc", "uts", "net")},
}
_CONTAINER_MARKERS = ("/.dockerenv", "/run/.containerenv")


def main() -> None:
    """Print one JSON object: the features that work, and for each other feature the reason."""
    print(json.dumps(probe_kernel(ZygoteSpec.read(sys.argv[2]))))  # noqa: T201 -- what this program is for


def probe_kernel(spec: ZygoteSpec) -> dict[str, Any]:
    """Return the features that work, and for each other feature the reason."""
    trials: dict[str, Callable[[], int]] = {
        "landlock": _try_landlock,
        "namespaces": partial(_try_namespaces, spec),
        "seccomp": _try_seccomp,
    }
    tried = {name: _run_in_child(os.fork, trial) for name, trial in trials.items()}
    reasons = {name: outcome for name, outcome in tried.items() if isinstance(outcome, str)}
    if "namespaces" in reasons:
        reasons["namespaces"] += _describe_obstacles()
        reasons["proc"] = "it needs namespaces"
    elif not tried["namespaces"]:
        reasons["proc"] = "the kernel permits no new mount of /proc while parts of it are masked, as in most containers"
    return {
        "landlock": 0 if "landlock" in reasons else tried["landlock"],
        "namespaces": "namespaces" not in reasons,
        "seccomp": "seccomp" not in reasons,
        "proc": "proc" not in reasons,
        "reasons": reasons,
    }


def _try_landlock() -> int:
    """Return the ABI version of Landlock; raise StepFailed if it does not confine."""
    version = landlock.get_abi_version()
    syscalls.forbid_new_privileges()
    landlock.apply_landlock(["/proc"], [], tcp_connect=[])
    try:
        os.close(os.open("/", os.O_RDONLY))
    except PermissionError:
        return version
    raise StepFailed("a process confined with it could still read the root folder")


def _try_seccomp() -> int:
    syscalls.forbid_new_privileges()
    seccomp_filter.apply_seccomp(network=False)
    try:
        socket.socket().close()
    except PermissionError:
        return 1
    raise StepFailed("a process confined with it could still create a socket")


def _try_namespaces(spec: ZygoteSpec) -> int:
    """Return 1 if a call also has its own /proc, otherwise 0."""
    build_rootfs(spec)
    isolation = NamespaceIsolation(spec)
    isolation.open(network=True)
    isolation.listen().close()
    isolation.enter_for_children(isolation.first)
    outcome = _run_in_child(os.fork, lambda: _enter_isolation(isolation))
    if isinstance(outcome, str):
        raise StepFailed(outcome)
    isolation.hide_process()
    isolation.prepare_folder(Job(False, 1.0, JobLimits(0, 1, 2**20, 0, 0), {}, None, True, False, b"", {}, b""))
    return outcome


def _enter_isolation(isolation: NamespaceIsolation) -> int:
    isolation.follow(isolation.first, network=True)
    return int(Path("/proc/self/stat").exists())


def _run_in_child(fork: Callable[[], int], trial: Callable[[], int]) -> int | str:
    """Return the result of a trial in its own process, or the reason why it failed."""
    read, write = os.pipe()
    try:
        child = fork()
    except OSError as error:
        os.close(read)
        os.close(write)
        return f"starting a probe process: {error.strerror}"
    if child == 0:
        _report_outcome(trial, write)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        output = pipe.read()
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if status < 0:
        return f"the probe process was killed by {signal.Signals(-status).name}"
    outcome: int | str = json.loads(output)
    return outcome


def _report_outcome(trial: Callable[[], int], pipe: int) -> NoReturn:
    outcome: int | str = "the probe process exited without a result"
    try:
        outcome = trial()
    except OSError as error:
        outcome = error.strerror or str(error)
    except Exception as error:
        outcome = str(error) if isinstance(error, StepFailed) else f"{type(error).__name__}: {error}"
    finally:
        try:
            os.write(pipe, json.dumps(outcome).encode())
        finally:
            os._exit(0)


def _describe_obstacles() -> str:
    found = [f"{name} is {value}" for name, value in _BLOCKING_SYSCTLS.items() if _read_sysctl(name) == value]
    if any(Path(mark).exists() for mark in _CONTAINER_MARKERS):
        found.append("this is a container")
    return f" ({', '.join(found)})" if found else ""


def _read_sysctl(name: str) -> str:
    try:
        return Path("/proc/sys", *name.split(".")).read_text().strip()
    except OSError:
        return ""
