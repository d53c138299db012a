"""The errors of calls, with the error type that a response has.

ToolError
├── InvalidArguments        VALIDATION_ERROR   the arguments do not fit the schema
├── MalformedArguments      VALIDATION_ERROR   they are no JSON object, or too deep or too large
├── ConfigError             CONFIG_ERROR       the tool cannot run as it is; the call did not run
│   ├── ToolNotFound
│   ├── ToolInactive
│   ├── HandlerNotFound
│   ├── Misconfigured                          the tool cannot run with its configuration on this board
│   ├── SecretUnreadable
│   ├── Drifted                                the upstream changed the tool; refused until the owner accepts it
│   └── EgressRefused                          the address policy does not allow the address
├── TableUnusable           CONFIG_ERROR       the table is missing or differs from its configuration (table_errors.py)
├── DatabaseFailed          DATABASE_ERROR     the database rejected the row or was unreachable (table_errors.py)
├── RateLimited             UNKNOWN_ERROR      retryable, with the time to wait
├── TimedOut                UNKNOWN_ERROR      retryable
├── ExecutionFailed         UNKNOWN_ERROR      the tool's own error, with its message
├── UpstreamFailed          UNKNOWN_ERROR      the upstream returned an error or an invalid response
│   └── UpstreamUnreachable UNKNOWN_ERROR      the upstream did not answer; retryable
├── CircuitOpen             UNKNOWN_ERROR      the upstream failed too often; retryable, with the time to wait
├── ContractViolation       UNKNOWN_ERROR      the tool's output does not fit its output schema
├── ResultTooLarge          UNKNOWN_ERROR
├── Cancelled               UNKNOWN_ERROR
├── Unavailable             UNKNOWN_ERROR      the board cannot accept the call now; it did not run; retryable
├── Unrecorded              UNKNOWN_ERROR      the tool ran, but its result could not be recorded
└── InternalError           UNKNOWN_ERROR      an unexpected exception; its text is only in the log
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar, NamedTuple, Self


class ErrorType(StrEnum):
    """The four error types."""

    VALIDATION = "VALIDATION_ERROR"
    DATABASE = "DATABASE_ERROR"
    CONFIG = "CONFIG_ERROR"
    UNKNOWN = "UNKNOWN_ERROR"


@dataclass(frozen=True, slots=True)
class FieldProblem:
    """One problem with one field of the arguments, worded so that a model can correct it."""

    code: str
    message: str
    field: str | None = None
    expected: str | None = None
    received: str | None = None

    @property
    def message_without_value(self) -> str:
        """The message without the received value."""
        return self.message.partition(", but received")[0]


@dataclass(frozen=True, slots=True)
class CommandEnd:
    """The exit code of a failed command, and the last part of its output."""

    exit_code: int
    stdout: str
    stderr: str


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a call failed, in the form that every dialect renders."""

    type: ErrorType
    code: str
    message: str
    retryable: bool = False
    retry_after_ms: int | None = None
    problems: tuple[FieldProblem, ...] = ()
    did_run: bool = True
    sqlstate: str | None = None
    command: CommandEnd | None = None

    @property
    def message_without_values(self) -> str:
        """The message for storage: what was expected of each field, without the received values."""
        if not self.problems or self.type is not ErrorType.VALIDATION:
            return self.message
        return "Invalid parameters: " + "; ".join(problem.message_without_value for problem in self.problems[:10])

    @property
    def first(self) -> FieldProblem | None:
        """The first field problem, or None if the arguments are not the reason."""
        return self.problems[0] if self.problems else None


class ToolError(Exception):
    """A call ended without a result."""

    type: ClassVar[ErrorType] = ErrorType.UNKNOWN
    code: ClassVar[str] = "execution_failed"
    retryable: ClassVar[bool] = False
    # Whether the tool may have had an effect; if False, the idempotency key can be used again.
    did_run: bool = True
    # What the tool printed before the error, only for the journal.
    printed: str = ""
    # The SQLSTATE code of the database.
    sqlstate: str | None = None
    # How the command of a shell tool ended.
    command: CommandEnd | None = None

    def __init__(
        self,
        message: str,
        *,
        problems: Sequence[FieldProblem] = (),
        retry_after_ms: int | None = None,
    ) -> None:
        # Replace lone surrogates, which occur in file names and cannot be encoded as UTF-8.
        text = str(message).encode("utf-8", "replace").decode()
        super().__init__(text)
        self.message = text
        self.problems = tuple(problems)
        self.retry_after_ms = retry_after_ms

    def reword(self, message: str) -> Self:
        """Replace the message, also in `args`, and return this error."""
        self.message = message
        self.args = (message,)
        return self

    @property
    def retry_reason(self) -> str:
        """The value in a tool's `retry.on` that makes this failure retried."""
        return self.code

    @property
    def problem(self) -> Problem:
        """This error as the immutable value that results contain."""
        code = self.problems[0].code if self.problems else self.code
        about = (self.retryable, self.retry_after_ms, self.problems, self.did_run, self.sqlstate, self.command)
        return Problem(self.type, code, self.message, *about)


class Ignored(NamedTuple):
    """An argument that was dropped because the tool does not declare it, and the most similar declared name."""

    name: str
    did_you_mean: str | None = None


class InvalidArguments(ToolError):
    """The arguments do not fit the tool's schema."""

    type = ErrorType.VALIDATION
    code = "invalid_arguments"
    ignored: tuple[Ignored, ...] = ()


class MalformedArguments(ToolError):
    """The arguments cannot be parsed as an object of limited size and depth."""

    type = ErrorType.VALIDATION
    code = "malformed_arguments"


class ConfigError(ToolError):
    """The tool cannot run as it is, or there is none; the call did not run."""

    type = ErrorType.CONFIG
    code = "misconfigured"
    did_run = False


class ToolNotFound(ConfigError):
    """This caller has no tool of that name."""

    code = "tool_not_found"

    def __init__(self, name: str, why: str = "", near: str | None = None) -> None:
        unnamed = "The call has no readable tool name; send it again with a name"
        more = f": {why}" if why else f"; did you mean '{near}'?" if near else ""
        super().__init__(f"Tool '{name}' not found{more}" if name else unnamed)


class ToolInactive(ConfigError):
    """The tool exists and is inactive."""

    code = "tool_inactive"

    def __init__(self, name: str) -> None:
        super().__init__(f"Tool '{name}' is inactive; its owner can switch it on with is_active: true")


class HandlerNotFound(ConfigError):
    """The tool refers to a handler that this process does not have."""

    code = "handler_not_found"


class Misconfigured(ConfigError):
    """The tool cannot run with its configuration on this board."""


class SecretUnreadable(ConfigError):
    """A credential of the tool cannot be decrypted or is missing."""

    code = "secret_unreadable"


class Drifted(ConfigError):
    """The upstream has changed the tool since its owner imported it."""

    code = "drifted"


class EgressRefused(ConfigError):
    """The address policy does not allow this address."""

    code = "egress_refused"


class RateLimited(ToolError):
    """A rate limit of the board or of the upstream is reached."""

    code = "rate_limited"
    retryable = True


class TimedOut(ToolError):
    """The tool did not finish before its deadline."""

    code = "timeout"
    retryable = True


class ExecutionFailed(ToolError):
    """The tool ran and failed; the message is the tool's own."""


class UpstreamFailed(ToolError):
    """The upstream returned an error, or a response that cannot be parsed."""

    code = "upstream_failed"


class UpstreamUnreachable(UpstreamFailed):
    """The upstream did not answer, or reported that it is temporarily unavailable."""

    retryable = True

    @property
    def retry_reason(self) -> str:
        """Always "transport": the connection failed, not the call."""
        return "transport"


class CircuitOpen(ToolError):
    """The upstream failed so often that it is not called for a while."""

    code = "circuit_open"
    retryable = True
    did_run = False


class ContractViolation(ToolError):
    """The tool's output does not fit its output schema."""

    code = "contract_violation"


class ResultTooLarge(ToolError):
    """The tool's output is larger than its limit."""

    code = "result_too_large"


class Cancelled(ToolError):
    """The caller disconnected or cancelled before the tool finished."""

    code = "cancelled"


class Unavailable(ToolError):
    """The board cannot accept or record calls at the moment."""

    code = "unavailable"
    retryable = True


class Unrecorded(ToolError):
    """The tool ran, but its result could not be recorded; another call may run it again."""

    code = "unrecorded"


class IdempotencyConflict(ToolError):
    """The idempotency key was used for a call with other arguments."""

    type = ErrorType.VALIDATION
    code = "idempotency_conflict"


class InDoubt(ToolError):
    """The call was interrupted and its effect is unknown; it is never run again automatically."""

    code = "in_doubt"


class AnswerNotKept(ToolError):
    """The call with this idempotency key has run, but its result is no longer stored."""

    code = "answer_not_kept"


class InternalError(ToolError):
    """An unexpected error occurred during tool execution"""

    code = "internal_error"

    def __init__(self) -> None:
        super().__init__("An unexpected error occurred during tool execution")


# The codes of results of calls that the board could not run or record.
UNAVAILABLE_CODES = frozenset({Unavailable.code, Unrecorded.code})
