"""Former path of `pegboard.storage.execution_rows`."""

import warnings

from pegboard.storage.execution_rows import ExecutionFilter

__all__ = ["ExecutionFilter"]

warnings.warn(
    "pegboard.store.executions moved to pegboard.storage.execution_rows; the former path goes with version 0.3",
    DeprecationWarning,
    stacklevel=2,
)
