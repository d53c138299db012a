"""Seed 001, the kinds of tools and what each needs in its config, through every surface."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from dirty_equals import IsPartialDict

from pegboard import Pegboard, Refusal
from pegboard.model.tool import Kind
from pegboard.testing import member
from tests.board_surfaces import RequestRefused, Surface

# The seed's own examples.
EXAMPLES: dict[str, dict[str, Any]] = {
    "http": {
        "url": "https://api.example.com/endpoint",
        "method": "GET",
        "headers": {"Content-Type": "application/json"},
        "timeout": 30,
    },
    "mcp": {"server_url": "http://localhost:3000/mcp", "method": "call_tool", "timeout": 30},
    "python": {
        "code": "def calculate_rsi(prices, period=14):\n    return result",
        "timeout": 10,
        "libraries": ["pandas", "numpy"],
    },
    "shell": {
        "command": "python process.py --input data.csv",
        "working_dir": "/tmp",
        "timeout": 60,
        "env": {"API_KEY": "secret"},
    },
    "builtin": {"operation": "calculate_rsi", "parameters": {"period": 14, "overbought": 70}},
    "mock": {"mock_response": {"sky": "clear"}},
    "internal": {"handler": "search_messages"},
    "table": {
        "tableName": "users",
        "schema": "public",
        "fields": [{"name": "email", "dataType": "text", "required": True, "maxLength": 100}],
    },
}
REQUIRED = {
    "http": ("url", "method"),
    "mcp": ("server_url",),
    "python": ("code",),
    "shell": ("command",),
    "builtin": ("operation",),
    "mock": ("mock_response",),
    "internal": ("handler",),
    "table": ("tableName", "fields"),
}
WRONG: list[tuple[str, dict[str, Any], str]] = [
    ("http", {"url": "ftp://example.com"}, "url must start with http:// or https://"),
    ("http", {"url": "/relative"}, "url must start with http:// or https://"),
    ("http", {"method": "FETCH"}, "config.method"),
    ("http", {"headers": {"X": 1}}, "config.headers.X"),
    ("http", {"headers": ["X: 1"]}, "config.headers"),
    ("http", {"timeout": 0}, "config.timeout"),
    ("http", {"timeout": 3601}, "config.timeout"),
    ("mcp", {"server_url": "localhost:3000"}, "server_url must start with http"),
    ("mcp", {"method": "list_tools"}, "config.method"),
    ("mcp", {"command": ["server"]}, "server_url is required (or, for admins, command in its place)"),
    ("python", {"libraries": "pandas"}, "config.libraries"),
    ("shell", {"env": {"A": None}}, "config.env.A"),
    ("builtin", {"parameters": []}, "config.parameters"),
    ("table", {"fields": []}, "config.fields"),
    ("table", {"fields": [{"name": "a", "dataType": "blob"}]}, "config.fields.0.dataType"),
]
MASKED_VALUES = {"http": {"headers": {"Content-Type": "********"}}, "shell": {"env": {"API_KEY": "********"}}}


def tool(kind: str, config: dict[str, Any]) -> dict[str, Any]:
    return {"name": f"a_{kind}_tool", "tool_type": kind, "config": config, "input_schema": {"type": "object"}}


def message(refused: pytest.ExceptionInfo[RequestRefused]) -> str:
    """Return the message of a refusal; a terminal may have wrapped it."""
    return " ".join(refused.value.message.split())


class TestToolTypeEnum:
    """Tool Types: Tool Type Enum."""

    def test_the_five_of_the_seed_and_three_more(self) -> None:
        assert [kind.value for kind in Kind] == list(EXAMPLES)

    async def test_any_other_kind_is_refused_with_those_there_are(self, surface: Surface) -> None:
        for kind in ("grpc", "HTTP", ""):
            with pytest.raises(RequestRefused) as refused:
                await surface.create({**tool("mock", EXAMPLES["mock"]), "tool_type": kind})
            assert "tool_type:" in message(refused)
            assert all(f"'{known}'" in message(refused) for known in EXAMPLES)


class TestTypeSpecificConfigRequirements:
    """Tool Types: Type-Specific Config Requirements; Validation Rules: Config Validation."""

    async def test_the_examples_of_the_seed_are_accepted_and_shown_again(self, surface: Surface) -> None:
        for kind, config in EXAMPLES.items():
            made = await surface.create(tool(kind, config))
            assert made["tool_type"] == kind
            assert made["config"] == {**config, **MASKED_VALUES.get(kind, {})}

    async def test_each_required_field_that_is_missing_is_named(self, surface: Surface) -> None:
        for kind, fields in REQUIRED.items():
            for field in fields:
                config = {name: value for name, value in EXAMPLES[kind].items() if name != field}
                with pytest.raises(RequestRefused) as refused:
                    await surface.create(tool(kind, config))
                assert re.search(rf"config[.:].*\b{field}\b.*required", message(refused)), message(refused)

    async def test_a_required_field_cannot_be_empty(self, board: Pegboard) -> None:
        for kind, fields in REQUIRED.items():
            for field in fields:
                if kind != "mock":
                    with pytest.raises(Refusal, match=f"config.{field}"):
                        await board.add(tool(kind, {**EXAMPLES[kind], field: ""}))

    async def test_an_unknown_key_is_refused_with_the_nearest_one(self, surface: Surface) -> None:
        with pytest.raises(RequestRefused) as refused:
            await surface.create(tool("http", {**EXAMPLES["http"], "header": {}}))
        assert "config.header: unknown key; did you mean 'headers'?" in message(refused)

    async def test_wrong_values_are_refused_by_their_path(self, board: Pegboard) -> None:
        for kind, wrong, named in WRONG:
            with pytest.raises(Refusal) as refused:
                await board.add(tool(kind, {**EXAMPLES[kind], **wrong}))
            assert named in str(refused.value)

    async def test_a_method_may_be_written_in_small_letters(self, surface: Surface) -> None:
        made = await surface.create(tool("http", {"url": "https://example.com", "method": "post"}))
        assert made["config"]["method"] == "POST"

    async def test_the_operation_of_a_builtin_has_the_alias_handler(self, surface: Surface) -> None:
        made = await surface.create(tool("builtin", {"handler": "echo"}))
        assert made["config"] == {"operation": "echo"}
        assert (await surface.call("a_builtin_tool", {"a": 1}))["result"] == {"echo": {"a": 1}}

    async def test_parameters_of_a_builtin_are_defaults_under_the_arguments(self, surface: Surface) -> None:
        await surface.create(tool("builtin", {"operation": "calculate_rsi", "parameters": {"period": 2}}))
        prices = [1, 2, 3, 2, 1, 2, 3]
        by_default = await surface.call("a_builtin_tool", {"prices": prices})
        asked_for = await surface.call("a_builtin_tool", {"prices": prices, "period": 3})
        assert by_default["success"], by_default
        assert by_default["result"] != asked_for["result"]
        assert by_default["result"] == (await surface.call("calculate_rsi", {"prices": prices, "period": 2}))["result"]

    async def test_the_table_example_says_when_called_that_its_table_is_not_there(self, surface: Surface) -> None:
        await surface.create({**tool("table", EXAMPLES["table"]), "result_style": "plain"})
        answer = await surface.call("a_table_tool", {"email": "a@example.com"})
        assert answer["error_details"] == IsPartialDict(type="CONFIG_ERROR", code="table_not_found")

    async def test_the_shell_example_runs_with_its_folder_and_its_environment(
        self, surface: Surface, tmp_path: Path
    ) -> None:
        tmp_path.chmod(0o755)  # noqa: ASYNC240 -- as root, tools run as another user
        (tmp_path / "data.csv").write_text("1,2")
        (tmp_path / "process.py").write_text(
            "import os, sys\nprint(sys.argv[1], open(sys.argv[2]).read(), len(os.environ['API_KEY']))"
        )
        await surface.create(tool("shell", {**EXAMPLES["shell"], "working_dir": str(tmp_path)}))
        answer = await surface.call("a_shell_tool")
        assert answer["success"], answer
        assert answer["result"] == {"stdout": "--input 1,2 6\n", "stderr": "", "exit_code": 0}

    async def test_only_admins_register_tools_that_start_commands(self, board: Pegboard) -> None:
        other_user = await member(board)
        for kind, config in (("shell", EXAMPLES["shell"]), ("mcp", {"command": ["server", "--stdio"]})):
            with pytest.raises(Refusal, match="Only admins may register"):
                await board.add(tool(kind, config), caller=other_user)
            assert (await board.add(tool(kind, config))).tool_type == kind


class TestImplementation:
    """Seed 002's `implementation` in place of tool_type and config."""

    async def test_it_is_shown_as_tool_type_and_config(self, surface: Surface) -> None:
        given = {
            "name": "m",
            "implementation": {"type": "mock", "mock_response": [1]},
            "input_schema": {"type": "object"},
        }
        assert await surface.create(given) == IsPartialDict(tool_type="mock", config={"mock_response": [1]})

    async def test_both_at_once_or_one_without_a_type_is_refused(self, surface: Surface) -> None:
        base = {"name": "m", "input_schema": {"type": "object"}}
        with pytest.raises(RequestRefused) as refused:
            await surface.create({**base, "implementation": {"type": "mock", "mock_response": 1}, "tool_type": "mock"})
        assert "give either implementation, or tool_type and config, not both" in message(refused)
        for wrong in ({"mock_response": 1}, "mock", None, {"type": 3}):
            with pytest.raises(RequestRefused) as refused:
                await surface.create({**base, "implementation": wrong})
            assert "implementation is an object with a type" in message(refused)
