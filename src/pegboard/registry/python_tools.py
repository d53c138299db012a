"""What is asked of a python tool's code and libraries when it is registered, and where its schema comes from."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from pegboard.core.configs import PythonConfig
from pegboard.core.python_code import CodeProblem, EntryProblem, Import, read_code, signature_of
from pegboard.core.refusals import Fault
from pegboard.core.tool import Kind, Tool
from pegboard.sandbox.libraries import Libraries

_MOST_FAULTS = 10
_CODE = ("code", "entrypoint", "libraries")


def code_faults(config: PythonConfig, before: Tool, libraries: Libraries) -> list[Fault]:
    """What keeps the code from being a tool on this board; nothing is asked of code that is as it was before."""
    given = config.model_dump(exclude_unset=True)
    if before.tool_type is Kind.PYTHON and all(given.get(name) == before.config.get(name) for name in _CODE):
        # Else nobody could switch off a tool whose library is no longer allowed. Its calls say so.
        return []
    faults = [
        Fault(f"config.libraries.{place}", problem)
        for place, name in enumerate(config.libraries)
        if (problem := libraries.problem(name)) is not None
    ][:_MOST_FAULTS]
    try:
        code = read_code(config.code, config.entrypoint)
    except EntryProblem as problem:
        faults.append(Fault("config.entrypoint", str(problem)))
    except CodeProblem as problem:
        faults.append(Fault("config.code", str(problem)))
    else:
        if not faults:
            known = sys.stdlib_module_names | set(libraries.modules(config.libraries).allowed)
            foreign = [found for found in code.imports if found.module not in known]
            faults += [_import_fault(found, libraries) for found in foreign[:_MOST_FAULTS]]
    return faults


def following(tool: Tool, patch: Mapping[str, Any]) -> dict[str, Any]:
    """That the schema is to be read from the code anew, where it was and a change brings other code."""
    code = tool.config.get("code")
    if tool.tool_type is not Kind.PYTHON or patch.get("config") is None or "tool_type" in patch or code is None:
        return {}
    try:
        derived = signature_of(code, tool.config.get("entrypoint"))
    except CodeProblem:
        return {}
    return {"input_schema": None} if derived == tool.input_schema else {}


def _import_fault(found: Import, libraries: Libraries) -> Fault:
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
