"""Chains: steps that call tools, with references between them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, field_validator, model_validator

from pegboard.model.base_model import Bounded, Model

# The handler of tools that are chains.
CHAIN_HANDLER = "chain"
MAX_STEPS = 100
MAX_ITEMS = 1000
DEFAULT_TIMEOUT_SECONDS, MAX_TIMEOUT_SECONDS = 300.0, 3600.0

StepId = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_-]{0,63}$")]


class Condition(Model):
    """Compares a value with another one; all that are given must hold."""

    value: Any = Field(description="The value that is compared, usually a reference")
    equals: Any = Field(None, description="It is this")
    not_equals: Any = Field(None, description="It is anything but this")
    among: list[Any] | None = Field(None, max_length=1000, description="It is one of these")
    at_least: float | None = Field(None, description="It is a number not below this")
    at_most: float | None = Field(None, description="It is a number not above this")
    exists: bool | None = Field(None, description="Whether it is there, and not null")

    @model_validator(mode="after")
    def _check_comparison(self) -> Condition:
        if self.model_fields_set <= {"value"}:
            raise ValueError("needs one of equals, not_equals, among, at_least, at_most, exists")
        for name in ("among", "at_least", "at_most", "exists"):
            if name in self.model_fields_set and getattr(self, name) is None:
                raise ValueError(f"{name} cannot be null; compare with null by equals or exists")
        return self


class Step(Model):
    """One call of a tool, or one for each item of a list."""

    id: StepId = Field(description="What other steps refer to it by")
    tool: str = Field(min_length=1, max_length=255, description="The tool's name")
    arguments: dict[str, Any] = Field({}, description="May hold references such as {{steps.a.output.id}}")
    when: str | Condition | None = Field(None, description="A reference that must be true, or a comparison")
    for_each: Any = Field(None, description=f"A list, or a reference to one, of at most {MAX_ITEMS:,} items")
    on_error: Literal["stop", "skip", "fallback"] = Field("stop", description="What follows from a failure")
    fallback: Any = Field(None, description="What stands for the output where on_error is fallback")
    after: Annotated[tuple[StepId, ...], Bounded] = Field(
        (), max_length=MAX_STEPS, description="Steps to wait for without a reference"
    )

    @model_validator(mode="after")
    def _check_step(self) -> Step:
        has_fallback = "fallback" in self.model_fields_set
        if has_fallback != (self.on_error == "fallback"):
            raise ValueError("a fallback and on_error: fallback go together")
        return self


class Chain(Model):
    """Steps run as a graph: each as soon as the outputs that it refers to are available."""

    # Not min_length: pydantic counts only the valid items of a tuple.
    steps: Annotated[tuple[Step, ...], Bounded] = Field(max_length=MAX_STEPS, json_schema_extra={"minItems": 1})
    output: Any = Field(None, description="What the chain answers, with references; the last step's output if absent")
    timeout: float = Field(
        DEFAULT_TIMEOUT_SECONDS, gt=0, le=MAX_TIMEOUT_SECONDS, description="Seconds that all steps together may take"
    )

    @field_validator("steps", mode="before")
    @classmethod
    def _check_has_steps(cls, steps: Any) -> Any:
        if isinstance(steps, list | tuple) and not steps:
            raise ValueError("a chain needs at least one step")
        return steps

    @property
    def has_output(self) -> bool:
        """True if the chain defines its output."""
        return "output" in self.model_fields_set


def get_chain_timeout(chain: Mapping[str, Any] | None) -> float | None:
    """Return the timeout of a stored chain, or None if there is no chain."""
    return None if chain is None else float(chain.get("timeout", DEFAULT_TIMEOUT_SECONDS))
