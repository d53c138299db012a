"""Compiles untrusted code with limits, so that no code takes much time or memory of this process.

Not in a confined process: tools are also registered on machines that cannot confine them, and many in one transaction.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

MAX_CODE_BYTES = 64 * 1024
# In Python 3.11, each {…} of an f-string takes time proportional to the length of the whole string.
MAX_FSTRING_CHARACTERS = 8 * 1024
MAX_NODES = 50_000
# In Python 3.11, comparing functions that differ only in their line takes time quadratic in their number.
MAX_FUNCTIONS = 4000
# How many nodes the compiler may add by copying.
_MAX_COPIED_NODES = 20_000

_SCOPE_NODES = (
    ast.FunctionDef
    | ast.AsyncFunctionDef
    | ast.ClassDef
    | ast.Lambda
    | ast.ListComp
    | ast.SetComp
    | ast.DictComp
    | ast.GeneratorExp
)
_EXIT_NODES = ast.Return | ast.Break | ast.Continue
# The cost of each exit from a `with` block.
_WITH_EXIT_COST = 4
# The start of an f-string, and its body up to the closing quote. Comments and other strings are not recognised: a
# false match must be very long to be rejected.
_FSTRING_START = re.compile(r"""[fF][rR]?('''|\"\"\"|'|")""")
_ESCAPE_PATTERN = r"\\(?:\r\n|.)"
_FSTRING_BODIES = {
    quote: re.compile(rf"(?:{plain}|{_ESCAPE_PATTERN}){{{MAX_FSTRING_CHARACTERS}}}", re.DOTALL)
    for quote, plain in {
        "'": r"[^'\\\n]",
        '"': r'[^"\\\n]',
        "'''": r"(?!''')[^\\]",
        '"""': r'(?!""")[^\\]',
    }.items()
}


class CodeProblem(ValueError):
    """Code that cannot be a tool, with the line if there is one."""

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message if line is None else f"line {line}: {message}")
        self.line = line


def check_code_size(code: str) -> None:
    """Raise CodeProblem if the code is larger than MAX_CODE_BYTES."""
    if len(code) > MAX_CODE_BYTES or len(code.encode("utf-8", "surrogatepass")) > MAX_CODE_BYTES:
        raise CodeProblem(f"larger than {MAX_CODE_BYTES // 1024} KiB; pass data as arguments")


def parse_code(code: str) -> ast.Module:
    """Return the syntax tree of the code; raise CodeProblem if Python cannot parse it, or not fast enough."""
    for found in _FSTRING_START.finditer(code):
        if _FSTRING_BODIES[found[1]].match(code, found.end()):
            raise CodeProblem(
                f"an f-string of more than {MAX_FSTRING_CHARACTERS:,} characters; join several shorter ones",
                code.count("\n", 0, found.start()) + 1,
            )
    with _convert_compiler_errors():
        return ast.parse(code, "<tool>")


def check_compiles(tree: ast.Module) -> None:
    """Raise CodeProblem with Python's message if the tree does not compile; takes one second at most."""
    nodes = _list_nodes(tree)
    _check_compile_cost(nodes)
    with _convert_compiler_errors():
        _compile(tree, nodes)


@contextmanager
def _convert_compiler_errors() -> Iterator[None]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # warnings concern the author of the code, not the operator
            yield
    except SyntaxError as error:
        raise CodeProblem(str(error.msg), error.lineno) from None
    except (RecursionError, MemoryError):
        raise CodeProblem("nested too deeply for Python to compile; use more lines, or fewer levels") from None
    except (ValueError, OverflowError, SystemError) as error:
        raise CodeProblem(f"Python cannot parse it: {error}") from None


def _list_nodes(tree: ast.Module) -> list[ast.AST]:
    """Return all nodes, parents before children."""
    nodes: list[ast.AST] = [tree]
    for node in nodes:
        nodes += ast.iter_child_nodes(node)  # extends the list that the loop iterates over
    if len(nodes) > MAX_NODES:
        raise CodeProblem(f"{len(nodes):,} names, values and statements, at most {MAX_NODES:,}; pass data as arguments")
    return nodes


def _compile(tree: ast.Module, nodes: list[ast.AST]) -> None:
    # The compiler stores constants in a dictionary, and numbers can be chosen to have equal hashes. Whether the code
    # compiles does not depend on the numbers, so they are replaced.
    numbers = [node for node in nodes if isinstance(node, ast.Constant) and type(node.value) in (int, float)]
    values = [node.value for node in numbers]
    for place, node in enumerate(numbers):
        node.value = place if type(node.value) is int else place + 0.5
    try:
        compile(tree, "<tool>", "exec", dont_inherit=True)
    finally:
        for node, value in zip(numbers, values, strict=True):
            node.value = value


def _check_compile_cost(nodes: list[ast.AST]) -> None:
    """Raise CodeProblem for code that the compiler would expand too much.

    It copies a `finally` block for every exit from its `try`, so that a few lines with nested blocks could take
    gigabytes.
    """
    functions = sum(isinstance(node, _SCOPE_NODES) for node in nodes)
    if functions > MAX_FUNCTIONS:
        raise CodeProblem(
            f"{functions:,} functions, classes and comprehensions; at most {MAX_FUNCTIONS:,} are accepted"
        )
    if not any(isinstance(node, ast.Try | ast.TryStar | ast.With | ast.AsyncWith) for node in nodes):
        return
    most = 2 * len(nodes) + _MAX_COPIED_NODES
    costs: dict[int, tuple[int, int]] = {}
    for node in reversed(nodes):
        costs[id(node)] = _estimate_compile_cost(node, costs)
        if costs[id(node)][0] > most:
            raise CodeProblem(
                "try … finally blocks that are nested, or left in so many ways, that Python would copy them thousands "
                "of times; put what an inner one does into a function",
                getattr(node, "lineno", None),
            )


def _estimate_compile_cost(node: ast.AST, costs: dict[int, tuple[int, int]]) -> tuple[int, int]:
    """Return the compiled size of a node and the number of its early exits."""
    final = node.finalbody if isinstance(node, ast.Try | ast.TryStar) else []
    apart = {id(child) for child in final}
    size, exits = 1, int(isinstance(node, _EXIT_NODES))
    for child in ast.iter_child_nodes(node):
        if id(child) not in apart:
            within, ways = costs[id(child)]
            size, exits = size + within, exits + ways
    if final:
        copies = 2 + exits
        size += copies * sum(costs[id(child)][0] for child in final)
        exits += copies * sum(costs[id(child)][1] for child in final)
    if isinstance(node, ast.With | ast.AsyncWith):
        size += _WITH_EXIT_COST * exits
    return size, 0 if isinstance(node, _SCOPE_NODES) else exits
