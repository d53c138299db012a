"""Display of any value in any format: short, and without control characters for a terminal."""

from __future__ import annotations

import unicodedata
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from pegboard.display.format import (
    MAX_LINE_CHARS,
    MAX_TEXT_CHARS,
    format_arguments,
    format_line,
    format_result_line,
    format_result_text,
    format_text,
    summarize_output,
)
from pegboard.display.names import format_tool_args, summarize_call
from pegboard.display.readable import mask_credentials
from pegboard.model.display_format import Display, Format
from pegboard.model.secrets import MASK
from tests.unit.dialects.web_dialects import JSON

NAMES = st.sampled_from(["a", "b", "price", "rows", "columns", "status", "headers", "body", "password", "ä"])
SQL = st.lists(
    st.sampled_from(
        ["select", "(", ")", "'", '"', "--", "/*", "*/", "\n", " ", "a", ";", "$$", "union", "1", "\\", "["]
    )
).map(" ".join)
TEXTS = st.text() | st.text(st.characters(categories=["Cc", "Cf", "Cs", "Zl", "Zp", "Lu"])) | SQL
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXTS,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(NAMES | TEXTS, inner, max_size=5),
    max_leaves=15,
)
FORMATS = st.one_of(
    st.sampled_from(["text", "code", "sql", "json", "http", "bytes", "datetime"]).map(lambda name: Format(style=name)),
    st.builds(Format, style=st.just("money"), currency=st.sampled_from([None, "EUR"]), scale=st.integers(0, 18)),
    st.builds(Format, style=st.just("duration"), unit=st.sampled_from(["us", "ms", "s", "min", "h"])),
    st.builds(Format, style=st.just("percent"), whole=st.sampled_from([None, 1, 100])),
    st.builds(Format, style=st.just("table"), columns=st.none() | st.lists(NAMES, max_size=9).map(tuple)),
)
STEPS = st.sampled_from(["a", "price", "rows", "password"])
PATHS = st.lists(STEPS | st.just("[]"), min_size=1, max_size=3).map(
    lambda steps: "".join(step if step == "[]" else f".{step}" for step in steps).removeprefix(".")
)


def check(text: str, longest: int, *, lines: bool = False) -> None:
    assert len(text) <= longest
    unseen = {char for char in text if unicodedata.category(char) in ("Cc", "Cs", "Zl", "Zp")}
    assert unseen <= ({"\n"} if lines else set())
    # Characters that change the direction of a text, or isolate it.
    assert not {char for char in text if unicodedata.bidirectional(char) in {"LRE", "RLE", "LRO", "RLO", "PDF"}}
    assert not {char for char in text if unicodedata.bidirectional(char) in {"LRI", "RLI", "FSI", "PDI"}}


@given(VALUES | JSON, FORMATS)
@example("select '", Format(style="sql"))
@example("(select " * 2000, Format(style="sql"))
@example("x\x1b[2J\u202e\ud800\x9b", Format(style="code"))
@example([{"a": "x" * 100, **{str(n): "y" * 100 for n in range(20)}}] * 1000, Format(style="table"))
@example("into " * 5000, Format(style="sql"))
def test_any_value_is_written_in_any_format(value: Any, format: Format) -> None:
    check(format_line(value, format), MAX_LINE_CHARS)
    check(format_text(value, format), MAX_TEXT_CHARS, lines=True)


@given(VALUES, st.dictionaries(PATHS, FORMATS, max_size=4), FORMATS | st.none())
def test_any_result_is_written_by_any_display(value: Any, fields: dict[str, Format], whole: Format | None) -> None:
    display = Display(arguments=fields, fields=fields, result=whole)
    check(format_result_line(value, display) or summarize_output(value), MAX_LINE_CHARS)
    check(format_result_text(value, display) or "", MAX_TEXT_CHARS, lines=True)
    if isinstance(value, dict):
        check(summarize_call("Tool", format_arguments(value, display)), MAX_LINE_CHARS + len("..."))


@given(VALUES)
def test_any_arguments_are_shown_without_what_a_terminal_obeys(value: Any) -> None:
    check(format_tool_args({"value": value}), 10**6, lines=True)
    check(summarize_call("Tool", {"value": value}), MAX_LINE_CHARS + len("..."))


def test_what_looks_like_a_token_is_masked_in_one_go_whether_it_ends_like_one_or_not() -> None:
    token = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl"
    assert token not in mask_credentials(f"see {token} there")
    assert mask_credentials(f"see {token} there") == f"see {MASK} there"
    # Each possible start of a secret is either within a masked part, or examined once.
    assert mask_credentials("eyJ-" * 2500) == MASK
    assert mask_credentials("Eyjafjallajökull and eyjafjallajokull.is") == "Eyjafjallajökull and eyjafjallajokull.is"
