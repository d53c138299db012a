"""Text formats with one tag per parameter: Qwen3-Coder, MiniMax-M2, DeepSeek-V3.2 and GLM-4.6.

Values are unescaped text, whose type follows from the tool's schema or, for DeepSeek, from the tag: "3" is a string
only if that is declared. A value cannot contain an opening parameter tag without its closing one, nor a closing one
followed by what follows a parameter; names contain no quotes, angle brackets or line breaks.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from pegboard.dialects.call_assembler import Assembly
from pegboard.dialects.parsed_calls import AskedCall
from pegboard.dialects.provider_rules import TextMarks
from pegboard.dialects.text.base_text import TurnDialect
from pegboard.dialects.text.scanner import Scan, Text
from pegboard.dialects.text.tagged_calls import (
    TaggedCallDraft,
    TaggedDialect,
    TagHead,
    compose_call_body,
    read_tag_value,
    write_tag_value,
)

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
