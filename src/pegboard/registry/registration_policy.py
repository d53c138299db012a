"""Checks at registration: which tools a caller may register, and whether a config fits the rest of its definition."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pegboard.json_schema.schema_document import SchemaDocument
from pegboard.json_schema.value_text import shorten
from pegboard.kinds.builtin.catalog import BUILTINS
from pegboard.kinds.builtin.config import BuiltinConfig
from pegboard.kinds.http.config import HttpConfig
from pegboard.kinds.internal.executor import InternalExecutor
from pegboard.kinds.shell.command_template import (
    CommandTemplate,
    can_caller_set_variable,
    find_shell_operator,
    list_parameters,
)
from pegboard.kinds.shell.config import ShellConfig
from pegboard.model.api_errors import Fault, Forbidden
from pegboard.model.call import Caller
from pegboard.model.chain import CHAIN_HANDLER
from pegboard.model.tool import Kind, Tool
from pegboard.sandbox.libraries import Libraries

# How many names an error message lists.
_MAX_LISTED_NAMES = 20


@dataclass(frozen=True, slots=True)
class RegistrationPolicy:
    """What may be registered on this board: shell tools of members, libraries of Python code, result sizes."""

    shell_for_members: bool = False
    libraries: Libraries = field(default_factory=lambda: Libraries(()))
    # The default limit of results, and the highest limit that members may set.
    max_result_bytes: int = 2**20
    # Knows which handlers the tools of an owner may use.
    handlers: InternalExecutor = field(default_factory=InternalExecutor)

    def check_registration(self, tool: Tool, caller: Caller, before: Tool | None = None) -> None:
        """Raise Forbidden if this caller may not register the tool, or not change `before` into it."""
        is_as_it_was = before is not None and (tool.tool_type, tool.config) == (before.tool_type, before.config)
        if not is_as_it_was:
            self._check_handler(tool, caller)
        if caller.is_admin:
            return
        # Unchanged parts are not checked again: otherwise a user could not deactivate a tool that is no longer allowed.
        if before is None or tool.max_result_bytes != before.max_result_bytes:
            self._check_result_limit(tool)
        if not is_as_it_was:
            self._check_mcp_command(tool)

    def _check_handler(self, tool: Tool, caller: Caller) -> None:
        """Raise Forbidden if the tool's owner is a member and its handler is not for members."""
        name = tool.config.get("handler")
        if (
            tool.tool_type is not Kind.INTERNAL
            or name == CHAIN_HANDLER
            or (caller.is_admin and tool.owner_id == caller.user_id)
        ):
            return
        if self.handlers.may_use_handler(tool.owner_id, str(name)):
            return
        known = self.handlers.for_members()
        raise Forbidden(
            f"A member's tool cannot name the handler '{shorten(str(name))}'. Handlers for members: "
            f"{', '.join(known[:_MAX_LISTED_NAMES]) or 'none'}. The program that runs the board marks them with "
            "@board.handler(NAME, for_members=True)"
        )

    def _check_result_limit(self, tool: Tool) -> None:
        if tool.max_result_bytes is not None and tool.max_result_bytes > self.max_result_bytes:
            raise Forbidden(
                f"Only admins may set a max_result_bytes of more than {self.max_result_bytes:,}, which is the board's "
                "own (PEGBOARD_MAX_RESULT_BYTES)"
            )

    def _check_mcp_command(self, tool: Tool) -> None:
        if tool.tool_type is Kind.MCP and tool.config.get("command") is not None:
            raise Forbidden("Only admins may register mcp tools, where they start commands on this machine")
        if tool.tool_type is Kind.TABLE:
            raise Forbidden("Only admins may register table tools, which write to the databases of this board")
        if tool.tool_type is not Kind.SHELL:
            return
        if not self.shell_for_members:
            raise Forbidden(
                "Only admins may register shell tools, unless the board is set to PEGBOARD_SHELL_FOR_MEMBERS=true"
            )
        if tool.config.get("working_dir") is not None:
            # Every caller of the tool could read what the server's user may read there.
            raise Forbidden("Only admins may register shell tools with a working_dir, a folder of this machine")


STRICT_POLICY = RegistrationPolicy()


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


def find_operator_faults(config: ShellConfig, before: Tool) -> list[Fault]:
    """Return a fault if the command has a shell operator but no shell; skipped for an unchanged command."""
    if config.shell or (before.tool_type is Kind.SHELL and before.config.get("command") == config.command):
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


def find_url_faults(config: HttpConfig, input_schema: Mapping[str, Any], before: Tool) -> list[Fault]:
    """Return a fault for each URL placeholder that is no parameter; an unchanged URL and schema are not checked."""
    if before.tool_type is Kind.HTTP and (before.config.get("url"), before.input_schema) == (config.url, input_schema):
        return []
    if input_schema.get("additionalProperties") not in (None, False) or input_schema.get("patternProperties"):
        return []  # a call may have properties that are not listed
    names, _ = SchemaDocument(input_schema).list_declared_names()
    known = f"they are {', '.join(sorted(names)[:_MAX_LISTED_NAMES])}" if names else "there are none"
    return [
        Fault("config.url", f"{{{name}}} is not among the properties of input_schema ({known})")
        for name in dict.fromkeys(config.placeholders)
        if name not in names
    ]


def find_builtin_faults(config: BuiltinConfig) -> list[Fault]:
    """Return a fault if the operation looks like a misspelt builtin.

    Other unknown operations are accepted: an installed executor may provide them, and otherwise the call fails.
    """
    known = [builtin.name for builtin in BUILTINS]
    near = difflib.get_close_matches(config.operation, known, 1)
    if config.operation in known or not near:
        return []
    return [
        Fault("config.operation", f"Builtin handler '{shorten(config.operation)}' not found; did you mean '{near[0]}'?")
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
