"""Parts of Vercel's AI SDK: pieces of messages and of streams that carry a call, or how one ended.

Every version names them alike and most fields too: what a call is given is `args` in version 4 and `input` since.
Mastra builds on the same parts.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from functools import partial
from typing import Any

from pegboard.core.call import Malformed
from pegboard.dialects.asked import ABSENT, NOTHING
from pegboard.dialects.assembly import Assembly, checked_text, id_of
from pegboard.dialects.parts.picking import is_models
from pegboard.dialects.parts.vercel_outputs import DENIED, json_text, message_of, unwrapped
from pegboard.dialects.reading import arguments_of

_WAITING = "The call waits for somebody to approve it"
_ANSWERED = frozenset({"output-available", "result"})
# What messages of tools and users have.
_OF_OTHERS = ("tool-result", "tool-approval-response")
_UNFINISHED = frozenset({"input-streaming", "partial-call"})

Part = Mapping[str, Any]


class _Told:
    """What has to be remembered from part to part."""

    __slots__ = ("answers", "asking", "ended", "held", "shown", "texts", "theirs", "unreadable", "waiting")

    def __init__(self) -> None:
        # The pieces of arguments by call, for an SDK that makes `{}` of those it cannot read.
        self.texts: dict[str, list[str]] = {}
        # Calls all of whose arguments have come, those the provider runs, and those nobody could read.
        self.ended: dict[str, None] = {}
        self.theirs: set[str] = set()
        self.unreadable: set[str] = set()
        # Calls that a message has shown whole, and whether answered: the same message may come again, further on.
        self.shown: dict[str, bool] = {}
        # Whole calls that somebody else may still answer, and the answers that came.
        self.held: dict[Hashable, None] = {}
        self.answers: list[Callable[[], None]] = []
        # Calls by the approval asked for, and those that still wait for it.
        self.asking: dict[str, str] = {}
        self.waiting: dict[str, None] = {}


def read_part(part: Part, into: Assembly, *, in_message: bool = False) -> bool:
    """Take in one part; False where it has nothing to do with calls."""
    kind = part.get("type")
    if not isinstance(kind, str):
        return False
    if isinstance(part.get("state"), str) and (kind.startswith("tool-") or kind == "dynamic-tool"):
        _ui(part, kind, into)
        return True
    if kind == "tool-result":
        _result(part, into, typed=in_message or "input" not in part)
        return True
    reader = _READERS.get(kind)
    if reader is not None:
        reader(part, into)
    return reader is not None


def read_message(message: Part, parts: Any, into: Assembly) -> None:
    """Take in these parts of a message, or its invocations; of one that is not a model's, only how calls ended."""
    may_call = is_models(message.get("role"))
    if isinstance(parts, list):
        for part in parts:
            if isinstance(part, dict) and (may_call or part.get("type") in _OF_OTHERS):
                read_part(part, into, in_message=True)
    elif may_call:
        _read_invocations(message.get("toolInvocations"), into)


def _read_invocations(items: Any, into: Assembly) -> None:
    """Calls with the state each is in, as messages of version 4 had them."""
    for item in items if isinstance(items, list) else ():
        if isinstance(item, dict):
            _in_state(item, item.get("toolName"), item.get("state"), into)


def finish_parts(into: Assembly) -> None:
    """Take in what was held back: calls of which only pieces came, and those that still wait for approval."""
    told = into.state
    if isinstance(told, _Told):
        release(into)
        for identity in told.ended:
            into.over(identity)
        for identity in told.waiting:
            into.answer(identity, error=_WAITING)
        into.state = None


def read_call(part: Part, into: Assembly, *, held: bool = False) -> None:
    """Take in a whole call; one that is held is not handed out before it is released."""
    told, identity = _told(into), _id(part)
    given = _given(part)
    texts = told.texts.pop(identity, ()) if told.texts else ()
    if isinstance(given, str):
        read = arguments_of(given)
        if type(read) is Malformed:
            told.unreadable.add(identity)
        else:
            given = read
    elif not given and texts:
        # Mastra gives `{}` for what it could not read: the pieces say what the model said.
        given = "".join(texts) or given
    theirs = part.get("providerExecuted") is True or identity in told.theirs
    if held and not theirs:
        key = (identity, len(told.held)) if identity in told.held else identity
        told.held[key] = None
        into.snapshot(key, given, name=_name(part), id=identity, extra=extra_of(part))
    else:
        into.call(part.get("toolName", ""), given, identity, provider_executed=theirs, extra=extra_of(part))


def release(into: Assembly) -> None:
    """Hand out the calls that were held, in order and with their answers: no more of those come."""
    told = _told(into)
    for answer in told.answers:
        answer()
    for key in told.held:
        into.over(key)
    told.answers.clear()
    told.held.clear()


def extra_of(part: Part) -> Mapping[str, Any]:
    """What the provider needs back with a call."""
    for key in ("providerMetadata", "callProviderMetadata", "providerOptions"):
        kept = part.get(key)
        if isinstance(kept, dict) and kept:
            return {"provider_metadata": kept}
    return NOTHING


def _start(part: Part, into: Assembly) -> None:
    identity = _id(part)
    theirs = part.get("providerExecuted") is True
    if theirs:
        _told(into).theirs.add(identity)
    into.piece(identity, name=_name(part), id=identity, provider_executed=theirs, extra=extra_of(part))


def _delta(part: Part, into: Assembly) -> None:
    identity = _id(part)
    text = checked_text(part.get("inputTextDelta") or part.get("delta") or part.get("argsTextDelta"))
    _told(into).texts.setdefault(identity, []).append(text)
    into.piece(identity, text, name=_name(part), id=identity)


def _ended(part: Part, into: Assembly) -> None:
    # The call itself follows, and says who runs it.
    _told(into).ended[_id(part)] = None


def _result(part: Part, into: Assembly, *, typed: bool = False) -> None:
    if part.get("preliminary") is True:
        return
    error = None
    if "output" in part:
        result, error = unwrapped(part["output"]) if typed else (part["output"], None)
    elif part.get("isError") is True:
        result, error = ABSENT, message_of(part.get("result"))
    else:
        result = part.get("result")
    _answer(part, into, result, error)


def _error(part: Part, into: Assembly) -> None:
    if _id(part) not in _told(into).unreadable:
        _answer(part, into, ABSENT, message_of(part.get("errorText") or part.get("error")))


def _denied(part: Part, into: Assembly) -> None:
    _answer(part, into, ABSENT, checked_text(part.get("reason")) or DENIED)


def _answer(part: Part, into: Assembly, result: Any, error: str | None) -> None:
    told, identity = _told(into), _id(part)
    told.waiting.pop(identity, None)
    answer = partial(
        into.answer,
        identity,
        result,
        error=error,
        name=_name(part),
        arguments=_given(part),
        provider_executed=part.get("providerExecuted") is True,
    )
    if identity in told.held:
        told.answers.append(answer)
    else:
        answer()


def _asked(part: Part, into: Assembly) -> None:
    call = part.get("toolCall")
    identity = _id(call if isinstance(call, dict) else part)
    if part.get("isAutomatic") is not True:
        told = _told(into)
        told.asking[id_of(part.get("approvalId"))] = identity
        told.waiting[identity] = None


def _decided(part: Part, into: Assembly) -> None:
    told = _told(into)
    identity = told.asking.pop(id_of(part.get("approvalId")), None)
    if identity in told.waiting:
        del told.waiting[identity]
        if part.get("approved") is not True:
            into.answer(identity, error=checked_text(part.get("reason")) or DENIED)


def _ui(part: Part, kind: str, into: Assembly) -> None:
    invocation = part.get("toolInvocation")
    if isinstance(invocation, dict):
        _invocation(part, into)
    else:
        name = part.get("toolName") if kind == "dynamic-tool" else kind.removeprefix("tool-")
        _in_state(part, name, part.get("state"), into)


def _invocation(part: Part, into: Assembly) -> None:
    _read_invocations([part.get("toolInvocation")], into)


def _in_state(part: Part, name: Any, state: Any, into: Assembly) -> None:
    """A call that says how far it has come."""
    identity, given, told = _id(part), _given(part), _told(into)
    state = checked_text(state)
    if state in _UNFINISHED:
        # What has come so far reads as if it were whole: its last bracket is not the model's.
        so_far = given if isinstance(given, str) else "" if given is None else json_text(given)[:-1]
        into.snapshot(identity, so_far, name=name, id=identity)
        return
    approval = part.get("approval")
    approval = approval if isinstance(approval, dict) else {}
    result: Any = ABSENT
    error = None
    if state in _ANSWERED:
        result = part.get("output") if state == "output-available" else part.get("result")
    elif state == "output-error":
        error = message_of(part.get("errorText"))
    elif state == "approval-requested":
        error = _WAITING
    elif state == "output-denied" or (state == "approval-responded" and approval.get("approved") is not True):
        error = checked_text(approval.get("reason")) or DENIED
    answered = result is not ABSENT or error is not None
    if identity not in told.shown:
        theirs = part.get("providerExecuted") is True
        into.call(name, given, identity, result=result, error=error, provider_executed=theirs, extra=extra_of(part))
    elif answered and not told.shown[identity]:
        into.answer(identity, result, error=error)
    if identity:
        told.shown[identity] = answered or told.shown.get(identity, False)


def _told(into: Assembly) -> _Told:
    told = into.state
    if not isinstance(told, _Told):
        told = into.state = _Told()
    return told


def _id(part: Part) -> str:
    return id_of(part.get("toolCallId")) or id_of(part.get("id"))


def _name(part: Part) -> str | None:
    name = part.get("toolName")
    return name if isinstance(name, str) else None


def _given(part: Part) -> Any:
    for key in ("input", "args", "rawInput"):
        given = part.get(key)
        if given is not None:
            return given
    return None


_READERS: Mapping[str, Callable[[Part, Assembly], None]] = {
    "tool-call": read_call,
    "tool-input-available": read_call,
    "tool-input-error": read_call,
    "tool-call-streaming-start": _start,
    "tool-call-input-streaming-start": _start,
    "tool-input-start": _start,
    "tool-call-delta": _delta,
    "tool-input-delta": _delta,
    "tool-input-end": _ended,
    "tool-call-input-streaming-end": _ended,
    "tool-output-available": _result,
    "tool-error": _error,
    "tool-output-error": _error,
    "tool-output-denied": _denied,
    "tool-approval-request": _asked,
    "tool-call-approval": _asked,
    "tool-approval-response": _decided,
    "tool-invocation": _invocation,
}
