"""Threads, children and daemons that try to outlive their call: none does, and no call waits for them."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest

from tests.confinement.targets import Target, list_machine_processes, table
from tests.waiting import until

# Each leaves a process or thread, checks that it runs, and succeeds.
PYTHON = {
    "a child": (
        "import subprocess\ndef f(mark: str):\n    child = subprocess.Popen(['sleep', mark])\n    return child.poll()"
    ),
    "a child of a child, in a session of its own": """
import os
def f(mark: str):
    ready, done = os.pipe()
    os.set_inheritable(done, True)
    if os.fork() == 0:
        try: os.setsid()
        except OSError: os.setpgid(0, 0)
        if os.fork() == 0:
            os.execv('/bin/sh', ['sh', '-c', f'echo x >&{done}; exec sleep {mark}'])
        os._exit(0)
    assert os.read(ready, 1)
    os.wait()
""",
    "a child that ignores every signal": """
import signal, subprocess
def f(mark: str):
    for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP, signal.SIGCHLD}:
        signal.signal(number, signal.SIG_IGN)
    subprocess.Popen(['sleep', mark], process_group=0, stdin=-3, stdout=-3, stderr=-3)
""",
    "a child that is stopped": """
import os, signal, subprocess
def f(mark: str):
    child = subprocess.Popen(['sleep', mark])
    os.kill(child.pid, signal.SIGSTOP)
    os.waitpid(child.pid, os.WUNTRACED)
""",
    "children that have children for ever": """
import os, subprocess, time
def f(mark: str):
    subprocess.Popen(['sleep', mark])
    if os.fork() == 0:
        while True:
            try:
                if os.fork(): os._exit(0)
            except OSError: pass
    time.sleep(0.1)
""",
    "threads": """
import subprocess, threading, time
def f(mark: str):
    subprocess.Popen(['sleep', mark])
    for daemon in (False, True) * 4:
        threading.Thread(target=time.sleep, args=(1000,), daemon=daemon).start()
""",
    "an exit that waits": """
import atexit, subprocess, time
def f(mark: str):
    subprocess.Popen(['sleep', mark])
    atexit.register(time.sleep, 1000)
""",
    "a child that holds the result open": "import os, time\ndef f(mark: str):\n"
    "    if os.fork() == 0: os.execv('/bin/sleep', ['sleep', mark])\n    os.set_inheritable(3, True)",
}
SHELL = {
    "in the background": "sleep {mark} & kill -0 $!",
    "without a hangup": "nohup sleep {mark} > /dev/null 2>&1 & kill -0 $!",
    "in a session of its own": "(setsid sleep {mark} 2>&- || sleep {mark}) & kill -0 $!",
    "in a session of its own, twice": (
        's=\'sleep {mark} & sleep {mark}\'; (setsid sh -c "$s" 2>&- || sh -c "$s" &) & sleep 0.1'
    ),
    "holding the output open": "exec 9>&1; (sleep {mark} >&9) & kill -0 $!",
    "ignoring every signal": "trap '' HUP INT QUIT TERM USR1 USR2; sleep {mark} & kill -0 $!",
    "a service": "perl -MPOSIX -e 'if (!fork) {{ setsid; if (!fork) {{ $0 = q({mark}); sleep 1000 }} }}'; sleep 0.1",
}


@pytest.mark.parametrize("code", table(PYTHON))
async def test_nothing_of_code_outlives_its_call(board: Target, code: str, mark: str) -> None:
    tried = await board.python(code, {"mark": mark})
    assert tried.output is None
    await until(lambda: have_all_ended(mark))


@pytest.mark.parametrize("script", table(SHELL))
async def test_nothing_of_a_script_outlives_its_call(board: Target, script: str, mark: str) -> None:
    tried = await board.shell(script.format(mark=mark))
    assert tried.output == {"stdout": "", "stderr": "", "exit_code": 0}
    await until(lambda: have_all_ended(mark))


async def test_nothing_outlives_its_deadline(board: Target, mark: str) -> None:
    script = f"trap '' TERM HUP; setsid sleep {mark} & nohup sleep {mark} & sleep {mark}"
    call = asyncio.create_task(board.shell(script, timeout=3.0))
    await until(lambda: list_running(mark))
    (await call).ended("timeout")
    await until(lambda: have_all_ended(mark))


async def test_nothing_outlives_a_caller_who_leaves(board: Target, mark: str) -> None:
    call = asyncio.create_task(board.shell(f"setsid sleep {mark} & sleep {mark}"))
    await until(lambda: list_running(mark))
    call.cancel()
    await asyncio.wait([call])
    await until(lambda: have_all_ended(mark))


async def test_no_one_continues_writing_to_a_folder_of_the_machine(board: Target, folder: Path) -> None:
    script = (
        "(while :; do echo x >> ticks; done) & while [ ! -s ticks ]; do :; done; "
        "nohup sh -c 'while :; do echo x >> ticks; done' > /dev/null 2>&1 &"
    )
    tried = await board.shell(script, working_dir=str(folder), writable=True)
    assert tried.output["exit_code"] == 0
    await board.check()
    size = (folder / "ticks").stat().st_size
    began = time.monotonic()
    while time.monotonic() < began + 0.05:
        assert (folder / "ticks").stat().st_size == size


async def list_running(mark: str) -> list[int]:
    """Return the running processes, to wait for them."""
    return list_machine_processes(mark)


async def have_all_ended(mark: str) -> bool:
    """Whether no process runs any more."""
    return not list_machine_processes(mark)
