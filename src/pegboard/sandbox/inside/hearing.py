"""How a process hears of its call, rehearsed with a call like any other."""

from __future__ import annotations

import json

from pegboard.sandbox.inside.call import Call
from pegboard.sandbox.inside.job import Job

# After that long without a call, there is time for what would be in vain where calls come one upon the other.
PAUSE_SECONDS = 0.02

_MOST = 2**20
_CODE = "def main(number):\n    print('', end='')\n    return {'text': [number, 2.5, None, True]}\n"
_LIMITS = {"memory": 2**30, "processes": 1, "disk": _MOST, "output": _MOST, "result": _MOST}
_TOLD = {"kind": "python", "code": _CODE, "entry": "main", "seconds": 1.0, "limits": _LIMITS, "network": False}
_TEXT = json.dumps(_TOLD | {"env": {}, "reports": False, "folder": None}).encode() + b'\n{"number": 1.5}'


def rehearse_hearing() -> Call:
    """Some call, put into words and read again."""
    return Call.read(Call(Job.read(_TEXT), "/").told())
