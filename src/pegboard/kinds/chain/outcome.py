"""Results of a chain and of its steps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import orjson

from pegboard.kinds.chain.step_references import SKIPPED_OUTPUT

StepStatus = Literal["succeeded", "failed", "fallback", "skipped", "not_run"]


class CallOutcome(NamedTuple):
    """The result of one call of a step: its output as JSON, or an error."""

    text: bytes
    error: str | None = None
    code: str | None = None


# The result of a call that was not started.
NOT_STARTED = CallOutcome(b"null", "The chain had stopped before it began", "cancelled")


@dataclass(frozen=True, slots=True)
class StepOutcome:
    """The result of one step; `texts` are its outputs as JSON, one for each item of a for_each."""

    id: str
    tool: str
    status: StepStatus
    texts: Sequence[bytes] = ()
    is_list: bool = False
    error: str | None = None
    code: str | None = None
    run_ids: tuple[str, ...] = ()
    elapsed_ms: float = 0.0

    @property
    def size(self) -> int:
        """Number of bytes of its output."""
        return sum(map(len, self.texts))

    @property
    def output_json(self) -> bytes:
        """Its output as JSON; null if it has none."""
        if self.is_list:
            return b"[%s]" % b",".join(self.texts)
        return self.texts[0] if self.texts else b"null"

    def make_json_values(self) -> dict[str, Any]:
        """Return the step as a dict for JSON; its output is included without parsing it."""
        values: dict[str, Any] = {"id": self.id, "tool": self.tool, "status": self.status}
        if self.status in ("succeeded", "fallback"):
            values["output"] = orjson.Fragment(self.output_json)
        if self.error is not None:
            values |= {"error": self.error, "code": self.code}
        return values | {"run_ids": list(self.run_ids), "execution_time_ms": self.elapsed_ms}


class StepView(Mapping[str, Any]):
    """A step as references see it; its output is parsed only if a reference needs it."""

    __slots__ = ("_outcome", "_read")

    def __init__(self, outcome: StepOutcome) -> None:
        self._outcome = outcome
        self._read: list[Any] = []

    def __getitem__(self, name: str) -> Any:
        if name == "status":
            return self._outcome.status
        if name == "error":
            return self._outcome.error
        if self._outcome.status not in ("succeeded", "fallback"):
            return SKIPPED_OUTPUT
        if not self._read:
            self._read.append(orjson.loads(self._outcome.output_json))
        return self._read[0]

    def __iter__(self) -> Iterator[str]:
        return iter(("output", "error", "status"))

    def __len__(self) -> int:
        return 3


@dataclass(frozen=True, slots=True)
class ChainOutcome:
    """The result of a chain and of its steps, in the order of the chain."""

    chain_id: str
    steps: tuple[StepOutcome, ...]
    output_json: bytes = b"null"
    error: str | None = None
    code: str | None = None
    elapsed_ms: float = 0.0

    @property
    def success(self) -> bool:
        """True if the chain completed."""
        return self.error is None

    @property
    def output(self) -> Any:
        """The parsed output of the chain."""
        return orjson.loads(self.output_json)

    def json(self) -> bytes:
        """Return the whole result as JSON."""
        values: dict[str, Any] = {"chain_id": self.chain_id, "success": self.success}
        if self.error is None:
            values["output"] = orjson.Fragment(self.output_json)
        else:
            values |= {"error": self.error, "code": self.code}
        steps = [step.make_json_values() for step in self.steps]
        return orjson.dumps(values | {"steps": steps, "execution_time_ms": self.elapsed_ms})
