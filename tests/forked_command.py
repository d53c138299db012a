"""Run a module in a fork of the process with this name: `forked_command.py NAME MODULE WORD...`.

The fork gets the words, environment, folder and standard streams of this program, which passes signals on and ends with
the same exit code. If no process has this name any more, Python runs the module itself. This program imports little,
because it is started hundreds of times.
"""

import json
import os
import signal
import socket
import sys

PASSED_ON = (signal.SIGINT, signal.SIGTERM)
name, module, *words = sys.argv[1:]
# A signal waits until it can be passed on.
signal.pthread_sigmask(signal.SIG_BLOCK, PASSED_ON)
connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
request = {
    "module": module,
    "words": words,
    "environment": dict(os.environ),
    "folder": os.getcwd(),  # noqa: PTH109 - pathlib takes longer to import than all of this
}
try:
    connection.connect("\0" + name)
    socket.send_fds(connection, [json.dumps(request).encode()], [0, 1, 2])
    program = connection.recv(100)
except OSError:
    program = b""
if not program:
    signal.pthread_sigmask(signal.SIG_UNBLOCK, PASSED_ON)
    os.execv(sys.executable, [sys.executable, "-m", module, *words])
# Only the program reads and writes: its end is the end of the streams.
for descriptor in (0, 1, 2):
    os.close(descriptor)
for number in PASSED_ON:
    signal.signal(number, lambda number, _: os.kill(int(program), number))
signal.pthread_sigmask(signal.SIG_UNBLOCK, PASSED_ON)
os._exit(int(connection.recv(100) or 1))
