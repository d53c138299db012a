"""Rules of providers for tool definitions and for the messages of a conversation, and how to find a message."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import groupby
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from pegboard.dialects.parsed_calls import EMPTY_MAPPING
from pegboard.dialects.schema_adapters.root_object import REFUSED_ROOT_KEYWORDS
from pegboard.dialects.shared.function_calls import dict_or_empty, first_dict


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of one provider's definitions; None if there is no known limit."""

    name: re.Pattern[str] | None = None
    description: int | None = None
    tools: int | None = None
    # The pattern for the keys of properties.
    property_name: re.Pattern[str] | None = None
    # JSON Schema keywords that are rejected, and those that are accepted but have no effect.
    refused: frozenset[str] = frozenset()
    ignored: frozenset[str] = frozenset()
    # Keywords that are rejected only at the root of a schema, and whether an array must have a schema for its items.
    root: frozenset[str] = frozenset()
    needs_items: bool = False
    depth: int | None = None
    properties: int | None = None
    # Whether a definition can contain a schema.
    has_schema: bool = True
    # Whether definitions are declared strict if OpenAI's strict mode can express them.
    strict: bool = False


# The restrictions of all providers together, for definitions that may be sent to any of them.
PORTABLE_LIMITS = Limits(root=REFUSED_ROOT_KEYWORDS, needs_items=True)
SAME_ROLES: Mapping[str, str] = MappingProxyType({})


class TextMarks(NamedTuple):
    """Patterns that separate a model's text for the user from calls and chat template tokens."""

    # The beginning of calls: the text for the user comes before it.
    calls: str = ""
    # Tokens of the chat template, which are removed.
    tokens: str = ""
    # The answer to the user, as a group, if a text has other sections too.
    answer: str = ""


class Talk(NamedTuple):
    """The format that a provider requires for the messages of a conversation."""

    # System text is a message at its place, the first message, or in a separate field.
    system: Literal["inline", "first", "apart"] = "inline"
    # The key of the parts if the content of a message is a list, and the fields of a text part beside its text.
    parts: str = ""
    part: Mapping[str, Any] = EMPTY_MAPPING
    # The provider's names for the roles user, assistant and system, if they differ.
    roles: Mapping[str, str] = SAME_ROLES
    # The keys of a message that can be sent back to the provider; None for all.
    keys: frozenset[str] | None = None
    # True if consecutive messages of one role, and a first message that is not the user's, are rejected.
    alternates: bool = False
    # The pattern for ids of calls, and whether a call must have an id.
    ids: re.Pattern[str] | None = None
    has_ids: bool = True
    # True if a message has one call, which its result follows.
    one_call: bool = False
    # True if arguments must be objects.
    objects: bool = False

    def build_message(self, role: str, text: str) -> dict[str, Any]:
        """Return a message with only text."""
        return {"role": self.roles.get(role, role), self.parts or "content": self.content(text)}

    def content(self, text: str) -> Any:
        """Return the text as the content of a message."""
        return [{**self.part, "text": text}] if self.parts else text

    def list_parts(self, message: Mapping[str, Any]) -> list[Any]:
        """Return the parts of a message, also if its content is a string."""
        content = message.get(self.parts)
        if isinstance(content, str):
            return [{**self.part, "text": content}]
        return content if isinstance(content, list) else []

    def alternating(self, items: list[Any]) -> list[Any]:
        """Merge consecutive messages of one role, and insert a user message at the start if it is missing."""
        joined: list[Any] = []
        for _, run in groupby(items, lambda item: item.get("role")):
            first, *others = run
            parts = [part for item in (first, *others) for part in self.list_parts(item)] if others else None
            joined.append(first if parts is None else {**first, self.parts: parts})
        if joined and joined[0].get("role") != "user":
            joined.insert(0, self.build_message("user", ASSISTANT_FIRST_TEXT))
        return joined


# Text of the user message that is inserted if a conversation must not begin with the assistant.
ASSISTANT_FIRST_TEXT = "[The conversation begins with the assistant.]"


def find_message(raw: Any) -> dict[str, Any] | None:
    """Return the message in a provider's response, or the message itself; None if there is none."""
    whole = dict_or_empty(raw)
    for holder in (
        dict_or_empty(first_dict(whole.get("choices")).get("message")),
        dict_or_empty(first_dict(whole.get("candidates")).get("content")),
        dict_or_empty(dict_or_empty(whole.get("output")).get("message")),
        dict_or_empty(whole.get("message")),
        whole,
    ):
        if isinstance(holder.get("role"), str):
            return holder
    return None
