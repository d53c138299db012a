"""Somebody's code handed to Python's compiler, so that whatever it holds costs this process little."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

MAX_BYTES = 64 * 1024
# Each {…} of an f-string takes Python 3.11 time by the length of the whole string.
MAX_FORMATTED = 8 * 1024
MAX_NODES = 50_000
# Comparing functions that differ in nothing but their line takes Python 3.11 time by the square of their number.
MAX_FUNCTIONS = 4000
# How many nodes more than the code has may come of it by copying.
_COPIED = 20_000

_OWN_SCOPE = (
    ast.FunctionDef
    | ast.AsyncFunctionDef
    | ast.ClassDef
    | ast.Lambda
    | ast.ListComp
    | ast.SetComp
    | ast.DictComp
    | ast.GeneratorExp
)
_LEAVING = ast.Return | ast.Break | ast.Continue
# What leaving a `with` block takes, each time it is left.
_LEFT = 4
# Where an f-string may begin, and how it goes on until its quote ends it. Comments and other strings are not told
# apart: what is taken for one too much has to be very long to be refused.
_FORMATTED = re.compile(r"""[fF][rR]?('''|\"\"\"|'|")""")
_ESCAPED = r"\\(?:\r\n|.)"
_WITHIN = {
    quote: re.compile(rf"(?:{plain}|{_ESCAPED}){{{MAX_FORMATTED}}}", re.DOTALL)
    for quote, plain in {
        "'": r"[^'\\\n]",
        '"': r'[^"\\\n]',
        "'''": r"(?!''')[^\\]",
        '"""': r'(?!""")[^\\]',
    }.items()
}


class CodeProblem(ValueError):
    """Code that cannot be a tool, with the line where there is one."""

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message if line is None else f"line {line}: {message}")
        self.line = line


def check_size(code: str) -> None:
    """Raise CodeProblem where there is more code than is looked at."""
    if len(code) > MAX_BYTES or len(code.encode("utf-8", "surrogatepass")) > MAX_BYTES:
        raise CodeProblem(f"larger than {MAX_BYTES // 1024} KiB; pass data as arguments")


def parsed(code: str) -> ast.Module:
    """The syntax tree of code; raises CodeProblem where Python cannot read it, or not in a moment."""
    for found in _FORMATTED.finditer(code):
        if _WITHIN[found[1]].match(code, found.end()):
            raise CodeProblem(
                f"an f-string of more than {MAX_FORMATTED:,} characters; put it together from several",
                code.count("\n", 0, found.start()) + 1,
            )
    with _faults():
        return ast.parse(code, "<tool>")


def check_compiling(tree: ast.Module) -> None:
    """Raise CodeProblem, with what Python says, unless it compiles the tree; that takes a second at most."""
    nodes = _nodes(tree)
    _check_cost(nodes)
    with _faults():
        _compile(tree, nodes)


@contextmanager
def _faults() -> Iterator[None]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an odd escape is for the code's author, not for whoever runs the board
            yield
    except SyntaxError as error:
        raise CodeProblem(str(error.msg), error.lineno) from None
    except (RecursionError, MemoryError):
        raise CodeProblem("nested too deeply for Python to compile; use more lines, or fewer levels") from None
    except (ValueError, OverflowError, SystemError) as error:
        raise CodeProblem(f"Python cannot read it: {error}") from None


def _nodes(tree: ast.Module) -> list[ast.AST]:
    """Every node, each after the one that it is in."""
    nodes: list[ast.AST] = [tree]
    for node in nodes:
        nodes += ast.iter_child_nodes(node)  # and with that the loop goes on
    if len(nodes) > MAX_NODES:
        raise CodeProblem(f"{len(nodes):,} names, values and statements, at most {MAX_NODES:,}; pass data as arguments")
    return nodes


def _compile(tree: ast.Module, nodes: list[ast.AST]) -> None:
    # The compiler keeps constants in a dictionary, and numbers can be chosen so that all have the same hash; which
    # numbers there are makes no difference to whether the code compiles.
    numbers = [node for node in nodes if isinstance(node, ast.Constant) and type(node.value) in (int, float)]
    values = [node.value for node in numbers]
    for place, node in enumerate(numbers):
        node.value = place if type(node.value) is int else place + 0.5
    try:
        compile(tree, "<tool>", "exec", dont_inherit=True)
    finally:
        for node, value in zip(numbers, values, strict=True):
            node.value = value


def _check_cost(nodes: list[ast.AST]) -> None:
    """Refuse what the compiler would make much more of than there is.

    It writes a `finally` block once for every way out of its `try`. Nested ones make few lines of code take gigabytes.
    """
    functions = sum(isinstance(node, _OWN_SCOPE) for node in nodes)
    if functions > MAX_FUNCTIONS:
        raise CodeProblem(
            f"{functions:,} functions, classes and comprehensions; at most {MAX_FUNCTIONS:,} are accepted"
        )
    if not any(isinstance(node, ast.Try | ast.TryStar | ast.With | ast.AsyncWith) for node in nodes):
        return
    most = 2 * len(nodes) + _COPIED
    costs: dict[int, tuple[int, int]] = {}
    for node in reversed(nodes):
        costs[id(node)] = _cost(node, costs)
        if costs[id(node)][0] > most:
            raise CodeProblem(
                "try … finally blocks that are nested, or left in so many ways, that Python would copy them thousands "
                "of times; put what an inner one does into a function",
                getattr(node, "lineno", None),
            )


def _cost(node: ast.AST, costs: dict[int, tuple[int, int]]) -> tuple[int, int]:
    """How much is compiled for a node, and in how many places it is left early."""
    final = node.finalbody if isinstance(node, ast.Try | ast.TryStar) else []
    apart = {id(child) for child in final}
    size, exits = 1, int(isinstance(node, _LEAVING))
    for child in ast.iter_child_nodes(node):
        if id(child) not in apart:
            within, ways = costs[id(child)]
            size, exits = size + within, exits + ways
    if final:
        copies = 2 + exits
        size += copies * sum(costs[id(child)][0] for child in final)
        exits += copies * sum(costs[id(child)][1] for child in final)
    if isinstance(node, ast.With | ast.AsyncWith):
        size += _LEFT * exits
    return size, 0 if isinstance(node, _OWN_SCOPE) else exits
