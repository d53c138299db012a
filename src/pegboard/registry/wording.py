"""How a fault is put into words: which field, what was expected, what was received."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from typing import Any, NamedTuple

from pegboard.core.errors import FieldProblem
from pegboard.registry.shown import HIDDEN, cut, field_of, is_secret, options_of, text_of
from pegboard.registry.subschemas import Path

_ARTICLES = {"integer": "an ", "number": "a ", "string": "a ", "array": "an ", "text": "a "}

# What a format is called in `expected`, and in a sentence.
_FORMATS = {
    "date-time": ("ISO 8601 date-time", "a valid ISO 8601 datetime"),
    "date": ("ISO 8601 date", "a valid ISO 8601 date"),
    "time": ("ISO 8601 time", "a valid ISO 8601 time"),
    "duration": ("ISO 8601 duration", "a valid ISO 8601 duration"),
    "email": ("email address", "a valid email address"),
    "idn-email": ("email address", "a valid email address"),
    "uri": ("URI", "a valid URI"),
    "iri": ("IRI", "a valid IRI"),
    "uuid": ("UUID", "a valid UUID"),
    "hostname": ("host name", "a valid host name"),
    "ipv4": ("IPv4 address", "a valid IPv4 address"),
    "ipv6": ("IPv6 address", "a valid IPv6 address"),
    "regex": ("regular expression", "a valid regular expression"),
}
_EXAMPLES = {"date-time": "2025-10-05T14:30:00Z", "date": "2025-10-05", "time": "14:30:00Z", "duration": "PT1H30M"}


class Words(NamedTuple):
    """What is said of a value that breaks a keyword."""

    code: str
    says: str
    expected: str | None = None
    shows: bool = True
    hint: str = ""


def problem_of(words: Words, path: Path, value: Any, node: Any = None, *, subject: str = "Arguments") -> FieldProblem:
    """The fault in words, with the value only where its field is not one that holds secrets."""
    hidden = any(isinstance(step, str) and is_secret(step) for step in path)
    field = field_of(path)
    message = f"{subject_of(field, subject)} {words.says}"
    if words.shows:
        quoted = f"'{cut(value)}'" if isinstance(value, str) else text_of(value)
        message += f", but received {HIDDEN if hidden else quoted}"
    received = HIDDEN if hidden else (cut(value) if isinstance(value, str) else text_of(value))
    expected = words.expected or (expected_of(node) if node is not None else None)
    return FieldProblem(words.code, message + words.hint, field, expected, received)


def subject_of(field: str | None, whole: str = "Arguments") -> str:
    """What a sentence about the field begins with."""
    return whole if field is None else f"Field '{field}'"


def missing(path: Path, node: Any = None) -> FieldProblem:
    """The problem of a field that is required and not there."""
    field = field_of(path)
    return FieldProblem("missing", f"Field '{field}' is required", field, expected_of(node), "nothing")


def unrecognized(keys: Iterable[str], known: Iterable[str], path: Path = ()) -> list[FieldProblem]:
    """A problem for each key that is not among the known ones, with the nearest that is."""
    names = sorted(known)
    listed = options_of(names) or "none"
    hint = f"; known fields: {listed}"
    problems = []
    for index, key in enumerate(keys):
        field = field_of((*path, key))
        near = get_close_matches(key[:64], names[:200], 1) if index < 5 else []
        message = f"Field '{field}' is not known" + (f"; did you mean '{near[0]}'?" if near else hint)
        problems.append(FieldProblem("unrecognized_keys", message, field, f"one of: {listed}", cut(key)))
        hint = hint if near else ""
    return problems


def expected_of(node: Any) -> str:
    """What a schema asks for, in a few words: `integer between 1 and 10`."""
    if not isinstance(node, Mapping):
        return "nothing" if node is False else "any value"
    if "const" in node:
        return text_of(node["const"])
    if "enum" in node:
        return f"one of: {options_of(node['enum'])}"
    kinds = _kinds(node)
    return " or ".join(_EXPECTED.get(kind, _named)(kind, node) for kind in kinds) if kinds else "any value"


def words_for(keyword: str, limit: Any, node: Mapping[str, Any], value: Any) -> Words:
    """What to say of a value that breaks this keyword of the schema."""
    return _WORDS.get(keyword, _custom)(limit, node, value)


def _type(_: Any, node: Mapping[str, Any], value: Any) -> Words:
    kinds = _kinds(node)
    phrases = []
    for kind in kinds:
        phrase = _EXPECTED.get(kind, _named)(kind, node)
        if kind == "object":
            phrase = "a valid JSON object"
        elif kind == "string" and node.get("format") in _FORMATS:
            phrase = _FORMATS[node["format"]][1]
        else:
            phrase = _ARTICLES.get(kind, "") + phrase
        phrases.append(phrase)
    return Words("invalid_type", f"must be {' or '.join(phrases) or 'of another type'}")


def _enum(options: Any, node: Mapping[str, Any], value: Any) -> Words:
    listed = options_of(options)
    hint = ""
    if isinstance(value, str) and listed.endswith(" more)"):
        near = get_close_matches(value[:64], [text for text in options[:1000] if isinstance(text, str)], 1)
        hint = f"; did you mean '{near[0]}'?" if near else ""
    return Words("invalid_enum_value", f"must be one of: {listed}", hint=hint)


def _const(expected: Any, node: Mapping[str, Any], value: Any) -> Words:
    text = f"'{cut(expected)}'" if isinstance(expected, str) else text_of(expected)
    return Words("invalid_literal", f"must be {text}", expected if isinstance(expected, str) else text)


def _range(code: str) -> Callable[[Any, Mapping[str, Any], Any], Words]:
    return lambda _, node, value: Words(code, f"must be {_bounds(node)}")


def _multiple(step: Any, node: Mapping[str, Any], value: Any) -> Words:
    places = -math.log10(step) if step > 0 else 0.0
    if 0 < places == round(places):
        return Words(
            "not_multiple_of",
            f"must be a number with max {places:.0f} decimal place{'s' if places > 1 else ''}",
            f"number with at most {places:.0f} decimal place{'s' if places > 1 else ''}",
        )
    return Words("not_multiple_of", f"must be a multiple of {_number(step)}", f"multiple of {_number(step)}")


def _too_long(limit: Any, node: Mapping[str, Any], value: Any) -> Words:
    expected = None if node.get("maxLength") == limit else f"string of at most {_counted(limit, 'character')}"
    return Words("too_big", f"exceeds maximum length of {_counted(limit, 'character')}", expected, shows=False)


def _too_short(limit: Any, node: Mapping[str, Any], value: Any) -> Words:
    if limit == 1:
        return Words("too_small", "must not be empty", shows=False)
    return Words("too_small", f"must have at least {_counted(limit, 'character')}")


def _pattern(pattern: Any, node: Mapping[str, Any], value: Any) -> Words:
    shown = cut(str(node.get("pattern", pattern)))
    if isinstance(pattern, str) and pattern != node.get("pattern"):  # what the engine says when it gives up
        return Words("invalid_string", f"cannot be matched against the pattern {shown}: it takes too long", shows=False)
    return Words("invalid_string", f"must match the pattern {shown}", f"string matching the pattern {shown}")


def _format(name: Any, node: Mapping[str, Any], value: Any) -> Words:
    expected, phrase = _FORMATS.get(name, (str(name), f"a valid {name}"))
    hint = f"; write it as {_EXAMPLES[name]}" if name in _EXAMPLES else ""
    return Words("invalid_string", f"must be {phrase}", expected, hint=hint)


def _count(code: str, word: str, noun: str) -> Callable[[Any, Mapping[str, Any], Any], Words]:
    def say(limit: Any, node: Mapping[str, Any], value: Any) -> Words:
        asked = f"{word} {_counted(limit, noun)}"
        kind = "array" if noun == "item" else "object"
        return Words(code, f"must have {asked}, but received {len(value)}", f"{kind} of {asked}", shows=False)

    return say


def _unique(_: Any, node: Mapping[str, Any], value: Any) -> Words:
    return Words("custom", "must not hold the same item twice", "array of different items", shows=False)


def _custom(limit: Any, node: Mapping[str, Any], value: Any) -> Words:
    return Words("custom", "does not fit its schema")


def _encoding(name: Any, node: Mapping[str, Any], value: Any) -> Words:
    return Words("invalid_string", f"must be text encoded as {name}", f"text encoded as {name}")


_WORDS: Mapping[str, Callable[[Any, Mapping[str, Any], Any], Words]] = {
    "type": _type, "enum": _enum, "const": _const, "multipleOf": _multiple,
    "minimum": _range("too_small"), "exclusiveMinimum": _range("too_small"),
    "maximum": _range("too_big"), "exclusiveMaximum": _range("too_big"),
    "maxLength": _too_long, "minLength": _too_short, "pattern": _pattern, "format": _format,
    "minItems": _count("too_small", "at least", "item"), "maxItems": _count("too_big", "at most", "item"),
    "minProperties": _count("too_small", "at least", "field"), "maxProperties": _count("too_big", "at most", "field"),
    "uniqueItems": _unique, "contentEncoding": _encoding, "contentMediaType": _encoding,
}  # fmt: skip


def _numeric(kind: str, node: Mapping[str, Any]) -> str:
    bounds = _bounds(node)
    return f"{kind} {'of ' if bounds.startswith('at ') else ''}{bounds}".rstrip()


def _string(kind: str, node: Mapping[str, Any]) -> str:
    if node.get("format") in _FORMATS:
        return _FORMATS[node["format"]][0]
    if isinstance(node.get("pattern"), str):
        return f"string matching the pattern {cut(node['pattern'])}"
    low, high = node.get("minLength") or 0, node.get("maxLength")
    if high is not None:
        return f"string of {f'{low} to' if low else 'at most'} {_counted(high, 'character')}"
    return f"string of at least {_counted(low, 'character')}" if low else "string"


def _named(kind: str, node: Mapping[str, Any]) -> str:
    return "true or false" if kind == "boolean" else kind


_EXPECTED: Mapping[str, Callable[[str, Mapping[str, Any]], str]] = {
    "integer": _numeric,
    "number": _numeric,
    "string": _string,
}


def _kinds(node: Mapping[str, Any]) -> list[str]:
    kinds = node.get("type")
    if isinstance(kinds, str):
        return [kinds]
    if isinstance(kinds, list):
        return [kind for kind in kinds if isinstance(kind, str)]
    for kind, words in _TELLING.items():
        if any(word in node for word in words):
            return [kind]
    return []


_TELLING = {
    "number": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
    "string": ("pattern", "format", "minLength", "maxLength"),
    "object": ("properties", "required", "additionalProperties", "minProperties", "maxProperties"),
    "array": ("items", "prefixItems", "minItems", "maxItems", "uniqueItems"),
}


def _bounds(node: Mapping[str, Any]) -> str:
    low, above = node.get("minimum"), node.get("exclusiveMinimum")
    high, below = node.get("maximum"), node.get("exclusiveMaximum")
    if low is not None and high is not None and above is None and below is None:
        return f"between {_number(low)} and {_number(high)}"
    limits = (("at least", low), ("greater than", above), ("at most", high), ("less than", below))
    return " and ".join(f"{word} {_number(limit)}" for word, limit in limits if limit is not None)


def _number(value: Any) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() and abs(value) < 1e15 else str(value)


def _counted(number: Any, noun: str) -> str:
    return f"{_number(number)} {noun}{'' if number == 1 else 's'}"
