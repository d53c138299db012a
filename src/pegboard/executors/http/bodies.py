"""The body of a request: JSON, a urlencoded form, a multipart form, plain text or the bytes of a file."""

from __future__ import annotations

import base64
import binascii
import re
import secrets
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from pegboard.core.errors import Misconfigured
from pegboard.core.outbound import HttpConfig, ParameterStyle
from pegboard.executors.http.styles import Write, check_style, query_writer
from pegboard.executors.http.texts import Unwritable, check_text, half_a_pair, json_bytes, text_of

_USUAL = {
    "json": "application/json",
    "form": "application/x-www-form-urlencoded",
    "multipart": "multipart/form-data",
    "text": "text/plain; charset=utf-8",
    "binary": "application/octet-stream",
}
_FILE = frozenset({"filename", "content_type", "base64", "text"})
_MEDIA_TYPE = re.compile(r"[A-Za-z0-9!#$&^_.+-]+/[A-Za-z0-9!#$&^_.+-]+(?:[ \t]*;[\t -~]*)?", re.ASCII)
_JSON = re.compile(r"application/json|[^;]+\+json", re.IGNORECASE)
_BOUNDARY = re.compile(r"\s*;\s*boundary=(?:\"[^\"]*\"|[^;]*)", re.IGNORECASE)
_JOINTS = {"spaceDelimited": " ", "pipeDelimited": "|"}


class Body(NamedTuple):
    """What is sent after the headers, and its Content-Type where each body has its own."""

    data: bytes
    content_type: str | None = None


class _Part(NamedTuple):
    data: bytes
    media_type: str | None = None
    filename: str | None = None


# The body for these parameters, by their names in the arguments, or None where there is nothing to send.
Build = Callable[[dict[str, Any]], Body | None]


def content_type_of(config: HttpConfig) -> str:
    """The Content-Type of the tool's bodies; that of a multipart form still lacks its boundary."""
    if config.content_type is not None:
        return config.content_type
    given = next((value for name, value in config.headers.items() if name.lower() == "content-type"), None)
    usual = _USUAL[config.body_format]
    if given is None or (config.body_format == "multipart" and not given.lower().startswith("multipart/")):
        return usual
    return given


def body_builder(config: HttpConfig) -> Build:
    """Makes the tool's bodies, in its body_format."""
    declares_body = "body" in config.params_in.values()
    builders = {"json": _json, "form": _form, "multipart": _multipart, "text": _text, "binary": _binary}
    build = builders[config.body_format](config)

    def body(fields: dict[str, Any]) -> Body | None:
        return build(fields) if fields or declares_body else None

    return body


def _json(config: HttpConfig) -> Build:
    whole, names = config.body_param, config.wire_names

    def build(fields: dict[str, Any]) -> Body | None:
        if whole is not None:
            return Body(_named(whole, json_bytes, fields[whole])) if whole in fields else None
        sent = {names.get(name, name): value for name, value in fields.items()} if names else fields
        try:
            return Body(json_bytes(sent))
        except Unwritable:
            for name, value in fields.items():
                _named(name, json_bytes, {name: value})
            raise

    return build


def _form(config: HttpConfig) -> Build:
    known: dict[str, Write] = {}
    for name, style in config.styles.items():
        if name in config.placeholders or config.params_in.get(name, "body") != "body":
            continue
        check_style(name, "form", style)
        known[name] = query_writer(config.wire_names.get(name, name), style)

    def build(fields: dict[str, Any]) -> Body | None:
        whole = config.body_param
        if whole is not None and isinstance(text := fields.get(whole), str):
            return Body(_named(whole, _utf8, text))  # the whole form, encoded by the caller
        pairs = []
        for name, value in _entries(config, fields):
            write = known.get(name) or query_writer(config.wire_names.get(name, name))
            if (pair := _named(name, write, value)) is not None:
                pairs.append(pair)
        return Body("&".join(pairs).encode())

    return build


def _text(config: HttpConfig) -> Build:
    whole = config.body_param

    def build(fields: dict[str, Any]) -> Body | None:
        name, value = _only_field("text", whole, fields)
        return None if value is None else Body(_named(name, _text_bytes, value))

    return build


def _binary(config: HttpConfig) -> Build:
    whole, fixed = config.body_param, config.content_type

    def build(fields: dict[str, Any]) -> Body | None:
        name, value = _only_field("binary", whole, fields)
        if value is None:
            return None
        if not _is_file(value):
            raise Unwritable(
                "must be a file, an object with base64 or text", expected="file", field=name, code="invalid_type"
            )
        part = _file(name, value, None)
        return Body(part.data, part.media_type if fixed is None and "content_type" in value else None)

    return build


def _only_field(what: str, whole: str | None, fields: dict[str, Any]) -> tuple[str, Any]:
    """The one parameter that is the whole body, and its value, or None where it is absent."""
    if whole is None and len(fields) > 1:
        names = ", ".join(f"'{name}'" for name in fields)
        raise Misconfigured(f"A {what} body is one parameter, but {names} would be in it; name it in body_param")
    name = whole or next(iter(fields), "")
    return name, fields.get(name)


def _multipart(config: HttpConfig) -> Build:
    media_type = _BOUNDARY.sub("", content_type_of(config))
    if not media_type.lower().startswith("multipart/"):
        raise Misconfigured(f"config.content_type of a multipart body must be multipart/…, but is '{media_type[:100]}'")
    # OpenAPI lets several types and wildcards stand there; only a single one can be sent.
    part_types = {name: given for name, given in config.part_types.items() if _MEDIA_TYPE.fullmatch(given)}

    def build(fields: dict[str, Any]) -> Body | None:
        boundary = secrets.token_hex(16)
        start = f"--{boundary}\r\nContent-Disposition: form-data; name=".encode()
        chunks: list[bytes] = []
        for name, value in _entries(config, fields):
            label = _label(config.wire_names.get(name, name), name)
            for part in _parts(name, value, config.styles.get(name), part_types.get(name)):
                chunks += (start, label)
                if part.filename is not None:
                    chunks += (b"; filename=", _label(part.filename, f"{name}.filename"))
                if part.media_type is not None:
                    chunks.append(f"\r\nContent-Type: {part.media_type}".encode())
                chunks += (b"\r\n\r\n", part.data, b"\r\n")
        if not chunks:
            return None
        chunks.append(f"--{boundary}--\r\n".encode())
        return Body(b"".join(chunks), f"{media_type}; boundary={boundary}")

    return build


def _parts(name: str, value: Any, style: ParameterStyle | None, media_type: str | None) -> Iterator[_Part]:
    if value is None:
        return
    if _is_json(style, media_type) and not _is_file(value, surely=True):
        yield _Part(_named(name, json_bytes, value), media_type or "application/json")
    elif isinstance(value, list | tuple):
        items = [item for item in value if item is not None]
        if style is not None and style.explode is False and items:
            joint = _JOINTS.get(style.style, ",")
            yield _Part(joint.encode().join(_named(name, _text_bytes, item) for item in items), media_type)
            return
        for item in items:
            yield _part(name, item, media_type)
    else:
        yield _part(name, value, media_type)


def _part(name: str, value: Any, media_type: str | None) -> _Part:
    if isinstance(value, Mapping):
        if _is_file(value):
            return _file(name, value, media_type)
        return _Part(_named(name, json_bytes, value), media_type or "application/json")
    if isinstance(value, list | tuple):
        return _Part(_named(name, json_bytes, value), media_type or "application/json")
    return _Part(_named(name, _text_bytes, value), media_type)


def _is_json(style: ParameterStyle | None, media_type: str | None) -> bool:
    if style is not None and style.style == "json":
        return True
    return media_type is not None and _JSON.match(media_type) is not None


def _is_file(value: Any, *, surely: bool = False) -> bool:
    """Whether the value is a file; an object with nothing but a text in it is one only perhaps."""
    if not isinstance(value, Mapping) or not value.keys() <= _FILE:
        return False
    return "base64" in value or ("text" in value and (not surely or "filename" in value))


def _file(name: str, value: Mapping[str, Any], media_type: str | None) -> _Part:
    if "base64" in value and "text" in value:
        raise Unwritable(
            "is a file with both base64 and text; give one of them",
            expected="base64 or text",
            field=name,
            code="custom",
        )
    for key, item in value.items():
        if not isinstance(item, str):
            raise Unwritable("must be a string", expected="string", field=f"{name}.{key}", code="invalid_type")
    given = value.get("content_type")
    if given is not None and not _MEDIA_TYPE.fullmatch(given):
        raise Unwritable("must be a media type such as image/png", expected="media type", field=f"{name}.content_type")
    filename = value.get("filename") or name
    if "text" in value:
        text = _named(f"{name}.text", _utf8, value["text"])
        return _Part(text, given or media_type or "text/plain; charset=utf-8", filename)
    try:
        data = base64.b64decode("".join(value["base64"].split()), validate=True)
    except (binascii.Error, ValueError):
        raise Unwritable("must be base64", expected="base64 text", field=f"{name}.base64") from None
    return _Part(data, given or media_type or "application/octet-stream", filename)


def _entries(config: HttpConfig, fields: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """The form's fields: the parameters of the body, or what the one that is the whole body holds."""
    whole = config.body_param
    if whole is None:
        yield from fields.items()
        return
    value = fields.get(whole)
    if value is None:
        return
    if not isinstance(value, Mapping):
        raise Unwritable(
            "must be an object: its entries are the form's fields", expected="object", field=whole, code="invalid_type"
        )
    yield from value.items()


def _label(text: str, field: str) -> bytes:
    """A name or file name in quotes, as browsers write it."""
    check_text(text, "part's header", field=field)
    plain = text.replace('"', "%22")
    return f'"{plain}"'.encode()


def _utf8(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise half_a_pair() from None


def _text_bytes(value: Any) -> bytes:
    return _utf8(text_of(value))


def _named(field: str, write: Callable[[Any], Any], value: Any) -> Any:
    """What the writer makes of the value; a refusal of it names the field."""
    try:
        return write(value)
    except Unwritable as error:
        error.field = error.field or field
        raise
