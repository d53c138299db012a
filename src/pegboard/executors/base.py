"""Former path of `pegboard.kinds.base`."""

import warnings

from pegboard.kinds.base import OpenTool, Output, Prepared

__all__ = ["OpenTool", "Output", "Prepared"]

warnings.warn(
    "pegboard.executors.base moved to pegboard.kinds.base; the former path goes with version 0.3",
    DeprecationWarning,
    stacklevel=2,
)
