"""What a caller was answered, kept under their key for the case that they ask again."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import orjson

from pegboard.core.call import ToolResult
from pegboard.core.errors import CommandEnd, ErrorType, FieldProblem, Problem


@dataclass(frozen=True, slots=True)
class Answer:
    """The parts of a result that a repeat gets again."""

    success: bool
    output_json: bytes = b"null"
    problem: Problem | None = None
    elapsed_ms: float = 0.0
    attempts: int = 0
    fallback: bool = False
    result_style: str = "plain"

    @classmethod
    def of(cls, result: ToolResult) -> Answer:
        """The answer that a result is."""
        return cls(
            result.success,
            result.output_json,
            result.problem,
            result.elapsed_ms,
            result.attempts,
            result.fallback,
            result.result_style,
        )

    def packed(self) -> bytes:
        """This answer as bytes: a line of JSON about it, then the output as it is."""
        about = asdict(self)
        del about["output_json"]
        return orjson.dumps(about) + b"\n" + self.output_json

    @classmethod
    def unpacked(cls, text: bytes) -> Answer:
        """The answer that was packed as this."""
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
