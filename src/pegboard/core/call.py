"""Former path of `pegboard.model.call`."""

import warnings

from pegboard.model.call import Progress, ReadyCall

__all__ = ["Progress", "ReadyCall"]

warnings.warn(
    "pegboard.core.call moved to pegboard.model.call; the former path goes with version 0.3",
    DeprecationWarning,
    stacklevel=2,
)
