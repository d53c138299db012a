"""Former path of `pegboard.model.filters`."""

import warnings

from pegboard.model.filters import ExecutionFilter

__all__ = ["ExecutionFilter"]

warnings.warn(
    "pegboard.store.executions moved to pegboard.model.filters; the former path goes with version 0.3",
    DeprecationWarning,
    stacklevel=2,
)
