"""The objects of the official SDKs in an agent loop: of a turn with one call, and of the last turn."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from anthropic.types import Message, RawMessageStreamEvent
from cohere import V2ChatResponse
from google.genai import types as genai
from langchain_core.load import dumpd
from langchain_core.messages import AIMessage, HumanMessage, message_to_dict
from mistralai.client.models import (
    AssistantMessage,
    ChatCompletionResponse,
    CompletionEvent,
    ConversationResponse,
    ToolMessage,
    UserMessage,
)
from openai.types.chat import ChatCompletion, ChatCompletionChunk
from openai.types.responses import Response
from pydantic import TypeAdapter
from pydantic_ai.messages import ModelMessagesTypeAdapter, ModelResponse, TextPart, ToolCallPart

ARGUMENTS = {"text": "hi"}
TEXT = json.dumps(ARGUMENTS)
CALL: dict[str, Any] = {"id": "call_1", "type": "function", "function": {"name": "echo", "arguments": TEXT}}


class SdkObject(NamedTuple):
    """An object of an SDK, or a list of them; the dialects it may be read in; whether it makes a call."""

    label: str
    value: Any
    dialects: tuple[str, ...]
    has_call: bool

    def __str__(self) -> str:
        return f"{self.label}, {'call' if self.has_call else 'last turn'}"


def objects() -> Iterator[SdkObject]:
    """Every object, with a call and without."""
    for has_call in (True, False):
        for name, values in (
            # A message without calls may look the same as that of a relative; the empty answer is then the same too.
            (("openai_chat",), _openai(has_call)),
            (("openai_responses",), _responses(has_call)),
            (("anthropic_messages",), _anthropic(has_call)),
            (("gemini_generate_content", "plain"), _gemini(has_call)),
            (("mistral", "openai_chat"), _mistral(has_call)),
            (("cohere_v2", "openai_chat", "anthropic_messages"), _cohere(has_call)),
            (("bedrock_converse", "plain"), _bedrock(has_call)),
            (("langchain", "langgraph", "openai_chat"), _langchain(has_call)),
            (("pydantic_ai",), _pydantic_ai(has_call)),
        ):
            allowed = name[:1] if has_call and name[0] not in ("cohere_v2", "langchain") else name
            for label, value in values.items():
                yield SdkObject(f"{name[0]} {label}", value, allowed, has_call)


def _openai(has_call: bool) -> dict[str, Any]:
    message = {"role": "assistant", "content": None if has_call else "Done."} | (
        {"tool_calls": [CALL]} if has_call else {}
    )
    choice = {"index": 0, "finish_reason": "tool_calls" if has_call else "stop", "message": message}
    response = ChatCompletion.model_validate(_completion("chat.completion", choice))
    first = response.choices[0]
    begun: dict[str, Any] = {"index": 0, **CALL, "function": {"name": "echo", "arguments": ""}}
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
    if has_call:
        pieces = [{"index": 0, "function": {"arguments": text}} for text in (TEXT[:5], TEXT[5:])]
        deltas += [{"tool_calls": [call]} for call in (begun, *pieces)]
    else:
        deltas += [{"content": "Do"}, {"content": "ne."}]
    ends = [None] * len(deltas) + ["tool_calls" if has_call else "stop"]
    chunks = [
        ChatCompletionChunk.model_validate(
            _completion("chat.completion.chunk", {"index": 0, "finish_reason": end, "delta": delta})
        )
        for delta, end in zip([*deltas, {}], ends, strict=True)
    ]
    given: dict[str, Any] = {
        "response": response,
        "choices": response.choices,
        "choice": first,
        "message": first.message,
        "chunks": chunks,
        "choices of chunks": [chunk.choices[0] for chunk in chunks],
    }
    if has_call:
        given["deltas of chunks"] = [chunk.choices[0].delta for chunk in chunks]
        given["calls"] = first.message.tool_calls or []
        given["call"] = given["calls"][0]
    return given


def _completion(kind: str, choice: dict[str, Any]) -> dict[str, Any]:
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    return {"id": "c", "object": kind, "created": 1, "model": "m", "choices": [choice], "usage": usage}


def _responses(has_call: bool) -> dict[str, Any]:
    call = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "echo", "arguments": TEXT}
    content = [{"type": "output_text", "text": "Done.", "annotations": []}]
    message = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": content}
    thought = {"type": "reasoning", "id": "rs_1", "summary": []}
    about = {"id": "r", "object": "response", "created_at": 1, "model": "m", "tools": [], "tool_choice": "auto"}
    output = [thought, call if has_call else message]
    response = Response.model_validate({**about, "parallel_tool_calls": True, "output": output})
    return {"response": response, "output": response.output, "item": response.output[1]}


def _anthropic(has_call: bool) -> dict[str, Any]:
    call = {"type": "tool_use", "id": "toolu_1", "name": "echo", "input": ARGUMENTS}
    content = [{"type": "text", "text": "Done."}, *([call] if has_call else [])]
    about = {"id": "msg", "type": "message", "role": "assistant", "model": "m", "stop_sequence": None}
    usage = {"input_tokens": 1, "output_tokens": 1}
    reason = "tool_use" if has_call else "end_turn"
    message = Message.model_validate({**about, "content": content, "usage": usage, "stop_reason": reason})
    began: dict[str, Any] = {**about, "content": [], "usage": usage, "stop_reason": None}
    block = {**call, "input": {}} if has_call else {"type": "text", "text": ""}
    delta = {"type": "input_json_delta", "partial_json": TEXT} if has_call else {"type": "text_delta", "text": "Done."}
    event = TypeAdapter[Any](RawMessageStreamEvent)
    events = [
        {"type": "message_start", "message": began},
        {"type": "content_block_start", "index": 0, "content_block": block},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 1}},
        {"type": "message_stop"},
    ]
    return {
        "message": message,
        "content": message.content,
        "block": message.content[-1],
        "turn": {"role": "assistant", "content": [block.model_dump() for block in message.content]},
        "events": [event.validate_python(one) for one in events],
    }


def _gemini(has_call: bool) -> dict[str, Any]:
    call = {"functionCall": {"name": "echo", "args": ARGUMENTS}, "thoughtSignature": "c2ln"}
    content = {"role": "model", "parts": [call if has_call else {"text": "Done."}]}
    response = genai.GenerateContentResponse.model_validate(
        {"candidates": [{"content": content, "finishReason": "STOP", "index": 0}], "modelVersion": "m"}
    )
    candidate = (response.candidates or [])[0]
    assert candidate.content is not None
    assert candidate.content.parts is not None
    given = {
        "response": response,
        "chunks": [response],
        "candidates": response.candidates,
        "candidate": candidate,
        "content": candidate.content,
        "history": [genai.UserContent(parts=[genai.Part(text="hi")]), candidate.content],
        "parts": candidate.content.parts,
        "part": candidate.content.parts[0],
    }
    if has_call:
        given["function_calls"] = response.function_calls
        given["function_call"] = (response.function_calls or [])[0]
    else:
        given["blocked response"] = genai.GenerateContentResponse.model_validate({"promptFeedback": {}})
    return given


def _mistral(has_call: bool) -> dict[str, Any]:
    call = {**CALL, "id": "abcdefghi", "index": 0}
    message = {"role": "assistant", "content": "" if has_call else "Done.", "tool_calls": [call] if has_call else None}
    reason = "tool_calls" if has_call else "stop"
    response = ChatCompletionResponse.model_validate(
        _completion("chat.completion", {"index": 0, "finish_reason": reason, "message": message})
    )
    delta = {key: value for key, value in message.items() if value is not None}
    events = [
        CompletionEvent.model_validate({"data": _completion("chat.completion.chunk", {"index": 0, **choice})})
        for choice in (
            {"finish_reason": None, "delta": {"role": "assistant", "content": "I "}},
            {"finish_reason": reason, "delta": delta},
        )
    ]
    entry = {"object": "entry", "id": "e_1"}
    entry |= (
        {"type": "function.call", "tool_call_id": "abcdefghi", "name": "echo", "arguments": TEXT}
        if has_call
        else {"type": "message.output", "role": "assistant", "content": "Done.", "model": "m"}
    )
    about = {"object": "conversation.response", "conversation_id": "conv_1", "usage": {}}
    conversation = ConversationResponse.model_validate({**about, "outputs": [entry]})
    message_text = response.choices[0].message
    assert message_text is not None
    given = {
        "response": response,
        "choices": response.choices,
        "choice": response.choices[0],
        "message": message_text,
        "events": events,
        "chunks": [event.data for event in events],
        "conversation": conversation,
        "entries": conversation.outputs,
    }
    asking = AssistantMessage.model_validate({"role": "assistant", "content": "", "tool_calls": [call]})
    if has_call:
        given["calls"] = message_text.tool_calls
        given["history"] = [
            UserMessage(content="hi"),
            AssistantMessage(content="Hello"),
            UserMessage(content="go"),
            message_text,
        ]
    else:
        answer = ToolMessage(content="hi", tool_call_id="abcdefghi", name="echo")
        given["history"] = [UserMessage(content="hi"), asking, answer, message_text]
    return given


def _cohere(has_call: bool) -> dict[str, Any]:
    message = (
        {"role": "assistant", "tool_plan": "I will", "tool_calls": [CALL]}
        if has_call
        else {"role": "assistant", "content": [{"type": "text", "text": "Done."}]}
    )
    reason = "TOOL_CALL" if has_call else "COMPLETE"
    response = V2ChatResponse.model_validate({"id": "x", "finish_reason": reason, "message": message})
    given: dict[str, Any] = {"response": response, "message": response.message}
    if has_call:
        given["calls"] = response.message.tool_calls
    return given


def _bedrock(has_call: bool) -> dict[str, Any]:
    call = {"toolUse": {"toolUseId": "tooluse_1", "name": "echo", "input": ARGUMENTS}}
    message = {"role": "assistant", "content": [call if has_call else {"text": "Done."}]}
    reason = "tool_use" if has_call else "end_turn"
    response = {"ResponseMetadata": {"HTTPStatusCode": 200}, "output": {"message": message}, "stopReason": reason}
    start = {"toolUse": {"toolUseId": "tooluse_1", "name": "echo"}}
    delta = {"toolUse": {"input": TEXT}} if has_call else {"text": "Done."}
    events = [
        {"messageStart": {"role": "assistant"}},
        *([{"contentBlockStart": {"start": start, "contentBlockIndex": 0}}] if has_call else ()),
        {"contentBlockDelta": {"delta": delta, "contentBlockIndex": 0}},
        {"contentBlockStop": {"contentBlockIndex": 0}},
        {"messageStop": {"stopReason": reason}},
        {"metadata": {"usage": {"inputTokens": 1}}},
    ]
    wholes = {"response": response, "output": response["output"], "message": message, "content": message["content"]}
    return {**wholes, "events": events}


def _langchain(has_call: bool) -> dict[str, Any]:
    call = {"name": "echo", "args": ARGUMENTS, "id": "call_1", "type": "tool_call"}
    message = AIMessage.model_validate(
        {"content": "" if has_call else "Done.", "tool_calls": [call] if has_call else []}
    )
    return {
        "message": message,
        "messages": [HumanMessage("hi"), message],
        "message_to_dict": message_to_dict(message),
        "dumpd": dumpd(message),
        "state": {"messages": [HumanMessage("hi").model_dump(), message.model_dump()]},
    } | ({"tool_calls": message.tool_calls} if has_call else {})


def _pydantic_ai(has_call: bool) -> dict[str, Any]:
    response = ModelResponse(parts=[ToolCallPart("echo", TEXT, "call_1") if has_call else TextPart("Done.")])
    messages = json.loads(ModelMessagesTypeAdapter.dump_json([response]))
    return {"messages": messages, "response": messages[0]}
