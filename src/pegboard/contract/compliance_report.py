"""The report of the compliance tests."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from pegboard.json_schema.value_text import shorten

# Per test, so that the report of a tool that breaks every rule stays short.
MAX_FAILURES = 10
_MAX_VALUE_CHARS = 2000


TestName = Literal["schema", "determinism", "errors", "performance", "ordering"]


@dataclass(frozen=True, slots=True)
class Failure:
    """One broken rule: expectation, envelope sent and answer received."""

    expected: str
    sent: Any
    received: Any


@dataclass(frozen=True, slots=True)
class Test:
    """One of the five tests, and its outcome."""

    __test__ = False  # otherwise pytest would collect it

    name: TestName
    outcome: Literal["passed", "failed", "skipped"]
    detail: str
    failures: tuple[Failure, ...] = ()

    @classmethod
    def of(cls, name: TestName, detail: str, failures: Sequence[Failure]) -> Test:
        """Return a test that passed if there are no failures."""
        if not failures:
            return cls(name, "passed", detail)
        more = f", the first {MAX_FAILURES} are shown" if len(failures) > MAX_FAILURES else ""
        found = "1 rule broken" if len(failures) == 1 else f"{len(failures)} rules broken{more}"
        return cls(name, "failed", f"{detail}: {found}", tuple(failures[:MAX_FAILURES]))


@dataclass(frozen=True, slots=True)
class Report:
    """The outcomes of the five tests for one tool."""

    tool: str
    tests: tuple[Test, ...]

    @property
    def passed(self) -> bool:
        """True if no test failed."""
        return not any(test.outcome == "failed" for test in self.tests)

    @property
    def data(self) -> dict[str, Any]:
        """The report as JSON data."""
        tests = [{**asdict(test), "failures": [asdict(failure) for failure in test.failures]} for test in self.tests]
        return {"tool": self.tool, "passed": self.passed, "tests": tests}

    @property
    def text(self) -> str:
        """The report as text."""
        width = max(len(test.name) for test in self.tests)
        lines = [f"{test.name.ljust(width)}  {test.outcome}  {test.detail}" for test in self.tests]
        return "\n".join([f"Contract of {self.tool}", *lines, *self.broken()])

    def broken(self) -> list[str]:
        """Return every broken rule with the envelope sent and the answer received, line by line."""
        lines: list[str] = []
        for test in self.tests:
            for failure in test.failures:
                lines += [
                    "",
                    f"{test.name}: {failure.expected}",
                    f"  sent      {_shorten_value(failure.sent)}",
                    f"  received  {_shorten_value(failure.received)}",
                ]
        return lines


def _shorten_value(value: Any) -> str:
    return shorten(
        value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str), _MAX_VALUE_CHARS
    )
