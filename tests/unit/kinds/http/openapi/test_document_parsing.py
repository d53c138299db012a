from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard.kinds.http.openapi.import_document import import_document, read_document
from pegboard.model.api_errors import Invalid
from tests.unit.kinds.http.openapi.make_documents import api

YAML = """
openapi: 3.0.3
info: {title: Made, version: 2020-01-01}
servers: [{url: https://api.example.com}]
paths:
  /on:
    get:
      operationId: yes
      responses:
        200: {description: 12:30}
"""


def refusal(text: str | bytes) -> str:
    with pytest.raises(Invalid) as caught:
        read_document(text)
    return caught.value.message


def test_json_and_yaml_say_the_same() -> None:
    document = api({"/a": {"get": {}}})
    assert read_document(json.dumps(document)) == document
    assert read_document(json.dumps(document, indent=1).encode()) == document
    assert read_document(b"\xef\xbb\xbf" + json.dumps(document).encode()) == document


def test_yaml_keys_are_texts_and_dates_and_words_are_unchanged() -> None:
    document = read_document(YAML)
    operation = document["paths"]["/on"]["get"]
    assert document["info"]["version"] == "2020-01-01"
    assert operation == {"operationId": "yes", "responses": {"200": {"description": "12:30"}}}
    assert import_document(document).definitions[0]["name"] == "yes"


def test_yaml_that_begins_with_a_brace_is_read_too() -> None:
    assert read_document("{openapi: 3.1.0, paths: {}}") == {"openapi": "3.1.0", "paths": {}}


def test_aliases_and_merges_are_filled_in() -> None:
    document = read_document("a: &a {x: 1}\nb: *a\nc: {<<: *a, y: 2}")
    assert document == {"a": {"x": 1}, "b": {"x": 1}, "c": {"x": 1, "y": 2}}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "it is empty"),
        (b"   \n", "it is empty"),
        ("<!doctype html><html>", "HTML or XML"),
        ("[1, 2]", "an API document is an object"),
        ("just words", "an API document is an object"),
        ("--- {a: 1}\n--- {b: 2}", "2 YAML documents"),
        ('{"openapi": "3.0.0",\n "paths": {,}}', "in line 2: not JSON"),
        ("openapi: 3.0.0\npaths: [", "in line"),
        ("a: 1\na: 2", "in line 2: the key 'a' is given twice"),
        ('{"a": 1, "a": 2}', "the key 'a' is given twice"),
        ("a: !!python/object:os.system x", "in line 1: tags such as"),
        ("a: &a [*a]", "refers to itself"),
        ("a: .nan", "not a number in JSON"),
        (b"\xff\xfe\x00", "not UTF-8"),
        ("x: " + "[" * 200, "nested more than 100 levels deep"),
        ('{"x": ' + "[" * 150 + "]" * 150 + "}", "nested more than 100 levels deep"),
        ('{"x": ' + "[" * 100_000 + "]" * 100_000 + "}", "nested too deeply"),
    ],
)
def test_what_is_no_document_is_refused_with_the_place(text: str | bytes, words: str) -> None:
    assert words in refusal(text)


def test_aliases_that_grow_beyond_measure_are_refused() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]
    assert "aliases counted in full" in refusal("\n".join(lines))


@given(st.text(max_size=200) | st.binary(max_size=200))
def test_any_text_is_read_or_refused(text: str | bytes) -> None:
    try:
        document = read_document(text)
    except Invalid:
        return
    assert isinstance(document, dict)


def test_a_document_given_as_an_object_may_not_be_too_deep_either() -> None:
    deep: dict[str, object] = {}
    for _ in range(200):
        deep = {"a": deep}
    with pytest.raises(Invalid, match="nested more than 100 levels deep"):
        import_document({"openapi": "3.1.0", "paths": {}, "x-deep": deep})
