"""Calls with a tag for each parameter: Qwen3-Coder, MiniMax-M2, DeepSeek-V3.2 and GLM-4.6.

Their values are text as it is, with nothing escaped. The string "3" is a string only if the tool's schema, or in
DeepSeek's case the tag, says so. A value cannot hold an opening tag of a parameter without its closing one, nor a
closing one that is followed by what follows a parameter; names hold neither quotes nor angle brackets nor line breaks.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from pegboard.dialects.asked import AskedCall
from pegboard.dialects.assembly import Assembly
from pegboard.dialects.text.scanning import Scan, Text
from pegboard.dialects.text.tags import Draft, Head, TaggedDialect, body_of, value_in, written_value
from pegboard.dialects.text.turn import TurnDialect

_ATTRIBUTES = re.compile(r"""\s*(["'])([^"']+)\1(?:\s+string\s*=\s*(["'])(true|false)\3)?\s*""")
_SPACE = re.compile(r"\s*")
_NAME = re.compile(r"[^\s<>{}\[\]\"]*")
_KEY = re.compile(r"[^<>]*")


class Qwen3Coder(TaggedDialect):
    """`<tool_call><function=NAME><parameter=KEY>…</parameter></function></tool_call>`, with a line for each tag.

    One line break on each side of a value belongs to the tags. Calls without <tool_call> around them count too: the
    models forget it.
    """

    name = "text_qwen3_coder_xml"
    marks = ("<tool_call>", "<function=")
    openers = ("<tool_call>", "</tool_call>", "<function=")
    shape = re.compile(r"<tool_call>\s*<function=(?![^<>\n]*>\s*\{)|<function=[^<>\n]+>\s*(?:<parameter=|</function>)")
    block = ("<tool_call>",)
    call, end_call = "<function=", "</function>"
    parameter, end_parameter = "<parameter=", "</parameter>"
    is_bare = True
    follows = ("</tool_call>", "<tool_call>", "<function=")
    turn = ("<|im_start|>user", "\n<|im_end|>\n")

    def value(self, written: str) -> str:
        """A value without the line breaks of its tags."""
        return written.removeprefix("\n").removesuffix("\n")

    def compose(self, calls: Sequence[AskedCall]) -> str:
        """What the model writes to make these calls."""
        return "\n".join(map(_coder_call, calls)) + "<|im_end|>\n"


class MiniMaxM2(TaggedDialect):
    """`<invoke name="…"><parameter name="…">…</parameter></invoke>` in a <minimax:tool_call>."""

    name = "text_minimax_m2"
    marks = ("<minimax:tool_call>",)
    openers = ("<minimax:tool_call>", "</minimax:tool_call>", "<invoke name=")
    shape = re.compile("<minimax:tool_call>")
    block = ("<minimax:tool_call>",)
    call, end_call = "<invoke name=", "</invoke>"
    parameter, end_parameter = "<parameter name=", "</parameter>"
    turn = ("]~b]tool", "[e~[\n")
    around = ("\n<response>", "</response>")

    def head(self, written: str) -> Head:
        """The name in its quotes."""
        return Head(_attributes(written).name)

    def compose(self, calls: Sequence[AskedCall]) -> str:
        """What the model writes to make these calls."""
        return f"<minimax:tool_call>\n{''.join(map(_minimax_call, calls))}</minimax:tool_call>[e~[\n"


class DeepSeekV32(TaggedDialect):
    """MiniMax's tags with a prefix, and parameters that say whether they are strings or JSON."""

    name = "text_deepseek_v32_dsml"
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
    around = ("\n<result>", "</result>")

    def head(self, written: str) -> Head:
        """The name in its quotes, and whether it is a string."""
        return _attributes(written)

    def compose(self, calls: Sequence[AskedCall]) -> str:
        """What the model writes to make these calls."""
        written = "".join(map(_deepseek_call, calls))
        return f"\n\n<｜DSML｜function_calls>\n{written}</｜DSML｜function_calls><｜end▁of▁sentence｜>"


class Glm46(TurnDialect):
    """`<tool_call>NAME<arg_key>…</arg_key><arg_value>…</arg_value></tool_call>`, with or without line breaks."""

    name = "text_glm46"
    marks = ("<tool_call>",)
    openers = ("<tool_call>",)
    shape = re.compile(r'<tool_call>\s*+[^\s<>{}\[\]"]++(?:[ \t]*+\n\s*+(?:<|\Z)|\s*+<arg_key>|\s*+</tool_call>)')
    turn = ("<|observation|>", "")

    def scan(self, text: Text, into: Assembly) -> Scan:
        """Take a name and its pairs after each opener; any other opener is just talk."""
        while (yield from self.calls_begin(text, into)):
            yield from text.run(_SPACE)
            name = yield from text.run(_NAME)
            if not name or text.is_cut():
                continue
            space, mark = yield from text.then("<arg_key>", "</tool_call>")
            if not mark and not text.is_cut("<arg_key>", "</tool_call>"):
                continue
            draft = Draft(name, into)
            draft.saw(space, mark)
            while mark == "<arg_key>":
                key = yield from text.run(_KEY)
                _, end_key = yield from text.then("</arg_key>")
                between, opening = yield from text.then("<arg_value>")
                draft.saw(key, end_key, between, opening)
                if not opening or not end_key:
                    mark = ""
                    break
                value = yield from value_in(text, "<arg_value>", "</arg_value>", "<arg_key>", "</tool_call>")
                mark = value.mark
                draft.saw(value.text, "</arg_value>" if mark else "", value.space, mark)
                if mark:
                    draft.set(key.strip(), value.text)
            draft.over(missing="" if mark else "</tool_call>")

    def compose(self, calls: Sequence[AskedCall]) -> str:
        """What the model writes to make these calls."""
        return "\n".join(map(_glm_call, calls))


def _attributes(written: str) -> Head:
    match = _ATTRIBUTES.fullmatch(written)
    if match is None:
        return Head("")
    return Head(match.group(2), None if match.group(4) is None else match.group(4) == "true")


def _coder_call(call: AskedCall) -> str:
    return f"<tool_call>\n<function={call.name}>{body_of(call, _coder_parameter, '</function>')}\n</tool_call>"


def _coder_parameter(key: str, value: Any) -> str:
    return f"<parameter={key}>\n{written_value(value)}\n</parameter>\n"


def _minimax_call(call: AskedCall) -> str:
    return f'<invoke name="{call.name}">{body_of(call, _minimax_parameter, "</invoke>")}\n'


def _minimax_parameter(key: str, value: Any) -> str:
    return f'<parameter name="{key}">{written_value(value)}</parameter>\n'


def _deepseek_call(call: AskedCall) -> str:
    return f'<｜DSML｜invoke name="{call.name}">{body_of(call, _deepseek_parameter, "</｜DSML｜invoke>")}\n'


def _deepseek_parameter(key: str, value: Any) -> str:
    is_string = "true" if isinstance(value, str) else "false"
    return f'<｜DSML｜parameter name="{key}" string="{is_string}">{written_value(value)}</｜DSML｜parameter>\n'


def _glm_call(call: AskedCall) -> str:
    return f"<tool_call>{call.name}{body_of(call, _glm_parameter, '</tool_call>')}"


def _glm_parameter(key: str, value: Any) -> str:
    return f"<arg_key>{key}</arg_key>\n<arg_value>{written_value(value)}</arg_value>\n"
