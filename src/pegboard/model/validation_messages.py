"""Convert validation errors of pydantic into messages: what was expected, and the type that was received.

Values are not repeated, because they may be credentials, except numbers that are too small or too large.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from types import NoneType, UnionType
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError

from pegboard.model.api_errors import MAX_FAULTS, Fault, Invalid
from pegboard.model.secrets import is_secret_name

_OWN_ERROR_TYPES = frozenset({"value_error", "assertion_error"})
_MESSAGES = {
    "missing": "required",
    "extra_forbidden": "unknown key",
    "frozen_field": "cannot be changed",
    "frozen_instance": "cannot be changed",
    "recursion_loop": "refers to itself",
    "recursion_depth_exceeded": "is nested too deeply",
    "json_invalid": "must be valid JSON",
    "json_type": "must be JSON text",
    "invalid_key": "every key must be a string",
    "none_required": "must be null",
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "string_type": "must be a string",
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
    "fraction_type": "must be a fraction such as 1/3",
    "fraction_parsing": "must be a fraction such as 1/3",
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
    "frozen_dict_type": "must be an object",
    "ordered_dict_type": "must be an object",
    "counter_type": "must be an object",
    "list_type": "must be an array",
    "tuple_type": "must be an array",
    "set_type": "must be an array of different items",
    "frozen_set_type": "must be an array of different items",
    "iterable_type": "must be an array",
    "deque_type": "must be an array",
    "named_tuple_type": "must be an array",
    "set_item_not_hashable": "must hold no array and no object",
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
_RANGE_ERRORS = frozenset({"greater_than", "greater_than_equal", "less_than", "less_than_equal", "multiple_of"})
_NUMBER = re.compile(r"[+-]?[0-9.]{1,20}", re.ASCII)
# For errors that JSON or text cannot cause, and for those of later versions of pydantic.
_DEFAULT_MESSAGE = "is not valid"
_RECEIVED = ", but received "
_SINGULAR_UNIT = re.compile(r"\b1 (character|item|byte|digit|decimal place)s\b")
_TYPE_NAMES: tuple[tuple[type | tuple[type, ...], str], ...] = (
    (bool, "true or false"),
    (str, "a string"),
    ((int, float), "a number"),
    (Mapping, "an object"),
    ((list, tuple, set, frozenset), "an array"),
    (type(None), "null"),
)
# How many characters of a key a fault shows.
MAX_SHOWN_NAME_LENGTH = 100
# Names in OpenAI definitions.
_KEY_SYNONYMS = {"parameters": "input_schema"}


def format_model_error(item: Mapping[str, Any], received: str | None = None, *, shows_number: bool = False) -> str:
    """Return the message for one item of pydantic's errors; it ends with the input's type, or `received` if given.

    With `shows_number`, a number that is out of its range is repeated.
    """
    kind = str(item["type"])
    if kind in _OWN_ERROR_TYPES:
        return str(item["msg"]).removeprefix("Value error, ").removeprefix("Assertion failed, ")
    context = {name: _format_limit(limit) for name, limit in (item.get("ctx") or {}).items()}
    try:
        message = _MESSAGES.get(kind, _DEFAULT_MESSAGE).format_map(context)
    except (KeyError, IndexError):
        message = _DEFAULT_MESSAGE
    message = _SINGULAR_UNIT.sub(r"1 \1", message)
    if kind in ("string_too_short", "string_too_long") and isinstance(item.get("input"), str):
        return f"{message}, but received {len(item['input'])}"
    if "input" not in item or not message.startswith("must be ") or kind == "json_invalid":
        return message
    if shows_number and kind in _RANGE_ERRORS and not received and _NUMBER.fullmatch(number := str(item["input"])):
        return f"{message}{_RECEIVED}{number}"
    return f"{message}{_RECEIVED}{received or _describe_type(item['input'])}"


def list_model_faults(
    error: ValidationError, model: type[BaseModel], under: str = "", *, shows_numbers: bool = True
) -> list[Fault]:
    """Return each fault that pydantic found, with the most similar key for an unknown one."""
    return list_item_faults(error.errors(include_url=False), model, under, shows_numbers=shows_numbers)


def list_item_faults(
    items: Iterable[Mapping[str, Any]], model: Any, under: str = "", *, shows_numbers: bool = True
) -> list[Fault]:
    """Return the faults for pydantic's error items, at most MAX_FAULTS + 1, so that a refusal can report more.

    A number that is out of its range is repeated, unless a name in its path looks secret or `shows_numbers` is False.
    """
    faults: list[Fault] = []
    for item in islice(items, MAX_FAULTS + 1):
        steps, owner = _find_model_at(item["loc"], model)
        path = ".".join([under, *steps] if under else steps)
        is_shown = shows_numbers and not any(is_secret_name(str(step)) for step in item["loc"])
        message = format_model_error(item, shows_number=is_shown)
        if item["type"] == "extra_forbidden":
            message = _explain_unknown_key(
                steps[-1], [field.alias or name for name, field in owner.model_fields.items()]
            )
        elif item["loc"][-1:] == ("[key]",):
            message = f"the key {message}"
        if faults and faults[-1].field == path and (either := _join_alternatives(faults[-1].message, message)):
            faults[-1] = Fault(path, either)
        else:
            faults.append(Fault(path, message))
    return [fault for fault in faults if not _is_of_other_type(fault, faults)]


def _is_of_other_type(fault: Fault, faults: list[Fault]) -> bool:
    """Return True if the value has another of the allowed types, whose faults are listed as well."""
    return _is_mismatch(fault.message) and any(
        other.field.startswith(f"{fault.field}.") or (other.field == fault.field and not _is_mismatch(other.message))
        for other in faults
    )


def _is_mismatch(message: str) -> bool:
    return message.startswith("must be ") and _RECEIVED in message


def _explain_unknown_key(key: str, known: list[str]) -> str:
    if _KEY_SYNONYMS.get(key) in known:
        return f"unknown key; '{key}' is OpenAI's name for {_KEY_SYNONYMS[key]}"
    near = difflib.get_close_matches(key, known, 1)
    return f"unknown key; did you mean '{near[0]}'?" if near else f"unknown key; known: {', '.join(known)}"


def _join_alternatives(first: str, second: str) -> str | None:
    """Return one message for a value that has neither of two types, or None if the messages are not about its type."""
    (one, _, received), (other, _, same) = first.partition(_RECEIVED), second.partition(_RECEIVED)
    if received != same or not (_is_mismatch(first) and _is_mismatch(second)):
        return None
    return f"{one} or {other.removeprefix('must be ')}{_RECEIVED}{received}"


def _find_model_at(loc: Iterable[str | int], annotation: Any) -> tuple[list[str], type[BaseModel]]:
    """Return the path in the data, without the type names that pydantic adds, and the last model on it."""
    steps: list[str] = []
    owner: type[BaseModel] = BaseModel
    for step in loc:
        choices = list(_iterate_choices(annotation))
        if len(choices) > 1:  # the step is the name of one of the types
            annotation = next((each for each in choices if getattr(each, "__name__", "") in str(step)), Any)
            continue
        annotation = choices[0]
        if isinstance(annotation, type) and issubclass(annotation, BaseModel):
            owner = annotation
            fields = {field.alias or name: field.annotation for name, field in owner.model_fields.items()}
            annotation = fields.get(str(step), Any)
        else:
            annotation = next(reversed([part for part in get_args(annotation) if part is not ...]), Any)
        if step != "[key]":
            steps.append(str(step)[:MAX_SHOWN_NAME_LENGTH])
    return steps, owner


def _iterate_choices(annotation: Any) -> Iterator[Any]:
    """Yield the types that a value may have, except null."""
    if get_origin(annotation) is Annotated:
        yield from _iterate_choices(get_args(annotation)[0])
    elif get_origin(annotation) in (Union, UnionType):
        for part in get_args(annotation):
            if part is not NoneType:
                yield from _iterate_choices(part)
    else:
        yield annotation


def _format_limit(limit: Any) -> Any:
    return int(limit) if isinstance(limit, float) and limit.is_integer() else limit


def _describe_type(value: Any) -> str:
    return next((name for kinds, name in _TYPE_NAMES if isinstance(value, kinds)), "something else")


M = TypeVar("M", bound=BaseModel)


def validate_model(model: type[M], data: Any, under: str) -> M:
    """Return the data as an object of this model; raise Invalid with every fault, prefixed by `under`."""
    try:
        return model.model_validate(data)
    except ValidationError as error:
        raise Invalid.of("The request is not valid", list_model_faults(error, model, under)) from None
