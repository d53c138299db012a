"""What the two forms of OpenAI's Chat Completions have in common: choices, and how they end.

Several choices are alternatives to one another, so only the first is read: running the calls of all would do several
times what is to be done once.
"""

from __future__ import annotations

import re
from typing import Any

from pegboard.core.call import Malformed
from pegboard.dialects.asked import Unreadable
from pegboard.dialects.base import Dialect
from pegboard.dialects.limits import Limits
from pegboard.dialects.seen import seen

LIMITS = Limits(name=re.compile(r"[A-Za-z0-9_-]{1,64}", re.ASCII), tools=128)
# Reasons to finish that leave the last call unfinished.
CUT = ("length", "content_filter")
WHY = "the model was cut off before they were complete"


def choice_of(choices: list[Any]) -> dict[str, Any] | None:
    """The first alternative: chunks give each by its index, responses in order."""
    for choice in choices:
        if isinstance(choice, dict) and (choice.get("index") in (0, None) or "message" in choice):
            return choice
    return None


def says_something(choice: dict[str, Any]) -> bool:
    """Whether this is a message, or a chunk that carries more than who speaks."""
    if isinstance(choice.get("message"), dict):
        return True
    delta = choice.get("delta")
    if not isinstance(delta, dict):
        return False
    return choice.get("finish_reason") not in (None, "function_call") or any(
        value for key, value in delta.items() if key != "role"
    )


def function_call_of(choice: dict[str, Any]) -> dict[str, Any] | None:
    """The one call of the older form, if there is one."""
    body = choice.get("message") or choice.get("delta")
    function = body.get("function_call") if isinstance(body, dict) else None
    return function if isinstance(function, dict) else None


def arguments_given(given: Any, *, cut: bool) -> Any:
    """The arguments as given; none at all are missing, and not empty, where the model was cut off."""
    return Malformed("", WHY) if cut and (given is None or (isinstance(given, str) and not given.strip())) else given


def object_of(given: Any) -> dict[str, Any]:
    """What was given, if it is an object; else an empty one."""
    return given if isinstance(given, dict) else {}


def unreadable(dialect: Dialect, item: Any) -> Unreadable:
    """The error for what is neither a response nor a message."""
    return Unreadable(
        f"unrecognised_format: this is {seen(item)}, and nothing of {dialect.name}, which has responses with "
        f"'choices', messages with a 'role', and histories with 'messages'"
    )
