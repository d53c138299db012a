"""Code and commands that use as many processes and as much memory, disk and output as possible: each is limited."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from functools import partial

import pytest

from tests.confinement.targets import LIMITS, MEBIBYTE, Target, table

MEMORY = "may take 128 MiB of memory"
ENDED_FOR_MEMORY = "was ended: more than 134217728 bytes of memory"
EITHER_MEMORY = f"{MEMORY}|{ENDED_FOR_MEMORY}"
FULL = "No space left on device|File too large|Disk quota exceeded"

FORKS = {
    "forks": "import os\ndef f():\n    while True:\n        try: os.fork()\n        except OSError: pass",
    "forks of forks": "import os\ndef f():\n    while True:\n        try:\n            if os.fork() == 0: os.setsid()\n"
    "        except OSError: pass",
    "forks that end at once": "import os\ndef f():\n    while True:\n        try:\n"
    "            if os.fork() == 0: os._exit(0)\n"
    "        except OSError: pass",
    "threads": "import threading, time\ndef f():\n    threading.stack_size(2**16)\n    while True:\n"
    "        try: threading.Thread(target=time.sleep, args=(60,)).start()\n        except RuntimeError: pass",
    "programs": "import subprocess\ndef f():\n    while True:\n        try: subprocess.Popen(['sleep', '60'])\n"
    "        except OSError: pass",
}
FORKS_OF_SHELLS = {
    "the classic one": "bomb() { bomb | bomb & }; bomb; while :; do :; done",
    "one that waits": "bomb() { bomb & bomb & wait; }; bomb; while :; do :; done",
    "another language": "perl -e 'while (1) { fork }'",
    "shells": 'f=\'sh -c "$f" & sh -c "$f" & wait\'; export f; while :; do sh -c "$f"; done',
}
COUNT = """
import os, signal
def f():
    count = 0
    try:
        while True:
            if os.fork() == 0:
                signal.pause()
            count += 1
    except BlockingIOError:
        return count
"""
TAKING: dict[str, tuple[str, str]] = {
    "memory at once": ("def f(): return len(bytearray(2**31))", MEMORY),
    "memory by and by": ("def f():\n    kept = []\n    while True: kept.append(bytearray(2**20))", EITHER_MEMORY),
    "a number": ("def f(): return (1 << 2**34).bit_length()", f"{MEMORY}|OverflowError"),
    "a text": ("def f(): return len('x' * 2**31)", MEMORY),
    "small things": ("def f(): return len([str(n) for n in range(10**9)])", EITHER_MEMORY),
    "memory of many": (
        "import os, signal\ndef f():\n    for _ in range(8):\n        if os.fork() == 0: break\n"
        "    kept = bytearray(40 * 2**20)\n    signal.pause()",
        ENDED_FOR_MEMORY,
    ),
    "memory of many that hide it": (
        "import ctypes, os, signal\ndef f():\n    for _ in range(8):\n        if os.fork() == 0: break\n"
        "    ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)\n    kept = bytearray(40 * 2**20)\n    signal.pause()",
        ENDED_FOR_MEMORY,
    ),
    "memory that is shared": (
        "import mmap, signal\ndef f():\n    kept = mmap.mmap(-1, 2**31)\n"
        "    for n in range(0, 2**31, 4096): kept[n] = 1\n"
        "    signal.pause()",
        f"PermissionError|{ENDED_FOR_MEMORY}",
    ),
    "memory that is a device": (
        "import mmap, os, signal\ndef f():\n    kept = []\n    while True:\n"
        "        kept.append(mmap.mmap(os.open('/dev/zero', os.O_RDONLY), 2**24, prot=mmap.PROT_READ))\n"
        "        assert not any(kept[-1][n] for n in range(0, 2**24, 4096))",
        f"PermissionError|No such device|{ENDED_FOR_MEMORY}",
    ),
    # These pages are empty, but the kernel needs half a gigabyte of page tables for them.
    "memory of page tables": (
        "import ctypes, mmap, signal\ndef f():\n"
        "    kept = mmap.mmap(-1, 2**38, flags=mmap.MAP_PRIVATE | 0x4000, prot=mmap.PROT_READ)\n"
        "    kept.madvise(15)\n    for n in range(0, 2**38, 2**21): kept[n]\n    signal.pause()",
        f"OSError|MemoryError|{ENDED_FOR_MEMORY}",
    ),
    "memory that is a file": (
        (
            "import mmap, os, signal\ndef f():\n    file = os.open('file', os.O_RDWR | os.O_CREAT)\n"
            "    os.ftruncate(file, 2**31)"
        ),
        FULL,
    ),
    "memory without a name": (
        "import os\ndef f():\n    file = os.memfd_create('kept')\n    while True: os.write(file, bytes(2**20))",
        "PermissionError",
    ),
    "memory of an exception": (
        "def f():\n    raise ValueError('x' * 2**26)",
        "ValueError: xxx",
    ),
    "a stack": (
        (
            "import threading\ndef f():\n    threading.stack_size(2**31)\n"
            "    thread = threading.Thread(target=print)\n    thread.start()\n    thread.join()"
        ),
        "can't start new thread|memory",
    ),
    "a file": ("def f():\n    with open('file', 'wb') as file:\n        while True: file.write(bytes(2**20))", FULL),
    "a file in /tmp": (
        "def f():\n    with open('/tmp/file', 'wb') as file:\n        while True: file.write(bytes(2**20))",
        FULL,
    ),
    "a file in /dev/shm": (
        "def f():\n    with open('/dev/shm/file', 'wb') as file:\n        while True: file.write(bytes(2**20))",
        FULL,
    ),
    "files in all places": (
        "def f():\n    for n in range(10**6):\n"
        "        with open(['/call', '/tmp', '/dev/shm'][n % 3] + f'/{n}', 'wb') as file:\n"
        "            file.write(bytes(2**20))",
        FULL,
    ),
    "empty files": ("import os\ndef f():\n    for n in range(10**6): os.close(os.open(str(n), os.O_CREAT))", FULL),
    "folders": ("import os\ndef f():\n    while True:\n        os.mkdir('d')\n        os.chdir('d')", FULL),
    "links": ("import os\ndef f():\n    for n in range(10**6): os.symlink('x' * 4000, str(n))", FULL),
    "names of one file": (
        "import os\ndef f():\n    os.close(os.open('a', os.O_CREAT))\n    for n in range(10**6): os.link('a', str(n))",
        f"{FULL}|Too many links",
    ),
    "room that is only reserved": (
        "import os\ndef f(): os.posix_fallocate(os.open('file', os.O_RDWR | os.O_CREAT), 0, 2**31)",
        FULL,
    ),
    "a file with a hole": ("def f():\n    with open('file', 'wb') as file:\n        file.truncate(2**31)", FULL),
    "files that are gone": (
        "import os\ndef f():\n    kept = []\n    for n in range(200):\n        kept.append(open('file', 'wb'))\n"
        "        os.unlink('file')\n        kept[-1].write(bytes(2**20)), kept[-1].flush()",
        FULL,
    ),
    "descriptors": (
        "import os\ndef f():\n    while True: os.open('/dev/null', os.O_RDONLY)",
        "Too many open files",
    ),
    "stdout": (
        "def f():\n    while True: print('x' * 1000)",
        "was ended: stdout of more than 65536 bytes; .*print less",
    ),
    "stdout at once": ("import os\ndef f(): os.write(1, bytes(2**25))", "stdout of more than 65536 bytes"),
    "stderr": (
        "import sys\ndef f():\n    while True: print('x' * 1000, file=sys.stderr)",
        "stderr of more than 65536 bytes",
    ),
    "stdout of a child": ("import subprocess\ndef f(): subprocess.run(['yes'])", "stdout of more than 65536 bytes"),
    "memory of sockets": (
        "import os, signal, socket\ndef f():\n    for _ in range(8):\n        if os.fork() == 0: break\n    kept = []\n"
        "    try:\n        while kept.append(socket.socketpair()) is None:\n            for end in kept[-1]:\n"
        "                end.setblocking(False)\n                try:\n"
        "                    while end.send(bytes(2**16)): pass\n"
        "                except BlockingIOError: pass\n    except OSError: signal.pause()",
        ENDED_FOR_MEMORY,
    ),
}
SCRIPTS: dict[str, tuple[str, str]] = {
    "stdout": ("cat /dev/zero", "stdout of more than 65536 bytes"),
    "stderr": ("yes >&2", "stderr of more than 65536 bytes"),
    "both of many": ("for i in 1 2 3 4; do (yes; yes >&2) & done; wait", "std(out|err) of more than 65536 bytes"),
    "memory of many": (
        "for i in 1 2 3 4 5; do (head -c 60M /dev/zero; sleep 60) | tail -c 60M & done; wait",
        ENDED_FOR_MEMORY,
    ),
}
EXITING: dict[str, tuple[str, str]] = {
    "memory at once": (
        "dd if=/dev/zero of=/dev/null bs=2G count=1",
        'memory exhausted|Cannot allocate memory|exit_code":1',
    ),
    "a file": ("dd if=/dev/zero of=file bs=1M count=2048", "No space left on device"),
    "a file in /tmp": ("dd if=/dev/zero of=/tmp/file bs=1M count=2048", "No space left on device"),
    "a file in /dev/shm": ("dd if=/dev/zero of=/dev/shm/file bs=1M count=2048", "No space left on device"),
    "a file with a hole": ("truncate -s 2G file || exit 1; ls -l", 'exit_code":1'),
    "room that is only reserved": ("fallocate -l 2G file", 'exit_code":1'),
}


async def test_a_fork_bomb_ends_at_its_deadline_and_hurts_only_itself(board: Target) -> None:
    bombs = {name: partial(board.python, code) for name, code in FORKS.items()}
    bombs |= {f"{name}, of shells": partial(board.shell, script) for name, script in FORKS_OF_SHELLS.items()}
    codes: dict[str, str] = {}
    for some in batched(bombs, 3):
        # The board and other calls can still start processes.
        counting, *ends = await asyncio.gather(
            board.python(COUNT, timeout=100.0), *(bombs[name](timeout=1.0) for name in some)
        )
        assert counting.output == LIMITS["sandbox_processes"] - 1
        codes |= {name: end.code for name, end in zip(some, ends, strict=True)}
    # A shell that cannot fork gives up.
    assert {name: code for name, code in codes.items() if code != "timeout" and name in FORKS} == {}
    assert set(codes.values()) <= {"timeout", "succeeded"}


def batched(names: Iterable[str], size: int) -> list[list[str]]:
    """Return the names in batches of this size."""
    every = list(names)
    return [every[place : place + size] for place in range(0, len(every), size)]


@pytest.mark.parametrize(("code", "words"), table(TAKING))
async def test_code_that_takes_too_much_is_reported(board: Target, code: str, words: str) -> None:
    (await board.python(code)).ended("execution_failed", words)


@pytest.mark.parametrize(("script", "words"), table(SCRIPTS))
async def test_a_script_that_takes_too_much_is_ended(board: Target, script: str, words: str) -> None:
    (await board.shell(script)).ended("execution_failed", words)


@pytest.mark.parametrize(("script", "words"), table(EXITING))
async def test_a_program_that_takes_too_much_fails_by_itself(board: Target, script: str, words: str) -> None:
    tried = await board.shell(script)
    tried.ended("succeeded", words)
    assert tried.output["exit_code"] != 0


async def test_a_program_that_fills_its_memory_fails_by_itself_or_is_ended(board: Target) -> None:
    # The limits of the process and of the whole call are equal: which is reached first depends on the rest of the call.
    tried = await board.shell("head -c 2G /dev/zero | tail -c 2G")
    if tried.code == "succeeded":
        tried.ended("succeeded", "memory exhausted")
        assert tried.output["exit_code"] != 0
    else:
        tried.ended("execution_failed", ENDED_FOR_MEMORY)


async def test_all_places_share_one_room(board: Target) -> None:
    script = (
        "for place in . /tmp /dev/shm; do head -c 12M /dev/zero > $place/file; done; "
        "cat file /tmp/file /dev/shm/file | wc -c"
    )
    tried = await board.shell(script)
    assert 12 * MEBIBYTE < int(tried.output["stdout"]) <= LIMITS["sandbox_disk"]


IN_FLIGHT = """
import array, os, socket, time
def f():
    for _ in range(8):
        if os.fork() == 0: break
    one, other = socket.socketpair()
    try:
        while True: one.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [0] * 250))])
    except OSError as error:
        print(error.strerror, flush=True)
    time.sleep(1)
"""


async def test_descriptors_that_no_process_takes_keep_no_other_call_from_being_started(board: Target) -> None:
    attack = asyncio.create_task(board.python(IN_FLIGHT))
    await asyncio.gather(*(board.check() for _ in range(3)))
    tried = await attack
    assert "Too many references" in str((await board.board.execution(tried.result.run_id)).printed)
