"""How the board is asked for a call, and its result as people read it."""

from __future__ import annotations

import json
from typing import Any

from pegboard.surfaces.cli.api_client import ApiClient, ApiReply
from pegboard.surfaces.cli.api_paths import build_path
from pegboard.surfaces.cli.call_command import CallRequest
from pegboard.surfaces.cli.exit_codes import RequestRefused

# Larger results are not formatted.
_MAX_FORMATTED_CHARS = 2**20


async def send_call(client: ApiClient, wanted: CallRequest) -> ApiReply:
    """Send the call and return the whole response; with `follow`, show progress until then."""
    headers = {} if wanted.once is None else {"Idempotency-Key": wanted.once}
    arguments = await _encode_arguments(client, wanted)
    if wanted.thread is None and not wanted.follow:
        return await client.send(
            "POST",
            build_path("tools", wanted.name, "call"),
            params={"as": wanted.shape},
            body=arguments,
            headers=headers,
            patient=True,
            any_status=True,
        )
    params = {
        "from": "plain",
        "as": wanted.shape or await _get_result_style(client, wanted.name),
        "thread": wanted.thread,
    }
    # Built as text, so that no digit is lost.
    body = b'{"name":%s,"arguments":%s}' % (json.dumps(wanted.name).encode(), arguments)
    if not wanted.follow:
        return await client.send(
            "POST", build_path("calls"), params=params, body=body, headers=headers, patient=True, any_status=True
        )
    from pegboard.surfaces.cli.follow_client import follow_call  # noqa: PLC0415 -- start-up time

    return await follow_call(client, params=params, body=body, headers=headers)


async def _encode_arguments(client: ApiClient, wanted: CallRequest) -> bytes:
    """Return the arguments as JSON; key=value arguments are converted to the types of the tool's schema."""
    pairs = wanted.arguments
    if isinstance(pairs, bytes):
        return pairs
    if not pairs.has_texts:
        return pairs.body
    schema = (await _get_tool(client, wanted.name)).get("input_schema")
    return pairs.encode_for_schema(schema if isinstance(schema, dict) else {})


async def format_result(client: ApiClient, wanted: CallRequest, reply: ApiReply) -> str | None:
    """Return the result as text if the tool has a `display` format, else None."""
    display = (await _get_tool(client, wanted.name)).get("display")
    if display is None or len(reply.text) > _MAX_FORMATTED_CHARS:
        return None
    from pegboard.display.format import format_result_text  # noqa: PLC0415 -- start-up time
    from pegboard.model.display_format import Display  # noqa: PLC0415 -- start-up time

    try:
        known = Display.model_validate(display)
    except ValueError:  # a newer board may have styles that are unknown here
        return None
    return format_result_text(reply.data["result"], known)


async def _get_result_style(client: ApiClient, name: str) -> str:
    return (await _get_tool(client, name)).get("result_style") or "plain"


async def _get_tool(client: ApiClient, name: str) -> dict[str, Any]:
    """Return the tool's definition, or an empty dict if the caller may not see it."""
    try:
        return dict((await client.get(build_path("tools", name))).data)
    except RequestRefused:
        return {}
