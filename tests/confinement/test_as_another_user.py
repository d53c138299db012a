"""All of these attacks once more, on a board that is run by an ordinary user. (Only root can ask for that.)"""

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
PYTEST = [sys.executable, "-m", "pytest", str(HERE), "-q", "-p", "no:cacheprovider"]
# What a process of the interpreter may need to find its libraries.
KEPT = ("PATH", "LANG", "LD_LIBRARY_PATH", "PYTHONPATH")


@pytest.fixture
def home() -> Iterator[Path]:
    """A folder of the other user's; where pytest makes folders, that user cannot go."""
    with tempfile.TemporaryDirectory(prefix="pegboard-confinement-") as name:
        os.chown(name, USER, USER)
        yield Path(name).resolve()


def collected() -> set[str]:
    """The names of all tests but those of this file."""
    listing = subprocess.run(
        [*PYTEST, "--collect-only", f"--ignore={__file__}"], cwd=CHECKOUT, capture_output=True, text=True, check=True
    )
    return {line.partition("::")[2] for line in listing.stdout.splitlines() if "::" in line}


@pytest.mark.timeout(400)
def test_every_attack_ends_as_well_on_a_board_of_an_ordinary_users(home: Path) -> None:
    report = home / "report.xml"
    interpreter = {Path(sys.base_prefix), Path(sys.prefix), Path(os.path.realpath(sys.executable)).parents[1]}
    launch = [sys.executable, str(HERE / "another_user.py"), *map(str, interpreter), str(CHECKOUT), str(home), "--"]
    environment = {name: os.environ[name] for name in KEPT if name in os.environ}
    environment |= {"HOME": str(home), "TMPDIR": str(home), "PYTHONDONTWRITEBYTECODE": "1"}
    with subprocess.Popen(
        [*launch, *PYTEST, f"--junitxml={report}"],
        cwd=CHECKOUT,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as run:
        wanted = collected()
        said, _ = run.communicate(timeout=360)
    assert run.returncode == 0, said[-20_000:]
    assert report.stat().st_uid == USER
    ran = list(ElementTree.parse(report).iter("testcase"))
    assert [case.get("name") for case in ran if len(case)] == [], "one was skipped"
    assert len(wanted) > 400
    assert sorted(str(case.get("name")) for case in ran) == sorted(wanted)
