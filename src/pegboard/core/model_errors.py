"""Errors of pydantic in our own words: what was expected, and of which kind the value was that was received.

No value is repeated: it may be a credential.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_OWN = frozenset({"value_error", "assertion_error"})
_EXPECTED = {
    "missing": "required",
    "extra_forbidden": "unknown key",
    "frozen_field": "cannot be changed",
    "frozen_instance": "cannot be changed",
    "recursion_loop": "refers to itself",
    "json_invalid": "must be valid JSON",
    "json_type": "must be JSON text",
    "invalid_key": "every key must be a string",
    "none_required": "must be null",
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "string_type": "must be a string",
    "string_sub_type": "must be a string",
    "string_unicode": "must be valid Unicode",
    "string_not_ascii": "must hold only ASCII characters",
    "string_too_short": "must have at least {min_length} characters",
    "string_too_long": "must have at most {max_length} characters",
    "string_pattern_mismatch": "must match the pattern {pattern}",
    "int_type": "must be an integer",
    "int_parsing": "must be an integer",
    "int_parsing_size": "must be an integer of fewer digits",
    "int_from_float": "must be an integer without a fractional part",
    "float_type": "must be a number",
    "float_parsing": "must be a number",
    "decimal_type": "must be a decimal number",
    "decimal_parsing": "must be a decimal number",
    "decimal_max_digits": "must have at most {max_digits} digits",
    "decimal_max_places": "must have at most {decimal_places} decimal places",
    "decimal_whole_digits": "must have at most {whole_digits} digits before the decimal point",
    "complex_type": "must be a complex number",
    "complex_str_parsing": "must be a complex number",
    "finite_number": "must be a finite number",
    "greater_than": "must be greater than {gt}",
    "greater_than_equal": "must be at least {ge}",
    "less_than": "must be less than {lt}",
    "less_than_equal": "must be at most {le}",
    "multiple_of": "must be a multiple of {multiple_of}",
    "enum": "must be one of: {expected}",
    "literal_error": "must be one of: {expected}",
    "dict_type": "must be an object",
    "mapping_type": "must be an object",
    "model_type": "must be an object",
    "model_attributes_type": "must be an object",
    "dataclass_type": "must be an object",
    "arguments_type": "must be an object",
    "typed_dict_type": "must be an object",
    "list_type": "must be an array",
    "tuple_type": "must be an array",
    "set_type": "must be an array of different items",
    "frozen_set_type": "must be an array of different items",
    "iterable_type": "must be an array",
    "too_short": "must have at least {min_length} items, but received {actual_length}",
    "too_long": "must have at most {max_length} items, but received {actual_length}",
    "bytes_type": "must be bytes",
    "bytes_too_short": "must have at least {min_length} bytes",
    "bytes_too_long": "must have at most {max_length} bytes",
    "bytes_invalid_encoding": "must be bytes encoded as {encoding}",
    "date_type": "must be an ISO 8601 date such as 2025-10-05",
    "date_parsing": "must be an ISO 8601 date such as 2025-10-05",
    "date_from_datetime_parsing": "must be an ISO 8601 date such as 2025-10-05",
    "date_from_datetime_inexact": "must be a date without a time",
    "date_past": "must be in the past",
    "date_future": "must be in the future",
    "time_type": "must be an ISO 8601 time such as 14:30:00Z",
    "time_parsing": "must be an ISO 8601 time such as 14:30:00Z",
    "datetime_type": "must be an ISO 8601 date and time such as 2025-10-05T14:30:00Z",
    "datetime_parsing": "must be an ISO 8601 date and time such as 2025-10-05T14:30:00Z",
    "datetime_from_date_parsing": "must be an ISO 8601 date and time such as 2025-10-05T14:30:00Z",
    "datetime_object_invalid": "must be an ISO 8601 date and time such as 2025-10-05T14:30:00Z",
    "datetime_past": "must be in the past",
    "datetime_future": "must be in the future",
    "timezone_naive": "must be without a time zone",
    "timezone_aware": "must have a time zone",
    "timezone_offset": "must have the time zone offset {tz_expected}",
    "time_delta_type": "must be an ISO 8601 duration such as PT1H30M",
    "time_delta_parsing": "must be an ISO 8601 duration such as PT1H30M",
    "url_type": "must be a URL",
    "url_parsing": "must be a URL such as https://example.com",
    "url_syntax_violation": "must be a URL such as https://example.com",
    "url_too_long": "must be a URL of at most {max_length} characters",
    "url_scheme": "must be a URL that begins with one of: {expected_schemes}",
    "uuid_type": "must be a UUID",
    "uuid_parsing": "must be a UUID",
    "uuid_version": "must be a UUID of version {expected_version}",
    "union_tag_invalid": "'{discriminator}' must be one of: {expected_tags}",
    "union_tag_not_found": "must have the field {discriminator}",
}
# The others, which no JSON or text can lead to, and those of later versions.
_OTHER = "is not valid"
_ONE = re.compile(r"\b1 (character|item|byte|digit|decimal place)s\b")
_KINDS: tuple[tuple[type | tuple[type, ...], str], ...] = (
    (bool, "true or false"),
    (str, "a string"),
    ((int, float), "a number"),
    (Mapping, "an object"),
    ((list, tuple, set, frozenset), "an array"),
    (type(None), "null"),
)


def message_of(item: Mapping[str, Any]) -> str:
    """The message for one of the errors that pydantic lists; the kind of what was received where `input` is there."""
    kind = str(item["type"])
    if kind in _OWN:
        return str(item["msg"]).removeprefix("Value error, ").removeprefix("Assertion failed, ")
    context = item.get("ctx") or {}
    try:
        message = _EXPECTED.get(kind, _OTHER).format_map(context)
    except (KeyError, IndexError):
        message = _OTHER
    message = _ONE.sub(r"1 \1", message)
    if "input" not in item or not message.startswith("must be ") or kind == "json_invalid":
        return message
    return f"{message}, but received {_kind_of(item['input'])}"


def _kind_of(value: Any) -> str:
    return next((name for kinds, name in _KINDS if isinstance(value, kinds)), "something else")
