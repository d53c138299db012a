"""Why arguments do not fit their schema, one problem a fault, in words a model can act on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pegboard.core.errors import FieldProblem, InvalidArguments
from pegboard.core.ignored import Ignored
from pegboard.registry.schemas import BoundedValidator
from pegboard.registry.subschemas import Document
from pegboard.registry.walk import MAX_PROBLEMS, Walk
from pegboard.registry.wording import Words, problem_of

__all__ = ["MAX_PROBLEMS", "invalid", "problems_of"]

MAX_LISTED = 10


def problems_of(validator: BoundedValidator, arguments: Any, *, subject: str = "Arguments") -> list[FieldProblem]:
    """What is wrong with the arguments: missing fields first, then by path; empty if they fit."""
    try:
        found = Walk(Document(validator.schema), subject).faults(validator.schema, arguments)
    except ValueError:  # the validator looks into a value to 255 levels only when it is asked for faults
        found = []
    if not found and not validator.is_valid(arguments):
        words = Words("custom", "must fit the schema of this tool", "what the schema of this tool says", shows=False)
        return [problem_of(words, (), arguments, subject=subject)]
    return [fault.problem for fault in found]


def invalid(problems: Sequence[FieldProblem], ignored: tuple[Ignored, ...] = ()) -> InvalidArguments:
    """The error for these problems, with as many of them in its message as can be read.

    An ignored argument that is spelt almost like a missing one is named after it.
    """
    problems = sorted(problems, key=lambda problem: problem.code != "missing")
    listed = problems[:MAX_LISTED]
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
