"""Code and commands without end: each is ended at its deadline, also if it resists."""

from __future__ import annotations

import asyncio

import pytest

from tests.confinement.targets import Target, table

# All run at the same time, because they wait for their deadlines.
SECONDS = 2.0
ALL_SIGNALS = (
    "for number in range(1, 65):\n        if number not in (9, 19, 32, 33): signal.signal(number, signal.SIG_IGN)"
)

PYTHON = {
    "a loop": "def f():\n    while True: pass",
    "a loop before there is a function": "while True: pass\ndef f(): pass",
    "a sum, in C": "def f(): return sum(range(10**12))",
    "a queue, in C": "import collections, itertools\ndef f(): collections.deque(itertools.count(), maxlen=0)",
    "a regular expression": "import re\ndef f(): return re.match('(a+)+$', 'a' * 64 + '!')",
    "a power": "def f(): return pow(3, 10**100_000, 10**100_000 + 1)",
    "a search": "def f(): return 1 in iter(int, 1)",
    "a sequence": "def f(): return list(map(len, [range(10**7)] * 10**5)) and max(iter(int, 1))",
    "sleep": "import time\ndef f(): time.sleep(60)",
    "a lock, twice": "import threading\ndef f():\n    lock = threading.Lock(); lock.acquire(); lock.acquire()",
    "await": "import asyncio\nasync def f(): await asyncio.sleep(60)",
    "a pipe that nobody writes to": "import os\ndef f(): return os.read(os.pipe()[0], 1)",
    "signals that are ignored": f"import signal\ndef f():\n    {ALL_SIGNALS}\n    while True: pass",
    "signals that are blocked": (
        "import signal\ndef f():\n    signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))\n    while True: pass"
    ),
    "exceptions that are caught": "def f():\n    while True:\n        try: f()\n        except BaseException: pass",
    "threads": "import threading\ndef f():\n    for _ in range(8): threading.Thread(target=g).start()\n    g()\n"
    "def g():\n    while True: pass",
    "processes": "import os\ndef f():\n    for _ in range(4): os.fork()\n    while True: pass",
    "stopping itself": "import os, signal\ndef f(): os.kill(os.getpid(), signal.SIGSTOP)",
    "stopping all": (
        "import os, signal\ndef f():\n    os.fork()\n    os.kill(-1, signal.SIGSTOP)\n    os.kill(0, signal.SIGSTOP)"
    ),
    "a child that never ends": "import subprocess\ndef f(): subprocess.run(['sleep', '60'])",
    "an exception that never says what it is": (
        "def f():\n    raise E\nclass E(Exception):\n    def __str__(self):\n        while True: pass"
    ),
    "a result that never says what it is": (
        "def f(): return R()\nclass R(dict):\n    def items(self):\n        while True: pass"
    ),
    "a result that never has all its items": "import collections.abc\ndef f(): return R()\n"
    "class R(collections.abc.Mapping):\n    __len__ = lambda self: 1\n    __getitem__ = lambda self, key: 1\n"
    "    def __iter__(self):\n        while True: pass",
    "a class that never says what it is": (
        "def f(): return R()\nclass R:\n    @property\n    def __class__(self):\n        while True: pass"
    ),
    "an end that never comes": (
        "import sys\ndef f():\n    sys.stdout = R()\nclass R:\n    def flush(self):\n        while True: pass"
    ),
    "text without end": "def f():\n    while True: print(end='', flush=True)",
}
SHELL = {
    "a loop": "while :; do :; done",
    "sleep": "sleep 60",
    "a copy": "cat /dev/zero > /dev/null",
    "yes": "yes > /dev/null",
    "signals that are ignored": "trap '' HUP INT QUIT TERM USR1 USR2 PIPE ALRM CHLD XCPU; while :; do :; done",
    "a pipe that nobody writes to": "mkfifo pipe && cat pipe",
    "stopping itself": "kill -STOP $$",
    "stopping all": "sleep 60 & kill -STOP -1; kill -STOP 0",
    "another process group": "setsid --wait sleep 60 || sleep 60",
    "closed descriptors": "exec <&- >&- 2>&-; while :; do :; done",
    "another language": "awk 'BEGIN { while (1) { } }'",
    "waiting for its children": "for i in 1 2 3 4; do (while :; do :; done) & done; wait",
    "running itself again": "exec sh -c \"$(cat /proc/$$/cmdline | tr '\\0' '\\n' | tail -n +3)\"",
}


async def test_code_is_ended_at_its_deadline(board: Target) -> None:
    ends = await asyncio.gather(*(board.python(code, timeout=SECONDS) for code in PYTHON.values()))
    assert {name: end.code for name, end in zip(PYTHON, ends, strict=True)} == dict.fromkeys(PYTHON, "timeout")
    for end in ends:
        end.ended("timeout", r"did not finish within [\d.]+ s")


async def test_a_command_is_ended_at_its_deadline(board: Target) -> None:
    ends = await asyncio.gather(*(board.shell(script, timeout=SECONDS) for script in SHELL.values()))
    assert {name: end.code for name, end in zip(SHELL, ends, strict=True)} == dict.fromkeys(SHELL, "timeout")
    for end in ends:
        end.ended("timeout", r"did not finish within [\d.]+ s")


@pytest.mark.parametrize(
    ("code", "words"),
    table(
        {
            "recursion": ("def f(): f()", "RecursionError: .*without end"),
            "recursion that nothing limits": (
                "import sys\ndef f():\n    sys.setrecursionlimit(2**31 - 1)\n    return f()",
                "memory|ended by SIGSEGV",
            ),
            "an alarm": ("import signal, time\ndef f():\n    signal.alarm(1)\n    time.sleep(60)", "ended by SIGALRM"),
            "a limit of its own": (
                "import resource\ndef f():\n    resource.setrlimit(resource.RLIMIT_CPU, (1, 1))\n    while True: pass",
                "processor time|ended by SIG(KILL|XCPU)",
            ),
        }
    ),
)
async def test_code_that_ends_itself_earlier_says_how(board: Target, code: str, words: str) -> None:
    # Time enough for a second of the processor on a machine that has much else to do.
    (await board.python(code, timeout=60.0)).ended("execution_failed", words)
