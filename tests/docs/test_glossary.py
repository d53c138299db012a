"""The glossary has one entry for each word, and CONTRIBUTING links to it."""

from __future__ import annotations

from tests.docs.pages import prose_of, rows_of, text_of

PAGE = "docs/glossary.md"


def test_a_word_has_one_meaning() -> None:
    rows = rows_of(prose_of(PAGE))
    words = [row[0] for row in rows]
    assert {"tool", "dialect", "journal", "zygote"} <= set(words)
    assert [word for word in words if words.count(word) > 1] == []
    for word, meaning, *_ in rows:
        assert meaning, word


def test_contributors_are_led_to_it() -> None:
    assert "(docs/glossary.md)" in text_of("CONTRIBUTING.md")
