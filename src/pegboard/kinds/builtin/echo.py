"""`echo`: returns its arguments, to test calls."""

from __future__ import annotations

from typing import Any

from pegboard.kinds.builtin.base import Builtin


def echo(arguments: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments unchanged under `echo`."""
    return {"echo": arguments}


ECHO = Builtin(
    name="echo",
    display_name="Echo",
    description=(
        "Returns exactly the arguments it was called with, under `echo`. "
        "Use it to check that tool calls work and how your arguments arrive; it does nothing else."
    ),
    input_schema={
        "type": "object",
        "additionalProperties": True,
        "examples": [{"message": "hello"}],
    },
    output_schema={
        "type": "object",
        "properties": {"echo": {"type": "object", "description": "The arguments of the call."}},
        "required": ["echo"],
    },
    run=echo,
)
