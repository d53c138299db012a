"""The error message for a number out of range repeats it, unless it may be a secret."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated

import pytest
from pydantic import BaseModel, Field

from pegboard import Pegboard
from pegboard.kinds.base import read_config
from pegboard.model.api_errors import Invalid
from pegboard.model.call_errors import Misconfigured
from pegboard.model.validation_messages import validate_model
from pegboard.testing import memory_board


class Limits(BaseModel):
    size: Annotated[int, Field(le=9999)] = 1
    pin: Annotated[int, Field(le=9999)] = 1


def test_a_number_is_repeated_in_a_refusal_of_a_request() -> None:
    with pytest.raises(Invalid) as refused:
        validate_model(Limits, {"size": 123456, "pin": 654321}, "")
    messages = [fault.message for fault in refused.value.faults]
    assert messages == ["must be at most 9999, but received 123456", "must be at most 9999, but received a number"]


def test_a_number_of_a_config_that_may_be_a_secret_is_not_repeated() -> None:
    with pytest.raises(Misconfigured) as refused:
        read_config(Limits, {"size": 123456})
    assert "123456" not in str(refused.value)


async def test_a_secret_argument_of_a_function_is_not_repeated() -> None:
    async with memory_board() as board:
        _add_unlock(board)
        result = await board.call("unlock", {"api_secret": "123456"})
    assert result.problem is not None
    assert "at most 9999" in result.problem.message
    assert "123456" not in str(result.problem)


def _add_unlock(board: Pegboard) -> None:
    @board.tool
    def unlock(api_secret: Annotated[Decimal, Field(le=9999)]) -> str:
        """Unlock the door."""
        return str(api_secret)
