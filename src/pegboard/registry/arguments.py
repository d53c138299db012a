"""The arguments of a call held against the schema of its tool."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any, Literal

import orjson

from pegboard.core.errors import FieldProblem, MalformedArguments
from pegboard.core.ignored import Ignored
from pegboard.registry.cost import TooCostly
from pegboard.registry.defaults import defaults_of, fresh
from pegboard.registry.problems import MAX_PROBLEMS, invalid, problems_of
from pegboard.registry.schemas import BoundedValidator
from pegboard.registry.shown import cut
from pegboard.registry.subschemas import Document
from pegboard.registry.values import as_decimals, as_floats, measure, parse_json
from pegboard.registry.wording import unrecognized

__all__ = ["Arguments", "as_decimals", "as_floats", "measure", "parse_json"]

# How many ignored arguments are named.
MAX_IGNORED = 20


class Arguments:
    """What a tool's schema makes of the arguments of its calls."""

    __slots__ = ("_beside", "_defaults", "_drops", "_is_valid", "_known", "_more", "_under", "_validator")

    def __init__(
        self,
        schema: Mapping[str, Any],
        *,
        unknown: Literal["ignore", "reject"] = "ignore",
        presets: Mapping[str, Any] | None = None,
    ) -> None:
        document = Document(schema)
        names, is_closed = document.declared()
        defaults = defaults_of(document)
        given = presets or {}
        self._validator = BoundedValidator(schema)
        self._is_valid = self._validator.is_valid
        self._known = names if is_closed else None
        self._drops = unknown == "ignore"
        self._under = {name: value for name, value in given.items() if name in names}
        # How much longer the arguments become.
        self._more = len(orjson.dumps(self._under)) if self._under else 0
        self._beside = {name: value for name, value in given.items() if name not in names}
        self._defaults = defaults if defaults else None

    def check(self, arguments: dict[str, Any], size: int | None = None) -> dict[str, Any]:
        """The arguments to run with, the very same object if nothing changes; `size` is their length as JSON, if known.

        Raises InvalidArguments, and MalformedArguments where validation would take too long.
        """
        known = self._known
        extra: list[str] = []
        given = arguments
        if known is not None and not arguments.keys() <= known:
            given = {name: value for name, value in arguments.items() if name in known}
            if not self._drops:
                extra = [name for name in arguments if name not in known]
        if self._under:
            given = {**{name: fresh(value) for name, value in self._under.items()}, **given}
        try:
            fits = self._is_valid(given, None if size is None else size + self._more)
        except TooCostly as error:
            raise MalformedArguments(f"Arguments are too large for the schema of this tool: {error}") from None
        except ValueError as error:  # a Python value that is not JSON, from a caller that did not measure
            raise MalformedArguments(f"Arguments must be JSON: {error}") from None
        if extra or not fits:
            problems: list[FieldProblem] = [] if fits else problems_of(self._validator, given)
            ignored = self.ignored(arguments)
            problems += unrecognized(sorted(extra)[:MAX_PROBLEMS], known or ())
            if extra:
                problems.sort(key=lambda problem: "" if problem.code == "missing" else problem.field or "")
            raise invalid(problems[:MAX_PROBLEMS], ignored)
        if self._defaults is not None:
            given = self._defaults.fill(given)
        if self._beside:
            given = {**{name: fresh(value) for name, value in self._beside.items()}, **given}
        return given

    def ignored(self, arguments: dict[str, Any]) -> tuple[Ignored, ...]:
        """The arguments that are dropped because the schema does not declare them, the first few of many."""
        known = self._known
        if known is None or not self._drops:
            return ()
        extra = [name for name in arguments if name not in known][:MAX_IGNORED]
        names = sorted(known)[:200] if extra else []
        return tuple(
            Ignored(cut(name), next(iter(get_close_matches(name[:64], names, 1)), None) if index < 5 else None)
            for index, name in enumerate(extra)
        )
