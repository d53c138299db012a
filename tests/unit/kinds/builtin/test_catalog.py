"""Requirements for every builtin operation."""

from __future__ import annotations

from typing import Any

import jsonschema_rs
import orjson
import pytest

from pegboard.kinds.builtin.base import Builtin
from pegboard.kinds.builtin.catalog import BUILTINS
from pegboard.model.tool import check_name

CALLS: dict[str, dict[str, Any]] = {
    "math_eval": {"expression": "2+2"},
    "echo": {"message": "hello", "nested": {"list": [1, None]}},
    "calculate_rsi": {"prices": [1, 2, 3, 2, 1], "period": 2},
    "current_time": {"timezone": "Europe/Berlin"},
    "json_query": {"data": {"a": [1]}, "query": "a[0]"},
}

every = pytest.mark.parametrize("builtin", BUILTINS, ids=lambda builtin: builtin.name)


def test_the_operations_the_requirements_name_are_there() -> None:
    assert {"math_eval", "echo", "calculate_rsi"} <= {builtin.name for builtin in BUILTINS}


def test_names_are_unique_and_every_operation_is_tried_here() -> None:
    assert sorted(builtin.name for builtin in BUILTINS) == sorted(CALLS)


@every
def test_an_operation_can_hang_as_a_tool(builtin: Builtin) -> None:
    check_name(builtin.name)
    assert builtin.display_name
    assert 40 < len(builtin.description) <= 2000
    jsonschema_rs.meta.validate({"$schema": "http://json-schema.org/draft-07/schema#", **builtin.input_schema})
    assert builtin.output_schema is not None
    jsonschema_rs.meta.validate({"$schema": "http://json-schema.org/draft-07/schema#", **builtin.output_schema})


@every
def test_every_parameter_is_described(builtin: Builtin) -> None:
    assert all(parameter["description"] for parameter in builtin.input_schema.get("properties", {}).values())


@every
def test_the_examples_of_an_operation_run_and_fit_its_schemas(builtin: Builtin) -> None:
    assert builtin.output_schema is not None
    takes = jsonschema_rs.Draft7Validator(dict(builtin.input_schema))
    gives = jsonschema_rs.Draft7Validator(dict(builtin.output_schema), validate_formats=True)
    for arguments in [*builtin.input_schema["examples"], CALLS[builtin.name]]:
        takes.validate(arguments)
        gives.validate(orjson.loads(orjson.dumps(builtin.run(arguments))))


def test_echo_mirrors_whatever_it_is_sent() -> None:
    echo = next(builtin for builtin in BUILTINS if builtin.name == "echo")
    assert echo.run(CALLS["echo"]) == {"echo": CALLS["echo"]}
    assert echo.run({}) == {"echo": {}}


def test_math_eval_answers_as_the_requirement_says() -> None:
    math_eval = next(builtin for builtin in BUILTINS if builtin.name == "math_eval")
    assert orjson.dumps(math_eval.run({"expression": "2+2"})) == b'{"result":4}'
