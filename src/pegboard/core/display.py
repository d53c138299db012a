"""How a tool's arguments and results read to people, as its definition says; the model gets none of it."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from functools import cached_property
from typing import Annotated, Any, Literal, NamedTuple, get_args

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from pegboard.core.model import Model

Style = Literal["text", "code", "sql", "json", "table", "http", "money", "duration", "bytes", "percent", "datetime"]

# What each list is entered by, in a path.
ITEMS = "[]"

_OPTIONS = {"currency": "money", "scale": "money", "unit": "duration", "whole": "percent", "columns": "table"}
_PATH = re.compile(r"(?:[^.\[\]]+|(?:\[\])+)(?:\[\]|\.[^.\[\]]+)*")
_LONGEST_PATH = 255
_STEP = re.compile(r"\[\]|[^.\[\]]+")


def _nearest_style(given: Any) -> Any:
    known = get_args(Style)
    if given in known:
        return given
    near = difflib.get_close_matches(given[:64].lower(), known, 1) if isinstance(given, str) else []
    raise ValueError(
        f"unknown style; did you mean '{near[0]}'?" if near else f"unknown style; known: {', '.join(known)}"
    )


def _printable(name: str) -> str:
    if not name.isprintable():
        raise ValueError(f"{name!r} has a character that cannot be seen")
    return name


class Format(Model):
    """How one value is written; a style alone may stand for it."""

    style: Annotated[Style, BeforeValidator(_nearest_style)] = Field(description="What kind of value it is")
    currency: str | None = Field(None, pattern=r"^[A-Z]{3}$", description="Of money: its code, such as EUR")
    scale: int | None = Field(None, ge=0, le=18, description="Of money: how many of its digits are after the point")
    unit: Literal["us", "ms", "s", "min", "h"] | None = Field(
        None, description="Of durations: what the number counts; s if absent"
    )
    whole: Literal[1, 100] | None = Field(None, description="Of percentages: what stands for all of it; 1 if absent")
    columns: tuple[Annotated[str, Field(min_length=1, max_length=255), AfterValidator(_printable)], ...] | None = Field(
        None, max_length=50, description="Of tables: which columns, in this order; all if absent"
    )

    @model_validator(mode="after")
    def _of_its_style(self) -> Format:
        for option, style in _OPTIONS.items():
            if getattr(self, option) is not None and self.style != style:
                raise ValueError(f"'{option}' belongs to the style {style}, not to {self.style}; leave it out")
        return self


class Place(NamedTuple):
    """A place in a value: how it is written there, and what is known of the places inside it."""

    format: Format | None
    inside: Mapping[str, Place]


def steps_of(path: str) -> list[str]:
    """The steps of a path: names, and `[]` for every item of a list."""
    return _STEP.findall(path)


def _from_style(given: Any) -> Any:
    if isinstance(given, dict | Format):
        return given
    if isinstance(given, str):
        return {"style": given}
    raise ValueError("write a style, such as sql, or an object with one, such as {style: money, currency: EUR}")


def _with_paths(formats: dict[str, Format]) -> dict[str, Format]:
    for path in formats:
        if len(path) > _LONGEST_PATH:
            raise ValueError(f"a path has at most {_LONGEST_PATH} characters, one has {len(path):,}")
        if not path.isprintable() or not _PATH.fullmatch(path):
            raise ValueError(
                f"{path!r} is not a path; write names with dots between them, and [] for the items of a list, "
                "such as order.total or items[].price"
            )
    return formats


Formatted = Annotated[Format, BeforeValidator(_from_style)]
Formats = Annotated[dict[str, Formatted], Field(max_length=100), AfterValidator(_with_paths)]


class Display(Model):
    """How arguments and result read to people; names may be paths such as `order.total` or `items[].price`."""

    arguments: Formats = Field({}, description="How arguments are written, by name")
    result: Formatted | None = Field(None, description="How the result is written as a whole")
    fields: Formats = Field({}, description="How parts of the result are written, by name")

    @cached_property
    def argument_places(self) -> Place:
        """The arguments that have a format, by their places."""
        return _places(self.arguments)

    @cached_property
    def result_places(self) -> Place:
        """The parts of the result that have a format, by their places; the whole is not among them."""
        return _places(self.fields)


def _places(formats: Mapping[str, Format]) -> Place:
    paths = {tuple(steps_of(path)): format for path, format in formats.items()}
    return _place(paths, ())


def _place(paths: Mapping[tuple[str, ...], Format], here: tuple[str, ...]) -> Place:
    inside = {path[: len(here) + 1] for path in paths if len(path) > len(here) and path[: len(here)] == here}
    return Place(paths.get(here), {path[-1]: _place(paths, path) for path in inside})
