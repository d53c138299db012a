"""The config of mock tools."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import model_validator

from pegboard.model.base_model import Bounded, Model


class MockAnswer(Model):
    """An answer for the calls whose arguments contain `when`."""

    when: dict[str, Any] = {}
    respond: Any


class MockConfig(Model):
    """A fixed answer, or the first of several whose condition fits the arguments."""

    mock_response: Any = None
    mock_responses: Annotated[list[MockAnswer], Bounded] = []

    @model_validator(mode="after")
    def _check_has_answer(self) -> MockConfig:
        if not self.model_fields_set & {"mock_response", "mock_responses"}:
            raise ValueError("mock_response or mock_responses is required")
        return self
