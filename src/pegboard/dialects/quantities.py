"""Numbers as people read them: money, durations, sizes, shares, moments."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from decimal import Context, Decimal
from typing import Any

from pegboard.core.display import Format

_EXACT = Context(prec=200)
_NUMBER = re.compile(r"[+-]?[0-9]{1,40}(?:\.[0-9]{1,40})?", re.ASCII)
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", re.ASCII)
_MOST_DIGITS = 40
_SECONDS = {"us": Decimal("0.000001"), "ms": Decimal("0.001"), "s": Decimal(1), "min": Decimal(60), "h": Decimal(3600)}
_SIZES = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")
_LONGEST_MOMENT = 50
# A number past this counts thousandths, millionths or billionths of a second.
_MOST_SECONDS = 10**11
_MOST_NANOSECONDS = 10**20


def money(value: Any, format: Format) -> str | None:
    """The exact amount, its thousands apart, after its currency."""
    amount = _number(value)
    if amount is None:
        return None
    scale = format.scale or 0
    amount = _EXACT.scaleb(amount, -scale)
    places = max(scale, _places(amount))
    text = f"{amount:,.{2 if places == 1 and not scale else places}f}"
    return f"{format.currency} {text}" if format.currency else text


def duration(value: Any, format: Format) -> str | None:
    """A time that passes, in the two units that matter."""
    amount = _number(value)
    if amount is None:
        return None
    seconds = _EXACT.multiply(abs(amount), _SECONDS[format.unit or "s"])
    return _signed(amount, _passing(seconds))


def _passing(seconds: Decimal) -> str:
    if 0 < seconds < Decimal("0.0009995"):
        return f"{_short(seconds * 1_000_000)} µs"
    if 0 < seconds < Decimal("0.9995"):
        return f"{_short(seconds * 1000)} ms"
    if seconds < Decimal("59.95"):
        return f"{_short(seconds)} s"
    whole = round(seconds)
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02} s"
    if whole < 86_400:
        return f"{whole // 3600} h {whole % 3600 // 60:02} min"
    return f"{whole // 86_400:,} d {whole % 86_400 // 3600:02} h"


def size(value: Any, format: Format) -> str | None:
    """A number of bytes, in the unit that keeps it short."""
    amount = _number(value)
    if amount is None:
        return None
    left, unit = abs(amount), 0
    while left >= Decimal("1023.95") and unit < len(_SIZES) - 1:
        left, unit = left / 1024, unit + 1
    return _signed(amount, f"{_short(left)} {_SIZES[unit]}")


def percent(value: Any, format: Format) -> str | None:
    """A share of the whole, to a hundredth of a percent."""
    amount = _number(value)
    if amount is None:
        return None
    share = _EXACT.multiply(amount, Decimal(100 if format.whole in (None, 1) else 1))
    if 0 < abs(share) <= Decimal("0.005"):  # which would be rounded to nothing
        return "< 0.01 %" if share > 0 else "> -0.01 %"
    return f"{_trimmed(f'{share:,.2f}')} %"


def moment(value: Any, format: Format) -> str | None:
    """A date or a time of day in the zone it is given in; numbers count seconds, or parts of them, from 1970."""
    if isinstance(value, str):
        return _from_text(value.strip())
    amount = _number(value)
    if amount is None or abs(amount) >= _MOST_NANOSECONDS:
        return None
    while abs(amount) >= _MOST_SECONDS:
        amount /= 1000
    try:
        return _shown(datetime.fromtimestamp(float(amount), UTC))
    except (ValueError, OverflowError):  # before the year 1
        return None


def _from_text(text: str) -> str | None:
    if len(text) > _LONGEST_MOMENT or not text.isascii():
        return None
    try:
        read = datetime.fromisoformat(text)
    except ValueError:
        return None
    return text if _DATE.fullmatch(text) else _shown(read)


def _shown(read: datetime) -> str:
    day = read.replace(tzinfo=None).isoformat(" ", "milliseconds" if read.microsecond else "seconds")
    if read.tzinfo is None:
        return day
    zone = read.isoformat()[len(read.replace(tzinfo=None).isoformat()) :]
    return f"{day} {'UTC' if zone == '+00:00' else zone}"


def _number(value: Any) -> Decimal | None:
    """The exact number, where it is one that can be written out."""
    if isinstance(value, bool) or not isinstance(value, int | float | str | Decimal):
        return None
    if isinstance(value, str):
        text = value.strip()[: 2 * _MOST_DIGITS + 3]
        number = Decimal(text) if _NUMBER.fullmatch(text) else None
    elif isinstance(value, int):
        number = Decimal(value) if value.bit_length() < 3 * _MOST_DIGITS else None
    else:
        number = Decimal(repr(value)) if isinstance(value, float) else value
    if number is None or not number.is_finite() or abs(number.adjusted()) > _MOST_DIGITS:
        return None
    return number or Decimal(0)


def _places(amount: Decimal) -> int:
    exponent = amount.normalize(_EXACT).as_tuple().exponent
    return max(0, -exponent) if isinstance(exponent, int) else 0


def _short(amount: Decimal) -> str:
    """To three digits or so: 1.5, 12.3, 350."""
    return _trimmed(f"{amount:,.2f}" if amount < 10 else f"{amount:,.1f}" if amount < 100 else f"{amount:,.0f}")


def _signed(amount: Decimal, text: str) -> str:
    """The text of an amount without its sign, with it; nothing has none."""
    return f"-{text}" if amount < 0 and not text.startswith("0 ") else text


def _trimmed(text: str) -> str:
    return text.rstrip("0").rstrip(".") if "." in text else text
