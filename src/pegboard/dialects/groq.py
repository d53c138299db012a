"""Groq: OpenAI's Chat Completions, and the tools that Groq itself ran."""

from __future__ import annotations

from typing import Any

from pegboard.dialects.openai import OpenAIChat
from pegboard.dialects.parts.openai_choices import choice_of
from pegboard.dialects.parts.picking import dict_of


class Groq(OpenAIChat):
    """OpenAI's messages, with `executed_tools` for the calls that Groq ran itself."""

    name = "groq"
    aliases = ()
    keys = frozenset({"choices", "executed_tools", "x_groq"})

    def recognises(self, item: Any) -> bool:
        """A response, chunk or message that only Groq sends; others of its messages are taken for OpenAI's."""
        if not isinstance(item, dict):
            return False
        if isinstance(item.get("choices"), list):
            choice = choice_of(item["choices"]) or {}
            said = dict_of(choice.get("message")) or dict_of(choice.get("delta"))
            return "x_groq" in item or bool(said.get("executed_tools"))
        return bool(item.get("executed_tools")) and item.get("role", "assistant") == "assistant"
