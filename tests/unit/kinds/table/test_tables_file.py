"""The tables file: a valid one is parsed, and every error of an invalid one is reported."""

from __future__ import annotations

import json
from contextlib import suppress
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard.kinds.table.config import FromEnvironment, TableField, TablesFile
from pegboard.kinds.table.tables_file import MAX_FILE_BYTES, read_tables_file, resolve_addresses
from pegboard.model.api_errors import Invalid
from pegboard.model.documents import write_yaml
from tests.unit.kinds.table.make_tools import FIELDS, entry


def read(*tables: dict[str, Any], **more: Any) -> TablesFile:
    return read_tables_file(json.dumps({"tables": tables, **more}).encode(), "tables.json")


def faults(*tables: dict[str, Any], **more: Any) -> dict[str, str]:
    with pytest.raises(Invalid, match=r"^The tables in tables\.json are not valid: ") as refused:
        read(*tables, **more)
    return {fault.field: fault.message for fault in refused.value.faults}


def misread(text: str | bytes, file: str = "tables.json") -> str:
    with pytest.raises(Invalid) as refused:
        read_tables_file(text if isinstance(text, bytes) else text.encode(), file)
    return refused.value.message


class TestReading:
    def test_json_and_yaml_say_the_same(self) -> None:
        document = {"database": {"env": "DB"}, "sources": {"other": "sqlite:///x"}, "tables": [entry(source="other")]}
        from_json = read_tables_file(json.dumps(document).encode(), "tables")
        assert from_json == read_tables_file(write_yaml(document).encode(), "tables.yaml")
        assert from_json == read_tables_file(json.dumps(document).encode(), "tables.YML")
        assert from_json.database == FromEnvironment(env="DB")
        assert [field.name for field in from_json.tables[0].fields] == [field["name"] for field in FIELDS]

    def test_numbers_keep_their_digits(self) -> None:
        text = json.dumps({"tables": [entry({"name": "a", "dataType": "numeric", "max": "MAX"})]})
        found = read_tables_file(text.replace('"MAX"', "99999999999999999999.99").encode(), "tables.json")
        assert found.tables[0].fields[0].max == Decimal("99999999999999999999.99")

    def test_a_file_without_tables_has_none(self) -> None:
        assert read() == TablesFile()

    @pytest.mark.parametrize(
        ("text", "says"),
        [
            ("", "must be an object"),
            ("[]", "must be an object"),
            ("{", "line 1: not JSON"),
            ('{"tables": [], "tables": []}', "the key 'tables' is given twice"),
            ('{"tables": [{"toolId": "a", "toolId": "b"}]}', "the key 'toolId' is given twice"),
            ('{"tables": NaN}', "not a number in JSON"),
            ('{"tables": ' + "[" * 70 + "]" * 70 + "}", "nested more than 64 levels deep"),
            ('{"tables": ' + "[" * 3000 + "]" * 3000 + "}", "nested"),
            ('{"tables": ' + "[" * 200_000, "nested too deeply"),
            ('{"tables": [{"min": 1e99999999999999999999}]}', "beyond every number"),
            ('{"tables": [{"min": -1e-99999999999999999999}]}', "beyond every number"),
            ('{"sources": {"a\\u0000": "x"}}', "NUL"),
            (b"\xff", "not UTF-8"),
            (b" " * (MAX_FILE_BYTES + 1), "at most 4,194,304"),
        ],
    )
    def test_what_cannot_be_read_is_reported(self, text: str | bytes, says: str) -> None:
        message = misread(text)
        assert message.startswith("The tables in tables.json are not valid: ")
        assert says in message

    @pytest.mark.parametrize(
        ("text", "says"),
        [
            ("tables: []\ntables: []", "line 2: the key 'tables' is given twice"),
            ("tables: [\n", "not YAML"),
            ("tables:\n- min: 1e99999999999999999999", "line 2: 1e99999999999999999999 is beyond every number"),
            ("--- {}\n--- {}", "holds 2 documents"),
        ],
    )
    def test_neither_can_such_yaml(self, text: str, says: str) -> None:
        assert says in misread(text, "tables.yaml")


class TestFaults:
    def test_every_fault_of_every_table_is_reported_with_its_path(self) -> None:
        found = faults(
            entry({"name": "a", "dataType": "string"}, {"name": "b", "dataType": "text", "min": 1}, Batch=True),
            entry({"name": "a", "dataType": "integer", "min": 3, "max": 2}, toolId="b", source="x"),
            databse="sqlite:///x",
        )
        assert found == {
            "databse": "unknown key; did you mean 'database'?",
            "tables.0.fields.0.dataType": "'string' is not a type; did you mean 'text'?",
            "tables.0.Batch": "unknown key; did you mean 'batch'?",
            "tables.0.fields.1.min": "belongs to integer and numeric, not to text; text takes minLength, maxLength",
            "tables.1.fields.0.min": "is 3, which is more than max, 2",
            "tables.1.source": "'x' is not among sources; the file names none",
        }

    def test_an_unknown_key_or_type_gets_the_nearest_of_its_own_place(self) -> None:
        found = faults(entry({"name": "a", "dataType": "date-time", "max_length": 3}, tablename="x"))
        assert found["tables.0.fields.0.max_length"] == "unknown key; did you mean 'maxLength'?"
        assert found["tables.0.fields.0.dataType"] == "'date-time' is not a type; did you mean 'datetime'?"
        assert found["tables.0.tablename"] == "unknown key; did you mean 'tableName'?"

    @pytest.mark.parametrize(
        ("written", "nearest"), [("number", "numeric"), ("Bool", "boolean"), ("integr", "integer")]
    )
    def test_a_type_of_another_system_gets_the_nearest_of_ours(self, written: str, nearest: str) -> None:
        found = faults(entry({"name": "a", "dataType": written}))
        assert found["tables.0.fields.0.dataType"] == f"'{written}' is not a type; did you mean '{nearest}'?"

    @pytest.mark.parametrize("text", [b"{}", b'{"database": "sqlite:///x.db"}', b"database: sqlite:///x.db"])
    def test_a_file_without_tables_is_refused(self, text: bytes) -> None:
        with pytest.raises(Invalid) as error:
            read_tables_file(text, "tables.json" if text.startswith(b"{") else "tables.yaml")
        assert [(fault.field, fault.message) for fault in error.value.faults] == [
            ("tables", "is required: the list of tables that become tools")
        ]

    def test_tools_of_the_same_name_are_refused_those_for_batches_included(self) -> None:
        found = faults(entry(batch=True), entry(toolId="LOG-Mood"), entry(toolId="log-mood-BATCH"))
        assert set(found) == {"tables.1.toolId", "tables.2.toolId"}
        assert "'log-mood-BATCH' is of tables.0 already" in found["tables.2.toolId"]

    def test_a_name_must_leave_room_for_that_of_its_batch(self) -> None:
        name = "a" * 255
        assert read(entry(toolId=name)).tables[0].toolId == name
        found = faults(entry(toolId=name, batch=True))
        assert found == {"tables.0.toolId": "a tool name has 1 to 255 characters, this one has 261"}

    def test_an_unknown_source_gets_the_nearest(self) -> None:
        found = faults(entry(source="analytic"), sources={"analytics": "sqlite:///x"})
        assert found == {"tables.0.source": "'analytic' is not among sources; did you mean 'analytics'?"}

    @pytest.mark.parametrize("address", [5, "", {}, {"env": ""}, {"env": "A", "x": 1}, ["x"]])
    def test_an_address_is_a_url_or_names_a_variable(self, address: Any) -> None:
        found = faults(database=address, sources={"a": address})
        assert set(found) == {"database", "sources.a"}
        assert "must be a URL such as" in found["database"]

    @pytest.mark.parametrize("tables", [None, {}, "x", [5]])
    def test_tables_are_a_list_of_objects(self, tables: Any) -> None:
        assert all(where.startswith("tables") for where in faults(tables=tables))


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from(["text", "numeric"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
PLACES: list[tuple[str | int, ...]] = [
    *((key,) for key in ("database", "sources", "tables", "x")),
    *(("tables", 0, key) for key in (*entry(), "schema", "source", "columnMappings", "successMessage", "batch", "x")),
    *(("tables", 0, "fields", 0, word) for word in TableField.model_fields),
]


@given(st.dictionaries(st.sampled_from(PLACES), JSON, min_size=1, max_size=4))
def test_anything_anywhere_is_read_or_refused_with_its_place(changes: dict[tuple[str | int, ...], Any]) -> None:
    document: dict[str, Any] = {"tables": [{**entry({"name": "a", "dataType": "numeric"})}]}
    for place in sorted(changes, key=len, reverse=True):
        holder: Any = document
        for step in place[:-1]:
            holder = holder[step]
        holder[place[-1]] = changes[place]
    for text, file in ((json.dumps(document), "tables.json"), (write_yaml(document), "tables.yaml")):
        try:
            read_tables_file(text.encode(), file)
        except Invalid as error:
            assert error.message.startswith(f"The tables in {file} are not valid: ")
            assert error.faults


@given(st.binary(max_size=60) | st.text('{}[]",:tables-\n 1e', max_size=40).map(str.encode))
def test_any_text_at_all_is_read_or_refused(text: bytes) -> None:
    with suppress(Invalid):
        read_tables_file(text, "tables")


def test_zeros_and_ones_of_any_length_are_read_at_once() -> None:
    text = '{"name": "a", "dataType": "numeric", "min": 0e99999999, "max": 1e-99999999, "default": 0e99999999}'
    message = misread(json.dumps({"tables": [entry({"name": "X"})]}).replace('{"name": "X"}', text))
    assert "tables.0.fields.0.max: must be a number of at most 300 digits" in message


class TestAddresses:
    def test_each_source_has_its_url_and_the_database_is_under_none(self) -> None:
        file = read(database={"env": "DB"}, sources={"a": "sqlite:///a", "b": {"env": "B"}})
        assert resolve_addresses(file, {"DB": "postgresql://h/d", "B": "sqlite:///b"}) == {
            None: "postgresql://h/d",
            "a": "sqlite:///a",
            "b": "sqlite:///b",
        }

    def test_without_a_database_there_is_none_under_none(self) -> None:
        assert resolve_addresses(read(), {}) == {}

    def test_every_variable_that_is_not_set_is_named(self) -> None:
        file = read(database={"env": "DB"}, sources={"b": {"env": "B"}})
        with pytest.raises(Invalid) as refused:
            resolve_addresses(file, {"B": ""})
        assert {fault.field: fault.message for fault in refused.value.faults} == {
            "database": "the environment variable DB is not set",
            "sources.b": "the environment variable B is not set",
        }
