"""The API's description: valid, correct, and usable by a client generator whose client works."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import anyio.to_thread
import httpx
import orjson
import pytest

from pegboard import Pegboard
from pegboard.registry.tool_create import ToolCreate
from pegboard.surfaces.rest.app import METHODS_BY_PATH
from tests.board_surfaces import KEY, served
from tests.surfaces.rest.clients import client, good

GENERATOR = "from openapi_python_client.cli import app; app()"


@pytest.fixture
async def described(board: Pegboard) -> dict[str, Any]:
    """The description, which needs no key."""
    async with client(board, key=None) as no_one:
        found: dict[str, Any] = good(await no_one.get("/openapi.json"))
        return found


async def test_it_is_a_valid_description(described: dict[str, Any]) -> None:
    import schemathesis

    schemathesis.openapi.from_dict(described).validate()


async def test_every_operation_has_a_unique_name_and_its_permission(described: dict[str, Any]) -> None:
    operations = {
        operation["operationId"]: (path, operation)
        for path, methods in described["paths"].items()
        for operation in methods.values()
    }
    assert len(operations) == sum(len(methods) for methods in described["paths"].values())
    unguarded = {path for path, operation in operations.values() if "security" not in operation}
    assert unguarded == {"/healthz", "/readyz", "/metrics", "/v1/sessions"}
    assert described["paths"]["/v1/tools/{name}/call"]["post"]["operationId"] == "call_tool"


async def test_it_has_the_methods_that_refusals_name(described: dict[str, Any]) -> None:
    assert {
        path: {method.upper() for method in methods} for path, methods in described["paths"].items()
    } == METHODS_BY_PATH


async def test_every_error_is_described_as_a_problem(described: dict[str, Any]) -> None:
    for methods in described["paths"].values():
        for operation in methods.values():
            refusals = [answer for status, answer in operation["responses"].items() if status.startswith("4")]
            for answer in refusals:
                schema = answer["content"].get("application/problem+json", {}).get("schema")
                assert schema == {"$ref": "#/components/schemas/ProblemBody"}, operation["operationId"]


async def test_tool_create_is_described_field_by_field(described: dict[str, Any]) -> None:
    schema = described["components"]["schemas"]["ToolCreate"]
    assert set(schema["properties"]) == set(ToolCreate.model_fields)
    assert set(schema["required"]) == {"name", "tool_type", "config"}
    assert all("description" in field for field in schema["properties"].values())


def loaded(folder: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("generated", folder / "__init__.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["generated"] = module
    spec.loader.exec_module(module)
    return module


def generate(described: dict[str, Any], folder: Path) -> Path:
    """Return the folder of a client that a generator makes without network."""
    document, settings, output = folder / "openapi.json", folder / "settings.yaml", folder / "generated"
    document.write_bytes(orjson.dumps(described))
    settings.write_text("post_hooks: []\n")
    words = ["generate", "--path", document, "--config", settings, "--output-path", output, "--meta", "none"]
    command = [sys.executable, "-c", GENERATOR, *map(str, words), "--fail-on-warning"]
    made = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60, cwd=folder)
    assert made.returncode == 0, made.stdout + made.stderr
    return output


async def test_a_client_generator_takes_it_and_its_client_works(
    described: dict[str, Any], board: Pegboard, tmp_path: Path
) -> None:
    output = await anyio.to_thread.run_sync(generate, described, tmp_path)
    try:
        generated = loaded(output)
        call_tool = importlib.import_module("generated.api.calls.call_tool")
        list_tools = importlib.import_module("generated.api.tools.list_tools")
        get_tool = importlib.import_module("generated.api.tools.get_tool")
        bodies = importlib.import_module("generated.models.call_tool_body")
        async with served(board) as url, generated.AuthenticatedClient(base_url=url, token=KEY) as speaker:
            answer = await call_tool.asyncio("echo", client=speaker, body=bodies.CallToolBody.from_dict({"a": 1}))
            assert (answer.success, answer.result) == (True, {"echo": {"a": 1}})
            page = await list_tools.asyncio(client=speaker, limit=2)
            assert len(page.items) == 2
            tool = await get_tool.asyncio("echo", client=speaker)
            assert tool.name == "echo"
            refused = await get_tool.asyncio_detailed("nonesuch", client=speaker)
            assert refused.status_code == 404
    finally:
        for name in [name for name in sys.modules if name.split(".")[0] == "generated"]:
            del sys.modules[name]


async def test_the_documentation_pages_are_served(admin: httpx.AsyncClient) -> None:
    assert "Pegboard" in (await admin.get("/docs")).text
