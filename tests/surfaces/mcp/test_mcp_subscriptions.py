"""Notifications about changes of the resources and lists of imported servers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import mcp_types as types
import pytest

from pegboard import Pegboard
from pegboard.kinds.mcp import resource_watch
from pegboard.surfaces.mcp import resource_updates
from tests.board_surfaces import KEY
from tests.surfaces.mcp.raw_upstreams import RESOURCE, Upstreams
from tests.surfaces.mcp.requesting_upstreams import SECRET, answered, open_session, take
from tests.surfaces.mcp.rpc import STATELESS, RpcClient, client_of, error
from tests.surfaces.mcp.test_mcp_clients import MODES, over_stdio
from tests.surfaces.mcp.test_mcp_streams import EventReader, opened, session_stream, until_true
from tests.surfaces.rest.clients import good, mock, new_user
from tests.waiting import until

pytestmark = pytest.mark.anyio
ERAS = ("legacy", "modern")
UPDATED = "notifications/resources/updated"
TOOLS = ("ask", "touch", "grow", "log", "pid", "stop", "sample", "roots", "count_roots_changes", "flood")
PROMPTS, RESOURCES = "notifications/prompts/list_changed", "notifications/resources/list_changed"


@asynccontextmanager
async def subscribed(rpc: RpcClient, *uris: str, **flags: bool) -> AsyncIterator[EventReader]:
    """A stream of notifications, in either revision; the client is subscribed to these resources."""
    if not rpc.is_stateless:
        for uri in uris:
            assert await rpc.result("resources/subscribe", {"uri": uri}) == {}
        async with session_stream(rpc) as stream:
            yield stream
        return
    wanted: dict[str, Any] = {**flags, **({"resourceSubscriptions": list(uris)} if uris else {})}
    async with opened(rpc, rpc.message("subscriptions/listen", {"notifications": wanted}, "s")) as stream:
        acknowledged = await stream.message()
        assert acknowledged["params"]["notifications"] == wanted
        yield stream


async def touch(admin: httpx.AsyncClient, uri: str) -> None:
    """Let the server report a change of a resource."""
    good(await admin.post("/v1/tools/touch/call", json={"uri": uri}))


@pytest.mark.parametrize("era", ERAS)
async def test_updates_of_subscribed_resources_reach_the_client(rpc: RpcClient, era: str) -> None:
    await take(rpc.http, era)
    async with subscribed(rpc, "note://0") as stream:
        await touch(rpc.http, "note://1")
        await touch(rpc.http, "note://0")
        message = await stream.message()
        assert message["method"] == UPDATED
        assert message["params"]["uri"] == "note://0"
        if rpc.is_stateless:
            assert message["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"] == "s"


async def test_one_subscription_of_the_server_serves_all_clients(admin: httpx.AsyncClient) -> None:
    await take(admin, "legacy")
    clients = [await open_session(admin, {}) for _ in range(2)]
    for client in clients:
        await client.result("resources/subscribe", {"uri": "note://0"})
        await client.result("resources/subscribe", {"uri": "note://0"})
    assert await answered(clients[0], "touch", uri="note://0") == ["note://0"]
    async with session_stream(clients[0]) as first, session_stream(clients[1]) as second:
        await touch(admin, "note://0")
        for stream in (first, second):
            assert (await stream.message())["method"] == UPDATED
        await clients[0].result("resources/unsubscribe", {"uri": "note://0"})
        assert await answered(clients[0], "touch", uri="note://0") == ["note://0"]
        assert (await second.message())["method"] == UPDATED
        await clients[1].http.delete("/mcp", headers=clients[1].headers())

        async def is_over() -> bool:
            return bool(await answered(clients[0], "touch", uri="note://0") == [])

        await until(is_over)


async def test_a_subscription_ends_with_its_stream(admin: httpx.AsyncClient) -> None:
    await take(admin, "legacy")
    rpc = RpcClient(admin, STATELESS)
    async with subscribed(rpc, "note://0"):
        assert await answered(rpc, "touch", uri="x://") == ["note://0"]

    async def is_over() -> bool:
        return bool(await answered(rpc, "touch", uri="x://") == [])

    await until(is_over)


async def test_resources_of_several_servers_are_subscribed_to_by_their_listed_uri(rpc: RpcClient) -> None:
    await take(rpc.http, "legacy")
    await take(rpc.http, "both", prefix="other_")
    uris = [entry["uri"] for entry in (await rpc.result("resources/list"))["resources"]]
    assert len(uris) == 2
    assert all(uri.startswith("pegboard://") for uri in uris)
    async with subscribed(rpc, *uris) as stream:
        await touch(rpc.http, "note://0")
        first = (await stream.message())["params"]["uri"]
        good(await rpc.http.post("/v1/tools/other_touch/call", json={"uri": "note://0"}))
        second = (await stream.message())["params"]["uri"]
        assert {first, second} == set(uris)


async def test_a_resource_that_cannot_be_subscribed_to_is_refused(rpc: RpcClient) -> None:
    await take(rpc.http, "legacy")
    await take(rpc.http, "modern", prefix="other_")
    unknown = "file:///none"
    if rpc.is_stateless:
        wanted = {"resourceSubscriptions": [unknown, 5]}
        message = rpc.message("subscriptions/listen", {"notifications": wanted}, "s")
        error(await rpc.post(message), 400, -32602, id="s")
        message = rpc.message("subscriptions/listen", {"notifications": {"resourceSubscriptions": [unknown]}}, "s")
        async with opened(rpc, message) as stream:
            assert (await stream.message())["params"]["notifications"] == {"resourceSubscriptions": []}
    else:
        assert error(await rpc.send("resources/subscribe", {"uri": unknown}), 200, -32002)["data"] == {"uri": unknown}
        error(await rpc.send("resources/subscribe", {"uri": 5}), 200, -32602)
        error(await rpc.send("resources/unsubscribe", {}), 200, -32602)
        assert await rpc.result("resources/unsubscribe", {"uri": unknown}) == {}
    await rpc.check_alive()


async def test_the_number_of_subscriptions_is_limited(rpc: RpcClient, monkeypatch: pytest.MonkeyPatch) -> None:
    await take(rpc.http, "legacy")
    for module, name in ((resource_updates, "MAX_SUBSCRIPTIONS"), (resource_watch, "MAX_RESOURCES")):
        with monkeypatch.context() as patch:
            patch.setattr(module, name, 2)
            if module is resource_updates:
                monkeypatch.setattr("pegboard.surfaces.mcp.peer_methods.MAX_SUBSCRIPTIONS", 2)
            if rpc.is_stateless and module is resource_updates:
                wanted = {"resourceSubscriptions": ["note://0", "note://0/a", "note://0/b"]}
                message = rpc.message("subscriptions/listen", {"notifications": wanted}, "s")
                error(await rpc.post(message), 400, -32602, id="s")
            elif not rpc.is_stateless:
                for uri in ("note://0", "note://0/a"):
                    await rpc.result("resources/subscribe", {"uri": uri})
                assert "error" in (await rpc.send("resources/subscribe", {"uri": "note://0/b"})).json()
    await rpc.check_alive()


@pytest.mark.parametrize("era", ERAS)
async def test_a_lost_session_is_opened_and_subscribed_again(
    rpc: RpcClient, era: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resource_watch, "REOPEN_SECONDS", 0.05)
    await take(rpc.http, era)
    async with subscribed(rpc, "note://0") as stream:
        await rpc.http.post("/v1/tools/stop/call", json={})
        # The list may have changed in between.
        assert (await stream.message())["params"]["uri"] == "note://0"
        await touch(rpc.http, "note://0")
        assert (await stream.message())["params"]["uri"] == "note://0"


async def test_a_caller_who_loses_the_server_gets_no_updates(rpc: RpcClient, url: str) -> None:
    await take(rpc.http, "legacy")
    for tool in TOOLS:
        good(await rpc.http.patch(f"/v1/tools/{tool}", json={"is_public": True}))
    _, key = await new_user(rpc.http, "ann")
    async with client_of(url, key) as http:
        ann = RpcClient(http, rpc.revision)
        await ann.start()
        async with subscribed(ann, "note://0", resourcesListChanged=True) as stream:
            await touch(rpc.http, "note://0")
            assert (await stream.message())["method"] == UPDATED
            for tool in TOOLS:
                good(await rpc.http.patch(f"/v1/tools/{tool}", json={"is_public": False}))
            while (await stream.message())["method"] != RESOURCES:
                pass
            await touch(rpc.http, "note://0")
            good(await rpc.http.patch("/v1/tools/touch", json={"is_public": True}))
            seen = []
            while RESOURCES not in seen:
                seen.append((await stream.message())["method"])
            assert UPDATED not in seen


@pytest.mark.parametrize("era", ERAS)
async def test_changes_of_prompts_and_resources_reach_open_streams_at_once(rpc: RpcClient, era: str) -> None:
    await take(rpc.http, era, follow=True)
    assert len((await rpc.result("prompts/list"))["prompts"]) == 1
    async with subscribed(rpc, promptsListChanged=True, resourcesListChanged=True) as stream:
        assert len((await rpc.result("resources/list"))["resources"]) == 1
        good(await rpc.http.post("/v1/tools/grow/call", json={}))
        assert {(await stream.message())["method"] for _ in range(2)} == {PROMPTS, RESOURCES}
        assert len((await rpc.result("prompts/list"))["prompts"]) == 2
        assert len((await rpc.result("resources/list"))["resources"]) == 2


async def test_a_resource_is_returned_while_the_lists_of_its_server_are_read(board: Pegboard, rpc: RpcClient) -> None:
    await take(rpc.http, "both")
    (peer,) = board.snapshot.upstreams.list_peers()
    await board.imports.monitor.expire(peer)
    end = peer.watch()  # this begins to read the lists
    assert board.imports.monitor.find_status(peer).is_reading
    assert (await rpc.result("resources/read", {"uri": "note://0"}))["contents"]
    end()


async def test_a_new_prompt_of_a_server_that_is_not_followed_is_not_listed(rpc: RpcClient) -> None:
    await take(rpc.http, "both")
    async with subscribed(rpc, toolsListChanged=True, promptsListChanged=True) as stream:
        good(await rpc.http.post("/v1/tools/grow/call", json={}))
        good(await rpc.http.post("/v1/tools", json=mock("more")), 201)
        assert (await stream.message())["method"] == "notifications/tools/list_changed"
        assert len((await rpc.result("prompts/list"))["prompts"]) == 1


async def test_importing_and_removing_a_server_changes_the_lists_of_its_callers_only(rpc: RpcClient, url: str) -> None:
    _, key = await new_user(rpc.http, "ann")
    async with client_of(url, key) as http:
        ann = RpcClient(http, rpc.revision)
        await ann.start()
        flags = {"toolsListChanged": True, "promptsListChanged": True, "resourcesListChanged": True}
        async with subscribed(rpc, **flags) as stream, subscribed(ann, **flags) as other:
            await take(rpc.http, "both")
            seen = {(await stream.message())["method"] for _ in range(3)}
            assert seen == {PROMPTS, RESOURCES, "notifications/tools/list_changed"}
            (upstream,) = good(await rpc.http.get("/v1/upstreams"))["items"]
            good(await rpc.http.delete(f"/v1/upstreams/{upstream['id']}?tools=true"), 204)
            seen = set()
            while seen != {PROMPTS, RESOURCES, "notifications/tools/list_changed"}:
                seen.add((await stream.message())["method"])
            good(await rpc.http.post("/v1/tools", json=mock("theirs", is_public=True)), 201)
            assert (await other.message())["method"] == "notifications/tools/list_changed"


async def test_a_stream_gets_only_what_it_asked_for(admin: httpx.AsyncClient) -> None:
    await take(admin, "both", follow=True)
    rpc = RpcClient(admin, STATELESS)
    async with subscribed(rpc, promptsListChanged=True) as prompts, subscribed(rpc, toolsListChanged=True) as tools:
        good(await admin.post("/v1/tools/grow/call", json={}))
        assert (await prompts.message())["method"] == PROMPTS
        good(await admin.post("/v1/tools", json=mock("more")), 201)
        assert (await tools.message())["method"] == "notifications/tools/list_changed"
        good(await admin.post("/v1/tools/grow/call", json={}))
        assert (await prompts.message())["method"] == PROMPTS


@pytest.mark.parametrize("mode", MODES)
async def test_updates_and_changes_pass_the_relay(admin: httpx.AsyncClient, url: str, mode: str) -> None:
    await take(admin, "both", follow=True)
    seen: asyncio.Queue[str] = asyncio.Queue()

    async def on_message(message: Any) -> None:
        seen.put_nowait(type(message).__name__)

    callbacks = {"message_handler": on_message}
    async with over_stdio(mode, PEGBOARD_URL=url, PEGBOARD_KEY=KEY, callbacks=callbacks) as client:
        await client.list_prompts()
        if mode == "legacy":
            subscribing = types.SubscribeRequest(params=types.SubscribeRequestParams(uri="note://0"))
            await client.session.send_request(subscribing, types.EmptyResult)
            await touch(admin, "note://0")
            good(await admin.post("/v1/tools/grow/call", json={}))
            async with asyncio.timeout(15):
                names = {await seen.get() for _ in range(3)}
        else:
            async with client.listen(prompts_list_changed=True, resource_subscriptions=["note://0"]) as changes:
                await touch(admin, "note://0")
                good(await admin.post("/v1/tools/grow/call", json={}))
                async with asyncio.timeout(15):
                    names = {type(await anext(changes)).__name__ for _ in range(2)}
        assert {name.removesuffix("Notification") for name in names} >= {"ResourceUpdated"}


async def test_nothing_is_left_when_the_streams_have_ended(board: Pegboard, rpc: RpcClient) -> None:
    await take(rpc.http, "both")
    async with subscribed(rpc, "note://0", promptsListChanged=True):
        pass
    if not rpc.is_stateless:
        await rpc.http.delete("/mcp", headers=rpc.headers())
    names = ("pegboard-mcp-resources", "pegboard-mcp-resources-wait", "pegboard-mcp-resource-stream")

    def is_over() -> bool:
        return not [task for task in asyncio.all_tasks() if task.get_name() in names]

    await until_true(is_over)


async def test_a_stream_opens_although_one_of_its_resources_was_changed_by_its_server(
    admin: httpx.AsyncClient, tmp_path: Path
) -> None:
    upstreams = Upstreams(tmp_path, admin)
    file = await upstreams.take("one")
    upstreams.write(file, {"resources/list": {"resources": [{**RESOURCE, "description": "Other."}]}})
    rpc = RpcClient(admin, STATELESS)
    wanted = {"toolsListChanged": True, "resourceSubscriptions": [RESOURCE["uri"]]}
    async with opened(rpc, rpc.message("subscriptions/listen", {"notifications": wanted}, "s")) as stream:
        acknowledged = await stream.message()
        assert acknowledged["params"]["notifications"] == {"toolsListChanged": True, "resourceSubscriptions": []}


async def test_credentials_in_the_uri_of_an_update_are_masked(rpc: RpcClient) -> None:
    await take(rpc.http, "legacy")
    async with subscribed(rpc, "note://0") as stream:
        await touch(rpc.http, f"note://0/{SECRET}")
        assert (await stream.message())["params"]["uri"] == "note://0/********"
