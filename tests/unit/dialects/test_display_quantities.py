"""Display of money, durations, sizes, shares and times."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard.display.format import format_line, format_text
from pegboard.model.display_format import Format


def style(name: str, **options: Any) -> Format:
    return Format.model_validate({"style": name, **options})


@pytest.mark.parametrize(
    ("value", "options", "text"),
    [
        (123_456, {"currency": "EUR", "scale": 2}, "EUR 1,234.56"),
        (5, {"currency": "EUR", "scale": 2}, "EUR 0.05"),
        (-123_456, {"currency": "EUR", "scale": 2}, "EUR -1,234.56"),
        (100, {"currency": "EUR", "scale": 2}, "EUR 1.00"),
        ("1250.5", {"scale": 2}, "12.505"),
        (12.5, {"currency": "USD"}, "USD 12.50"),
        (0.1, {}, "0.10"),
        (1234567, {"currency": "JPY"}, "JPY 1,234,567"),
        (1e22, {}, "10,000,000,000,000,000,000,000"),
        (-0.0, {}, "0"),
        ("12345678901234567890123456789012.34", {}, "12,345,678,901,234,567,890,123,456,789,012.34"),
        (1, {"scale": 18}, "0.000000000000000001"),
    ],
)
def test_money_is_exact(value: Any, options: dict[str, Any], text: str) -> None:
    assert format_line(value, style("money", **options)) == text


@given(st.integers(-(10**30), 10**30), st.integers(0, 18))
def test_no_digit_of_money_is_lost(minor: int, scale: int) -> None:
    text = format_line(minor, style("money", scale=scale))
    assert Decimal(text.replace(",", "")).as_tuple() == Decimal(f"{minor}e-{scale}").as_tuple()


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (3725, "s", "1 h 02 min"),
        (350, "ms", "350 ms"),
        (0.35, "s", "350 ms"),
        (0.25, "ms", "250 µs"),
        (1.5, "s", "1.5 s"),
        (59.96, "s", "1 min 00 s"),
        (0.9996, "s", "1 s"),
        (125, "s", "2 min 05 s"),
        (90, "min", "1 h 30 min"),
        (26, "h", "1 d 02 h"),
        (0, "s", "0 s"),
        (-90, "s", "-1 min 30 s"),
        (1, "us", "1 µs"),
        ("61", "s", "1 min 01 s"),
    ],
)
def test_a_duration_is_reported_in_the_units_that_matter(value: Any, unit: str, text: str) -> None:
    assert format_line(value, style("duration", unit=unit)) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0 B"), (512, "512 B"), (1536, "1.5 KiB"), (1_572_864, "1.5 MiB"), (2**30 - 1, "1 GiB"), (-2048, "-2 KiB")],
)
def test_bytes_are_reported_in_the_unit_that_keeps_them_short(value: int, text: str) -> None:
    assert format_line(value, style("bytes")) == text


@pytest.mark.parametrize(
    ("value", "whole", "text"),
    [
        (0.256, 1, "25.6 %"),
        (25.6, 100, "25.6 %"),
        (1, None, "100 %"),
        (-0.5, 1, "-50 %"),
        (0.00001, 1, "< 0.01 %"),
        (-0.00001, 1, "> -0.01 %"),
        (12.3456789, 1, "1,234.57 %"),
        (0, 1, "0 %"),
    ],
)
def test_a_share_is_reported_in_percent(value: float, whole: int | None, text: str) -> None:
    assert format_line(value, style("percent", whole=whole)) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("2026-11-16T04:40:28Z", "2026-11-16 04:40:28 UTC"),
        ("2026-11-16T04:40:28.123456+02:00", "2026-11-16 04:40:28.123 +02:00"),
        ("2026-11-16 10:00", "2026-11-16 10:00:00"),
        ("2026-11-16", "2026-11-16"),
        (1_763_267_000, "2025-11-16 04:23:20 UTC"),
        (1_763_267_000_000, "2025-11-16 04:23:20 UTC"),
        (0, "1970-01-01 00:00:00 UTC"),
    ],
)
def test_a_moment_keeps_its_zone(value: Any, text: str) -> None:
    assert format_line(value, style("datetime")) == text


@pytest.mark.parametrize("name", ["money", "duration", "bytes", "percent", "datetime"])
@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("soon", "soon"),
        (True, "true"),
        (None, "null"),
        ([1], "[1]"),
        ({"a": 1}, '{"a":1}'),
        (float("inf"), "null"),
        ("1e999999999", "1e999999999"),
        (10**400, "(a number of 1,329 bits)"),
        ("9" * 200, "9" * 200),
    ],
)
def test_what_is_no_such_number_is_plain_text(name: str, value: Any, text: str) -> None:
    assert format_line(value, style(name)) == text
    assert "".join(format_text(value, style(name)).split()) == text.replace(" ", "")


@pytest.mark.parametrize(
    ("value", "name", "text"),
    [
        (-0.00005, "percent", "> -0.01 %"),
        (0.00005, "percent", "< 0.01 %"),
        (0.000051, "percent", "0.01 %"),
        (-1e-12, "duration", "0 µs"),
        (-0.001, "bytes", "0 B"),
        (-0.5, "bytes", "-0.5 B"),
    ],
)
def test_next_to_nothing_has_no_sign_and_a_share_of_it_is_never_none(value: Any, name: str, text: str) -> None:
    assert format_line(value, style(name)) == text
