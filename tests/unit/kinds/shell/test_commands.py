"""Commands: split once, filled with arguments that are never split again."""

from __future__ import annotations

import shlex
import subprocess
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard.kinds.shell.command_template import (
    MAX_ARGUMENT_BYTES,
    MAX_COMMAND_BYTES,
    CommandTemplate,
    build_variables,
    can_caller_set_variable,
    find_script_placeholder,
    split_command,
)
from pegboard.model.call_errors import InvalidArguments

TEXT = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=40)
JSON = st.recursive(
    st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=5,
)
HOSTILE = ["; rm -rf /", "$(reboot)", "`reboot`", "a b", "a\nb", "'", '"', "\\", "*", "{x}", "{{x}}", "| cat", "&", ""]


def filled(command: str, *names: str, **arguments: Any) -> list[str]:
    return CommandTemplate.read(command, names).fill(arguments)


def get_error(command: str, *names: str, **arguments: Any) -> InvalidArguments:
    with pytest.raises(InvalidArguments) as error:
        filled(command, *names, **arguments)
    assert error.value.did_run is False
    return error.value


class TestSplitting:
    @given(st.lists(TEXT, min_size=1).filter(lambda words: words[0] != ""))
    def test_quoted_words_return_as_they_were(self, words: list[str]) -> None:
        assert split_command(shlex.join(words)) == words

    @pytest.mark.parametrize(("command", "what"), [("a 'b", "quote"), ('a "b', "quote"), ("a \\", "backslash")])
    def test_what_does_not_end_is_reported(self, command: str, what: str) -> None:
        with pytest.raises(ValueError, match=what):
            split_command(command)

    @pytest.mark.parametrize("command", ["", "   ", "\n", "''", "'' a"])
    def test_there_must_be_a_program(self, command: str) -> None:
        with pytest.raises(ValueError, match="names no program"):
            split_command(command)

    def test_nothing_of_a_shell_but_its_quotes_has_a_meaning(self) -> None:
        assert split_command("a | b > $HOME && c; `d` #e") == ["a", "|", "b", ">", "$HOME", "&&", "c;", "`d`", "#e"]


class TestPlaceholders:
    @pytest.mark.parametrize(
        ("command", "argv"),
        [
            ("awk '{print $1}'", ["awk", "{print $1}"]),
            ("find . -exec ls {} +", ["find", ".", "-exec", "ls", "{}", "+"]),
            ("grep -E 'a{3}|b{2,3}'", ["grep", "-E", "a{3}|b{2,3}"]),
            ("docker inspect -f '{{.Name}}'", ["docker", "inspect", "-f", "{{.Name}}"]),
            ("awk '{{print}}'", ["awk", "{print}"]),
            ("sed '{{{p}}}'", ["sed", "{{p}}"]),
            ("echo '{\"a\": {n}}'", ["echo", '{"a": 1}']),
            ("echo {{n}", ["echo", "{1"]),
            ("echo {n}}", ["echo", "1}"]),
            ("echo {n}{n}-{n}", ["echo", "11-1"]),
            ("echo '{two words}' {n}", ["echo", "both", "1"]),
            ("echo {two-words}", ["echo", "{two-words}"]),
        ],
    )
    def test_only_names_in_braces_are_filled(self, command: str, argv: list[str]) -> None:
        assert CommandTemplate.read(command, ["n", "two words"]).fill({"n": 1, "two words": "both"}) == argv

    def test_they_are_listed_once_each(self) -> None:
        assert CommandTemplate.read("a {x} --y={y} {x} {{z}}").placeholders == ("x", "y")

    @pytest.mark.parametrize("command", ["{program} a", "/bin/{program}", "'{program}'"])
    def test_the_program_is_never_the_callers_choice(self, command: str) -> None:
        with pytest.raises(ValueError, match="is a placeholder"):
            CommandTemplate.read(command, ["program"])

    @pytest.mark.parametrize(
        "command",
        [
            "sh -c 'echo {x}'",
            "/bin/bash -ec '{x}'",
            "bash --norc -lc 'a; b {x}' sh",
            "sh -c -- 'echo {x}'",
            "sh -c -e 'echo {x}'",
            "sh -c +x -eo pipefail 'echo {x}'",
            "bash -ceo pipefail 'echo {x}'",
            "bash -o pipefail -c 'echo {x}'",
            "env sh -c 'echo {x}'",
            "nice -n 5 /bin/sh -c 'echo {x}'",
            "sh -c 'exec \"$@\"' sh bash -c {x}",
            "sh -{x} 'echo a'",
            "fish -c'echo {x}'",
            "fish --command='echo {x}'",
        ],
    )
    def test_nothing_is_filled_into_the_script_of_a_shell(self, command: str) -> None:
        with pytest.raises(ValueError, match="run as code; use shell: true"):
            CommandTemplate.read(command, ["x"])

    def test_the_arguments_of_a_script_are_only_arguments(self) -> None:
        for command in (
            "sh -c 'echo \"$1\"' sh {x}",
            "env sh -e -c -- 'echo \"$1\"' sh {x}",
            "grep -c {x} sh",
            "sh a.sh {x}",
        ):
            assert "$(a)" in filled(command, "x", x="$(a)")


class TestFilling:
    @given(TEXT.filter(lambda text: not text.startswith("-")))
    def test_a_text_is_one_element_whatever_is_in_it(self, text: str) -> None:
        assert filled("echo {x} --x={x} 'a {x} b'", x=text) == ["echo", text, f"--x={text}", f"a {text} b"]

    @pytest.mark.parametrize("text", HOSTILE)
    def test_a_program_gets_it_as_it_was_sent(self, text: str) -> None:
        argv = filled("printf '%s\\0' {x} x{x}", x=text)
        printed = subprocess.run(argv, capture_output=True, check=True).stdout.decode()
        assert printed.split("\0") == [text, f"x{text}", ""]

    @pytest.mark.parametrize(
        ("value", "text"),
        [(1, "1"), (0.5, "0.5"), (True, "true"), (False, "false"), ({"a": [1]}, '{"a":[1]}'), (1e300, "1e+300")],
    )
    def test_any_other_value_is_written_as_json(self, value: Any, text: str) -> None:
        assert filled("a {x} -x{x}", x=value) == ["a", text, f"-x{text}"]

    def test_an_array_is_an_element_for_each_item_or_json_within_one(self) -> None:
        items = ["a b", 1, None, [2], {}]
        assert filled("a {x} z", x=items) == ["a", "a b", "1", "null", "[2]", "{}", "z"]
        assert filled("a --x={x}", x=["b"]) == ["a", '--x=["b"]']
        assert filled("a {x} z", x=[]) == ["a", "z"]
        assert filled("a {x}", x=("b", "c")) == ["a", "b", "c"]

    @pytest.mark.parametrize("arguments", [{}, {"x": None}])
    def test_what_is_absent_or_null_leaves_its_element_out_or_empty(self, arguments: dict[str, Any]) -> None:
        assert CommandTemplate.read("a {x} --x={x} b").fill(arguments) == ["a", "--x=", "b"]

    def test_an_empty_text_is_an_empty_element(self) -> None:
        assert filled("a {x} b", x="") == ["a", "", "b"]

    @given(st.dictionaries(st.sampled_from("xyz"), JSON))
    def test_whatever_is_sent_the_rest_of_the_command_stays(self, arguments: dict[str, Any]) -> None:
        command = CommandTemplate.read("a -- {x} b --y={y} '{{z}} {z}' c")
        argv = command.fill(arguments)
        assert argv[:2] == ["a", "--"]
        assert argv[-4] == "b"
        assert argv[-3].startswith("--y=")
        assert argv[-2].startswith("{z} ")
        assert argv[-1] == "c"


class TestDashes:
    @pytest.mark.parametrize("value", ["-rf", "--help", "-", -1, ["a", "-b"]])
    def test_a_value_never_becomes_an_option(self, value: Any) -> None:
        error = get_error("rm {x}", x=value)
        assert "Field 'x' begins with a dash" in error.message
        assert "`--` before {x}" in error.message
        assert [problem.field for problem in error.problems] == ["x"]

    @pytest.mark.parametrize("arguments", [{"x": "-r"}, {"x": "", "y": "-r"}, {"y": "-r"}])
    def test_not_even_in_pieces(self, arguments: dict[str, Any]) -> None:
        get_error("rm {x}{y}", **arguments)

    def test_nor_by_leaving_out_what_stands_before_one(self) -> None:
        assert filled("cat {x}-log", x="a") == ["cat", "a-log"]
        get_error("cat {x}-log")

    def test_a_value_like_an_option_is_passed_on_if_the_command_allows_it(self) -> None:
        assert filled("rm -v -- {x} {x}y", x="-rf") == ["rm", "-v", "--", "-rf", "-rfy"]
        assert filled("head -n{x} --lines={x}", x=-5) == ["head", "-n-5", "--lines=-5"]
        assert filled("a x{x}", x="-b") == ["a", "x-b"]


class TestBounds:
    @pytest.mark.parametrize("command", ["a {x}", "a --x={x}", "a -- {x}"])
    def test_nul_cannot_be_passed_on(self, command: str) -> None:
        error = get_error(command, x="a\0b")
        assert "NUL" in error.message
        assert error.problem.code == "invalid_string"

    def test_what_is_too_long_is_reported_with_the_way_out(self) -> None:
        assert len(filled("a {x}", x="a" * MAX_ARGUMENT_BYTES)[1]) == MAX_ARGUMENT_BYTES
        for text in ("a" * (MAX_ARGUMENT_BYTES + 1), "\u20ac" * (MAX_ARGUMENT_BYTES // 3 + 1)):
            error = get_error("a {x}", x=text)
            assert "standard input" in error.message
            assert error.problem.code == "too_big"
        assert "together" in get_error("a {x}", x=["a"] * (MAX_COMMAND_BYTES // 10)).message

    def test_the_longest_there_is_can_be_started(self) -> None:
        argv = filled("true {x} {y}", x="a" * MAX_ARGUMENT_BYTES, y=["b"] * 80_000)
        assert subprocess.run(argv, check=True).returncode == 0


class TestVariables:
    def test_each_is_a_text_and_what_is_absent_is_not_set(self) -> None:
        arguments = {"a": "$(b)", "n": 1, "l": ["x"], "none": None, "other": 1}
        found = build_variables(arguments, ["a", "n", "l", "none", "missing"])
        assert found == {"a": "$(b)", "n": "1", "l": '["x"]'}

    def test_nul_and_too_much_are_refused(self) -> None:
        for arguments in (
            {"a": "\0"},
            {"a": "x" * (MAX_ARGUMENT_BYTES + 1)},
            {f"a{i}": "x" * 120_000 for i in range(10)},
        ):
            with pytest.raises(InvalidArguments):
                build_variables(arguments, arguments)

    @pytest.mark.parametrize("name", ["symbol", "maxResults", "a1", "_x", "Path", "x_proxy_y"])
    def test_a_caller_may_set_names_with_a_small_letter(self, name: str) -> None:
        assert can_caller_set_variable(name)

    @pytest.mark.parametrize(
        "name",
        ["PATH", "IFS", "LD_PRELOAD", "ENV", "BASH_ENV", "HOME", "PS4", "PYTHONPATH", "A", "_", "__", "X1",
         "http_proxy", "HTTPS_proxy", "npm_config_prefix", "", "1a", "a-b", "a b", "a=b", "a\0", "\xe9", "a\n"],
    )  # fmt: skip
    def test_none_that_a_program_would_obey_or_a_shell_cannot_have(self, name: str) -> None:
        assert not can_caller_set_variable(name)

    @pytest.mark.parametrize("script", ["echo {x}", "a; b '{x}'", "{x}"])
    def test_a_script_with_placeholders_is_refused(self, script: str) -> None:
        assert find_script_placeholder(script) == "x"

    @pytest.mark.parametrize(
        "script", ["echo ${x} $x", "f() { echo; }", "awk '{ print }'", "ls {a,b} {} {1}", "{ x; }"]
    )
    def test_any_other_is_left_alone(self, script: str) -> None:
        assert find_script_placeholder(script) is None
