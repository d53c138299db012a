"""Parts of content as Gemini and Google's agents write them: `functionCall` in, `functionResponse` out."""

from __future__ import annotations

import base64
from collections import OrderedDict, deque
from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from pegboard.dialects.asked import ABSENT, NOTHING, AskedCall
from pegboard.dialects.assembly import Assembly, id_of, name_of
from pegboard.dialects.base import Answer
from pegboard.dialects.parts.blocks import given_input, image_of, input_of, shown
from pegboard.dialects.parts.content import blocks_of, described
from pegboard.dialects.parts.google_fields import field, names_of
from pegboard.dialects.parts.partial_args import PartialCalls

CODE = "code_execution"
_OK = "OUTCOME_OK"
_SERVER = ("toolCall", "toolResponse")
_CALLS = ("functionCall", "executableCode", "toolCall")
_CARRIERS = ("functionCall", "functionResponse", "executableCode", "codeExecutionResult", *_SERVER)


_NAMES = frozenset(both for name in _CARRIERS for both in names_of(name))


class _Held(NamedTuple):
    name: str
    arguments: Any
    id: str
    provider_executed: bool
    extra: Mapping[str, Any]
    result: Any = ABSENT
    error: str | None = None


class Parts:
    """What is known of the parts read so far.

    A call without an id is held, and what follows it, until the next content: only that can answer it, by its name.
    """

    def __init__(self) -> None:
        self.partial = PartialCalls()
        # The calls of partial events, until a final one repeats them.
        self.unconfirmed: Assembly | None = None
        self._held: list[_Held] = []
        # The names and ids of calls that were handed over at once.
        self._given: list[tuple[str, str]] = []
        self._are_old = False
        self._answered = False
        # Made for the first answer, from so many of those held and given: the calls without one, by name and by id.
        self._open: dict[str, OrderedDict[str | int, None]] = {}
        self._places: dict[str, deque[int]] = {}
        self._indexed = 0

    def begin(self) -> None:
        """Another payload or chunk."""
        self._are_old = bool(self._held)
        self._answered = False

    def end(self, into: Assembly) -> None:
        """It is read: what was held before and could have been answered by it is handed over."""
        if self._are_old and not self._answered:
            self.release(into)

    def call(
        self, name: Any, arguments: Any, id: Any, into: Assembly, extra: Mapping[str, Any], *, is_server: bool = False
    ) -> None:
        """A whole call."""
        if self._are_old:
            self.release(into)
        known, identity = name_of(name), id_of(id)
        if self._held or not identity:
            self._held.append(_Held(known, arguments, identity, is_server, extra))
            return
        self._given.append((known, identity))
        if is_server:
            # Its result is part of it, and comes after it.
            into.piece(("server", identity), name=known, id=identity, provider_executed=True, extra=extra)
            into.snapshot(("server", identity), arguments)
        else:
            into.call(known, arguments, identity, extra=extra)

    def answer(
        self, name: Any, id: Any, result: Any, error: str | None, into: Assembly, *, is_server: bool = False
    ) -> None:
        """How a call ended: the one with this id, or the first one of this name where either has none."""
        self._answered = True
        self._index()
        known, identity = name_of(name), id_of(id)
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

    def release(self, into: Assembly) -> None:
        """Hand over every call that is held."""
        for place, call in enumerate(self._held):
            if place < self._indexed:
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
        self._indexed = 0
        self._are_old = False

    def _index(self) -> None:
        for name, identity in self._given:
            self._open.setdefault(name, OrderedDict())[identity] = None
        self._given.clear()
        for place in range(self._indexed, len(self._held)):
            call = self._held[place]
            self._open.setdefault(call.name, OrderedDict())[place] = None
            if call.id:
                self._places.setdefault(call.id, deque()).append(place)
        self._indexed = len(self._held)

    def _has_no_id(self, mark: str | int) -> bool:
        return isinstance(mark, int) and not self._held[mark].id


def parts_in(into: Assembly) -> Parts:
    """What this assembly's dialect knows of the parts read so far."""
    if into.state is None:
        into.state = Parts()
    parts: Parts = into.state
    return parts


def is_part(item: Any) -> bool:
    """Whether this is a part that holds a call, or the result of one."""
    if not isinstance(item, dict):
        return False
    if item.keys().isdisjoint(_NAMES):
        return False
    for name in _CARRIERS:
        found = field(item, name)
        if isinstance(found, dict) and (field(found, "toolType") if name in _SERVER else "arguments" not in found):
            return True
    return False


def is_call(part: Mapping[str, Any]) -> bool:
    """Whether a call is in this part, be it to the client or to the provider."""
    return any(isinstance(field(part, name), dict) for name in _CALLS)


def read_part(part: Any, into: Assembly, wrap: str, running: Collection[str] = ()) -> None:
    """Take in one part; a result is found under `wrap`; `running` are the ids of calls that nobody waits for."""
    if not isinstance(part, dict):
        return
    call = part.get("functionCall")
    if isinstance(call, dict):
        read_call(call, into, _extra(part, bool(running) and id_of(call.get("id")) in running))
        return
    found = {name: value for name in _CARRIERS if isinstance(value := field(part, name), dict)}
    if not found:
        return
    state = parts_in(into)
    for name, value in found.items():
        if name == "functionCall":
            read_call(value, into, _extra(part, id_of(value.get("id")) in running))
        elif name == "functionResponse":
            read_response(value, into, wrap)
        elif name == "executableCode":
            arguments = {key: value.get(key) for key in ("language", "code")}
            state.call(CODE, arguments, value.get("id"), into, _extra(part), is_server=True)
        elif name == "codeExecutionResult":
            output, outcome = value.get("output"), value.get("outcome")
            error = None if outcome in (_OK, None) else shown(output or outcome)
            state.answer(CODE, value.get("id"), _or_absent(output, error), error, into, is_server=True)
        elif name == "toolCall":
            tool = field(value, "toolType")
            state.call(tool, value.get("args"), value.get("id"), into, _extra(part), is_server=True)
        else:
            state.answer(field(value, "toolType"), value.get("id"), value.get("response"), None, into, is_server=True)


def read_call(call: dict[str, Any], into: Assembly, extra: Mapping[str, Any] = NOTHING) -> None:
    """Take in a call, or a piece of one."""
    state = parts_in(into)
    if not state.partial.take(call, into, extra) and call:
        state.call(call.get("name"), given_input(call.get("args")), call.get("id"), into, extra)


def read_response(response: dict[str, Any], into: Assembly, wrap: str) -> None:
    """Take in the result of a call."""
    told = response.get("response")
    error = None
    if isinstance(told, dict) and len(told) == 1:
        if told.get("error") is not None:
            error = shown(told["error"])
        told = told.get(wrap, told)
    parts_in(into).answer(response.get("name"), response.get("id"), _or_absent(told, error), error, into)


def composed_parts(call: AskedCall) -> list[dict[str, Any]]:
    """The part that makes this call; what the provider ran itself is followed by its result."""
    identity = {"id": call.id} if call.id else {}
    signature = call.extra.get("thought_signature_b64")
    signed = {"thoughtSignature": signature} if signature else {}
    if not call.provider_executed:
        return [{"functionCall": {**identity, "name": call.name, "args": input_of(call)}, **signed}]
    is_open = call.result is ABSENT and call.error is None
    if call.name == CODE:
        made: dict[str, Any] = {"executableCode": {**identity, **input_of(call)}, **signed}
        outcome = {"outcome": _OK if call.error is None else "OUTCOME_FAILED"}
        output = shown(call.result if call.error is None else call.error)
        ended: dict[str, Any] = {"codeExecutionResult": {**identity, **outcome, "output": output}}
    else:
        made = {"toolCall": {**identity, "toolType": call.name, "args": input_of(call)}, **signed}
        response = call.result if isinstance(call.result, dict) else {"output": shown(call.result)}
        ended = {"toolResponse": {**identity, "toolType": call.name, "response": response}}
    return [made] if is_open else [made, ended]


def response_part(answer: Answer, identity: str, wrap: str) -> dict[str, Any]:
    """The part that answers a call, with its output under `wrap`; pictures go beside it."""
    response: dict[str, Any] = {"id": identity} if identity else {}
    response["name"] = answer.call.name or answer.result.tool_name
    if answer.result.problem is not None:
        return {"functionResponse": {**response, "response": {"error": answer.result.problem.message}}}
    blocks = blocks_of(answer.result)
    if blocks is None:
        return {"functionResponse": {**response, "response": {wrap: answer.result.output}}}
    images = [image for block in blocks if (image := image_of(block))]
    text = "\n".join(described(block) for block in blocks if not image_of(block))
    response["response"] = {wrap: text}
    if images:
        response["parts"] = [{"inlineData": {"mimeType": kind, "data": data}} for kind, data in images]
    return {"functionResponse": response}


def _extra(part: Mapping[str, Any], is_long: bool = False) -> Mapping[str, Any]:
    signature = field(part, "thoughtSignature")
    extra: dict[str, Any] = {}
    if isinstance(signature, str) and signature:
        extra["thought_signature_b64"] = signature
    elif isinstance(signature, bytes):
        extra["thought_signature_b64"] = base64.b64encode(signature).decode()
    if is_long:
        extra["long_running"] = True
    return extra or NOTHING


def _or_absent(result: Any, error: str | None) -> Any:
    return result if error is None else ABSENT
