"""What is asked of tools that run code of their owner's or write to databases when they are registered, and of whom."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pegboard.builtins.catalog import BUILTINS
from pegboard.core.call import Caller
from pegboard.core.chains import CHAIN
from pegboard.core.commands import Command, is_callers_variable, parameters_of, shell_operator_in
from pegboard.core.configs import BuiltinConfig, ShellConfig
from pegboard.core.outbound import HttpConfig
from pegboard.core.refusals import Fault, Forbidden
from pegboard.core.tool import Kind, Tool
from pegboard.executors.internal import InternalExecutor
from pegboard.registry.shown import cut
from pegboard.registry.subschemas import Document
from pegboard.sandbox.libraries import Libraries

# How many handlers a refusal lists.
_MOST_NAMED = 20


@dataclass(frozen=True, slots=True)
class CodeRules:
    """What this board lets be registered: shell tools of members or not, code that uses these libraries, results."""

    shell_for_members: bool = False
    libraries: Libraries = field(default_factory=lambda: Libraries(()))
    # What results may be where their tools say nothing, and the most that others than admins may say.
    max_result_bytes: int = 2**20
    # Knows which handlers the tools of which owners may name.
    handlers: InternalExecutor = field(default_factory=InternalExecutor)

    def refuse(self, tool: Tool, caller: Caller, before: Tool | None = None) -> None:
        """Raise Forbidden where this caller may not register such a tool, or not make it of what it was before."""
        is_as_it_was = before is not None and (tool.tool_type, tool.config) == (before.tool_type, before.config)
        if not is_as_it_was:
            self._refuse_handlers(tool, caller)
        if caller.is_admin:
            return
        # What is as it was stays, or nobody could switch a tool off that the board no longer lets them register.
        if before is None or tool.max_result_bytes != before.max_result_bytes:
            self._refuse_results(tool)
        if not is_as_it_was:
            self._refuse_commands(tool)

    def _refuse_handlers(self, tool: Tool, caller: Caller) -> None:
        """Raise Forbidden where the tool's owner is a member and its handler is not for members."""
        name = tool.config.get("handler")
        if (
            tool.tool_type is not Kind.INTERNAL
            or name == CHAIN
            or (caller.is_admin and tool.owner_id == caller.user_id)
        ):
            return
        if self.handlers.may_name(tool.owner_id, str(name)):
            return
        known = self.handlers.for_members()
        raise Forbidden(
            f"A member's tool cannot name the handler '{cut(str(name))}'. Handlers for members: "
            f"{', '.join(known[:_MOST_NAMED]) or 'none'}. The program that runs the board marks them with "
            "@board.handler(NAME, for_members=True)"
        )

    def _refuse_results(self, tool: Tool) -> None:
        if tool.max_result_bytes is not None and tool.max_result_bytes > self.max_result_bytes:
            raise Forbidden(
                f"Only admins may set a max_result_bytes of more than {self.max_result_bytes:,}, which is the board's "
                "own (PEGBOARD_MAX_RESULT_BYTES)"
            )

    def _refuse_commands(self, tool: Tool) -> None:
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
            # What the board's own user may read there, every caller of the tool could.
            raise Forbidden("Only admins may register shell tools with a working_dir, a folder of this machine")


STRICT = CodeRules()


def shell_faults(config: ShellConfig, input_schema: Mapping[str, Any]) -> list[Fault]:
    """What in a command does not go together with the parameters of its tool."""
    names = parameters_of(input_schema)
    if config.shell:
        return _variable_faults(config, names)
    try:
        placeholders = Command.read(config.command, names).placeholders
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


def operator_faults(config: ShellConfig, before: Tool) -> list[Fault]:
    """That the command needs a shell and has none; not asked of a command that is as it was before."""
    if config.shell or (before.tool_type is Kind.SHELL and before.config.get("command") == config.command):
        return []
    operator = shell_operator_in(config.command)
    if operator is None:
        return []
    return [
        Fault(
            "config.command",
            f"'{cut(operator)}' is an argument here, because no shell runs the command. For pipes and redirections set "
            f"shell: true; to pass it as an argument, quote it: '\"{cut(operator)}\"'",
        )
    ]


def url_faults(config: HttpConfig, input_schema: Mapping[str, Any], before: Tool) -> list[Fault]:
    """The parameters in a URL that no call can give; not asked of a URL and schema that are as they were before."""
    if before.tool_type is Kind.HTTP and (before.config.get("url"), before.input_schema) == (config.url, input_schema):
        return []
    if input_schema.get("additionalProperties") not in (None, False) or input_schema.get("patternProperties"):
        return []  # calls may give properties that are not listed
    names, _ = Document(input_schema).declared()
    known = f"they are {', '.join(sorted(names)[:_MOST_NAMED])}" if names else "there are none"
    return [
        Fault("config.url", f"{{{name}}} is not among the properties of input_schema ({known})")
        for name in dict.fromkeys(config.placeholders)
        if name not in names
    ]


def builtin_faults(config: BuiltinConfig) -> list[Fault]:
    """That the operation is a misspelt one.

    One that is like no other is accepted: an installed executor may know it, and its calls say if none does.
    """
    known = [builtin.name for builtin in BUILTINS]
    near = difflib.get_close_matches(config.operation, known, 1)
    if config.operation in known or not near:
        return []
    return [
        Fault("config.operation", f"Builtin handler '{cut(config.operation)}' not found; did you mean '{near[0]}'?")
    ]


def _variable_faults(config: ShellConfig, names: frozenset[str]) -> list[Fault]:
    faults = [
        Fault(
            f"input_schema.properties.{name}",
            "with shell: true each parameter is an environment variable of its own name: letters, digits and "
            "underscores, a small letter among them, and none that programs obey, such as http_proxy",
        )
        for name in sorted(names)
        if not is_callers_variable(name)
    ]
    faults += [
        Fault(
            f"config.env.{name}", "is among the properties of input_schema as well; one of the two needs another name"
        )
        for name in config.env
        if name in names
    ]
    return faults
