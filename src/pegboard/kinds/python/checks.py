"""Checks of a python tool's code and libraries at registration, and the schema that follows from its code."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from pegboard.kinds.base import Registration
from pegboard.kinds.libraries import Libraries
from pegboard.kinds.python.config import PythonConfig
from pegboard.kinds.python.function_source import (
    CodeProblem,
    EntryPointProblem,
    ImportedModule,
    read_code,
    read_signature,
)
from pegboard.model.api_errors import Fault
from pegboard.model.tool import Kind

_MAX_FAULTS = 10
_CODE_KEYS = ("code", "entrypoint", "libraries")


def find_code_faults(registration: Registration) -> list[Fault]:
    """Return why the code cannot be a tool on this board; unchanged code is not checked."""
    config: PythonConfig = registration.config
    before, libraries = registration.before, registration.rules.libraries
    given = config.model_dump(exclude_unset=True)
    if before.tool_type == Kind.PYTHON and all(given.get(name) == before.config.get(name) for name in _CODE_KEYS):
        # Otherwise a tool whose library is no longer allowed could not be disabled. Its calls report the problem.
        return []
    faults = [
        Fault(f"config.libraries.{place}", problem)
        for place, name in enumerate(config.libraries)
        if (problem := libraries.problem(name)) is not None
    ][:_MAX_FAULTS]
    try:
        code = read_code(config.code, config.entrypoint)
    except EntryPointProblem as problem:
        faults.append(Fault("config.entrypoint", str(problem)))
    except CodeProblem as problem:
        faults.append(Fault("config.code", str(problem)))
    else:
        if not faults:
            known = sys.stdlib_module_names | set(libraries.modules(config.libraries).allowed)
            foreign = [found for found in code.imports if found.module not in known]
            faults += [_build_import_fault(found, libraries) for found in foreign[:_MAX_FAULTS]]
    return faults


def derive_schema(config: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the schema of the function's parameters; None if the code cannot be read."""
    try:
        return read_signature(config["code"], config.get("entrypoint"))
    except (CodeProblem, KeyError, TypeError, AttributeError):
        return None


def _build_import_fault(found: ImportedModule, libraries: Libraries) -> Fault:
    library = libraries.providing(found.module)
    if library is not None:
        way_out = f"add '{library}' to config.libraries"
    elif libraries.allowed:
        way_out = f"the libraries that can be added to config.libraries are: {', '.join(libraries.allowed)}"
    else:
        way_out = "this board allows no libraries (PEGBOARD_PYTHON_LIBRARIES)"
    return Fault(
        "config.code",
        f"line {found.line}: '{found.module}' is neither in the standard library nor in config.libraries; {way_out}",
    )
