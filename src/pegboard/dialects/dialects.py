"""Former path of `pegboard.dialects.detect`."""

import warnings

from pegboard.dialects.detect import Dialects

__all__ = ["Dialects"]

warnings.warn(
    "pegboard.dialects.dialects moved to pegboard.dialects.detect; the former path goes with version 0.3",
    DeprecationWarning,
    stacklevel=2,
)
