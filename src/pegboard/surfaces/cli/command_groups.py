"""Commands whose module is imported when they run, so that `--help` and each command load only what they need."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from pegboard.surfaces.cli.session import accept_shared_options

# The name of a command, its function (`name` or `module:name`), its summary, and what is special about it.
CommandEntry = tuple[str, str, str] | tuple[str, str, str, Mapping[str, Any]]


class LazyCommand(TyperCommand):
    """A name and a summary for the help of the group; the command itself is loaded to parse its arguments."""

    def __init__(
        self, module: str, name: str, function: str, summary: str, settings: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(name, help=summary, rich_markup_mode=None)
        self._function = function if ":" in function else f"{module}:{function}"
        self._settings = dict(settings or {})

    def make_context(self, *words: Any, **extra: Any) -> Any:
        """Return a context of the command itself."""
        return self.load().make_context(*words, **extra)

    def load(self) -> Any:
        """Import the function and return its command."""
        module, _, name = self._function.partition(":")
        function = getattr(import_module(f"pegboard.surfaces.cli.{module}"), name)
        settings = dict(self._settings)
        if settings.pop("shared_options", True):
            function = accept_shared_options(function)
        app = typer.Typer(add_completion=False, rich_markup_mode=None)
        app.command(self.name, **settings)(function)
        return get_command(app)


class CommandGroup(TyperGroup):
    """A group of commands whose functions are in `module`; `default` runs if the first argument names no command."""

    def __init__(self, name: str, summary: str, module: str, *commands: CommandEntry, default: str = "") -> None:
        super().__init__(name=name, help=summary, no_args_is_help=True, rich_markup_mode=None)
        self._default = default
        for command in commands:
            self.add_command(LazyCommand(module, *command))

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Insert the name of the default command if the first argument names no command."""
        if self._default and args and args[0] not in self.commands and args[0] not in ctx.help_option_names:
            args = [self._default, *args]
        return super().parse_args(ctx, args)
