"""The rules for the config of a tool that runs code."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError

from pegboard.kinds.base import read_config
from pegboard.kinds.config_fields import check_working_dir
from pegboard.kinds.python.config import PythonConfig
from pegboard.kinds.shell.config import ShellConfig
from pegboard.model.call_errors import Misconfigured

KINDS: list[tuple[type[BaseModel], dict[str, Any]]] = [
    (ShellConfig, {"command": "true"}),
    (PythonConfig, {"code": "def f(): pass"}),
]


def shell(command: str = "true", **fields: Any) -> ShellConfig:
    return ShellConfig.model_validate({"command": command, **fields})


def fault(model: type[BaseModel], **fields: Any) -> str:
    with pytest.raises(ValidationError) as refused:
        model.model_validate(fields)
    return str(refused.value)


@pytest.mark.parametrize(
    ("command", "says"),
    [
        ("echo 'a", "command: it has a quote that is not closed"),
        ("echo \\", "command: it has a backslash at its end"),
        ("   ", "command: it names no program"),
        ("{x} a", "command: its program, '{x}', is a placeholder"),
        ("sh -c 'echo {x}'", "is inside a script, where its value would be run as code"),
    ],
)
def test_a_command_that_cannot_be_split_or_filled_safely_is_refused(command: str, says: str) -> None:
    assert says in fault(ShellConfig, command=command)


def test_a_script_is_not_split_and_has_no_placeholders() -> None:
    assert shell("echo 'a\n' \"$x\" ${y}; awk '{ print }' | while read -r a; do echo; done", shell=True).shell
    assert "{x} is not allowed" in fault(ShellConfig, command="echo {x}", shell=True)
    assert '"$x"' in fault(ShellConfig, command="echo {x}", shell=True)


@pytest.mark.parametrize(("model", "config"), KINDS)
@pytest.mark.parametrize("name", ["", "1A", "A B", "A=B", "A-B", "\xc4", "A\n"])
def test_names_in_env_are_those_of_variables(model: type[BaseModel], config: dict[str, Any], name: str) -> None:
    assert "is not a valid variable name" in fault(model, **config, env={name: "x"})
    model.model_validate({**config, "env": {"A_1": "x", "_b": ""}})


@pytest.mark.parametrize(("model", "config"), KINDS)
def test_a_value_in_env_cannot_hold_nul_and_is_not_shown(model: type[BaseModel], config: dict[str, Any]) -> None:
    with pytest.raises(ValidationError) as refused:
        model.model_validate({**config, "env": {"KEY": "hush\0"}})
    (error,) = refused.value.errors(include_input=False)
    assert error["msg"] == "Value error, the value of 'KEY' holds the character NUL"


@pytest.mark.parametrize(
    ("model", "fields"),
    [
        (ShellConfig, {"command": "curl -H {{secret:KEY}}"}),
        (ShellConfig, {"command": 'echo "{{secret:KEY}}"', "shell": True}),
        (ShellConfig, {"command": "true", "working_dir": "/srv/{{secret:KEY}}"}),
        (PythonConfig, {"code": "def f():\n    return '{{secret:KEY}}'"}),
        (PythonConfig, {"code": "def f(): pass", "libraries": ["{{secret:KEY}}"]}),
    ],
)
def test_secrets_stand_in_env_and_nowhere_else(model: type[BaseModel], fields: dict[str, Any]) -> None:
    assert "{{secret:KEY}} is filled in only within env" in fault(model, **fields)
    assert shell(env={"KEY": "{{secret:KEY}}"}).env == {"KEY": "{{secret:KEY}}"}


@pytest.mark.parametrize(
    "path", ["/", "//", "/.", "/proc", "/proc/1", "/sys/kernel", "/dev", "//dev/shm", "/srv/../proc", "/..", "/a\0b",
             "srv", "./srv", "~/srv", ""],
)  # fmt: skip
def test_a_working_dir_is_an_absolute_path_that_does_not_lead_out(path: str) -> None:
    assert "working_dir" in fault(ShellConfig, command="true", working_dir=path)


@pytest.mark.parametrize(
    ("path", "kept"), [("/tmp", "/tmp"), ("/srv/", "/srv"), ("//srv/./a", "/srv/a"), ("/process", "/process")]
)
def test_any_other_is_kept_in_its_plain_form(path: str, kept: str) -> None:
    assert shell(working_dir=path).working_dir == kept


@given(st.text(min_size=1))
def test_whatever_path_is_given_it_is_taken_or_refused_in_words(path: str) -> None:
    try:
        kept = check_working_dir(path)
    except ValueError as error:
        assert "must be" in str(error) or "cannot be" in str(error)
    else:
        assert kept.startswith("/")
        assert not kept.endswith("/")
        assert check_working_dir(kept) == kept


def test_writable_needs_a_folder() -> None:
    assert "writable needs a working_dir" in fault(ShellConfig, command="true", writable=True)
    assert shell(working_dir="/srv", writable=True).writable


@pytest.mark.parametrize(("model", "config"), KINDS)
@pytest.mark.parametrize(
    ("env", "says"),
    [
        ({f"A{place}": "x" for place in range(101)}, "101 variables, at most 100"),
        ({"KEY": "é" * 16_385}, "the value of 'KEY' is 32,770 bytes, at most 32,768"),
        ({f"A{place}": "x" * 32_767 for place in range(4)}, "131,076 bytes of names and values, at most 131,072"),
    ],
)
def test_env_is_bounded(model: type[BaseModel], config: dict[str, Any], env: dict[str, str], says: str) -> None:
    assert says in fault(model, **config, env=env)
    # Secrets are inserted later, and then the config is read again.
    with pytest.raises(Misconfigured, match=says):
        read_config(model, {**config, "env": env})


def test_env_may_be_as_large_as_that() -> None:
    assert len(shell(env={f"A{place:02}": "x" for place in range(100)}).env) == 100
    assert len(shell(env={f"A{place}": "x" * 32_766 for place in range(4)}).env) == 4


def test_libraries_are_bounded() -> None:
    assert "at most 50 items" in fault(PythonConfig, code="x", libraries=["numpy"] * 51)
    assert "at most 100 characters" in fault(PythonConfig, code="x", libraries=["n" * 101])
