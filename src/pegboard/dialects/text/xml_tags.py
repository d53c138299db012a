"""Text formats with one tag per parameter: Qwen3-Coder, MiniMax-M2, DeepSeek-V3.2 and GLM-4.6.

Values are unescaped text, whose type follows from the tool's schema or, for DeepSeek, from the tag: "3" is a string
only if that is declared. A value cannot contain an opening parameter tag without its closing one, nor a closing one
followed by what follows a parameter; names contain no quotes, angle brackets or line breaks.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any, ClassVar, NamedTuple

from pegboard.dialects.call_assembler import Assembly
from pegboard.dialects.message_rules import TextMarks
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
                f"the parameter '{key[:100]}' is there twice; send it once" if key else "a parameter has no name"
            )
        elif is_string is None:
            self._values[key] = parse_typed_value(value, get_property_schema(self._schema, key), self._schema)
        elif is_string:
            self._values[key] = value
        else:
            try:
                self._values[key] = parse_json_text(value)
            except MalformedArguments as error:
                self._why = f"the parameter '{key[:100]}' is no JSON: {error.message}"

    def over(self, missing: str = "") -> None:
        """Add the call to the assembly; if a mark is missing, it is malformed."""
        why = f"the call is not whole: there is no {missing} where it should be" if missing else self._why
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


_TAG_ATTRIBUTES = re.compile(r"""\s*(["'])([^"']+)\1(?:\s+string\s*=\s*(["'])(true|false)\3)?\s*""")
_SPACE = re.compile(r"\s*")
_GLM_NAME = re.compile(r"[^\s<>{}\[\]\"]*")
_GLM_KEY = re.compile(r"[^<>]*")


class Qwen3Coder(TaggedDialect):
    """`<tool_call><function=NAME><parameter=KEY>…</parameter></function></tool_call>`, with one line per tag.

    One line break on each side of a value belongs to the tags. Calls without an enclosing <tool_call> are accepted,
    since the models sometimes omit it.
    """

    name = "text_qwen3_coder_xml"
    text_marks = TextMarks(calls="<function=")
    marks = ("<tool_call>", "<function=")
    openers = ("<tool_call>", "</tool_call>", "<function=")
    shape = re.compile(r"<tool_call>\s*<function=(?![^<>\n]*>\s*\{)|<function=[^<>\n]+>\s*(?:<parameter=|</function>)")
    block = ("<tool_call>",)
    call, end_call = "<function=", "</function>"
    parameter, end_parameter = "<parameter=", "</parameter>"
    can_be_bare = True
    required_after_call = ("</tool_call>", "<tool_call>", "<function=")
    turn = ("<|im_start|>user", "\n<|im_end|>\n")

    def value(self, written: str) -> str:
        """Return a value without the line breaks that belong to its tags."""
        return written.removeprefix("\n").removesuffix("\n")

    def compose(self, calls: Sequence[AskedCall]) -> str:
        """Return the text with which the model makes these calls."""
        return "\n".join(map(_compose_coder_call, calls)) + "<|im_end|>\n"


class MiniMaxM2(TaggedDialect):
    """`<invoke name="…"><parameter name="…">…</parameter></invoke>` in a <minimax:tool_call>."""

    name = "text_minimax_m2"
    text_marks = TextMarks(calls="<minimax:tool_call>", tokens=r"\]~b\]\w*")
    marks = ("<minimax:tool_call>",)
    openers = ("<minimax:tool_call>", "</minimax:tool_call>", "<invoke name=")
    shape = re.compile("<minimax:tool_call>")
    block = ("<minimax:tool_call>",)
    call, end_call = "<invoke name=", "</invoke>"
    parameter, end_parameter = "<parameter name=", "</parameter>"
    turn = ("]~b]tool", "[e~[\n")
    answer_wrapper = ("\n<response>", "</response>")

    def head(self, written: str) -> TagHead:
        """Return the quoted name."""
        return TagHead(_parse_tag_attributes(written).name)

    def compose(self, calls: Sequence[AskedCall]) -> str:
        """Return the text with which the model makes these calls."""
        return f"<minimax:tool_call>\n{''.join(map(_compose_minimax_call, calls))}</minimax:tool_call>[e~[\n"


class DeepSeekV32(TaggedDialect):
    """MiniMax's tags with a prefix, and parameters that declare whether they are strings or JSON."""

    name = "text_deepseek_v32_dsml"
    text_marks = TextMarks(calls="<｜DSML｜|<function_calls>")
    marks = ("<｜DSML｜",)
    openers = (
        "<｜DSML｜function_calls>", "</｜DSML｜function_calls>", "<｜DSML｜tool_calls>", "</｜DSML｜tool_calls>",
        "<｜DSML｜invoke name=",
    )  # fmt: skip
    shape = re.compile("<｜DSML｜(?:function|tool)_calls>")
    block = ("<｜DSML｜function_calls>", "<｜DSML｜tool_calls>")
    call, end_call = "<｜DSML｜invoke name=", "</｜DSML｜invoke>"
    parameter, end_parameter = "<｜DSML｜parameter name=", "</｜DSML｜parameter>"
    turn = ("\n\n<function_results>", "\n</function_results>")
    answer_wrapper = ("\n<result>", "</result>")

    def head(self, written: str) -> TagHead:
        """Return the quoted name, and whether the value is a string."""
        return _parse_tag_attributes(written)

    def compose(self, calls: Sequence[AskedCall]) -> str:
        """Return the text with which the model makes these calls."""
        written = "".join(map(_compose_deepseek_call, calls))
        return f"\n\n<｜DSML｜function_calls>\n{written}</｜DSML｜function_calls><｜end▁of▁sentence｜>"


class Glm46(TurnDialect):
    """`<tool_call>NAME<arg_key>…</arg_key><arg_value>…</arg_value></tool_call>`, with or without line breaks."""

    name = "text_glm46"
    marks = ("<tool_call>",)
    openers = ("<tool_call>",)
    shape = re.compile(r'<tool_call>\s*+[^\s<>{}\[\]"]++(?:[ \t]*+\n\s*+(?:<|\Z)|\s*+<arg_key>|\s*+</tool_call>)')
    turn = ("<|observation|>", "")

    def scan(self, text: Text, into: Assembly) -> Scan:
        """Read a name and its pairs after each opener; an opener without them is plain text."""
        while (yield from self.find_next_opener(text, into)):
            yield from text.run(_SPACE)
            name = yield from text.run(_GLM_NAME)
            if not name or text.is_cut():
                continue
            space, mark = yield from text.then("<arg_key>", "</tool_call>")
            if not mark and not text.is_cut("<arg_key>", "</tool_call>"):
                continue
            draft = TaggedCallDraft(name, into)
            draft.record_raw(space, mark)
            while mark == "<arg_key>":
                key = yield from text.run(_GLM_KEY)
                _, end_key = yield from text.then("</arg_key>")
                between, opening = yield from text.then("<arg_value>")
                draft.record_raw(key, end_key, between, opening)
                if not opening or not end_key:
                    mark = ""
                    break
                value = yield from read_tag_value(text, "<arg_value>", "</arg_value>", "<arg_key>", "</tool_call>")
                mark = value.mark
                draft.record_raw(value.text, "</arg_value>" if mark else "", value.space, mark)
                if mark:
                    draft.set(key.strip(), value.text)
            draft.over(missing="" if mark else "</tool_call>")

    def compose(self, calls: Sequence[AskedCall]) -> str:
        """Return the text with which the model makes these calls."""
        return "\n".join(map(_compose_glm_call, calls))


def _parse_tag_attributes(written: str) -> TagHead:
    match = _TAG_ATTRIBUTES.fullmatch(written)
    if match is None:
        return TagHead("")
    return TagHead(match.group(2), None if match.group(4) is None else match.group(4) == "true")


def _compose_coder_call(call: AskedCall) -> str:
    body = compose_call_body(call, _compose_coder_parameter, "</function>")
    return f"<tool_call>\n<function={call.name}>{body}\n</tool_call>"


def _compose_coder_parameter(key: str, value: Any) -> str:
    return f"<parameter={key}>\n{write_tag_value(value)}\n</parameter>\n"


def _compose_minimax_call(call: AskedCall) -> str:
    return f'<invoke name="{call.name}">{compose_call_body(call, _compose_minimax_parameter, "</invoke>")}\n'


def _compose_minimax_parameter(key: str, value: Any) -> str:
    return f'<parameter name="{key}">{write_tag_value(value)}</parameter>\n'


def _compose_deepseek_call(call: AskedCall) -> str:
    return (
        "<｜DSML｜invoke "
        f'name="{call.name}">{compose_call_body(call, _compose_deepseek_parameter, "</｜DSML｜invoke>")}\n'
    )


def _compose_deepseek_parameter(key: str, value: Any) -> str:
    is_string = "true" if isinstance(value, str) else "false"
    return f'<｜DSML｜parameter name="{key}" string="{is_string}">{write_tag_value(value)}</｜DSML｜parameter>\n'


def _compose_glm_call(call: AskedCall) -> str:
    return f"<tool_call>{call.name}{compose_call_body(call, _compose_glm_parameter, '</tool_call>')}"


def _compose_glm_parameter(key: str, value: Any) -> str:
    return f"<arg_key>{key}</arg_key>\n<arg_value>{write_tag_value(value)}</arg_value>\n"
