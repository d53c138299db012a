"""Messages of table tools, for inserted rows and for refused ones."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from pegboard.kinds.table.config import DatabaseFailed
from pegboard.kinds.table.error_text import TableMessages, make_unusable_error
from pegboard.kinds.table.insert_plan import TableConfigProblem
from pegboard.kinds.table.source import InsertFault
from pegboard.kinds.table.table_schema import Column, ForeignKey
from pegboard.model.call_errors import ErrorType, InDoubt
from tests.unit.kinds.table.fakes import config, facts

FIELDS = (
    {"name": "user_id", "required": True},
    {"name": "mood"},
    {"name": "at", "dataType": "datetime"},
    {"name": "api_key"},
    {"name": "more", "dataType": "json"},
)
MAPPED = {"user_id": "telegram_user_id"}
THERE = facts(
    *(Column(name, "text", "text") for name in ("telegram_user_id", "mood", "at", "api_key", "more")),
    uniques={"one_a_day": ("telegram_user_id", "at")},
    foreign_keys={"of_user": ForeignKey(("telegram_user_id",), "users")},
    checks={"sane": "CHECK (char_length(mood)  >\n 1)"},
)


def wording(**more: Any) -> TableMessages:
    return TableMessages(config(*FIELDS, columnMappings=MAPPED, **more))


def failed(fault: InsertFault, **more: Any) -> DatabaseFailed:
    error = wording(**more).build_error(fault, THERE)
    assert isinstance(error, DatabaseFailed)
    return error


class TestInserted:
    ROW = {"user_id": "user_123", "mood": "happy", "at": "2025-10-05T14:30:00Z", "api_key": "hush", "more": {"a": 1}}

    def test_a_row_is_reported_with_its_id_and_a_few_of_its_values(self) -> None:
        assert wording().build_message([self.ROW], [7]) == (
            "Successfully inserted row into mood_entries (id 7): user_id user_123, mood happy, at 2025-10-05T14:30:00Z"
        )

    def test_a_row_without_a_key_or_optional_values_is_reported_without_them(self) -> None:
        message = wording().build_message([{"user_id": "u", "mood": None}], [])
        assert message == "Successfully inserted row into mood_entries: user_id u"

    def test_a_message_of_ones_own_is_filled_in(self) -> None:
        made = wording(successMessage="Logged {mood} for {user_id} at {at} as {id}, {rowCount} row, {nobody}")
        assert made.build_message([self.ROW], ["x-1"]) == (
            "Logged happy for user_123 at 2025-10-05T14:30:00Z as x-1, 1 row, {nobody}"
        )

    def test_braces_in_a_value_are_not_filled_in_again(self) -> None:
        made = wording(successMessage="{user_id}: {mood}")
        assert made.build_message([{"user_id": "{mood}", "mood": "sad"}], []) == "{mood}: sad"

    def test_what_is_absent_is_none_and_what_is_secret_is_hidden(self) -> None:
        made = wording(successMessage="{mood} {api_key} {id}")
        assert made.build_message([{"user_id": "u", "api_key": "hush"}], []) == "none (hidden) none"

    def test_long_values_are_cut(self) -> None:
        assert len(wording().build_message([{**self.ROW, "mood": "x" * 10_000}], [7])) < 250

    def test_a_batch_is_reported_by_its_number_and_a_few_ids(self) -> None:
        many = wording(batch=True)
        assert many.build_message([self.ROW] * 2, [1, 2]) == "Successfully inserted 2 rows into mood_entries (ids 1, 2)"
        assert many.build_message([self.ROW] * 9, list(range(9))).endswith("(ids 0, 1, 2, 3, 4 and 4 more)")
        own = wording(batch=True, successMessage="{rowCount} moods: {mood}")
        assert own.build_message([self.ROW] * 2, [1, 2]) == "2 moods: happy, happy"


class TestFailed:
    def test_a_unique_violation_names_the_fields_of_the_input(self) -> None:
        error = failed(InsertFault("P2002", "secret detail", sqlstate="23505", columns=("telegram_user_id", "at")))
        assert error.message == "Failed to insert mood entry: unique constraint violation on (user_id, at)"
        problem = error.problem
        assert (problem.type, problem.code, problem.sqlstate) == (ErrorType.DATABASE, "P2002", "23505")
        assert problem.first is not None
        assert problem.first.field == "user_id, at"
        assert not problem.did_run

    def test_a_foreign_key_names_the_table_it_refers_to(self) -> None:
        error = failed(InsertFault("P2003", "", columns=("telegram_user_id",), constraint="of_user"))
        assert "on (user_id): there is no row with this value in table 'users'; use an existing row" in error.message

    def test_a_check_is_reported_with_what_it_asks_for(self) -> None:
        error = failed(InsertFault("P2004", "", sqlstate="23514", constraint="sane"))
        assert error.message.endswith("; the rule is: char_length(mood) > 1")
        assert "perhaps no partition of 'mood_entries'" in failed(InsertFault("P2004", "", sqlstate="23514")).message
        overlap = failed(InsertFault("P2004", "", sqlstate="23P01", constraint="no_overlap"))
        assert "exclusion constraint violation 'no_overlap'" in overlap.message

    @pytest.mark.parametrize(
        ("rule", "shown"),
        [
            ("CHECK ((email ~ '^[^@]+@[^@]+$'::text))", "email ~ '^[^@]+@[^@]+$'"),
            ("CHECK (((a > 1) OR (b = 'x)'::character varying(9))))", "(a > 1) OR (b = 'x)')"),
            ("CHECK (((a)::text = ANY ((ARRAY['b::c'::text])::text[])))", "(a) = ANY ((ARRAY['b::c']))"),
            ("(a) > (b)", "(a) > (b)"),
            ("CHECK (('(' <> a))", "'(' <> a"),
        ],
    )
    def test_a_check_is_shown_without_casts_and_outer_parentheses(self, rule: str, shown: str) -> None:
        fault = InsertFault("P2004", "", sqlstate="23514", constraint="sane")
        error = wording().build_error(fault, replace(THERE, checks={"sane": rule}))
        assert error.message.endswith(f"check constraint violation 'sane'; the rule is: {shown}")

    def test_a_text_that_is_too_long_is_reported_with_the_most_that_its_column_takes(self) -> None:
        found_table = facts(Column("mood", "character varying(5)", "text", max_length=5))
        error = wording().build_error(InsertFault("P2000", "", columns=("mood",)), found_table)
        assert error.message.endswith("'mood' is too long: at most 5 characters")
        assert failed(InsertFault("P2000", "")).message.endswith("a field is too long; give a shorter value")

    def test_a_value_of_the_wrong_form_is_reported_with_the_type_of_its_column(self) -> None:
        found_table = facts(Column("mood", "inet", "other"))
        error = wording().build_error(InsertFault("P2007", "", columns=("mood",)), found_table)
        assert error.message.endswith("'mood' is not a valid inet; give another value")

    def test_a_check_is_reported_by_the_names_of_the_fields(self) -> None:
        rule = """("telegram_user_id" <> 'telegram_user_id') AND telegram_user_id > mood"""
        found_table = replace(THERE, checks={rule: rule})
        fault = InsertFault("P2004", "", sqlstate="23514", columns=("telegram_user_id", "mood"), constraint=rule)
        assert (
            wording()
            .build_error(fault, found_table)
            .message.endswith(
                "check constraint violation on (user_id, mood); "
                "the rule is: (user_id <> 'telegram_user_id') AND user_id > mood"
            )
        )

    def test_a_null_for_what_the_database_fills_in_may_be_left_out(self) -> None:
        found_table = facts(Column("mood", "text", "text", has_default=True))
        assert (
            wording()
            .build_error(InsertFault("P2011", "", columns=("mood",)), found_table)
            .message.endswith("'mood' cannot be null. Give a value, or leave it out for the default")
        )

    def test_a_row_that_a_policy_keeps_out_is_no_want_of_rights(self) -> None:
        assert "a row-level security policy of 'mood_entries'" in (
            failed(InsertFault("P1010", "", constraint="a row-level security policy")).message
        )

    def test_a_null_names_the_field_that_must_have_a_value(self) -> None:
        error = failed(InsertFault("P2011", "", columns=("telegram_user_id",)))
        assert "'user_id' cannot be null" in error.message

    def test_a_row_of_a_batch_is_named_by_its_index(self) -> None:
        error = failed(InsertFault("P2002", "", columns=("telegram_user_id", "at"), row=3), batch=True)
        assert error.message.startswith("Row 3: Failed to insert mood entries: unique")
        assert error.problems[0].field == "rows[3].user_id, rows[3].at"

    @pytest.mark.parametrize("code", ["P1001", "P1008", "P1017", "P2024", "P2034", "P2037"])
    def test_what_passes_says_when_to_try_again(self, code: str) -> None:
        error = failed(InsertFault(code, "connection to 10.0.0.1 refused"))
        assert error.retry_after_ms == 1000
        assert "try again" in error.message
        assert "10.0.0.1" not in error.message
        assert error.retry_reason == "transport"

    def test_a_source_may_say_when_itself(self) -> None:
        assert failed(InsertFault("P1001", "", retry_after_ms=250)).retry_after_ms == 250

    @pytest.mark.parametrize("code", ["P1000", "P1003", "P1010", "P2000", "P2007", "P2020", "P2021", "P2022"])
    def test_every_other_fault_has_a_sentence_of_its_own(self, code: str) -> None:
        error = failed(InsertFault(code, "what the server says", columns=("telegram_user_id",)))
        assert "what the server says" not in error.message
        assert "{" not in error.message
        assert error.retry_after_ms is None

    def test_what_no_one_knows_is_reported_in_the_databases_words(self) -> None:
        error = failed(InsertFault("P2010", "moods are closed\n on Sundays", sqlstate="P0001"))
        assert error.message == (
            "Failed to insert mood entry: the database refused it (SQLSTATE P0001): moods are closed on Sundays"
        )

    def test_a_row_that_may_be_in_or_not_is_in_doubt(self) -> None:
        error = wording().build_error(InsertFault("P1017", "", is_unknown=True), THERE)
        assert isinstance(error, InDoubt)
        assert error.did_run

    @pytest.mark.parametrize(
        ("table", "noun"),
        [
            ("mood_entries", "mood entry"),
            ("notes", "note"),
            ("addresses", "address"),
            ("boxes", "box"),
            ("status", "status"),
            ("statuses", "status"),
            ("boss", "boss"),
            ("data", "data"),
        ],
    )
    def test_a_row_is_called_by_the_singular_of_its_table(self, table: str, noun: str) -> None:
        error = TableMessages(config({"name": "a"}, tableName=table)).build_error(InsertFault("P1001", ""), None)
        assert error.message.startswith(f"Failed to insert {noun}: ")


def test_a_table_that_cannot_be_used_says_everything_that_is_found() -> None:
    error = make_unusable_error(
        [TableConfigProblem("column_not_found", "One.", "a"), TableConfigProblem("type_mismatch", "Two.", "b")]
    )
    assert (error.problem.type, error.problem.code) == (ErrorType.CONFIG, "column_not_found")
    assert error.message == "One.; Two."
    assert [problem.field for problem in error.problems] == ["a", "b"]
