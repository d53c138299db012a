"""Groq: OpenAI's Chat Completions with calls that Groq ran itself."""

from __future__ import annotations

from typing import Any

from pegboard.dialects.openai_chat import OpenAIChat
from pegboard.dialects.shared.function_calls import dict_or_empty
from pegboard.dialects.shared.openai_calls import get_first_choice


class Groq(OpenAIChat):
    """OpenAI's messages, with `executed_tools` for calls that Groq ran itself."""

    name = "groq"
    media = frozenset[str]()
    aliases = ()
    keys = frozenset({"choices", "executed_tools", "x_groq"})

    def recognises(self, item: Any) -> bool:
        """Recognise a response, chunk or message that only Groq sends; its other messages are detected as OpenAI's."""
        if not isinstance(item, dict):
            return False
        if isinstance(item.get("choices"), list):
            choice = get_first_choice(item["choices"]) or {}
            seen = dict_or_empty(choice.get("message")) or dict_or_empty(choice.get("delta"))
            return "x_groq" in item or bool(seen.get("executed_tools"))
        return bool(item.get("executed_tools")) and item.get("role", "assistant") == "assistant"
