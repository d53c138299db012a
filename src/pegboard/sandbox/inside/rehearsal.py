"""What a call is likely to do, done beforehand by the process that waits for it.

A process that was forked shares its memory until it writes to it, and at first it writes everywhere: a call that comes
after this no longer has to wait until all these pages are copied.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

from pegboard.sandbox.inside import python_job
from pegboard.sandbox.inside.call import Terms
from pegboard.sandbox.inside.json_values import json_text

_LIMITS = {"result": 2**20, "memory": 2**30}
_ANYTHING = "def main():\n    print('', end='')\n    return {'text': [1, 2.5, None, True]}\n"
# By the module that calls find imported.
_PIECES = {
    "numpy": (
        """
import numpy
def main():
    numbers = numpy.arange(64.0)
    return [numbers.mean(), (numbers[1:] - numbers[:-1]).cumsum(), numpy.where(numbers > 3, numbers, 0)]
""",
    ),
    "pandas": (
        """
import pandas
def main():
    prices = pandas.Series([float(number % 7) for number in range(64)])
    changes = prices.diff()
    return (1 / (1 + changes.clip(lower=0) - changes.clip(upper=0))).dropna().tolist()
""",
        """
import pandas
def main():
    return pandas.Series([float(number % 7) for number in range(64)]).rolling(14).mean()
""",
        """
import pandas
def main():
    frame = pandas.DataFrame({"a": [1, 2, 1, 2], "b": [1.0, 2.0, 3.0, None], "c": list("abcd")})
    return [frame[frame["a"] > 1], frame.groupby("a")["b"].mean().reset_index().sort_values("b")]
""",
    ),
}


def practise(modules: tuple[str, ...]) -> None:
    """Run the same in the process that others are forked from, so that what it sets up once is there in all of them."""
    for code in _pieces(modules):
        names: dict[str, Any] = {}
        exec(code, names)  # noqa: S102 -- what stands above
        json_text(names["main"](), _LIMITS["result"])


def rehearse(terms: Terms, is_called: Callable[[], bool]) -> None:
    """Run something with each of the modules that calls will find, until there is a call; nothing comes of it."""
    nowhere = os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
    for code in _pieces(terms.modules):
        if is_called():
            break
        job = {"code": code, "entry": "main", "arguments": {}, "limits": _LIMITS, "allowed": terms.allowed}
        python_job.run(job, nowhere)
    os.close(nowhere)


def _pieces(modules: tuple[str, ...]) -> Iterator[str]:
    yield _ANYTHING
    for name in modules:
        yield from _PIECES.get(name, ())
