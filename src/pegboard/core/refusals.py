"""Former path of `pegboard.model.api_errors`."""

import warnings

from pegboard.model.api_errors import Conflict, Forbidden, Invalid, NotFound, Refusal, TooManyRequests, Unauthorised

__all__ = ["Conflict", "Forbidden", "Invalid", "NotFound", "Refusal", "TooManyRequests", "Unauthorised"]

warnings.warn(
    "pegboard.core.refusals moved to pegboard.model.api_errors; the former path goes with version 0.3",
    DeprecationWarning,
    stacklevel=2,
)
