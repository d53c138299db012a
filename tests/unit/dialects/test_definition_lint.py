"""Findings about definitions that a provider would refuse or misread."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

import pytest

from pegboard.dialects.definition_lint import ToolLintResult, estimate_tokens, lint_definition, lint_definitions
from pegboard.dialects.plain import Plain
from pegboard.dialects.provider_rules import Limits
from pegboard.dialects.schema_adapters import fit_property_names, to_gemini_schema
from pegboard.dialects.shared.function_calls import define_function, get_provider_name
from pegboard.model.tool import Kind, Tool

NOW = datetime(2026, 1, 1, tzinfo=UTC)
NAMES = re.compile(r"[a-z_]{1,64}")


def tool(name: str = "quote", schema: Mapping[str, Any] | None = None, description: str = "Gives a quote.") -> Tool:
    """A tool with this schema."""
    given = {"type": "object", "properties": {}} if schema is None else schema
    return Tool(name, "o", name, Kind.MOCK, {}, given, NOW, NOW, description=description)


def tool_with_parameters(**properties: Any) -> Tool:
    """A tool with these parameters, each described."""
    described = {name: {"description": "What it is", **schema} for name, schema in properties.items()}
    return tool(schema={"type": "object", "properties": described})


def provider(adapted: Callable[[Any], Any] = lambda schema: schema, **bounds: Any) -> Plain:
    """Return a provider with these limits, which receives schemas adapted in this way."""

    class Provider(Plain):
        name = "provider"
        limits = Limits(**bounds)

        def define(self, tool: Tool) -> dict[str, Any]:
            return {**define_function(tool), "parameters": adapted(tool.input_schema)}

    return Provider()


def list_findings(linted: ToolLintResult) -> list[tuple[str, str]]:
    """Severity and field of each finding."""
    return [(finding.severity, finding.field) for finding in linted.findings]


def test_nothing_is_found_in_a_tool_that_every_provider_takes() -> None:
    linted = lint_definition(tool_with_parameters(city={"type": "string"}), provider())
    assert (linted.tool, linted.name, linted.findings) == ("quote", "quote", ())


@pytest.mark.parametrize(("definition", "count"), [({}, 1), ({"a": "b"}, 3), ("ééé", 2), ({"é": 1}, 2), ("", 0)])
def test_tokens_are_a_quarter_of_the_bytes_rounded_up(definition: Any, count: int) -> None:
    assert estimate_tokens(definition) == count


def test_a_name_that_was_replaced_is_noted_and_one_that_does_not_fit_is_refused() -> None:
    long = tool("x" * 80)
    linted = lint_definition(long, provider())
    assert (linted.name, list_findings(linted)) == (get_provider_name(long), [("note", "name")])
    assert list_findings(lint_definition(tool("Quote"), provider(name=NAMES))) == [("refuse", "name")]


def test_descriptions_that_are_missing_or_too_long_are_found() -> None:
    assert list_findings(lint_definition(tool(description=" "), provider())) == [("misread", "description")]
    linted = lint_definition(tool(description="x" * 11), provider(description=10))
    assert list_findings(linted) == [("refuse", "description")]
    assert "11 characters, provider accepts at most 10" in linted.findings[0].message


def test_parameters_without_a_description_are_named_in_one_note() -> None:
    schema = {"type": "object", "properties": {name: {"type": "string"} for name in "abcdefg"}}
    (finding,) = lint_definition(tool(schema=schema), provider()).findings
    assert (finding.severity, finding.field) == ("note", "input_schema.properties")
    assert "a, b, c, d, e…" in finding.message


def test_names_that_differ_in_case_and_hyphens_alone_are_mistaken_for_each_other() -> None:
    linted = lint_definition(
        tool_with_parameters(max_size={"type": "integer"}, maxSize={"type": "integer"}), provider()
    )
    assert list_findings(linted) == [
        ("misread", "input_schema.properties.max_size"),
        ("misread", "input_schema.properties.maxSize"),
    ]
    whole = lint_definitions([tool("get-x"), tool("get_x"), tool("other")], provider())
    assert [list_findings(each) for each in whole.tools] == [[("misread", "name")], [("misread", "name")], []]
    assert whole.findings == ()


def test_more_tools_than_a_provider_takes_are_refused_together() -> None:
    whole = lint_definitions([tool("one"), tool("two")], provider(tools=1))
    assert [(finding.severity, finding.field) for finding in whole.findings] == [("refuse", "tools")]
    assert whole.tokens >= sum(each.tokens for each in whole.tools)


def test_names_of_properties_are_refused_unless_they_are_replaced() -> None:
    odd = tool_with_parameters(**{"a b": {"type": "string"}})
    assert list_findings(lint_definition(odd, provider(property_name=NAMES))) == [
        ("refuse", "input_schema.properties.a b")
    ]
    replaced = provider(lambda schema: fit_property_names(schema, NAMES), property_name=NAMES)
    assert list_findings(lint_definition(odd, replaced)) == [("note", "input_schema.properties.a b")]


def test_keywords_are_refused_or_ignored_if_the_provider_is_known_to() -> None:
    picky = provider(refused=frozenset({"pattern"}), ignored=frozenset({"format"}))
    linted = lint_definition(tool_with_parameters(a={"type": "string", "pattern": "x", "format": "date"}), picky)
    assert list_findings(linted) == [
        ("refuse", "input_schema.properties.a.pattern"),
        ("misread", "input_schema.properties.a.format"),
    ]


def test_a_property_that_is_called_like_a_keyword_is_none() -> None:
    assert (
        lint_definition(
            tool_with_parameters(pattern={"type": "string"}), provider(refused=frozenset({"pattern"}))
        ).findings
        == ()
    )


def test_what_adapting_says_in_words_is_noted_and_what_it_loses_is_misread() -> None:
    it = tool_with_parameters(a={"type": "number", "exclusiveMinimum": 0, "not": {"const": 3}})
    assert list_findings(lint_definition(it, provider(to_gemini_schema))) == [
        ("misread", "input_schema.properties.a.not"),
        ("note", "input_schema.properties.a.exclusiveMinimum"),
    ]


def test_what_is_dropped_without_a_word_is_misread() -> None:
    bare = provider(lambda _: {"type": "object", "properties": {"a": {"type": "string"}}})
    assert list_findings(lint_definition(tool_with_parameters(a={"type": "string", "minLength": 2}), bare)) == [
        ("misread", "input_schema.properties.a.minLength")
    ]


def test_references_are_noted_if_they_are_inlined_and_misread_if_they_are_cut() -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"$ref": "#/definitions/x"}},
        "definitions": {"x": {"type": "string"}},
    }
    assert list_findings(lint_definition(tool(schema=schema), provider(to_gemini_schema))) == [
        ("note", "input_schema.properties.a.$ref")
    ]
    circle = {"type": "object", "properties": {"in": {"$ref": "#"}}}
    cutting = provider(lambda _: {"type": "object", "properties": {"in": {}}})
    assert list_findings(lint_definition(tool(schema=circle), cutting)) == [
        ("misread", "input_schema.properties.in.$ref")
    ]


def test_long_lists_of_choices_are_noted() -> None:
    linted = lint_definition(tool_with_parameters(a={"enum": [str(number) for number in range(101)]}), provider())
    assert list_findings(linted) == [("note", "input_schema.properties.a.enum")]


def test_a_declaration_without_a_place_for_parameters_is_misread() -> None:
    blind = provider(lambda _: None, has_schema=False)
    assert list_findings(lint_definition(tool_with_parameters(a={"type": "string"}), blind)) == [
        ("misread", "input_schema")
    ]
    assert lint_definition(tool(), blind).findings == ()


def test_schemas_that_are_too_deep_or_too_wide_are_refused() -> None:
    deep = tool_with_parameters(a={"type": "object", "properties": {"b": {"type": "string", "description": "b"}}})
    assert list_findings(lint_definition(deep, provider(depth=1))) == [("refuse", "input_schema")]
    assert list_findings(lint_definition(deep, provider(properties=1))) == [("refuse", "input_schema")]
    assert lint_definition(deep, provider(depth=2, properties=2)).findings == ()


def test_a_tool_that_cannot_be_strict_is_reported_with_the_reason() -> None:
    free = tool_with_parameters(
        a={"type": "object", "properties": {"b": {"type": "object", "description": "Anything"}}}
    )
    (finding,) = lint_definition(free, provider(strict=True)).findings
    assert (finding.severity, finding.field) == ("note", "input_schema")
    assert finding.message.endswith("'a.b': an object with undeclared properties")
    assert lint_definition(tool_with_parameters(a={"type": "string"}), provider(strict=True)).findings == ()


def test_a_declaration_in_words_is_counted_and_not_taken_apart() -> None:
    class Words(Plain):
        name = "words"
        limits = Limits(refused=frozenset({"type"}))

        def define(self, tool: Tool) -> Any:
            return f"{tool.name}: {tool.description}"

    linted = lint_definition(tool_with_parameters(a={"type": "string"}), Words())
    assert (linted.name, linted.tokens, linted.findings) == ("quote", 6, ())


def test_the_worst_comes_first() -> None:
    linted = lint_definition(tool("x" * 80, description=""), provider(name=re.compile("y")))
    assert [finding.severity for finding in linted.findings] == ["refuse", "misread"]
