"""Which modules a tool's code may import: the standard library's, and those of the libraries that the tool names.

What confines the code is elsewhere. This keeps a tool from depending on what happens to be installed beside the board,
and the board's own modules out of its sight.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

_BOARD = "pegboard"
# What sysconfig reads about how Python was built has a name for each machine, so no list has it.
_BUILD = "_sysconfigdata"


class ImportsGuard(MetaPathFinder):
    """Asked before all other finders; refuses, and leaves the rest to them."""

    def __init__(self, allowed: Iterable[str]) -> None:
        self._allowed = sys.stdlib_module_names | frozenset(allowed)

    def find_spec(self, name: str, _path: Sequence[str] | None, _target: ModuleType | None = None) -> ModuleSpec | None:
        """Nothing, so that others look for it; ModuleNotFoundError where the code may not import it."""
        top = name.partition(".")[0]
        if top in self._allowed or top.startswith(_BUILD):
            return None
        if top == _BOARD:
            why = "the board itself is nothing that a tool can import"
        else:
            why = (
                "it is neither in the standard library nor in the tool's libraries; add its library to config.libraries"
            )
        raise ModuleNotFoundError(f"No module named {name!r}: {why}", name=name)


def guard_imports(allowed: Iterable[str]) -> None:
    """From now on let nothing else be imported in this process and its forks, and forget the board's own modules."""
    _forget(_BOARD)
    sys.meta_path.insert(0, ImportsGuard(allowed))


def _forget(name: str) -> None:
    module = sys.modules.pop(name, None)
    for attribute, value in list(vars(module).items()) if module is not None else ():
        if type(value) is ModuleType and value.__name__ == f"{name}.{attribute}":
            _forget(value.__name__)
