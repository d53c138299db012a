"""The body of a request: JSON, a urlencoded form, a multipart form, plain text or the bytes of a file."""

from __future__ import annotations

import base64
import binascii
import re
import secrets
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from pegboard.kinds.http.config import HttpConfig, ParameterStyle
from pegboard.kinds.http.parameter_styles import (
    UnsendableValue,
    WriteParameter,
    check_sendable_text,
    check_style,
    encode_json,
    format_scalar,
    make_query_writer,
    make_surrogate_error,
)
from pegboard.model.call_errors import Misconfigured

_DEFAULT_TYPES = {
    "json": "application/json",
    "form": "application/x-www-form-urlencoded",
    "multipart": "multipart/form-data",
    "text": "text/plain; charset=utf-8",
    "binary": "application/octet-stream",
}
_FILE_KEYS = frozenset({"filename", "content_type", "base64", "text"})
_MEDIA_TYPE = re.compile(r"[A-Za-z0-9!#$&^_.+-]+/[A-Za-z0-9!#$&^_.+-]+(?:[ \t]*;[\t -~]*)?", re.ASCII)
_JSON_TYPE = re.compile(r"application/json|[^;]+\+json", re.IGNORECASE)
_BOUNDARY = re.compile(r"\s*;\s*boundary=(?:\"[^\"]*\"|[^;]*)", re.IGNORECASE)
_ARRAY_SEPARATORS = {"spaceDelimited": " ", "pipeDelimited": "|"}


class EncodedBody(NamedTuple):
    """The bytes of a body, and its Content-Type if each body has its own."""

    data: bytes
    content_type: str | None = None


class _FormPart(NamedTuple):
    data: bytes
    media_type: str | None = None
    filename: str | None = None


# Returns the body for these parameters, by argument name, or None if there is nothing to send.
BuildBody = Callable[[dict[str, Any]], EncodedBody | None]


def get_content_type(config: HttpConfig) -> str:
    """Return the Content-Type of the tool's bodies; for a multipart form without its boundary."""
    if config.content_type is not None:
        return config.content_type
    given = next((value for name, value in config.headers.items() if name.lower() == "content-type"), None)
    usual = _DEFAULT_TYPES[config.body_format]
    if given is None or (config.body_format == "multipart" and not given.lower().startswith("multipart/")):
        return usual
    return given


def make_body_builder(config: HttpConfig) -> BuildBody:
    """Return the builder of the tool's bodies for its body_format."""
    declares_body = "body" in config.params_in.values()
    builders = {
        "json": _make_json_builder,
        "form": _make_form_builder,
        "multipart": _make_multipart_builder,
        "text": _make_text_builder,
        "binary": _make_binary_builder,
    }
    build = builders[config.body_format](config)

    def body(fields: dict[str, Any]) -> EncodedBody | None:
        return build(fields) if fields or declares_body else None

    return body


def _make_json_builder(config: HttpConfig) -> BuildBody:
    whole, names = config.body_param, config.wire_names

    def build(fields: dict[str, Any]) -> EncodedBody | None:
        if whole is not None:
            return EncodedBody(_write_field(whole, encode_json, fields[whole])) if whole in fields else None
        sent = {names.get(name, name): value for name, value in fields.items()} if names else fields
        try:
            return EncodedBody(encode_json(sent))
        except UnsendableValue:
            for name, value in fields.items():
                _write_field(name, encode_json, {name: value})
            raise

    return build


def _make_form_builder(config: HttpConfig) -> BuildBody:
    known: dict[str, WriteParameter] = {}
    for name, style in config.styles.items():
        if name in config.placeholders or config.params_in.get(name, "body") != "body":
            continue
        check_style(name, "form", style)
        known[name] = make_query_writer(config.wire_names.get(name, name), style)

    def build(fields: dict[str, Any]) -> EncodedBody | None:
        whole = config.body_param
        if whole is not None and isinstance(text := fields.get(whole), str):
            return EncodedBody(_write_field(whole, _encode_utf8, text))  # the whole form, encoded by the caller
        pairs = []
        for name, value in _list_form_fields(config, fields):
            write = known.get(name) or make_query_writer(config.wire_names.get(name, name))
            if (pair := _write_field(name, write, value)) is not None:
                pairs.append(pair)
        return EncodedBody("&".join(pairs).encode())

    return build


def _make_text_builder(config: HttpConfig) -> BuildBody:
    whole = config.body_param

    def build(fields: dict[str, Any]) -> EncodedBody | None:
        name, value = _find_only_field("text", whole, fields)
        return None if value is None else EncodedBody(_write_field(name, _encode_text, value))

    return build


def _make_binary_builder(config: HttpConfig) -> BuildBody:
    whole, fixed = config.body_param, config.content_type

    def build(fields: dict[str, Any]) -> EncodedBody | None:
        name, value = _find_only_field("binary", whole, fields)
        if value is None:
            return None
        if not _is_file(value):
            raise UnsendableValue(
                "must be a file, an object with base64 or text", expected="file", field=name, code="invalid_type"
            )
        part = _make_file_part(name, value, None)
        return EncodedBody(part.data, part.media_type if fixed is None and "content_type" in value else None)

    return build


def _find_only_field(what: str, whole: str | None, fields: dict[str, Any]) -> tuple[str, Any]:
    """Return the parameter that is the whole body and its value, or None if it is absent."""
    if whole is None and len(fields) > 1:
        names = ", ".join(f"'{name}'" for name in fields)
        raise Misconfigured(f"A {what} body is one parameter, but {names} would be in it; name it in body_param")
    name = whole or next(iter(fields), "")
    return name, fields.get(name)


def _make_multipart_builder(config: HttpConfig) -> BuildBody:
    media_type = _BOUNDARY.sub("", get_content_type(config))
    if not media_type.lower().startswith("multipart/"):
        raise Misconfigured(f"config.content_type of a multipart body must be multipart/…, but is '{media_type[:100]}'")
    # OpenAPI allows several types and wildcards here; only a single type can be sent.
    part_types = {name: given for name, given in config.part_types.items() if _MEDIA_TYPE.fullmatch(given)}

    def build(fields: dict[str, Any]) -> EncodedBody | None:
        boundary = secrets.token_hex(16)
        start = f"--{boundary}\r\nContent-Disposition: form-data; name=".encode()
        chunks: list[bytes] = []
        for name, value in _list_form_fields(config, fields):
            label = _quote_label(config.wire_names.get(name, name), name)
            for part in _make_parts(name, value, config.styles.get(name), part_types.get(name)):
                chunks += (start, label)
                if part.filename is not None:
                    chunks += (b"; filename=", _quote_label(part.filename, f"{name}.filename"))
                if part.media_type is not None:
                    chunks.append(f"\r\nContent-Type: {part.media_type}".encode())
                chunks += (b"\r\n\r\n", part.data, b"\r\n")
        if not chunks:
            return None
        chunks.append(f"--{boundary}--\r\n".encode())
        return EncodedBody(b"".join(chunks), f"{media_type}; boundary={boundary}")

    return build


def _make_parts(name: str, value: Any, style: ParameterStyle | None, media_type: str | None) -> Iterator[_FormPart]:
    if value is None:
        return
    if _is_json_part(style, media_type) and not _is_file(value, surely=True):
        yield _FormPart(_write_field(name, encode_json, value), media_type or "application/json")
    elif isinstance(value, list | tuple):
        items = [item for item in value if item is not None]
        if style is not None and style.explode is False and items:
            joint = _ARRAY_SEPARATORS.get(style.style, ",")
            yield _FormPart(joint.encode().join(_write_field(name, _encode_text, item) for item in items), media_type)
            return
        for item in items:
            yield _make_part(name, item, media_type)
    else:
        yield _make_part(name, value, media_type)


def _make_part(name: str, value: Any, media_type: str | None) -> _FormPart:
    if isinstance(value, Mapping):
        if _is_file(value):
            return _make_file_part(name, value, media_type)
        return _FormPart(_write_field(name, encode_json, value), media_type or "application/json")
    if isinstance(value, list | tuple):
        return _FormPart(_write_field(name, encode_json, value), media_type or "application/json")
    return _FormPart(_write_field(name, _encode_text, value), media_type)


def _is_json_part(style: ParameterStyle | None, media_type: str | None) -> bool:
    if style is not None and style.style == "json":
        return True
    return media_type is not None and _JSON_TYPE.match(media_type) is not None


def _is_file(value: Any, *, surely: bool = False) -> bool:
    """True if the value is a file; with `surely`, an object with only a text is not one."""
    if not isinstance(value, Mapping) or not value.keys() <= _FILE_KEYS:
        return False
    return "base64" in value or ("text" in value and (not surely or "filename" in value))


def _make_file_part(name: str, value: Mapping[str, Any], media_type: str | None) -> _FormPart:
    if "base64" in value and "text" in value:
        raise UnsendableValue(
            "is a file with both base64 and text; give one of them",
            expected="base64 or text",
            field=name,
            code="custom",
        )
    for key, item in value.items():
        if not isinstance(item, str):
            raise UnsendableValue("must be a string", expected="string", field=f"{name}.{key}", code="invalid_type")
    given = value.get("content_type")
    if given is not None and not _MEDIA_TYPE.fullmatch(given):
        raise UnsendableValue(
            "must be a media type such as image/png", expected="media type", field=f"{name}.content_type"
        )
    filename = value.get("filename") or name
    if "text" in value:
        text = _write_field(f"{name}.text", _encode_utf8, value["text"])
        return _FormPart(text, given or media_type or "text/plain; charset=utf-8", filename)
    try:
        data = base64.b64decode("".join(value["base64"].split()), validate=True)
    except (binascii.Error, ValueError):
        raise UnsendableValue("must be base64", expected="base64 text", field=f"{name}.base64") from None
    return _FormPart(data, given or media_type or "application/octet-stream", filename)


def _list_form_fields(config: HttpConfig, fields: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the form's fields: the parameters of the body, or the entries of body_param."""
    whole = config.body_param
    if whole is None:
        yield from fields.items()
        return
    value = fields.get(whole)
    if value is None:
        return
    if not isinstance(value, Mapping):
        raise UnsendableValue(
            "must be an object: its entries are the form's fields", expected="object", field=whole, code="invalid_type"
        )
    yield from value.items()


def _quote_label(text: str, field: str) -> bytes:
    """Return a quoted name or file name, as browsers write it."""
    check_sendable_text(text, "part's header", field=field)
    plain = text.replace('"', "%22")
    return f'"{plain}"'.encode()


def _encode_utf8(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise make_surrogate_error() from None


def _encode_text(value: Any) -> bytes:
    return _encode_utf8(format_scalar(value))


def _write_field(field: str, write: Callable[[Any], Any], value: Any) -> Any:
    """Write the value; an UnsendableValue error gets the field's name."""
    try:
        return write(value)
    except UnsendableValue as error:
        error.field = error.field or field
        raise
