"""Tools that are commands in the sandbox."""

from __future__ import annotations

from pegboard.kinds.base import Executor, KindSpec, Services
from pegboard.kinds.shell.checks import find_command_faults, refuse_members
from pegboard.kinds.shell.config import ShellConfig


def _make_executor(services: Services) -> Executor:
    from pegboard.kinds.shell.executor import ShellExecutor  # noqa: PLC0415 -- start-up time

    confinement = services.confinement
    return ShellExecutor(confinement.sandbox, confinement.own, can_hide=confinement.can_hide)


KIND = KindSpec(
    "shell",
    ShellConfig,
    _make_executor,
    default_timeout=60.0,
    warms_up=True,
    runs_own_code=True,
    check=find_command_faults,
    may_register=refuse_members,
    purpose="A command that runs in the sandbox",
    example={
        "name": "count_words",
        "description": "Count the words of a text.",
        "tool_type": "shell",
        "config": {"command": 'printf %s "$text" | wc -w', "shell": True},
        "input_schema": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
    },
    restriction="Only admins may register tools with a working_dir, a folder of this machine",
)
