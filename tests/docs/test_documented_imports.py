"""Every import of pegboard that a page or an example shows, or that an earlier page showed, works."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import warnings
from collections.abc import Iterator

import pytest

import pegboard
from pegboard import extend
from tests.docs.pages import PAGES, ROOT, all_blocks, codes_in, prose_of

_LINE = re.compile(r"^\s*((?:from|import) pegboard\b[^\n(]*)$", re.MULTILINE)
_PATH = re.compile(r"pegboard(\.[A-Za-z_]+)+")
# Files, groups of entry points and attributes of spans begin with `pegboard.` too.
_NO_MODULE = re.compile(
    r"pegboard\.(db|toml)\b|pegboard\.(handlers|member_handlers|dialects|executors|kinds|run_id|surface)$"
)

# Paths that pages showed before `pegboard.extend` existed: installed packages import them, so a module that moves must
# leave a re-export behind, which may warn. Never rename an entry here.
FORMERLY_DOCUMENTED = {
    "pegboard.contract": ("check",),
    "pegboard.core.call": ("Progress", "ReadyCall"),
    "pegboard.core.refusals": (
        "Conflict",
        "Forbidden",
        "Invalid",
        "NotFound",
        "Refusal",
        "TooManyRequests",
        "Unauthorised",
    ),
    "pegboard.dialects.asked": ("AskedCall", "Unreadable"),
    "pegboard.dialects.assembly": ("Assembly",),
    "pegboard.dialects.base": ("Answer", "Dialect"),
    "pegboard.dialects.dialects": ("Dialects",),
    "pegboard.executors.base": ("OpenTool", "Output", "Prepared"),
    "pegboard.integrations.langgraph": (
        "BoardState",
        "BoardToolNode",
        "ToolErrorNode",
        "board_langchain_tools",
        "route_after_agent",
        "route_after_tools",
    ),
    "pegboard.journal.base": ("Journal",),
    "pegboard.mocking.playing": ("hang",),
    "pegboard.mocking.reading": ("read_fixtures",),
    "pegboard.store.executions": ("ExecutionFilter",),
    "pegboard.testing": ("NoSettings", "calls_of", "member", "memory_board"),
}


def imports_in(code: str) -> Iterator[str]:
    """Return the imports of pegboard in Python code, also those inside functions."""
    for node in ast.walk(ast.parse(code)):
        names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if any(name.partition(".")[0] == "pegboard" for name in names):
            yield ast.unparse(node)


def shown_imports() -> dict[str, str]:
    """Return each import that a page or an example shows, with one place."""
    shown = {line: str(block) for block in all_blocks("python") for line in imports_in(block.text)}
    for block in all_blocks("sh", "bash", "console", "text", ""):
        shown |= {match[1]: str(block) for match in _LINE.finditer(block.text)}
    for path in sorted((ROOT / "examples").rglob("*.py")):
        shown |= dict.fromkeys(imports_in(path.read_text(encoding="utf-8")), path.name)
    return shown


def shown_paths() -> set[str]:
    """Each module or name of pegboard that the prose of a page gives as a path."""
    codes = {code for page in PAGES if page != "CHANGELOG.md" for code in codes_in(prose_of(page))}
    return {code for code in codes if _PATH.fullmatch(code) and not _NO_MODULE.match(code)}


IMPORTS = shown_imports()
PATHS = shown_paths()


@pytest.mark.parametrize("line", sorted(IMPORTS))
def test_an_import_that_is_shown_works_without_a_warning(line: str) -> None:
    try:
        exec(compile(line, IMPORTS[line], "exec"), {})
    except (ImportError, Warning) as error:
        pytest.fail(f"{IMPORTS[line]} shows `{line}`: {error!r}")


@pytest.mark.parametrize("path", sorted(PATHS))
def test_a_path_in_the_prose_of_a_page_exists(path: str) -> None:
    try:
        importlib.import_module(path)
    except ModuleNotFoundError:
        module, _, name = path.rpartition(".")
        assert hasattr(importlib.import_module(module), name)


def test_the_pages_are_read() -> None:
    assert "from pegboard import Pegboard" in IMPORTS
    assert any(line.startswith("from pegboard.extend import") for line in IMPORTS)
    assert "pegboard.extend" in PATHS


@pytest.mark.parametrize(
    ("module", "name"), [(module, name) for module, names in FORMERLY_DOCUMENTED.items() for name in names]
)
def test_a_formerly_documented_import_still_works(module: str, name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        found = getattr(importlib.import_module(module), name)
    # A plugin that catches or subclasses it must get the class that the board uses.
    assert found is getattr(extend, name, found)


def test_plugins_find_their_names_in_one_module() -> None:
    assert extend.__all__ == sorted(set(extend.__all__))
    for name in extend.__all__:
        assert hasattr(extend, name)
    shared = set(extend.__all__) & set(pegboard.__all__)
    assert {"Caller", "Tool", "ToolCall", "ToolError", "ToolResult"} <= shared
    assert all(getattr(extend, name) is getattr(pegboard, name) for name in shared)


def test_every_error_of_a_call_or_a_request_is_public() -> None:
    public = {value for name in extend.__all__ if inspect.isclass(value := getattr(extend, name))}
    found = {extend.ToolError, extend.Refusal}
    for error in (extend.ToolError, extend.Refusal):
        siblings = vars(importlib.import_module(error.__module__)).values()
        found |= {value for value in siblings if inspect.isclass(value) and issubclass(value, error)}
    assert found <= public
