"""What a request in an envelope must be: every rule, told by the field that breaks it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from pegboard.core.instants import read_instant, write_instant
from pegboard.core.tool import alias_of
from pegboard.dialects.assembly import SchemaOf

VERSIONS = ("1.0", "1.1")
# The longest name of a tool, id of a chain and name of a step.
MAX_NAME = 100
# How far the clock of whoever asks may be ahead of ours.
AHEAD = timedelta(minutes=5)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
FIELDS = ("tool_name", "args", "request_id", "timestamp", "version")
_ADDED = ("chain", "progress")
_MOST_NAMED = 10
_LONGEST = 60
_is_uuid = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.ASCII | re.IGNORECASE).fullmatch
_KINDS = {dict: "an object", list: "an array", str: "a string", bool: "a boolean", type(None): "null"}


def faults_of(item: Mapping[str, Any], now: datetime, schema_of: SchemaOf) -> list[str]:
    """Everything that is wrong with a request, field by field; nothing if it keeps the rules."""
    found = [f"{field} is missing" for field in FIELDS if field not in item]
    checks = {
        "tool_name": lambda given: _tool_name(given, schema_of),
        "args": _args,
        "request_id": _request_id,
        "timestamp": lambda given: _timestamp(given, now),
        "version": _version,
    }
    if item.get("version") != "1.0":
        checks |= {"chain": chain_fault, "progress": _progress}
    found += [f"{field} {fault}" for field, check in checks.items() if field in item and (fault := check(item[field]))]
    return [*found, *_extra(item, checks)]


def _tool_name(given: Any, schema_of: SchemaOf) -> str | None:
    if not isinstance(given, str):
        return f"must be a string, and is {_kind(given)}"
    if not given:
        return "must not be empty"
    if len(given) <= MAX_NAME:
        return None
    short = alias_of(given) if schema_of(given) is not None else None
    return f"has {len(given):,} characters, at most {MAX_NAME} are taken" + (f", say '{short}' for it" if short else "")


def _args(given: Any) -> str | None:
    return None if isinstance(given, dict) else f"must be an object, and is {_kind(given)}"


def _request_id(given: Any) -> str | None:
    if not isinstance(given, str):
        return f"must be a UUID, and is {_kind(given)}"
    return None if _is_uuid(given) else "must be a UUID: 32 hexadecimal digits in groups of 8-4-4-4-12"


def _timestamp(given: Any, now: datetime) -> str | None:
    wanted = "must be a time as ISO 8601 with a zone, such as 2026-01-02T03:04:05Z"
    if not isinstance(given, str):
        return f"{wanted}, and is {_kind(given)}"
    try:
        moment = read_instant(given)
    except ValueError as error:
        return f"{wanted}: {error}"
    if moment < EPOCH:
        return "must not be before 1970"
    if moment > now + AHEAD:
        ours = write_instant(now.replace(microsecond=0))
        return f"is in the future: at most 5 minutes ahead of this board's clock are taken, which says {ours}"
    return None


def _version(given: Any) -> str | None:
    spoken = "1.0 and 1.1 are spoken here"
    if not isinstance(given, str):
        return f"must be a string, and is {_kind(given)}: {spoken}"
    return None if given in VERSIONS else f"{given[:_LONGEST]!r} is not known: {spoken}"


def chain_fault(given: Any) -> str | None:
    """What is wrong with what a request says of its chain."""
    if not isinstance(given, dict):
        return f'must be an object {{"id", "step"}}, and is {_kind(given)}'
    if not given.keys() <= {"id", "step"}:
        return "has 'id' and 'step', and nothing else"
    for name in ("id", "step"):
        value = given.get(name, "" if name == "id" else name)
        if not isinstance(value, str) or not 0 < len(value) <= MAX_NAME:
            needed = "needs an 'id'" if name == "id" else "may have a 'step'"
            return f"{needed}, a string of 1 to {MAX_NAME} characters"
    return None


def _progress(given: Any) -> str | None:
    return None if isinstance(given, bool) else f"must be true or false, and is {_kind(given)}"


def _extra(item: Mapping[str, Any], known: Mapping[str, Any]) -> Iterator[str]:
    extra = [str(key)[:_LONGEST] for key in item if key not in known]
    for name in extra[:_MOST_NAMED]:
        hint = ", version 1.1 has it" if name in _ADDED else ""
        yield f"{name!r} is no field of an envelope of this version{hint}"
    if len(extra) > _MOST_NAMED:
        yield f"{len(extra) - _MOST_NAMED:,} more fields are none either"


def _kind(given: Any) -> str:
    return _KINDS.get(type(given)) or ("a number" if isinstance(given, int | float) else "no JSON")
