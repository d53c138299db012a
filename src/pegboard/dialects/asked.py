"""Former path of `pegboard.dialects.parsed_calls`."""

import warnings

from pegboard.dialects.parsed_calls import AskedCall, Unreadable

__all__ = ["AskedCall", "Unreadable"]

warnings.warn(
    "pegboard.dialects.asked moved to pegboard.dialects.parsed_calls; the former path goes with version 0.3",
    DeprecationWarning,
    stacklevel=2,
)
