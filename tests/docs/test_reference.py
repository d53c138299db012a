"""The reference pages list everything that exists, and nothing else."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from pydantic import BaseModel
from typer.main import get_command

from pegboard import Settings, testing
from pegboard.kinds.builtin.catalog import BUILTINS
from pegboard.kinds.catalog import find_kind, load_kinds
from pegboard.kinds.http.config import ParameterStyle
from pegboard.model.call_errors import ErrorType, ToolError
from pegboard.model.error_codes import ERROR_CODES
from pegboard.model.tool import Kind
from pegboard.model.tool_definition import ToolResponse
from pegboard.registry.tool_create import ToolCreate
from pegboard.surfaces.cli.main import app as program
from pegboard.surfaces.rest.app import create_app
from pegboard.surfaces.rest.bodies import ErrorDetails, ExecutionResponse, PlainResult
from pegboard.surfaces.rest.import_routes import ImportResponse, McpImportBody, OpenApiImportBody
from pegboard.surfaces.rest.problem_json import REFUSAL_STATUS, STATUS_TITLES
from tests.docs.pages import ROOT, blocks_of, codes_in, headings_of, rows_of, section, text_of

SETTINGS = "docs/reference/settings.md"
ERRORS = "docs/reference/errors.md"
CLI = "docs/reference/cli.md"
REST = "docs/reference/rest.md"
TOOL = "docs/reference/tool-definition.md"
OBSERVABILITY = "docs/howto/observability.md"

# Options of every command, described once.
SHARED = {"--json", "--local", "--url", "--key", "--help", "-h"}


def first_codes(text: str) -> dict[str, list[str]]:
    """The rows of the tables in a text, by the text in backticks in the first column."""
    return {code: row for row in rows_of(text) for code in codes_in(row[0])}


# Settings


def test_every_setting_is_listed_with_its_default_and_no_other() -> None:
    listed = first_codes(text_of(SETTINGS).partition("## The command line")[0])
    assert set(listed) == {f"PEGBOARD_{name.upper()}" for name in Settings.model_fields}
    for name, field in Settings.model_fields.items():
        if isinstance(field.default, str | int | float) and field.default != "":
            assert listed[f"PEGBOARD_{name.upper()}"][1] == f"`{field.default}`"


# Errors


def every_error(root: type[ToolError] = ToolError) -> Iterator[type[ToolError]]:
    """The classes of errors below the root that the package itself defines."""
    for error in root.__subclasses__():
        if error.__module__.startswith(("pegboard.model.", "pegboard.kinds.table.")):
            yield error
            yield from every_error(error)


def problem_codes() -> set[str]:
    """Return the codes for invalid arguments: those for which the code has a message."""
    found: set[str] = set()
    for path in (ROOT / "src" / "pegboard" / "json_schema").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.args:
                if node.func.id in ("ProblemWording", "FieldProblem", "_make_range_explainer", "_make_count_explainer"):
                    found |= constants_of(node.args[0])
            elif isinstance(node, ast.Assign) and [ast.unparse(target) for target in node.targets] == ["code"]:
                found |= constants_of(node.value)
    return found


def constants_of(node: ast.AST) -> set[str]:
    """Return the string constants that an expression can evaluate to."""
    if isinstance(node, ast.IfExp):
        return constants_of(node.body) | constants_of(node.orelse)
    return {node.value} if isinstance(node, ast.Constant) and isinstance(node.value, str) else set()


def test_every_error_code_is_listed_with_its_type_and_no_other() -> None:
    listed = first_codes(section(ERRORS, "Codes of calls"))
    errors: dict[str, list[type[ToolError]]] = {}
    for error in every_error():
        errors.setdefault(error.code, []).append(error)
    assert {"timeout", "internal_error"} < set(errors)
    assert set(listed) == set(errors)
    for code, same in errors.items():
        _, kind, again, meaning, advice = listed[code]
        retryable = {error.retryable for error in same}
        assert {kind} == {f"`{error.type}`" for error in same}
        assert again == ("sometimes" if len(retryable) > 1 else "yes" if retryable == {True} else "no")
        assert meaning
        assert advice


def test_every_code_of_wrong_arguments_is_listed_and_no_other() -> None:
    codes = problem_codes()
    assert {"missing", "too_big", "too_small", "custom", "unrecognized_keys"} < codes
    assert set(first_codes(section(ERRORS, "Codes of wrong arguments"))) == codes


def test_the_codes_of_the_api_are_those_of_the_page_with_their_types() -> None:
    listed = {code.code: code for code in ERROR_CODES}
    assert len(listed) == len(ERROR_CODES)
    of_calls = first_codes(section(ERRORS, "Codes of calls"))
    for code, row in of_calls.items():
        again = {True: "yes", False: "no", None: "sometimes"}[listed[code].retryable]
        assert (f"`{listed[code].type}`", again) == (row[1], row[2])
    sections = ("Codes only rows have", "Codes of wrong arguments", "Codes of table tools")
    others = {code for name in sections for code in first_codes(section(ERRORS, name))}
    assert set(listed) == set(of_calls) | others


def test_every_type_of_error_and_every_status_is_listed() -> None:
    assert set(first_codes(section(ERRORS, "Types"))) == set(ErrorType)
    listed = {row[0] for row in rows_of(section(ERRORS, "The API's own errors"))}
    assert listed == {str(status) for status in STATUS_TITLES}
    for refusal, status in REFUSAL_STATUS.items():
        assert f"`{refusal.__name__}` {status}" in section(ERRORS, "The API's own errors")


# The command line


def every_command(group: Any, words: str = "pegboard") -> Iterator[tuple[str, Any]]:
    """Return each command of the program by its full name."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from every_command(command, f"{words} {name}")
        else:
            yield f"{words} {name}", command.load()


COMMANDS = dict(every_command(get_command(program)))


def test_every_command_has_a_section_and_no_other() -> None:
    assert {"pegboard serve", "pegboard tools list"} < set(COMMANDS)
    assert {heading for heading in headings_of(CLI) if heading.startswith("pegboard ")} == set(COMMANDS)


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_option_of_a_command_is_in_its_section_and_no_other(name: str) -> None:
    options = {
        option
        for param in COMMANDS[name].params
        for option in (*param.opts, *param.secondary_opts)
        if option.startswith("-")
    }
    shown = section(CLI, name)
    # Options of other commands are mentioned within a whole command in backticks.
    mentioned = {word for code in codes_in(shown) for word in code.split()[:1] if word.startswith("-") and word != "-"}
    assert options - SHARED <= set(re.findall(r"(?<![\w-])--?[a-z][\w-]*", shown))
    assert mentioned <= options


def test_the_options_of_every_command_are_listed() -> None:
    shown = section(CLI, "For every command")
    root = {option for param in get_command(program).params for option in param.opts}
    for option in root | SHARED:
        assert f"`{option}`" in shown


# REST


async def test_every_route_is_listed_and_no_other() -> None:
    async with testing.memory_board() as board:
        transport = httpx.ASGITransport(create_app(board, "test"))
        async with httpx.AsyncClient(transport=transport, base_url="http://board") as client:
            document = (await client.get("/openapi.json")).json()
    routes = {f"{method.upper()} {path}" for path, item in document["paths"].items() for method in item}
    assert "POST /v1/tools/{name}/call" in routes
    rows = {code: row for code, row in first_codes(text_of(REST)).items() if " /" in code}
    assert set(rows) == routes
    for path, item in document["paths"].items():
        for method, operation in item.items():
            for parameter in operation.get("parameters", ()):
                if parameter["in"] == "query" and parameter["name"] not in ("limit", "cursor"):
                    row = rows[f"{method.upper()} {path}"][1]
                    assert re.search(rf"`\??{parameter['name']}\b", row), f"{parameter['name']} of {method} {path}"


@pytest.mark.parametrize(("path", "model"), [("openapi", OpenApiImportBody), ("mcp", McpImportBody)])
def test_every_field_of_an_import_is_listed(path: str, model: type[BaseModel]) -> None:
    shown = section(REST, "Imports")
    fields = codes_in(first_codes(shown)[f"POST /v1/imports/{path}"][1])[0]
    assert set(re.findall(r"\w+", fields)) - {"or"} == set(model.model_fields)
    report = next(block.text for block in blocks_of(REST) if '"left_out"' in block.text)
    assert set(json.loads(report)) == set(ImportResponse.model_fields)


def test_every_field_of_results_and_executions_is_listed() -> None:
    results = first_codes(section("docs/reference/results.md", "plain"))
    assert set(results) == set(PlainResult.model_fields) | set(ErrorDetails.model_fields)
    executions = first_codes(text_of("docs/reference/executions.md"))
    statuses = {"succeeded", "failed", "refused", "in_doubt"}
    assert set(executions) == set(ExecutionResponse.model_fields) | statuses


# Tools


def test_every_field_of_a_definition_is_listed_and_no_other() -> None:
    listed = first_codes(section(TOOL, "Fields"))
    assert set(listed) == set(ToolCreate.model_fields) | set(ToolResponse.model_fields)
    for name, field in ToolCreate.model_fields.items():
        if field.is_required():
            assert listed[name][1] == "required"
        elif isinstance(field.default, bool | str):
            assert listed[name][1] == f"`{str(field.default).lower()}`"


async def kinds_that_run() -> set[str]:
    """The kinds that the board has an executor for."""
    async with testing.memory_board() as board:
        return set(board.executors)


async def test_every_kind_is_listed_with_its_config_and_whether_it_runs() -> None:
    listed = first_codes(section(TOOL, "Kinds"))
    assert set(listed) == set(Kind)
    run = await kinds_that_run()
    for name, kind in load_kinds().items():
        _, runs, config = listed[name]
        assert runs == ("yes" if name in run else "no")
        for key, field in kind.config.model_fields.items():
            assert f"`{field.alias or key}`" in config or "#config-of-" in config


@pytest.mark.parametrize(
    ("heading", "model"),
    [
        ("Config of http", find_kind("http").config),
        ("Config of mcp", find_kind("mcp").config),
        ("Config of python", find_kind("python").config),
        ("Config of shell", find_kind("shell").config),
        ("Styles", ParameterStyle),
    ],
)
def test_every_field_of_a_config_with_a_section_is_listed_and_no_other(heading: str, model: type[BaseModel]) -> None:
    listed = first_codes(section(TOOL, heading))
    assert set(listed) == set(model.model_fields)
    for name, field in model.model_fields.items():
        _, default, meaning = listed[name]
        assert meaning
        if field.is_required():
            assert default == "required"
        elif isinstance(field.default, bool | str):
            assert default == f"`{str(field.default).lower()}`"


async def test_the_readme_says_which_kinds_run() -> None:
    (row,) = [row for row in rows_of(text_of("README.md")) if row[0] == "Kinds of tools that run"]
    run = await kinds_that_run()
    assert set(codes_in(row[1])) == run
    assert set(codes_in(row[2])) == {str(kind) for kind in Kind} - run


def test_every_builtin_has_a_section_that_names_its_arguments() -> None:
    page = "docs/reference/builtins.md"
    for builtin in BUILTINS:
        shown = section(page, builtin.name)
        for argument in builtin.input_schema.get("properties", {}):
            assert f"`{argument}`" in shown


# Libraries and telemetry


def test_every_helper_for_tests_is_listed() -> None:
    helpers = {name for name, value in vars(testing).items() if getattr(value, "__module__", None) == testing.__name__}
    listed = {code.partition("(")[0] for code in first_codes(text_of("docs/howto/testing.md"))}
    assert helpers == listed


async def test_every_metric_is_listed_and_no_other() -> None:
    async with testing.memory_board() as board:
        await board.call("nope")
        text = board.metrics.text().decode()
    kinds = {match[1]: match[2] for match in re.finditer(r"^# TYPE (\w+) (\w+)$", text, re.MULTILINE)}
    metrics = {name: kind for name, kind in kinds.items() if not name.endswith("_created")}
    listed = first_codes(section(OBSERVABILITY, "Metrics"))
    assert {name: row[1] for name, row in listed.items()} == metrics


def test_every_log_event_that_is_listed_exists_at_its_level() -> None:
    source = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "src").rglob("*.py"))
    levels = {"error": "error|exception", "warning": "warning", "info": "info"}
    for event, (_, level, meaning) in first_codes(section(OBSERVABILITY, "Logs")).items():
        assert re.search(rf'log\.({levels[level]})\(\s*"{event}"', source), event
        assert meaning
