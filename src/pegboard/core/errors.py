"""What can go wrong with a call, as one tree.

ToolError
├── InvalidArguments        VALIDATION_ERROR   the arguments do not fit the schema
├── MalformedArguments      VALIDATION_ERROR   they are not an object, too deep or too large to look at
├── ToolNotFound            CONFIG_ERROR
├── ToolInactive            CONFIG_ERROR
├── HandlerNotFound         CONFIG_ERROR
├── Misconfigured           CONFIG_ERROR       this board cannot run the tool as it is set up
├── SecretUnreadable        CONFIG_ERROR
├── Drifted                 CONFIG_ERROR       the upstream changed the tool; refused until its owner accepts that
├── EgressRefused           CONFIG_ERROR       the address is one that this board does not reach out to
├── TableUnusable           CONFIG_ERROR       the table is not there or not as configured (table_errors.py)
├── DatabaseFailed          DATABASE_ERROR     the database refused the row, or could not be asked (table_errors.py)
├── RateLimited             UNKNOWN_ERROR      retryable, says when
├── TimedOut                UNKNOWN_ERROR      retryable
├── ExecutionFailed         UNKNOWN_ERROR      the tool's own error, with its message
├── UpstreamFailed          UNKNOWN_ERROR      what the tool calls answered with an error, or with nonsense
│   └── UpstreamUnreachable UNKNOWN_ERROR      it did not answer at all; retryable
├── CircuitOpen             UNKNOWN_ERROR      it failed so often that it is left alone; retryable, says when
├── ContractViolation       UNKNOWN_ERROR      the tool's output breaks its output schema
├── ResultTooLarge          UNKNOWN_ERROR
├── Cancelled               UNKNOWN_ERROR
├── Unavailable             UNKNOWN_ERROR      the board cannot take the call now, it did not run; retryable
├── Unrecorded              UNKNOWN_ERROR      the tool ran, and the journal could not keep how it ended
└── InternalError           UNKNOWN_ERROR      a fault of ours; its text is in the log alone
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

from pegboard.core.ignored import Ignored


class ErrorType(StrEnum):
    """The four types that every error answers with."""

    VALIDATION = "VALIDATION_ERROR"
    DATABASE = "DATABASE_ERROR"
    CONFIG = "CONFIG_ERROR"
    UNKNOWN = "UNKNOWN_ERROR"


@dataclass(frozen=True, slots=True)
class FieldProblem:
    """One thing wrong with one field of the arguments, in words a model can act on."""

    code: str
    message: str
    field: str | None = None
    expected: str | None = None
    received: str | None = None

    @property
    def without_value(self) -> str:
        """The message without what was received."""
        return self.message.partition(", but received")[0]


@dataclass(frozen=True, slots=True)
class CommandEnd:
    """The exit code of a command that failed, and the ends of what it wrote."""

    exit_code: int
    stdout: str
    stderr: str


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a call did not succeed, in the form every dialect renders from."""

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
    def without_values(self) -> str:
        """The message as it may be kept: what was expected of each field, and not what was received."""
        if not self.problems or self.type is not ErrorType.VALIDATION:
            return self.message
        return "Invalid parameters: " + "; ".join(problem.without_value for problem in self.problems[:10])

    @property
    def first(self) -> FieldProblem | None:
        """The field problem that leads, if the arguments are what is wrong."""
        return self.problems[0] if self.problems else None


class ToolError(Exception):
    """A call ended without a result."""

    type: ClassVar[ErrorType] = ErrorType.UNKNOWN
    code: ClassVar[str] = "execution_failed"
    retryable: ClassVar[bool] = False
    # Whether the tool may have done something; where it surely has not, an idempotency key is free again.
    did_run: bool = True
    # What the tool printed until then, for the journal alone.
    printed: str = ""
    # What the database itself calls it.
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
        # Half of a surrogate pair, as odd file names have, cannot be sent.
        text = str(message).encode("utf-8", "replace").decode()
        super().__init__(text)
        self.message = text
        self.problems = tuple(problems)
        self.retry_after_ms = retry_after_ms

    @property
    def retried_as(self) -> str:
        """The word in a tool's `retry.on` that has this failure tried again."""
        return self.code

    @property
    def problem(self) -> Problem:
        """This error as the frozen value that results carry."""
        code = self.problems[0].code if self.problems else self.code
        about = (self.retryable, self.retry_after_ms, self.problems, self.did_run, self.sqlstate, self.command)
        return Problem(self.type, code, self.message, *about)


class InvalidArguments(ToolError):
    """The arguments do not fit the tool's schema."""

    type = ErrorType.VALIDATION
    code = "invalid_arguments"
    ignored: tuple[Ignored, ...] = ()


class MalformedArguments(ToolError):
    """The arguments cannot be read as an object of bounded size and depth."""

    type = ErrorType.VALIDATION
    code = "malformed_arguments"


class ToolNotFound(ToolError):
    """No tool of that name is there for this caller."""

    type = ErrorType.CONFIG
    code = "tool_not_found"
    did_run = False

    def __init__(self, name: str, why: str = "", near: str | None = None) -> None:
        unnamed = "The call does not say, in a way that can be read, which tool it is for; send it again with a name"
        more = f": {why}" if why else f"; did you mean '{near}'?" if near else ""
        super().__init__(f"Tool '{name}' not found{more}" if name else unnamed)


class ToolInactive(ToolError):
    """The tool exists and is switched off."""

    type = ErrorType.CONFIG
    code = "tool_inactive"
    did_run = False

    def __init__(self, name: str) -> None:
        super().__init__(f"Tool '{name}' is inactive; its owner can switch it on with is_active: true")


class HandlerNotFound(ToolError):
    """The tool names a handler that this process does not have."""

    type = ErrorType.CONFIG
    code = "handler_not_found"
    did_run = False


class Misconfigured(ToolError):
    """The tool cannot run on this board as it is set up."""

    type = ErrorType.CONFIG
    code = "misconfigured"
    did_run = False


class SecretUnreadable(ToolError):
    """A credential of the tool cannot be decrypted or is missing."""

    type = ErrorType.CONFIG
    code = "secret_unreadable"
    did_run = False


class Drifted(ToolError):
    """The upstream has changed the tool since its owner took it on."""

    type = ErrorType.CONFIG
    code = "drifted"
    did_run = False


class EgressRefused(ToolError):
    """The address is one that tools of this board may not reach."""

    type = ErrorType.CONFIG
    code = "egress_refused"
    did_run = False


class RateLimited(ToolError):
    """No room for this call now."""

    code = "rate_limited"
    retryable = True


class TimedOut(ToolError):
    """The tool did not finish before its deadline."""

    code = "timeout"
    retryable = True


class ExecutionFailed(ToolError):
    """The tool ran and failed; the message is the tool's own."""


class UpstreamFailed(ToolError):
    """What the tool calls answered with an error, or with something that cannot be read."""

    code = "upstream_failed"


class UpstreamUnreachable(UpstreamFailed):
    """What the tool calls did not answer, or said that it cannot at the moment."""

    retryable = True

    @property
    def retried_as(self) -> str:
        """A fault of the way there, not of the call."""
        return "transport"


class CircuitOpen(ToolError):
    """The upstream failed so often that it is left alone for a while."""

    code = "circuit_open"
    retryable = True
    did_run = False


class ContractViolation(ToolError):
    """The tool's output does not fit its output schema."""

    code = "contract_violation"


class ResultTooLarge(ToolError):
    """The tool's output is larger than the tool may return."""

    code = "result_too_large"


class Cancelled(ToolError):
    """The caller went away before the tool finished."""

    code = "cancelled"


class Unavailable(ToolError):
    """The board cannot take or record calls at the moment."""

    code = "unavailable"
    retryable = True


class Unrecorded(ToolError):
    """The tool ran, and the journal could not keep how it ended; calling again may run it again."""

    code = "unrecorded"


class IdempotencyConflict(ToolError):
    """The idempotency key belongs to a call with other arguments."""

    type = ErrorType.VALIDATION
    code = "idempotency_conflict"


class InDoubt(ToolError):
    """The call was interrupted, and whether it took effect is not known; it is never run again by itself."""

    code = "in_doubt"


class AnswerNotKept(ToolError):
    """The call of this idempotency key has run, and what it answered is no longer there."""

    code = "answer_not_kept"


class InternalError(ToolError):
    """An unexpected error occurred during tool execution"""

    code = "internal_error"

    def __init__(self) -> None:
        super().__init__("An unexpected error occurred during tool execution")
