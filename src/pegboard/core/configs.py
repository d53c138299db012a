"""What each kind of tool needs in its `config`, one model a kind."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, AliasChoices, Field, model_validator

from pegboard.core.chains import CHAIN, Chain
from pegboard.core.commands import Command, is_variable, placeholder_in_script
from pegboard.core.model import Bounded, Model
from pegboard.core.outbound import HttpConfig, McpConfig, Seconds, Text
from pegboard.core.table_config import TableConfig
from pegboard.core.tool import Kind

_REFERENCE = re.compile(r"\{\{secret:([A-Za-z_][A-Za-z0-9_.-]*)\}\}", re.ASCII)
# What the kernel shows there is about the whole machine.
_NOT_FOLDERS = ("/proc", "/sys", "/dev")
# Each value is looked for in all that a call says. With secrets filled in the same holds, when the tool is prepared.
MAX_VARIABLES = 100
MAX_VARIABLE_BYTES = 32 * 1024
MAX_ENV_BYTES = 128 * 1024
MAX_LIBRARIES = 50


def _without_secrets(text: str) -> str:
    if found := _REFERENCE.search(text):
        raise ValueError(
            f"{found[0]} is filled in within env only; give env a variable that is {found[0]} and read that"
        )
    return text


def _sound_env(env: dict[str, str]) -> dict[str, str]:
    if len(env) > MAX_VARIABLES:
        raise ValueError(f"{len(env):,} variables, at most {MAX_VARIABLES}")
    size = 0
    for name, value in env.items():
        if not is_variable(name):
            raise ValueError(
                f"'{name[:100]}' is no name of a variable: letters, digits and underscores, not a digit first"
            )
        if "\0" in value:
            raise ValueError(f"the value of '{name[:100]}' holds the character NUL")
        length = len(value.encode("utf-8", "surrogatepass"))
        if length > MAX_VARIABLE_BYTES:
            raise ValueError(f"the value of '{name[:100]}' is {length:,} bytes, at most {MAX_VARIABLE_BYTES:,}")
        size += len(name) + length
    if size > MAX_ENV_BYTES:
        raise ValueError(f"{size:,} bytes of names and values, at most {MAX_ENV_BYTES:,}")
    return env


def check_working_dir(path: str) -> str:
    """The path, if a command may be shown such a folder; ValueError says why not."""
    folder = PurePosixPath(path)
    if not folder.is_absolute() or ".." in folder.parts or "\0" in path:
        raise ValueError(f"must be an absolute path without '..', but is '{path[:100]}'")
    plain = "/" + "/".join(folder.parts[1:])  # two slashes at the beginning are one
    if plain == "/" or any(plain == place or plain.startswith(place + "/") for place in _NOT_FOLDERS):
        raise ValueError(
            f"cannot be '{path[:100]}': no command is shown the whole file system, {', '.join(_NOT_FOLDERS)}; "
            "name the folder that it works in"
        )
    return plain


Code = Annotated[Text, AfterValidator(_without_secrets)]
Env = Annotated[dict[str, str], Bounded, AfterValidator(_sound_env)]
Library = Annotated[str, Field(min_length=1, max_length=100), AfterValidator(_without_secrets)]
Folder = Annotated[Code, AfterValidator(check_working_dir)]


class PythonConfig(Model):
    """A Python function, run confined."""

    code: Code
    timeout: Seconds | None = None
    libraries: list[Library] = Field([], max_length=MAX_LIBRARIES)
    entrypoint: Code | None = None
    env: Env = {}
    network: bool = False


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
    def _sound_command(self) -> ShellConfig:
        if not self.shell:
            try:
                Command.read(self.command)
            except ValueError as error:
                raise ValueError(f"command: {error}") from None
        elif (name := placeholder_in_script(self.command)) is not None:
            raise ValueError(
                f"command: with shell: true nothing is filled in, so {{{name}}} cannot stand in it; each parameter is "
                f'an environment variable: "${name}". Braces that are meant as they are take a space: {{ {name} }}'
            )
        if self.writable and self.working_dir is None:
            raise ValueError("writable is about working_dir, and there is none")
        return self


class BuiltinConfig(Model):
    """An operation shipped with the board; `parameters` are defaults under the call's arguments."""

    operation: Text = Field(validation_alias=AliasChoices("operation", "handler"))
    parameters: dict[str, Any] = {}


class MockAnswer(Model):
    """An answer for the calls whose arguments contain `when`."""

    when: dict[str, Any] = {}
    respond: Any


class MockConfig(Model):
    """A fixed answer, or the first of several whose condition fits the arguments."""

    mock_response: Any = None
    mock_responses: Annotated[list[MockAnswer], Bounded] = []

    @model_validator(mode="after")
    def _some_answer(self) -> MockConfig:
        if not self.model_fields_set & {"mock_response", "mock_responses"}:
            raise ValueError("mock_response or mock_responses is required")
        return self


class InternalConfig(Model):
    """A handler that the process running the board provides; `chain` is what the handler of that name runs."""

    handler: Text
    chain: Chain | None = None

    @model_validator(mode="after")
    def _goes_with_its_handler(self) -> InternalConfig:
        if (self.chain is not None) != (self.handler == CHAIN):
            raise ValueError(f"a chain goes with the handler '{CHAIN}', and that handler with a chain")
        return self


KindConfig = (
    HttpConfig | McpConfig | PythonConfig | ShellConfig | BuiltinConfig | MockConfig | InternalConfig | TableConfig
)

CONFIGS: Mapping[Kind, type[KindConfig]] = {
    Kind.HTTP: HttpConfig,
    Kind.MCP: McpConfig,
    Kind.PYTHON: PythonConfig,
    Kind.SHELL: ShellConfig,
    Kind.BUILTIN: BuiltinConfig,
    Kind.MOCK: MockConfig,
    Kind.INTERNAL: InternalConfig,
    Kind.TABLE: TableConfig,
}

# The parts of a config whose values may be credentials, and are therefore encrypted at rest.
SECRET_MAPS = ("headers", "env")


def default_timeout(kind: Kind) -> float:
    """Seconds a call of this kind may take unless the tool says otherwise."""
    return {Kind.PYTHON: 10.0, Kind.SHELL: 60.0}.get(kind, 30.0)
