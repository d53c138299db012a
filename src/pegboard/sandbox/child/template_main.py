"""The template: a process with the libraries of its environment, which forks itself for the calls of supervisors."""

from __future__ import annotations

import gc
import json
import os
import resource
import select
import signal
import socket
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import NamedTuple, NoReturn

from pegboard.sandbox.child import syscalls
from pegboard.sandbox.child.confined_main import ConfinementRules, run_confined
from pegboard.sandbox.child.fd_channel import MAX_FDS
from pegboard.sandbox.child.isolation import Isolation
from pegboard.sandbox.child.job_runner import ConfinedInputs
from pegboard.sandbox.child.python_runner import load_libraries
from pegboard.sandbox.child.rootfs import ZygoteSpec
from pegboard.sandbox.child.setup_steps import READY, StepFailed, encode_failure
from pegboard.sandbox.child.template_client import (
    ARRIVAL_STRUCT,
    COPY_ENDED,
    COPY_FAILED,
    COPY_READY,
    END_STRUCT,
    MAX_MESSAGE_BYTES,
)

_REQUEST_FD = 3
_PROCESS_NAME = "pegboard-template"


class _ForkPlan(NamedTuple):
    """How this process is forked: the isolation of the copy, and the function that runs the call in it.

    `memory` is the number of bytes that the copy shares with this process, without files.
    """

    place: Isolation
    become: Callable[[ConfinedInputs], NoReturn]
    memory: int


def run_template(requests: socket.socket, spec: ZygoteSpec, place: Isolation) -> NoReturn:
    """Fork this process for each request, until all clients have closed their sockets; then exit."""
    try:
        # A library may take forever to import, or not notice that the parent has exited.
        syscalls.die_with_parent()
        syscalls.rename_process(_PROCESS_NAME)
        os.dup2(requests.detach(), _REQUEST_FD, inheritable=False)
        syscalls.close_fds_from(_REQUEST_FD + 1)
        _load_and_serve(socket.socket(fileno=_REQUEST_FD), spec, place)
    except Exception:
        # For the server's log; the clients see that the socket is closed.
        sys.excepthook(*sys.exc_info())
    finally:
        # This is a fork of the zygote, and must not continue as a zygote.
        os._exit(1)


def _load_and_serve(requests: socket.socket, spec: ZygoteSpec, place: Isolation) -> NoReturn:
    try:
        work = load_libraries(spec)
    except Exception as error:
        requests.send(json.dumps(encode_failure(error)).encode())
        os._exit(1)
    # A library may have changed the handler; the exit status of copies is needed here.
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    # A garbage collection in a copy would write to the memory of every object.
    gc.collect()
    gc.freeze()
    become = partial(run_confined, work, ConfinementRules.of(spec), place)
    start = partial(_fork_copy, _ForkPlan(place, become, _measure_private_memory()))
    # From now on calls that continue after the zygote has exited need this process.
    syscalls.die_with_parent(False)
    requests.send(json.dumps(READY).encode())
    _serve_forks(requests, start)


def _serve_forks(requests: socket.socket, start: Callable[[bytes, Sequence[int]], int | None]) -> NoReturn:
    """Fork on request, and report the ends of copies."""
    poller = select.poll()
    poller.register(_REQUEST_FD, select.POLLIN)
    copies: dict[int, tuple[int, int]] = {}
    while True:
        for descriptor, _events in poller.poll():
            if descriptor != _REQUEST_FD:
                poller.unregister(descriptor)
                _send_end(descriptor, *copies.pop(descriptor))
                continue
            message, descriptors, flags, _address = socket.recv_fds(requests, MAX_MESSAGE_BYTES, MAX_FDS)
            if not message:
                os._exit(0)
            if flags & socket.MSG_CTRUNC:
                # Too many file descriptors are open for one more copy; its supervisor sees that the socket is closed.
                _close_fds(descriptors)
                continue
            pid = start(message, descriptors)
            if pid is not None:
                ended = os.pidfd_open(pid)
                copies[ended] = (pid, descriptors[1])
                poller.register(ended, select.POLLIN)


def _fork_copy(plan: _ForkPlan, wanted: bytes, descriptors: Sequence[int]) -> int | None:
    first, answers, *ends = descriptors
    try:
        plan.place.enter_for_children(first)
        pid = os.fork()
    except ProcessLookupError:
        # Pid 1 was killed, for example by the OOM killer; its supervisor sees that the socket is closed.
        _close_fds(descriptors)
        return None
    except OSError as error:
        _send_message(answers, COPY_FAILED + f"starting the confined process: {error.strerror}".encode())
        _close_fds(descriptors)
        return None
    if pid == 0:
        try:
            port, _, folder = wanted.decode().partition(" ")
            _enter_isolation(plan, first, answers, network=port != "0")
            plan.become(ConfinedInputs(folder or None, int(port) or None, ends))
        finally:
            os._exit(1)
    _close_fds((first, *ends))
    return pid


def _enter_isolation(plan: _ForkPlan, first: int, answers: int, *, network: bool) -> None:
    try:
        plan.place.follow(first, network=network)
    except StepFailed as error:
        _send_message(answers, COPY_FAILED + str(error).encode())
        raise
    with socket.socket(fileno=answers) as supervisor:
        socket.send_fds(supervisor, [COPY_READY + ARRIVAL_STRUCT.pack(plan.memory)], [os.pidfd_open(os.getpid())])


def _send_end(descriptor: int, pid: int, answers: int) -> None:
    _pid, status, used = os.wait4(pid, 0)
    os.close(descriptor)
    _send_message(answers, COPY_ENDED + END_STRUCT.pack(status, used.ru_utime + used.ru_stime))
    os.close(answers)


def _measure_private_memory() -> int:
    """Return the bytes of this process's pages that are not file-backed."""
    _size, resident, of_files, *_others = map(int, syscalls.read_file("/proc/self/statm").split())
    return (resident - of_files) * resource.getpagesize()


def _close_fds(descriptors: Iterable[int]) -> None:
    for descriptor in descriptors:
        os.close(descriptor)


def _send_message(answers: int, words: bytes) -> None:
    try:
        os.write(answers, words)
    except OSError:
        return  # the supervisor has ended
