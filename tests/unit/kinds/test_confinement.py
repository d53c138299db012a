"""What a server logs about the confinement of tools at its start, and what is left after its end."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from pegboard.kinds.confined_call import log_confinement
from pegboard.sandbox.kernel_features import KernelFeatures
from pegboard.testing import memory_board

ALL = KernelFeatures(4, True, True, True)
NO_SECCOMP = KernelFeatures(4, True, False, True, {"seccomp": "the kernel has none"})


def message(caplog: pytest.LogCaptureFixture) -> tuple[str, int, dict[str, Any]]:
    (record,) = [record for record in caplog.records if record.name == "pegboard.kinds.confined_call"]
    fields: dict[str, Any] = vars(record)["fields"]
    return vars(record)["event"], record.levelno, fields


@pytest.mark.parametrize(
    ("found", "without", "event", "level"),
    [
        (ALL, (), "sandbox_ready", logging.INFO),
        (ALL, ("landlock",), "sandbox_without", logging.WARNING),
        (NO_SECCOMP, ("seccomp",), "sandbox_without", logging.WARNING),
        (NO_SECCOMP, (), "sandbox_missing", logging.WARNING),
        (NO_SECCOMP, ("landlock",), "sandbox_missing", logging.WARNING),
    ],
)
def test_it_says_what_there_is_and_what_is_missing(
    caplog: pytest.LogCaptureFixture, found: KernelFeatures, without: tuple[str, ...], event: str, level: int
) -> None:
    caplog.set_level(logging.INFO, "pegboard")
    log_confinement(found, without)
    name, severity, fields = message(caplog)
    assert (name, severity) == (event, level)
    assert fields["landlock"] == 4
    assert fields["seccomp"] is found.seccomp
    if event == "sandbox_missing":
        assert "the kernel has none" in fields["missing"][0]


async def test_a_board_logs_what_this_machine_has(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "pegboard")
    async with memory_board() as board:
        await board.confinement.log_features()
        found = await board.confinement.sandbox.abilities()
    event, _, fields = message(caplog)
    assert event == "sandbox_ready"
    assert fields == {"landlock": found.landlock, "namespaces": True, "seccomp": True, "proc": found.proc}
