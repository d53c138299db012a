"""Former path of `pegboard.dialects.call_assembler`."""

import warnings

from pegboard.dialects.call_assembler import Assembly

__all__ = ["Assembly"]

warnings.warn(
    "pegboard.dialects.assembly moved to pegboard.dialects.call_assembler; the former path goes with version 0.3",
    DeprecationWarning,
    stacklevel=2,
)
