"""Builds the commands that start programs of the `child` package.

Such a program loads no other module of Pegboard and has a clean environment.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from pathlib import Path

_PACKAGE_FOLDER = str(Path(__file__).parent.parent)
_BOOTSTRAP_CODE = """\
import os, sys, types
package = types.ModuleType("pegboard")
package.__path__ = [sys.argv[1]]
sys.modules["pegboard"] = package
"""


def build_child_command(lines: str, *arguments: str) -> tuple[str, ...]:
    """Return the command that runs this code, which may import from `child`; its arguments start at sys.argv[2]."""
    return (sys.executable, "-I", "-S", "-B", "-c", _BOOTSTRAP_CODE + lines, _PACKAGE_FOLDER, *arguments)


def inherit_environment(names: Iterable[str] = ()) -> dict[str, str]:
    """Return these variables of the server's environment, and those that the interpreter may need to find libraries."""
    return {name: os.environ[name] for name in ("LD_LIBRARY_PATH", *names) if name in os.environ}
