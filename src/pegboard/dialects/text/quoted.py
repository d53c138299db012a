"""What stands in a text and is not said by the model now: quotations, and the turns of others.

The marks are those of the chat templates, all of them for every dialect: a call in such a place is nobody's order,
whichever model wrote the rest.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

_OTHERS = ("system", "developer", "user", "tool", "ipython", "function", "environment")

CODE, FENCE = "`", "```"

# An example in a block of code, and what a tool said, or what the model makes believe that it said.
QUOTED: Mapping[str, str] = MappingProxyType({FENCE: FENCE, "<tool_response>": "</tool_response>"})

# Turns of others, which a model's template ends with a token that it cannot write itself.
TURNS: Mapping[str, str] = MappingProxyType(
    {
        **{f"<|im_start|>{role}": "<|im_end|>" for role in _OTHERS},
        **{f'<|open|>message role="{role}"': "<|end_of_msg|>" for role in _OTHERS},
        **{f"<|im_{role}|>": "<|im_end|>" for role in ("system", "user")},
        **{f"<|start_of_role|>{role}": "<|end_of_text|>" for role in (*_OTHERS, "documents", "available_tools")},
        **{f"<|start_header_id|>{role}": "<|eot_id|>" for role in _OTHERS},
        **{f"]~b]{role}": "[e~[" for role in _OTHERS},
        **{f"<|turn>{role}": "<turn|>" for role in _OTHERS},
        **{f"<|{role}|>": "<|assistant|>" for role in ("system", "user", "observation")},
        "<|tool_response>": "<tool_response|>",
        "<|tool_response_start|>": "<|tool_response_end|>",
        "<|SYSTEM_TOKEN|>": "<|END_OF_TURN_TOKEN|>",
        "<|USER_TOKEN|>": "<|END_OF_TURN_TOKEN|>",
        "<|START_TOOL_RESULT|>": "<|END_TOOL_RESULT|>",
        "<｜User｜>": "<｜Assistant｜>",
        "<｜tool▁outputs▁begin｜>": "<｜tool▁outputs▁end｜>",
        "<｜tool▁output▁begin｜>": "<｜tool▁output▁end｜>",
        "<function_results>": "</function_results>",
        **{f"[{mark}]": f"[/{mark}]" for mark in ("INST", "SYSTEM_PROMPT", "AVAILABLE_TOOLS", "TOOL_RESULTS")},
    }
)
