"""The schema derived from a function's signature."""

from __future__ import annotations

from typing import Any

import pytest

from pegboard.json_schema.compile import check_schema
from pegboard.kinds.python.function_source import MAX_PARAMETERS, CodeProblem, read_signature

NULL = {"type": "null"}


def parameter(text: str) -> dict[str, Any]:
    """Return the schema of the one parameter, which can always be registered."""
    schema = read_signature(f"def f({text}): pass")
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
        assert "required" not in read_signature(f"def f({text}): pass")

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
        schema = read_signature(f"def f({text}): pass")
        assert schema["properties"] == {"a": {}}
        assert "required" not in schema

    def test_one_that_breaks_its_annotation_is_left_to_the_function(self) -> None:
        assert parameter("a: bool = 0") == {"type": "boolean"}
        assert parameter("a: int = 1.5") == {"type": "integer"}
        assert parameter("a: list[int] = ['x']") == {"type": "array", "items": {"type": "integer"}}


class TestWhole:
    def test_parameters_keep_their_order_and_those_without_default_are_required(self) -> None:
        assert read_signature("async def f(symbol: str, period: int = 14, *rest, fast, slow=2): pass") == {
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
        assert read_signature("def f(): pass") == {"type": "object", "properties": {}, "additionalProperties": False}

    def test_keyword_arguments_take_all(self) -> None:
        assert read_signature("def f(a, **others): pass")["additionalProperties"] is True
        assert read_signature("def f(**others: int): pass")["additionalProperties"] == {"type": "integer"}

    def test_a_function_takes_no_more_than_a_model_could_fill_in(self) -> None:
        def code(count: int) -> str:
            return f"def f({', '.join(f'a{place}' for place in range(count))}): pass"

        assert len(read_signature(code(MAX_PARAMETERS))["properties"]) == MAX_PARAMETERS
        with pytest.raises(CodeProblem, match=r"line 1: f\(\) takes 201 parameters, at most 200"):
            read_signature(code(MAX_PARAMETERS + 1))


class TestUnions:
    @pytest.mark.parametrize(("count", "message"), [(100, 100), (101, 0)])
    def test_one_of_more_than_a_hundred_options_says_nothing(self, count: int, message: int) -> None:
        options = ", ".join(f"Literal[{place}]" for place in range(count))
        assert len(parameter(f"a: Union[{options}]").get("anyOf", [])) == message

    def test_options_are_distinguished_as_json(self) -> None:
        found = parameter("a: Union[Literal[1], Literal[True], Literal[1]]")
        assert [str(option) for option in found["anyOf"]] == ["{'enum': [1]}", "{'enum': [True]}"]

    def test_an_annotation_in_quotes_is_read_if_it_is_short(self) -> None:
        assert parameter("a: 'int'") == {"type": "integer"}
        assert parameter(f"a: 'int{' ' * 1000}'") == {}
