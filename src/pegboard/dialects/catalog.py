"""The list of built-in dialects, in the order in which they are tried on a payload."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module

from pegboard.dialects.base import Dialect
from pegboard.dialects.detect import Dialects
from pegboard.dialects.turn_reader import TurnReader
from pegboard.entry_points import load_entry_points

# One line per dialect, its module and class. If several recognise the same payload, the first one reads it.
_LINES = (
    # First, because its events otherwise look like plain calls.
    "ag2:AG2",
    "plain:Plain",
    "envelope:Envelope",
    "memory_form:Memory",
    "detailed:Detailed",
    "smolagents:Smolagents",
    "groq:Groq",
    "openai_chat:OpenAIChat",
    "openai_legacy:OpenAILegacy",
    "openai_responses:OpenAIResponses",
    "openai_responses:OpenAIAgents",
    "anthropic:AnthropicMessages",
    "gemini:GeminiGenerateContent",
    "google_adk:GoogleAdk",
    "bedrock:BedrockConverse",
    "mistral:Mistral",
    # Servers strip the marks that make it text; a bare {name, parameters} is more likely this than Cohere.
    "text.llama:Llama31",
    "cohere:CohereV2",
    "ollama:Ollama",
    "mcp_messages:Mcp",
    "a2a:A2A",
    "ag_ui:AgUi",
    "langchain:Langchain",
    "langchain:Langgraph",
    "llama_index:LlamaIndex",
    "haystack:Haystack",
    "pydantic_ai:PydanticAI",
    "semantic_kernel:SemanticKernel",
    "autogen:AutoGen",
    "crewai:CrewAI",
    "vercel:VercelV4",
    "vercel:VercelV7",
    "vercel:VercelV5",
    "vercel:VercelUi",
    "mastra:Mastra",
    "text.hermes:Qwen3",
    "text.hermes:Granite4",
    "text.hermes:Qwen25",
    "text.hermes:Hermes",
    "text.xml_tags:Qwen3Coder",
    "text.xml_tags:Glm46",
    "text.xml_tags:MiniMaxM2",
    "text.xml_tags:DeepSeekV32",
    "text.marked_calls:DeepSeekV31",
    "text.marked_calls:DeepSeekR1",
    "text.mistral_text:MistralNemo",
    "text.mistral_text:MistralSmall32",
    "text.cohere_text:CohereR7B",
    "text.marked_calls:Functionary31",
    "text.gemma:Gemma4",
    "text.harmony:Harmony",
    "text.marked_calls:KimiK2",
    "text.kimi_k3:KimiK3",
    "text.pythonic:Lfm25Pythonic",
)


def _load(line: str) -> type[Dialect]:
    module, _, name = line.partition(":")
    loaded: type[Dialect] = getattr(import_module(f"pegboard.dialects.{module}"), name)
    return loaded


BUILT_IN_DIALECTS: Sequence[type[Dialect]] = tuple(map(_load, _LINES))


def load_dialects() -> Dialects:
    """Return all dialects, including those of plugins; one of theirs replaces a built-in dialect of the same name."""
    theirs = load_entry_points("pegboard.dialects", _create_dialect)
    return Dialects([*(make() for make in BUILT_IN_DIALECTS), *theirs.values()])


def _create_dialect(make: Callable[[], object]) -> Dialect:
    dialect = make()
    if not isinstance(dialect, Dialect):
        raise TypeError(f"{type(dialect).__name__} is not a pegboard.dialects.base.Dialect")
    TurnReader([dialect])  # raises if one of its patterns is invalid
    return dialect
