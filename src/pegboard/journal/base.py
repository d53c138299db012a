"""Former path of `pegboard.journal.journal`."""

import warnings

from pegboard.journal.journal import Journal

__all__ = ["Journal"]

warnings.warn(
    "pegboard.journal.base moved to pegboard.journal.journal; the former path goes with version 0.3",
    DeprecationWarning,
    stacklevel=2,
)
