"""Explain why arguments do not fit their schema: one problem per fault, worded so that a model can correct it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pegboard.json_schema.compile import BoundedValidator
from pegboard.json_schema.explain import MAX_PROBLEMS, SchemaWalk
from pegboard.json_schema.problem_text import ProblemWording, build_problem
from pegboard.json_schema.schema_document import SchemaDocument
from pegboard.model.call_errors import FieldProblem, InvalidArguments
from pegboard.model.ignored_arguments import Ignored

__all__ = ["MAX_PROBLEMS", "build_invalid_arguments", "list_problems"]

MAX_LISTED_PROBLEMS = 10


def list_problems(validator: BoundedValidator, arguments: Any, *, subject: str = "Arguments") -> list[FieldProblem]:
    """Return the problems of the arguments: missing fields first, then by path; empty if the arguments are valid."""
    try:
        found = SchemaWalk(SchemaDocument(validator.schema), subject).faults(validator.schema, arguments)
    except ValueError:  # the validator raises for values deeper than 255 levels, but only when it lists errors
        found = []
    if not found and not validator.is_valid(arguments):
        words = ProblemWording(
            "custom", "must fit the schema of this tool", "a value that fits the schema of this tool", shows=False
        )
        return [build_problem(words, (), arguments, subject=subject)]
    return [fault.problem for fault in found]


def build_invalid_arguments(problems: Sequence[FieldProblem], ignored: tuple[Ignored, ...] = ()) -> InvalidArguments:
    """Return the error for these problems; its message contains the first MAX_LISTED_PROBLEMS.

    If an ignored argument is spelt almost like a missing one, the message suggests the missing name.
    """
    problems = sorted(problems, key=lambda problem: problem.code != "missing")
    listed = problems[:MAX_LISTED_PROBLEMS]
    absent = [f"'{problem.field}'" for problem in listed if problem.code == "missing"]
    parts = [f"missing {', '.join(absent)}"] if absent else []
    parts += [problem.message for problem in listed if problem.code != "missing"]
    named = [item for item in ignored if f"'{item.did_you_mean}'" in absent]
    parts[1:1] = [f"received '{item.name}', did you mean '{item.did_you_mean}'?" for item in named]
    left = len(problems) - len(listed)
    more = f" (and {left} more)" if left else ""
    error = InvalidArguments(f"Invalid parameters: {'; '.join(parts)}{more}", problems=problems)
    error.ignored = ignored
    return error
