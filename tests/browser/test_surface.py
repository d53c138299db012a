"""The scenarios of the other surfaces through the web console: registering, reading, changing and calling tools."""

from __future__ import annotations

from typing import Any

import pytest

from tests.board_surfaces import RequestRefused
from tests.browser.console_surface import ConsoleSurface
from tests.browser.visit import Visit
from tests.seeds import test_seed_002 as flow


async def test_tools_are_registered_and_called_as_through_the_other_surfaces(admin: Visit) -> None:
    surface = ConsoleSurface(admin)
    await flow.TestToolExecutionFlow().test_successful_tool_execution(surface)
    await surface.remove("weather")
    await flow.TestParameterValidation().test_required_parameter_check(surface)
    await surface.remove("weather")
    await flow.TestParameterValidation().test_enum_validation(surface)
    await surface.remove("weather")
    await flow.TestToolExecutionFlow().test_parameter_validation_failure(admin.board, surface)


async def test_a_tool_is_read_changed_removed_and_restored(admin: Visit) -> None:
    surface = ConsoleSurface(admin)
    definition: dict[str, Any] = {
        "name": "quote",
        "description": "A quote.",
        "tool_type": "mock",
        "config": {"mock_response": 1},
        "input_schema": {"type": "object"},
    }
    assert await surface.create(definition) == definition
    with pytest.raises(RequestRefused, match="A tool named 'quote' exists already"):
        await surface.create(definition)
    changed = await surface.change("quote", {"tags": ["one"], "config": {"mock_response": {"price": 2}}})
    assert changed == definition | {"tags": ["one"], "config": {"mock_response": {"price": 2}}}
    assert (await surface.call("quote"))["result"] == {"price": 2}
    await surface.remove("quote")
    assert await surface.restore("quote") == changed
