"""Modules of this package for a process that has entered its house, where their files are out of sight."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import find_spec
from types import CodeType, ModuleType
from typing import Any, cast


class Kept:
    """Their code, read already and not run; it finds and loads them as importlib.abc has it.

    That module itself would bring many others, for all supervisors to inherit.
    """

    def __init__(self) -> None:
        self._codes: Mapping[str, CodeType] = dict(_codes())

    @contextmanager
    def at_hand(self) -> Iterator[None]:
        """Have these modules imported from here."""
        sys.meta_path.insert(0, self)
        try:
            yield
        finally:
            sys.meta_path.remove(self)

    def find_spec(self, fullname: str, _path: object = None, _target: ModuleType | None = None) -> ModuleSpec | None:
        """Where to import this module from, if it is one of these."""
        return ModuleSpec(fullname, cast(Any, self)) if fullname in self._codes else None

    def create_module(self, _spec: ModuleSpec) -> ModuleType | None:
        """None: any module will do."""
        return None

    def exec_module(self, module: ModuleType) -> None:
        """Run the module's code."""
        exec(self._codes[module.__name__], module.__dict__)  # noqa: S102 -- that of this package


def _codes() -> Iterator[tuple[str, CodeType]]:
    for file in os.listdir(os.path.dirname(__file__)):
        name = f"{__package__}.{file.removesuffix('.py')}"
        spec = find_spec(name) if file.endswith(".py") and name not in sys.modules else None
        if spec is not None and isinstance(spec.loader, SourceFileLoader):
            code = spec.loader.get_code(name)
            if code is not None:
                yield name, code
