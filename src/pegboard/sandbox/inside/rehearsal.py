"""What a call is likely to do, done beforehand by the process that waits for it.

A process that was forked shares its memory until it writes to it, which at first it does everywhere: the call that runs
after this no longer has to wait for all these pages to be copied.
"""

from __future__ import annotations

import os

from pegboard.sandbox.inside import python_job
from pegboard.sandbox.inside.call import Terms

_NOTHING = "def main():\n    print('', end='')\n    return {'a': [1, 2.5, None, 'text']}\n"
_ENOUGH = 2**20
# By the module that a house has.
_PIECES = {
    "numpy": """
import numpy
def main():
    numbers = numpy.arange(64.0)
    parts = (numbers.mean(), (numbers[1:] - numbers[:-1]).cumsum(), numpy.where(numbers > 3, numbers, 0).tolist())
    return [parts[0], parts[1], parts[2]]
""",
    "pandas": """
import pandas
def main():
    prices = pandas.Series([float(number % 7) for number in range(64)])
    changes = prices.diff()
    rising, falling = changes.clip(lower=0).rolling(14).mean(), -changes.clip(upper=0).rolling(14).mean()
    frame = pandas.DataFrame({"a": prices, "b": 100 - 100 / (1 + rising / falling), "c": range(64)}).dropna()
    totals = frame.groupby("a")["b"].mean().sort_values().reset_index()
    return [totals, frame["b"].tolist()[-1], frame[frame["c"] > 3].describe()]
""",
}


def rehearse(terms: Terms) -> None:
    """Run something with each of the modules that calls will find; nothing comes of it."""
    nowhere = os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
    for code in (_NOTHING, *(_PIECES[name] for name in terms.modules if name in _PIECES)):
        limits = {"result": _ENOUGH, "memory": _ENOUGH}
        job = {"code": code, "entry": "main", "arguments": {}, "limits": limits, "allowed": terms.allowed}
        python_job.run(job, nowhere)
    os.close(nowhere)
