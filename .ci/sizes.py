"""Fail when a Python file has grown past what one sitting can read."""

import sys
from pathlib import Path

LIMIT = 320

too_long = [
    f"{path}: {count} lines, {LIMIT} at most: split it by what it does"
    for folder in ("src", "tests", "bench")
    for path in sorted(Path(folder).rglob("*.py"))
    if (count := len(path.read_text(encoding="utf-8").splitlines())) > LIMIT
]
sys.exit("\n".join(too_long) or 0)
