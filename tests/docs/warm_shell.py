"""A shell in which `pegboard` is loaded already, since that is most of what its commands cost.

Run as a program, forked out of one that has loaded everything, it runs a script. What `client` gives is the `pegboard`
of that script.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys

from tests.forking import Commands, build_command


def client(name: str) -> str:
    """The program for the scripts of the shell of this name."""
    return f'#!/bin/sh\nexec {shlex.join(build_command(name, "pegboard"))} "$@"\n'


def _serve(name: str, folder: str, script: str) -> int:
    # Ending the group of this process ends all that the script has started.
    os.setsid()
    commands = Commands(name)
    # A pipe would be held open by a server that the script has left running.
    shell = subprocess.Popen(["sh", "-c", script], cwd=folder, stdout=sys.stderr.fileno())
    ended = os.pidfd_open(shell.pid)
    commands.on_input(ended, shell.poll)
    while shell.returncode is None:
        commands.run_actions()
    return shell.returncode


if __name__ == "__main__":
    sys.exit(_serve(*sys.argv[1:]))
