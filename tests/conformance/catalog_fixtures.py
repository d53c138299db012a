"""The prompts and resources that scenarios of the conformance suite read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import mcp_types as types
from mcp import MCPError
from mcp.server.context import ServerRequestContext

from tests.conformance.input_fixtures import PROMPT, ask

# A red pixel.
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="
_RESOURCES: Mapping[str, Mapping[str, Any]] = {
    "test://static-text": {"mimeType": "text/plain", "text": "This is the content of the static text resource."},
    "test://static-binary": {"mimeType": "image/png", "blob": PNG},
    "test://watched-resource": {"mimeType": "text/plain", "text": "Watched."},
}
_TEMPLATE = "test://template/{id}/data"
_PROMPTS: Mapping[str, tuple[str, ...]] = {
    "test_simple_prompt": (),
    "test_prompt_with_arguments": ("arg1", "arg2"),
    "test_prompt_with_embedded_resource": ("resourceUri",),
    "test_prompt_with_image": (),
    PROMPT: (),
}


async def list_resources(_context: ServerRequestContext[Any], _params: Any) -> types.ListResourcesResult:
    """Return the resources."""
    listed = [
        types.Resource(uri=uri, name=uri.removeprefix("test://"), mime_type=content["mimeType"])
        for uri, content in _RESOURCES.items()
    ]
    return types.ListResourcesResult(resources=listed)


async def list_templates(_context: ServerRequestContext[Any], _params: Any) -> types.ListResourceTemplatesResult:
    """Return the resource template."""
    template = types.ResourceTemplate(uri_template=_TEMPLATE, name="template", mime_type="application/json")
    return types.ListResourceTemplatesResult(resource_templates=[template])


async def read_resource(
    _context: ServerRequestContext[Any], params: types.ReadResourceRequestParams
) -> types.ReadResourceResult:
    """Return the content of a resource."""
    uri = str(params.uri)
    content = _RESOURCES.get(uri)
    first, last = _TEMPLATE.split("{id}")
    if uri.startswith(first) and uri.endswith(last):
        identity = uri.removeprefix(first).removesuffix(last)
        data = {"id": identity, "templateTest": True, "data": f"Data for ID: {identity}"}
        content = {"mimeType": "application/json", "text": json.dumps(data)}
    if content is None:
        raise MCPError(types.INVALID_PARAMS, f"Resource not found: {uri}", {"uri": uri})
    return types.ReadResourceResult.model_validate({"contents": [{"uri": uri, **content}]})


async def subscribe(_context: ServerRequestContext[Any], _params: Any) -> types.EmptyResult:
    """Accept the beginning or the end of a subscription: the resources never change."""
    return types.EmptyResult()


async def list_prompts(_context: ServerRequestContext[Any], _params: Any) -> types.ListPromptsResult:
    """Return the prompts."""
    listed = [
        types.Prompt(
            name=name,
            description=f"Fixture {name}",
            arguments=[types.PromptArgument(name=a, required=True) for a in names],
        )
        for name, names in _PROMPTS.items()
    ]
    return types.ListPromptsResult(prompts=listed)


async def get_prompt(
    _context: ServerRequestContext[Any], params: types.GetPromptRequestParams
) -> types.GetPromptResult | types.InputRequiredResult:
    """Return the messages of a prompt, or what it needs of the client."""
    arguments = params.arguments or {}
    contents: list[Mapping[str, Any]]
    match params.name:
        case "test_simple_prompt":
            contents = [{"type": "text", "text": "This is a simple prompt for testing."}]
        case "test_prompt_with_arguments":
            text = f"Prompt with arguments: arg1='{arguments['arg1']}', arg2='{arguments['arg2']}'"
            contents = [{"type": "text", "text": text}]
        case "test_prompt_with_embedded_resource":
            text = "Embedded resource content for testing."
            resource = {"uri": arguments["resourceUri"], "mimeType": "text/plain", "text": text}
            last = {"type": "text", "text": "Please process the embedded resource above."}
            contents = [{"type": "resource", "resource": resource}, last]
        case "test_prompt_with_image":
            last = {"type": "text", "text": "Please analyze the image above."}
            contents = [{"type": "image", "data": PNG, "mimeType": "image/png"}, last]
        case name if name == PROMPT:
            answer = ask(params)
            if isinstance(answer, types.InputRequiredResult):
                return answer
            contents = [{"type": "text", "text": answer}]
        case _:
            raise MCPError(types.INVALID_PARAMS, f"Unknown prompt: {params.name}")
    messages = [{"role": "user", "content": content} for content in contents]
    return types.GetPromptResult.model_validate({"messages": messages})


async def complete(_context: ServerRequestContext[Any], params: types.CompleteRequestParams) -> types.CompleteResult:
    """Return values that begin with the given one."""
    values = [value for value in ("paris", "park", "party", "testing") if value.startswith(params.argument.value)]
    return types.CompleteResult(completion=types.Completion(values=values, total=len(values), has_more=False))
