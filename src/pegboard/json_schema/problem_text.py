"""Word a fault of a value: which field, what was expected, what was received."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from typing import Any, NamedTuple

from pegboard.json_schema.schema_document import Path
from pegboard.json_schema.value_text import (
    format_field_path,
    format_options,
    format_value,
    shorten,
)
from pegboard.model.call_errors import FieldProblem
from pegboard.model.secrets import HIDDEN, is_secret_name

_ARTICLES = {"integer": "an ", "number": "a ", "string": "a ", "array": "an ", "text": "a "}

# The name of a format in `expected`, and its phrase in a sentence.
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


class ProblemWording(NamedTuple):
    """The parts of a message about a value that violates a keyword."""

    code: str
    text: str
    expected: str | None = None
    shows: bool = True
    hint: str = ""


def build_problem(
    words: ProblemWording, path: Path, value: Any, node: Any = None, *, subject: str = "Arguments"
) -> FieldProblem:
    """Return the problem with its message; the value is hidden if the path contains a name that looks secret."""
    hidden = any(isinstance(step, str) and is_secret_name(step) for step in path)
    field = format_field_path(path)
    message = f"{format_subject(field, subject)} {words.text}"
    received = HIDDEN if hidden else shorten(value) if isinstance(value, str) else format_value(value)
    if words.shows:
        quoted = f"'{received}'" if isinstance(value, str) and not hidden else received
        message += f", but received {quoted}"
    expected = words.expected or (describe_expected(node) if node is not None else None)
    return FieldProblem(words.code, message + words.hint, field, expected, received)


def format_subject(field: str | None, whole: str = "Arguments") -> str:
    """Return the subject of a sentence about the field."""
    return whole if field is None else f"Field '{field}'"


def build_missing_problem(path: Path, node: Any = None) -> FieldProblem:
    """Return the problem of a required field that is missing."""
    field = format_field_path(path)
    return FieldProblem("missing", f"Field '{field}' is required", field, describe_expected(node), "nothing")


def build_unrecognized_problems(keys: Iterable[str], known: Iterable[str], path: Path = ()) -> list[FieldProblem]:
    """Return a problem for each unknown key, with the most similar known key as a suggestion."""
    names = sorted(known)
    listed = format_options(names) or "none"
    hint = f"; known fields: {listed}"
    problems = []
    for index, key in enumerate(keys):
        field = format_field_path((*path, key))
        near = get_close_matches(key[:64], names[:200], 1) if index < 5 else []
        message = f"Field '{field}' is not known" + (f"; did you mean '{near[0]}'?" if near else hint)
        problems.append(FieldProblem("unrecognized_keys", message, field, f"one of: {listed}", shorten(key)))
        hint = hint if near else ""
    return problems


def describe_expected(node: Any) -> str:
    """Return a short description of what a schema accepts, such as `integer between 1 and 10`."""
    if not isinstance(node, Mapping):
        return "nothing" if node is False else "any value"
    if "const" in node:
        return format_value(node["const"])
    if "enum" in node:
        return f"one of: {format_options(node['enum'])}"
    return " or ".join(_describe_type(kind, node) for kind in _list_types(node)) or "any value"


def get_wording(keyword: str, limit: Any, node: Mapping[str, Any], value: Any) -> ProblemWording:
    """Return the wording for a value that violates this keyword of the schema."""
    explain = _EXPLAINERS.get(keyword)
    return ProblemWording("custom", "does not fit its schema") if explain is None else explain(limit, node, value)


def _explain_type(_: Any, node: Mapping[str, Any], value: Any) -> ProblemWording:
    phrases = []
    for kind in _list_types(node):
        if kind == "object":
            phrases.append("a valid JSON object")
        elif kind == "string" and node.get("format") in _FORMATS:
            phrases.append(_FORMATS[node["format"]][1])
        else:
            phrases.append(_ARTICLES.get(kind, "") + _describe_type(kind, node))
    return ProblemWording("invalid_type", f"must be {' or '.join(phrases) or 'of another type'}")


def _explain_enum(options: Any, node: Mapping[str, Any], value: Any) -> ProblemWording:
    listed = format_options(options)
    hint = ""
    if isinstance(value, str) and listed.endswith(" more)"):
        near = get_close_matches(value[:64], [text for text in options[:1000] if isinstance(text, str)], 1)
        hint = f"; did you mean '{near[0]}'?" if near else ""
    return ProblemWording("invalid_enum_value", f"must be one of: {listed}", hint=hint)


def _explain_const(expected: Any, node: Mapping[str, Any], value: Any) -> ProblemWording:
    text = f"'{shorten(expected)}'" if isinstance(expected, str) else format_value(expected)
    return ProblemWording("invalid_literal", f"must be {text}", expected if isinstance(expected, str) else text)


def _make_range_explainer(code: str) -> Callable[[Any, Mapping[str, Any], Any], ProblemWording]:
    return lambda _, node, value: ProblemWording(code, f"must be {_format_bounds(node)}")


def _explain_multiple(step: Any, node: Mapping[str, Any], value: Any) -> ProblemWording:
    places = -math.log10(step) if step > 0 else 0.0
    if 0 < places == round(places):
        count = _format_count(round(places), "decimal place")
        return ProblemWording("not_multiple_of", f"must be a number with max {count}", f"number with at most {count}")
    expected = f"multiple of {_format_number(step)}"
    return ProblemWording("not_multiple_of", f"must be a {expected}", expected)


def _explain_too_long(limit: Any, node: Mapping[str, Any], value: Any) -> ProblemWording:
    expected = None if node.get("maxLength") == limit else f"string of at most {_format_count(limit, 'character')}"
    return ProblemWording(
        "too_big", f"exceeds maximum length of {_format_count(limit, 'character')}", expected, shows=False
    )


def _explain_too_short(limit: Any, node: Mapping[str, Any], value: Any) -> ProblemWording:
    if limit == 1:
        return ProblemWording("too_small", "must not be empty", shows=False)
    return ProblemWording("too_small", f"must have at least {_format_count(limit, 'character')}")


def _explain_pattern(pattern: Any, node: Mapping[str, Any], value: Any) -> ProblemWording:
    shown = shorten(str(node.get("pattern", pattern)))
    if isinstance(pattern, str) and pattern != node.get("pattern"):  # the engine reached its backtracking limit
        return ProblemWording(
            "invalid_string", f"cannot be matched against the pattern {shown}: it takes too long", shows=False
        )
    return ProblemWording("invalid_string", f"must match the pattern {shown}", f"string matching the pattern {shown}")


def _explain_format(name: Any, node: Mapping[str, Any], value: Any) -> ProblemWording:
    expected, phrase = _FORMATS.get(name, (str(name), f"a valid {name}"))
    hint = f"; write it as {_EXAMPLES[name]}" if name in _EXAMPLES else ""
    return ProblemWording("invalid_string", f"must be {phrase}", expected, hint=hint)


def _make_count_explainer(code: str, word: str, noun: str) -> Callable[[Any, Mapping[str, Any], Any], ProblemWording]:
    def explain(limit: Any, node: Mapping[str, Any], value: Any) -> ProblemWording:
        asked = f"{word} {_format_count(limit, noun)}"
        kind = "array" if noun == "item" else "object"
        return ProblemWording(code, f"must have {asked}, but received {len(value)}", f"{kind} of {asked}", shows=False)

    return explain


def _explain_unique(_: Any, node: Mapping[str, Any], value: Any) -> ProblemWording:
    return ProblemWording("custom", "must not hold the same item twice", "array of different items", shows=False)


def _explain_encoding(name: Any, node: Mapping[str, Any], value: Any) -> ProblemWording:
    return ProblemWording("invalid_string", f"must be text encoded as {name}", f"text encoded as {name}")


_EXPLAINERS: Mapping[str, Callable[[Any, Mapping[str, Any], Any], ProblemWording]] = {
    "type": _explain_type,
    "enum": _explain_enum,
    "const": _explain_const,
    "multipleOf": _explain_multiple,
    "minimum": _make_range_explainer("too_small"),
    "exclusiveMinimum": _make_range_explainer("too_small"),
    "maximum": _make_range_explainer("too_big"),
    "exclusiveMaximum": _make_range_explainer("too_big"),
    "maxLength": _explain_too_long,
    "minLength": _explain_too_short,
    "pattern": _explain_pattern,
    "format": _explain_format,
    "minItems": _make_count_explainer("too_small", "at least", "item"),
    "maxItems": _make_count_explainer("too_big", "at most", "item"),
    "minProperties": _make_count_explainer("too_small", "at least", "field"),
    "maxProperties": _make_count_explainer("too_big", "at most", "field"),
    "uniqueItems": _explain_unique,
    "contentEncoding": _explain_encoding,
    "contentMediaType": _explain_encoding,
}


def _describe_type(kind: str, node: Mapping[str, Any]) -> str:
    if kind == "string":
        return _describe_string(node)
    if kind in ("integer", "number"):
        bounds = _format_bounds(node)
        return f"{kind} {'of ' if bounds.startswith('at ') else ''}{bounds}".rstrip()
    return "true or false" if kind == "boolean" else kind


def _describe_string(node: Mapping[str, Any]) -> str:
    if node.get("format") in _FORMATS:
        return _FORMATS[node["format"]][0]
    if isinstance(node.get("pattern"), str):
        return f"string matching the pattern {shorten(node['pattern'])}"
    low, high = node.get("minLength") or 0, node.get("maxLength")
    if high is not None:
        return f"string of {f'{low} to' if low else 'at most'} {_format_count(high, 'character')}"
    return f"string of at least {_format_count(low, 'character')}" if low else "string"


def _list_types(node: Mapping[str, Any]) -> list[str]:
    kinds = node.get("type")
    if isinstance(kinds, str):
        return [kinds]
    if isinstance(kinds, list):
        return [kind for kind in kinds if isinstance(kind, str)]
    for kind, words in _TYPE_KEYWORDS.items():
        if any(word in node for word in words):
            return [kind]
    return []


_TYPE_KEYWORDS = {
    "number": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
    "string": ("pattern", "format", "minLength", "maxLength"),
    "object": ("properties", "required", "additionalProperties", "minProperties", "maxProperties"),
    "array": ("items", "prefixItems", "minItems", "maxItems", "uniqueItems"),
}


def _format_bounds(node: Mapping[str, Any]) -> str:
    low, above = node.get("minimum"), node.get("exclusiveMinimum")
    high, below = node.get("maximum"), node.get("exclusiveMaximum")
    if low is not None and high is not None and above is None and below is None:
        return f"between {_format_number(low)} and {_format_number(high)}"
    limits = (("at least", low), ("greater than", above), ("at most", high), ("less than", below))
    return " and ".join(f"{word} {_format_number(limit)}" for word, limit in limits if limit is not None)


def _format_number(value: Any) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() and abs(value) < 1e15 else str(value)


def _format_count(number: Any, noun: str) -> str:
    return f"{_format_number(number)} {noun}{'' if number == 1 else 's'}"
