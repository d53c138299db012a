"""The zygote: builds its environment, loads libraries if calls need them, and starts supervisors.

Started as `python -I -S -B -c … SPEC`, with the environment as JSON and the socket for calls as file descriptor 3. It
stays single-threaded, and holds nothing that a call may not see, because calls inherit its memory.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import socket
import sys
from contextlib import suppress
from functools import partial
from typing import NoReturn

from pegboard.sandbox.child import confine, syscalls
from pegboard.sandbox.child import rootfs as houses
from pegboard.sandbox.child.fd_channel import CallAbandoned, ServerChannel, receive_fds
from pegboard.sandbox.child.fork_source import ForkSource
from pegboard.sandbox.child.import_libraries import PreloadedModules
from pegboard.sandbox.child.isolation import Isolation
from pegboard.sandbox.child.namespace_isolation import NamespaceIsolation
from pegboard.sandbox.child.setup_steps import READY, encode_failure
from pegboard.sandbox.child.supervisor_pool import Supervisor, SupervisorPool
from pegboard.sandbox.child.syscalls import freeze_memory
from pegboard.sandbox.child.template_client import TemplateClient

_CALLS_FD = 3
_PROCESS_NAME = "pegboard-zygote"
_NETWORK_MARK, _CROWDED_MARK = b"N", b"c"
# Supervisors inherit this niceness, and confined processes have a higher one.
_NICENESS = 5


def main() -> NoReturn:
    """Serve calls until the server closes the socket; then exit."""
    line = socket.socket(fileno=_CALLS_FD)
    try:
        source, place = _prepare_source(houses.ZygoteSpec.read(sys.argv[1]))
    except Exception as error:
        line.send(json.dumps(encode_failure(error)).encode())
        os._exit(1)
    line.send(json.dumps(READY).encode())
    _serve_calls(line, source, place)
    line.close()
    source.close()
    # The kernel reaps the children; this waits for the last one.
    with suppress(ChildProcessError):
        os.waitpid(-1, 0)
    os._exit(0)


def _prepare_source(house: houses.ZygoteSpec) -> tuple[ForkSource, Isolation]:
    # Calls can read the command line of this process, which contains paths of the board.
    syscalls.rename_process(_PROCESS_NAME)
    # Pid 1 of a namespace only receives those signals from inside that it has a handler for.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    _lower_own_priority()
    confine.apply_base_rlimits()
    _raise_fd_limit()
    if house.namespaces:
        # Orphans of a template or a supervisor become children of this process, which waits for them at its end.
        syscalls.become_subreaper()
    if house.has_template:
        kept = PreloadedModules()
        place = _enter_isolation(house)
        # Calls inherit the memory of the template, and the masks contain paths of the board.
        house = house.drop_masks()
        return _start_template(kept, house, place), place
    # Imported only now, before their files are hidden: supervisors of a template's copies do not need these modules.
    from pegboard.sandbox.child.exec_command import CommandRunner
    from pegboard.sandbox.child.fork_source import ForkingSource

    if not house.python:
        place = _enter_isolation(house)
        return ForkingSource(CommandRunner(), house), place
    from pegboard.sandbox.child.import_libraries import load_libraries

    place = _enter_isolation(house)
    return ForkingSource(load_libraries(house), house), place


def _start_template(kept: PreloadedModules, house: houses.ZygoteSpec, place: Isolation) -> TemplateClient:
    def copy(requests: socket.socket) -> NoReturn:
        with kept.at_hand():
            from pegboard.sandbox.child.template_main import run_template

        run_template(requests, house, place)

    template = TemplateClient.begin(copy)
    freeze_memory()
    return template


def _raise_fd_limit() -> None:
    """Raise the soft limit of file descriptors to the hard limit.

    A template uses two for each running call, the zygote one, and descriptors in transit count for their sender.
    """
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def _enter_isolation(house: houses.ZygoteSpec) -> Isolation:
    if not house.namespaces:
        from pegboard.sandbox.child.plain_isolation import PlainIsolation

        return PlainIsolation(house)
    houses.build_rootfs(house)
    return NamespaceIsolation(house)


def _lower_own_priority() -> None:
    """Lower the CPU priority, and make this process a preferred victim of the OOM killer."""
    syscalls.lower_priority(_NICENESS)
    with suppress(OSError):
        syscalls.write_file("/proc/self/oom_score_adj", "800")


def _serve_calls(line: socket.socket, source: ForkSource, place: Isolation) -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    crew = SupervisorPool(line, partial(Supervisor.start, source, place))
    processors, is_crowded = sorted(os.sched_getaffinity(0)), False
    # If many calls run at once, one of several CPUs is left to the server. On a CPU that calls keep busy it would have
    # to wait: the scheduler accounts for time that a process used while no other was runnable, and the kernel work of a
    # fork or an exit is not preempted.
    wanted, fewer = processors, processors[1:] or processors
    while not source.is_gone():
        # Most of the work to start a call is done before there is one.
        crew.prepare_next(wanted)
        if not crew.hear():
            continue
        kind, descriptors, _is_cut = receive_fds(line, 16)
        if not kind:
            return
        with socket.socket(fileno=descriptors[0]) as call:
            try:
                crew.take(call, network=_NETWORK_MARK in kind)
            except OSError as error:
                with suppress(CallAbandoned):
                    ServerChannel(call).send_failure(f"starting a supervisor: {error.strerror}")
        if (_CROWDED_MARK in kind) != is_crowded:
            is_crowded = not is_crowded
            wanted = fewer if is_crowded else processors
            syscalls.set_cpu_affinity(wanted)
