"""A python tool's code, read and never run: what it takes, what it imports, whether Python understands it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from copy import copy, deepcopy
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

from pegboard.core.python_compiling import CodeProblem, check_compiling, check_size, parsed
from pegboard.core.python_signature import schema_of

__all__ = ["CodeProblem", "EntryProblem", "Import", "PythonCode", "read_code", "signature_of"]

MAX_PARAMETERS = 200

_Function = ast.FunctionDef | ast.AsyncFunctionDef
# What an import may fail with where the code is ready for that.
_FAILING = frozenset({"ImportError", "ModuleNotFoundError", "Exception", "BaseException"})
# Registering a tool asks for the same code several times, and reading it may take a tenth of a second.
_KEPT = 64


class EntryProblem(CodeProblem):
    """Code that has functions, and not the one that was named."""


class Import(NamedTuple):
    """A module that the code cannot do without, by its top-level name, and the first line that imports it."""

    module: str
    line: int


@dataclass(frozen=True, slots=True)
class PythonCode:
    """What is known of the code of a tool."""

    entry: str
    imports: tuple[Import, ...]
    schema: dict[str, Any]


def read_code(code: str, entrypoint: str | None = None) -> PythonCode:
    """What the code says about itself; raises CodeProblem where it cannot be a tool."""
    check_size(code)  # and so none is kept that is larger
    found = _known(code, entrypoint)
    if isinstance(found, CodeProblem):
        raise copy(found)  # one that was raised holds on to what raised it
    return found


def signature_of(code: str, entrypoint: str | None = None) -> dict[str, Any]:
    """The JSON Schema of what the tool's function takes; raises CodeProblem where the code cannot be a tool."""
    return deepcopy(read_code(code, entrypoint).schema)


@lru_cache(_KEPT)
def _known(code: str, entrypoint: str | None) -> PythonCode | CodeProblem:
    try:
        return _read(code, entrypoint)
    except CodeProblem as problem:
        return problem.with_traceback(None)


def _read(code: str, entrypoint: str | None) -> PythonCode:
    tree = parsed(code)
    check_compiling(tree)
    function = _entry(tree, entrypoint)
    if positional := [one.arg for one in function.args.posonlyargs]:
        raise CodeProblem(
            f"{function.name}() takes '{positional[0]}' by position only, and arguments are given by name; "
            "take the '/' out of its signature",
            function.lineno,
        )
    if (count := len(function.args.args) + len(function.args.kwonlyargs)) > MAX_PARAMETERS:
        raise CodeProblem(
            f"{function.name}() takes {count:,} parameters, at most {MAX_PARAMETERS}; take an object or an array",
            function.lineno,
        )
    return PythonCode(function.name, _imports(tree), schema_of(function.args))


def _entry(tree: ast.Module, entrypoint: str | None) -> _Function:
    functions = [node for node in tree.body if isinstance(node, _Function)]
    if not functions:
        raise CodeProblem("no function at the top level; the tool is one: def main(name): return …")
    named = {function.name: function for function in functions}
    if entrypoint is None:
        return named.get("main", functions[-1])
    if entrypoint not in named:
        raise EntryProblem(f"no function '{entrypoint[:100]}' in the code; there are: {', '.join(named)[:1000]}")
    return named[entrypoint]


def _imports(tree: ast.Module) -> tuple[Import, ...]:
    first: dict[str, int] = {}
    for module, line in _needed(tree):
        first[module] = min(line, first.get(module, line))
    return tuple(sorted((Import(*found) for found in first.items()), key=lambda found: (found.line, found.module)))


def _needed(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """Every import but those whose failure the code is ready for."""
    todo: list[ast.AST] = [tree]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Import):
            yield from ((alias.name.partition(".")[0], node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            if node.level or node.module is None:
                raise CodeProblem("a relative import, and the code of a tool is one file", node.lineno)
            yield node.module.partition(".")[0], node.lineno
        elif isinstance(node, ast.Try | ast.TryStar) and any(map(_catches_imports, node.handlers)):
            todo += [*node.handlers, *node.orelse, *node.finalbody]
        elif isinstance(node, ast.If) and _name(node.test) == "TYPE_CHECKING":
            todo += node.orelse
        else:
            todo += ast.iter_child_nodes(node)


def _catches_imports(handler: ast.ExceptHandler) -> bool:
    caught = handler.type
    names = caught.elts if isinstance(caught, ast.Tuple) else [caught] if caught is not None else []
    return caught is None or any(_name(name) in _FAILING for name in names)


def _name(node: ast.expr) -> str | None:
    """The last word of a dotted name."""
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else None
