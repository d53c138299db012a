"""The validate stage: turns a tool call into a ready call that executors accept."""

from __future__ import annotations

import hashlib
import time
from typing import Any

import orjson

from pegboard.json_schema.read_arguments import check_arguments_extent, convert_to_decimals, convert_to_floats
from pegboard.model.call import Caller, ReadyCall, ToolCall
from pegboard.model.call_errors import MalformedArguments
from pegboard.registry.compiled_tool import CompiledTool


class ArgumentValidator:
    """Checks the size, depth and schema of arguments, and computes their digest for the journal."""

    def __init__(self, *, digest_key: bytes, max_bytes: int, max_depth: int) -> None:
        self._key = digest_key
        self._max_bytes = max_bytes
        self._max_depth = max_depth

    def validate(self, compiled: CompiledTool, call: ToolCall, caller: Caller, run_id: str) -> ReadyCall:
        """Return the call, ready to run; raise MalformedArguments or InvalidArguments."""
        given, text, arguments = self.check(compiled, call.arguments)
        return ReadyCall(
            run_id,
            compiled.tool,
            caller,
            arguments,
            hashlib.blake2b(text, key=self._key, digest_size=16).hexdigest(),
            time.monotonic() + compiled.timeout,
            call.on_progress,
            call.key,
            compiled.is_transactional,
            () if arguments is given else compiled.arguments.list_ignored(given),
            compiled.has_effects,
            receipts_in=compiled.receipts_in,
            exchange=call.exchange,
        )

    def check(self, compiled: CompiledTool, given: Any) -> tuple[Any, bytes, dict[str, Any]]:
        """Return the arguments with numbers as the kind takes them, as JSON, and as the tool gets them.

        Raises MalformedArguments or InvalidArguments.
        """
        exact = compiled.kind.exact_numbers
        if check_arguments_extent(given, max_depth=self._max_depth, max_values=self._max_bytes // 2, exact=exact):
            given = convert_to_decimals(given) if exact else convert_to_floats(given)
        text = orjson.dumps(given, default=str, option=orjson.OPT_SORT_KEYS)
        if len(text) > self._max_bytes:
            raise MalformedArguments(
                f"Arguments are {len(text):,} bytes of JSON, at most {self._max_bytes:,} are accepted"
            )
        return given, text, compiled.arguments.check(given, len(text))
