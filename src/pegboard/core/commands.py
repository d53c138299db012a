"""A shell tool's command: split once into argv, and filled with a call's arguments without ever being split again.

`{name}` in the command stands for the parameter of that name. A name is what the tool's input schema declares, or any
identifier; `{{name}}` stands for the text `{name}`, and every other brace for itself, so that `awk '{print $1}'`,
`find . -exec ls {} +` and `docker inspect -f '{{.Name}}'` are what they look like.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Iterable, Mapping
from typing import Any, NamedTuple

import orjson

from pegboard.core.errors import FieldProblem, InvalidArguments

# What the kernel takes for one element, and what we take for all of them together: less than it does anywhere.
LONGEST_ELEMENT = 128 * 1024 - 1
LONGEST_COMMAND = 1024 * 1024

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_FIELD = re.compile(r"\{(\{?)([^{}]+)\}")
_IN_SCRIPT = re.compile(r"(?<!\$)\{([A-Za-z_][A-Za-z0-9_]*)\}", re.ASCII)
_SHELLS = frozenset({"sh", "ash", "bash", "csh", "dash", "fish", "ksh", "mksh", "rbash", "tcsh", "zsh"})
# An option after which a shell takes a script, or one that a value can make such an option.
_TAKES_SCRIPT = re.compile(r"-[A-Za-z]*[c{]|--(?:init-)?command", re.ASCII)
# Names in small letters that programs take as instructions all the same; POSIX leaves the others to applications.
_INSTRUCTIONS = re.compile(r"(?:[a-z]+_proxy|npm_.*)", re.IGNORECASE | re.ASCII)
# A word as it is written, quotes included, and the words that only a shell reads as something else than an argument.
_WORD = re.compile(r"""(?:'[^']*'|"(?:\\.|[^"\\])*"|\\.|[^\s'"\\])+""", re.DOTALL)
_OPERATOR = re.compile(r"\|[|&]?|&&?|&?[0-9]?(?:>>?|<<?)\S*", re.ASCII)
# A pointer and a NUL go with every element.
_BESIDE = 9


class _Hole(NamedTuple):
    """Where the value of a parameter belongs."""

    name: str


class _Element(NamedTuple):
    """One element of argv: texts and holes; `is_free` where a value may put a dash at its beginning."""

    parts: tuple[str | _Hole, ...]
    is_free: bool

    @property
    def names(self) -> list[str]:
        """The parameters in it."""
        return [part.name for part in self.parts if isinstance(part, _Hole)]


class Command:
    """A command as argv, with holes for the parameters."""

    __slots__ = ("_elements",)

    def __init__(self, elements: Iterable[_Element]) -> None:
        self._elements = tuple(elements)

    @classmethod
    def read(cls, text: str, parameters: Collection[str] = ()) -> Command:
        """The command that is written so, where these are the tool's parameters; ValueError says what is wrong."""
        words = split(text)
        elements: list[_Element] = []
        is_over = False
        for word in words:
            elements.append(_Element(_parts(word, parameters), is_over or word.startswith("-")))
            is_over = is_over or word == "--"
        if elements[0].names:
            raise ValueError(
                f"its program, '{words[0]}', is left to the caller; write the program itself, {{param}} stands after it"
            )
        _refuse_scripts(words, elements)
        return cls(elements)

    @property
    def placeholders(self) -> tuple[str, ...]:
        """The parameters that stand in it, each once."""
        return tuple(dict.fromkeys(name for element in self._elements for name in element.names))

    def fill(self, arguments: Mapping[str, Any]) -> list[str]:
        """The argv of a call with these arguments; raises InvalidArguments where a value cannot stand in its place.

        What is absent or null leaves its element out, or leaves nothing in an element that has more to it. An array
        that is a whole element becomes one element for each of its items; any other value becomes text.
        """
        argv: list[str] = []
        for parts, is_free in self._elements:
            first = parts[0]
            if isinstance(first, str) and len(parts) == 1:
                argv.append(first)
            elif len(parts) == 1 and isinstance(first, _Hole):
                value = arguments.get(first.name)
                items = value if isinstance(value, list | tuple) else () if value is None else (value,)
                argv += [_sound(text_of(item), first.name, is_free) for item in items]
            else:
                argv.append(_joined(parts, arguments, is_free))
        if sum(len(word.encode()) + _BESIDE for word in argv) > LONGEST_COMMAND:
            raise _unfit("", f"are more than {LONGEST_COMMAND:,} bytes as a command line", "too_big")
        return argv


def split(command: str) -> list[str]:
    """The words of a command, as a POSIX shell would split it; ValueError says why they cannot be told apart."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        what = "a backslash at its end" if "escaped" in str(error) else "a quote that is not closed"
        raise ValueError(f"it has {what}; quote as in a POSIX shell") from None
    if not words or not words[0]:
        raise ValueError("it names no program")
    return words


def shell_operator_in(command: str) -> str | None:
    """The first pipe, redirection or other operator of a shell that stands unquoted as a word in a command."""
    return next((word for word in _WORD.findall(command) if _OPERATOR.fullmatch(word)), None)


def parameters_of(input_schema: Mapping[str, Any]) -> frozenset[str]:
    """The parameters that a command can be filled with: the properties that the schema lists itself."""
    listed = input_schema.get("properties")
    return frozenset(listed) if isinstance(listed, Mapping) else frozenset()


def placeholder_in_script(script: str) -> str | None:
    """The first parameter that a `shell: true` command seems to want filled in, which it never is."""
    found = _IN_SCRIPT.search(script)
    return found[1] if found else None


def is_variable(name: str) -> bool:
    """Whether a shell can have a variable of this name."""
    return _IDENTIFIER.fullmatch(name) is not None


def is_callers_variable(name: str) -> bool:
    """Whether a caller may set the variable of this name: one that no shell, loader or program takes instructions from.

    Those have no small letter in their names (PATH, IFS, LD_PRELOAD, BASH_ENV …), which POSIX keeps for them.
    """
    return is_variable(name) and name.upper() != name and not _INSTRUCTIONS.fullmatch(name)


def callers_variables(parameters: Iterable[str], env: Collection[str]) -> tuple[str, ...]:
    """Those of a script's parameters that become environment variables; the tool's own `env` is never replaced."""
    return tuple(sorted(name for name in parameters if is_callers_variable(name) and name not in env))


def variables(arguments: Mapping[str, Any], names: Iterable[str]) -> dict[str, str]:
    """The arguments of these names as environment variables; one that is absent or null is not set."""
    given = {name: arguments[name] for name in names if arguments.get(name) is not None}
    found = {name: _sound(text_of(value), name, True) for name, value in given.items()}
    if sum(len(name) + len(text.encode()) + _BESIDE + 1 for name, text in found.items()) > LONGEST_COMMAND:
        raise _unfit("", f"are more than {LONGEST_COMMAND:,} bytes as environment variables", "too_big")
    return found


def text_of(value: Any) -> str:
    """A value as a command sees it: a string as it is, anything else as JSON writes it."""
    return value if isinstance(value, str) else orjson.dumps(value).decode()


def _parts(word: str, parameters: Collection[str]) -> tuple[str | _Hole, ...]:
    parts: list[str | _Hole] = []
    literal, at = "", 0
    while found := _FIELD.search(word, at):
        doubled, name = found[1], found[2]
        before, at = word[at : found.start()], found.end()
        if name not in parameters and not is_variable(name):
            literal += before + found[0]
        elif doubled and word.startswith("}", at):
            literal += f"{before}{{{name}}}"
            at += 1
        else:
            text = literal + before + doubled
            parts += [text, _Hole(name)] if text else [_Hole(name)]
            literal = ""
    literal += word[at:]
    return (*parts, literal) if literal or not parts else tuple(parts)


def _refuse_scripts(words: list[str], elements: list[_Element]) -> None:
    """A value within the text that a shell is to run would be run with it, whatever it says."""
    # Wherever it stands: `env sh -c …`, `nice sh -c …`.
    at = next((place for place, word in enumerate(words) if word.rpartition("/")[2] in _SHELLS), len(words)) + 1
    while at < len(words):
        last = _script_after(words, at) if _TAKES_SCRIPT.match(words[at]) else None
        if last is None:
            at += 1
            continue
        names = [name for element in elements[at : last + 1] for name in element.names]
        if names:
            raise ValueError(
                f"'{{{names[0]}}}' stands in a script, where its value would be run as code; "
                f'use shell: true, where each parameter is a variable: "${names[0]}"'
            )
        at = last + 1


def _script_after(words: list[str], option: int) -> int:
    """Where the script stands that an option announces: other options come first, and `-o` has a word of its own."""
    at = option
    while at < len(words) and (at == option or words[at].startswith(("-", "+"))):
        at += 1 if words[at].startswith("--") else 1 + words[at].lower().count("o")
    return at


def _joined(parts: tuple[str | _Hole, ...], arguments: Mapping[str, Any], is_free: bool) -> str:
    texts = []
    leading: str | None = None
    for part in parts:
        if isinstance(part, str):
            texts.append(part)
            continue
        leading = leading or part.name
        value = arguments.get(part.name)
        texts.append("" if value is None else text_of(value))
    assert leading is not None
    return _sound("".join(texts), leading, is_free)


def _sound(text: str, name: str, is_free: bool) -> str:
    """The text, if it can be an element of argv and does not turn into an option."""
    if "\0" in text:
        raise _unfit(name, "holds the character NUL, which a command line cannot hold")
    if not is_free and text.startswith("-"):
        raise _unfit(
            name,
            "begins with a dash, which the command would take for an option; send it without one. "
            f"The tool's owner can allow it: `--` before {{{name}}}, or --option={{{name}}}",
        )
    if len(text) * 4 > LONGEST_ELEMENT and len(text.encode()) > LONGEST_ELEMENT:
        raise _unfit(
            name,
            f"is longer than {LONGEST_ELEMENT:,} bytes, the most that a command line takes in one piece; "
            "a command can read it from standard input, where all parameters are, as JSON",
            "too_big",
        )
    return text


def _unfit(name: str, says: str, code: str = "invalid_string") -> InvalidArguments:
    message = f"Field '{name}' {says}" if name else f"All fields together {says}"
    error = InvalidArguments(f"Invalid parameters: {message}", problems=[FieldProblem(code, message, name or None)])
    error.did_run = False
    return error
