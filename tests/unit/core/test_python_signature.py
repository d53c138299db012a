"""The schema that a function's signature stands for."""

from __future__ import annotations

from typing import Any

import pytest

from pegboard.core.python_code import signature_of
from pegboard.registry.schemas import check_schema

NULL = {"type": "null"}


def parameter(text: str) -> dict[str, Any]:
    """The schema of the one parameter; whatever it is, it is a schema that can be registered."""
    schema = signature_of(f"def f({text}): pass")
    check_schema(schema, where="input_schema")
    (found,) = schema["properties"].values()
    return dict(found)


class TestAnnotations:
    @pytest.mark.parametrize(
        ("annotation", "schema"),
        [
            ("str", {"type": "string"}),
            ("int", {"type": "integer"}),
            ("float", {"type": "number"}),
            ("bool", {"type": "boolean"}),
            ("None", NULL),
            ("list", {"type": "array"}),
            ("list[float]", {"type": "array", "items": {"type": "number"}}),
            ("typing.List[str]", {"type": "array", "items": {"type": "string"}}),
            ("list[list[int]]", {"type": "array", "items": {"type": "array", "items": {"type": "integer"}}}),
            ("list[Any]", {"type": "array"}),
            ("set[int]", {"type": "array", "items": {"type": "integer"}}),
            ("Sequence[int]", {"type": "array", "items": {"type": "integer"}}),
            ("tuple[int, ...]", {"type": "array", "items": {"type": "integer"}}),
            ("tuple[int, str]", {"type": "array", "minItems": 2, "maxItems": 2}),
            ("dict", {"type": "object"}),
            ("dict[str, int]", {"type": "object", "additionalProperties": {"type": "integer"}}),
            ("Mapping[str, Any]", {"type": "object"}),
            ("str | None", {"anyOf": [{"type": "string"}, NULL]}),
            ("Optional[int]", {"anyOf": [{"type": "integer"}, NULL]}),
            ("Union[int, str, None]", {"anyOf": [{"type": "integer"}, {"type": "string"}, NULL]}),
            ("int | str | int", {"anyOf": [{"type": "integer"}, {"type": "string"}]}),
            ("int | Any", {}),
            ("Literal['a', 1, None]", {"enum": ["a", 1, None]}),
            ("Literal[True, 1]", {"enum": [True, 1]}),
            ("Literal[-1]", {"enum": [-1]}),
            ("Literal[Color.RED]", {}),
            ("Annotated[str, 'a symbol']", {"type": "string", "description": "a symbol"}),
            ("Annotated[str, Field(max_length=3)]", {"type": "string"}),
            ("'str'", {"type": "string"}),
            ("'list[int]'", {"type": "array", "items": {"type": "integer"}}),
            ("'not a type'", {}),
            ("Any", {}),
            ("object", {}),
            ("pd.DataFrame", {}),
            ("np.ndarray[int]", {}),
            ("f(x)", {}),
            ("1 + 1", {}),
        ],
    )
    def test_each_is_what_a_caller_may_send(self, annotation: str, schema: dict[str, Any]) -> None:
        assert parameter(f"a: {annotation}") == schema

    def test_none_means_anything(self) -> None:
        assert parameter("a") == {}

    def test_nesting_without_end_says_nothing_more(self) -> None:
        found: Any = parameter("a: " + "list[" * 60 + "int" + "]" * 60)
        depth = 0
        while found.get("items"):
            found, depth = found["items"], depth + 1
        assert 10 < depth < 40


class TestDefaults:
    @pytest.mark.parametrize(
        ("text", "schema"),
        [
            ("a: int = 14", {"type": "integer", "default": 14}),
            ("a=14", {"default": 14}),
            ("a: float = 1", {"type": "number", "default": 1}),
            ("a: float = -0.5", {"type": "number", "default": -0.5}),
            ("a: str = 'x'", {"type": "string", "default": "x"}),
            ("a: list = []", {"type": "array", "default": []}),
            ("a: dict = {'b': [1]}", {"type": "object", "default": {"b": [1]}}),
            ("a: str = None", {"anyOf": [{"type": "string"}, NULL], "default": None}),
            ("a: str | None = None", {"anyOf": [{"type": "string"}, NULL], "default": None}),
            ("a: Literal['x', 'y'] = 'y'", {"enum": ["x", "y"], "default": "y"}),
        ],
    )
    def test_each_is_the_default_of_the_schema(self, text: str, schema: dict[str, Any]) -> None:
        assert parameter(text) == schema
        assert "required" not in signature_of(f"def f({text}): pass")

    @pytest.mark.parametrize(
        "text",
        [
            "a=(1, 2)",
            "a={1}",
            "a=b'x'",
            "a=1e999",
            "a=2 ** 70",
            "a=99999999999999999999",
            "a=LIMIT",
            "a=f()",
            "a={1: 2}",
            "a='\\ud800'",
            "a='\\0'",
            "a=...",
            "a=1j",
        ],
    )
    def test_what_json_cannot_say_stays_the_functions_own(self, text: str) -> None:
        schema = signature_of(f"def f({text}): pass")
        assert schema["properties"] == {"a": {}}
        assert "required" not in schema

    def test_one_that_breaks_its_annotation_is_left_to_the_function(self) -> None:
        assert parameter("a: bool = 0") == {"type": "boolean"}
        assert parameter("a: int = 1.5") == {"type": "integer"}
        assert parameter("a: list[int] = ['x']") == {"type": "array", "items": {"type": "integer"}}


class TestWhole:
    def test_parameters_keep_their_order_and_those_without_default_are_required(self) -> None:
        assert signature_of("async def f(symbol: str, period: int = 14, *rest, fast, slow=2): pass") == {
            "type": "object",
            "properties": {
                "symbol": {"type": "string"},
                "period": {"type": "integer", "default": 14},
                "fast": {},
                "slow": {"default": 2},
            },
            "required": ["symbol", "fast"],
            "additionalProperties": False,
        }

    def test_a_function_that_takes_nothing_takes_nothing(self) -> None:
        assert signature_of("def f(): pass") == {"type": "object", "properties": {}, "additionalProperties": False}

    def test_keyword_arguments_take_all(self) -> None:
        assert signature_of("def f(a, **others): pass")["additionalProperties"] is True
        assert signature_of("def f(**others: int): pass")["additionalProperties"] == {"type": "integer"}
