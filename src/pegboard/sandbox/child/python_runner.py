"""Imports the libraries of an environment, runs functions with them, and restricts which modules their code may import.

Code may import the standard library and the libraries that the tool names. This is not a security boundary: it keeps a
tool from depending on other packages that are installed beside the board, and hides the board's own modules.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

from pegboard.sandbox.child import python_call
from pegboard.sandbox.child.confined_main import build_base_environment
from pegboard.sandbox.child.job import Job
from pegboard.sandbox.child.job_runner import REPORTS_FD, RESULT_FD, TROUBLE_FD, exit_process
from pegboard.sandbox.child.rootfs import CALL_FOLDERS, ZygoteSpec
from pegboard.sandbox.child.setup_steps import LibraryFailed, StepFailed


class PythonRunner:
    """Runs the code of calls in this process."""

    def __init__(self, env: Mapping[str, str]) -> None:
        """Set these variables in advance; a call sets the rest of its environment."""
        os.environ.update(env)

    def prepare(self) -> None:
        """Open the streams that the call prints to, and reset the state that forks must not share."""
        python_call.open_output()
        python_call.reseed_process()

    def run(self, job: Job, env: dict[str, str]) -> None:
        """Run the function, then exit this process; raise StepFailed if the job is a command."""
        if not job.is_python:
            raise StepFailed("reading the job: it is a command, but this process runs Python functions")
        # Library threads or fork handlers may have changed the environment since the fork.
        if dict(os.environ) != env:
            os.environ.clear()
            os.environ.update(env)
        os.chdir(job.work_folder)
        os.close(TROUBLE_FD)
        if not job.reports:
            os.close(REPORTS_FD)
        fields = job.fields | {"arguments": job.arguments}
        python_call.run_python_job(fields, RESULT_FD, REPORTS_FD if job.reports else None)
        exit_process(0)


_OWN_PACKAGE = "pegboard"
# The name of the sysconfig data module depends on the machine, so it is not in stdlib_module_names.
_SYSCONFIG_PREFIX = "_sysconfigdata"


class ImportsGuard(MetaPathFinder):
    """A finder before all others, which refuses modules that are not allowed and leaves the rest to the others."""

    def __init__(self, allowed: Iterable[str]) -> None:
        self._allowed = sys.stdlib_module_names | frozenset(allowed)

    def find_spec(self, name: str, _path: Sequence[str] | None, _target: ModuleType | None = None) -> ModuleSpec | None:
        """Return None, so that the next finder is called.

        Raise ModuleNotFoundError if the code may not import the module.
        """
        top = name.partition(".")[0]
        if top in self._allowed or top.startswith(_SYSCONFIG_PREFIX):
            return None
        if top == _OWN_PACKAGE:
            why = "tools cannot import the board's own package"
        else:
            why = (
                "it is neither in the standard library nor in the tool's libraries; add its library to config.libraries"
            )
        raise ModuleNotFoundError(f"No module named {name!r}: {why}", name=name)


def guard_imports(allowed: Iterable[str]) -> None:
    """Allow only these imports in this process and its forks, and remove the board's own modules from sys.modules."""
    _forget_module(_OWN_PACKAGE)
    sys.meta_path.insert(0, ImportsGuard(allowed))


def _forget_module(name: str) -> None:
    module = sys.modules.pop(name, None)
    for attribute, value in list(vars(module).items()) if module is not None else ():
        if type(value) is ModuleType and value.__name__ == f"{name}.{attribute}":
            _forget_module(value.__name__)


# Otherwise numerical libraries start threads, which do not survive a fork.
_THREAD_VARIABLES = tuple(f"{name}_NUM_THREADS" for name in ("OMP", "OPENBLAS", "MKL", "NUMEXPR", "BLIS"))


def load_libraries(spec: ZygoteSpec) -> PythonRunner:
    """Import the libraries that Python calls need; raise LibraryFailed if an import fails."""
    os.environ.update(dict.fromkeys(_THREAD_VARIABLES, "1"))
    sys.path += spec.prefixes
    for name in spec.modules:
        _import_library(name)
    python_call.clear_parent_state()
    guard_imports(spec.allowed)
    # Without namespaces each call has a different work folder.
    return PythonRunner(build_base_environment(CALL_FOLDERS[0]) if spec.namespaces else {})


def _import_library(name: str) -> None:
    try:
        importlib.import_module(name)
    except BaseException as error:
        raise LibraryFailed(name, f"importing {name}: {type(error).__name__}: {error}") from error
