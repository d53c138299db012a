"""A setting has its default in settings.py alone: no parameter that its value reaches has a default of its own.

The test follows the values through the source: from `settings.NAME` in the modules that read the settings, by name
through each class, class method and function that the value is passed to.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import textwrap
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any

from pegboard.settings import Settings

READERS = (
    "pegboard.wiring",
    "pegboard.board",
    "pegboard.surfaces.mcp.mcp_server",
    "pegboard.surfaces.rest.app",
    "pegboard.surfaces.rest.server",
)
# Settings that are used where they are read, or passed to another library.
USED_AT_ONCE = {"port", "drain_seconds", "max_body_bytes", "key_rate"}


def passed(call: ast.Call, callee: Callable[..., Any]) -> Iterator[tuple[inspect.Parameter, ast.expr]]:
    """Return each parameter of a call with the expression that is passed for it."""
    if any(isinstance(each, ast.Starred) for each in call.args) or any(each.arg is None for each in call.keywords):
        return
    bound = inspect.signature(callee).bind(*call.args, **{str(each.arg): each.value for each in call.keywords})
    for name, value in bound.arguments.items():
        if isinstance(value, ast.expr):
            yield bound.signature.parameters[name], value


def resolved(expression: ast.expr, names: dict[str, Any]) -> Callable[..., Any] | None:
    """Return the class, class method or function of ours that a call refers to, or None."""
    first, *rest = ast.unparse(expression).split(".")
    callee = names.get(first)
    for name in rest:
        callee = getattr(callee, name, None)
    if not callable(callee) or not str(getattr(callee, "__module__", "")).startswith("pegboard."):
        return None
    return None if inspect.isclass(callee) and issubclass(callee, BaseException) else callee


def body_of(callee: Callable[..., Any]) -> tuple[Callable[..., Any], dict[str, Any]]:
    """Return the function that runs for a call, and the names in its scope."""
    function: Any = callee.__init__ if inspect.isclass(callee) else inspect.unwrap(callee)
    names = dict(vars(importlib.import_module(callee.__module__)))
    if inspect.ismethod(callee):
        names["cls"] = callee.__self__
        function = callee.__func__
    return function, names


def list_targets(callee: Callable[..., Any], parameter: str) -> Iterator[tuple[Callable[..., Any], inspect.Parameter]]:
    """Return each callee and parameter that a parameter's value is passed to by its name."""
    function, names = body_of(callee)
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    except (OSError, TypeError):  # the constructor of a dataclass or named tuple
        return
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        inner = resolved(call.func, names)
        if inner is None:
            continue
        for other, value in passed(call, inner):
            if isinstance(value, ast.Name) and value.id == parameter:
                yield inner, other
                yield from list_targets(inner, other.name)


def read_settings(expression: ast.expr) -> set[str]:
    """The settings that an expression reads."""
    return {
        node.attr
        for node in ast.walk(expression)
        if isinstance(node, ast.Attribute) and ast.unparse(node.value).endswith("settings")
    } & Settings.model_fields.keys()


def parameters_of_settings() -> dict[str, list[tuple[Callable[..., Any], inspect.Parameter]]]:
    """Return for each setting the callees and parameters that its value reaches."""
    found: dict[str, list[tuple[Callable[..., Any], inspect.Parameter]]] = defaultdict(list)
    for module in map(importlib.import_module, READERS):
        tree = ast.parse(inspect.getsource(module))
        for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
            callee = resolved(call.func, vars(module))
            if callee is None:
                continue
            for parameter, value in passed(call, callee):
                for setting in read_settings(value):
                    found[setting] += [(callee, parameter), *list_targets(callee, parameter.name)]
    return found


def test_no_parameter_that_a_setting_reaches_has_a_default_of_its_own() -> None:
    found = parameters_of_settings()
    numbers = {
        name
        for name, field in Settings.model_fields.items()
        if field.annotation in (int, float) or name == "max_connections"
    }
    # Every limit and timeout was followed, so the test covers all of them.
    assert numbers - USED_AT_ONCE <= found.keys()
    repeated = {
        f"{setting}: {callee.__module__}.{callee.__qualname__}({parameter.name})"
        for setting, reaches in found.items()
        for callee, parameter in reaches
        if parameter.default is not inspect.Parameter.empty
    }
    assert not repeated
