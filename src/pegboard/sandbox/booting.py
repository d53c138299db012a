"""How a program of the `inside` folder is started: with nothing else of the board loaded, in a clean environment."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from pathlib import Path

_PACKAGE = str(Path(__file__).parent.parent)
_BOOT = """\
import os, sys, types
package = types.ModuleType("pegboard")
package.__path__ = [sys.argv[1]]
sys.modules["pegboard"] = package
"""


def program(lines: str, *arguments: str) -> tuple[str, ...]:
    """The command that runs these lines, which may import from `inside`; their arguments are from sys.argv[2] on."""
    return (sys.executable, "-I", "-S", "-B", "-c", _BOOT + lines, _PACKAGE, *arguments)


def inherited(names: Iterable[str] = ()) -> dict[str, str]:
    """Of the board's environment these variables, and what an interpreter may need to find its libraries."""
    return {name: os.environ[name] for name in ("LD_LIBRARY_PATH", *names) if name in os.environ}
