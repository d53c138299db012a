"""Fail if a file, a module name, an import or a condition breaks one of the rules below."""

import ast
import gc
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

MAX_LINES = 500
MAX_CONSOLE_LINES = 300
SOURCE = Path("src/pegboard")
# A module that has the same role in several folders has the same name in each of them.
ROLE_NAMES = {"__init__", "__main__", "base", "catalog", "checks", "config", "executor", "importer"}
# Its classes have the names of the plain data that they store.
TABLES = SOURCE / "storage" / "board_tables.py"
# Former import paths, which only re-export.
FORMER_PATHS = {"core", "executors", "mocking", "store"}
# Imports in these processes happen late on purpose: what is imported is in the memory of every call. They import the
# standard library, and pandas and numpy where the code of a tool has imported them.
CHILD = SOURCE / "sandbox" / "child"
CHILD_IMPORTS = ("pegboard.sandbox.child", "numpy", "pandas", *sys.stdlib_module_names)
# Only here may code depend on which kind a tool has; everything else asks its KindSpec.
KINDS = SOURCE / "kinds"
REASON = re.compile(r"#(?! noqa: [A-Z0-9, ]+$| type: ignore\S*$).*\w")


@cache
def nodes_of(path: Path) -> tuple[ast.AST, ...]:
    """Return the nodes of the syntax tree of a file of the source code, which several rules read."""
    return tuple(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))


def long_files() -> Iterator[str]:
    """Return a message for each file over the limit."""
    for folder in ("src", "tests", "bench"):
        for path in sorted(Path(folder).rglob("*.py")):
            count = len(path.read_text(encoding="utf-8").splitlines())
            if count > MAX_LINES:
                yield f"{path}: {count} lines, at most {MAX_LINES}: split it by topic"


def long_console_files() -> Iterator[str]:
    """Return a message for each file of the web console over its limit, except for the generated types of the API."""
    for path in sorted(path for folder in ("src", "build", "tests") for path in Path("console", folder).rglob("*")):
        if path.is_file() and not path.name.endswith(".d.ts"):
            count = len(path.read_text(encoding="utf-8").splitlines())
            if count > MAX_CONSOLE_LINES:
                yield f"{path}: {count} lines, at most {MAX_CONSOLE_LINES}: split it by topic"


def repeated_names() -> Iterator[str]:
    """Return a message for each module name that is used more than once."""
    paths: dict[str, list[Path]] = defaultdict(list)
    for path in sorted(SOURCE.rglob("*.py")):
        if path.relative_to(SOURCE).parts[0] not in FORMER_PATHS and path.stem not in ROLE_NAMES:
            paths[path.stem].append(path)
    for name, found in paths.items():
        if len(found) > 1:
            yield f"the module name '{name}' is used {len(found)} times: {', '.join(map(str, found))}"


def repeated_classes() -> Iterator[str]:
    """Return a message for each public class name that is used more than once, except for tables of the database."""
    paths: dict[str, list[Path]] = defaultdict(list)
    for path in sorted(SOURCE.rglob("*.py")):
        if path.relative_to(SOURCE).parts[0] not in FORMER_PATHS and path != TABLES:
            for node in nodes_of(path):
                if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                    paths[node.name].append(path)
    for name, found in paths.items():
        if len(found) > 1:
            yield f"the class name '{name}' is used {len(found)} times: {', '.join(map(str, found))}"


def unexplained_imports() -> Iterator[str]:
    """Return a message for each group of imports inside a function that has no comment with a reason."""
    for path in sorted(SOURCE.rglob("*.py")):
        if CHILD in path.parents:
            continue
        lines = path.read_text(encoding="utf-8").splitlines()
        imports = [node.lineno for node in nodes_of(path) if isinstance(node, ast.Import | ast.ImportFrom)]
        for node in nodes_of(path):
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            if any(node.lineno < line <= (node.end_lineno or line) for line in imports):
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


def foreign_imports() -> Iterator[str]:
    """Return a message for each import in the confined processes that is not allowed there."""
    for path in sorted(CHILD.rglob("*.py")):
        for node in nodes_of(path):
            names = [each.name for each in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom):
                names = [node.module or ""]
            for name in names:
                if not any(name == allowed or name.startswith(f"{allowed}.") for allowed in CHILD_IMPORTS):
                    yield f"{path}:{node.lineno}: '{name}' is imported into confined processes"


def private_imports() -> Iterator[str]:
    """Return a message for each import of a private name; ruff's SLF001 finds private attributes."""
    for folder in ("src", "tests", "bench"):
        for path in sorted(Path(folder).rglob("*.py")):
            nodes = nodes_of(path) if folder == "src" else ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            for node in nodes:
                names = [each.name for each in node.names] if isinstance(node, ast.Import | ast.ImportFrom) else []
                if isinstance(node, ast.ImportFrom):
                    names.append(node.module or "")
                for name in names:
                    if re.search(r"(?:^|\.)_(?!_)", name):
                        yield f"{path}:{node.lineno}: '{name}' is private; use a public name"


def kind_conditions() -> Iterator[str]:
    """Return a message for each condition on a kind of tool outside `kinds/`."""
    for path in sorted(SOURCE.rglob("*.py")):
        if KINDS in path.parents:
            continue
        for node in nodes_of(path):
            if is_kind_condition(node):
                yield f"{path}:{node.lineno}: a condition on the kind of a tool; ask its KindSpec (kinds/base.py)"


def is_kind_condition(node: ast.AST) -> bool:
    """Return True for a comparison, match or collection with a member of Kind, or of a tool_type with a constant."""
    if isinstance(node, ast.Compare):
        sides = [node.left, *node.comparators]
        if any(map(is_tool_type, sides)) and any(map(is_constant, sides)):
            return True
        return any(map(is_member, sides))
    if isinstance(node, ast.Match):
        return is_tool_type(node.subject)
    if isinstance(node, ast.Tuple | ast.List | ast.Set):
        return any(map(is_member, node.elts))
    return isinstance(node, ast.Dict) and any(is_member(key) for key in node.keys if key is not None)


def is_member(node: ast.AST) -> bool:
    """Return True for `Kind.NAME`."""
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "Kind"


def is_tool_type(node: ast.AST) -> bool:
    """Return True for `x.tool_type`, `x["tool_type"]` and `x.get("tool_type")`."""
    text = ast.unparse(node)
    return text.endswith((".tool_type", "['tool_type']", ".get('tool_type')"))


def is_constant(node: ast.AST) -> bool:
    """Return True for a text, a collection with a text, and the name of a constant."""
    if isinstance(node, ast.Tuple | ast.List | ast.Set):
        return any(map(is_constant, node.elts))
    if isinstance(node, ast.Name):
        return node.id.isupper()
    return is_member(node) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def dialects_that_know_another() -> Iterator[str]:
    """Return a message for each import of a dialect, except by a dialect that derives from it."""
    folder = SOURCE / "dialects"
    catalog = (folder / "catalog.py").read_text(encoding="utf-8")
    dialects = {f"pegboard.dialects.{module}" for module in re.findall(r'^    "([\w.]+):\w+",$', catalog, re.MULTILINE)}
    if not dialects:
        yield f"{folder / 'catalog.py'}: has no line of the form 'module:Class',"
    for path in sorted(folder.rglob("*.py")):
        module, *_ = nodes = nodes_of(path)
        imports = [node for node in nodes if isinstance(node, ast.ImportFrom)]
        if any(node.module == "pegboard.dialects.catalog" for node in imports):
            continue
        assert isinstance(module, ast.Module)
        classes = [node for node in module.body if isinstance(node, ast.ClassDef)]
        bases = {base.id for node in classes for base in node.bases if isinstance(base, ast.Name)}
        for node in imports:
            if node.module in dialects and bases.isdisjoint(name.name for name in node.names):
                yield f"{path}:{node.lineno}: imports another dialect; put what both need into dialects/shared/"


RULES = (
    long_files,
    long_console_files,
    repeated_names,
    repeated_classes,
    unexplained_imports,
    foreign_imports,
    private_imports,
    kind_conditions,
    dialects_that_know_another,
)
if __name__ == "__main__":
    gc.disable()  # the nodes of all files stay in memory, and to look at them again takes most of the time
    sys.exit("\n".join(sorted({message for rule in RULES for message in rule()})) or 0)
