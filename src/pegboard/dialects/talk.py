"""What providers demand of a conversation's messages, and the messages that responses hold."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import groupby
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from pegboard.dialects.asked import NOTHING
from pegboard.dialects.parts.picking import dict_of, first_of

SAME_ROLES: Mapping[str, str] = MappingProxyType({})


class Talk(NamedTuple):
    """How the messages of a conversation look that a provider takes."""

    # System text stands where it was said, before everything else, or not among the messages at all.
    system: Literal["inline", "first", "apart"] = "inline"
    # The key of a message's parts, where its content is a list of them, and what a part of text has beside its text.
    parts: str = ""
    part: Mapping[str, Any] = NOTHING
    # What the roles of a user, an assistant and a system are called where that is something else.
    roles: Mapping[str, str] = SAME_ROLES
    # What of a message may go back to the provider; None for all of it.
    keys: frozenset[str] | None = None
    # Whether messages of one role in a row are refused, and a first one that is not a user's.
    alternates: bool = False
    # What the ids of calls have to look like, and whether a call has to have one.
    ids: re.Pattern[str] | None = None
    has_ids: bool = True
    # Whether arguments are objects and nothing else.
    objects: bool = False

    def said(self, role: str, text: str) -> dict[str, Any]:
        """A message of text alone."""
        return {"role": self.roles.get(role, role), self.parts or "content": self.content(text)}

    def content(self, text: str) -> Any:
        """The text as the content of a message."""
        return [{**self.part, "text": text}] if self.parts else text

    def listed(self, message: Mapping[str, Any]) -> list[Any]:
        """The parts of a message, also where it was given as text."""
        content = message.get(self.parts)
        if isinstance(content, str):
            return [{**self.part, "text": content}]
        return content if isinstance(content, list) else []

    def alternating(self, items: list[Any]) -> list[Any]:
        """The messages with those of one role in a row as one, and a user's at the beginning."""
        joined: list[Any] = []
        for _, run in groupby(items, lambda item: item.get("role")):
            first, *others = run
            parts = [part for item in (first, *others) for part in self.listed(item)] if others else None
            joined.append(first if parts is None else {**first, self.parts: parts})
        if joined and joined[0].get("role") != "user":
            joined.insert(0, self.said("user", BEGINNING))
        return joined


# What a user is made to have said where a conversation must not begin with the assistant.
BEGINNING = "[The conversation begins with the assistant.]"


def message_in(raw: Any) -> dict[str, Any] | None:
    """The message that a provider's response holds, or the message itself; None where there is none."""
    whole = dict_of(raw)
    for holder in (
        dict_of(first_of(whole.get("choices")).get("message")),
        dict_of(first_of(whole.get("candidates")).get("content")),
        dict_of(dict_of(whole.get("output")).get("message")),
        dict_of(whole.get("message")),
        whole,
    ):
        if isinstance(holder.get("role"), str):
            return holder
    return None
