"""What is asked of tools that run code of their owner's when they are registered: python and shell."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pegboard.core.call import Caller
from pegboard.core.commands import Command, is_callers_variable, parameters_of
from pegboard.core.configs import KindConfig, ShellConfig
from pegboard.core.outbound import McpConfig
from pegboard.core.refusals import Fault, Forbidden
from pegboard.sandbox.libraries import Libraries


@dataclass(frozen=True, slots=True)
class CodeRules:
    """What this board lets be registered: shell tools of members or not, and code that uses these libraries."""

    shell_for_members: bool = False
    libraries: Libraries = field(default_factory=lambda: Libraries(()))

    def refuse(self, config: KindConfig, caller: Caller) -> None:
        """Raise Forbidden where this caller may not register a tool with such a config."""
        if caller.is_admin:
            return
        if isinstance(config, McpConfig) and config.command is not None:
            raise Forbidden("Only admins may register mcp tools, where they start commands on this machine")
        if not isinstance(config, ShellConfig):
            return
        if not self.shell_for_members:
            raise Forbidden(
                "Only admins may register shell tools, unless the board is set to PEGBOARD_SHELL_FOR_MEMBERS=true"
            )
        if config.working_dir is not None:
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
