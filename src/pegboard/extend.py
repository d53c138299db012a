"""The public names for plugins: executors, dialects, handlers and journals of other packages import them from here.

- Calls: `ToolCall`, `ReadyCall`, `ToolResult`, `Caller`, `CallContext`, `Progress`, `OnProgress`, `Execution`,
  `Malformed`, `Ignored`.
- Tools: `Tool`, `ToolCreate`.
- Kinds: `KindSpec` describes a kind of tool, with a `Model` for its config. It checks a `Registration` under the
  `RegistrationRules` of the board, and makes an executor from the `Services` of the board.
- Executors: `Executor` prepares an `OpenTool` as a `Prepared`, which returns a value or an `Output`.
- Dialects: `Dialect` reads a payload into an `Assembly`, and writes each `AskedCall` and `Answer`; `Answers` and
  `TextDialect` (with `Text` and `Scan`) are base classes, `Limits`, `Talk` and `TextMarks` describe a provider, a
  `Turn` holds the messages of one speaker, one after the other, `Dialects` finds the dialect of a payload.
- Journals: `Journal` is the protocol of the `journal` parameter of `Pegboard.open`; `ExecutionFilter` selects rows.
- Errors of calls: `ToolError` and its subclasses, with `Problem`, `FieldProblem`, `CommandEnd` and `ErrorType`.
- Errors of requests: `Refusal` and its subclasses, with `Fault`; a dialect raises `Unreadable`.
"""

from __future__ import annotations

from pegboard.dialects.base import Answer, Answers, Dialect
from pegboard.dialects.call_assembler import Assembly
from pegboard.dialects.detect import Dialects
from pegboard.dialects.parsed_calls import AskedCall, Unreadable
from pegboard.dialects.provider_rules import Limits, Talk, TextMarks
from pegboard.dialects.shared.turns import Turn
from pegboard.dialects.text.base_text import TextDialect
from pegboard.dialects.text.scanner import Scan, Text
from pegboard.journal.journal import Journal
from pegboard.kinds.base import (
    ArgumentCheck,
    Executor,
    KindSpec,
    OpenTool,
    Output,
    Prepared,
    Registration,
    RegistrationRules,
    Services,
    read_config,
)
from pegboard.model.api_errors import (
    Conflict,
    Fault,
    Forbidden,
    Invalid,
    NotFound,
    Refusal,
    TooManyRequests,
    Unauthorised,
)
from pegboard.model.base_model import Model
from pegboard.model.call import (
    CallContext,
    Caller,
    Execution,
    Malformed,
    OnProgress,
    Progress,
    ReadyCall,
    ToolCall,
    ToolResult,
)
from pegboard.model.call_errors import (
    AnswerNotKept,
    Cancelled,
    CircuitOpen,
    CommandEnd,
    ConfigError,
    ContractViolation,
    Drifted,
    EgressRefused,
    ErrorType,
    ExecutionFailed,
    FieldProblem,
    HandlerNotFound,
    IdempotencyConflict,
    Ignored,
    InDoubt,
    InternalError,
    InvalidArguments,
    MalformedArguments,
    Misconfigured,
    Problem,
    RateLimited,
    ResultTooLarge,
    SecretUnreadable,
    TimedOut,
    ToolError,
    ToolInactive,
    ToolNotFound,
    Unavailable,
    Unrecorded,
    UpstreamFailed,
    UpstreamUnreachable,
)
from pegboard.model.filters import ExecutionFilter
from pegboard.model.tool import Tool
from pegboard.registry.tool_create import ToolCreate

__all__ = [
    "Answer",
    "AnswerNotKept",
    "Answers",
    "ArgumentCheck",
    "AskedCall",
    "Assembly",
    "CallContext",
    "Caller",
    "Cancelled",
    "CircuitOpen",
    "CommandEnd",
    "ConfigError",
    "Conflict",
    "ContractViolation",
    "Dialect",
    "Dialects",
    "Drifted",
    "EgressRefused",
    "ErrorType",
    "Execution",
    "ExecutionFailed",
    "ExecutionFilter",
    "Executor",
    "Fault",
    "FieldProblem",
    "Forbidden",
    "HandlerNotFound",
    "IdempotencyConflict",
    "Ignored",
    "InDoubt",
    "InternalError",
    "Invalid",
    "InvalidArguments",
    "Journal",
    "KindSpec",
    "Limits",
    "Malformed",
    "MalformedArguments",
    "Misconfigured",
    "Model",
    "NotFound",
    "OnProgress",
    "OpenTool",
    "Output",
    "Prepared",
    "Problem",
    "Progress",
    "RateLimited",
    "ReadyCall",
    "Refusal",
    "Registration",
    "RegistrationRules",
    "ResultTooLarge",
    "Scan",
    "SecretUnreadable",
    "Services",
    "Talk",
    "Text",
    "TextDialect",
    "TextMarks",
    "TimedOut",
    "TooManyRequests",
    "Tool",
    "ToolCall",
    "ToolCreate",
    "ToolError",
    "ToolInactive",
    "ToolNotFound",
    "ToolResult",
    "Turn",
    "Unauthorised",
    "Unavailable",
    "Unreadable",
    "Unrecorded",
    "UpstreamFailed",
    "UpstreamUnreachable",
    "read_config",
]
