"""The Journal protocol that the pipeline uses, and the answer that is stored with an idempotency key."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple, Protocol

import orjson

from pegboard.journal.entries import ClosingEntry
from pegboard.model.call import Execution, ReadyCall, ToolResult
from pegboard.model.call_errors import CommandEnd, ErrorType, FieldProblem, Problem


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """The parts of a result that are stored with an idempotency key, and that a repeated call gets."""

    success: bool
    output_json: bytes = b"null"
    problem: Problem | None = None
    elapsed_ms: float = 0.0
    attempts: int = 0
    fallback: bool = False
    result_style: str = "plain"

    @classmethod
    def of(cls, result: ToolResult) -> StoredAnswer:
        """Return the stored answer for a result."""
        return cls(
            result.success,
            result.output_json,
            result.problem,
            result.elapsed_ms,
            result.attempts,
            result.fallback,
            result.result_style,
        )

    def encode(self) -> bytes:
        """Return this answer as bytes: one line of JSON metadata, then the output."""
        about = asdict(self)
        del about["output_json"]
        return orjson.dumps(about) + b"\n" + self.output_json

    @classmethod
    def unpack(cls, text: bytes) -> StoredAnswer:
        """Return the answer from its packed bytes."""
        about, _, output = text.partition(b"\n")
        known: dict[str, Any] = orjson.loads(about)
        problem = known.pop("problem")
        if problem is not None:
            fields = tuple(FieldProblem(**one) for one in problem.pop("problems"))
            command = problem.pop("command", None)
            known_command = None if command is None else CommandEnd(**command)
            problem["type"] = ErrorType(problem["type"])
            problem = Problem(**problem, problems=fields, command=known_command)
        return cls(output_json=output, problem=problem, **known)


class EarlierCall(NamedTuple):
    """The earlier call with the same idempotency key, and its answer."""

    run_id: str
    answer: StoredAnswer


class Journal(Protocol):
    """Stores executions; a caller gets its result only after `record` has returned."""

    @property
    def trouble(self) -> str | None:
        """The reason why calls cannot be recorded now, or None."""
        ...

    async def begin(self, ready: ReadyCall, draft: Callable[[], Execution]) -> EarlierCall | None:
        """Commit an intent before the call runs, so that it cannot be lost; return the earlier call of its key.

        A transactional call has no intent unless it has a key.

        `draft` returns the row that is recorded if the process ends before the call does. Raises Unavailable if nothing
        can be recorded, and another ToolError if the key cannot be used for this call.
        """
        ...

    async def record(self, execution: Execution, result: ToolResult) -> None:
        """Make the row durable; raise Unavailable if that failed."""
        ...

    def build_closing(self, execution: Execution, result: ToolResult) -> ClosingEntry:
        """Return the entry of a call that commits its row itself, in the transaction of its effects."""
        ...

    def release(self, run_id: str) -> None:
        """Release what is held for a call that has committed its row itself."""
        ...

    async def close(self) -> None:
        """Write the pending rows, then stop."""
        ...
