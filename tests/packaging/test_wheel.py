"""The wheel installed into an empty environment, outside of the checkout.

`make test` installs it with plain pip, which takes the newest versions that the metadata allows; `make test-deps` with
versions that uv resolves: SMOKE_RESOLUTION is `pip`, or one or more of uv's `highest` and `lowest-direct`.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import venv
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

PROJECT = Path(__file__).parents[2]
SMOKE = Path(__file__).with_name("smoke.py")
# An installation from the registry takes half a minute on a quiet machine.
pytestmark = pytest.mark.timeout(900)


@pytest.fixture(scope="module", params=os.environ.get("SMOKE_RESOLUTION", "pip").split())
def environment(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The `bin` folder of an environment that holds only the wheel and its dependencies."""
    folder = tmp_path_factory.mktemp("wheel")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
    build = ["wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", str(folder), str(PROJECT)]
    subprocess.run([*pip, *build], check=True)
    (wheel,) = folder.glob("pegboard-*.whl")
    if request.param != "pip":
        return install_resolved(wheel, request.param)
    venv.create(folder / "venv", with_pip=False, symlinks=True)
    # Not the pinned versions of requirements/: a user's installation does not have them.
    # Python itself compiles what the tests import; that of all other modules is most of the time of pip.
    python = folder / "venv" / "bin" / "python"
    subprocess.run([*pip, "--python", str(python), "install", "--no-compile", "--upgrade", str(wheel)], check=True)
    return python.parent


def install_resolved(wheel: Path, resolution: str) -> Path:
    """Return the `bin` folder of an environment with the versions that uv resolves; later runs reuse it."""
    uv = str(Path(sys.executable).with_name("uv"))
    base = os.environ.get("SMOKE_PYTHON", sys.executable)
    about = [base, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"]
    version = subprocess.run(about, check=True, capture_output=True, text=True).stdout.strip()
    home = Path(sys.prefix) / f"deps-{resolution}-{version}"
    versions = str(wheel.with_name("requirements.txt"))
    resolve = ["pip", "compile", "--upgrade", "--resolution", resolution, "--no-emit-index-url", "--python", base]
    subprocess.run([uv, "--quiet", *resolve, "--output-file", versions, str(PROJECT / "pyproject.toml")], check=True)
    python = str(home / "bin" / "python")
    for arguments in (
        ["venv", "--allow-existing", "--python", base, str(home)],
        ["pip", "sync", "--python", python, versions],
        ["pip", "install", "--python", python, "--no-deps", str(wheel)],
        ["pip", "check", "--python", python],
    ):
        subprocess.run([uv, "--quiet", *arguments], check=True)
    return home / "bin"


@pytest.fixture(scope="module")
def variables(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A user's environment variables, with an empty home for the server."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PEGBOARD_", "PYTHON"))}
    return kept | {"PEGBOARD_HOME": str(tmp_path_factory.mktemp("home")), "PYTHONUNBUFFERED": "1"}


def remove_node(path: str) -> str:
    """Return the PATH without the folders that have Node."""
    return os.pathsep.join(folder for folder in path.split(os.pathsep) if not Path(folder, "node").exists())


@pytest.fixture(scope="module")
def server(environment: Path, variables: dict[str, str]) -> Iterator[str]:
    """The URL of a server that the installed program runs; it ends on Ctrl-C."""
    command = [str(environment / "pegboard"), "serve", "--demo", "--port", "0"]
    without_node = variables | {"PATH": remove_node(variables["PATH"])}
    process = subprocess.Popen(
        command, env=without_node, cwd="/", stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    lines: list[str] = []
    try:
        assert process.stdout is not None
        for line in process.stdout:
            lines.append(line)
            if found := re.search(r"http://127\.0\.0\.1:[1-9]\d*", line):
                yield found[0]
                break
        else:
            pytest.fail("".join(lines))
    finally:
        process.send_signal(signal.SIGINT)
        rest, _ = process.communicate(timeout=60)
    assert process.returncode == 0, "".join(lines) + rest


def run(environment: Path, variables: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the installed program outside of the checkout."""
    command = [str(environment / "pegboard"), *arguments]
    return subprocess.run(command, env=variables, cwd="/", capture_output=True, text=True, timeout=120, check=False)


def test_every_command_and_every_kind_work_on_both_databases(
    environment: Path, variables: dict[str, str], empty_database_url: str, tmp_path: Path
) -> None:
    done = subprocess.run(
        [str(environment / "python"), str(SMOKE), empty_database_url],
        env=variables,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "every kind answered" in done.stdout


def test_the_installed_program_serves_and_calls(environment: Path, variables: dict[str, str], server: str) -> None:
    own = variables | {"PEGBOARD_URL": server}
    called = run(environment, own, "call", "echo", "message=installed", "--json")
    assert called.returncode == 0, called.stderr
    assert json.loads(called.stdout)["result"] == {"echo": {"message": "installed"}}
    listed = run(environment, own, "tools", "list", "--json")
    assert "echo" in {tool["name"] for tool in json.loads(listed.stdout)["items"]}


def test_the_wheel_contains_the_console_and_a_log_in_succeeds(
    environment: Path, variables: dict[str, str], server: str
) -> None:
    assert not list(environment.glob("node*"))
    page = httpx.get(f"{server}/console/tools")
    assert page.status_code == 200
    assert "__CSP_NONCE__" not in page.text
    for asset in re.findall(r'(?:src|href)="(/console/assets/[^"]+)"', page.text):
        assert httpx.get(f"{server}{asset}").status_code == 200, asset
    assert "MIT" in httpx.get(f"{server}/console/THIRD_PARTY.txt").text
    address = run(environment, variables | {"PEGBOARD_URL": server}, "console", "--print").stdout.strip()
    code = address.partition("#code=")[2]
    with httpx.Client(base_url=server) as browser:
        assert browser.post("/v1/sessions", json={"code": code}).status_code == 201
        assert browser.get("/v1/me").json()["user"]["name"] == "admin"
