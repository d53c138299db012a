"""A shell in which `pegboard` is already loaded, because loading is most of the cost of its commands.

Run as a program, forked from one that has loaded everything, it runs a script. `client` returns the `pegboard` of
that script: it sends its arguments, environment, folder and file descriptors, and has the exit code of the program.
"""

from __future__ import annotations

import os
import select
import socket
import subprocess
import sys

import orjson

from tests.fork_server import run

_CLIENT = """#!{python} -IS
import json, os, signal, socket, sys
listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
listener.connect("\\0{name}")
told = dict(module="pegboard", words=sys.argv[1:], environment=dict(os.environ), folder=os.getcwd())
socket.send_fds(listener, [json.dumps(told).encode()], [0, 1, 2])
program = int(listener.recv(100))
for number in (signal.SIGINT, signal.SIGTERM):
    signal.signal(number, lambda number, _: os.kill(program, number))
os._exit(int(listener.recv(100) or 1))
"""


def client(name: str) -> str:
    """The program for the scripts of the shell of this name."""
    return _CLIENT.format(python=sys.executable, name=name)


def _serve(name: str, folder: str, script: str) -> int:
    # Ending the group of this process ends all that the script has started.
    os.setsid()
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        listener.bind(f"\0{name}")
        listener.listen()
        # A server that the script has left running would keep a pipe open.
        shell = subprocess.Popen(["sh", "-c", script], cwd=folder, stdout=sys.stderr.fileno())
        ended = os.pidfd_open(shell.pid)
        programs: set[int] = set()
        while ended not in select.select([listener.fileno(), ended], [], [])[0]:
            asked, _ = listener.accept()
            program = os.fork()
            if program == 0:
                listener.close()
                _be_asked(asked)
            asked.close()
            programs = {running for running in (*programs, program) if os.waitpid(running, os.WNOHANG)[0] == 0}
        return shell.wait()


def _be_asked(asked: socket.socket) -> None:
    code = 1
    try:
        message, descriptors, _, _ = socket.recv_fds(asked, 2**20, 3)
        asked.send(str(os.getpid()).encode())
        code = run(orjson.loads(message), descriptors)
        asked.send(str(code).encode())
    except BaseException:
        sys.excepthook(*sys.exc_info())
        sys.stderr.flush()
    finally:
        os._exit(code)


if __name__ == "__main__":
    sys.exit(_serve(*sys.argv[1:]))
