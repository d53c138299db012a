"""A config compared with its table: every mismatch is found, and arguments that fit become rows."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from pegboard.kinds.table.config import TableConfig
from pegboard.kinds.table.insert_plan import InsertPlan, check_table_config, make_insert_plan
from pegboard.kinds.table.source import InsertRow
from pegboard.kinds.table.table_schema import Column, ForeignKey, TableSchema
from pegboard.model.call_errors import ErrorType, InvalidArguments
from tests.unit.kinds.table.fakes import ENERGY, ID, MOOD, MOODS, config, facts

PLAIN = config({"name": "mood", "required": True}, {"name": "energy", "dataType": "integer"})


def planned(wanted: TableConfig, found_table: TableSchema, kind: Any = "postgresql") -> InsertPlan:
    made = make_insert_plan(wanted, found_table, kind)
    assert isinstance(made, InsertPlan), made
    return made


class TestWhatDoesNotFit:
    def test_a_table_that_is_not_there(self) -> None:
        (found,) = check_table_config(PLAIN, None, "sqlite")
        assert found == ("table_not_found", "Table 'mood_entries' does not exist in database schema", None)
        assert make_insert_plan(PLAIN, None, "sqlite") == [found]

    def test_a_table_in_a_schema_is_named_with_it(self) -> None:
        (found,) = check_table_config(config({"name": "a"}, schema="app"), None, "postgresql")
        assert "'app.mood_entries'" in found.message

    def test_something_that_takes_no_rows(self) -> None:
        (found,) = check_table_config(PLAIN, facts(ID, MOOD, ENERGY, unfit="it is a view"), "sqlite")
        assert found.code == "table_unfit"
        assert "it is a view" in found.message

    def test_a_column_that_is_not_there_is_named_with_its_field(self) -> None:
        wanted = config({"name": "mood"}, {"name": "user"}, columnMappings={"user": "user_name"})
        (found,) = check_table_config(wanted, MOODS, "sqlite")
        assert (found.code, found.field) == ("column_not_found", "user")
        assert "'user'" in found.message
        assert "'user_name'" in found.message

    def test_a_column_that_must_be_filled_in_and_is_not(self) -> None:
        (found,) = check_table_config(config({"name": "energy", "dataType": "integer"}), MOODS, "sqlite")
        assert (found.code, found.field) == ("column_required", None)
        assert "'mood'" in found.message

    @pytest.mark.parametrize("family", ["date", "time"])
    @pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
    def test_a_datetime_is_no_date_and_no_time(self, family: Any, kind: Any) -> None:
        found_table = facts(Column("at", family, family))
        (found,) = check_table_config(config({"name": "at", "dataType": "datetime"}), found_table, kind)
        assert (found.code, found.field) == ("type_mismatch", "at")
        assert found.message.endswith("takes: text")

    def test_a_column_that_the_database_alone_fills_in(self) -> None:
        found_table = facts(Column("sum", "integer", "integer", is_generated=True))
        (found,) = check_table_config(config({"name": "sum", "dataType": "integer"}), found_table, "postgresql")
        assert found.code == "type_mismatch"

    def test_options_that_the_column_has_no_room_or_no_label_for(self) -> None:
        wanted = config({"name": "mood", "dataType": "enum", "enumValues": ["sad", "very happy"]})
        short = facts(Column("mood", "varchar(5)", "text", max_length=5))
        labels = facts(Column("mood", "mood", "enum", labels=("sad", "happy")))
        for found_table in (short, labels):
            (found,) = check_table_config(wanted, found_table, "postgresql")
            assert found.code == "type_mismatch"
            assert "'very happy'" in found.message

    def test_everything_is_found_at_once(self) -> None:
        wanted = config({"name": "nope"}, {"name": "energy"})
        codes = [found.code for found in check_table_config(wanted, MOODS, "sqlite")]
        assert codes == ["column_not_found", "type_mismatch", "column_required"]

    def test_a_numeric_without_decimals_fits_an_integer_column_and_one_with_them_does_not(self) -> None:
        found_table = facts(ENERGY)
        assert not check_table_config(
            config({"name": "energy", "dataType": "numeric", "scale": 0}), found_table, "postgresql"
        )
        assert check_table_config(
            config({"name": "energy", "dataType": "numeric", "scale": 2}), found_table, "postgresql"
        )


class TestRows:
    def test_fields_go_to_the_columns_they_are_mapped_to(self) -> None:
        made = planned(config({"name": "how"}, columnMappings={"how": "mood"}), MOODS)
        assert made.rows({"how": "sad"}) == (InsertRow(("mood",), ("sad",)),)

    def test_what_is_absent_is_left_to_the_column_and_null_is_null(self) -> None:
        made = planned(PLAIN, MOODS)
        assert made.rows({"mood": "sad"}) == (InsertRow(("mood",), ("sad",)),)
        assert made.rows({"mood": "sad", "energy": None}) == (InsertRow(("mood", "energy"), ("sad", None)),)

    def test_the_order_of_the_arguments_does_not_matter(self) -> None:
        made = planned(PLAIN, MOODS)
        assert made.rows({"energy": 1, "mood": "sad"}) == made.rows({"mood": "sad", "energy": 1})

    def test_rows_of_the_same_fields_share_their_columns(self) -> None:
        made = planned(PLAIN, MOODS)
        for given in ({"mood": "a", "energy": 1}, {"mood": "a"}):
            (one,), (other,) = made.rows(given), made.rows(given)
            assert one.columns is other.columns

    def test_everything_that_columns_do_not_take_is_reported_together(self) -> None:
        with pytest.raises(InvalidArguments) as refused:
            planned(PLAIN, MOODS).rows({"mood": "x" * 21, "energy": 40_000})
        problem = refused.value.problem
        assert (problem.type, problem.did_run) == (ErrorType.VALIDATION, False)
        assert [(each.field, each.code) for each in problem.problems] == [("mood", "too_big"), ("energy", "too_big")]
        assert problem.problems[1].message == (
            "Field 'energy' must be an integer between -32768 and 32767, but received 40000"
        )
        assert problem.problems[1].expected == "integer between -32768 and 32767"
        assert problem.problems[1].received == "40000"

    def test_a_value_of_a_secret_field_is_not_repeated(self) -> None:
        found_table = facts(Column("api_key", "uuid", "uuid"))
        with pytest.raises(InvalidArguments) as refused:
            planned(config({"name": "api_key"}), found_table).rows({"api_key": "hush"})
        assert "hush" not in str(refused.value.problem)

    def test_an_element_of_an_array_is_named_and_shown_alone(self) -> None:
        found_table = facts(Column("tags", "uuid[]", "array", element=Column("tags", "uuid", "uuid")))
        with pytest.raises(InvalidArguments) as refused:
            planned(config({"name": "tags", "dataType": "json"}), found_table).rows({"tags": [str(UUID(int=1)), "x"]})
        (problem,) = refused.value.problems
        assert problem.message == "Field 'tags[1]' must be a valid UUID, but received 'x'"
        assert (problem.field, problem.received) == ("tags[1]", "x")

    def test_rows_of_a_batch_are_named_by_their_index(self) -> None:
        made = planned(PLAIN.model_copy(update={"batch": True}), MOODS)
        good, bad = {"mood": "sad"}, {"mood": "x" * 21, "energy": -40_000}
        assert len(made.rows({"rows": [good, good]})) == 2
        with pytest.raises(InvalidArguments) as refused:
            made.rows({"rows": [good, bad, good, bad]})
        fields = [problem.field for problem in refused.value.problems]
        assert fields == ["rows[1].mood", "rows[1].energy", "rows[3].mood", "rows[3].energy"]

    def test_thousands_of_faults_are_reported_as_a_bounded_number(self) -> None:
        made = planned(PLAIN.model_copy(update={"batch": True}), MOODS)
        with pytest.raises(InvalidArguments) as refused:
            made.rows({"rows": [{"mood": "x" * 21}] * 5000})
        assert len(refused.value.problems) == 100
        assert len(refused.value.message) < 2000


class TestKeys:
    @pytest.mark.parametrize(
        ("column", "length"),
        [
            (Column("id", "text", "text", nullable=False), 36),
            (Column("id", "varchar(36)", "text", nullable=False, max_length=36), 36),
            (Column("id", "char(32)", "text", nullable=False, max_length=32), 32),
        ],
    )
    def test_a_text_key_that_no_one_fills_in_gets_a_uuid(self, column: Column, length: int) -> None:
        (row,) = planned(config({"name": "mood"}), facts(column, MOOD, key=("id",))).rows({"mood": "sad"})
        assert row.columns == ("mood", "id")
        assert len(row.values[1]) == length
        assert UUID(row.values[1]).version == 4

    def test_a_uuid_key_gets_one_of_the_databases_own_type(self) -> None:
        column = Column("id", "uuid", "uuid", nullable=False)
        found_table = facts(column, MOOD, key=("id",))
        assert isinstance(planned(config({"name": "mood"}), found_table).rows({"mood": "a"})[0].values[1], UUID)
        assert isinstance(
            planned(config({"name": "mood"}), found_table, "sqlite").rows({"mood": "a"})[0].values[1], str
        )

    def test_a_uuid_key_that_is_merely_random_is_made_here_and_any_other_default_is_left(self) -> None:
        random = Column("id", "uuid", "uuid", nullable=False, has_default=True, is_random_uuid=True)
        other = Column("id", "uuid", "uuid", nullable=False, has_default=True)
        for column, columns in ((random, ("mood", "id")), (other, ("mood",))):
            (row,) = planned(config({"name": "mood"}), facts(column, MOOD, key=("id",))).rows({"mood": "a"})
            assert row.columns == columns

    def test_a_key_that_the_caller_gives_is_kept_and_one_left_out_is_made(self) -> None:
        found_table = facts(Column("id", "text", "text", nullable=False), MOOD, key=("id",))
        made = planned(config({"name": "id"}, {"name": "mood"}), found_table)
        assert made.rows({"id": "x", "mood": "a"}) == (InsertRow(("id", "mood"), ("x", "a")),)
        (row,) = made.rows({"mood": "a"})
        assert row.columns == ("mood", "id")

    @pytest.mark.parametrize(
        "column",
        [
            Column("id", "varchar(31)", "text", nullable=False, max_length=31),
            Column("id", "integer", "integer", nullable=False),
        ],
    )
    def test_a_key_that_has_no_room_for_one_must_be_filled_in(self, column: Column) -> None:
        (found,) = check_table_config(config({"name": "mood"}), facts(column, MOOD, key=("id",)), "postgresql")
        assert found.code == "column_required"

    def test_a_key_that_refers_to_another_table_is_not_guessed(self) -> None:
        column = Column("id", "uuid", "uuid", nullable=False)
        found_table = facts(column, MOOD, key=("id",), foreign_keys={"fk": ForeignKey(("id",), "users")})
        (found,) = check_table_config(config({"name": "mood"}), found_table, "postgresql")
        assert found.code == "column_required"
