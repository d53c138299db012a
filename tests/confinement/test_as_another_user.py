"""The attacks on the machine once more, on a board that is run by an ordinary user. (Only root can ask for that.)

What is left out is decided before a process is started or after it has ended, by code that does not know who runs it:
which tools can be registered, how arguments are passed, how results are read, and what each surface says of them.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.confinement.another_user import USER

HERE = Path(__file__).parent
CHECKOUT = HERE.parents[1]
PYTEST = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
# Several groups, so that they run side by side. The first is in `make test`, all others in `make soak`.
ATTACKS = {
    "files, system calls, ends": ("files", "kernel", "secrets", "sockets", "exits_and_signals"),
    "network and processes": ("network", "leftover_processes", "resource_limits"),
    "time and zygotes": ("call_isolation", "timeouts", "zygotes"),
}
SHORT, *LONG = ATTACKS
LEFT_OUT = ("arguments", "as_another_user", "board_surfaces", "registration", "results")
# Environment variables that the interpreter may need to find its libraries.
KEPT = ("PATH", "LANG", "LD_LIBRARY_PATH", "PYTHONPATH")


@pytest.fixture
def home() -> Iterator[Path]:
    """A folder of the other user, who cannot enter the folders that pytest makes."""
    with tempfile.TemporaryDirectory(prefix="pegboard-confinement-") as name:
        os.chown(name, USER, USER)
        yield Path(name).resolve()


def test_every_file_of_attacks_is_run_again_or_left_out_for_a_reason() -> None:
    run = {*LEFT_OUT, *(name for names in ATTACKS.values() for name in names)}
    assert run == {file.stem.removeprefix("test_") for file in HERE.glob("test_*.py")}


@pytest.mark.timeout(400)
@pytest.mark.parametrize("attacks", [SHORT, *(pytest.param(name, marks=pytest.mark.soak) for name in LONG)])
def test_every_attack_ends_as_well_on_a_board_of_an_ordinary_users(attacks: str, home: Path) -> None:
    files = [str(HERE / f"test_{name}.py") for name in ATTACKS[attacks]]
    report = home / "report.xml"
    interpreter = {Path(sys.base_prefix), Path(sys.prefix), Path(os.path.realpath(sys.executable)).parents[1]}
    launch = [sys.executable, str(HERE / "another_user.py"), *map(str, interpreter), str(CHECKOUT), str(home), "--"]
    environment = {name: os.environ[name] for name in KEPT if name in os.environ}
    environment |= {"HOME": str(home), "TMPDIR": str(home), "PYTHONDONTWRITEBYTECODE": "1"}
    run = subprocess.run(
        [*launch, *PYTEST, *files, f"--junitxml={report}"],
        cwd=CHECKOUT,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=360,
    )
    assert run.returncode == 0, run.stdout[-20_000:]
    assert report.stat().st_uid == USER
    ran = list(ElementTree.parse(report).iter("testcase"))
    assert [case.get("name") for case in ran if len(case)] == [], "one was skipped"
    assert len(ran) > 50
