"""The styles of parameters: OpenAPI's table, and values that cannot be written."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qsl, unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard.kinds.http.config import ParameterStyle
from pegboard.kinds.http.parameter_styles import (
    ParameterPlace,
    UnsendableValue,
    WriteParameter,
    check_style,
    format_scalar,
    make_cookie_writer,
    make_header_writer,
    make_path_writer,
    make_query_writer,
    make_value_writer,
)
from pegboard.model.call_errors import Misconfigured

WRITERS: dict[str, Callable[..., WriteParameter]] = {
    "path": make_path_writer,
    "query": make_query_writer,
    "header": make_header_writer,
    "cookie": make_cookie_writer,
    "slot": make_value_writer,
}
ARRAY = ["blue", "black", "brown"]
OBJECT = {"R": 100, "G": 200, "B": 150}
NESTED = {"a": [1, {"b": "x y"}], "c": None}
IN_QUERY = {"form", "spaceDelimited", "pipeDelimited", "deepObject", "json"}
ALLOWED: dict[ParameterPlace, set[str]] = {
    "path": {"simple", "label", "matrix", "json"},
    "query": IN_QUERY,
    "header": {"simple", "json"},
    "cookie": {"form", "json"},
    "form": IN_QUERY,
}
STYLES = ["form", "simple", "label", "matrix", "spaceDelimited", "pipeDelimited", "deepObject", "json"]
POSSIBLE = [(place, style) for place, allowed in ALLOWED.items() for style in sorted(allowed)]
IMPOSSIBLE = [(place, style) for place in ALLOWED for style in STYLES if (place, style) not in POSSIBLE]

# In the order of: a string, an empty string, an array, an empty one, an object, an empty one, a nested value.
VALUES: list[Any] = ["blue", "", ARRAY, [], OBJECT, {}, NESTED]
A, B = "%5B1%2C%7B%22b%22%3A%22x%20y%22%7D%5D", '[1,{"b":"x y"}]'
COOKIE_A = "[1%2C{%22b%22:%22x%20y%22}]"
TABLE: dict[tuple[str, str, bool | None], list[str | None]] = {
    ("path", "simple", False): ["blue", "", "blue,black,brown", None, "R,100,G,200,B,150", None, f"a,{A}"],
    ("path", "simple", True): ["blue", "", "blue,black,brown", None, "R=100,G=200,B=150", None, f"a={A}"],
    ("path", "label", False): [".blue", ".", ".blue,black,brown", None, ".R,100,G,200,B,150", None, f".a,{A}"],
    ("path", "label", True): [".blue", ".", ".blue.black.brown", None, ".R=100.G=200.B=150", None, f".a={A}"],
    ("path", "matrix", False): [
        ";color=blue", ";color", ";color=blue,black,brown", None, ";color=R,100,G,200,B,150", None, f";color=a,{A}",
    ],
    ("path", "matrix", True): [
        ";color=blue", ";color", ";color=blue;color=black;color=brown", None, ";R=100;G=200;B=150", None, f";a={A}",
    ],
    ("query", "form", False): [
        "color=blue", "color=", "color=blue,black,brown", None, "color=R,100,G,200,B,150", None, f"color=a,{A}",
    ],
    ("query", "form", True): [
        "color=blue", "color=", "color=blue&color=black&color=brown", None, "R=100&G=200&B=150", None, f"a={A}",
    ],
    ("query", "spaceDelimited", False): [
        "color=blue", "color=", "color=blue%20black%20brown", None, "color=R%20100%20G%20200%20B%20150", None,
        f"color=a%20{A}",
    ],
    ("query", "spaceDelimited", True): [
        "color=blue", "color=", "color=blue&color=black&color=brown", None, "R=100&G=200&B=150", None, f"a={A}",
    ],
    ("query", "pipeDelimited", False): [
        "color=blue", "color=", "color=blue%7Cblack%7Cbrown", None, "color=R%7C100%7CG%7C200%7CB%7C150", None,
        f"color=a%7C{A}",
    ],
    ("query", "pipeDelimited", True): [
        "color=blue", "color=", "color=blue&color=black&color=brown", None, "R=100&G=200&B=150", None, f"a={A}",
    ],
    ("query", "deepObject", True): [
        "color=blue", "color=", "color=blue&color=black&color=brown", None,
        "color%5BR%5D=100&color%5BG%5D=200&color%5BB%5D=150", None,
        "color%5Ba%5D=1&color%5Ba%5D=%7B%22b%22%3A%22x%20y%22%7D",
    ],
    ("header", "simple", False): ["blue", "", "blue,black,brown", None, "R,100,G,200,B,150", None, f"a,{B}"],
    ("header", "simple", True): ["blue", "", "blue,black,brown", None, "R=100,G=200,B=150", None, f"a={B}"],
    ("cookie", "form", False): [
        "color=blue", "color=", "color=blue,black,brown", None, "color=R,100,G,200,B,150", None, f"color=a,{COOKIE_A}",
    ],
    ("cookie", "form", True): [
        "color=blue", "color=", "color=blue; color=black; color=brown", None, "R=100; G=200; B=150", None,
        f"a={COOKIE_A}",
    ],
    ("slot", "form", True): ["blue", "", "blue,black,brown", None, "R,100,G,200,B,150", None, f"a,{A}"],
    ("slot", "pipeDelimited", False): [
        "blue", "", "blue%7Cblack%7Cbrown", None, "R%7C100%7CG%7C200%7CB%7C150", None, f"a%7C{A}",
    ],
}  # fmt: skip
# deepObject has no other form than one pair per entry.
TABLE["query", "deepObject", False] = TABLE["query", "deepObject", True]
CASES = [
    pytest.param(*key, VALUES[column], expected, id=f"{'-'.join(map(str, key))}-{column}")
    for key, row in TABLE.items()
    for column, expected in enumerate(row)
]
DEFAULTS: dict[str, tuple[str, str, bool]] = {
    "path": ("path", "simple", False),
    "query": ("query", "form", True),
    "header": ("header", "simple", False),
    "cookie": ("cookie", "form", True),
    "slot": ("slot", "form", True),
}
NOT_EXPLODED = [key for key in TABLE if key[2] is False and key[0] != "slot" and key[1] != "form"]


@pytest.mark.parametrize(("place", "style", "explode", "value", "expected"), CASES)
def test_each_style_is_written_as_the_openapi_table_has_it(
    place: str, style: Any, explode: bool, value: Any, expected: str | None
) -> None:
    write = WRITERS[place]("color", ParameterStyle(style=style, explode=explode))
    assert write(value) == expected


@pytest.mark.parametrize("place", list(WRITERS))
def test_without_a_style_the_one_usual_in_the_place_is_taken(place: str) -> None:
    write = WRITERS[place]("color")
    assert [write(value) for value in VALUES] == TABLE[DEFAULTS[place]]


@pytest.mark.parametrize(("place", "style", "_"), NOT_EXPLODED)
def test_every_style_but_form_is_not_exploded_unless_it_says_so(place: str, style: Any, _: bool) -> None:
    write = WRITERS[place]("color", ParameterStyle(style=style))
    assert [write(value) for value in VALUES] == TABLE[place, style, False]


@pytest.mark.parametrize("place", ["query", "cookie"])
def test_form_is_exploded_unless_it_says_otherwise(place: str) -> None:
    write = WRITERS[place]("color", ParameterStyle(style="form"))
    assert [write(value) for value in VALUES] == TABLE[place, "form", True]


@pytest.mark.parametrize("place", list(WRITERS))
@pytest.mark.parametrize("value", [*VALUES, 5, 1.5, True, "ä\n;,"])
def test_the_style_json_writes_the_value_as_json_text(place: str, value: Any) -> None:
    written = WRITERS[place]("color", ParameterStyle(style="json"))(value)
    assert written is not None
    text = unquote(written).removeprefix("color=")
    assert written.startswith("color=") is (place in {"query", "cookie"})
    assert json.loads(text) == value
    assert written.isascii()


@pytest.mark.parametrize(("place", "style"), [(place, style) for place, style in POSSIBLE if place != "form"])
def test_null_is_left_out_everywhere(place: str, style: Any) -> None:
    write = WRITERS[place]("color", ParameterStyle(style=style))
    assert write(None) is None
    if style != "json":
        assert (write([None]), write({"a": None})) == (None, None)
        assert write(["x", None]) == write(["x"])


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (True, "true"), (False, "false"), (0, "0"), (-7, "-7"), (1.0, "1.0"), (0.1, "0.1"), (-2.5, "-2.5"),
        (2**64, "18446744073709551616"), (-(10**40), "-1" + "0" * 40), ("", ""), ("x", "x"),
        ([1, None], "[1,null]"), ({"a": "ä"}, '{"a":"ä"}'), ([10**30], f"[{10**30}]"),
    ],
)  # fmt: skip
def test_single_values_are_text_as_json_writes_them(value: Any, expected: str) -> None:
    assert format_scalar(value) == expected


HOPELESS = [float("nan"), float("inf"), "\ud800", ["\udfff"], {"\ud800": 1}, {"a": "\ud800"}, {1j}, 10**5000]


@pytest.mark.parametrize("value", HOPELESS, ids=range(len(HOPELESS)))
@pytest.mark.parametrize("place", list(WRITERS))
def test_values_without_a_written_form_are_refused(place: str, value: Any) -> None:
    with pytest.raises(UnsendableValue):
        WRITERS[place]("color")(value)


@pytest.mark.parametrize("char", ["\r", "\n", "\0", "\x0b", "\x1f", "\x7f", "\x85"])
@pytest.mark.parametrize("make", [str, lambda text: [text], lambda text: {text: 1}, lambda text: {"a": text}])
def test_a_control_character_never_gets_into_a_header_or_cookie(char: str, make: Callable[[str], Any]) -> None:
    for writer in (make_header_writer, make_cookie_writer):
        with pytest.raises(UnsendableValue, match="control character"):
            writer("x")(make(f"a{char}b"))


def test_a_header_may_hold_a_tab_and_a_cookie_may_not() -> None:
    assert make_header_writer("x")("a\tb") == "a\tb"
    with pytest.raises(UnsendableValue):
        make_cookie_writer("x")("a\tb")


def test_a_cookie_keeps_what_it_may_hold_and_encodes_the_rest() -> None:
    write = make_cookie_writer("id")
    assert write("YWJj+/==") == "id=YWJj+/=="
    assert write('a;b,c d"e\\f%ä') == "id=a%3Bb%2Cc%20d%22e%5Cf%25%C3%A4"
    assert write({"a=b;c": "x"}) == "a%3Db%3Bc=x"
    assert make_cookie_writer("id", ParameterStyle(style="form", explode=False))(["a,b", "c"]) == "id=a%2Cb,c"


def test_reserved_characters_stay_if_allowed_unless_they_would_change_the_query() -> None:
    write = make_query_writer("q", ParameterStyle(style="form", allow_reserved=True))
    assert write(":/?#[]@!$&'()*+,;= %ä") == "q=:/?%23%5B%5D@!$%26'()*%2B,;=%20%25%C3%A4"
    assert write({"a=b": "c=d"}) == "a%3Db=c=d"


def test_deep_objects_continue_with_brackets() -> None:
    write = make_query_writer("f", ParameterStyle(style="deepObject"))
    text = write({"a": {"b": {"c": 1}}, "d": ["x", "y"], "e&": True, "n": None, "o": {}})
    assert parse_qsl(text or "") == [("f[a][b][c]", "1"), ("f[d]", "x"), ("f[d]", "y"), ("f[e&]", "true")]


@pytest.mark.parametrize(
    ("write", "value"),
    [
        (make_query_writer("o", None, {"api_key"}), {"api_key": "mine"}),
        (make_query_writer("o", ParameterStyle(style="deepObject"), {"o[k]"}), {"k": "mine"}),
        (make_cookie_writer("o", None, {"session"}), {"a": 1, "session": "mine"}),
    ],
)
def test_a_name_that_is_taken_cannot_be_written_through_an_object(write: WriteParameter, value: Any) -> None:
    with pytest.raises(UnsendableValue, match="which this tool sends by itself"):
        write(value)


@pytest.mark.parametrize(("place", "style"), POSSIBLE)
def test_a_style_that_exists_in_a_place_is_taken(place: ParameterPlace, style: Any) -> None:
    check_style("p", place, ParameterStyle(style=style))
    check_style("p", place, None)


@pytest.mark.parametrize(("place", "style"), IMPOSSIBLE)
def test_a_style_that_does_not_exist_in_a_place_is_a_fault_of_the_config(place: ParameterPlace, style: Any) -> None:
    with pytest.raises(Misconfigured, match=rf"config\.styles\.p: a {place} parameter .* '{style}'; use one of: "):
        check_style("p", place, ParameterStyle(style=style))


TEXTS = st.text(st.characters(codec="utf-8"))


@given(TEXTS, st.dictionaries(TEXTS, TEXTS), st.booleans())
def test_a_written_query_reads_back_as_what_it_was(name: str, values: dict[str, str], reserved: bool) -> None:
    style = ParameterStyle(style="form", allow_reserved=reserved)
    write = make_query_writer(name, style)
    assert parse_qsl(write(values) or "", keep_blank_values=True) == list(values.items())
    items = list(values.values())
    assert parse_qsl(write(items) or "", keep_blank_values=True) == [(name, item) for item in items]


@given(st.recursive(TEXTS | st.integers() | st.none(), lambda inner: st.lists(inner) | st.dictionaries(TEXTS, inner)))
def test_whatever_is_written_into_a_header_stays_on_its_line(value: Any) -> None:
    for write in (
        make_header_writer("x"),
        make_header_writer("x", ParameterStyle(style="json")),
        make_cookie_writer("x"),
    ):
        try:
            text = write(value) or ""
        except UnsendableValue:
            continue
        assert not set(text) & {"\r", "\n", "\0", "\x7f"}
