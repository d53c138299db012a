"""Makes the users, agents, tools and calls of `pegboard demo traffic` through the REST API."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

from pegboard.surfaces.cli import demo_server
from pegboard.surfaces.cli.api_client import ApiClient, build_path, open_client
from pegboard.surfaces.cli.demo_tools import (
    AGENT_DESCRIPTION,
    ARTICLES,
    CARRIER_PATCH,
    CHAIN,
    CHAIN_TOOL,
    CITIES,
    DEMO_TAG,
    KEY_NAME,
    ORDERS,
    PREFIX,
    SERVER_NAME,
    THREAD_TITLE,
    TOOLS,
    USERS,
)
from pegboard.surfaces.cli.exit_codes import RequestRefused
from pegboard.surfaces.cli.session import CliSession

Arguments = dict[str, Any]

_KEY_LIFETIME = timedelta(hours=1)
# So that calls are recorded as those of programs, which they stand for.
_AS_PROGRAM = {"X-Pegboard-Surface": "rest"}
_DIALECTS = ("plain", "openai", "anthropic", "gemini")


@dataclass
class DemoReport:
    """What was made, for the person who ran the command."""

    users: list[str] = field(default_factory=list)
    agents: list[str] = field(default_factory=list)
    tools: list[str] = field(default_factory=list)
    drifted: list[str] = field(default_factory=list)
    threads: list[str] = field(default_factory=list)
    calls: Counter[str] = field(default_factory=Counter)
    left_out: list[str] = field(default_factory=list)

    @property
    def data(self) -> dict[str, Any]:
        """The report for --json."""
        return {**vars(self), "calls": dict(self.calls)}

    def count(self, answer: Any, *, is_repeat: bool) -> None:
        """Count one call by how it ended: succeeded, with its fallback, as a repeat, or the code of its error."""
        if is_repeat:
            self.calls["repeated"] += 1
        elif not answer["success"]:
            self.calls[answer["error_details"]["code"]] += 1
        else:
            self.calls["fallback" if answer.get("fallback") else "succeeded"] += 1


class DemoTraffic:
    """One run of the command; the same seed makes the same calls."""

    def __init__(self, session: CliSession, admin: ApiClient, *, changed: Path, seed: int, calls: int) -> None:
        self._session = session
        self._admin = admin
        self._changed = changed
        self._random = Random(seed)  # noqa: S311 -- chooses sample calls, no secrets
        self._calls = calls
        self._clients: list[ApiClient] = [admin]
        self._report = DemoReport()
        # Distinguishes the idempotency keys of this run from those of earlier ones.
        self._run = f"demo-{seed}-{datetime.now(UTC):%Y%m%d%H%M%S%f}"

    async def make(self, advance: Callable[..., None]) -> DemoReport:
        """Make everything; call `advance(1)` after each call."""
        await self._check_admin()
        await self._add_tools()
        has_server = await self._import_server()
        async with AsyncExitStack() as keys:
            for user, agents in USERS.items():
                await self._add_user(keys, user, agents, has_server=has_server)
            await self._make_thread()
            await self._run_chains()
            cases = self._list_cases(has_server=has_server)
            for number in range(self._calls):
                if has_server and number == self._calls // 2:
                    await self._change_server()
                await self._make_call(number, cases)
                advance(1)
        return self._report

    async def _check_admin(self) -> None:
        me = (await self._admin.get(build_path("me"))).data
        if me["user"]["role"] != "admin" or me["agent_id"] is not None:
            raise RequestRefused("Demo traffic adds users, so it needs the key of an admin", status=403)

    async def _add_tools(self) -> None:
        present = await find_demo_tools(self._admin)
        for tool in TOOLS:
            if tool["name"] not in present:
                await self._admin.post(build_path("tools"), tool)
        if CHAIN_TOOL["name"] not in present:
            await self._admin.post(build_path("chains"), CHAIN_TOOL)
        self._report.tools += [*(tool["name"] for tool in TOOLS), CHAIN_TOOL["name"]]

    async def _import_server(self) -> bool:
        """Import the MCP server in its first version; return False, with a line in the report, if that is refused."""
        self._changed.unlink(missing_ok=True)
        try:
            report = await self._import(accept=True)
            await self._admin.patch(build_path("tools", f"{PREFIX}carrier_cost"), CARRIER_PATCH)
        except RequestRefused as refused:
            self._report.left_out.append(
                f"the tools of an MCP server and their drift: the server of the board, which must be on this machine, "
                f"could not start {demo_server.__file__}: {refused.message}"
            )
            return False
        self._report.tools += [name for word in ("created", "updated", "unchanged") for name in report[word]]
        return True

    async def _change_server(self) -> None:
        """Let the MCP server list its later definitions, and import it again, which marks what changed as drifted."""
        self._changed.parent.mkdir(parents=True, exist_ok=True)
        self._changed.touch()
        self._report.drifted += (await self._import(accept=False))["drifted"]

    async def _import(self, *, accept: bool) -> Any:
        body = {
            "command": [sys.executable, "-I", demo_server.__file__, str(self._changed)],
            "name": SERVER_NAME,
            "prefix": PREFIX,
            "is_public": True,
            "accept": accept,
        }
        return (await self._admin.post(build_path("imports", "mcp"), body, patient=True)).data

    async def _add_user(
        self, keys: AsyncExitStack, name: str, agents: dict[str, tuple[str, ...]], *, has_server: bool
    ) -> None:
        """Add a user with agents, unless they exist, and open a client with a key of each until `keys` is closed."""
        users = (await self._admin.pages(build_path("users"))).data["items"]
        user_id = next((user["id"] for user in users if user["name"] == name), None)
        if user_id is None:
            user_id = (await self._admin.post(build_path("users"), {"name": name, "role": "member"})).data["id"]
        self._report.users.append(name)
        own = await keys.enter_async_context(self._open_key(user_id, None))
        present = {agent["name"]: agent["id"] for agent in (await own.pages(build_path("agents"))).data["items"]}
        for agent, tools in agents.items():
            imported = [f"{PREFIX}stock", f"{PREFIX}pack"] if has_server else []
            agent_id = present.get(agent)
            if agent_id is None:
                body = {"name": agent, "description": AGENT_DESCRIPTION, "tools": [*tools, *imported]}
                agent_id = (await own.post(build_path("agents"), body)).data["id"]
            self._report.agents.append(agent)
            self._clients += [own, await keys.enter_async_context(self._open_key(user_id, agent_id))]

    @asynccontextmanager
    async def _open_key(self, user_id: str, agent_id: str | None) -> AsyncIterator[ApiClient]:
        """Yield a client with a key that is revoked afterwards, and expires if this process is killed before."""
        expires = (datetime.now(UTC) + _KEY_LIFETIME).isoformat()
        body = {"name": KEY_NAME, "agent_id": agent_id, "expires_at": expires}
        made = (await self._admin.post(build_path("users", user_id, "keys"), body)).data
        try:
            async with open_client(replace(self._session, key=made["key"])) as client:
                yield client
        finally:
            await self._admin.delete(build_path("users", user_id, "keys", made["id"]))

    async def _make_thread(self) -> None:
        """Store a conversation in which a model calls two tools at once, in the format of Anthropic's messages."""
        thread = (await self._admin.post(build_path("threads"), {"title": THREAD_TITLE})).data["id"]
        path = build_path("threads", thread, "messages")
        await self._admin.post(path, {"role": "user", "content": "Where is my order 1042, and can I get 10 % back?"})
        calls = (("shop_find_order", {"order": "1042"}), ("shop_total", {"expression": "79.5 * 0.1"}))
        uses = [
            {"type": "tool_use", "id": f"toolu_{place}", "name": name, "input": arguments}
            for place, (name, arguments) in enumerate(calls)
        ]
        text = {"type": "text", "text": "I look up the order and compute the discount."}
        await self._admin.send(
            "POST",
            build_path("calls"),
            params={"thread": thread},
            body=encode_json({"role": "assistant", "content": [text, *uses]}),
            headers=_AS_PROGRAM,
        )
        answer = "Order 1042 is packed and goes to Lisbon. 10 % of its price are 7.95 euros."
        await self._admin.post(path, {"role": "assistant", "content": answer})
        self._report.threads.append(thread)
        self._report.calls["in the thread"] += len(calls)

    async def _run_chains(self) -> None:
        """Run a chain of calls twice: with an order that exists, and with one whose price cannot be computed."""
        for order, pieces in (("1043", 2), ("1077", "x")):
            chain = {**CHAIN, "input": {"order": order, "pieces": pieces}}
            outcome = await self._admin.post(build_path("chains"), chain, patient=True)
            self._report.calls["in chains"] += sum(len(step["run_ids"]) for step in outcome.data["steps"])

    def _list_cases(self, *, has_server: bool) -> list[tuple[int, str, Callable[[Random], Arguments]]]:
        """Return the calls to choose from: a weight, the tool, and its arguments."""
        cases: list[tuple[int, str, Callable[[Random], Arguments]]] = [
            (30, "find_order", lambda random: {"order": random.choice(ORDERS)}),
            (15, "total", lambda random: {"expression": f"{random.randint(1, 9)} * 79.5"}),
            (10, "answer_time", lambda random: {"city": random.choice(CITIES)}),
            (4, "order_summary", lambda random: {"order": random.choice(ORDERS), "pieces": random.randint(1, 5)}),
            (6, "refund", lambda random: {"order": random.choice(ORDERS), "reason": "damaged"}),
            (2, "refund", lambda random: {"order": random.choice(ORDERS), "reason": "unhappy"}),
            (3, "find_order", lambda _random: {}),
            (3, "total", lambda random: {"expression": f"{random.randint(1, 9)} / 0"}),
            (2, "notify", lambda random: {"order": random.choice(ORDERS), "text": "Your order was sent."}),
        ]
        if has_server:
            cases += [
                (12, "stock", lambda random: {"sku": random.choice(ARTICLES)}),
                (3, "stock", lambda _random: {"sku": "LAMP-3"}),
                (8, "price", lambda random: {"sku": random.choice(ARTICLES)}),
                (4, "pack", lambda random: {"order": random.choice(ORDERS)}),
                (3, "carrier_cost", lambda _random: {"country": "Iceland"}),
            ]
        return cases

    async def _make_call(self, number: int, cases: list[tuple[int, str, Callable[[Random], Arguments]]]) -> None:
        client = self._random.choice(self._clients)
        _, tool, make_arguments = self._random.choices(cases, [weight for weight, *_ in cases])[0]
        name, arguments = f"{PREFIX}{tool}", make_arguments(self._random)
        dialect = self._random.choice(_DIALECTS)
        # Some callers do not know whether their call arrived, and send it again.
        times = 2 if self._random.random() < 0.05 else 1
        headers = {**_AS_PROGRAM, **({"Idempotency-Key": f"{self._run}-{number}"} if times > 1 else {})}
        for _ in range(times):
            if dialect == "plain":
                path, body, params = build_path("tools", name, "call"), arguments, None
            else:
                path, body = build_path("calls"), build_message(dialect, f"call_{number}", name, arguments)
                params = {"as": "plain"}
            reply = await client.send("POST", path, params=params, body=encode_json(body), headers=headers)
            answer = reply.data[0] if isinstance(reply.data, list) else reply.data
            self._report.count(answer, is_repeat=reply.headers.get("idempotent-replayed") == "true")


def build_message(dialect: str, call_id: str, name: str, arguments: Arguments) -> Any:
    """Return the message in which a model of OpenAI, Anthropic or Google makes this call."""
    if dialect == "openai":
        function = {"name": name, "arguments": json.dumps(arguments)}
        return {"role": "assistant", "tool_calls": [{"id": call_id, "type": "function", "function": function}]}
    if dialect == "anthropic":
        use = {"type": "tool_use", "id": call_id, "name": name, "input": arguments}
        return {"role": "assistant", "content": [use]}
    return {"role": "model", "parts": [{"functionCall": {"name": name, "args": arguments}}]}


def encode_json(value: Any) -> bytes:
    """Return the value as JSON."""
    return json.dumps(value).encode()


async def find_demo_tools(admin: ApiClient) -> set[str]:
    """Return the names of the tools that an earlier run has made, without those of its MCP server."""
    found = await admin.pages(build_path("tools"), {"tag": DEMO_TAG})
    return {tool["name"] for tool in found.data["items"]}


async def remove_demo(admin: ApiClient) -> DemoReport:
    """Remove what every run has made, except the rows in the journal, and return what was removed."""
    report = DemoReport()
    for upstream in (await admin.pages(build_path("upstreams"))).data["items"]:
        if demo_server.__file__ in (upstream["command"] or ()):
            tools = (await admin.get(build_path("upstreams", upstream["id"]))).data["tools"]
            report.tools += [tool["name"] for tool in tools]
            await admin.send("DELETE", build_path("upstreams", upstream["id"]), params={"tools": True})
    for agent in (await admin.pages(build_path("agents"))).data["items"]:
        if agent["description"] == AGENT_DESCRIPTION:
            await admin.delete(build_path("agents", agent["id"]))
            report.agents.append(agent["name"])
    for user in (await admin.pages(build_path("users"))).data["items"]:
        if user["name"] in USERS:
            await admin.delete(build_path("users", user["id"]))
            report.users.append(user["name"])
    for tool in sorted(await find_demo_tools(admin)):
        await admin.delete(build_path("tools", tool))
        report.tools.append(tool)
    for thread in (await admin.pages(build_path("threads"))).data["items"]:
        if thread["title"] == THREAD_TITLE:
            await admin.delete(build_path("threads", thread["id"]))
            report.threads.append(thread["id"])
    return report
