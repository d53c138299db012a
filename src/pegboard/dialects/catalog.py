"""The list of built-in dialects, in the order in which they are tried on a payload."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pegboard.dialects.a2a import A2A
from pegboard.dialects.ag2 import AG2
from pegboard.dialects.ag_ui import AgUi
from pegboard.dialects.anthropic import AnthropicMessages
from pegboard.dialects.autogen import AutoGen
from pegboard.dialects.base import Dialect
from pegboard.dialects.bedrock import BedrockConverse
from pegboard.dialects.cohere import CohereV2
from pegboard.dialects.crewai import CrewAI
from pegboard.dialects.detailed import Detailed
from pegboard.dialects.detect import Dialects
from pegboard.dialects.envelope import Envelope
from pegboard.dialects.gemini import GeminiGenerateContent
from pegboard.dialects.google_adk import GoogleAdk
from pegboard.dialects.groq import Groq
from pegboard.dialects.haystack import Haystack
from pegboard.dialects.langchain import Langchain, Langgraph
from pegboard.dialects.llama_index import LlamaIndex
from pegboard.dialects.mastra import Mastra
from pegboard.dialects.mcp_messages import Mcp
from pegboard.dialects.memory_form import Memory
from pegboard.dialects.mistral import Mistral
from pegboard.dialects.ollama import Ollama
from pegboard.dialects.openai_chat import OpenAIChat
from pegboard.dialects.openai_legacy import OpenAILegacy
from pegboard.dialects.openai_responses import OpenAIAgents, OpenAIResponses
from pegboard.dialects.plain import Plain
from pegboard.dialects.pydantic_ai import PydanticAI
from pegboard.dialects.semantic_kernel import SemanticKernel
from pegboard.dialects.smolagents import Smolagents
from pegboard.dialects.text.cohere_text import CohereR7B
from pegboard.dialects.text.deepseek import DeepSeekR1, DeepSeekV31
from pegboard.dialects.text.functionary import Functionary31
from pegboard.dialects.text.gemma import Gemma4
from pegboard.dialects.text.harmony import Harmony
from pegboard.dialects.text.hermes import Granite4, Hermes, Qwen3, Qwen25
from pegboard.dialects.text.kimi import KimiK2
from pegboard.dialects.text.kimi_k3 import KimiK3
from pegboard.dialects.text.llama import Llama31
from pegboard.dialects.text.mistral_text import MistralNemo, MistralSmall32
from pegboard.dialects.text.pythonic import Lfm25Pythonic
from pegboard.dialects.text.xml_tags import DeepSeekV32, Glm46, MiniMaxM2, Qwen3Coder
from pegboard.dialects.vercel import VercelUi, VercelV4, VercelV5, VercelV7
from pegboard.entry_points import load_entry_points

# One line per dialect. If several recognise the same payload, the first one reads it.
BUILT_IN_DIALECTS: Sequence[type[Dialect]] = (
    # First, because its events otherwise look like plain calls.
    AG2,
    Plain,
    Envelope,
    Memory,
    Detailed,
    Smolagents,
    Groq,
    OpenAIChat,
    OpenAILegacy,
    OpenAIResponses,
    OpenAIAgents,
    AnthropicMessages,
    GeminiGenerateContent,
    GoogleAdk,
    BedrockConverse,
    Mistral,
    # Servers strip the marks that make it text; a bare {name, parameters} is more likely this than Cohere.
    Llama31,
    CohereV2,
    Ollama,
    Mcp,
    A2A,
    AgUi,
    Langchain,
    Langgraph,
    LlamaIndex,
    Haystack,
    PydanticAI,
    SemanticKernel,
    AutoGen,
    CrewAI,
    VercelV4,
    VercelV7,
    VercelV5,
    VercelUi,
    Mastra,
    Qwen3,
    Granite4,
    Qwen25,
    Hermes,
    Qwen3Coder,
    Glm46,
    MiniMaxM2,
    DeepSeekV32,
    DeepSeekV31,
    DeepSeekR1,
    MistralNemo,
    MistralSmall32,
    CohereR7B,
    Functionary31,
    Gemma4,
    Harmony,
    KimiK2,
    KimiK3,
    Lfm25Pythonic,
)


def load_dialects() -> Dialects:
    """Return all dialects, including those of plugins; one of theirs replaces a built-in dialect of the same name."""
    theirs = load_entry_points("pegboard.dialects", _create_dialect)
    return Dialects([*(make() for make in BUILT_IN_DIALECTS), *theirs.values()])


def _create_dialect(make: Callable[[], object]) -> Dialect:
    dialect = make()
    if not isinstance(dialect, Dialect):
        raise TypeError(f"{type(dialect).__name__} is not a pegboard.dialects.base.Dialect")
    return dialect
