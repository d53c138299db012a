"""What the checks of a contract found."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

# Of one test, so that a tool that breaks every rule is told about in a page.
MOST_FAILURES = 10
_LONGEST = 2000


Name = Literal["schema", "determinism", "errors", "performance", "ordering"]


@dataclass(frozen=True, slots=True)
class Failure:
    """One broken rule: what was expected, what was sent and what came."""

    expected: str
    sent: Any
    received: Any


@dataclass(frozen=True, slots=True)
class Test:
    """One of the five tests, and how it ended."""

    __test__ = False  # pytest would take it for one of its own

    name: Name
    outcome: Literal["passed", "failed", "skipped"]
    detail: str
    failures: tuple[Failure, ...] = ()

    @classmethod
    def of(cls, name: Name, detail: str, failures: Sequence[Failure]) -> Test:
        """Passed if there are no failures."""
        if not failures:
            return cls(name, "passed", detail)
        more = f", the first {MOST_FAILURES} are shown" if len(failures) > MOST_FAILURES else ""
        found = "1 rule broken" if len(failures) == 1 else f"{len(failures)} rules broken{more}"
        return cls(name, "failed", f"{detail}: {found}", tuple(failures[:MOST_FAILURES]))


@dataclass(frozen=True, slots=True)
class Report:
    """How a tool did in the five tests."""

    tool: str
    tests: tuple[Test, ...]

    @property
    def passed(self) -> bool:
        """Whether no test failed."""
        return not any(test.outcome == "failed" for test in self.tests)

    @property
    def data(self) -> dict[str, Any]:
        """The report as JSON data."""
        return {
            "tool": self.tool,
            "passed": self.passed,
            "tests": [
                {
                    "name": test.name,
                    "outcome": test.outcome,
                    "detail": test.detail,
                    "failures": [
                        {"expected": each.expected, "sent": each.sent, "received": each.received}
                        for each in test.failures
                    ],
                }
                for test in self.tests
            ],
        }

    @property
    def text(self) -> str:
        """The report for people."""
        width = max(len(test.name) for test in self.tests)
        lines = [f"{test.name.ljust(width)}  {test.outcome}  {test.detail}" for test in self.tests]
        return "\n".join([f"Contract of {self.tool}", *lines, *self.broken()])

    def broken(self) -> list[str]:
        """Every broken rule with what was sent and what came, line by line."""
        lines: list[str] = []
        for test in self.tests:
            for failure in test.failures:
                lines += [
                    "",
                    f"{test.name}: {failure.expected}",
                    f"  sent      {_shown(failure.sent)}",
                    f"  received  {_shown(failure.received)}",
                ]
        return lines


def _shown(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
