"""Untrusted YAML and JSON: parsed with limits, and written so that they can be parsed again."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from pegboard.model.documents import MAX_DEPTH, DocumentError, read_json, read_yaml, write_yaml

# YAML cannot express every code point: surrogates are not allowed, and a byte order mark is not text.
texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\ufeff"))
scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts
lookalikes = st.sampled_from(
    ["on", "No", "~", "null", "0o14", "0x1F", "1e5", ".5", "5.", "+1", "12:30", "<<", "=", "2026-01-31", "1_000", "-"]
)
values = st.recursive(
    scalars | lookalikes,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts | lookalikes, inner, max_size=4),
    max_leaves=20,
)


def same(one: Any, other: Any) -> bool:
    return json.dumps(one) == json.dumps(other)


@given(values)
def test_whatever_is_written_is_read_back_the_same(value: Any) -> None:
    assert same(read_yaml(write_yaml(value)).values, [value])


@given(st.dictionaries(st.from_regex(r"[a-z]{1,8}", fullmatch=True), values, max_size=4))
def test_older_readers_read_it_the_same(value: dict[str, Any]) -> None:
    assert yaml.safe_load(write_yaml(value)) == value


@given(st.text())
def test_no_text_does_anything_but_be_read_or_refused(text: str) -> None:
    for read in (read_yaml, read_json):
        try:
            read(text)
        except DocumentError as refused:
            assert refused.message


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("on: yes", {"on": "yes"}),
        ("1: a\ntrue: b\nnull: c", {"1": "a", "true": "b", "null": "c"}),
        ("[true, False, null, ~, '']", [True, False, None, None, ""]),
        ("[1, -2, 010, 0o10, 0x10, 1_000]", [1, -2, 10, 8, 16, "1_000"]),
        ("[1.5, 1e3, .5, 12:30, 2026-01-31]", [1.5, 1000.0, 0.5, "12:30", "2026-01-31"]),
        ("a: &x {b: 1}\nc: *x", {"a": {"b": 1}, "c": {"b": 1}}),
        ("a: &x {b: 1, c: 2}\nd: {<<: *x, c: 3}", {"a": {"b": 1, "c": 2}, "d": {"b": 1, "c": 3}}),
        ("a: &x {b: 1}\nd: {<<: [*x, {b: 2, c: 3}]}", {"a": {"b": 1}, "d": {"b": 1, "c": 3}}),
        ('"<<": 1', {"<<": 1}),
        ("123456789012345678901234567890", 123456789012345678901234567890),
    ],
)
def test_yaml_is_read_by_the_core_schema(text: str, value: Any) -> None:
    assert same(read_yaml(text).values, [value])


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("a: 1\nb: 2\na: 3", 3, "the key 'a' is given twice, first in line 1"),
        ("a:\n  - !!python/object:os.system x", 2, "tags such as"),
        ("a: !!binary aGk=", 1, "tags such as"),
        ("a: !thing {}", 1, "tags such as"),
        ("a: ! x", 1, "tags such as"),
        ("? [1, 2]\n: x", 1, "a key must be a plain text"),
        ("a: &a [*a]", 1, "refers to itself"),
        ("a: *nothing", 1, "refers to itself, or to nothing"),
        ("\na: .inf", 2, "not a number in JSON"),
        ("a: .NaN", 1, "not a number in JSON"),
        ("a: 1e999", 1, "not a number in JSON"),
        (f"a: {'9' * 5000}", 1, "limit"),
        ("a: 1\n<<: 3", 2, "<< merges a mapping"),
        ("a: [1", None, "not YAML"),
        ("a: b: c", 1, "not YAML"),
        ("a: \x07", 1, "not YAML"),
        ("[" * (MAX_DEPTH + 2), 1, f"nested more than {MAX_DEPTH} levels"),
        ("[" * 200_000, 1, "nested more than"),
    ],
)
def test_what_json_cannot_say_is_refused_with_its_line(text: str, line: int | None, reason: str) -> None:
    with pytest.raises(DocumentError) as refused:
        read_yaml(text)
    assert reason in refused.value.message
    assert line in (None, refused.value.line)


def bomb(width: int, levels: int) -> str:
    lines = [f"l0: &l0 [{', '.join('x' for _ in range(width))}]"]
    for level in range(1, levels):
        lines.append(f"l{level}: &l{level} [{', '.join(f'*l{level - 1}' for _ in range(width))}]")
    return "\n".join(lines)


def test_aliases_that_grow_beyond_measure_are_refused() -> None:
    with pytest.raises(DocumentError, match="more than 1,000,000 values"):
        read_yaml(bomb(10, 30))


@pytest.mark.parametrize("long", [f"{'x' * 1_000_000}", f"{{? {'x' * 1_000_000} : 1}}", f"[a, [{'x' * 1_000_000}]]"])
def test_aliases_that_repeat_a_long_text_are_refused(long: str) -> None:
    with pytest.raises(DocumentError, match="more than 16,000,000 characters") as refused:
        read_yaml(f"a: &a {long}\nb: &b [{', '.join(['*a'] * 10)}]\nc: [*b, *b]")
    assert refused.value.line == 3


def test_a_long_text_may_be_repeated_a_few_times() -> None:
    [value] = read_yaml(f"a: &a {'x' * 1_000_000}\nb: [*a, *a, *a]").values
    assert value["b"] == [value["a"]] * 3


def test_aliases_that_only_make_it_deep_are_refused() -> None:
    with pytest.raises(DocumentError, match="levels deep"):
        read_yaml(bomb(1, 300))


def test_aliases_of_a_reasonable_size_are_read() -> None:
    [value] = read_yaml(bomb(10, 4)).values
    assert len(value["l3"]) == 10


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"a": 1, "b": {"c": 1, "c": 2}}', "the key 'c' is given twice"),
        ("[NaN]", "not a number in JSON"),
        ("[1e999]", "not a number in JSON"),
        ("{'a': 1}", "not JSON"),
        ("[" * 200_000, "nested too deeply"),
        (f"[{'9' * 5000}]", "limit"),
    ],
)
def test_what_is_no_json_is_refused(text: str, reason: str) -> None:
    with pytest.raises(DocumentError) as refused:
        read_json(text)
    assert reason in refused.value.message
