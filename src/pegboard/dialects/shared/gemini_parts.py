"""Content parts of Gemini and Google's ADK: `functionCall` for calls and `functionResponse` for answers.

Fields are camelCase on the wire and snake_case in dumps of the Python SDK. A stream may send the arguments of a call
value by value, each with its JSON path.
"""

from __future__ import annotations

import base64
import re
from collections import OrderedDict, deque
from collections.abc import Collection, Mapping
from functools import cache
from itertools import pairwise
from typing import Any, NamedTuple

import orjson

from pegboard.dialects.base import Answer
from pegboard.dialects.call_assembler import Assembly, read_id, read_name
from pegboard.dialects.parsed_calls import ABSENT, EMPTY_MAPPING, AskedCall
from pegboard.dialects.shared.content_blocks import (
    arguments_to_object,
    describe_block,
    get_content_blocks,
    object_to_arguments,
    read_image,
    to_text,
    truncate_arguments,
)


@cache
def get_snake_case_name(name: str) -> str:
    """Return the name of a field in dumps of the Python SDK."""
    return re.sub("([A-Z])", lambda found: f"_{found[1].lower()}", name)


def get_field(item: Mapping[str, Any], name: str) -> Any:
    """Return a field by its wire name, or by its name in dumps of the Python SDK."""
    value = item.get(name)
    return item.get(get_snake_case_name(name)) if value is None else value


def get_field_names(name: str) -> tuple[str, str]:
    """Return both names of a field."""
    return name, get_snake_case_name(name)


_PATH_STEP = re.compile(
    r"""\.([^.\[\]'"\s]+)|\[(\d{1,6})\]|\['((?:[^'\\]|\\.)*)'\]|\["((?:[^"\\]|\\.)*)"\]""", re.ASCII | re.DOTALL
)
# Keys that only pieces of a call have.
_PARTIAL_KEYS = frozenset({*get_field_names("partialArgs"), *get_field_names("willContinue")})
_MAX_PATH_STEPS = 64
_MAX_PATH_CHARS = 4_000
# Numbers in protobuf are doubles; below this limit every integer is exact.
_MAX_EXACT_INTEGER = 2**53


def parse_json_path(path: Any) -> tuple[str | int, ...] | None:
    """Return the keys and indexes of a path such as `$.a.b[0]['c d']`, or None if it is not a single position."""
    if not isinstance(path, str) or not path.startswith("$") or not 1 < len(path) <= _MAX_PATH_CHARS:
        return None
    steps: list[str | int] = []
    at = 1
    while at < len(path):
        match = _PATH_STEP.match(path, at)
        if match is None or len(steps) == _MAX_PATH_STEPS:
            return None
        step = _parse_path_step(match)
        if step is None:
            return None
        steps.append(step)
        at = match.end()
    return tuple(steps)


def _parse_path_step(match: re.Match[str]) -> str | int | None:
    name, index, single, double = match.groups()
    if name is not None:
        return name
    if index is not None:
        return int(index)
    text = double if double is not None else single.replace("\\'", "'").replace('"', '\\"')
    try:
        return str(orjson.loads(f'"{text}"'))
    except (orjson.JSONDecodeError, UnicodeEncodeError):
        return None


class _PartialCall:
    """One call that is not complete yet."""

    def __init__(self, key: tuple[str, int], name: str) -> None:
        self.key = key
        self.name = name
        self._values: dict[tuple[str | int, ...], Any] = {}
        self._given: list[Any] = []
        self._is_invalid = False

    def take(self, given: Any) -> None:
        """Add one value; pieces of a string are joined."""
        self._given.append(given)
        steps = parse_json_path(get_field(given, "jsonPath")) if isinstance(given, dict) else None
        if steps is None or isinstance(steps[0], int):
            self._is_invalid = True
            return
        value = _read_value(given)
        if value is ABSENT:
            return
        known = self._values.setdefault(steps, [] if isinstance(value, str) else value)
        if isinstance(known, list) != isinstance(value, str):
            self._is_invalid = True
        elif isinstance(value, str):
            known.append(value)
        else:
            self._values[steps] = value

    def replace_arguments(self, arguments: dict[str, Any]) -> None:
        """Replace all values by these arguments."""
        # Wrapped, because a plain list holds the pieces of a string.
        self._values = {(key,): _WholeValue(value) for key, value in arguments.items()}

    def arguments(self) -> Any:
        """Return the object of all values, or the text of the pieces if they are inconsistent."""
        whole = None if self._is_invalid else _build_object(self._values)
        return to_text(self._given) if whole is None else whole


class _WholeValue:
    """A value that arrived in one piece, and may be an object or a list."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


class PartialCalls:
    """The calls that are not complete; most streams send one after another, but calls with ids may be interleaved."""

    def __init__(self) -> None:
        self._calls: dict[str | int, _PartialCall] = {}
        self._current: str | int | None = None
        self._count = 0

    def take(self, call: Mapping[str, Any], into: Assembly, extra: Mapping[str, Any]) -> bool:
        """Read a piece of a call and return True, or return False if it is not one."""
        if not self._calls and call.keys().isdisjoint(_PARTIAL_KEYS):
            return False
        identity, name = read_id(call.get("id")), read_name(call.get("name"))
        goes_on = get_field(call, "willContinue") is True
        pieces = get_field(call, "partialArgs")
        mark = self._find_key(identity, name)
        if mark is None:
            if not goes_on and not isinstance(pieces, list):
                return False
            self._count += 1
            mark = identity or self._count
            self._calls[mark] = _PartialCall(("partial", self._count), name)
        self._current = mark
        making = self._calls[mark]
        into.piece(making.key, name=name, id=identity, extra=extra)
        if isinstance(call.get("args"), dict) and call["args"]:
            making.replace_arguments(call["args"])
        for piece in pieces if isinstance(pieces, list) else ():
            making.take(piece)
        if not goes_on:
            self._close(mark, into)
        return True

    def close(self, into: Assembly) -> None:
        """Mark all calls as complete."""
        for mark in list(self._calls):
            self._close(mark, into)

    def end_incomplete(self, into: Assembly) -> None:
        """End the incomplete calls, with arguments that cannot be parsed."""
        for making in self._calls.values():
            into.piece(making.key, truncate_arguments(making.arguments()))
        self._calls.clear()

    def _find_key(self, identity: str, name: str) -> str | int | None:
        if identity in self._calls:
            return identity
        current = self._calls.get(self._current) if self._current is not None else None
        if current is None or (identity and isinstance(self._current, str)) or (name and name != current.name):
            return None
        return self._current

    def _close(self, mark: str | int, into: Assembly) -> None:
        making = self._calls.pop(mark)
        into.snapshot(making.key, making.arguments())
        into.over(making.key)


def _read_value(given: Mapping[str, Any]) -> Any:
    """Return the value of a piece, or ABSENT if it has none."""
    text, number, truth = (get_field(given, name) for name in ("stringValue", "numberValue", "boolValue"))
    if isinstance(text, str):
        return text
    if isinstance(truth, bool):
        return truth
    if isinstance(number, int | float):
        is_whole = isinstance(number, float) and number.is_integer() and abs(number) < _MAX_EXACT_INTEGER
        return int(number) if is_whole else number
    return None if "nullValue" in given or given.get("null_value") is not None else ABSENT


def _build_object(values: Mapping[tuple[str | int, ...], Any]) -> dict[str, Any] | None:
    """Return the object with each value at its path, or None if two paths conflict."""
    whole: dict[str, Any] = {}
    for steps, value in values.items():
        holder: Any = whole
        for step, following in pairwise(steps):
            holder = _get_or_insert(holder, step, [] if isinstance(following, int) else {})
        plain = value.value if isinstance(value, _WholeValue) else "".join(value) if isinstance(value, list) else value
        if _get_or_insert(holder, steps[-1], plain) is not plain:
            return None
    return whole


def _get_or_insert(holder: Any, step: str | int, fresh: Any) -> Any:
    """Return the value at this position, or insert `fresh`; ABSENT if the position is impossible."""
    if isinstance(holder, dict) and isinstance(step, str):
        return holder.setdefault(step, fresh)
    if isinstance(holder, list) and isinstance(step, int):
        if step == len(holder):
            holder.append(fresh)
        return holder[step] if step < len(holder) else ABSENT
    return ABSENT


CODE_EXECUTION = "code_execution"
_OUTCOME_OK = "OUTCOME_OK"
_SERVER_FIELDS = ("toolCall", "toolResponse")
_CALL_FIELDS = ("functionCall", "executableCode", "toolCall")
_PART_FIELDS = ("functionCall", "functionResponse", "executableCode", "codeExecutionResult", *_SERVER_FIELDS)


_PART_FIELD_NAMES = frozenset(both for name in _PART_FIELDS for both in get_field_names(name))


class _HeldPartCall(NamedTuple):
    name: str
    arguments: Any
    id: str
    provider_executed: bool
    extra: Mapping[str, Any]
    result: Any = ABSENT
    error: str | None = None


class PartsState:
    """The state of the parts that were read.

    A call without an id, and those after it, are held back until the next content: only that can answer it, by name.
    """

    def __init__(self) -> None:
        self.partial = PartialCalls()
        # The calls of partial events, until a final event repeats them.
        self.unconfirmed: Assembly | None = None
        self._held: list[_HeldPartCall] = []
        # The names and ids of calls that were added without being held back.
        self._given: list[tuple[str, str]] = []
        self._has_old_calls = False
        self._answered = False
        # Unanswered calls by name, and indexes in `_held` by id; updated on each answer, with the number of held calls
        # that are already included.
        self._open: dict[str, OrderedDict[str | int, None]] = {}
        self._places: dict[str, deque[int]] = {}
        self._indexed_count = 0

    def begin(self) -> None:
        """Start reading another payload or chunk."""
        self._has_old_calls = bool(self._held)
        self._answered = False

    def end(self, into: Assembly) -> None:
        """End the payload or chunk; release earlier calls that it could have answered but did not."""
        if self._has_old_calls and not self._answered:
            self.release(into)

    def call(
        self, name: Any, arguments: Any, id: Any, into: Assembly, extra: Mapping[str, Any], *, is_server: bool = False
    ) -> None:
        """Add a complete call."""
        if self._has_old_calls:
            self.release(into)
        known, identity = read_name(name), read_id(id)
        if self._held or not identity:
            self._held.append(_HeldPartCall(known, arguments, identity, is_server, extra))
            return
        self._given.append((known, identity))
        if is_server:
            # Its result belongs to it and follows.
            into.piece(("server", identity), name=known, id=identity, provider_executed=True, extra=extra)
            into.snapshot(("server", identity), arguments)
        else:
            into.call(known, arguments, identity, extra=extra)

    def answer(
        self, name: Any, id: Any, result: Any, error: str | None, into: Assembly, *, is_server: bool = False
    ) -> None:
        """Answer the call with this id, or the first one with this name if either has no id."""
        self._answered = True
        self._index()
        known, identity = read_name(name), read_id(id)
        waiting = self._open.get(known, OrderedDict())
        mark: str | int = identity
        if self._places.get(identity):
            mark = self._places[identity].popleft()
            waiting.pop(mark, None)
        elif identity in waiting:
            del waiting[identity]
        elif waiting and (not identity or self._has_no_id(next(iter(waiting)))):
            mark, _ = waiting.popitem(last=False)
        if isinstance(mark, int):
            self._held[mark] = self._held[mark]._replace(result=result, error=error)
        else:
            into.answer(mark, result, error=error, name=known, provider_executed=is_server)

    def finish(self, into: Assembly) -> None:
        """Add the calls that are held back, and those of which only a part arrived."""
        self.release(into)
        self.partial.end_incomplete(into)

    def release(self, into: Assembly) -> None:
        """Add all calls that are held back to the assembly."""
        for place, call in enumerate(self._held):
            if place < self._indexed_count:
                self._open[call.name].pop(place, None)
            into.call(
                call.name,
                call.arguments,
                call.id,
                result=call.result,
                error=call.error,
                provider_executed=call.provider_executed,
                extra=call.extra,
            )
        self._held.clear()
        self._places.clear()
        self._indexed_count = 0
        self._has_old_calls = False

    def _index(self) -> None:
        for name, identity in self._given:
            self._open.setdefault(name, OrderedDict())[identity] = None
        self._given.clear()
        for place in range(self._indexed_count, len(self._held)):
            call = self._held[place]
            self._open.setdefault(call.name, OrderedDict())[place] = None
            if call.id:
                self._places.setdefault(call.id, deque()).append(place)
        self._indexed_count = len(self._held)

    def _has_no_id(self, mark: str | int) -> bool:
        return isinstance(mark, int) and not self._held[mark].id


def is_call_or_result_part(item: Any) -> bool:
    """Return True for a part with a call or the result of one."""
    if not isinstance(item, dict):
        return False
    if item.keys().isdisjoint(_PART_FIELD_NAMES):
        return False
    for name in _PART_FIELDS:
        found = get_field(item, name)
        if isinstance(found, dict) and (
            get_field(found, "toolType") if name in _SERVER_FIELDS else "arguments" not in found
        ):
            return True
    return False


def is_call_part(part: Mapping[str, Any]) -> bool:
    """Return True for a part with a call, either for the client or for the provider."""
    return any(isinstance(get_field(part, name), dict) for name in _CALL_FIELDS)


def read_part(part: Any, into: Assembly, wrap: str, running: Collection[str] = ()) -> None:
    """Read one part; a result is under the key `wrap`; `running` are the ids of long-running calls."""
    if not isinstance(part, dict):
        return
    call = part.get("functionCall")
    if isinstance(call, dict):
        read_call(call, into, _get_extra(part, bool(running) and read_id(call.get("id")) in running))
        return
    found = {name: value for name in _PART_FIELDS if isinstance(value := get_field(part, name), dict)}
    if not found:
        return
    state = into.get_state(PartsState)
    for name, value in found.items():
        if name == "functionCall":
            read_call(value, into, _get_extra(part, read_id(value.get("id")) in running))
        elif name == "functionResponse":
            read_response(value, into, wrap)
        elif name == "executableCode":
            arguments = {key: value.get(key) for key in ("language", "code")}
            state.call(CODE_EXECUTION, arguments, value.get("id"), into, _get_extra(part), is_server=True)
        elif name == "codeExecutionResult":
            output, outcome = value.get("output"), value.get("outcome")
            error = None if outcome in (_OUTCOME_OK, None) else to_text(output or outcome)
            state.answer(CODE_EXECUTION, value.get("id"), _absent_if_error(output, error), error, into, is_server=True)
        elif name == "toolCall":
            tool = get_field(value, "toolType")
            state.call(tool, value.get("args"), value.get("id"), into, _get_extra(part), is_server=True)
        else:
            state.answer(
                get_field(value, "toolType"), value.get("id"), value.get("response"), None, into, is_server=True
            )


def read_call(call: dict[str, Any], into: Assembly, extra: Mapping[str, Any] = EMPTY_MAPPING) -> None:
    """Read a call, or a piece of one."""
    state = into.get_state(PartsState)
    if not state.partial.take(call, into, extra) and call:
        state.call(
            call.get("name"), object_to_arguments(call.get("args", call.get("arguments"))), call.get("id"), into, extra
        )


def read_response(response: dict[str, Any], into: Assembly, wrap: str) -> None:
    """Read the result of a call."""
    content = response.get("response")
    error = None
    if isinstance(content, dict) and len(content) == 1:
        if content.get("error") is not None:
            error = to_text(content["error"])
        content = content.get(wrap, content)
    into.get_state(PartsState).answer(
        response.get("name"), response.get("id"), _absent_if_error(content, error), error, into
    )


def compose_parts(call: AskedCall) -> list[dict[str, Any]]:
    """Return the part for this call; if the provider ran it, its result follows."""
    identity = {"id": call.id} if call.id else {}
    signature = call.extra.get("thought_signature_b64")
    signed = {"thoughtSignature": signature} if signature else {}
    if not call.provider_executed:
        return [{"functionCall": {**identity, "name": call.name, "args": arguments_to_object(call)}, **signed}]
    is_open = call.result is ABSENT and call.error is None
    if call.name == CODE_EXECUTION:
        made: dict[str, Any] = {"executableCode": {**identity, **arguments_to_object(call)}, **signed}
        outcome = {"outcome": _OUTCOME_OK if call.error is None else "OUTCOME_FAILED"}
        output = to_text(call.result if call.error is None else call.error)
        ended: dict[str, Any] = {"codeExecutionResult": {**identity, **outcome, "output": output}}
    else:
        made = {"toolCall": {**identity, "toolType": call.name, "args": arguments_to_object(call)}, **signed}
        response = call.result if isinstance(call.result, dict) else {"output": to_text(call.result)}
        ended = {"toolResponse": {**identity, "toolType": call.name, "response": response}}
    return [made] if is_open else [made, ended]


def render_response_part(answer: Answer, identity: str, wrap: str) -> dict[str, Any]:
    """Return the part that answers a call, with the output under `wrap` and images beside it."""
    response: dict[str, Any] = {"id": identity} if identity else {}
    response["name"] = answer.call.name or answer.result.tool_name
    if answer.result.problem is not None:
        return {"functionResponse": {**response, "response": {"error": answer.result.problem.message}}}
    blocks = get_content_blocks(answer.result)
    if blocks is None:
        return {"functionResponse": {**response, "response": {wrap: answer.result.output}}}
    images = [image for block in blocks if (image := read_image(block))]
    text = "\n".join(describe_block(block) for block in blocks if not read_image(block))
    response["response"] = {wrap: text}
    if images:
        response["parts"] = [{"inlineData": {"mimeType": kind, "data": data}} for kind, data in images]
    return {"functionResponse": response}


def _get_extra(part: Mapping[str, Any], is_long: bool = False) -> Mapping[str, Any]:
    signature = get_field(part, "thoughtSignature")
    extra: dict[str, Any] = {}
    if isinstance(signature, str) and signature:
        extra["thought_signature_b64"] = signature
    elif isinstance(signature, bytes):
        extra["thought_signature_b64"] = base64.b64encode(signature).decode()
    if is_long:
        extra["long_running"] = True
    return extra or EMPTY_MAPPING


def _absent_if_error(result: Any, error: str | None) -> Any:
    return result if error is None else ABSENT
