"""The kinds of tools and the error codes, as the API lists them."""

from __future__ import annotations

from typing import Any

import httpx
import jsonschema_rs
import pytest

from pegboard import Pegboard
from pegboard.kinds.base import KindSpec
from pegboard.kinds.catalog import load_kinds
from pegboard.model.call_errors import ErrorType
from pegboard.registry import kind_list
from pegboard.registry.tool_create import ToolCreate, read_definition
from pegboard.testing import memory_board
from tests.surfaces.rest.clients import client, good, new_user


async def kinds_of(speaker: httpx.AsyncClient) -> dict[str, dict[str, Any]]:
    return {item["name"]: item for item in good(await speaker.get("/v1/kinds"))["items"]}


async def test_every_kind_is_listed_with_a_purpose_and_an_example_of_its_schema(admin: httpx.AsyncClient) -> None:
    kinds = await kinds_of(admin)
    assert list(kinds) == list(load_kinds())
    for name, kind in kinds.items():
        assert kind["purpose"]
        assert kind["example"]["tool_type"] == name
        read_definition(kind["example"])
        jsonschema_rs.validate(kind["config_schema"], kind["example"]["config"])
        assert kind["derives_schema"] or "input_schema" in kind["example"]


async def test_the_schema_of_a_definition_accepts_every_example(admin: httpx.AsyncClient) -> None:
    body = good(await admin.get("/v1/kinds"))
    validator = jsonschema_rs.validator_for(body["definition_schema"])
    for kind in body["items"]:
        validator.validate(kind["example"])
    assert not validator.is_valid({**body["items"][0]["example"], "unknown": 1})
    assert set(body["definition_schema"]["properties"]) == set(ToolCreate.model_fields)


@pytest.mark.parametrize("name", ["builtin", "http", "internal", "mcp", "mock", "python", "shell", "table"])
async def test_an_example_can_be_registered(name: str, admin: httpx.AsyncClient) -> None:
    example = (await kinds_of(admin))[name]["example"]
    good(await admin.post("/v1/tools", json=example), 201)


async def test_the_permission_to_register_a_kind_is_as_listed(board: Pegboard, admin: httpx.AsyncClient) -> None:
    _, key = await new_user(admin, "ada")
    async with client(board, key) as member:
        kinds = await kinds_of(member)
        for kind in kinds.values():
            answer = await member.post("/v1/tools", json=kind["example"])
            assert (answer.status_code == 403) == (kind["registered_by"] == "admins")
            if answer.status_code == 403:
                assert answer.json()["detail"] == kind["restriction"]
    assert {name for name, kind in kinds.items() if kind["registered_by"] == "admins"} == {"shell", "table"}
    async with memory_board(shell_for_members=True) as other:
        assert {kind.name for kind in other.kinds() if kind.registered_by == "admins"} == {"table"}


async def test_a_kind_of_a_package_without_a_description_is_listed_too(
    admin: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> str:
        raise AssertionError("the config of no tool is known")

    bare = KindSpec("bare", load_kinds()["mock"].config, refuse, may_register=refuse)  # type: ignore[arg-type]
    monkeypatch.setattr(kind_list, "load_kinds", lambda: {"bare": bare})
    kind = (await kinds_of(admin))["bare"]
    assert (kind["purpose"], kind["example"], kind["registered_by"], kind["restriction"]) == ("", None, None, None)


async def test_a_code_comes_with_its_type_and_what_to_do(admin: httpx.AsyncClient) -> None:
    codes = {item["code"]: item for item in good(await admin.get("/v1/codes"))["items"]}
    assert codes["rate_limited"] == {
        "code": "rate_limited",
        "type": "UNKNOWN_ERROR",
        "retryable": True,
        "meaning": "The rate limit of the tool or of the key is exceeded, or the upstream answered with 429",
        "remedy": "Wait retry_after_ms, then try again",
    }
    assert {code["type"] for code in codes.values()} == set(ErrorType)
    assert all(code["meaning"] and code["remedy"] for code in codes.values())
