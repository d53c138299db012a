"""What OpenAI's dialects have in common: calls that were cut off, and tools that take free text."""

from __future__ import annotations

import json
import re
from typing import Any

from pegboard.core.call import Malformed
from pegboard.dialects.asked import AskedCall

NAME = re.compile(r"[A-Za-z0-9_-]{1,64}", re.ASCII)
# What ends a text that `input_piece` began.
INPUT_END = '"}'
_WHY = "the model was cut off before they were complete"


def given_arguments(given: Any, *, cut: bool) -> Any:
    """The arguments as given; none at all are missing, and not empty, where the model was cut off."""
    return Malformed("", _WHY) if cut and (given is None or (isinstance(given, str) and not given.strip())) else given


def given_input(given: Any, *, cut: bool) -> Any:
    """The text for a custom tool as its arguments; nobody can tell whether one that was cut off is complete."""
    return Malformed(given if isinstance(given, str) else "", _WHY) if cut else {"input": given}


def input_piece(text: Any, *, begins: bool) -> str:
    """A piece of the text for a custom tool as JSON, so that one that is cut off cannot be taken for a whole one."""
    return ('{"input":"' if begins else "") + json.dumps(text if isinstance(text, str) else "")[1:-1]


def input_of(call: AskedCall) -> str:
    """The text that a call gives to a custom tool."""
    if isinstance(call.arguments, Malformed):
        return call.arguments.text
    given = (call.arguments or {}).get("input", "")
    return given if isinstance(given, str) else json.dumps(given)
