"""Every way a call can fail, so that a fixture can fail in each of them."""

from __future__ import annotations

from collections.abc import Mapping

from pegboard.core import errors, table_errors
from pegboard.core.errors import ToolError

_CLASSES: tuple[type[ToolError], ...] = (
    errors.ExecutionFailed,
    errors.TimedOut,
    errors.RateLimited,
    errors.UpstreamFailed,
    errors.UpstreamUnreachable,
    errors.CircuitOpen,
    errors.ContractViolation,
    errors.ResultTooLarge,
    errors.InvalidArguments,
    errors.MalformedArguments,
    errors.ToolNotFound,
    errors.ToolInactive,
    errors.HandlerNotFound,
    errors.Misconfigured,
    errors.SecretUnreadable,
    errors.Drifted,
    errors.EgressRefused,
    table_errors.TableUnusable,
    table_errors.DatabaseFailed,
    errors.Cancelled,
    errors.Unavailable,
    errors.Unrecorded,
    errors.IdempotencyConflict,
    errors.InDoubt,
    errors.AnswerNotKept,
    errors.InternalError,
)


def _by_code() -> dict[str, list[type[ToolError]]]:
    found: dict[str, list[type[ToolError]]] = {}
    for each in _CLASSES:
        found.setdefault(each.code, []).append(each)
    return found


FAULTS: Mapping[str, list[type[ToolError]]] = _by_code()


def fault(code: str, message: str, retryable: bool | None) -> ToolError:
    """The error that a board itself raises with this code; `retryable` as the code has it, unless it is given."""
    classes = FAULTS[code]
    chosen = next((each for each in classes if each.retryable is retryable), classes[0])
    # Some of the classes make up their messages themselves; the fixture's own is wanted.
    error = chosen.__new__(chosen)
    ToolError.__init__(error, message)
    if retryable is not None:
        error.retryable = retryable  # type: ignore[misc]  # of the class, except here
    return error
