"""Seed 001, the fields of a tool: base fields, own fields, the three schemas, soft deletion, through every surface."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from dirty_equals import IsDatetime, IsPartialDict, IsUUID

from pegboard import Pegboard
from pegboard.model.filters import ToolFilter
from pegboard.model.tool_definition import ToolResponse
from pegboard.registry.tool_create import ToolCreate, ToolUpdate
from tests.board_surfaces import RequestRefused, Surface

# Every field of the seed's ToolCreate, each with a value that is not its default.
WHOLE: dict[str, Any] = {
    "name": "quote",
    "description": "The price of a stock.",
    "tool_type": "mock",
    "config": {"mock_response": {"price": 1.5}},
    "input_schema": {"type": "object", "properties": {"symbol": {"type": "string"}}, "required": ["symbol"]},
    "output_schema": {"type": "object", "properties": {"price": {"type": "number"}}, "required": ["price"]},
    "auth_config": {"type": "bearer", "token": "t0p-secret"},
    "rate_limit": {"max_calls": 100, "period": "hour", "burst": 10},
    "is_active": False,
    "is_public": True,
}
SMALLEST: dict[str, Any] = {
    "name": "quote",
    "tool_type": "mock",
    "config": {"mock_response": 1},
    "input_schema": {"type": "object"},
}
SEED_FIELDS = set(WHOLE)
MASKED = {"type": "bearer", "token": "********"}


def instant(text: Any) -> datetime:
    moment = datetime.fromisoformat(text)
    assert moment.tzinfo is not None
    return moment


class TestBaseFields:
    """Field Descriptions: Base Fields (Inherited)."""

    async def test_a_tool_has_an_id_and_moments_of_creation_and_change(self, surface: Surface) -> None:
        before = datetime.now(UTC)
        made = await surface.create(SMALLEST)
        assert made["id"] == IsUUID
        assert before <= instant(made["created_at"]) <= datetime.now(UTC)
        assert made["updated_at"] == made["created_at"]
        assert (made["deleted_at"], made["is_deleted"]) == (None, False)

        changed = await surface.change("quote", {"description": "Other"})
        assert (changed["id"], changed["created_at"]) == (made["id"], made["created_at"])
        assert instant(changed["updated_at"]) > instant(made["updated_at"])

    async def test_deleting_marks_the_tool_and_restoring_unmarks_it(self, board: Pegboard, surface: Surface) -> None:
        made = await surface.create(SMALLEST)
        await surface.remove("quote")
        with pytest.raises(RequestRefused, match="Tool 'quote' not found"):
            await surface.show("quote")
        assert (await surface.call("quote"))["error"] == "Tool 'quote' not found"
        (gone,) = (await board.tools.page(ToolFilter(deleted=True), board.admin, cursor=None, limit=10)).items
        assert (gone.id, gone.is_deleted) == (made["id"], True)
        assert gone.deleted_at == IsDatetime(approx=datetime.now(UTC), delta=30)

        back = await surface.restore(made["id"])
        assert back == IsPartialDict(id=made["id"], name="quote", deleted_at=None, is_deleted=False)
        assert (await surface.call("quote"))["result"] == 1


class TestToolSpecificFields:
    """Field Descriptions: Tool-Specific Fields."""

    async def test_every_field_returns_as_it_was_given(self, board: Pegboard, surface: Surface) -> None:
        made = await surface.create(WHOLE)
        shown = await surface.show("quote")
        assert made == shown
        expected = {**WHOLE, "auth_config": {"type": "bearer", "token": "********"}}
        expected["rate_limit"] = {**WHOLE["rate_limit"], "scope": "caller"}
        assert {name: shown[name] for name in SEED_FIELDS} == expected
        assert shown["owner_id"] == board.admin.user_id

    async def test_what_is_left_out_gets_its_default(self, surface: Surface) -> None:
        made = await surface.create(SMALLEST)
        assert made == IsPartialDict(
            description=None, output_schema=None, auth_config=None, rate_limit=None, is_active=True, is_public=False
        )

    async def test_a_field_that_cannot_be_null_is_required(self, surface: Surface) -> None:
        for field in SMALLEST:
            with pytest.raises(RequestRefused, match=f"{field}: required"):
                await surface.create({name: value for name, value in SMALLEST.items() if name != field})
            with pytest.raises(RequestRefused, match=f"{field}:"):
                await surface.create({**SMALLEST, field: None})

    async def test_a_description_has_at_most_2000_characters(self, surface: Surface) -> None:
        assert (await surface.create({**SMALLEST, "description": "é" * 2000}))["description"] == "é" * 2000
        with pytest.raises(RequestRefused, match="description:"):
            await surface.change("quote", {"description": "é" * 2001})

    async def test_an_inactive_tool_is_refused_by_name_and_runs_again_when_active(self, surface: Surface) -> None:
        await surface.create({**SMALLEST, "is_active": False})
        answer = await surface.call("quote")
        assert answer["error"].startswith("Tool 'quote' is inactive")
        assert answer["error_details"] == IsPartialDict(type="CONFIG_ERROR", code="tool_inactive")
        await surface.change("quote", {"is_active": True})
        assert (await surface.call("quote"))["success"]


class TestToolCreate:
    """Pydantic Schemas: ToolCreate."""

    def test_it_has_the_fields_of_the_seed_and_what_the_design_adds(self) -> None:
        added = "display_name tags timeout unknown_parameters result_style retry fallback idempotent read_only"
        more = "destructive keep_arguments keep_result max_result_bytes display on_disconnect"
        assert set(ToolCreate.model_fields) == SEED_FIELDS | {*added.split(), *more.split()}

    async def test_an_unknown_key_is_refused_with_the_nearest_one(self, surface: Surface) -> None:
        with pytest.raises(RequestRefused, match="did you mean 'input_schema'"):
            await surface.create({**SMALLEST, "inputSchema": {}})

    async def test_all_faults_are_named_at_once(self, surface: Surface) -> None:
        with pytest.raises(RequestRefused) as refused:
            await surface.create({**SMALLEST, "name": "9lives", "is_active": "perhaps", "colour": 1})
        message = " ".join(refused.value.message.split())
        assert all(f"{field}:" in message for field in ("name", "is_active", "colour"))


class TestToolUpdate:
    """Pydantic Schemas: ToolUpdate."""

    def test_it_has_every_field_of_tool_create_and_the_version_it_is_based_on(self) -> None:
        assert set(ToolUpdate.model_fields) == {*ToolCreate.model_fields, "version"}
        assert not any(field.is_required() for field in ToolUpdate.model_fields.values())

    async def test_absent_keeps_null_clears_and_a_mask_keeps(self, surface: Surface) -> None:
        before = await surface.create(WHOLE)
        after = await surface.change("quote", {"description": None, "rate_limit": None, "auth_config": MASKED})
        assert after["version"] == before["version"] + 1
        unlike = {name for name in SEED_FIELDS if after[name] != before[name]}
        assert unlike == {"description", "rate_limit"}
        assert (after["description"], after["rate_limit"]) == (None, None)

    async def test_what_is_required_cannot_be_cleared(self, surface: Surface) -> None:
        await surface.create(SMALLEST)
        for field in SMALLEST:
            with pytest.raises(RequestRefused, match=f"{field}:"):
                await surface.change("quote", {field: None})

    async def test_config_is_replaced_whole(self, surface: Surface) -> None:
        await surface.create({**SMALLEST, "config": {"mock_response": 1, "mock_responses": []}})
        after = await surface.change("quote", {"config": {"mock_response": 2}})
        assert after["config"] == {"mock_response": 2}
        assert (await surface.call("quote"))["result"] == 2

    async def test_a_change_of_kind_must_bring_its_config(self, surface: Surface) -> None:
        await surface.create(SMALLEST)
        with pytest.raises(RequestRefused, match=r"config\.operation"):
            await surface.change("quote", {"tool_type": "builtin"})
        after = await surface.change("quote", {"tool_type": "builtin", "config": {"operation": "echo"}})
        assert after["tool_type"] == "builtin"
        assert (await surface.call("quote", {"a": 1}))["result"] == {"echo": {"a": 1}}

    async def test_a_stale_version_is_refused_and_changes_nothing(self, surface: Surface) -> None:
        made = await surface.create(SMALLEST)
        await surface.change("quote", {"description": "first", "version": made["version"]})
        with pytest.raises(RequestRefused, match=r"is now at version\s+2, not 1"):
            await surface.change("quote", {"description": "second", "version": made["version"]})
        assert (await surface.show("quote"))["description"] == "first"

    async def test_a_change_that_changes_nothing_makes_no_version(self, surface: Surface) -> None:
        made = await surface.create(WHOLE)
        same = await surface.change("quote", {name: made[name] for name in WHOLE})
        assert (same["version"], same["updated_at"]) == (made["version"], made["updated_at"])


class TestToolResponse:
    """Pydantic Schemas: ToolResponse."""

    async def test_it_is_tool_create_with_owner_id_and_timestamps(self, surface: Surface) -> None:
        added = {
            "id",
            "owner_id",
            "alias",
            "version",
            "created_at",
            "updated_at",
            "deleted_at",
            "is_deleted",
            "drifted",
        }
        assert set(ToolResponse.model_fields) == set(ToolCreate.model_fields) | added
        assert set(await surface.create(SMALLEST)) == set(ToolResponse.model_fields)


class TestVersions:
    """Each change of a definition is stored."""

    async def test_old_versions_can_be_read_with_their_authors(self, board: Pegboard, surface: Surface) -> None:
        made = await surface.create(WHOLE)
        await surface.change("quote", {"description": "New words"})
        versions = (await board.tools.versions(made["id"], board.admin, cursor=None, limit=10)).items
        assert [version.version for version in versions] == [2, 1]
        assert [version.definition["description"] for version in versions] == ["New words", WHOLE["description"]]
        assert {version.created_by for version in versions} == {board.admin.user_id}


class TestSoftDelete:
    """A deleted tool frees its name, and can be restored only while the name is free."""

    async def test_the_name_is_free_again_and_a_restore_into_it_is_refused(self, surface: Surface) -> None:
        old = await surface.create(SMALLEST)
        await surface.remove(old["id"])
        new = await surface.create({**SMALLEST, "name": "QUOTE", "config": {"mock_response": "new"}})
        assert new["id"] != old["id"]
        with pytest.raises(RequestRefused, match="A tool named 'quote' exists already"):
            await surface.restore(old["id"])
        assert (await surface.call("quote"))["result"] == "new"
        await surface.remove("quote")
        assert (await surface.restore(old["id"]))["id"] == old["id"]

    async def test_a_deleted_tool_cannot_be_changed_or_deleted_again(self, surface: Surface) -> None:
        made = await surface.create(SMALLEST)
        await surface.remove("quote")
        for attempt in (surface.change(made["id"], {"description": "x"}), surface.remove(made["id"])):
            with pytest.raises(RequestRefused, match="not found"):
                await attempt
