"""A shell tool's command: split into argv once, then filled with a call's arguments without being split again.

`{name}` in the command is replaced by the parameter of that name. A name is one that the tool's input schema
declares, or any identifier; `{{name}}` is the text `{name}`, and all other braces are literal, so that `awk '{print
$1}'`, `find . -exec ls {} +` and `docker inspect -f '{{.Name}}'` work unchanged.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Iterable, Mapping
from typing import Any, NamedTuple

import orjson

from pegboard.kinds.config_fields import is_variable_name
from pegboard.model.call_errors import FieldProblem, InvalidArguments

# The kernel's limit for one element, and our limit for all of them, which is below the kernel's on every system.
MAX_ARGUMENT_BYTES = 128 * 1024 - 1
MAX_COMMAND_BYTES = 1024 * 1024

_PLACEHOLDER = re.compile(r"\{(\{?)([^{}]+)\}")
_SCRIPT_PLACEHOLDER = re.compile(r"(?<!\$)\{([A-Za-z_][A-Za-z0-9_]*)\}", re.ASCII)
_SHELLS = frozenset({"sh", "ash", "bash", "csh", "dash", "fish", "ksh", "mksh", "rbash", "tcsh", "zsh"})
# An option that is followed by a script, or one that a value could turn into such an option.
_SCRIPT_OPTION = re.compile(r"-[A-Za-z]*[c{]|--(?:init-)?command", re.ASCII)
# Lower-case names that programs also interpret; POSIX reserves the other lower-case names for applications.
_CONTROL_VARIABLE = re.compile(r"(?:[a-z]+_proxy|npm_.*)", re.IGNORECASE | re.ASCII)
# A word with its quotes, and the words that only a shell does not treat as arguments.
_WORD = re.compile(r"""(?:'[^']*'|"(?:\\.|[^"\\])*"|\\.|[^\s'"\\])+""", re.DOTALL)
_OPERATOR = re.compile(r"\|[|&]?|&&?|&?[0-9]?(?:>>?|<<?)\S*", re.ASCII)
# Each element also takes a pointer and a NUL.
_ARGUMENT_OVERHEAD_BYTES = 9


class _Placeholder(NamedTuple):
    """The placeholder of a parameter."""

    name: str


class _ArgvElement(NamedTuple):
    """One element of argv: texts and placeholders; `is_free` if a value may begin with a dash."""

    parts: tuple[str | _Placeholder, ...]
    is_free: bool

    @property
    def names(self) -> list[str]:
        """The names of the parameters in it."""
        return [part.name for part in self.parts if isinstance(part, _Placeholder)]


class CommandTemplate:
    """A command as argv with placeholders for the parameters."""

    __slots__ = ("_elements",)

    def __init__(self, elements: Iterable[_ArgvElement]) -> None:
        self._elements = tuple(elements)

    @classmethod
    def read(cls, text: str, parameters: Collection[str] = ()) -> CommandTemplate:
        """Parse a command with these parameters; raise ValueError if it is not valid."""
        words = split_command(text)
        elements: list[_ArgvElement] = []
        is_over = False
        for word in words:
            elements.append(_ArgvElement(_parse_word(word, parameters), is_over or word.startswith("-")))
            is_over = is_over or word == "--"
        if elements[0].names:
            raise ValueError(
                f"its program, '{words[0]}', is a placeholder; name the program, and use {{param}} only after it"
            )
        _refuse_scripts(words, elements)
        return cls(elements)

    @property
    def placeholders(self) -> tuple[str, ...]:
        """The names of its parameters, each once."""
        return tuple(dict.fromkeys(name for element in self._elements for name in element.names))

    def fill(self, arguments: Mapping[str, Any]) -> list[str]:
        """Return the argv of a call with these arguments; raise InvalidArguments if a value is not possible in its
        place.

        An absent or null value removes its element, or is empty within a longer element. An array that is a whole
        element becomes one element per item; other values become text.
        """
        argv: list[str] = []
        for parts, is_free in self._elements:
            first = parts[0]
            if isinstance(first, str) and len(parts) == 1:
                argv.append(first)
            elif len(parts) == 1 and isinstance(first, _Placeholder):
                value = arguments.get(first.name)
                items = value if isinstance(value, list | tuple) else () if value is None else (value,)
                argv += [_check_element(format_argument(item), first.name, is_free) for item in items]
            else:
                argv.append(_fill_element(parts, arguments, is_free))
        if sum(len(word.encode()) + _ARGUMENT_OVERHEAD_BYTES for word in argv) > MAX_COMMAND_BYTES:
            raise _build_invalid_arguments(
                "", f"are more than {MAX_COMMAND_BYTES:,} bytes as a command line", "too_big"
            )
        return argv


def split_command(command: str) -> list[str]:
    """Split a command into words like a POSIX shell; raise ValueError if quotes or backslashes are incomplete."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        what = "a backslash at its end" if "escaped" in str(error) else "a quote that is not closed"
        raise ValueError(f"it has {what}; quote as in a POSIX shell") from None
    if not words or not words[0]:
        raise ValueError("it names no program")
    return words


def find_shell_operator(command: str) -> str | None:
    """Return the first unquoted pipe, redirection or other shell operator that is a word of the command, or None."""
    return next((word for word in _WORD.findall(command) if _OPERATOR.fullmatch(word)), None)


def list_parameters(input_schema: Mapping[str, Any]) -> frozenset[str]:
    """Return the parameters for a command: the properties that the schema itself lists."""
    listed = input_schema.get("properties")
    return frozenset(listed) if isinstance(listed, Mapping) else frozenset()


def find_script_placeholder(script: str) -> str | None:
    """Return the first apparent placeholder in a `shell: true` command, which is never filled; None if absent."""
    found = _SCRIPT_PLACEHOLDER.search(script)
    return found[1] if found else None


def can_caller_set_variable(name: str) -> bool:
    """True if a caller may set this variable: no shell, loader or program may interpret it.

    Variables with a meaning have no lower-case letters (PATH, IFS, LD_PRELOAD, BASH_ENV …); POSIX reserves such
    names.
    """
    return is_variable_name(name) and name.upper() != name and not _CONTROL_VARIABLE.fullmatch(name)


def list_caller_variables(parameters: Iterable[str], env: Collection[str]) -> tuple[str, ...]:
    """Return the parameters of a script that become environment variables; the tool's own `env` has priority."""
    return tuple(sorted(name for name in parameters if can_caller_set_variable(name) and name not in env))


def build_variables(arguments: Mapping[str, Any], names: Iterable[str]) -> dict[str, str]:
    """Return these arguments as environment variables; absent or null ones are not set."""
    given = {name: arguments[name] for name in names if arguments.get(name) is not None}
    found = {name: _check_element(format_argument(value), name, True) for name, value in given.items()}
    if (
        sum(len(name) + len(text.encode()) + _ARGUMENT_OVERHEAD_BYTES + 1 for name, text in found.items())
        > MAX_COMMAND_BYTES
    ):
        raise _build_invalid_arguments(
            "", f"are more than {MAX_COMMAND_BYTES:,} bytes as environment variables", "too_big"
        )
    return found


def format_argument(value: Any) -> str:
    """Return a string unchanged and any other value as JSON."""
    return value if isinstance(value, str) else orjson.dumps(value).decode()


def _parse_word(word: str, parameters: Collection[str]) -> tuple[str | _Placeholder, ...]:
    parts: list[str | _Placeholder] = []
    literal, at = "", 0
    while found := _PLACEHOLDER.search(word, at):
        doubled, name = found[1], found[2]
        before, at = word[at : found.start()], found.end()
        if name not in parameters and not is_variable_name(name):
            literal += before + found[0]
        elif doubled and word.startswith("}", at):
            literal += f"{before}{{{name}}}"
            at += 1
        else:
            text = literal + before + doubled
            parts += [text, _Placeholder(name)] if text else [_Placeholder(name)]
            literal = ""
    literal += word[at:]
    return (*parts, literal) if literal or not parts else tuple(parts)


def _refuse_scripts(words: list[str], elements: list[_ArgvElement]) -> None:
    """Raise ValueError if a placeholder is inside a script for a shell: its value would be executed as code."""
    # At any position: `env sh -c …`, `nice sh -c …`.
    at = next((place for place, word in enumerate(words) if word.rpartition("/")[2] in _SHELLS), len(words)) + 1
    while at < len(words):
        last = _find_script_index(words, at) if _SCRIPT_OPTION.match(words[at]) else None
        if last is None:
            at += 1
            continue
        names = [name for element in elements[at : last + 1] for name in element.names]
        if names:
            raise ValueError(
                f"'{{{names[0]}}}' is inside a script, where its value would be run as code; "
                f'use shell: true, where each parameter is a variable: "${names[0]}"'
            )
        at = last + 1


def _find_script_index(words: list[str], option: int) -> int:
    """Return the index of the script after an option: other options may precede it, and `-o` takes a word."""
    at = option
    while at < len(words) and (at == option or words[at].startswith(("-", "+"))):
        at += 1 if words[at].startswith("--") else 1 + words[at].lower().count("o")
    return at


def _fill_element(parts: tuple[str | _Placeholder, ...], arguments: Mapping[str, Any], is_free: bool) -> str:
    texts = []
    leading: str | None = None
    for part in parts:
        if isinstance(part, str):
            texts.append(part)
            continue
        leading = leading or part.name
        value = arguments.get(part.name)
        texts.append("" if value is None else format_argument(value))
    assert leading is not None
    return _check_element("".join(texts), leading, is_free)


def _check_element(text: str, name: str, is_free: bool) -> str:
    """Return the text if it is valid in argv and would not become an option; raise InvalidArguments if not."""
    if "\0" in text:
        raise _build_invalid_arguments(name, "holds the character NUL, which a command line cannot hold")
    if not is_free and text.startswith("-"):
        raise _build_invalid_arguments(
            name,
            "begins with a dash, which the command would take for an option; send it without one. "
            f"The tool's owner can allow it: `--` before {{{name}}}, or --option={{{name}}}",
        )
    if len(text) * 4 > MAX_ARGUMENT_BYTES and len(text.encode()) > MAX_ARGUMENT_BYTES:
        raise _build_invalid_arguments(
            name,
            f"is longer than {MAX_ARGUMENT_BYTES:,} bytes, the most that a command line takes in one piece; "
            "a command can read it from standard input, where all parameters are, as JSON",
            "too_big",
        )
    return text


def _build_invalid_arguments(name: str, reason: str, code: str = "invalid_string") -> InvalidArguments:
    message = f"Field '{name}' {reason}" if name else f"All fields together {reason}"
    error = InvalidArguments(f"Invalid parameters: {message}", problems=[FieldProblem(code, message, name or None)])
    error.did_run = False
    return error
