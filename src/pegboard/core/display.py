"""How a tool's arguments and results read to people, as its definition says; the model gets none of it."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from pegboard.core.model import Model

Style = Literal["text", "code", "sql", "json", "table", "http", "money", "duration", "bytes", "percent", "datetime"]


class Format(Model):
    """How one value is written; a style alone may stand for it."""

    style: Style = Field(description="What kind of value it is")
    currency: str | None = Field(None, pattern=r"^[A-Z]{3}$", description="Of money: its code, such as EUR")
    unit: Literal["us", "ms", "s", "min", "h"] = Field("s", description="Of durations: what the number counts")
    scale: int = Field(0, ge=0, le=18, description="Of money: how many of its last digits are after the point")
    columns: tuple[Annotated[str, Field(min_length=1, max_length=255)], ...] = Field(
        (), max_length=50, description="Of tables: which columns, in this order; all if none"
    )


def _from_style(given: Any) -> Any:
    return {"style": given} if isinstance(given, str) else given


Formatted = Annotated[Format, BeforeValidator(_from_style)]


class Display(Model):
    """How arguments and result read to people; names may be paths such as `order.total`."""

    arguments: dict[Annotated[str, Field(min_length=1, max_length=255)], Formatted] = Field(
        {}, max_length=100, description="How arguments are written, by name"
    )
    result: Formatted | None = Field(None, description="How the result is written as a whole")
    fields: dict[Annotated[str, Field(min_length=1, max_length=255)], Formatted] = Field(
        {}, max_length=100, description="How parts of the result are written, by name"
    )
