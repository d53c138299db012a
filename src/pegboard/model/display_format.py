"""How a tool's arguments and results are displayed to people; models do not get this."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from functools import cached_property
from typing import Annotated, Any, Literal, NamedTuple, get_args

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from pegboard.model.base_model import Model

Style = Literal["text", "code", "sql", "json", "table", "http", "money", "duration", "bytes", "percent", "datetime"]

# The path step for all items of a list.
EACH_ITEM = "[]"

_OPTIONS = {"currency": "money", "scale": "money", "unit": "duration", "whole": "percent", "columns": "table"}
_PATH = re.compile(r"(?:[^.\[\]]+|(?:\[\])+)(?:\[\]|\.[^.\[\]]+)*")
_MAX_PATH_CHARACTERS = 255
_PATH_STEP = re.compile(r"\[\]|[^.\[\]]+")


def _check_style(given: Any) -> Any:
    known = get_args(Style)
    if given in known:
        return given
    near = difflib.get_close_matches(given[:64].lower(), known, 1) if isinstance(given, str) else []
    raise ValueError(
        f"unknown style; did you mean '{near[0]}'?" if near else f"unknown style; known: {', '.join(known)}"
    )


def _check_printable(name: str) -> str:
    if not name.isprintable():
        raise ValueError(f"{name!r} has a character that is not printable")
    return name


class Format(Model):
    """How one value is written; a style alone may stand for it."""

    style: Annotated[Style, BeforeValidator(_check_style)] = Field(description="What kind of value it is")
    currency: str | None = Field(None, pattern=r"^[A-Z]{3}$", description="Of money: its code, such as EUR")
    scale: int | None = Field(None, ge=0, le=18, description="Of money: how many of its digits are after the point")
    unit: Literal["us", "ms", "s", "min", "h"] | None = Field(
        None, description="For durations: the unit of the number; s if absent"
    )
    whole: Literal[1, 100] | None = Field(None, description="Of percentages: what stands for all of it; 1 if absent")
    columns: (
        tuple[Annotated[str, Field(min_length=1, max_length=255), AfterValidator(_check_printable)], ...] | None
    ) = Field(None, max_length=50, description="Of tables: which columns, in this order; all if absent")

    @model_validator(mode="after")
    def _check_options(self) -> Format:
        for option, style in _OPTIONS.items():
            if getattr(self, option) is not None and self.style != style:
                raise ValueError(f"'{option}' belongs to the style {style}, not to {self.style}; leave it out")
        return self


class FormatTree(NamedTuple):
    """A node of the format tree: the format of this value, and the nodes of its parts."""

    format: Format | None
    inside: Mapping[str, FormatTree]


def split_path(path: str) -> list[str]:
    """Return the steps of a path: names, and `[]` for all items of a list."""
    return _PATH_STEP.findall(path)


def _read_format(given: Any) -> Any:
    if isinstance(given, dict | Format):
        return given
    if isinstance(given, str):
        return {"style": given}
    raise ValueError("write a style, such as sql, or an object with one, such as {style: money, currency: EUR}")


def _check_paths(formats: dict[str, Format]) -> dict[str, Format]:
    for path in formats:
        if len(path) > _MAX_PATH_CHARACTERS:
            raise ValueError(f"a path has at most {_MAX_PATH_CHARACTERS} characters, one has {len(path):,}")
        if not path.isprintable() or not _PATH.fullmatch(path):
            raise ValueError(
                f"{path!r} is not a path; write names with dots between them, and [] for the items of a list, "
                "such as order.total or items[].price"
            )
    return formats


Formatted = Annotated[Format, BeforeValidator(_read_format)]
Formats = Annotated[dict[str, Formatted], Field(max_length=100), AfterValidator(_check_paths)]


class Display(Model):
    """How arguments and result read to people; names may be paths such as `order.total` or `items[].price`."""

    arguments: Formats = Field({}, description="How arguments are written, by name")
    result: Formatted | None = Field(None, description="How the result is written as a whole")
    fields: Formats = Field({}, description="How parts of the result are written, by name")

    @cached_property
    def argument_formats(self) -> FormatTree:
        """The formats of the arguments, as a tree."""
        return _build_format_tree(self.arguments)

    @cached_property
    def result_formats(self) -> FormatTree:
        """The formats of the parts of the result, as a tree; without the format of the whole result."""
        return _build_format_tree(self.fields)


def _build_format_tree(formats: Mapping[str, Format]) -> FormatTree:
    paths = {tuple(split_path(path)): format for path, format in formats.items()}
    return _build_subtree(paths, ())


def _build_subtree(paths: Mapping[tuple[str, ...], Format], here: tuple[str, ...]) -> FormatTree:
    inside = {path[: len(here) + 1] for path in paths if len(path) > len(here) and path[: len(here)] == here}
    return FormatTree(paths.get(here), {path[-1]: _build_subtree(paths, path) for path in inside})
