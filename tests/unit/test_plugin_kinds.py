"""Kinds of tools that installed packages add."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest

from pegboard import Pegboard, Settings, ToolCreate
from pegboard.kinds.catalog import find_kind, load_kinds
from pegboard.model.api_errors import Invalid
from pegboard.testing import calls_of, memory_board
from tests.board_surfaces import KEY
from tests.surfaces.cli.run_program import Program
from tests.surfaces.rest.clients import client, good, problem

WEATHER = '''
from typing import Any

from pegboard.extend import (
    ExecutionFailed, Fault, KindSpec, Model, OpenTool, Prepared, ReadyCall, Registration, Services, read_config
)


class WeatherConfig(Model):
    """Where the weather comes from."""

    station: str
    url: str | None = None
    headers: dict[str, str] = {}


class WeatherExecutor:
    def __init__(self, services: Services) -> None:
        self.max_bytes = services.reach.max_bytes

    def prepare(self, tool: OpenTool) -> Prepared:
        config = read_config(WeatherConfig, tool.config)

        async def run(call: ReadyCall) -> Any:
            if call.arguments["city"] == "Atlantis":
                raise ExecutionFailed("no such city")
            return {"city": call.arguments["city"], "station": config.station, "token": config.headers.get("token")}

        return Prepared(run)

    async def close(self) -> None:
        pass


def check(registration: Registration) -> list[Fault]:
    if registration.config.station == "moon":
        return [Fault("config.station", "there is no weather on the moon")]
    return []


def may_register(tool, caller, rules):
    return None if caller.is_admin else "Only admins may register weather tools"


WEATHER = KindSpec(
    "weather",
    WeatherConfig,
    WeatherExecutor,
    default_timeout=7.0,
    url_fields=("url",),
    derive_schema=lambda config: {
        "type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"],
        "additionalProperties": False,
    },
    check=check,
    may_register=may_register,
)
BAD_NAME = KindSpec("Bad Name", WeatherConfig, WeatherExecutor)


class Printed:
    def prepare(self, tool: OpenTool) -> Prepared:
        async def run(call: ReadyCall) -> Any:
            return {"printed": tool.config["mock_response"]}

        return Prepared(run)

    async def close(self) -> None:
        pass
'''
OSLO = {"name": "oslo", "tool_type": "weather", "config": {"station": "blindern"}, "keep_arguments": True}
UNKNOWN = "must be one of: 'http', 'mcp', 'python', 'shell', 'builtin', 'mock', 'internal' or 'table'"


def install(folder: Path, entry_points: str) -> Path:
    """An installed package with these entry points."""
    (folder / "weather_tools.py").write_text(WEATHER)
    info = folder / "weather_tools-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: weather-tools\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(entry_points)
    return folder


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An installed package with a kind."""
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(str(install(folder, "[pegboard.kinds]\nany = weather_tools:WEATHER\n")))
    monkeypatch.delitem(sys.modules, "weather_tools", raising=False)


@pytest.mark.usefixtures("package")
class TestInstalled:
    async def test_it_is_registered_listed_called_and_journalled_over_rest(self) -> None:
        async with memory_board(admin_key=KEY) as board, client(board) as rest:
            made = good(await rest.post("/v1/tools", json=OSLO), 201)
            assert (made["tool_type"], made["input_schema"]["required"]) == ("weather", ["city"])
            for path in ("/v1/tools?tool_type=weather", "/v1/tools?q=oslo"):
                assert [item["tool_type"] for item in good(await rest.get(path))["items"]] == ["weather"]
            assert good(await rest.get("/v1/tools?tool_type=mock"))["items"] == []
            answer = good(await rest.post("/v1/tools/oslo/call", json={"city": "Oslo"}))
            assert answer["result"] == {"city": "Oslo", "station": "blindern", "token": None}
            assert not good(await rest.post("/v1/tools/oslo/call", json={"city": "Atlantis"}))["success"]
            rows = good(await rest.get("/v1/executions?tool=oslo"))["items"]
            assert [(row["kind"], row["status"]) for row in rows] == [("weather", "failed"), ("weather", "succeeded")]

    async def test_its_config_is_validated_like_any_other(self) -> None:
        async with memory_board(admin_key=KEY) as board, client(board) as rest:
            for config, field, message in (
                ({"station": "x", "windy": 1}, "config.windy", "unknown key"),
                ({"station": "moon"}, "config.station", "there is no weather on the moon"),
            ):
                [found] = problem(await rest.post("/v1/tools", json={**OSLO, "config": config}), 422)["errors"]
                assert found["field"] == field
                assert message in found["message"]
            inner = {"station": "x", "url": "http://127.0.0.1/"}
            [found] = problem(await rest.post("/v1/tools", json={**OSLO, "config": inner}), 422)["errors"]
            assert found["field"] == "config.url"
            [found] = problem(
                await rest.post("/v1/tools", json={**OSLO, "tool_type": "magic", "input_schema": {}}), 422
            )["errors"]
            assert found["field"] == "tool_type"
            assert "'internal', 'table' or 'weather'" in found["message"]

    async def test_its_arguments_are_validated_and_its_secrets_are_encrypted(self) -> None:
        async with memory_board() as board:
            await board.add({**OSLO, "config": {"station": "x", "headers": {"token": "hush"}}})
            tool = await board.tools.get("oslo", board.admin)
            assert "hush" not in str(tool.config)
            assert (await board.call("oslo", {"city": "Oslo"})).output["token"] == "hush"
            refused = await board.call("oslo", {"city": 1})
            assert refused.problem is not None
            assert refused.problem.code == "invalid_type"
            compiled = board.snapshot.find("oslo")
            assert compiled is not None
            assert compiled.timeout == 7.0

    async def test_members_register_what_it_lets_them(self) -> None:
        async with memory_board(admin_key=KEY) as board, client(board) as rest:
            user = good(await rest.post("/v1/users", json={"name": "ada", "role": "member"}), 201)
            key = good(await rest.post(f"/v1/users/{user['id']}/keys", json={"name": "k"}), 201)["key"]
            async with client(board, key) as ada:
                refused = problem(await ada.post("/v1/tools", json=OSLO), 403)
            assert refused["detail"] == "Only admins may register weather tools"

    async def test_the_openapi_document_has_it(self) -> None:
        async with memory_board(admin_key=KEY) as board, client(board) as rest:
            schemas = good(await rest.get("/openapi.json"))["components"]["schemas"]
            assert schemas["Kind"]["enum"][-1] == "weather"
            assert schemas["Kind"]["x-configs"] == {"weather": {"$ref": "#/components/schemas/Config_weather"}}
            assert set(schemas["Config_weather"]["properties"]) == {"station", "url", "headers"}
            assert schemas["ToolCreate"]["properties"]["tool_type"]["$ref"] == "#/components/schemas/Kind"

    def test_the_command_line_registers_lists_and_calls_it(self, tmp_path: Path) -> None:
        program = Program({"PEGBOARD_HOME": str(tmp_path / "home")})
        file = tmp_path / "oslo.yaml"
        file.write_text("name: oslo\ntool_type: weather\nconfig: {station: blindern}\n")
        program.run("tools", "add", str(file), "--local").done()
        assert "weather" in program.run("tools", "list", "--type", "weather", "--local").done().out
        assert "blindern" in program.run("call", "oslo", "city=Oslo", "--local").done().out
        assert "of installed packages: weather" in program.run("doctor").out
        assert program.run("audit", "list", "--local", "--json").done().json["items"][0]["kind"] == "weather"

    def test_a_stored_tool_outlives_its_package(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        settings = Settings(home=tmp_path / "home", admin_key=KEY)
        with_package, without = [*sys.path], sys.path[1:]

        async def register() -> None:
            async with Pegboard.open(settings=settings) as board:
                await board.add(OSLO)

        async def miss() -> None:
            async with Pegboard.open(settings=settings) as board, client(board) as rest:
                listed = good(await rest.get("/v1/tools?q=oslo"))["items"]
                assert [item["tool_type"] for item in listed] == ["weather"]
                result = await board.call("oslo", {"city": "Oslo"})
                assert result.problem is not None
                assert (result.problem.type, result.problem.code) == ("CONFIG_ERROR", "misconfigured")
                assert "of the kind 'weather'" in result.problem.message
                assert "Install the package" in result.problem.message
                assert [row.kind for row in await calls_of(board, "oslo")] == ["weather"]
                good(await rest.patch("/v1/tools/oslo", json={"is_active": False}))
                refused = problem(await rest.patch("/v1/tools/oslo", json={"config": {"station": "y"}}), 422)
                assert "of the kind 'weather'" in refused["errors"][0]["message"]
                problem(await rest.post("/v1/tools", json={**OSLO, "name": "other"}), 422)
                good(await rest.patch("/v1/tools/oslo", json={"is_active": True}))

        async def find_again() -> None:
            async with Pegboard.open(settings=settings) as board:
                assert (await board.call("oslo", {"city": "Oslo"})).success

        asyncio.run(register())
        monkeypatch.setattr(sys, "path", without)
        asyncio.run(miss())
        monkeypatch.setattr(sys, "path", with_package)
        asyncio.run(find_again())


def test_without_a_package_only_built_in_kinds_are_known() -> None:
    assert "weather" not in load_kinds()
    missing = find_kind("weather")
    assert missing.is_missing
    # So another user cannot change the schema of a tool while the code that gets the arguments is not known.
    assert missing.runs_own_code
    with pytest.raises(Invalid) as refused:
        asyncio.run(_add(OSLO))
    assert UNKNOWN in str([fault.message for fault in refused.value.faults])
    with pytest.raises(ValueError, match="tool_type"):
        ToolCreate.model_validate({**OSLO, "input_schema": {}})


async def _add(definition: dict[str, Any]) -> None:
    async with memory_board() as board:
        await board.add(definition)


def test_a_kind_without_a_good_name_is_logged_and_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    points = "[pegboard.kinds]\nbad = weather_tools:BAD_NAME\nnew = weather_tools:Printed\n"
    monkeypatch.syspath_prepend(str(install(tmp_path, points)))
    monkeypatch.delitem(sys.modules, "weather_tools", raising=False)
    assert "Bad Name" not in load_kinds()
    assert caplog.text.count("plugin_left_out") == 2


@pytest.mark.parametrize("group", ["pegboard.kinds", "pegboard.executors"])
async def test_an_executor_of_a_package_still_replaces_that_of_a_kind_and_warns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, group: str
) -> None:
    monkeypatch.syspath_prepend(str(install(tmp_path, f"[{group}]\nmock = weather_tools:Printed\n")))
    monkeypatch.delitem(sys.modules, "weather_tools", raising=False)
    tool = {"name": "m", "tool_type": "mock", "config": {"mock_response": 1}, "input_schema": {}}
    with pytest.warns(DeprecationWarning, match="replaces the executor of the kind 'mock'"):
        async with memory_board([tool]) as board:
            assert (await board.call("m")).output == {"printed": 1}
