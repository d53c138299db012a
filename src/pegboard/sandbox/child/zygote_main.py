"""The zygote: builds its environment, loads libraries if calls need them, and starts supervisors.

Started as `python -I -S -B -c … SPEC`, with the environment as JSON and the socket for calls as file descriptor 3. It
stays single-threaded, and holds nothing that a call may not see, because calls inherit its memory.
"""

from __future__ import annotations

import gc
import json
import os
import resource
import select
import signal
import socket
import sys
from contextlib import suppress
from functools import partial
from typing import NoReturn

from pegboard.sandbox.child import confined_main, rootfs, syscalls
from pegboard.sandbox.child.fd_channel import MAX_FDS, CallAbandoned, ServerChannel
from pegboard.sandbox.child.fork_source import ForkSource
from pegboard.sandbox.child.isolation import Isolation
from pegboard.sandbox.child.namespace_isolation import NamespaceIsolation
from pegboard.sandbox.child.setup_steps import READY, encode_failure
from pegboard.sandbox.child.supervisor_main import run_supervisor
from pegboard.sandbox.child.template_client import TemplateClient

_CALLS_FD = 3
_PROCESS_NAME = "pegboard-zygote"
# The message with a call that has network; other calls come with any other message.
NETWORK_CALL = b"N"
# Supervisors inherit this niceness, and confined processes have a higher one.
_NICENESS = 5


def main() -> NoReturn:
    """Serve calls until the server closes the socket; then exit."""
    line = socket.socket(fileno=_CALLS_FD)
    try:
        source, place = _prepare_source(rootfs.ZygoteSpec.read(sys.argv[1]))
    except Exception as error:
        line.send(json.dumps(encode_failure(error)).encode())
        os._exit(1)
    # A garbage collection in a supervisor would write to the memory of every object.
    gc.collect()
    gc.freeze()
    line.send(json.dumps(READY).encode())
    _serve_calls(line, source, place)
    line.close()
    source.close()
    # The kernel reaps the children; this waits for the last one.
    with suppress(ChildProcessError):
        os.waitpid(-1, 0)
    os._exit(0)


def _prepare_source(spec: rootfs.ZygoteSpec) -> tuple[ForkSource, Isolation]:
    # Calls can read the command line of this process, which contains paths of the board.
    syscalls.rename_process(_PROCESS_NAME)
    # Pid 1 of a namespace only receives those signals from inside that it has a handler for.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    _lower_own_priority()
    confined_main.apply_base_rlimits()
    _raise_fd_limit()
    if spec.namespaces:
        # Orphans of a template or a supervisor become children of this process, which waits for them at its end.
        syscalls.become_subreaper()
    if spec.has_template:
        # Supervisors close it, as all file descriptors that they do not need.
        package = os.open(os.path.dirname(__file__), os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        place = _enter_isolation(spec)
        # Calls inherit the memory of the template, and the masks contain paths of the board.
        spec = spec.drop_masks()
        return TemplateClient.begin(partial(_run_template, package, spec, place)), place
    # Imported only now, before their files are hidden: supervisors of a template's copies do not need these modules.
    from pegboard.sandbox.child.fork_source import ForkingSource
    from pegboard.sandbox.child.job_runner import CommandRunner

    if not spec.python:
        place = _enter_isolation(spec)
        return ForkingSource(CommandRunner(), spec), place
    from pegboard.sandbox.child.python_runner import load_libraries

    place = _enter_isolation(spec)
    return ForkingSource(load_libraries(spec), spec), place


def _run_template(package: int, spec: rootfs.ZygoteSpec, place: Isolation, requests: socket.socket) -> NoReturn:
    # Supervisors do not need the template's modules, so only the template imports them. Their folder is hidden by then.
    sys.modules[__package__].__path__ = [f"/proc/self/fd/{package}"]
    from pegboard.sandbox.child.template_main import run_template

    run_template(requests, spec, place)


def _raise_fd_limit() -> None:
    """Raise the soft limit of file descriptors to the hard limit.

    A template uses two for each running call, the zygote one, and descriptors in transit count for their sender.
    """
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def _enter_isolation(spec: rootfs.ZygoteSpec) -> Isolation:
    if not spec.namespaces:
        from pegboard.sandbox.child.plain_isolation import PlainIsolation

        return PlainIsolation(spec)
    rootfs.build_rootfs(spec)
    return NamespaceIsolation(spec)


def _lower_own_priority() -> None:
    """Lower the CPU priority, and make this process a preferred victim of the OOM killer."""
    os.nice(_NICENESS)
    with suppress(OSError):
        syscalls.write_file("/proc/self/oom_score_adj", "800")


def _serve_calls(line: socket.socket, source: ForkSource, place: Isolation) -> None:
    """Pass each call to a supervisor of its own; one supervisor waits prepared for the next call."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    waiting: socket.socket | None = None
    # Whether the waiting supervisor has exited without a call: it lacked something that another one would lack as well.
    has_failed = False
    while not source.is_gone():
        if waiting is None and not has_failed:
            with suppress(OSError):
                waiting = _start_supervisor(source, place, network=False)
        if not _wait_for_call(line, waiting):
            waiting, has_failed = None, True
            continue
        has_failed = False
        kind, descriptors, _flags, _address = socket.recv_fds(line, 16, MAX_FDS)
        if not kind:
            break
        with socket.socket(fileno=descriptors[0]) as call:
            if kind == NETWORK_CALL:
                _start_call(call, source, place, network=True)
            else:
                if waiting is None or not _pass_call(waiting, call):
                    _start_call(call, source, place, network=False)
                waiting = None
    if waiting is not None:
        waiting.close()


def _start_supervisor(source: ForkSource, place: Isolation, *, network: bool) -> socket.socket:
    """Return the socket to a new supervisor, which exits when the socket is closed without a call."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        try:
            if os.fork() == 0:
                run_supervisor(theirs.fileno(), source, place, network=network)
        except OSError:
            ours.close()
            raise
    return ours


def _wait_for_call(line: socket.socket, waiting: socket.socket | None) -> bool:
    """Wait for a call, or for the exit of the waiting supervisor; return True if it is a call."""
    poller = select.poll()
    for sock in (line, waiting):
        if sock is not None:
            poller.register(sock, select.POLLIN)
    if any(descriptor == line.fileno() for descriptor, _events in poller.poll()):
        return True
    if waiting is not None:
        waiting.close()
    return False


def _pass_call(supervisor: socket.socket, call: socket.socket) -> bool:
    """Pass the call, which is the only one of this supervisor; return False if the supervisor has exited."""
    with supervisor:
        try:
            socket.send_fds(supervisor, [b"c"], [call.fileno()])
        except OSError:
            return False
    return True


def _start_call(call: socket.socket, source: ForkSource, place: Isolation, *, network: bool) -> None:
    """Start a supervisor for the call; report the reason on its socket if that fails."""
    try:
        _pass_call(_start_supervisor(source, place, network=network), call)
    except OSError as error:
        with suppress(CallAbandoned):
            ServerChannel(call).send_failure(f"starting a supervisor: {error.strerror}")
