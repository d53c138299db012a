"""Fail if a file is too long, two modules have the same name, or an import inside a function gives no reason."""

import ast
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

MAX_LINES = 500
SOURCE = Path("src/pegboard")
# A module that has the same role in several folders has the same name in each of them.
ROLE_NAMES = {"__init__", "__main__", "base", "catalog", "config", "executor", "importer"}
# Former import paths, which only re-export.
FORMER_PATHS = {"core", "executors", "mocking", "store"}
# Imports in these processes happen late on purpose: what is imported is in the memory of every call.
LATE_IMPORTS = SOURCE / "sandbox" / "child"
REASON = re.compile(r"#(?! noqa: [A-Z0-9, ]+$| type: ignore\S*$).*\w")


def long_files() -> Iterator[str]:
    """Return a message for each file over the limit."""
    for folder in ("src", "tests", "bench"):
        for path in sorted(Path(folder).rglob("*.py")):
            count = len(path.read_text(encoding="utf-8").splitlines())
            if count > MAX_LINES:
                yield f"{path}: {count} lines, at most {MAX_LINES}: split it by topic"


def repeated_names() -> Iterator[str]:
    """Return a message for each module name that is used more than once."""
    paths: dict[str, list[Path]] = defaultdict(list)
    for path in sorted(SOURCE.rglob("*.py")):
        if path.relative_to(SOURCE).parts[0] not in FORMER_PATHS and path.stem not in ROLE_NAMES:
            paths[path.stem].append(path)
    for name, found in paths.items():
        if len(found) > 1:
            yield f"the module name '{name}' is used {len(found)} times: {', '.join(map(str, found))}"


def unexplained_imports() -> Iterator[str]:
    """Return a message for each group of imports inside a function that has no comment with a reason."""
    for path in sorted(SOURCE.rglob("*.py")):
        if LATE_IMPORTS in path.parents:
            continue
        text = path.read_text(encoding="utf-8")
        lines = text.splitlines()
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield from (
                    f"{path}:{first}: an import inside a function; say why in a comment on its line or above it"
                    for first, last in import_groups(node)
                    if not any(REASON.search(line) for line in lines[first - 2 : last])
                )


def import_groups(function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[tuple[int, int]]:
    """Return the first and last line of each run of imports that stand one after the other in a function."""
    for node in ast.walk(function):
        for body in (getattr(node, "body", None), getattr(node, "orelse", None), getattr(node, "finalbody", None)):
            group: list[ast.stmt] = []
            for statement in [*(body if isinstance(body, list) else ()), None]:
                if isinstance(statement, ast.Import | ast.ImportFrom):
                    group.append(statement)
                elif group:
                    yield group[0].lineno, group[-1].end_lineno or group[-1].lineno
                    group = []


sys.exit("\n".join(sorted({*long_files(), *repeated_names(), *unexplained_imports()})) or 0)
