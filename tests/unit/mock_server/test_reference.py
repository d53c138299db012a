"""The page on fixtures, the JSON Schema and the model agree."""

from __future__ import annotations

import pytest
import yaml

from pegboard.json_schema.compile import check_schema, compile_validator
from pegboard.mock_server.fixtures import (
    ERROR_CLASSES_BY_CODE,
    Fixtures,
    FixtureTool,
    MockedError,
    Response,
    build_fixtures_schema,
)
from pegboard.mock_server.read_fixtures import read_fixtures
from pegboard.model.base_model import Model
from tests.docs.pages import blocks_of, codes_in, rows_of, section

PAGE = "docs/reference/fixtures.md"


@pytest.mark.parametrize(
    ("heading", "model"),
    [("The file", Fixtures), ("A tool", FixtureTool), ("A response", Response), ("An error", MockedError)],
)
def test_every_key_is_listed_with_its_default_and_no_other(heading: str, model: type[Model]) -> None:
    listed = {codes_in(row[0])[0]: row for row in rows_of(section(PAGE, heading))}
    assert set(listed) == set(model.model_fields)
    for name, field in model.model_fields.items():
        if field.is_required():
            assert listed[name][1] == "required"
        elif isinstance(field.default, bool | str | int):
            assert listed[name][1] == f"`{str(field.default).lower()}`"


def test_the_json_schema_has_every_key_with_its_meaning() -> None:
    schema = build_fixtures_schema()
    check_schema(schema, where="output_schema")
    for model in (FixtureTool, Response):
        described = schema["$defs"][model.__name__]["properties"]
        assert set(described) == set(model.model_fields)
        assert all(part["description"] for part in described.values())


EXAMPLE = yaml.safe_load(next(block.text for block in blocks_of(PAGE) if block.file == "weather.yaml"))


def test_the_example_of_the_page_is_good_for_the_reader_and_for_the_json_schema() -> None:
    read_fixtures(yaml.safe_dump(EXAMPLE).encode(), "weather.yaml")
    assert compile_validator(build_fixtures_schema()).is_valid(EXAMPLE)


@pytest.mark.parametrize(
    "response",
    [
        {},
        {"respond": 1, "error": "x"},
        {"error": ""},
        {"error": {"message": "x", "code": "made_up"}},
        {"error": {"code": "timeout"}},
        {"error": None},
        {"respond": 1, "times": 0},
        {"respond": 1, "latency_ms": -1},
        {"respond": 1, "latency_ms": 600_001},
        {"respond": 1, "wen": {}},
        {"respond": 1, "when": []},
    ],
)
def test_what_the_model_refuses_the_json_schema_refuses(response: object) -> None:
    data = {"tools": [{"name": "it", "responses": [response]}]}
    assert not compile_validator(build_fixtures_schema()).is_valid(data)
    with pytest.raises(ValueError, match="responses"):
        Fixtures.model_validate(data)


@pytest.mark.parametrize("response", [{"respond": None}, {"error": "x"}, {"error": {"message": "x", "code": "P2010"}}])
def test_what_the_model_takes_the_json_schema_takes(response: object) -> None:
    data = {"tools": [{"name": "it", "responses": [response]}]}
    assert compile_validator(build_fixtures_schema()).is_valid(data)
    assert Fixtures.model_validate(data).tools[0].responses


def test_fixtures_can_fail_with_every_code_of_calls_and_no_other() -> None:
    documented = {
        code for row in rows_of(section("docs/reference/errors.md", "Codes of calls")) for code in codes_in(row[0])
    }
    assert set(ERROR_CLASSES_BY_CODE) == documented
