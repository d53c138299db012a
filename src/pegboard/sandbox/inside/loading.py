"""The libraries of a house: imported and practised with, once for all calls."""

from __future__ import annotations

import importlib
import os
import sys

from pegboard.sandbox.inside import arenas, python_job
from pegboard.sandbox.inside.become import usual_environment
from pegboard.sandbox.inside.functions import Functions
from pegboard.sandbox.inside.house import OWN_PLACES, House
from pegboard.sandbox.inside.imports_guard import guard_imports
from pegboard.sandbox.inside.rehearsal import practise
from pegboard.sandbox.inside.steps import LibraryFailed

# Numerical libraries start threads of their own otherwise, which no fork survives.
_ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")


def load(house: House) -> Functions:
    """Have in this process all that calls of functions need; raises LibraryFailed where that cannot be."""
    os.environ.update(dict.fromkeys(_ONE_THREAD, "1"))
    sys.path += house.prefixes
    with arenas.together():
        for name in house.modules:
            _import(name)
        practised = practise(house.modules)
    python_job.tidy()
    guard_imports(house.allowed)
    # Without namespaces each call works in a folder of another name.
    return Functions(practised, usual_environment(OWN_PLACES[0]) if house.namespaces else {})


def _import(name: str) -> None:
    try:
        importlib.import_module(name)
    except BaseException as error:
        raise LibraryFailed(name, f"importing {name}: {type(error).__name__}: {error}") from error
