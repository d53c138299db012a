"""Parts of Vercel's AI SDK, in messages and streams, that contain a call or its result, and typed outputs.

The part types and most fields are the same in all versions; arguments are `args` in version 4 and `input` later.
Mastra uses the same parts.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Mapping
from functools import partial
from typing import Any

from pegboard.dialects.call_assembler import Assembly, read_id, text_or_empty
from pegboard.dialects.parsed_calls import ABSENT, EMPTY_MAPPING
from pegboard.dialects.shared.content_blocks import describe_block, get_content_blocks, result_to_text
from pegboard.dialects.shared.function_calls import is_model_role
from pegboard.json_schema.arguments_text import parse_arguments
from pegboard.model.call import Malformed, ToolResult

NO_ERROR_MESSAGE = "The tool failed without an error message"
DENIED_MESSAGE = "The call was denied"
_OUTPUT_TYPES = frozenset({"text", "json", "content", "error-text", "error-json", "execution-denied"})

FileWriter = Callable[[Mapping[str, Any]], dict[str, Any]]


def render_output(result: ToolResult, file: FileWriter, error_prefix: str = "") -> dict[str, Any]:
    """Return the output of a call; `file` writes an image or audio block."""
    if result.problem is not None:
        return {"type": "error-text", "value": error_prefix + result_to_text(result)}
    blocks = get_content_blocks(result)
    if blocks is not None:
        return {"type": "content", "value": [_render_content_block(block, file) for block in blocks]}
    output = result.output
    return {"type": "text" if isinstance(output, str) else "json", "value": output}


def parse_typed_output(output: Any) -> tuple[Any, str | None]:
    """Return the result and the error of a typed output; an untyped output is the result itself."""
    kind = output.get("type") if isinstance(output, dict) else None
    if not isinstance(kind, str) or kind not in _OUTPUT_TYPES or not ("value" in output or kind == "execution-denied"):
        return output, None
    if kind == "execution-denied":
        return ABSENT, text_or_empty(output.get("reason")) or DENIED_MESSAGE
    if kind.startswith("error-"):
        # Version 7 prefixes the message with the kind of error.
        return ABSENT, get_error_message(output["value"]).removeprefix("Error: ")
    return output["value"], None


def get_error_message(error: Any) -> str:
    """Return the message of an error that is a string or an object with a message."""
    if isinstance(error, dict):
        fields = error.get("message")
        error = fields if isinstance(fields, str) and fields else error
    if isinstance(error, str):
        return error or NO_ERROR_MESSAGE
    return NO_ERROR_MESSAGE if error is None or error == {} else to_compact_json(error)


def to_compact_json(value: Any) -> str:
    """Return a value as JSON text, also if it contains a lone surrogate."""
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    except RecursionError:
        return ""


def _render_content_block(block: Mapping[str, Any], file: FileWriter) -> dict[str, Any]:
    has_data = isinstance(block.get("data"), str) and isinstance(block.get("mimeType"), str)
    return file(block) if has_data else {"type": "text", "text": describe_block(block)}


_WAITING_MESSAGE = "The call is waiting for approval by a person"
_ANSWERED_STATES = frozenset({"output-available", "result"})
# Types of parts in messages of tools and users.
_RESULT_PART_TYPES = ("tool-result", "tool-approval-response")
_UNFINISHED_STATES = frozenset({"input-streaming", "partial-call"})

VercelPart = Mapping[str, Any]


class _StreamState:
    """The state that is kept between parts."""

    __slots__ = ("answers", "asking", "ended", "held", "shown", "texts", "theirs", "unreadable", "waiting")

    def __init__(self) -> None:
        # Pieces of arguments by call, because Mastra writes `{}` for arguments that it cannot parse.
        self.texts: dict[str, list[str]] = {}
        # Calls whose arguments are complete, those the provider runs, and those with malformed arguments.
        self.ended: dict[str, None] = {}
        self.theirs: set[str] = set()
        self.unreadable: set[str] = set()
        # Complete calls of a message, and whether they are answered: the same message may be sent again with more
        # content.
        self.shown: dict[str, bool] = {}
        # Complete calls that may still be answered by a later part, and the answers received.
        self.held: dict[Hashable, None] = {}
        self.answers: list[Callable[[], None]] = []
        # Calls by approval id, and those that still wait for approval.
        self.asking: dict[str, str] = {}
        self.waiting: dict[str, None] = {}


def read_part(part: VercelPart, into: Assembly, *, in_message: bool = False) -> bool:
    """Read one part; return False if it is not about calls."""
    kind = part.get("type")
    if not isinstance(kind, str):
        return False
    if isinstance(part.get("state"), str) and (kind.startswith("tool-") or kind == "dynamic-tool"):
        _read_ui_part(part, kind, into)
        return True
    if kind == "tool-result":
        _read_result(part, into, typed=in_message or "input" not in part)
        return True
    reader = _READERS_BY_TYPE.get(kind)
    if reader is not None:
        reader(part, into)
    return reader is not None


def read_message(message: VercelPart, parts: Any, into: Assembly) -> None:
    """Read these parts of a message, or its invocations; if it is not the model's, only the results."""
    may_call = is_model_role(message.get("role"))
    if isinstance(parts, list):
        for part in parts:
            if isinstance(part, dict) and (may_call or part.get("type") in _RESULT_PART_TYPES):
                read_part(part, into, in_message=True)
    elif may_call:
        _read_invocations(message.get("toolInvocations"), into)


def _read_invocations(items: Any, into: Assembly) -> None:
    """Read calls with their states, as in messages of version 4."""
    for item in items if isinstance(items, list) else ():
        if isinstance(item, dict):
            _read_call_in_state(item, item.get("toolName"), item.get("state"), into)


def finish_parts(into: Assembly) -> None:
    """Add what was held back: calls of which only pieces arrived, and those that still wait for approval."""
    state = into.state
    if state is not None:
        release_held_calls(into)
        for identity in state.ended:
            into.over(identity)
        for identity in state.waiting:
            into.answer(identity, error=_WAITING_MESSAGE)
        into.state = None


def read_call(part: VercelPart, into: Assembly, *, held: bool = False) -> None:
    """Read a complete call; with `held`, it is not returned before it is released."""
    state, identity = into.get_state(_StreamState), _read_call_id(part)
    given = _read_input(part)
    texts = state.texts.pop(identity, ()) if state.texts else ()
    if isinstance(given, str):
        read = parse_arguments(given)
        if type(read) is Malformed:
            state.unreadable.add(identity)
        else:
            given = read
    elif not given and texts:
        # Mastra writes `{}` for arguments that it could not parse: use the streamed pieces.
        given = "".join(texts) or given
    theirs = part.get("providerExecuted") is True or identity in state.theirs
    if held and not theirs:
        key = (identity, len(state.held)) if identity in state.held else identity
        state.held[key] = None
        into.snapshot(key, given, name=_read_tool_name(part), id=identity, extra=get_part_extra(part))
    else:
        into.call(part.get("toolName", ""), given, identity, provider_executed=theirs, extra=get_part_extra(part))


def release_held_calls(into: Assembly) -> None:
    """Release the held calls, in order and with their answers, because no more answers follow."""
    state = into.get_state(_StreamState)
    for answer in state.answers:
        answer()
    for key in state.held:
        into.over(key)
    state.answers.clear()
    state.held.clear()


def get_part_extra(part: VercelPart) -> Mapping[str, Any]:
    """Return the fields that the provider needs back with a call."""
    for key in ("providerMetadata", "callProviderMetadata", "providerOptions"):
        kept = part.get(key)
        if isinstance(kept, dict) and kept:
            return {"provider_metadata": kept}
    return EMPTY_MAPPING


def _read_call_start(part: VercelPart, into: Assembly) -> None:
    identity = _read_call_id(part)
    theirs = part.get("providerExecuted") is True
    if theirs:
        into.get_state(_StreamState).theirs.add(identity)
    into.piece(identity, name=_read_tool_name(part), id=identity, provider_executed=theirs, extra=get_part_extra(part))


def _read_call_delta(part: VercelPart, into: Assembly) -> None:
    identity = _read_call_id(part)
    text = text_or_empty(part.get("inputTextDelta") or part.get("delta") or part.get("argsTextDelta"))
    into.get_state(_StreamState).texts.setdefault(identity, []).append(text)
    into.piece(identity, text, name=_read_tool_name(part), id=identity)


def _read_call_end(part: VercelPart, into: Assembly) -> None:
    # The call itself follows, and determines which side runs it.
    into.get_state(_StreamState).ended[_read_call_id(part)] = None


def _read_result(part: VercelPart, into: Assembly, *, typed: bool = False) -> None:
    if part.get("preliminary") is True:
        return
    error = None
    if "output" in part:
        result, error = parse_typed_output(part["output"]) if typed else (part["output"], None)
    elif part.get("isError") is True:
        result, error = ABSENT, get_error_message(part.get("result"))
    else:
        result = part.get("result")
    _record_answer(part, into, result, error)


def _read_error(part: VercelPart, into: Assembly) -> None:
    if _read_call_id(part) not in into.get_state(_StreamState).unreadable:
        _record_answer(part, into, ABSENT, get_error_message(part.get("errorText") or part.get("error")))


def _read_denial(part: VercelPart, into: Assembly) -> None:
    _record_answer(part, into, ABSENT, text_or_empty(part.get("reason")) or DENIED_MESSAGE)


def _record_answer(part: VercelPart, into: Assembly, result: Any, error: str | None) -> None:
    state, identity = into.get_state(_StreamState), _read_call_id(part)
    state.waiting.pop(identity, None)
    answer = partial(
        into.answer,
        identity,
        result,
        error=error,
        name=_read_tool_name(part),
        arguments=_read_input(part),
        provider_executed=part.get("providerExecuted") is True,
    )
    if identity in state.held:
        state.answers.append(answer)
    else:
        answer()


def _read_approval_request(part: VercelPart, into: Assembly) -> None:
    call = part.get("toolCall")
    identity = _read_call_id(call if isinstance(call, dict) else part)
    if part.get("isAutomatic") is not True:
        state = into.get_state(_StreamState)
        state.asking[read_id(part.get("approvalId"))] = identity
        state.waiting[identity] = None


def _read_approval_response(part: VercelPart, into: Assembly) -> None:
    state = into.get_state(_StreamState)
    identity = state.asking.pop(read_id(part.get("approvalId")), None)
    if identity in state.waiting:
        del state.waiting[identity]
        if part.get("approved") is not True:
            into.answer(identity, error=text_or_empty(part.get("reason")) or DENIED_MESSAGE)


def _read_ui_part(part: VercelPart, kind: str, into: Assembly) -> None:
    invocation = part.get("toolInvocation")
    if isinstance(invocation, dict):
        _read_invocation(part, into)
    else:
        name = part.get("toolName") if kind == "dynamic-tool" else kind.removeprefix("tool-")
        _read_call_in_state(part, name, part.get("state"), into)


def _read_invocation(part: VercelPart, into: Assembly) -> None:
    _read_invocations([part.get("toolInvocation")], into)


def _read_call_in_state(part: VercelPart, name: Any, state: Any, into: Assembly) -> None:
    """Read a call with its state."""
    identity, given, stream = _read_call_id(part), _read_input(part), into.get_state(_StreamState)
    state = text_or_empty(state)
    if state in _UNFINISHED_STATES:
        # The SDK closes incomplete JSON: the last bracket is not the model's, so remove it.
        so_far = given if isinstance(given, str) else "" if given is None else to_compact_json(given)[:-1]
        into.snapshot(identity, so_far, name=name, id=identity)
        return
    approval = part.get("approval")
    approval = approval if isinstance(approval, dict) else {}
    result: Any = ABSENT
    error = None
    if state in _ANSWERED_STATES:
        result = part.get("output") if state == "output-available" else part.get("result")
    elif state == "output-error":
        error = get_error_message(part.get("errorText"))
    elif state == "approval-requested":
        error = _WAITING_MESSAGE
    elif state == "output-denied" or (state == "approval-responded" and approval.get("approved") is not True):
        error = text_or_empty(approval.get("reason")) or DENIED_MESSAGE
    answered = result is not ABSENT or error is not None
    if identity not in stream.shown:
        theirs = part.get("providerExecuted") is True
        into.call(
            name, given, identity, result=result, error=error, provider_executed=theirs, extra=get_part_extra(part)
        )
    elif answered and not stream.shown[identity]:
        into.answer(identity, result, error=error)
    if identity:
        stream.shown[identity] = answered or stream.shown.get(identity, False)


def _read_call_id(part: VercelPart) -> str:
    return read_id(part.get("toolCallId")) or read_id(part.get("id"))


def _read_tool_name(part: VercelPart) -> str | None:
    name = part.get("toolName")
    return name if isinstance(name, str) else None


def _read_input(part: VercelPart) -> Any:
    for key in ("input", "args", "rawInput"):
        given = part.get(key)
        if given is not None:
            return given
    return None


_READERS_BY_TYPE: Mapping[str, Callable[[VercelPart, Assembly], None]] = {
    "tool-call": read_call,
    "tool-input-available": read_call,
    "tool-input-error": read_call,
    "tool-call-streaming-start": _read_call_start,
    "tool-call-input-streaming-start": _read_call_start,
    "tool-input-start": _read_call_start,
    "tool-call-delta": _read_call_delta,
    "tool-input-delta": _read_call_delta,
    "tool-input-end": _read_call_end,
    "tool-call-input-streaming-end": _read_call_end,
    "tool-output-available": _read_result,
    "tool-error": _read_error,
    "tool-output-error": _read_error,
    "tool-output-denied": _read_denial,
    "tool-approval-request": _read_approval_request,
    "tool-call-approval": _read_approval_request,
    "tool-approval-response": _read_approval_response,
    "tool-invocation": _read_invocation,
}
