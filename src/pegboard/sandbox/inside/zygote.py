"""The process that starts supervisors: it enters its house, has libraries loaded where calls need them, and waits.

Started as `python -I -S -B -c … HOUSE` with the house as JSON, and the socket on which calls come as descriptor 3. It
stays single-threaded, and it holds nothing that a call may not see: calls inherit its memory.
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

from pegboard.sandbox.inside import house as houses
from pegboard.sandbox.inside import rlimits, syscalls
from pegboard.sandbox.inside.children import Source
from pegboard.sandbox.inside.crew import Crew
from pegboard.sandbox.inside.frames import Gone, Line
from pegboard.sandbox.inside.handing import handed
from pegboard.sandbox.inside.kept import Kept
from pegboard.sandbox.inside.place import Place
from pegboard.sandbox.inside.room import Room
from pegboard.sandbox.inside.steps import READY, put_into_words
from pegboard.sandbox.inside.supervisor import Supervisor
from pegboard.sandbox.inside.syscalls import freeze
from pegboard.sandbox.inside.template import Template

_LINE = 3
_NAME = "pegboard-zygote"
_NETWORK, _CROWDED = b"N", b"c"
# Supervisors have as much, and what they confine has more.
_NICE = 5


def main() -> NoReturn:
    """Serve calls until the server has no more of them; this process ends then."""
    line = socket.socket(fileno=_LINE)
    try:
        source, place = _prepare(houses.House.read(sys.argv[1]))
    except Exception as error:
        line.send(json.dumps(put_into_words(error)).encode())
        os._exit(1)
    line.send(json.dumps(READY).encode())
    _serve(line, source, place)
    line.close()
    source.close()
    # The kernel reaps the children; this waits for the last one.
    with suppress(ChildProcessError):
        os.waitpid(-1, 0)
    os._exit(0)


def _prepare(house: houses.House) -> tuple[Source, Place]:
    # Calls can read the arguments of this process, and these say where the board keeps its files.
    syscalls.rename(_NAME)
    # The first process of a namespace gets those signals from within that it has a handler for.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    _give_way()
    rlimits.apply_usual()
    _open_many()
    if house.namespaces:
        # Whatever a template or a supervisor leaves when it ends is this process's then, which waits for it at its end.
        syscalls.become_subreaper()
    if house.has_template:
        kept = Kept()
        place = _enter(house)
        # What the template has at hand, so have calls, and this would say where the board keeps its files.
        house = house.built()
        return _with_template(kept, house, place), place
    # Only now, and before their files are out of sight: supervisors of copies that a template makes need none of it.
    from pegboard.sandbox.inside.commands import Commands
    from pegboard.sandbox.inside.forking import Forking

    if not house.python:
        place = _enter(house)
        return Forking(Commands(), house), place
    from pegboard.sandbox.inside.loading import load

    place = _enter(house)
    return Forking(load(house), house), place


def _with_template(kept: Kept, house: houses.House, place: Place) -> Template:
    def copy(requests: socket.socket) -> NoReturn:
        with kept.at_hand():
            from pegboard.sandbox.inside.copying import serve

        serve(requests, house, place)

    template = Template.begin(copy)
    freeze()
    return template


def _open_many() -> None:
    """Have as many descriptors as may be.

    A template has two for each call that runs, the zygote one, and those that are on their way count as their sender's.
    """
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def _enter(house: houses.House) -> Place:
    if not house.namespaces:
        from pegboard.sandbox.inside.bare import Bare

        return Bare(house)
    houses.build(house)
    return Room(house)


def _give_way() -> None:
    """Have all else served first; and where the machine runs short of memory, have it look here first."""
    syscalls.lower_priority(_NICE)
    with suppress(OSError):
        syscalls.write("/proc/self/oom_score_adj", "800")


def _serve(line: socket.socket, source: Source, place: Place) -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    crew = Crew(line, partial(Supervisor.start, source, place))
    processors, is_crowded = sorted(os.sched_getaffinity(0)), False
    # Where many calls run at once, one processor is left to the server, if there are several. On one that calls keep
    # busy it would wait for its turn: the kernel's scheduler counts what a process has had of it while nobody else was
    # there, and whatever a fork or the end of a process takes is not interrupted.
    wanted, fewer = processors, processors[1:] or processors
    while not source.is_gone():
        # Most of what it takes to start a call is done before there is one.
        crew.make_ready(wanted)
        if not crew.hear():
            continue
        kind, descriptors, _is_cut = handed(line, 16)
        if not kind:
            return
        with socket.socket(fileno=descriptors[0]) as call:
            try:
                crew.take(call, network=_NETWORK in kind)
            except OSError as error:
                with suppress(Gone):
                    Line(call).say_failed(f"starting a supervisor: {error.strerror}")
        if (_CROWDED in kind) != is_crowded:
            is_crowded = not is_crowded
            wanted = fewer if is_crowded else processors
            syscalls.run_on(wanted)
