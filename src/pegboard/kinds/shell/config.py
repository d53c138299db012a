"""The config of shell tools."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from pegboard.kinds.config_fields import Code, Env, Folder, Seconds
from pegboard.kinds.shell.command_template import CommandTemplate, find_script_placeholder
from pegboard.model.base_model import Model

ExitCodes = Annotated[list[Annotated[int, Field(ge=0, le=255)]], Field(min_length=1, max_length=256)]


class ShellConfig(Model):
    """A command, run confined: `{param}` fills elements of its argv and is never split again.

    With `shell` it is a script for `/bin/sh`, whose parameters are environment variables and nothing else.
    """

    command: Code
    working_dir: Folder | None = None
    timeout: Seconds | None = None
    env: Env = {}
    shell: bool = False
    parse: Literal["text", "json"] = "text"
    success_exit_codes: ExitCodes = Field([0], description="The exit codes with which a call succeeds")
    writable: bool = Field(False, description="Whether the command may change what is in working_dir")
    network: bool = False

    @model_validator(mode="after")
    def _check_command(self) -> ShellConfig:
        if not self.shell:
            try:
                CommandTemplate.read(self.command)
            except ValueError as error:
                raise ValueError(f"command: {error}") from None
        elif (name := find_script_placeholder(self.command)) is not None:
            raise ValueError(
                f"command: with shell: true nothing is filled in, so {{{name}}} is not allowed; each parameter is "
                f'an environment variable: "${name}". To write literal braces, add spaces: {{ {name} }}'
            )
        if self.writable and self.working_dir is None:
            raise ValueError("writable needs a working_dir")
        return self
