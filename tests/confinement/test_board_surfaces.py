"""Some of the attacks through each surface of the board: library, REST and command line report the same."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from typing import Any

import pytest

from pegboard import Pegboard
from pegboard.testing import NoSettings
from tests.board_surfaces import KEY, RequestRefused, Surface, opened
from tests.confinement.targets import LIMITS

REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "a syntax error": ({"code": "def f(:"}, "config.code: line 1: invalid syntax"),
    "an import that is not allowed": (
        {"code": "import aiohttp\ndef f(): pass"},
        "'aiohttp' is neither in the standard",
    ),
}
# The tool's type and config, the arguments, and the code and the words of the error.
ATTACKS: dict[str, tuple[str, dict[str, Any], dict[str, Any], str, str]] = {
    "a loop": (
        "python",
        {"code": "def f(): return sum(range(10**12))", "timeout": 0.5},
        {},
        "timeout",
        "did not finish within",
    ),
    "memory": ("python", {"code": "def f(): return bytearray(2**31)"}, {}, "execution_failed", "128 MiB of memory"),
    "an exit": ("python", {"code": "import os\ndef f(): os._exit(3)"}, {}, "execution_failed", "exit code 3"),
    "a cycle": (
        "python",
        {"code": "def f(): a = []; a.append(a); return a"},
        {},
        "execution_failed",
        "circular reference",
    ),
    "a large result": ("python", {"code": "def f(): return 'x' * 10**6"}, {}, "result_too_large", "65,536 bytes"),
    "output": ("shell", {"command": "yes"}, {}, "execution_failed", "stdout of more than 65536 bytes"),
    "a script": ("shell", {"command": "kill -9 $$", "shell": True}, {}, "execution_failed", "SIGKILL"),
    "an option": ("shell", {"command": "ls {x}"}, {"x": "--help"}, "invalid_string", "begins with a dash"),
    "NUL": ("shell", {"command": "ls {x}"}, {"x": "a\0b"}, "invalid_string", "the character NUL"),
}


@pytest.fixture(scope="module")
async def attacked(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Pegboard]:
    """The board behind the surfaces."""
    settings = NoSettings(home=tmp_path_factory.mktemp("home"), admin_key=KEY, log_level="error", **LIMITS)
    async with Pegboard.open(settings=settings) as made:
        await made.add({"name": "first", "tool_type": "python", "config": {"code": "def f(): pass"}})
        assert (await made.call("first")).success, "so that the next has all of its time"
        yield made


@pytest.fixture(params=["library", "rest", "cli"])
async def surface(request: pytest.FixtureRequest, attacked: Pegboard) -> AsyncIterator[Surface]:
    """Each surface in turn."""
    async with opened(request.param, attacked) as made:
        yield made


async def test_each_surface_reports_how_an_attack_ended(surface: Surface) -> None:
    for number, (kind, config, arguments, code, words) in enumerate(ATTACKS.values()):
        name = f"{surface.name}_{number}"
        schema = {"type": "object", "properties": {one: {} for one in arguments}}
        await surface.create({"name": name, "tool_type": kind, "config": config, "input_schema": schema})
        answer = await surface.call(name, arguments)
        assert (answer["success"], answer["error_details"]["code"]) == (False, code), answer
        assert re.search(words, answer["error"]), answer
        assert (await surface.call("echo", {"message": "well"}))["success"]


async def test_each_surface_refuses_what_could_not_run(surface: Surface) -> None:
    for config, words in REFUSED.values():
        with pytest.raises(RequestRefused, match=words):
            await surface.create({"name": "refused", "tool_type": "python", "config": config})
