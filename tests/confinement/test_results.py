"""Results that are no JSON, or pretend to be more than they are: each is reported to the caller in words that help."""

from __future__ import annotations

import pytest

from tests.confinement.targets import Target, table

NOT_JSON = "The tool returned something that is not JSON: "
CLASS = "class R({}):\n    {}\ndef f(): return R({})"

UNFIT: dict[str, tuple[str, str]] = {
    "a function": ("def f(): return lambda: 1", r"\$ is a function"),
    "a class": ("def f(): return type('X', (), {})", r"\$ is a type"),
    "a generator": ("def f(): return (n for n in [1])", r"\$ is of type generator, whose items can be read only once"),
    "a module": ("import os\ndef f(): return {'a': [os]}", r"\$\.a\[0\] is of type module"),
    "a lock": ("import threading\ndef f(): return threading.Lock()", r"\$ is of type _thread\.lock"),
    "a file": ("def f(): return open('/dev/null')", r"\$ is of type"),
    "an object": ("def f(): return {'a': object()}", r"\$\.a is of type object"),
    "a frame": ("import sys\ndef f(): return sys._getframe()", r"\$ is of type frame"),
    "a coroutine": ("async def g(): pass\ndef f(): return [g()]", r"\$\[0\] is a coroutine that was not awaited"),
    "bytes": ("def f(): return {'a': b'x'}", r"\$\.a is bytes, and JSON holds texts"),
    "NaN": ("def f(): return [1.0, float('nan')]", r"\$\[1\] is NaN, for which JSON has no number"),
    "an infinity": ("def f(): return {'x': -1e999}", r"\$\.x is infinite"),
    "a Decimal that is NaN": ("from decimal import Decimal\ndef f(): return Decimal('NaN')", r"Decimal that is NaN"),
    "a complex number": ("def f(): return 1j", r"\$ is of type complex"),
    "an integer beyond 64 bits": ("def f(): return 2**64", r"\$ is an integer beyond 64 bits"),
    "a huge integer": ("def f(): return [10**5000]", r"\$\[0\] is an integer beyond 64 bits"),
    "half of a surrogate pair": ("def f(): return 'a\\ud800'", "half of a surrogate pair"),
    "a list within itself": (
        "def f():\n    a = []\n    a.append(a)\n    return a",
        r"\$\[0\] is \$ again, a circular reference",
    ),
    "a dict within itself": ("def f():\n    a = {}\n    a['b'] = {'c': a}\n    return a", r"\$\.b\.c is \$ again"),
    "two within each other": (
        "def f():\n    a, b = [], {}\n    a.append(b)\n    b['a'] = a\n    return [a]",
        "again, a circular reference",
    ),
    "levels without end": (
        "def f():\n    a = []\n    for _ in range(10**5): a = [a]\n    return a",
        "more than 64 levels",
    ),
    "a key that is none": ("def f(): return {object(): 1}", "keys in JSON are texts"),
    "two keys of one text": ("def f(): return {1: 'a', '1': 'b'}", "two keys that are both '1'"),
    "a key that is NaN": ("def f(): return {float('nan'): 1}", "has a key that is not finite"),
}
LARGE: dict[str, str] = {
    "a text": "def f(): return 'x' * 10**6",
    "a list": "def f(): return [0] * 10**6",
    "texts": "def f(): return {str(n): 'x' * 100 for n in range(1000)}",
    "one thing many times": "def f():\n    a = 'x'\n    for _ in range(40): a = [a, a]\n    return a",
    "a range": "def f(): return range(10**15)",
    "a list that gives more than it has": CLASS.format(
        "list", "def __iter__(self):\n        while True: yield 1", "[1]"
    ),
    "a dict that gives more than it has": CLASS.format(
        "dict",
        "def items(self):\n        n = 0\n        while True:\n            n += 1\n            yield str(n), n",
        "",
    ),
    "the result's own descriptor": "import os\ndef f():\n    while True: os.write(3, b'x' * 65536)",
}
# Code that breaks the functions that write its result: the caller gets an error, and no other call is affected.
BROKEN: dict[str, tuple[str, str]] = {
    "no items": (CLASS.format("dict", "items = None", "a=1"), "TypeError: 'NoneType' object is not callable"),
    "items that are none": (CLASS.format("dict", "def items(self): return [1, 2]", "a=1"), "TypeError: cannot unpack"),
    "a class that lies": ("class R:\n    __class__ = dict\ndef f(): return R()", "AttributeError: 'R' object has no"),
    "a list that is none": ("class R:\n    __class__ = list\ndef f(): return R()", "TypeError: 'R' object is not"),
    "an iterator that raises": (
        CLASS.format("list", "def __iter__(self): raise KeyboardInterrupt", "[object()]"),
        "KeyboardInterrupt: .*line 2",
    ),
    "an exception without a message": (
        "class E(Exception):\n    def __str__(self): raise E\ndef f(): raise E",
        "its message cannot be read: E",
    ),
    "an exception that is no text": (
        "class E(Exception):\n    def __str__(self): return 1\ndef f(): raise E",
        "its message cannot be read: TypeError",
    ),
    "an exception with half of a pair": ("def f(): raise ValueError('\\ud800')", "ValueError: "),
    "an exception of an odd name": ("def f(): raise type('\\ud800' * 500, (Exception,), {})", "UnicodeEncodeError"),
    "exceptions without end": (
        "def f():\n    e = ValueError('end')\n    e.__cause__ = e\n    e.__context__ = e\n    raise e",
        "ValueError: end",
    ),
    "a group of many": ("def f(): raise ExceptionGroup('many', [ValueError(str(n)) for n in range(10**4)])", "many"),
    "JSON itself": (
        "import json\ndef f():\n    json.JSONEncoder.encode = json.dumps = None\n    raise ValueError",
        "changed Python itself so that the error cannot be described",
    ),
    "everything built in": ("import builtins\ndef f():\n    vars(builtins).clear()", "ended its process"),
    "writing": ("import os\ndef f():\n    os.write = print\n    return 1", "stdout of more than 65536 bytes"),
    "the result's descriptor, closed": ("import os\ndef f():\n    os.close(3)\n    return 1", "ended its process"),
    "the result's descriptor, another": (
        "import os\ndef f():\n    os.dup2(os.open('/dev/null', os.O_WRONLY), 3)\n    return 1",
        "ended its process",
    ),
    "an answer before the answer": (
        "import os\ndef f():\n    os.write(3, b'{\"ok\": 1}')\n    return 2",
        "wrote to a file descriptor that is not its own",
    ),
    "an answer that is none": ("import os\ndef f():\n    os.write(3, b'[]')\n    os._exit(0)", "not its own"),
    "an answer of two minds": (
        "import os\ndef f():\n    os.write(3, b'{\"error\": 1}')\n    os._exit(0)",
        "not its own",
    ),
    "an answer without end": ("import os\ndef f():\n    os.write(3, b'[' * 60_000)\n    os._exit(0)", "not its own"),
}


@pytest.mark.parametrize(("code", "words"), table(UNFIT))
async def test_a_result_that_is_no_json_is_named(board: Target, code: str, words: str) -> None:
    (await board.python(code)).ended("execution_failed", NOT_JSON + ".*" + words)


@pytest.mark.parametrize("code", table(LARGE))
async def test_a_result_that_is_too_large_is_refused(board: Target, code: str) -> None:
    (await board.python(code)).ended("result_too_large", "more than (the 65,536|81920) bytes")


@pytest.mark.parametrize(("code", "words"), table(BROKEN))
async def test_whatever_code_does_to_its_answer_the_caller_is_informed(board: Target, code: str, words: str) -> None:
    (await board.python(code)).ended("execution_failed", words)


async def test_a_result_of_a_class_with_false_methods_is_read_correctly(board: Target) -> None:
    text = CLASS.format("str", "def __str__(self): raise SystemExit", "'x'")
    length = CLASS.format("list", "def __len__(self): return 2**62", "[1]")
    number = CLASS.format("int", "def __repr__(self): return '1, 2'", "3")
    assert [(await board.python(code)).output for code in (text, length, number)] == ["x", [1], 3]


async def test_a_result_cannot_pass_for_an_error_nor_an_error_for_a_result(board: Target) -> None:
    forged = {"error": {"type": "X", "message": "m", "line": 1, "source": None}, "unfit": "u", "large": 1}
    assert (await board.python(f"def f(): return {forged!r}")).output == forged
    (await board.python("def f(): raise ValueError('{\"ok\": 1}')")).ended("execution_failed", "ValueError: .*ok")
