"""A board on a machine with few resources: confined calls run correctly, or fail with the reason."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

BOARD = """
import asyncio, json, resource, sys
from pegboard.testing import memory_board

most = int(sys.argv[1])
resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


async def main():
    async with memory_board() as board:
        await board.add({"name": "code", "tool_type": "python", "config": {"code": "def f(): return 'ran'"}})
        echo = {"name": "command", "tool_type": "shell", "config": {"command": "echo ran"}, "input_schema": {}}
        await board.add(echo)
        for name in ("code", "command") * 3:
            done = await board.call(name)
            problem = done.problem
            print(json.dumps([name, done.output if problem is None else [problem.code, problem.did_run]]))


asyncio.run(main())
"""
RAN = {"code": "ran", "command": {"stdout": "ran\n", "stderr": "", "exit_code": 0}}
NOT_RUN = (["misconfigured", False], ["unavailable", False])


@pytest.mark.parametrize("descriptors", [32, 64, 69, 80])
def test_with_few_descriptors_no_call_is_reported_to_have_run_that_did_not(descriptors: int) -> None:
    command = [sys.executable, "-c", BOARD, str(descriptors)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert ended.returncode == 0, ended.stderr
    found = [json.loads(line) for line in ended.stdout.splitlines()]
    assert len(found) == 6
    wrong = [answer for name, answer in found if answer != RAN[name] and answer not in NOT_RUN]
    assert not wrong, found
