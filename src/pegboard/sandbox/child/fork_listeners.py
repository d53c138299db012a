"""A sample call that exercises the code which encodes and reads a call."""

from __future__ import annotations

import json

from pegboard.sandbox.child.call_request import ConfinedCall
from pegboard.sandbox.child.job import Job

# After this long without a call there is time for preparations that back-to-back calls could not use.
PAUSE_SECONDS = 0.02

_MOST = 2**20
_CODE = "def main(number):\n    print('', end='')\n    return {'text': [number, 2.5, None, True]}\n"
_LIMITS = {"memory": 2**30, "processes": 1, "disk": _MOST, "output": _MOST, "result": _MOST}
_TOLD = {"kind": "python", "code": _CODE, "entry": "main", "seconds": 1.0, "limits": _LIMITS, "network": False}
_TEXT = json.dumps(_TOLD | {"env": {}, "reports": False, "folder": None}).encode() + b'\n{"number": 1.5}'


def rehearse_hearing() -> ConfinedCall:
    """Return a sample call that was encoded and decoded again."""
    return ConfinedCall.read(ConfinedCall(Job.read(_TEXT), "/").told())
