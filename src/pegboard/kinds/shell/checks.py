"""Checks of a shell tool at registration."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pegboard.json_schema.value_text import shorten
from pegboard.kinds.base import Registration, RegistrationRules
from pegboard.kinds.shell.command_template import (
    CommandTemplate,
    can_caller_set_variable,
    find_shell_operator,
    list_parameters,
)
from pegboard.kinds.shell.config import ShellConfig
from pegboard.model.api_errors import Fault
from pegboard.model.call import Caller
from pegboard.model.tool import Kind, Tool


def find_command_faults(registration: Registration) -> list[Fault]:
    """Return the faults of the command."""
    config: ShellConfig = registration.config
    faults = find_shell_faults(config, registration.definition.input_schema)
    return faults + _find_operator_faults(config, registration.before)


def refuse_members(tool: Tool, caller: Caller, rules: RegistrationRules) -> str | None:
    """Return why this caller may not register the tool, or None."""
    if caller.is_admin:
        return None
    if not rules.shell_for_members:
        return "Only admins may register shell tools, unless the board is set to PEGBOARD_SHELL_FOR_MEMBERS=true"
    if tool.config.get("working_dir") is not None:
        # Every caller of the tool could read what the server's user may read there.
        return "Only admins may register shell tools with a working_dir, a folder of this machine"
    return None


def find_shell_faults(config: ShellConfig, input_schema: Mapping[str, Any]) -> list[Fault]:
    """Return the faults of a command that does not fit the parameters of its tool."""
    names = list_parameters(input_schema)
    if config.shell:
        return _find_variable_faults(config, names)
    try:
        placeholders = CommandTemplate.read(config.command, names).placeholders
    except ValueError as error:
        return [Fault("config.command", str(error))]
    known = f"they are {', '.join(sorted(names))}" if names else "there are none"
    return [
        Fault(
            "config.command",
            f"{{{name}}} is not among the properties of input_schema ({known}); the text itself is {{{{{name}}}}}",
        )
        for name in placeholders
        if name not in names
    ]


def _find_operator_faults(config: ShellConfig, before: Tool) -> list[Fault]:
    """Return a fault if the command has a shell operator but no shell; skipped for an unchanged command."""
    if config.shell or (before.tool_type == Kind.SHELL and before.config.get("command") == config.command):
        return []
    operator = find_shell_operator(config.command)
    if operator is None:
        return []
    return [
        Fault(
            "config.command",
            f"'{shorten(operator)}' is an argument here, because no shell runs the command. For pipes "
            "and redirections set "
            f"shell: true; to pass it as an argument, quote it: '\"{shorten(operator)}\"'",
        )
    ]


def _find_variable_faults(config: ShellConfig, names: frozenset[str]) -> list[Fault]:
    faults = [
        Fault(
            f"input_schema.properties.{name}",
            "with shell: true each parameter is an environment variable of its own name: letters, digits and "
            "underscores, a small letter among them, and none that programs obey, such as http_proxy",
        )
        for name in sorted(names)
        if not can_caller_set_variable(name)
    ]
    faults += [
        Fault(
            f"config.env.{name}", "is among the properties of input_schema as well; one of the two needs another name"
        )
        for name in config.env
        if name in names
    ]
    return faults
