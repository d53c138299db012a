"""Run a module in a fork of the process with this name: `forked_command.py NAME MODULE WORD...`.

The fork gets the words, environment, folder and standard streams of this program, which passes signals on and ends with
the same exit code. It imports little, because it is started hundreds of times.
"""

import json
import os
import signal
import socket
import sys

connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
connection.connect("\0" + sys.argv[1])
request = {
    "module": sys.argv[2],
    "words": sys.argv[3:],
    "environment": dict(os.environ),
    "folder": os.getcwd(),  # noqa: PTH109 - pathlib takes longer to import than all of this
}
socket.send_fds(connection, [json.dumps(request).encode()], [0, 1, 2])
program = int(connection.recv(100))
# Only the program reads and writes: its end is the end of the streams.
for descriptor in (0, 1, 2):
    os.close(descriptor)
for number in (signal.SIGINT, signal.SIGTERM):
    signal.signal(number, lambda number, _: os.kill(program, number))
os._exit(int(connection.recv(100) or 1))
