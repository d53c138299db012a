"""Sample work that waiting processes run before a call comes.

A forked process shares its memory until it writes to it, and at first it writes to many pages. After this work the
pages are already copied, so the call does not wait for them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from itertools import chain
from typing import Any, NamedTuple

from pegboard.sandbox.child import python_call
from pegboard.sandbox.child.fork_listeners import PAUSE_SECONDS, rehearse_hearing
from pegboard.sandbox.child.result_json import encode_result

_MOST = 2**20
# By imported module: what most calls do with it, in short steps, because a call may come at any time.
_USUAL = {
    "numpy": """
import numpy
def main():
    numbers = numpy.arange(64.0)
    yield numbers.mean()
    yield (numbers[1:] - numbers[:-1]).cumsum()
    yield numpy.where(numbers > 3, numbers, 0)
""",
    "pandas": """
import pandas
def main():
    prices = pandas.Series([float(number % 7) for number in range(64)])
    yield float(prices.iloc[-1])
    changes = prices.diff()
    yield None
    gains = changes.clip(lower=0)
    yield None
    losses = -changes.clip(upper=0)
    yield None
    yield float((1 / (1 + gains / losses)).iloc[-1])
    yield float(prices.rolling(14).mean().iloc[-1])
""",
}
# What only some calls do; for back-to-back calls this would be wasted.
_LESS_USUAL = {
    "pandas": """
import pandas
def main():
    yield pandas.Series([1.0, None, 3.0]).dropna()
    frame = pandas.DataFrame({"a": [1, 2, 1, 2], "b": [1.0, 2.0, 3.0, None], "c": list("abcd")})
    yield frame[frame["a"] > 1]
    means = frame.groupby("a")["b"].mean()
    yield None
    yield means.reset_index().sort_values("b")
""",
}

Piece = Callable[[], Iterator[Any]]


class Practised(NamedTuple):
    """Pieces of sample work, usual and less usual, each a generator of steps."""

    usual: tuple[Piece, ...]
    less_usual: tuple[Piece, ...]


def practise(modules: tuple[str, ...]) -> Practised:
    """Run sample work with these modules once, so that all forks inherit its setup, and return it."""
    usual, less_usual = (
        tuple(_made(pieces[name]) for name in modules if name in pieces) for pieces in (_USUAL, _LESS_USUAL)
    )
    for _step in _steps(usual + less_usual):
        pass
    rehearse_hearing()
    return Practised(usual, less_usual)


def rehearse(practised: Practised, is_called: Callable[[float], bool], *, is_ready: bool) -> None:
    """Run sample work step by step until a call comes; the results are discarded.

    If `is_ready`, all pages are already populated, and for back-to-back calls that is enough.
    """
    if is_ready and is_called(PAUSE_SECONDS):
        return
    # Code that fails here may work in a call; otherwise the call reports the error.
    with suppress(Exception):
        for _step in chain(_whole_call(), _steps(practised.usual)):
            if is_called(0):
                return
        if is_called(PAUSE_SECONDS):
            return
        for _step in _steps(practised.less_usual):
            if is_called(0):
                return


def _made(code: str) -> Piece:
    names: dict[str, Any] = {}
    exec(code, names)  # noqa: S102 -- what stands above
    piece: Piece = names["main"]
    return piece


def _whole_call() -> Iterator[None]:
    yield
    job = rehearse_hearing().job
    yield
    nowhere = os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
    python_call.run_python_job(job.told | {"arguments": job.arguments}, nowhere)
    os.close(nowhere)
    yield


def _steps(pieces: Iterable[Piece]) -> Iterator[None]:
    for piece in pieces:
        for result in piece():
            encode_result(result, _MOST)
            yield
