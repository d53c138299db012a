"""Imports the libraries of an environment once for all calls, and modules of this package whose files are hidden."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import find_spec
from types import CodeType, ModuleType
from typing import Any, cast

from pegboard.sandbox.child import python_call
from pegboard.sandbox.child.confine import build_base_environment
from pegboard.sandbox.child.python_runner import PythonRunner, guard_imports
from pegboard.sandbox.child.rootfs import CALL_FOLDERS, ZygoteSpec
from pegboard.sandbox.child.setup_steps import LibraryFailed


class PreloadedModules:
    """The compiled code of this package's modules, not yet executed; implements the finder and loader of importlib.abc.

    importlib.abc itself is not imported, because it would load many modules that all supervisors inherit.
    """

    def __init__(self) -> None:
        self._codes: Mapping[str, CodeType] = dict(_read_codes())

    @contextmanager
    def at_hand(self) -> Iterator[None]:
        """Import these modules from memory inside the block."""
        sys.meta_path.insert(0, self)
        try:
            yield
        finally:
            sys.meta_path.remove(self)

    def find_spec(self, fullname: str, _path: object = None, _target: ModuleType | None = None) -> ModuleSpec | None:
        """Return the spec of a module if it is one of these, otherwise None."""
        return ModuleSpec(fullname, cast(Any, self)) if fullname in self._codes else None

    def create_module(self, _spec: ModuleSpec) -> ModuleType | None:
        """Return None, for a default module object."""
        return None

    def exec_module(self, module: ModuleType) -> None:
        """Execute the code of the module."""
        exec(self._codes[module.__name__], module.__dict__)  # noqa: S102 -- that of this package


def _read_codes() -> Iterator[tuple[str, CodeType]]:
    for file in os.listdir(os.path.dirname(__file__)):
        name = f"{__package__}.{file.removesuffix('.py')}"
        spec = find_spec(name) if file.endswith(".py") and name not in sys.modules else None
        if spec is not None and isinstance(spec.loader, SourceFileLoader):
            code = spec.loader.get_code(name)
            if code is not None:
                yield name, code


# Otherwise numerical libraries start threads, which do not survive a fork.
_THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")


def load_libraries(house: ZygoteSpec) -> PythonRunner:
    """Import the libraries that Python calls need; raise LibraryFailed if an import fails."""
    os.environ.update(dict.fromkeys(_THREAD_VARIABLES, "1"))
    sys.path += house.prefixes
    for name in house.modules:
        _import_library(name)
    python_call.clear_parent_state()
    guard_imports(house.allowed)
    # Without namespaces each call has a different work folder.
    return PythonRunner(build_base_environment(CALL_FOLDERS[0]) if house.namespaces else {})


def _import_library(name: str) -> None:
    try:
        importlib.import_module(name)
    except BaseException as error:
        raise LibraryFailed(name, f"importing {name}: {type(error).__name__}: {error}") from error
