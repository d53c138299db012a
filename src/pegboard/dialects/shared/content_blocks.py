"""Content blocks: streams of blocks by index, arguments as objects, and results as text or blocks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from pegboard.dialects.call_assembler import Assembly
from pegboard.dialects.parsed_calls import ABSENT, EMPTY_MAPPING, AskedCall
from pegboard.json_schema.arguments_text import parse_json_text
from pegboard.model.call import Malformed, ToolResult
from pegboard.model.call_errors import MalformedArguments

# The image types that all these providers accept, with the short names of their formats.
IMAGE_FORMATS: Mapping[str, str] = {"image/png": "png", "image/jpeg": "jpeg", "image/gif": "gif", "image/webp": "webp"}
# The key for malformed arguments if a provider accepts only an object.
INVALID_JSON_KEY = "INVALID_JSON"


def arguments_to_object(call: AskedCall) -> dict[str, Any]:
    """Return the arguments as an object, also if they are malformed; `object_to_arguments` reverts it."""
    if isinstance(call.arguments, Malformed):
        return {INVALID_JSON_KEY: call.arguments.text}
    return call.arguments or {}


def object_to_arguments(given: Any) -> Any:
    """Return the arguments from an object that `arguments_to_object` may have written."""
    if type(given) is dict and len(given) == 1 and isinstance(given.get(INVALID_JSON_KEY), str):
        # An empty text would mean empty arguments, but these are missing.
        return given[INVALID_JSON_KEY] or "{"
    return given


def truncate_arguments(arguments: Any) -> str:
    """Return the text of an incomplete object without its last character, so that it cannot be parsed as complete."""
    return to_text(arguments)[:-1] if isinstance(arguments, dict) and arguments else "{"


def to_text(value: Any) -> str:
    """Return a string unchanged, and other values as JSON."""
    if isinstance(value, str):
        return value
    try:
        return orjson.dumps(value, default=str).decode()
    except (TypeError, ValueError, RecursionError):
        return "[cannot be shown]"


def parse_if_json(text: str) -> Any:
    """Return the object or array of a JSON text, or the text itself: a bare word or number may be plain text."""
    if text.lstrip()[:1] not in ("{", "["):
        return text
    try:
        return parse_json_text(text)
    except MalformedArguments:
        return text


def read_image(block: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return the media type and base64 text of an image that these providers accept, or None."""
    kind, data = block.get("mimeType"), block.get("data")
    if block.get("type") == "image" and isinstance(kind, str) and kind in IMAGE_FORMATS and isinstance(data, str):
        return kind, data
    return None


def parse_result_content(content: Any) -> Any:
    """Return the content of a result: data if it is JSON text, blocks if it has more than text."""
    if isinstance(content, list) and content:
        texts = [block.get("text") if isinstance(block, dict) else None for block in content]
        if all(isinstance(text, str) for text in texts):
            content = "\n".join(map(str, texts))
    return parse_if_json(content) if isinstance(content, str) else content


BlockKey = tuple[int, Any]


class BlockStream:
    """The state of a stream of content blocks.

    A block that stops without arguments has none, unless the message was cut off there; so its end is delayed until
    the next event. A call that the provider runs waits for its result.
    """

    __slots__ = ("_index", "_message", "_preset", "_server", "_silent", "_waiting", "is_cut", "results")

    def __init__(self) -> None:
        self.is_cut = False
        # Results that are still incomplete.
        self.results: dict[BlockKey, dict[str, Any]] = {}
        self._message = 0
        self._index: Any = None
        self._silent: set[BlockKey] = set()
        self._preset: set[BlockKey] = set()
        self._server: set[BlockKey] = set()
        self._waiting: BlockKey | None = None

    def key(self, index: Any) -> BlockKey:
        """Return the key of a block; an event without an index belongs to the last block."""
        if isinstance(index, int):
            self._index = index
        return self._message, self._index

    def begin_message(self, into: Assembly) -> None:
        """Start another message, whose block indexes start again."""
        self.settle(into)
        self._message += 1
        self.is_cut = False

    def end_message(self, into: Assembly) -> None:
        """End the message; the last block may be incomplete if the message was cut off."""
        if not self.is_cut:
            into.complete_all()

    def begin(
        self,
        key: BlockKey,
        into: Assembly,
        *,
        name: Any,
        id: Any,
        is_server: bool,
        arguments: Any = None,
        extra: Mapping[str, Any] = EMPTY_MAPPING,
    ) -> None:
        """Start a call, possibly with its arguments."""
        into.piece(key, name=name, id=id, provider_executed=is_server, extra=extra)
        if is_server:
            self._server.add(key)
        if arguments:
            self._preset.add(key)
            into.snapshot(key, object_to_arguments(arguments))
        elif not is_server:
            self._silent.add(key)

    def fill(self, key: BlockKey, text: Any, into: Assembly) -> None:
        """Add a piece of a call's arguments."""
        if not isinstance(text, str) or not text:
            return
        self._silent.discard(key)
        if key in self._preset:
            # The initial arguments of a block are only a preview if pieces follow.
            self._preset.discard(key)
            into.snapshot(key, ABSENT)
        into.piece(key, text)

    def stop(self, key: BlockKey, into: Assembly) -> None:
        """Mark a block as complete."""
        if key in self._silent:
            self._waiting = key
        elif key not in self._server:
            into.over(key)

    def settle(self, into: Assembly) -> None:
        """Mark the delayed block as complete, because the message continued after it."""
        if self._waiting is not None and not self.is_cut:
            into.over(self._waiting)
        self._waiting = None


# The keys of an output that is MCP content, and the string fields of each type of block.
_CONTENT_KEYS = frozenset({"content", "structuredContent", "isError", "_meta"})
_BLOCK_TEXT_KEYS: Mapping[str, tuple[str, ...]] = {
    "text": ("text",),
    "image": ("data", "mimeType"),
    "audio": ("data", "mimeType"),
    "resource": (),
    "resource_link": ("uri",),
}


def result_to_text(result: ToolResult) -> str:
    """Return the output as text: a string unchanged, other values as JSON; for a failure, its message."""
    if result.problem is not None:
        return result.problem.message
    text = result.output_json.decode()
    if text[:1] == '"':
        content: str = result.output
        return content
    return text


def get_content_blocks(result: ToolResult) -> list[Mapping[str, Any]] | None:
    """Return the blocks of an output in MCP's content format, or None if it is plain data."""
    if result.problem is not None or not result.output_json.startswith(b'{"content":['):
        return None
    output = result.output
    blocks: list[Mapping[str, Any]] = output["content"]
    return blocks if blocks and output.keys() <= _CONTENT_KEYS and all(map(_is_content_block, blocks)) else None


def _is_content_block(block: Any) -> bool:
    """Return True for a block with all fields of its type; anything that only looks similar is the tool's own data."""
    kind = block.get("type") if isinstance(block, dict) else None
    texts = _BLOCK_TEXT_KEYS.get(kind) if isinstance(kind, str) else None
    if texts is None or not all(isinstance(block.get(key), str) for key in texts):
        return False
    return kind != "resource" or isinstance(block.get("resource"), dict)


def describe_result(result: ToolResult) -> str:
    """Return the output as text, with content blocks described; for a failure, its message."""
    blocks = get_content_blocks(result)
    return result_to_text(result) if blocks is None else "\n".join(map(describe_block, blocks))


def describe_block(block: Mapping[str, Any]) -> str:
    """Return a text for a block, for models that accept only text."""
    kind = block.get("type")
    if kind == "text":
        return str(block.get("text", ""))
    if kind == "resource" and isinstance(block.get("resource"), dict):
        inner = block["resource"]
        return str(inner["text"]) if "text" in inner else f"[resource {inner.get('uri', '')}]"
    if kind == "resource_link":
        return f"[link {block.get('uri', '')}]"
    return f"[{kind} {block.get('mimeType', '')}]"
