"""Display of SQL, tables, HTTP answers, code and JSON, and of parts of results by their paths."""

from __future__ import annotations

from typing import Any

import pytest

from pegboard.display.format import format_line, format_result_line, format_result_text, format_text, summarize_output
from pegboard.model.display_format import Display, Format

SQL = Format(style="sql")
TABLE = Format(style="table")
HTTP = Format(style="http")


def display(**parts: Any) -> Display:
    return Display.model_validate(parts)


def test_sql_is_one_line_with_its_keywords_unchanged() -> None:
    assert (
        format_line("Select  a,\n  b\nFROM t\twhere x = 'two  words'", SQL)
        == "Select a, b FROM t where x = 'two words'"
    )


def test_a_comment_hides_nothing_behind_it() -> None:
    assert format_line("SELECT 1 -- one\nFROM t", SQL) == "SELECT 1 /* one */ FROM t"
    assert format_line("SELECT 1 -- */ DROP\n; DROP TABLE t", SQL) == "SELECT 1 /* * / DROP */ ; DROP TABLE t"
    assert format_line("SELECT '--', /* a\nb */ 2", SQL) == "SELECT '--', /* a b */ 2"


def test_a_long_literal_is_cut_and_what_follows_is_not() -> None:
    assert format_line(f"SELECT '{'x' * 500}' FROM t", SQL) == f"SELECT '{'x' * 49}…' FROM t"


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT * FROM users WHERE password = 'a s3cr3t pw'",
        "SELECT * FROM users WHERE \"apiKey\" = 'a s3cr3t pw'",
        "SELECT * FROM users WHERE u.token IN ('a s3cr3t pw')",
        "CREATE USER ada WITH PASSWORD 'a s3cr3t pw'",
        "ALTER USER ada IDENTIFIED BY 'a s3cr3t pw'",
        "INSERT INTO users (name, password) VALUES ('ada', 'a s3cr3t pw')",
        "SELECT 'postgres://ada:s3cr3t@db/x'",
    ],
)
def test_secrets_in_sql_are_masked(statement: str) -> None:
    for text in (format_line(statement, SQL), format_text(statement, SQL)):
        assert "s3cr3t" not in text
        assert "********" in text


def test_sql_at_length_has_a_line_for_each_clause() -> None:
    statement = (
        "select a, max(b) from t left join u on u.id = t.id and u.ok where a between 1 and 2 or a in "
        "(select id from v where x) group by a order by 2; delete from t"
    )
    assert format_text(statement, SQL).splitlines() == [
        "select a, max(b)",
        "from t",
        "left join u",
        "  on u.id = t.id",
        "  and u.ok",
        "where a between 1 and 2",
        "  or a in (",
        "    select id",
        "    from v",
        "    where x)",
        "group by a",
        "order by 2;",
        "delete from t",
    ]


def test_a_table_has_aligned_columns_and_says_what_is_left_out() -> None:
    rows = [{"id": n, "city": "東京" if n else "Oslo"} for n in range(1000)]
    lines = format_text(rows, TABLE).splitlines()
    assert lines[:4] == ["id  city", "──  ────", " 0  Oslo", " 1  東京"]
    assert (len(lines), lines[-1]) == (23, "… 980 more rows")
    assert format_line(rows, TABLE) == "1,000 rows (id, city)"


@pytest.mark.parametrize(
    ("value", "columns", "text"),
    [
        ([[1, "a"], [2, None]], None, "1  a\n2"),
        ([[1, "a"]], ["n", "word"], "n  word\n─  ────\n1  a"),
        ([{"a": 1, "b": 2}], ["b"], "b\n─\n2"),
        ([{"a": 1}, {"b": "x"}], None, "a  b\n─  ─\n1\n   x"),
        ({"columns": ["n"], "rows": [[1]]}, None, "n\n─\n1"),
        ({"a": [1, 2]}, None, "a\n─────\n[1,2]"),
        ([], None, "no rows"),
        ([{"a": "x\ny\x1b"}], None, "a\n────\nx y␛"),
        ([{"pin": 1234}], None, "     pin\n────────\n********"),
        ([{"name": "Authorization", "value": "x"}], ["value"], "value\n────────\n********"),
        ([1, 2], None, "[\n  1,\n  2\n]"),
        ("text", None, "text"),
    ],
)
def test_rows_of_any_shape_are_a_table(value: Any, columns: list[str] | None, text: str) -> None:
    assert format_text(value, Format.model_validate({"style": "table", "columns": columns})) == text


def test_a_wide_table_shows_its_first_columns() -> None:
    lines = format_text([{f"c{n}": n for n in range(11)}], TABLE).splitlines()
    assert lines[0].split() == [f"c{n}" for n in range(8)]
    assert lines[-1] == "… 3 more columns"


def test_an_http_answer_is_its_status_its_type_and_its_body() -> None:
    answer = {"status": 404, "headers": {"content-type": "application/json", "x-key": "k"}, "body": {"error": "none"}}
    assert format_line(answer, HTTP) == 'HTTP 404 Not Found · application/json · {"error":"none"}'
    assert format_text(answer, HTTP) == (
        'HTTP 404 Not Found\ncontent-type: application/json\n\n{\n  "error": "none"\n}'
    )


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"status": 204, "headers": {}, "body": None}, "HTTP 204 No Content"),
        ({"status": 799, "headers": None, "body": "x"}, "HTTP 799 · x"),
        ({"media_type": "image/png", "base64": "AAAA", "bytes": 2048}, "image/png · 2 KiB"),
        ("<p>\n hello", "<p> hello"),
        ({"token": "x"}, '{"token":"********"}'),
    ],
)
def test_a_body_alone_is_an_http_answer_too(value: Any, text: str) -> None:
    assert format_line(value, HTTP) == text


def test_code_keeps_its_lines_or_marks_where_they_end() -> None:
    code = "def f():\n\treturn 1\n"
    assert format_line(code, Format(style="code")) == "def f(): ⏎ return 1"
    assert format_text(code, Format(style="code")) == "def f():\n    return 1\n"


def test_json_in_a_text_is_the_json_it_holds() -> None:
    assert format_line('{"a": [1,  2]}', Format(style="json")) == '{"a":[1,2]}'
    assert format_text('{"a": 1, "password": "x"}', Format(style="json")) == '{\n  "a": 1,\n  "password": "********"\n}'
    assert format_line("[no json", Format(style="json")) == "[no json"


def test_parts_of_a_result_are_written_by_their_paths() -> None:
    output = {
        "order": {"total": 1250},
        "took": 350,
        "items": [{"price": n} for n in range(30)],
        "rows": [[1, 2], [3, 4]],
    }
    money = {"style": "money", "currency": "EUR", "scale": 2}
    shown = display(fields={"order.total": money, "took": {"style": "duration", "unit": "ms"}, "missing": "sql"})
    assert format_result_line(output, shown) == "order.total: EUR 12.50, took: 350 ms"
    shown = display(fields={"items[].price": money, "rows": "table"})
    first, *rows = (format_result_text(output, shown) or "").splitlines()
    assert first.startswith("items[].price: EUR 0.00, EUR 0.01, ")
    assert first.endswith("EUR 0.19, …")
    assert rows == ["rows:", "  1  2", "  3  4"]


def test_parts_are_written_within_the_whole() -> None:
    shown = display(result="table", fields={"[].price": {"style": "money", "scale": 2}, "[].took": "duration"})
    lines = (format_result_text([{"price": 1250, "took": 0.35}, {"price": 5, "took": 90}], shown) or "").splitlines()
    assert lines == ["price        took", "─────  ──────────", "12.50      350 ms", " 0.05  1 min 30 s"]
    assert (
        format_result_line([{"price": 1}], display(result="json", fields={"[].price": "bytes"})) == '[{"price":"1 B"}]'
    )


@pytest.mark.parametrize("path", ["password", "login.pin", "headers[].value", "args[]", "keys.api_key"])
def test_what_is_secret_is_masked_whatever_its_format(path: str) -> None:
    output = {
        "password": 5_5555,
        "login": {"pin": 5_5555},
        "headers": [{"name": "Authorization", "value": "55555"}],
        "args": ["--token", "55555"],
        "keys": {"api_key": "55555"},
    }
    for style in ("text", "money", "code"):
        for shown in (display(fields={path: style}), display(result="json", fields={path: style})):
            for text in (format_result_line(output, shown), format_result_text(output, shown)):
                assert text
                assert "********" in text
                assert "55" not in text


@pytest.mark.parametrize(
    ("output", "text"),
    [
        (None, "no result"),
        (5, "5"),
        (True, "true"),
        ("two\nlines", "two lines"),
        ("x" * 300, "x" * 199 + "…"),
        ([], "no items"),
        ([1], "1 item"),
        (list(range(1200)), "1,200 items"),
        ({}, "an empty object"),
        ({"city": "Oslo", "days": [1, 2], "at": {"x": 1}}, "city: Oslo, days: 2 items, at: {…}"),
        ({"pin": 1234, "b": 2, "c": 3, "d": 4, "e": 5, "f": 6}, "pin: ********, b: 2, c: 3, d: 4, … 2 more"),
    ],
)
def test_a_result_that_no_one_has_described_is_reported_by_its_type(output: Any, text: str) -> None:
    assert summarize_output(output) == text
