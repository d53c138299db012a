"""Checks and conversion of a tool's output."""

from __future__ import annotations

import dataclasses
import enum
import math
from collections import OrderedDict, defaultdict, namedtuple
from datetime import UTC, date, datetime
from typing import Any
from uuid import UUID

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from pegboard.model.call_errors import ContractViolation, ExecutionFailed, ResultTooLarge
from pegboard.model.tool import Kind, Tool
from pegboard.registry.compiled_tool import CompiledTool
from pegboard.stages.check_output import OutputChecker, encode_output

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
Pair = namedtuple("Pair", "left right")


class Colour(enum.Enum):
    RED = "red"
    ODD = math.nan


class Level(enum.IntEnum):
    HIGH = 3


class Point(BaseModel):
    x: float
    when: datetime = NOW


@dataclasses.dataclass
class Box:
    content: Any


class Word(str):
    """A string, and more."""

    __slots__ = ()


def compiled(**fields: Any) -> CompiledTool:
    tool = Tool("id", "owner", "quote", Kind.MOCK, {}, {}, NOW, NOW, **fields)
    return CompiledTool(tool, lambda _: (_ for _ in ()).throw(AssertionError("not run here")))


class TestAsJson:
    @pytest.mark.parametrize(
        ("output", "plain"),
        [
            (None, None),
            ((1, (2, 3)), [1, [2, 3]]),
            ({"a": Colour.RED, "b": Level.HIGH}, {"a": "red", "b": 3}),
            (UUID(int=1), "00000000-0000-0000-0000-000000000001"),
            ([NOW, date(2026, 1, 2)], ["2026-01-02T03:04:05+00:00", "2026-01-02"]),
            (Point(x=1.5), {"x": 1.5, "when": "2026-01-02T03:04:05Z"}),
            (
                Box([Box(Point(x=2)), Pair(1, 2)]),
                {"content": [{"content": {"x": 2.0, "when": "2026-01-02T03:04:05Z"}}, [1, 2]]},
            ),
            (OrderedDict(b=1, a=2), {"b": 1, "a": 2}),
            (defaultdict(list, a=[1]), {"a": [1]}),
            ({"a": Word("w"), "b": True}, {"a": "w", "b": True}),
            ("null", "null"),
            ({"n": None, "text": "null"}, {"n": None, "text": "null"}),
            (2**64 - 1, 2**64 - 1),
        ],
        ids=lambda value: str(value)[:30],
    )
    def test_it_becomes_the_text_of_plain_json_data(self, output: Any, plain: Any) -> None:
        data = orjson.loads(encode_output(output))
        assert data == plain
        assert type(data) is type(plain)

    @pytest.mark.parametrize(
        "output",
        [
            math.nan,
            [math.inf],
            {"a": {"b": (-math.inf,)}},
            Box(math.nan),
            [Box(Box(math.nan))],
            Point(x=math.nan),
            Colour.ODD,
            {"a": Colour.ODD},
        ],
        ids=str,
    )
    def test_a_number_that_is_not_finite_is_never_lost_silently(self, output: Any) -> None:
        with pytest.raises(ExecutionFailed, match="not finite"):
            encode_output(output)

    @pytest.mark.parametrize("output", [object(), b"x", {1}, {1: 2}, 2**64, -(2**63) - 1, "\ud800", {"a": print}, Box])
    def test_what_is_not_json_is_an_error_that_says_so(self, output: Any) -> None:
        with pytest.raises(ExecutionFailed, match="something that is not JSON: "):
            encode_output(output)

    def test_endless_output_is_an_error_too(self) -> None:
        circle: list[Any] = []
        circle.append(circle)
        deep: Any = 0
        for _ in range(2000):
            deep = [deep]
        for output in (circle, deep):
            with pytest.raises(ExecutionFailed, match="not JSON"):
                encode_output(output)

    @given(
        st.recursive(
            st.none()
            | st.booleans()
            | st.integers(-(2**63), 2**64 - 1)
            | st.floats(allow_nan=False, allow_infinity=False)
            | st.text(),
            lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
            max_leaves=20,
        )
    )
    def test_json_data_comes_out_as_it_went_in(self, output: Any) -> None:
        assert orjson.loads(encode_output(output)) == output


class TestChecker:
    def test_a_result_of_the_limit_passes_and_one_byte_more_does_not(self) -> None:
        checker = OutputChecker(max_bytes=10)
        assert checker.check(compiled(), "x" * 8) == b'"xxxxxxxx"'
        with pytest.raises(ResultTooLarge, match="returned 11 bytes of JSON, at most 10 are allowed"):
            checker.check(compiled(), "x" * 9)

    def test_the_tools_own_limit_counts_if_it_has_one(self) -> None:
        checker = OutputChecker(max_bytes=10)
        assert checker.check(compiled(max_result_bytes=20), "x" * 18)
        with pytest.raises(ResultTooLarge):
            checker.check(compiled(max_result_bytes=5), "xxxx")

    def test_the_output_schema_is_held_against_what_was_written(self) -> None:
        schema = {
            "type": "object",
            "properties": {"id": {"type": "string"}, "all": {"type": "array"}},
            "required": ["id"],
        }
        checker = OutputChecker(max_bytes=1000)
        checked = compiled(output_schema=schema)
        written = checker.check(checked, {"id": UUID(int=1), "all": (1,)})
        assert orjson.loads(written) == {"id": str(UUID(int=1)), "all": [1]}
        with pytest.raises(ContractViolation) as broken:
            checker.check(checked, {"id": 1, "all": {}})
        assert broken.value.message.startswith("The tool's output breaks its output schema: ")
        assert "'id'" in broken.value.message
        assert "'all'" in broken.value.message
        with pytest.raises(ContractViolation, match="The output must be a valid JSON object"):
            checker.check(checked, [1])

    def test_without_a_schema_anything_json_passes(self) -> None:
        assert OutputChecker(max_bytes=1000).check(compiled(), [1, "a", None]) == b'[1,"a",null]'
