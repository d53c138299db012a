"""Agent loops as users write them, one for each official SDK, against a provider that follows a script.

Each loop sends what the SDK gave to the board, sends the board's answer to the provider, and ends when the board has
no results. It returns the text of the last turn.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

import boto3  # type: ignore[import-untyped]
import httpx
from anthropic import AsyncAnthropic
from botocore.config import Config  # type: ignore[import-untyped]
from cohere import AsyncClientV2
from google import genai
from google.genai.types import GenerateContentConfigDict, HttpOptions
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage, convert_to_messages
from mistralai.client import Mistral
from openai import AsyncOpenAI
from pydantic_ai.direct import model_request
from pydantic_ai.messages import ModelMessagesTypeAdapter, ModelRequest
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.tools import ToolDefinition

KEY = "none-is-needed"
ASKED = "Add 1 and 2."
MOST_TURNS = 3


class Board:
    """The board in a loop: the payloads it receives, and its answers."""

    def __init__(self, client: httpx.AsyncClient) -> None:
        self._client = client
        self.answers: list[Any] = []

    async def run(self, payload: Any) -> Any:
        """The answer to a payload, which may be JSON text."""
        if isinstance(payload, str):
            answer = await self._client.post("/v1/calls", content=payload, headers={"Content-Type": "application/json"})
        else:
            answer = await self._client.post("/v1/calls", json=payload)
        assert answer.status_code == 200, answer.text
        self.answers.append(answer.json())
        return self.answers[-1]

    async def tools(self, dialect: str) -> Any:
        """The definitions that a provider is given."""
        answer = await self._client.get("/v1/definitions", params={"as": dialect})
        assert answer.status_code == 200, answer.text
        return answer.json()


Loop = Callable[[str, Board], Awaitable[str | None]]


async def openai_message(url: str, board: Board) -> str | None:
    async with AsyncOpenAI(base_url=f"{url}/v1", api_key=KEY) as client:
        messages: list[Any] = [{"role": "user", "content": ASKED}]
        tools = await board.tools("openai")
        for _ in range(MOST_TURNS):
            response = await client.chat.completions.create(model="m", messages=messages, tools=tools)
            message = response.choices[0].message
            answers = await board.run(message.model_dump())
            if not answers:
                return message.content
            messages += [message.model_dump(exclude_none=True), *answers]
    return None


async def openai_choice(url: str, board: Board) -> str | None:
    async with AsyncOpenAI(base_url=f"{url}/v1", api_key=KEY) as client:
        messages: list[Any] = [{"role": "user", "content": ASKED}]
        for _ in range(MOST_TURNS):
            response = await client.chat.completions.create(model="m", messages=messages)
            choice = response.choices[0]
            answers = await board.run(choice.to_json())
            if not answers:
                return choice.message.content
            messages += [choice.message.to_dict(), *answers]
    return None


async def openai_history(url: str, board: Board) -> str | None:
    async with AsyncOpenAI(base_url=f"{url}/v1", api_key=KEY) as client:
        messages: list[Any] = [{"role": "user", "content": ASKED}]
        for _ in range(MOST_TURNS):
            response = await client.chat.completions.create(model="m", messages=messages)
            messages.append(response.choices[0].message.model_dump(exclude_none=True))
            answers = await board.run(messages)
            if not answers:
                return response.choices[0].message.content
            messages += answers
    return None


async def openai_stream(url: str, board: Board) -> str | None:
    async with AsyncOpenAI(base_url=f"{url}/v1", api_key=KEY) as client:
        messages: list[Any] = [{"role": "user", "content": ASKED}]
        for _ in range(MOST_TURNS):
            stream = await client.chat.completions.create(model="m", messages=messages, stream=True)
            chunks = [chunk async for chunk in stream]
            answers = await board.run([chunk.model_dump(exclude_none=True) for chunk in chunks])
            if not answers:
                return "".join(chunk.choices[0].delta.content or "" for chunk in chunks)
            calls = [call for chunk in chunks for call in chunk.choices[0].delta.tool_calls or ()]
            whole = calls[0].to_dict() | {
                "function": {
                    "name": "add",
                    "arguments": "".join((call.function and call.function.arguments) or "" for call in calls),
                }
            }
            messages += [{"role": "assistant", "tool_calls": [whole]}, *answers]
    return None


async def anthropic_stream(url: str, board: Board) -> str | None:
    async with AsyncAnthropic(base_url=url, api_key=KEY) as client:
        messages: list[Any] = [{"role": "user", "content": ASKED}]
        for _ in range(MOST_TURNS):
            async with client.messages.stream(model="m", max_tokens=9, messages=messages) as stream:
                message = await stream.get_final_message()
            answer = await board.run(message.to_json())
            if not answer["content"]:
                return str(getattr(message.content[0], "text", None))
            messages += [{"role": "assistant", "content": [block.to_dict() for block in message.content]}, answer]
    return None


async def openai_responses(url: str, board: Board) -> str | None:
    async with AsyncOpenAI(base_url=f"{url}/v1", api_key=KEY) as client:
        items: list[Any] = [{"role": "user", "content": ASKED}]
        tools = await board.tools("openai_responses")
        for _ in range(MOST_TURNS):
            response = await client.responses.create(model="m", input=items, tools=tools)
            answers = await board.run(response.model_dump(mode="json"))
            if not answers:
                return response.output_text
            items += [*(item.to_dict() for item in response.output), *answers]
    return None


async def anthropic(url: str, board: Board) -> str | None:
    async with AsyncAnthropic(base_url=url, api_key=KEY) as client:
        messages: list[Any] = [{"role": "user", "content": ASKED}]
        tools = await board.tools("anthropic")
        for _ in range(MOST_TURNS):
            message = await client.messages.create(model="m", max_tokens=9, messages=messages, tools=tools)
            content = [block.model_dump(exclude_none=True) for block in message.content]
            answer = await board.run({"role": "assistant", "content": content})
            if not answer["content"]:
                return str(content[-1]["text"])
            messages += [{"role": "assistant", "content": content}, answer]
    return None


async def gemini(url: str, board: Board) -> str | None:
    with genai.Client(api_key=KEY, http_options=HttpOptions(base_url=url)) as client:
        contents: list[Any] = [{"role": "user", "parts": [{"text": ASKED}]}]
        config = GenerateContentConfigDict(tools=await board.tools("gemini"))
        for _ in range(MOST_TURNS):
            response = await asyncio.to_thread(
                client.models.generate_content, model="m", contents=contents, config=config
            )
            assert response.candidates is not None
            content = response.candidates[0].content
            assert content is not None
            answer = await board.run(content.model_dump(mode="json"))
            if not answer["parts"]:
                return response.text
            contents += [content.to_json_dict(), answer]
    return None


async def mistral(url: str, board: Board) -> str | None:
    async with Mistral(server_url=url, api_key=KEY) as client:
        messages: list[Any] = [{"role": "user", "content": ASKED}]
        tools = await board.tools("mistral")
        for _ in range(MOST_TURNS):
            response = await client.chat.complete_async(model="m", messages=messages, tools=tools)
            assert response.choices is not None
            message = response.choices[0].message
            assert message is not None
            messages.append(message.model_dump())
            answers = await board.run(messages)
            if not answers:
                return str(message.content)
            messages += answers
    return None


async def cohere(url: str, board: Board) -> str | None:
    async with AsyncClientV2(base_url=url, api_key=KEY) as client:
        messages: list[Any] = [{"role": "user", "content": ASKED}]
        tools = await board.tools("cohere")
        for _ in range(MOST_TURNS):
            response = await client.chat(model="m", messages=messages, tools=tools)
            answers = await board.run(response.model_dump(mode="json"))
            if not answers:
                content = response.message.content or []
                return str(getattr(content[0], "text", None))
            messages += [response.message.model_dump(exclude_none=True), *answers]
    return None


async def bedrock(url: str, board: Board) -> str | None:
    client = boto3.client(
        "bedrock-runtime",
        region_name="eu-central-1",
        endpoint_url=url,
        aws_access_key_id=KEY,
        aws_secret_access_key=KEY,
        config=Config(retries={"total_max_attempts": 1}),
    )
    messages: list[Any] = [{"role": "user", "content": [{"text": ASKED}]}]
    tools = {"tools": await board.tools("bedrock")}
    for _ in range(MOST_TURNS):
        response = await asyncio.to_thread(client.converse, modelId="m", messages=messages, toolConfig=tools)
        message = response["output"]["message"]
        answer = await board.run(message)
        if not answer["content"]:
            client.close()
            return str(message["content"][0]["text"])
        messages += [message, answer]
    return None


async def langchain(url: str, board: Board) -> str | None:
    call = {"name": "add", "args": {"a": 1, "b": 2}, "id": "call_1", "type": "tool_call"}
    found = [AIMessage.model_validate({"content": "", "tool_calls": [call]}), AIMessage("3")]
    model = GenericFakeChatModel(messages=iter(found))
    messages: list[Any] = [HumanMessage(ASKED)]
    for _ in range(MOST_TURNS):
        message = await model.ainvoke(messages)
        answers = await board.run(message.model_dump(mode="json"))
        if not answers:
            return str(message.content)
        messages += [message, *convert_to_messages(answers)]
    return None


async def pydantic_ai(url: str, board: Board) -> str | None:
    async with AsyncOpenAI(base_url=f"{url}/v1", api_key=KEY) as client:
        messages: list[Any] = [ModelRequest.user_text_prompt(ASKED)]
        tools = [
            ToolDefinition(name=one["name"], parameters_json_schema=one["parameters_json_schema"])
            for one in await board.tools("pydantic_ai")
        ]
        wanted = ModelRequestParameters(function_tools=tools)
        for _ in range(MOST_TURNS):
            response = await model_request(
                OpenAIChatModel("m", provider=OpenAIProvider(openai_client=client)),
                messages,
                model_request_parameters=wanted,
            )
            answers = await board.run(json.loads(ModelMessagesTypeAdapter.dump_json([response])))
            requests = ModelMessagesTypeAdapter.validate_python(answers if isinstance(answers, list) else [answers])
            if not any(request.parts for request in requests):
                return response.text
            messages += [response, *requests]
    return None
