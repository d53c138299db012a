"""A call of a python tool in its own process: what it sends, whatever its code does."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from dirty_equals import IsPartialDict, IsStr

from tests.unit.sandbox.python_children import LIMITS, Children, children


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Children]:
    with children(tmp_path_factory.mktemp("plain")) as made:
        yield made


@pytest.fixture(scope="module")
def with_pandas(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Children]:
    with children(tmp_path_factory.mktemp("pandas"), ("pandas",)) as made:
        yield made


def failure(child: Children, code: str, **job: Any) -> dict[str, Any]:
    ran = child.run(code, **job)
    assert ran.code == 0
    return dict(ran.answer["error"])


class TestResults:
    def test_arguments_go_in_by_name_and_the_result_comes_out(self, plain: Children) -> None:
        ran = plain.run("def f(a, *, b=2, **more): return [a, b, more]", arguments={"a": {"x": "é"}, "c": 3})
        assert ran == (0, '{"ok":[{"x":"é"},2,{"c":3}]}\n'.encode(), "", "")

    def test_an_async_function_is_run_to_its_end(self, plain: Children) -> None:
        code = "import asyncio\nasync def f(a):\n    await asyncio.sleep(0)\n    return a"
        assert plain.run(code, arguments={"a": 1}).answer == {"ok": 1}

    def test_what_the_code_defines_finds_itself(self, plain: Children) -> None:
        code = """
import dataclasses, pickle, typing
if __name__ == "__main__":
    raise RuntimeError("this is no program")
@dataclasses.dataclass
class Point:
    x: "int"
def f():
    assert typing.get_type_hints(Point) == {"x": int}
    return [pickle.loads(pickle.dumps(Point(1))), __name__, __file__]
"""
        assert plain.run(code).answer == {"ok": [{"x": 1}, "tool", "<tool>"]}

    def test_what_is_no_json_is_reported_by_its_place(self, plain: Children) -> None:
        assert plain.run("def f(): return {'a': [1, float('nan')]}").answer == {"unfit": IsStr(regex=r"\$\.a\[1\] .*")}
        unfit = plain.run("class Odd: pass\nOdd.__qualname__ = 'x' * 10**6\ndef f(): return Odd()").answer["unfit"]
        assert len(unfit) < 5000

    @pytest.mark.parametrize("code", ["def f(): return 'x' * 10**6", "def f(): return list(range(10**7))"])
    def test_what_is_too_large_is_reported_with_how_much_may_be(self, plain: Children, code: str) -> None:
        assert plain.run(code).answer == {"large": LIMITS["result"] - 8}

    def test_all_that_may_be_is_sent(self, plain: Children) -> None:
        room = LIMITS["result"] - len('{"ok":""}\n')
        assert len(plain.run("def f(n): return 'x' * n", arguments={"n": room}).result) == LIMITS["result"]
        assert "large" in plain.run("def f(n): return 'x' * n", arguments={"n": room + 1}).answer

    def test_prints_are_kept_apart_line_by_line_until_the_very_end(self, plain: Children) -> None:
        code = "import os, sys\ndef f():\n print('é', '\\ud800')\n print('e', file=sys.stderr)\n os._exit(3)"
        assert plain.run(code) == (3, b"", "é \\ud800\n", "e\n")
        assert plain.run("def f():\n print('no end of line', end='')\n return 1").stdout == "no end of line"

    def test_only_the_first_of_several_processes_answers(self, plain: Children) -> None:
        code = "import os\ndef f():\n first = os.getpid()\n os.fork()\n return os.getpid() == first"
        assert plain.run(code).answer == {"ok": True}


class TestErrors:
    def test_type_message_and_the_last_line_of_its_own_code_are_reported(self, plain: Children) -> None:
        code = "import json\n\ndef g(text):\n    return json.loads(text)  # here\n\ndef f():\n    return g('{')\n"
        assert failure(plain, code) == {
            "type": "JSONDecodeError",
            "message": IsStr(regex="Expecting property name.*"),
            "line": 4,
            "source": "return json.loads(text)  # here",
        }

    @pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
    def test_lines_are_counted_as_python_does(self, plain: Children, newline: str) -> None:
        code = newline.join(["def f():", "    x = '\x0c\u2028'", "    raise ValueError"])
        assert failure(plain, code) == {"type": "ValueError", "message": "", "line": 3, "source": "raise ValueError"}

    @pytest.mark.parametrize(
        ("code", "kind", "words", "line"),
        [
            ("1 / 0\ndef f(): pass", "ZeroDivisionError", "division by zero", 1),
            ("def f(a): pass", "TypeError", "missing 1 required", None),
            ("def f():\n raise SystemExit(0)", "SystemExit", "instead of returning a result", 2),
            ("import sys\ndef f():\n sys.exit('bye')", "SystemExit", "instead of returning a result", 3),
            ("def f():\n raise KeyboardInterrupt", "KeyboardInterrupt", "interrupted", 2),
            ("def f():\n raise MemoryError", "MemoryError", "512 MiB", 2),
            ("def f():\n return f()", "RecursionError", "without end", 2),
            ("import asyncio\nasync def f():\n raise asyncio.CancelledError", "CancelledError", "", 3),
            ("class E(Exception):\n def __str__(self): 1 / 0\ndef f(): raise E", "E", "ZeroDivisionError", 3),
            ("def f():\n raise ValueError('\\ud800' + 'x' * 10**6)", "ValueError", "?xxx", 2),
            ("def f():\n yield 1\n1 / 0", "ZeroDivisionError", "", 3),
            ("def f():\n raise ExceptionGroup('g', [KeyError('k')])", "KeyError", "'k'", 2),
            ("def f():\n raise StopIteration", "StopIteration", "", 2),
            ("class Odd(dict):\n def items(self): 1 / 0\ndef f(): return Odd(a=1)", "ZeroDivisionError", "", 2),
            ("def f():\n eval('1 +')", "SyntaxError", "invalid syntax", 2),
            ("def f():", "IndentationError", "expected", 1),
        ],
    )
    def test_whatever_is_raised_is_reported(
        self, plain: Children, code: str, kind: str, words: str, line: int | None
    ) -> None:
        found = failure(plain, code)
        assert (found["type"], found["line"]) == (kind, line)
        assert words in found["message"]
        assert len(found["message"]) <= 4000

    @pytest.mark.parametrize(
        "code",
        [
            "import builtins\ndef f():\n builtins.isinstance = None\n return object()",
            "import json\ndef f():\n json.dumps = None\n return object()",
            "import os\ndef f():\n del os.getpid\n return 1",
            "class Meta(type):\n __name__ = property(lambda self: 1 / 0)\n"
            "class E(Exception, metaclass=Meta): pass\ndef f(): raise E",
        ],
    )
    def test_code_that_breaks_python_breaks_its_own_call_only(self, plain: Children, code: str) -> None:
        ran = plain.run(code)
        assert b'"ok"' not in ran.result
        assert plain.run("def f(): return isinstance(1, int)").answer == {"ok": True}

    def test_a_lowered_recursion_limit_does_not_keep_the_result_in(self, plain: Children) -> None:
        code = "import sys\ndef f():\n sys.setrecursionlimit(30)\n return [[[[[[[[[[[[{'a': [{1: 2}]}]]]]]]]]]]]]"
        assert "ok" in plain.run(code).answer


class TestSurroundings:
    def test_nothing_of_the_process_that_started_it_is_seen(self, plain: Children) -> None:
        code = """
import sys
def f():
    main = vars(sys.modules["__main__"])
    return {
        "argv": sys.argv + sys.orig_argv,
        "empty": "" in sys.path,
        "board": [name for name in sys.modules if name.startswith("pegboard")],
        "main": "package" in main or "job" in main,
    }
"""
        assert plain.run(code).answer["ok"] == {"argv": ["<tool>"] * 2, "empty": False, "board": [], "main": False}

    def test_a_traceback_that_the_code_prints_shows_its_lines(self, plain: Children) -> None:
        code = "import traceback\ndef f():\n try:\n  1 / 0  # oh\n except ZeroDivisionError:\n  traceback.print_exc()"
        assert '  File "<tool>", line 4, in f\n    1 / 0  # oh\n' in plain.run(code).stderr

    def test_no_two_calls_draw_the_same_numbers(self, with_pandas: Children) -> None:
        code = """
import random, numpy
def f():
    return [random.random(), numpy.random.rand(), numpy.random.default_rng().random()]
"""
        one, other = (with_pandas.run(code, allowed=["numpy"]).answer["ok"] for _ in range(2))
        assert all(a != b for a, b in zip(one, other, strict=True))

    def test_what_a_call_leaves_in_its_modules_is_gone_with_it(self, plain: Children) -> None:
        code = "import json\ndef f():\n seen = hasattr(json, 'left')\n json.left = 1\n return seen"
        assert [plain.run(code).answer["ok"] for _ in range(2)] == [False, False]

    def test_temporary_files_go_where_the_call_says(self, plain: Children, tmp_path: Path) -> None:
        code = "import os, tempfile\ndef f(at):\n os.environ['TMPDIR'] = at\n return tempfile.gettempdir()"
        assert plain.run(code, arguments={"at": str(tmp_path)}).answer == {"ok": str(tmp_path)}


class TestImports:
    def test_the_standard_library_and_what_is_allowed_can_be_imported(self, with_pandas: Children) -> None:
        code = """
import sysconfig, ctypes, sqlite3, xml.dom.minidom, importlib
def f():
    sysconfig.get_config_vars()
    import pandas, numpy.linalg, dateutil.rrule
    return pandas.DataFrame({"a": [1, None]})
"""
        ran = with_pandas.run(code, allowed=["pandas", "numpy", "dateutil"])
        assert ran.answer == {"ok": [{"a": 1.0}, {"a": None}]}

    @pytest.mark.parametrize(
        ("name", "words"),
        [
            ("orjson", "add its library to config.libraries"),
            ("aiohttp.web", "neither in the standard library"),
            ("pegboard", "the board's own package"),
            ("pegboard.sandbox.child.python_call", "the board's own package"),
            ("no_such_thing", "neither in the standard library"),
        ],
    )
    @pytest.mark.parametrize("how", ["importlib.import_module(name)", "__import__(name)", "exec('import ' + name)"])
    def test_anything_else_is_refused_however_it_is_asked_for(
        self, plain: Children, name: str, words: str, how: str
    ) -> None:
        found = failure(plain, f"import importlib\ndef f(name):\n    {how}", arguments={"name": name})
        assert found == IsPartialDict(type="ModuleNotFoundError", line=3)
        assert found["message"].startswith("No module named ")
        assert words in found["message"]

    def test_code_that_is_ready_for_it_continues(self, plain: Children) -> None:
        code = "try:\n import orjson\nexcept ImportError:\n orjson = None\ndef f(): return orjson"
        assert plain.run(code).answer == {"ok": None}

    def test_a_file_that_the_code_writes_is_no_module(self, plain: Children, tmp_path: Path) -> None:
        code = """
import pathlib, sys
def f(folder):
    pathlib.Path(folder, "sneaked.py").write_text("")
    sys.path.insert(0, folder)
    import sneaked
"""
        assert "sneaked" in failure(plain, code, arguments={"folder": str(tmp_path)})["message"]
