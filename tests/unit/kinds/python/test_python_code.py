"""Parsing of a python tool's code: its function, its imports, and the errors for invalid code."""

from __future__ import annotations

import ast
import textwrap
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard.kinds.python import compile_check
from pegboard.kinds.python.compile_check import (
    MAX_CODE_BYTES,
    MAX_FSTRING_CHARACTERS,
    MAX_FUNCTIONS,
    MAX_NODES,
    check_compiles,
    parse_code,
)
from pegboard.kinds.python.function_source import CodeProblem, EntryPointProblem, read_code, read_signature

FUNCTION = "\ndef f(): pass"


def problem(code: str, entrypoint: str | None = None) -> CodeProblem:
    with pytest.raises(CodeProblem) as raised:
        read_code(code, entrypoint)
    return raised.value


def imports(code: str) -> list[tuple[str, int]]:
    return [(found.module, found.line) for found in read_code(textwrap.dedent(code) + FUNCTION).imports]


class TestEntry:
    @pytest.mark.parametrize(
        ("code", "entrypoint", "entry"),
        [
            ("def a(): pass\ndef b(): pass", None, "b"),
            ("def main(): pass\ndef b(): pass", None, "main"),
            ("def main(): pass\ndef b(): pass", "b", "b"),
            ("def a(): pass\nasync def b(): pass", None, "b"),
            ("def a(): pass\ndef b(): pass\ndef a(): pass", None, "a"),
            ("def a():\n def main(): pass\nclass B:\n def main(self): pass\ndef c(): pass", None, "c"),
        ],
    )
    def test_it_is_the_one_named_or_main_or_the_last(self, code: str, entrypoint: str | None, entry: str) -> None:
        assert read_code(code, entrypoint).entry == entry

    def test_one_that_is_not_there_is_answered_with_those_that_are(self) -> None:
        found = problem("def a(): pass\ndef b(): pass", "c")
        assert isinstance(found, EntryPointProblem)
        assert str(found) == "no function 'c' in the code; there are: a, b"

    def test_of_functions_of_the_same_name_the_last_counts(self) -> None:
        assert read_signature("def main(a): pass\ndef main(b): pass")["required"] == ["b"]

    def test_code_without_a_function_is_asked_to_have_one(self) -> None:
        assert "def main" in str(problem("x = 1\nclass A: pass"))

    def test_a_parameter_by_position_only_is_named_with_the_way_out(self) -> None:
        found = problem("\ndef f(a, /, b): pass")
        assert found.line == 2
        assert "'a'" in str(found)
        assert "'/'" in str(found)


class TestProblems:
    @pytest.mark.parametrize(
        ("code", "line", "words"),
        [
            ("def f(:", 1, "invalid syntax"),
            ("def f():\n    return (1", 2, "never closed"),
            ("def f():\n\treturn 1\n        x = 2", 3, "tabs"),
            ("return 1", 1, "outside function"),
            ("def f(a, a): pass", 1, "duplicate argument"),
            ("def f():\n x = 1\n await x", 3, "outside async function"),
            ("def f():\n nonlocal x", 2, "nonlocal"),
            ("match 1:\n case a: pass\n case b: pass", 2, "unreachable"),
            ("from . import x", 1, "relative import"),
        ],
    )
    def test_what_python_says_is_reported_with_the_line(self, code: str, line: int, words: str) -> None:
        found = problem(code + "\n" + FUNCTION)
        assert found.line == line
        assert str(found).startswith(f"line {line}: ")
        assert words in str(found)

    @pytest.mark.parametrize("text", ["\0", "\ud800", "x = '\udcff'"])
    def test_what_is_no_text_is_a_problem(self, text: str) -> None:
        assert str(problem(FUNCTION + "\n" + text))

    @pytest.mark.parametrize(
        "code",
        [
            "x = " + "-" * 100_000 + "1",
            "x = a" + ".a" * 50_000,
            "x = " + "1 + " * 50_000 + "1",
            "x = " + "lambda: " * 20_000 + "1",
            "x = " + "(" * 5_000,
            "if a: pass\n" + "elif a: pass\n" * 10_000,
            "x = " + "9" * 5_000,
        ],
        ids=["minus", "dots", "sums", "lambdas", "brackets", "elifs", "digits"],
    )
    def test_nesting_that_breaks_the_compiler_is_a_problem_of_the_code(self, code: str) -> None:
        assert str(problem(code + FUNCTION))

    def test_a_warning_is_no_problem(self) -> None:
        assert read_code("x = '\\d' is 1" + FUNCTION).entry == "f"

    @given(st.text(alphabet=st.sampled_from(list("ab01 \n\t:=()[]{}'\"#\\.,*@lambdefimport\r\x0c\ufeffé"))))
    def test_any_text_is_read_or_refused(self, code: str) -> None:
        try:
            assert read_code(code).entry
        except CodeProblem as found:
            assert str(found)


class TestImports:
    def test_each_is_reported_by_its_top_level_name_and_first_line(self) -> None:
        found = imports("""
            import os.path, json as j
            from pandas.core import frame
            def g():
                import pandas
                from numpy import array
            """)
        assert found == [("json", 2), ("os", 2), ("pandas", 3), ("numpy", 6)]

    @pytest.mark.parametrize(
        "code",
        [
            "try:\n import foreign\nexcept ImportError:\n foreign = None",
            "try:\n from foreign import a\nexcept (ValueError, ModuleNotFoundError):\n pass",
            "try:\n with a:\n  import foreign\nexcept:\n pass",
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n import foreign",
            "import typing\nif typing.TYPE_CHECKING:\n import foreign",
        ],
    )
    def test_code_that_is_ready_for_one_to_fail_can_do_without_it(self, code: str) -> None:
        assert "foreign" not in dict(imports(code))

    @pytest.mark.parametrize(
        "code",
        [
            "try:\n import foreign\nexcept ValueError:\n pass",
            "try:\n pass\nexcept ImportError:\n import foreign",
            "try:\n pass\nexcept ImportError:\n pass\nelse:\n import foreign",
            "if a:\n import foreign",
            "if TYPE_CHECKING:\n pass\nelse:\n import foreign",
        ],
    )
    def test_any_other_is_needed(self, code: str) -> None:
        assert "foreign" in dict(imports(code))


def finally_in_finally(levels: int) -> str:
    code = "a"
    for _ in range(levels):
        code = "try:\n a\nfinally:\n" + textwrap.indent(code, " ")
    return code


class TestCost:
    """Code that needs much time or memory to compile, here in the server."""

    @pytest.mark.parametrize(
        ("code", "words"),
        [
            (finally_in_finally(19) + FUNCTION, "copy them"),
            (
                "def f():\n while a:\n  try:\n" + "   break\n" * 2_000 + "  finally:\n" + "   a()\n" * 2_000,
                "copy them",
            ),
            ("def f(): pass\n" * (MAX_FUNCTIONS + 1), "functions"),
            ("class A: pass\n" * (MAX_FUNCTIONS + 1), "functions"),
            ("a;" * (MAX_NODES // 2) + FUNCTION, "names, values and statements"),
            ("x = '" + "a" * MAX_CODE_BYTES + "'" + FUNCTION, "64 KiB"),
            ("x = '" + "é" * (MAX_CODE_BYTES // 2) + "'" + FUNCTION, "64 KiB"),
        ],
        ids=["nested finally", "many ways out", "functions", "classes", "values", "bytes", "bytes of utf-8"],
    )
    def test_what_would_take_much_more_than_it_is_never_comes_to_the_compiler(
        self, code: str, words: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        compiled: list[object] = []
        monkeypatch.setattr(compile_check, "compile", lambda *asked, **_: compiled.append(asked), raising=False)
        assert words in str(problem(code))
        assert not compiled

    def test_the_compiler_sees_no_numbers_that_were_chosen_for_their_hash(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def noting(tree: ast.Module, *arguments: Any, **more: Any) -> Any:
            hashes.extend(hash(node.value) for node in ast.walk(tree) if isinstance(node, ast.Constant))
            return compile(tree, *arguments, **more)

        hashes: list[int] = []
        monkeypatch.setattr(compile_check, "compile", noting, raising=False)
        numbers = [*((2**61 - 1) * place for place in range(1, 1_000)), *(float((2**61 - 1) * 2**n) for n in range(99))]
        assert read_code("\n".join(f"x = {number}" for number in numbers) + FUNCTION).entry == "f"
        assert len(hashes) >= len(set(hashes)) >= len(numbers)

    def test_numbers_are_what_they_were_once_the_code_is_compiled(self) -> None:
        tree = parse_code("def f(a=5, b=2.5, c=True, d=1j):\n    return [7, -8, 9 ** 9, False, None]")
        before = ast.dump(tree)
        check_compiles(tree)
        assert ast.dump(tree) == before

    def test_code_as_people_write_it_passes(self) -> None:
        body = "    with open(a) as b, open(c) as d:\n" + "        if b: return 1\n" * 20
        tried = "    try:\n" + textwrap.indent(body, "    ") + "    finally:\n" + "        a.close()\n" * 5
        assert read_code("def f(a):\n" + tried + finally_in_finally(0) + "\n").entry == "f"
        assert read_code(finally_in_finally(4) + FUNCTION).entry == "f"

    @pytest.mark.parametrize(
        "code",
        [
            "x = f'{}'",
            'x = F"{}"',
            "x = rf'''\n{}'''",
            'x = fR"""\n{}"""',
            "x = f'\\\n{}'",
            "x = f'\\\r\n{}'",
            "# f'''\nx = f\"{}'''{}\"",
        ],
    )
    def test_an_f_string_that_would_take_python_seconds_is_not_parsed(
        self, code: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        long = code.replace("{}", "{a}" * (MAX_FSTRING_CHARACTERS // 3 + 1)) + FUNCTION
        with monkeypatch.context() as without:
            without.delattr(ast, "parse")
            found = problem(long)
        assert "an f-string of more than 8,192 characters" in str(found)
        assert found.line in (1, 2)

    def test_f_strings_as_people_write_them_pass(self) -> None:
        short = "\n".join(f"x = f'{{a}} and {{b!r:>{place}}} \\' it'" for place in range(1_000))
        plain = "y = 'a" + "b{c}" * MAX_FSTRING_CHARACTERS
        assert read_code(f"{short}\n{plain}'{FUNCTION}").entry == "f"


class TestOnce:
    """The same code is parsed once for all callers, also if it is invalid."""

    @pytest.fixture
    def parsed_codes(self, monkeypatch: pytest.MonkeyPatch) -> list[str]:
        codes: list[str] = []
        parse = ast.parse

        def counted(code: str, *rest: str, **more: str) -> ast.AST:
            codes.append(code)
            return parse(code, *rest, **more)  # type: ignore[call-overload, no-any-return]

        monkeypatch.setattr(ast, "parse", counted)
        return codes

    def test_what_it_says_is_kept(self, parsed_codes: list[str]) -> None:
        code = "def once(a: int): pass"
        assert read_signature(code)["properties"] == {"a": {"type": "integer"}}
        assert read_code(code) == read_code(code)
        assert parsed_codes == [code]

    def test_no_one_can_change_what_is_kept(self) -> None:
        code = "def kept(a: int): pass"
        read_signature(code)["properties"].clear()
        assert list(read_signature(code)["properties"]) == ["a"]

    def test_what_is_wrong_with_it_is_kept_as_well(self, parsed_codes: list[str]) -> None:
        code = "def once(a:\n b"
        first, second = problem(code), problem(code)
        assert (str(first), first.line) == (str(second), second.line)
        assert first is not second
        assert parsed_codes == [code]
        assert isinstance(problem("def once(): 0", "twice"), EntryPointProblem)
        assert isinstance(problem("def once(): 0", "twice"), EntryPointProblem)
