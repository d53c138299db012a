"""How the board is asked for a call, and its result as people read it."""

from __future__ import annotations

import json
from typing import Any

from pegboard.surfaces.cli.calls import Wanted
from pegboard.surfaces.cli.client import Client, Reply
from pegboard.surfaces.cli.failures import Refused
from pegboard.surfaces.cli.routes import route

# Larger results are not read out.
_LARGEST = 2**20


async def ask(client: Client, wanted: Wanted) -> Reply:
    """The answer, whole: at its end, and with `follow` told of until then."""
    headers = {} if wanted.once is None else {"Idempotency-Key": wanted.once}
    arguments = await _arguments(client, wanted)
    if wanted.thread is None and not wanted.follow:
        return await client.send(
            "POST",
            route("tools", wanted.name, "call"),
            params={"as": wanted.shape},
            body=arguments,
            headers=headers,
            patient=True,
            any_status=True,
        )
    params = {"from": "plain", "as": wanted.shape or await _own_style(client, wanted.name), "thread": wanted.thread}
    # Put together as text, so that no digit is lost.
    body = b'{"name":%s,"arguments":%s}' % (json.dumps(wanted.name).encode(), arguments)
    if not wanted.follow:
        return await client.send(
            "POST", route("calls"), params=params, body=body, headers=headers, patient=True, any_status=True
        )
    from pegboard.surfaces.cli.following import follow  # noqa: PLC0415 -- start-up time

    return await follow(client, params=params, body=body, headers=headers)


async def _arguments(client: Client, wanted: Wanted) -> bytes:
    """The arguments as JSON; those typed as key=value have the types of the tool's schema."""
    pairs = wanted.arguments
    if isinstance(pairs, bytes):
        return pairs
    if not pairs.has_texts:
        return pairs.body
    schema = (await _tool(client, wanted.name)).get("input_schema")
    return pairs.body_for(schema if isinstance(schema, dict) else {})


async def read_out(client: Client, wanted: Wanted, reply: Reply) -> str | None:
    """The result at length, where its tool says how that reads to people; else None."""
    display = (await _tool(client, wanted.name)).get("display")
    if display is None or len(reply.text) > _LARGEST:
        return None
    from pegboard.core.display import Display  # noqa: PLC0415 -- start-up time
    from pegboard.dialects.formats import result_written_out  # noqa: PLC0415 -- start-up time

    try:
        known = Display.model_validate(display)
    except ValueError:  # of a board that knows more styles
        return None
    return result_written_out(reply.data["result"], known)


async def _own_style(client: Client, name: str) -> str:
    return (await _tool(client, name)).get("result_style") or "plain"


async def _tool(client: Client, name: str) -> dict[str, Any]:
    """The tool's definition; nothing where it is not for this caller to see."""
    try:
        return dict((await client.get(route("tools", name))).data)
    except Refused:
        return {}
