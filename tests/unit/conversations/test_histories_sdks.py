"""The providers' own libraries accept the histories."""

from __future__ import annotations

from typing import Any

import pytest
from anthropic.types import ContentBlockParam, MessageParam
from botocore.loaders import Loader  # type: ignore[import-untyped]
from botocore.model import ServiceModel  # type: ignore[import-untyped]
from botocore.validate import ParamValidator  # type: ignore[import-untyped]
from cohere.types import ChatMessageV2
from google.genai import types as genai
from langchain_core.messages import BaseMessage, ToolMessage, convert_to_messages, messages_from_dict
from mistralai.client.models import ChatCompletionRequest
from openai.types.chat import ChatCompletionMessageParam
from openai.types.responses import ResponseInputItemParam
from pydantic import TypeAdapter
from pydantic_ai.messages import ModelMessagesTypeAdapter

from tests.unit.conversations.sample_conversation import FROM_GEMINI, history


def checked(kind: Any, items: list[Any]) -> list[Any]:
    """Return the items validated by the type."""
    adapter = TypeAdapter(list[kind])
    return list(adapter.dump_python(adapter.validate_python(items), mode="json"))


@pytest.mark.parametrize("name", ["openai_chat", "openai_legacy_function_call"])
def test_openai_takes_its_messages(name: str) -> None:
    items = history(name).items
    assert checked(ChatCompletionMessageParam, items) == items


@pytest.mark.parametrize("name", ["openai_responses", "openai_agents"])
def test_openai_takes_its_items(name: str) -> None:
    items = history(name).items
    assert checked(ResponseInputItemParam, items) == items


def test_anthropic_takes_its_messages() -> None:
    received = history("anthropic_messages")
    adapter, block = TypeAdapter(MessageParam), TypeAdapter(ContentBlockParam)
    for item in received.items:
        assert adapter.validate_python(item)["role"] == item["role"]
        assert [block.validate_python(one) for one in item["content"]] == item["content"]
    assert received.system == "Be brief."


def test_gemini_takes_its_contents_and_gets_its_signature_back() -> None:
    received = history("gemini_generate_content")
    contents = [genai.Content.model_validate(item) for item in received.items]
    signed = [part for content in contents for part in content.parts or [] if part.thought_signature]
    assert [part.thought_signature for part in signed] == [b"signed"]
    assert FROM_GEMINI in received.items
    assert genai.Content.model_validate(received.system).parts == [genai.Part(text="Be brief.")]


def test_bedrock_takes_its_messages() -> None:
    received = history("bedrock_converse")
    model = ServiceModel(Loader().load_service_model("bedrock-runtime", "service-2"))
    request = {"modelId": "m", "messages": received.items, "system": received.system}
    shape = model.operation_model("Converse").input_shape
    assert ParamValidator().validate(request, shape).generate_report() == ""


def test_mistral_takes_its_messages() -> None:
    request = ChatCompletionRequest.model_validate({"model": "m", "messages": history("mistral").items})
    assert [item.role for item in request.messages] == [
        *("system", "user", "assistant", "tool", "tool", "assistant", "user", "assistant", "tool"),
        # It refuses a user's message directly after a tool's.
        *("assistant", "tool", "tool", "assistant", "user"),
    ]


def test_cohere_takes_its_messages() -> None:
    items = history("cohere_v2").items
    read = TypeAdapter(list[ChatMessageV2]).validate_python(items)
    assert [message.role for message in read] == [item["role"] for item in items]


@pytest.mark.parametrize("name", ["langchain", "langgraph"])
def test_langchain_takes_its_messages(name: str) -> None:
    items = history(name).items
    read: list[BaseMessage] = convert_to_messages(items)
    assert [message.type for message in read] == [item["type"] for item in items]
    answers = [message.status for message in read if isinstance(message, ToolMessage)]
    assert answers == ["success", "error", "success", "error", "error"]
    again = messages_from_dict([{"type": item["type"], "data": item} for item in items])
    for one, other in zip(read, again, strict=True):
        assert (one.content, getattr(one, "tool_calls", None)) == (other.content, getattr(other, "tool_calls", None))


def test_pydantic_ai_takes_its_messages() -> None:
    read = ModelMessagesTypeAdapter.validate_python(history("pydantic_ai").items)
    assert [item.kind for item in read] == [
        *("request", "request", "response", "request", "response", "request", "response", "request"),
        *("response", "request", "request"),
    ]
