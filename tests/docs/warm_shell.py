"""A shell in which `pegboard` is already loaded, because loading is most of the cost of its commands.

Run as a program, forked from one that has loaded everything, it runs a script. `client` returns the `pegboard` of
that script.
"""

from __future__ import annotations

import os
import select
import shlex
import subprocess
import sys

from tests.fork_server import Commands, build_command


def client(name: str) -> str:
    """The program for the scripts of the shell of this name."""
    return f'#!/bin/sh\nexec {shlex.join(build_command(name, "pegboard"))} "$@"\n'


def _serve(name: str, folder: str, script: str) -> int:
    # Ending the group of this process ends all that the script has started.
    os.setsid()
    commands = Commands(name)
    # A server that the script has left running would keep a pipe open.
    shell = subprocess.Popen(["sh", "-c", script], cwd=folder, stdout=sys.stderr.fileno())
    ended = os.pidfd_open(shell.pid)
    while ended not in select.select([commands.listener.fileno(), ended], [], [])[0]:
        commands.start_next()
    return shell.wait()


if __name__ == "__main__":
    sys.exit(_serve(*sys.argv[1:]))
