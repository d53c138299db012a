"""Format numbers with units: money, durations, byte sizes, percentages and dates."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from decimal import Context, Decimal
from typing import Any

from pegboard.model.display_format import Format

_EXACT_CONTEXT = Context(prec=200)
_NUMBER_PATTERN = re.compile(r"[+-]?[0-9]{1,40}(?:\.[0-9]{1,40})?", re.ASCII)
_DATE_PATTERN = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", re.ASCII)
_MAX_DIGITS = 40
_SECONDS_BY_UNIT = {
    "us": Decimal("0.000001"),
    "ms": Decimal("0.001"),
    "s": Decimal(1),
    "min": Decimal(60),
    "h": Decimal(3600),
}
_SIZE_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")
_MAX_DATETIME_CHARS = 50
# Larger numbers are milliseconds, microseconds or nanoseconds.
_MAX_EPOCH_SECONDS = 10**11
_MAX_EPOCH_NANOSECONDS = 10**20


def format_money(value: Any, format: Format) -> str | None:
    """Return the exact amount with thousands separators, preceded by its currency."""
    amount = _parse_number(value)
    if amount is None:
        return None
    scale = format.scale or 0
    amount = _EXACT_CONTEXT.scaleb(amount, -scale)
    places = max(scale, _count_decimals(amount))
    text = f"{amount:,.{2 if places == 1 and not scale else places}f}"
    return f"{format.currency} {text}" if format.currency else text


def format_duration(value: Any, format: Format) -> str | None:
    """Return a duration in its one or two largest units."""
    amount = _parse_number(value)
    if amount is None:
        return None
    seconds = _EXACT_CONTEXT.multiply(abs(amount), _SECONDS_BY_UNIT[format.unit or "s"])
    return _add_sign(amount, _format_seconds(seconds))


def _format_seconds(seconds: Decimal) -> str:
    if 0 < seconds < Decimal("0.0009995"):
        return f"{_format_three_digits(seconds * 1_000_000)} µs"
    if 0 < seconds < Decimal("0.9995"):
        return f"{_format_three_digits(seconds * 1000)} ms"
    if seconds < Decimal("59.95"):
        return f"{_format_three_digits(seconds)} s"
    whole = round(seconds)
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02} s"
    if whole < 86_400:
        return f"{whole // 3600} h {whole % 3600 // 60:02} min"
    return f"{whole // 86_400:,} d {whole % 86_400 // 3600:02} h"


def format_size(value: Any, format: Format) -> str | None:
    """Return a number of bytes in the largest unit that fits."""
    amount = _parse_number(value)
    if amount is None:
        return None
    left, unit = abs(amount), 0
    while left >= Decimal("1023.95") and unit < len(_SIZE_UNITS) - 1:
        left, unit = left / 1024, unit + 1
    return _add_sign(amount, f"{_format_three_digits(left)} {_SIZE_UNITS[unit]}")


def format_percent(value: Any, format: Format) -> str | None:
    """Return a percentage with at most two decimals."""
    amount = _parse_number(value)
    if amount is None:
        return None
    share = _EXACT_CONTEXT.multiply(amount, Decimal(100 if format.whole in (None, 1) else 1))
    if 0 < abs(share) <= Decimal("0.005"):  # would be rounded to 0
        return "< 0.01 %" if share > 0 else "> -0.01 %"
    return f"{_trim_zeros(f'{share:,.2f}')} %"


def format_datetime(value: Any, format: Format) -> str | None:
    """Return a date or time in its own time zone; numbers are seconds, or fractions of them, since 1970."""
    if isinstance(value, str):
        return _format_datetime_text(value.strip())
    amount = _parse_number(value)
    if amount is None or abs(amount) >= _MAX_EPOCH_NANOSECONDS:
        return None
    while abs(amount) >= _MAX_EPOCH_SECONDS:
        amount /= 1000
    try:
        return _write_datetime(datetime.fromtimestamp(float(amount), UTC))
    except (ValueError, OverflowError):  # before the year 1
        return None


def _format_datetime_text(text: str) -> str | None:
    if len(text) > _MAX_DATETIME_CHARS or not text.isascii():
        return None
    try:
        read = datetime.fromisoformat(text)
    except ValueError:
        return None
    return text if _DATE_PATTERN.fullmatch(text) else _write_datetime(read)


def _write_datetime(read: datetime) -> str:
    day = read.replace(tzinfo=None).isoformat(" ", "milliseconds" if read.microsecond else "seconds")
    if read.tzinfo is None:
        return day
    zone = read.isoformat()[len(read.replace(tzinfo=None).isoformat()) :]
    return f"{day} {'UTC' if zone == '+00:00' else zone}"


def _parse_number(value: Any) -> Decimal | None:
    """Return the exact number, or None if it is not a number or has too many digits."""
    if isinstance(value, bool) or not isinstance(value, int | float | str | Decimal):
        return None
    if isinstance(value, str):
        text = value.strip()[: 2 * _MAX_DIGITS + 3]
        number = Decimal(text) if _NUMBER_PATTERN.fullmatch(text) else None
    elif isinstance(value, int):
        number = Decimal(value) if value.bit_length() < 3 * _MAX_DIGITS else None
    else:
        number = Decimal(repr(value)) if isinstance(value, float) else value
    if number is None or not number.is_finite() or abs(number.adjusted()) > _MAX_DIGITS:
        return None
    return number or Decimal(0)


def _count_decimals(amount: Decimal) -> int:
    exponent = amount.normalize(_EXACT_CONTEXT).as_tuple().exponent
    return max(0, -exponent) if isinstance(exponent, int) else 0


def _format_three_digits(amount: Decimal) -> str:
    """Return the amount with about three digits: 1.5, 12.3, 350."""
    return _trim_zeros(f"{amount:,.2f}" if amount < 10 else f"{amount:,.1f}" if amount < 100 else f"{amount:,.0f}")


def _add_sign(amount: Decimal, text: str) -> str:
    """Return the text with a minus sign if the amount is negative and the text is not zero."""
    return f"-{text}" if amount < 0 and not text.startswith("0 ") else text


def _trim_zeros(text: str) -> str:
    return text.rstrip("0").rstrip(".") if "." in text else text
