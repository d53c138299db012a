"""json_query: JMESPath with results, error messages, and limits."""

from __future__ import annotations

import json
from typing import Any

import jmespath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard.kinds.builtin.json_query import json_query
from pegboard.model.call_errors import ExecutionFailed

SHOP = {
    "items": [
        {"name": "pen", "price": 2, "tags": ["small"]},
        {"name": "lamp", "price": 40.5, "tags": ["light", "big"]},
        {"name": "desk", "price": 120, "tags": ["big"]},
    ],
    "owner": {"name": "Ann"},
}


def result(query: str, data: Any = SHOP) -> Any:
    return json_query({"data": data, "query": query})["result"]


def error(query: Any, data: Any = SHOP) -> str:
    with pytest.raises(ExecutionFailed) as caught:
        json_query({"data": data, "query": query})
    return caught.value.message


@pytest.mark.parametrize(
    ("query", "value"),
    [
        ("owner.name", "Ann"),
        ("items[0].name", "pen"),
        ("items[-1].price", 120),
        ("items[*].name", ["pen", "lamp", "desk"]),
        ("items[?price > `10`].name", ["lamp", "desk"]),
        ("items[?name == 'pen'].{n: name, p: price}", [{"n": "pen", "p": 2}]),
        ("items[].tags[]", ["small", "light", "big", "big"]),
        ("items[?contains(tags, 'big')] | length(@)", 2),
        ("items[?tags == ['big']].name", ["desk"]),
        ("sort_by(items, &price)[-1].name", "desk"),
        ("sum(items[*].price)", 162.5),
        ("join(', ', items[*].name)", "pen, lamp, desk"),
        ("items[::-1].name | [0]", "desk"),
        ("items[?price > name]", []),
        ("*.name", ["Ann"]),
        ("map(&price, items)", [2, 40.5, 120]),
        ("nothing.here", None),
        ("@", SHOP),
    ],
)
def test_queries(query: str, value: Any) -> None:
    assert result(query) == value


def test_any_json_may_be_queried() -> None:
    assert result("@", None) is None
    assert result("[1]", [1, 2]) == 2
    assert result("length(@)", "four") == 4


@pytest.mark.parametrize(
    ("query", "received"),
    [
        ("items[", "The query ends too early at position 7 of the query"),
        ("items[?price >", "The query ends too early at position 15 of the query"),
        ("items name", "Unexpected 'name' at position 7 of the query"),
        ("items | #", "Unexpected '#' at position 9 of the query"),
        ("items['a", 'Unexpected "\'a" at position 7 of the query'),
        ("", "cannot be empty"),
        ("lenght(@)", "Unknown function 'lenght' in the query; did you mean 'length'? available: abs, avg"),
        ("length(@, @)", "Expected 1 argument for function length(), received 2"),
        ("length(`5`)", "length() in the query takes string or array or object, but was given number"),
        ("sum(items)", "sum() in the query takes array of number, but was given object"),
        ("items[::0]", "slice step cannot be zero"),
        ("&name", "that is not JSON"),
        ("to_number('1e999')", "that is not JSON"),
        ("to_number('99999999999999999999')", "that is not JSON"),
    ],
)
def test_an_error_says_what_is_wrong_and_where(query: str, received: str) -> None:
    assert received in error(query)


def nested(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("query", "data"),
    [
        ("[" * 2000, 1),
        ("(" * 2000, 1),
        ("!" * 1999 + "a", 1),
        ("{a:" * 600, 1),
        ("@|" * 999 + "@", 1),
        ("[]" * 1000, nested(60)),
        ("@", nested(5000)),
        ("to_string(@)", nested(5000)),
        ("@ == [@]", nested(5000)),
        ("[@,@]|" * 60 + "@", 1),
        ("[@,@]|" * 200 + "to_string(@)", 1),
        ("[@,@][]|" * 60 + "@", 1),
        ("[" + ",".join(["@"] * 900) + "][]|[" + ",".join(["@"] * 90) + "][]", [1] * 1000),
        (f"[[@,@]|{'[@,@]|' * 60}@, [@,@]|{'[@,@]|' * 60}@] | [0] == [1]", 1),
        ("[*].`" + json.dumps(["x" * 1900]) + "`", [1] * 100_000),
        ("[*].{a: @, b: 'y'}" * 100, [[1] * 1000] * 400),
        ("[" + ",".join(["@"] * 900) + "]", "a" * 500_000),
        ("[" + ",".join(["@"] * 900) + "][]", [1] * 500_000),
        ("[@,@]|join('',@)|" * 100 + "@", "a" * 1000),
        ("[0]|[" + ",".join(["@"] * 300) + "]|[*].[" + ",".join(["[0]<[1]"] * 80) + "]", [["x" * 10**6, "x" * 10**6]]),
        ("[*].[*].[*]", [[[1] * 100] * 100] * 100),
        ("sort(@)[0] || " * 100 + "@", list(range(500_000))),
        ("items[" + "9" * 1900 + "]", {"items": []}),
    ],
)
def test_hostile_queries_end(query: str, data: Any) -> None:
    try:
        answer = json_query({"data": data, "query": query})
    except ExecutionFailed as refused:
        assert len(refused.message) < 500
    else:
        assert len(json.dumps(answer)) < 16 * 2**20


def test_a_query_over_thousands_of_items_fits_the_budget() -> None:
    many = [{"name": f"n{number}", "price": number} for number in range(10_000)]
    assert len(result("[?price > `10`].{name: name, price: price}", many)) == 9_989


def test_long_queries_are_not_kept_in_memory() -> None:
    kept = jmespath.compile("owner.name")
    result("owner.name")
    assert jmespath.compile("owner.name") is kept
    result("owner.name" + " || owner.name" * 100)
    assert jmespath.compile("owner.name") is not kept, "the cache was emptied"


def test_arguments_that_cannot_be_used_are_named() -> None:
    assert error("a" * 2001) == "'query' may have at most 2000 characters, but has 2001"
    assert error(None) == "'query' must be a string, but is missing or null"
    with pytest.raises(ExecutionFailed, match="'data' is missing"):
        json_query({"query": "@"})


WORDS = """@ * & | ! . , : [ ] { } ( ) [? == < && || a b `1` 'x' "a" 0 -1 [] length( sort_by( to_number( map(& merge("""
words = st.sampled_from([" ", *WORDS.split()])
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from("ab"), inner),
    max_leaves=10,
)


@pytest.mark.filterwarnings("ignore:deprecated string literal syntax")  # jmespath tolerates `x` for `"x"`
@given(st.text() | st.lists(words, max_size=15).map("".join), values)
def test_any_query_gives_json_or_the_designed_error(query: str, data: Any) -> None:
    try:
        answer = json_query({"data": data, "query": query})
    except ExecutionFailed:
        return
    json.dumps(answer, allow_nan=False)


@given(
    st.sampled_from(
        ["a", "[*]", "[]", "a[?b == `1`]", "[0:2]", "{x: a, y: b}", "[a, b]", "a == b", "*", "to_string(@)"]
    ),
    values,
)
def test_answers_are_those_of_jmespath_itself(query: str, data: Any) -> None:
    assert result(query, data) == jmespath.search(query, data)
