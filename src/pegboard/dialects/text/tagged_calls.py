"""Calls with one tag per parameter, and the types of their values."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from decimal import Decimal
from typing import Any, ClassVar, NamedTuple

from pegboard.dialects.call_assembler import Assembly
from pegboard.dialects.parsed_calls import AskedCall
from pegboard.dialects.text.base_text import TurnDialect, to_template_json
from pegboard.dialects.text.scanner import Scan, Text
from pegboard.json_schema.arguments_text import parse_json_text
from pegboard.json_schema.schema_document import SchemaDocument
from pegboard.model.call import Malformed
from pegboard.model.call_errors import MalformedArguments

# The types a value may have; None if the schema does not restrict them.
_JsonTypes = frozenset[str] | None

_ONLY_STRING: _JsonTypes = frozenset({"string"})
_TYPES_BY_NAME: dict[str, frozenset[str]] = {
    "number": frozenset({"number", "integer"}),
    **{kind: frozenset({kind}) for kind in ("string", "integer", "boolean", "object", "array", "null")},
}
_JSON_TYPE_BY_PYTHON_TYPE: dict[type, str] = {
    str: "string", bool: "boolean", int: "integer", float: "number", Decimal: "number", dict: "object", list: "array",
    type(None): "null",
}  # fmt: skip
# How Python templates write values that are not strings.
_PYTHON_WORDS = {"True": True, "False": False, "None": None}


def get_property_schema(schema: Mapping[str, Any] | None, name: str) -> Any:
    """Return the schema of this parameter in a tool's input schema; True if there is none."""
    if schema is None:
        return True
    for part in _iter_schema_parts(schema, SchemaDocument(schema)):
        properties = part.get("properties")
        if isinstance(properties, Mapping) and name in properties:
            return properties[name]
    return schema.get("additionalProperties", True)


def parse_typed_value(text: str, schema: Any, root: Mapping[str, Any] | None = None) -> Any:
    """Return the value of a text under this schema, whose references are resolved in `root`.

    A string is the unchanged text. Other types are parsed as JSON; text that cannot be parsed stays text, and
    validation rejects it. If both are allowed, or the schema has no type, the value is JSON if that gives one of the
    other types.
    """
    document = SchemaDocument({} if root is None else root)
    kinds = _get_json_types(schema, document, {})
    if kinds == _ONLY_STRING or any(text in _get_enum_values(part) for part in _iter_schema_parts(schema, document)):
        return text
    try:
        value = parse_json_text(text)
    except MalformedArguments:
        value = _PYTHON_WORDS.get(text.strip(), text)
        return value if kinds and "string" not in kinds and _get_json_type(value) in kinds else text
    if isinstance(value, str):
        return text
    return value if kinds is None or "string" not in kinds or _get_json_type(value) in kinds else text


def _get_json_types(schema: Any, document: SchemaDocument, known: dict[str, _JsonTypes]) -> _JsonTypes:
    if not isinstance(schema, Mapping):
        return None
    given = schema.get("type")
    found = _unite_types(_TYPES_BY_NAME.get(str(name)) for name in (given if isinstance(given, list) else [given]))
    if "enum" in schema or "const" in schema:
        found = _intersect_types(found, frozenset(_get_json_type(value) for value in _get_enum_values(schema)))
    reference = schema.get("$ref")
    if isinstance(reference, str):
        if reference not in known:
            known[reference] = frozenset()
            known[reference] = _get_json_types(document.resolve(reference), document, known)
        found = _intersect_types(found, known[reference])
    for word in ("anyOf", "oneOf"):
        found = _intersect_types(
            found, _unite_types(_get_json_types(option, document, known) for option in _get_list(schema, word))
        )
    for part in _get_list(schema, "allOf"):
        found = _intersect_types(found, _get_json_types(part, document, known))
    return found | {"null"} if found is not None and schema.get("nullable") is True else found


def _unite_types(options: Iterable[_JsonTypes]) -> _JsonTypes:
    found: frozenset[str] = frozenset()
    for option in options:
        if option is None:
            return None
        found |= option
    return found or None


def _intersect_types(one: _JsonTypes, other: _JsonTypes) -> _JsonTypes:
    if one is None or other is None:
        return other if one is None else one
    return one & other


def _get_json_type(value: Any) -> str:
    if isinstance(value, float) and value.is_integer():
        return "integer"
    return _JSON_TYPE_BY_PYTHON_TYPE.get(type(value), "")


def _get_enum_values(schema: Mapping[str, Any]) -> list[Any]:
    return [*_get_list(schema, "enum"), schema["const"]] if "const" in schema else _get_list(schema, "enum")


def _get_list(schema: Mapping[str, Any], word: str) -> list[Any]:
    held = schema.get(word)
    return held if isinstance(held, list) else []


def _iter_schema_parts(schema: Any, document: SchemaDocument) -> Iterator[Mapping[str, Any]]:
    """Yield the schema, the targets of its references, and its alternatives."""
    seen: set[int] = set()
    todo = [schema]
    while todo:
        part = todo.pop()
        if not isinstance(part, Mapping) or id(part) in seen:
            continue
        seen.add(id(part))
        yield part
        if isinstance(part.get("$ref"), str):
            todo.append(document.resolve(part["$ref"]))
        for word in ("allOf", "anyOf", "oneOf"):
            todo += _get_list(part, word)


_TAG_REST = re.compile(r"[^<>\n]*")


class TagHead(NamedTuple):
    """The content of an opening tag: a name, and whether the value is a string or JSON, if the tag declares it."""

    name: str
    is_string: bool | None = None


class TagValue(NamedTuple):
    """A value's text, and the whitespace and the mark after its closing tag; no mark if it is cut off."""

    text: str
    space: str
    mark: str


def read_tag_value(text: Text, opening: str, closing: str, *after: str) -> Generator[None, None, TagValue]:
    """Return the value up to the closing tag that a mark of `after` follows and that closes no tag inside.

    So a value may contain a whole call as an example, or a stray closing tag. A stray opening tag makes the call
    malformed, and a closing tag at a possible end of the value ends it: the format is ambiguous.
    """
    parts: list[str] = []
    depth = 0
    while True:
        before, mark = yield from text.until(opening, closing)
        parts += before, mark
        if not mark:
            return TagValue("".join(parts), "", "")
        if mark == opening:
            depth += 1
        elif depth:
            depth -= 1
        else:
            space, follows = yield from text.then(*after)
            if follows:
                parts.pop()
                return TagValue("".join(parts), space, follows)
            parts.append(space)


class TaggedCallDraft:
    """A call whose arguments are still being read."""

    def __init__(self, name: str, into: Assembly) -> None:
        self._name = name
        self._assembly = into
        self._schema = into.schema_of(name)
        self._values: dict[str, Any] = {}
        self._raw_pieces: list[str] = []
        self._why = ""

    def record_raw(self, *raw: str) -> None:
        """Record the original text, which is reported if the call cannot be parsed."""
        self._raw_pieces += raw

    def set(self, key: str, value: str, is_string: bool | None = None) -> None:
        """Set one argument: a string or JSON if the text declares it, else by the tool's schema."""
        if key in self._values or not key:
            self._why = (
                f"the parameter '{key[:100]}' is given twice; send it once" if key else "a parameter has no name"
            )
        elif is_string is None:
            self._values[key] = parse_typed_value(value, get_property_schema(self._schema, key), self._schema)
        elif is_string:
            self._values[key] = value
        else:
            try:
                self._values[key] = parse_json_text(value)
            except MalformedArguments as error:
                self._why = f"the parameter '{key[:100]}' is not valid JSON: {error.message}"

    def over(self, missing: str = "") -> None:
        """Add the call to the assembly; if a mark is missing, it is malformed."""
        why = f"the call is incomplete: {missing} is missing" if missing else self._why
        if why:
            self._assembly.add_malformed(self._name, "".join(self._raw_pieces), why)
        else:
            self._assembly.call(self._name, self._values)


class TaggedDialect(TurnDialect):
    """Calls as a tag with one tag per parameter, in a block or bare."""

    # The marks that open a block; `openers` has these, the closing marks, and `call`.
    block: ClassVar[tuple[str, ...]]
    call: ClassVar[str]
    end_call: ClassVar[str]
    parameter: ClassVar[str]
    end_parameter: ClassVar[str]
    # Whether a call may be outside of a block, and the marks of which one must follow a call in a block.
    can_be_bare: ClassVar[bool] = False
    required_after_call: ClassVar[tuple[str, ...]] = ()

    def scan(self, text: Text, into: Assembly) -> Scan:
        """Read each call; calls outside of a block only if `can_be_bare` is True."""
        mark, in_block = "", False
        while mark := mark or (yield from self.find_next_opener(text, into)):
            if mark != self.call:
                in_block = mark in self.block
                mark = ""
            elif in_block or self.can_be_bare:
                mark = yield from self._call(text, into, in_block)
            else:
                mark = ""

    def head(self, written: str) -> TagHead:
        """Parse the rest of an opening tag."""
        return TagHead(written.strip())

    def value(self, written: str) -> str:
        """Return the value from its text in the tag."""
        return written

    def _call(self, text: Text, into: Assembly, in_block: bool) -> Generator[None, None, str]:
        """Read one call, and return the opener that was read after it, or ""."""
        written, is_head = yield from self._tag(text)
        name = self.head(written).name
        if not is_head or not name:
            return ""
        draft = TaggedCallDraft(name, into)
        space, mark = yield from text.then(self.parameter, self.end_call)
        draft.record_raw(space, mark)
        if not mark and not text.is_cut(self.parameter, self.end_call):
            if in_block:
                draft.record_raw(*(yield from text.until(self.end_call)))
                draft.over(missing=self.parameter)
            return ""
        while mark == self.parameter:
            written, is_head = yield from self._tag(text)
            draft.record_raw(written)
            if not is_head:
                mark = ""
                break
            value = yield from read_tag_value(text, self.parameter, self.end_parameter, self.parameter, self.end_call)
            mark = value.mark
            draft.record_raw(">", value.text, self.end_parameter if mark else "", value.space, mark)
            if mark:
                key, is_string = self.head(written)
                draft.set(key, self.value(value.text), is_string)
        if not mark:
            draft.over(missing=self.end_call)
            return ""
        if not in_block or not self.required_after_call:
            draft.over()
            return ""
        _, mark = yield from text.then(*self.required_after_call)
        draft.over(missing="" if mark else self.required_after_call[0])
        return mark

    def _tag(self, text: Text) -> Generator[None, None, tuple[str, bool]]:
        """Return the rest of an opening tag, and whether the tag is complete."""
        written = yield from text.run(_TAG_REST)
        _, mark = yield from text.then(">")
        return written, bool(mark)


def write_tag_value(value: Any) -> str:
    """Return the text of a value in a tag."""
    return value if isinstance(value, str) else to_template_json(value)


def compose_call_body(call: AskedCall, parameter: Callable[[str, Any], str], end: str) -> str:
    """Return the text after the opening tag of a call; malformed arguments keep their original text."""
    if isinstance(call.arguments, Malformed):
        return call.arguments.text
    return "\n" + "".join(parameter(key, value) for key, value in (call.arguments or {}).items()) + end
