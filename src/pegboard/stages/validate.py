"""Turn what was asked for into a call that an executor accepts."""

from __future__ import annotations

import hashlib
import time
from typing import Any

import orjson

from pegboard.core.call import Caller, ReadyCall, ToolCall
from pegboard.core.errors import MalformedArguments
from pegboard.core.tool import Kind
from pegboard.registry.arguments import as_decimals, as_floats, measure
from pegboard.registry.peg import Peg


class Validator:
    """Checks size, depth and schema, and digests the arguments for the journal."""

    def __init__(self, *, digest_key: bytes, max_bytes: int, max_depth: int) -> None:
        self._key = digest_key
        self._max_bytes = max_bytes
        self._max_depth = max_depth

    def validate(self, peg: Peg, call: ToolCall, caller: Caller, run_id: str) -> ReadyCall:
        """The call, ready to run; raises MalformedArguments or InvalidArguments."""
        given: Any = call.arguments
        # Databases alone keep more digits than a float has.
        exact = peg.tool.tool_type is Kind.TABLE
        if measure(given, max_depth=self._max_depth, max_values=self._max_bytes // 2, exact=exact):
            given = as_decimals(given) if exact else as_floats(given)
        text = orjson.dumps(given, default=str, option=orjson.OPT_SORT_KEYS)
        if len(text) > self._max_bytes:
            raise MalformedArguments(
                f"Arguments are {len(text):,} bytes of JSON, at most {self._max_bytes:,} are accepted"
            )
        arguments = peg.arguments.check(given, len(text))
        return ReadyCall(
            run_id,
            peg.tool,
            caller,
            arguments,
            hashlib.blake2b(text, key=self._key, digest_size=16).hexdigest(),
            time.monotonic() + peg.timeout,
            call.on_progress,
            call.key,
            peg.tool.has_effects and peg.writes_receipts,
            () if arguments is given else peg.arguments.ignored(given),
        )
