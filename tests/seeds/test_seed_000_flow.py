"""Seed 000, a call of a tool: the flow, column mapping, the insert, transactions and the audit."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from pegboard import Pegboard
from pegboard.testing import member
from tests.seeds.conftest import Listing
from tests.seeds.seed_000 import (
    LOG_MOOD,
    MOOD,
    Way,
    call_invalid,
    count,
    create,
    failed,
    field,
    inserted,
    read_only_row,
    table,
)
from tests.table_databases import rows_of, run_sql

MAPPED = table("log-chat", "chats", field("user_id", "text"), field("words", "text"))
CHATS = "CREATE TABLE chats (id {key} PRIMARY KEY, telegram_user_id TEXT NOT NULL UNIQUE, words TEXT)"
TO_TELEGRAM = {"columnMappings": {"user_id": "telegram_user_id"}}
# Every row is noted in a second table by a trigger, which refuses some.
SHADOW = "CREATE TABLE shadow (content TEXT CHECK (content <> 'bad'))"
TRIGGERS = {
    "sqlite": (
        "CREATE TRIGGER noting AFTER INSERT ON notes BEGIN INSERT INTO shadow VALUES ('seen'), (NEW.content); END",
    ),
    "postgresql": (
        """CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS
        'BEGIN INSERT INTO shadow VALUES (''seen''), (NEW.content); RETURN NEW; END'""",
        "CREATE TRIGGER noting AFTER INSERT ON notes FOR EACH ROW EXECUTE FUNCTION note()",
    ),
}


class TestExecutionFlow:
    """Execution Flow, its seven steps."""

    async def test_1_an_llm_invokes_the_tool_with_input_parameters(self, way: Way, url: str) -> None:
        await inserted(way, "log-mood", MOOD)
        found = await read_only_row(url, "SELECT user_id, mood, energy_level, notes, timestamp FROM mood_entries")
        assert found == tuple(MOOD.values())

    async def test_2_input_is_validated_against_the_generated_schema_before_the_database_is_asked(
        self, way: Way, url: str
    ) -> None:
        await run_sql(url, "DROP TABLE mood_entries")
        assert (await call_invalid(way, "log-mood", {**MOOD, "energy_level": 15}))["details"]["field"] == "energy_level"
        assert (await failed(way, "log-mood", MOOD))["type"] == "CONFIG_ERROR"

    async def test_3_if_validation_fails_a_validation_error_is_returned(self, way: Way, url: str) -> None:
        assert (await failed(way, "log-mood", {**MOOD, "mood": "angry"}))["type"] == "VALIDATION_ERROR"
        assert await count(url) == 0

    async def test_4_if_it_succeeds_field_names_are_mapped_via_column_mappings(
        self, way: Way, url: str, listing: Listing
    ) -> None:
        await create(url, CHATS)
        await listing({**MAPPED, **TO_TELEGRAM})
        await inserted(way, "log-chat", {"user_id": "u", "words": "hi"})
        assert await read_only_row(url, "SELECT telegram_user_id, words FROM chats") == ("u", "hi")

    async def test_5_the_insert_operation_is_executed(self, way: Way, url: str) -> None:
        assert await count(url) == 0
        await inserted(way, "log-mood", MOOD)
        assert await count(url) == 1

    async def test_6_if_the_database_errs_a_database_error_is_returned(self, way: Way, url: str) -> None:
        await inserted(way, "log-mood", MOOD)
        assert (await failed(way, "log-mood", MOOD))["type"] == "DATABASE_ERROR"
        assert await count(url) == 1

    async def test_7_if_the_insert_succeeds_success_is_returned_with_the_row_id(self, way: Way, url: str) -> None:
        data = await inserted(way, "log-mood", MOOD)
        [[stored_rows]] = await rows_of(url, "SELECT id FROM mood_entries")
        assert UUID(data["id"]) == UUID(str(stored_rows))


class TestColumnMapping:
    """Column Mapping."""

    async def test_the_example_user_id_goes_to_telegram_user_id(self, way: Way, url: str, listing: Listing) -> None:
        await create(url, CHATS)
        only = table("log-chat", "chats", field("user_id", "text", label="User ID"), **TO_TELEGRAM)
        await listing(only)
        await inserted(way, "log-chat", {"user_id": "u"})
        assert await read_only_row(url, "SELECT telegram_user_id FROM chats") == ("u",)

    async def test_rule_1_a_field_name_in_column_mappings_uses_the_mapped_column(
        self, way: Way, url: str, listing: Listing
    ) -> None:
        await create(url, CHATS)
        swapped = {"columnMappings": {"user_id": "words", "words": "telegram_user_id"}}
        await listing({**MAPPED, **swapped})
        await inserted(way, "log-chat", {"user_id": "a", "words": "b"})
        assert await read_only_row(url, "SELECT telegram_user_id, words FROM chats") == ("b", "a")

    async def test_rule_2_otherwise_the_field_name_is_the_column_name(
        self, way: Way, url: str, listing: Listing
    ) -> None:
        await create(url, CHATS)
        await listing({**MAPPED, **TO_TELEGRAM})
        await inserted(way, "log-chat", {"user_id": "u", "words": "as they are"})
        assert await read_only_row(url, "SELECT words FROM chats") == ("as they are",)

    async def test_rule_3_a_mapped_column_must_exist_in_the_database_table(
        self, way: Way, url: str, listing: Listing
    ) -> None:
        await create(url, CHATS)
        await listing({**MAPPED, "columnMappings": {"user_id": "chat_id"}})
        error = await failed(way, "log-chat", {"user_id": "u", "words": "hi"})
        assert (error["type"], error["details"]["code"]) == ("CONFIG_ERROR", "column_not_found")
        assert "Field 'user_id' goes to column 'chat_id', which table 'chats' does not have" in error["message"]
        assert await count(url, "chats") == 0

    async def test_rule_4_mapping_happens_after_validation_and_before_the_insert(
        self, way: Way, url: str, listing: Listing
    ) -> None:
        await create(url, CHATS)
        await listing({**MAPPED, **TO_TELEGRAM})
        by_column = await call_invalid(way, "log-chat", {"telegram_user_id": "u", "words": "hi"})
        named = {problem["field"]: problem["code"] for problem in by_column["details"]["problems"]}
        assert named == {"user_id": "missing", "telegram_user_id": "unrecognized_keys"}
        await inserted(way, "log-chat", {"user_id": "u", "words": "hi"})
        again = await failed(way, "log-chat", {"user_id": "u", "words": "hi"})
        assert (again["details"]["code"], again["details"]["field"]) == ("P2002", "user_id")


class TestDatabaseOperations:
    """Database Operations: Insert Operation, Transaction Handling."""

    async def test_insert_operation_returns_id_row_count_and_message(self, way: Way) -> None:
        data = await inserted(way, "log-mood", MOOD)
        assert list(data) == ["id", "rowCount", "message"]
        assert (data["rowCount"], UUID(data["id"]).version) == (1, 4)
        assert data["message"].startswith("Successfully inserted row into mood_entries")

    @pytest.mark.parametrize(
        ("key", "rest", "expected"),
        [
            ("number INTEGER PRIMARY KEY DEFAULT 7,", "", 7),
            ("code VARCHAR(9) PRIMARY KEY DEFAULT 'A-1',", "", "A-1"),
            ("", "", None),
            ("a INTEGER DEFAULT 1, b VARCHAR(9) DEFAULT 'x',", ", PRIMARY KEY (a, b)", {"a": 1, "b": "x"}),
        ],
    )
    async def test_the_id_is_that_of_the_inserted_row_if_the_table_has_one(
        self, way: Way, url: str, listing: Listing, key: str, rest: str, expected: Any
    ) -> None:
        if url.startswith("sqlite") and key.startswith("number"):
            key, expected = "number INTEGER PRIMARY KEY,", 1  # SQLite assigns such a key itself and ignores its default
        await run_sql(url, f"CREATE TABLE keyed ({key} words TEXT{rest})")
        await listing(table("t", "keyed", field("words", "text")))
        data = await inserted(way, "t", {"words": "w"})
        assert data.get("id") == expected
        assert ("id" in data) is (expected is not None)

    async def test_each_tool_execution_runs_in_an_implicit_transaction(self, way: Way, url: str) -> None:
        await run_sql(url, SHADOW, *TRIGGERS["sqlite" if url.startswith("sqlite") else "postgresql"])
        await inserted(way, "add-note", {"content": "good", "created_at": MOOD["timestamp"]})
        assert (await count(url, "notes"), await count(url, "shadow")) == (1, 2)

    async def test_if_the_insert_fails_the_transaction_is_rolled_back(self, way: Way, url: str) -> None:
        await run_sql(url, SHADOW, *TRIGGERS["sqlite" if url.startswith("sqlite") else "postgresql"])
        error = await failed(way, "add-note", {"content": "bad", "created_at": MOOD["timestamp"]})
        assert error["type"] == "DATABASE_ERROR"
        assert (await count(url, "notes"), await count(url, "shadow")) == (0, 0)

    async def test_no_explicit_transaction_management_is_required_for_single_inserts(self, way: Way, url: str) -> None:
        for number in range(3):
            await inserted(way, "log-mood", {**MOOD, "user_id": f"u{number}"})
            assert await count(url) == number + 1  # visible to another connection as soon as the call is answered

    async def test_multiple_inserts_are_batched_in_a_single_transaction(
        self, way: Way, url: str, listing: Listing
    ) -> None:
        await listing({**LOG_MOOD, "batch": True})
        rows = [{**MOOD, "user_id": f"u{number}"} for number in range(3)]
        error = await failed(way, "log-mood-batch", {"rows": [*rows, rows[1]]})
        assert (error["details"]["code"], error["details"]["field"]) == ("P2002", "rows[3].user_id, rows[3].timestamp")
        assert error["message"].startswith("Row 3: ")
        assert await count(url) == 0
        data = await inserted(way, "log-mood-batch", {"rows": rows})
        stored_rows = {str(UUID(str(key))) for (key,) in await rows_of(url, "SELECT id FROM mood_entries")}
        assert (data["rowCount"], set(data["ids"])) == (3, stored_rows)

    async def test_a_hundred_concurrent_invocations_each_insert_their_row_once(self, way: Way, url: str) -> None:
        calls = (inserted(way, "log-mood", {**MOOD, "user_id": f"u{number}"}) for number in range(100))
        ids = {UUID(data["id"]): f"u{number}" for number, data in enumerate(await asyncio.gather(*calls))}
        stored_rows = await rows_of(url, "SELECT id, user_id FROM mood_entries")
        assert {UUID(str(key)): user for key, user in stored_rows} == ids


class TestAuditTrail:
    """Audit Trail."""

    async def test_successful_inserts_generate_audit_events(self, way: Way) -> None:
        await inserted(way, "log-mood", MOOD)
        assert [row["status"] for row in await way.journal("log-mood")] == ["succeeded"]

    async def test_an_audit_event_captures_the_tool_id(self, way: Way) -> None:
        await inserted(way, "log-mood", MOOD)
        [row] = await way.journal("log-mood")
        assert (row["tool_name"], row["tool_id"], row["kind"]) == (
            "log-mood",
            (await way.tool("log-mood"))["id"],
            "table",
        )

    async def test_an_audit_event_captures_the_user_or_actor(self, way: Way, tabled: Pegboard) -> None:
        await inserted(way, "log-mood", MOOD)
        other_user = await member(tabled)
        await tabled.call("log-mood", {**MOOD, "user_id": "another"}, caller=other_user)
        actors = [(row["caller"], row["caller_id"]) for row in await way.journal("log-mood")]
        assert actors == [("admin", tabled.admin.user_id), ("member", other_user.user_id)]

    async def test_an_audit_event_captures_the_timestamp(self, way: Way) -> None:
        before = datetime.now(UTC)
        await inserted(way, "log-mood", MOOD)
        [row] = await way.journal("log-mood")
        short = timedelta(milliseconds=10)  # timestamps are stored with fewer digits than the clock has
        assert before - short <= row["started_at"] <= row["finished_at"] <= datetime.now(UTC) + short

    async def test_an_audit_event_captures_the_inserted_row_id(self, way: Way) -> None:
        data = await inserted(way, "log-mood", MOOD)
        assert [row["row_id"] for row in await way.journal("log-mood")] == [data["id"]]

    async def test_audit_true_keeps_the_values_and_without_it_they_are_not_kept(
        self, way: Way, listing: Listing
    ) -> None:
        await listing({**LOG_MOOD, "audit": True}, {**LOG_MOOD, "toolId": "log-quietly"})
        await inserted(way, "log-mood", MOOD)
        await inserted(way, "log-quietly", {**MOOD, "user_id": "another"})
        [[loud], [quiet]] = [await way.journal(tool) for tool in ("log-mood", "log-quietly")]
        assert (loud["arguments"], quiet["arguments"]) == (MOOD, None)
