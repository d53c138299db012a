"""A tool's request, compiled once into fixed parts and placeholders, and filled for each call."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple
from urllib.parse import quote, unquote_plus

from multidict import CIMultiDict, istr
from yarl import URL

from pegboard.kinds.config_fields import URL_PLACEHOLDER
from pegboard.kinds.credentials import Credentials, is_valid_cookie, list_request_secrets
from pegboard.kinds.http.config import HttpConfig
from pegboard.kinds.http.parameter_styles import (
    UnsendableValue,
    WriteParameter,
    check_style,
    make_cookie_writer,
    make_header_writer,
    make_path_writer,
    make_query_writer,
    make_value_writer,
    percent_encode,
)
from pegboard.kinds.http.request_body import EncodedBody, get_content_type, make_body_builder
from pegboard.model.call_errors import FieldProblem, InvalidArguments, Misconfigured
from pegboard.model.secrets import is_credential_parameter

# Characters that a URL cannot contain, including a percent sign that begins no escape; escapes are kept.
_UNSENDABLE_CHARS = re.compile(r"%(?![0-9A-Fa-f]{2})|[^A-Za-z0-9\-._~:/?@!$&'()*+,;=%\[\]]+", re.ASCII)
_DOT_SEGMENTS = frozenset({".", ".."})


class _Slot(NamedTuple):
    """A placeholder, and the writer of its value."""

    field: str
    write: WriteParameter


# A segment of the path, or a pair of the query, that contains placeholders.
_OpenPart = tuple[str | _Slot, ...]


class UrlTemplate:
    """The URL of a tool: origin, path and query with placeholders."""

    __slots__ = ("_authority", "_pairs", "_parts", "_scheme", "fixed_query", "names", "origin")

    def __init__(self, config: HttpConfig, credentials: Mapping[str, str]) -> None:
        scheme, _, rest = config.url.partition("://")
        authority = re.split(r"[/?#]", rest, maxsplit=1)[0]
        try:
            url = URL(f"{scheme}://{authority}")
            host = url.host or ""
            self.origin = f"{scheme}://{f'[{host}]' if ':' in host else host}:{url.port}"
            self._scheme, self._authority = scheme, str(url.origin()).partition("://")[2]
            path, query = _split_url(rest[len(authority) :])
        except ValueError as error:
            raise Misconfigured(f"config.url is not a URL that can be reached: {error}") from None

        def in_path(field: str) -> _Slot:
            style = config.styles.get(field)
            check_style(field, "path", style)
            return _Slot(field, make_path_writer(config.wire_names.get(field, field), style))

        def in_query(field: str) -> _Slot:
            return _Slot(field, make_value_writer(field, config.styles.get(field)))

        self._parts = _merge_segments(_split_parts(path, "/", in_path))
        own = [f"{percent_encode(name)}={percent_encode(value)}" for name, value in credentials.items()]
        # A credential replaces a query parameter of the URL with the same name.
        given = [
            pair for pair in _split_parts(query, "&", in_query) if pair and _get_pair_name(pair) not in credentials
        ]
        self._pairs: list[str | _OpenPart] = [*given, *own]
        # The names in the URL's own query: no argument is sent under one of them.
        self.names = frozenset(name for pair in self._pairs if (name := _get_pair_name(pair)) is not None)
        self.fixed_query = "&".join(pair for pair in self._pairs if isinstance(pair, str))
        if all(isinstance(pair, str) for pair in self._pairs):
            self._pairs = [self.fixed_query] if self.fixed_query else []

    def path(self, arguments: Mapping[str, Any]) -> str:
        """Return the path for these arguments; raise InvalidArguments or UnsendableValue for a missing or bad value."""
        parts = self._parts
        if len(parts) == 1:
            return str(parts[0])
        return "".join([part if isinstance(part, str) else self._fill_segment(part, arguments) for part in parts])

    def pairs(self, arguments: Mapping[str, Any]) -> list[str]:
        """Return the pairs of the URL's own query, without those whose value is missing."""
        pairs = []
        for pair in self._pairs:
            if isinstance(pair, str):
                pairs.append(pair)
                continue
            texts = [piece if isinstance(piece, str) else _write_slot(piece, arguments) for piece in pair]
            if None not in texts:
                text = "".join(map(str, texts))
                if _get_pair_name(pair) is None and unquote_plus(text.partition("=")[0]) in self.names:
                    raise _make_name_error(pair)
                pairs.append(text)
        return pairs

    def build_url(self, path: str, pairs: list[str]) -> URL:
        """Return the URL with this path and these pairs; both are already encoded and are not changed."""
        return URL.build(
            scheme=self._scheme, authority=self._authority, path=path, query_string="&".join(pairs), encoded=True
        )

    def _fill_segment(self, segment: _OpenPart, arguments: Mapping[str, Any]) -> str:
        texts = []
        for piece in segment:
            if isinstance(piece, str):
                texts.append(piece)
                continue
            if arguments.get(piece.field) is None:
                raise self._make_missing_error(arguments)
            text = _write_slot(piece, arguments)
            # Rejected at every position, so that two values together cannot form a dot segment either.
            if not text or text in _DOT_SEGMENTS:
                raise _make_segment_error(piece.field)
            texts.append(text)
        return "".join(texts)

    def _make_missing_error(self, arguments: Mapping[str, Any]) -> InvalidArguments:
        slots = [piece for part in self._parts if not isinstance(part, str) for piece in part]
        fields = dict.fromkeys(slot.field for slot in slots if isinstance(slot, _Slot))
        absent = [field for field in fields if arguments.get(field) is None]
        problems = [
            FieldProblem(
                "missing", f"Field '{field}' is required, as the URL is made with it", field, "a value", "nothing"
            )
            for field in absent
        ]
        named = ", ".join(f"'{field}'" for field in absent)
        return InvalidArguments(f"Invalid parameters: missing {named}", problems=problems)


def _split_url(text: str) -> tuple[list[str], list[str]]:
    """Split path and query at their placeholders: every second item is a field's name."""
    path: list[str] = []
    query: list[str] = []
    current = path
    for index, piece in enumerate(URL_PLACEHOLDER.split(text)):
        if index % 2:
            current.append(piece)
            continue
        literal, fragment, _ = piece.partition("#")
        if current is path and "?" in literal:
            before, _, literal = literal.partition("?")
            path.append(_encode_unsendable(before))
            current = query
        current.append(_encode_unsendable(literal))
        if fragment:
            break
    return path, query


def _split_parts(pieces: Sequence[str], at: str, slot: Callable[[str], _Slot]) -> list[str | _OpenPart]:
    """Return the parts between the separators: text, or a tuple if a part contains a placeholder."""
    parts: list[list[str | _Slot]] = [[]]
    for index, piece in enumerate(pieces):
        if index % 2:
            parts[-1].append(slot(piece))
            continue
        first, *others = piece.split(at)
        parts[-1].append(first)
        parts += [[text] for text in others]
    # A part of one piece is text: a placeholder always has text, perhaps empty, on both sides.
    return [str(part[0]) if len(part) == 1 else tuple(piece for piece in part if piece) for part in parts]


def _get_pair_name(pair: str | _OpenPart) -> str | None:
    """Return the name of a query pair, or None if it contains a placeholder."""
    start = pair if isinstance(pair, str) else pair[0]
    if not isinstance(start, str) or (start is not pair and "=" not in start):
        return None
    return unquote_plus(start.partition("=")[0])


def _make_name_error(pair: _OpenPart) -> UnsendableValue:
    return UnsendableValue(
        "must not be the name of another query parameter of the tool's URL",
        expected="another name",
        field=next(piece.field for piece in pair if isinstance(piece, _Slot)),
        code="custom",
    )


def _merge_segments(segments: list[str | _OpenPart]) -> list[str | _OpenPart]:
    """Return the path from its first slash, with adjacent fixed segments joined."""
    merged: list[str | _OpenPart] = []
    text = "" if len(segments) > 1 else "/"
    for index, segment in enumerate(segments):
        text += "/" if index else ""
        if isinstance(segment, str):
            text += segment
        else:
            merged += [text, segment]
            text = ""
    return [*merged, text] if text else merged


def _write_slot(slot: _Slot, arguments: Mapping[str, Any]) -> str | None:
    try:
        return slot.write(arguments.get(slot.field))
    except UnsendableValue as error:
        error.field = slot.field
        raise


def _make_segment_error(field: str) -> UnsendableValue:
    return UnsendableValue(
        "must not be empty, '.' or '..', as it is a step of the URL's path",
        expected="text for a URL's path",
        field=field,
    )


def _encode_unsendable(text: str) -> str:
    return _UNSENDABLE_CHARS.sub(lambda match: quote(match[0], safe=""), text)


_QUERY_METHODS: Final = frozenset({"GET", "HEAD", "DELETE", "OPTIONS"})
_CONTENT_TYPE_HEADER = istr("Content-Type")
_COOKIE_HEADER = istr("Cookie")
# How many parameter names are cached; further names are resolved at each call, so that memory stays bounded.
_MAX_PARAMETER_TARGETS = 1000


class HttpRequest(NamedTuple):
    """A request to send; `bare_headers` are those that may also go to another origin."""

    method: str
    url: URL
    headers: CIMultiDict[str]
    body: bytes | None
    bare_headers: CIMultiDict[str]


class _ParameterTarget(NamedTuple):
    """The place of a parameter, its name there, and its writer."""

    place: str
    name: str = ""
    write: WriteParameter = lambda value: None


_NO_TARGET = _ParameterTarget("nowhere")


class RequestTemplate:
    """Builds the requests of one tool."""

    __slots__ = (
        "_body_headers",
        "_build_body",
        "_config",
        "_default",
        "_headers",
        "_method",
        "_own_cookie_names",
        "_own_header_names",
        "_public_body_headers",
        "_targets",
        "_url",
        "origin",
        "secrets",
    )

    def __init__(self, config: HttpConfig, credentials: Credentials) -> None:
        self._config = config
        self._method = config.method
        self._url = url = UrlTemplate(config, credentials.query)
        self.origin: str = url.origin
        self.secrets: tuple[str, ...] = list_request_secrets(credentials, config.headers, url.fixed_query)
        in_query = config.method in _QUERY_METHODS or config.body_param is not None
        self._default = "query" if in_query else "body"
        self._build_body = make_body_builder(config)
        self._headers = _build_headers(config, credentials)
        # Names that the tool sets itself: a caller's value for one of them is dropped.
        self._own_header_names = frozenset(name.lower() for name in self._headers)
        self._own_cookie_names = frozenset(_list_cookie_names(self._headers.get(_COOKIE_HEADER, "")))
        content_type = get_content_type(config)
        self._body_headers = self._headers.copy()
        self._body_headers[_CONTENT_TYPE_HEADER] = content_type
        self._public_body_headers = CIMultiDict({_CONTENT_TYPE_HEADER: content_type})
        self._targets: dict[str, _ParameterTarget] = {}
        for name in {**config.params_in, **config.styles, **config.wire_names, **dict.fromkeys(config.placeholders)}:
            self._targets[name] = self._find_target(name)
        if config.body_param is not None:
            self._targets[config.body_param] = self._find_target(config.body_param)

    @classmethod
    def of(cls, config: HttpConfig, auth: Mapping[str, Any] | None) -> RequestTemplate:
        """Return the template of a tool's requests; raise Misconfigured if they could never be sent."""
        whole = config.body_param
        for name, place in config.params_in.items():
            if whole is not None and (name == whole) != (place == "body"):
                raise Misconfigured(
                    f"config.body_param makes '{whole}' the whole body, but params_in puts '{name}' "
                    f"in the {place}; leave one of the two out"
                )
        return cls(config, Credentials.of(auth))

    def fill(self, arguments: Mapping[str, Any]) -> HttpRequest:
        """Return the request for these arguments; raise InvalidArguments for a value that cannot be sent."""
        ways = self._targets
        fields: dict[str, Any] = {}
        added: list[tuple[str, str, str]] = []
        field: str | None = None
        try:
            path = self._url.path(arguments)
            pairs = self._url.pairs(arguments)
            for field, value in arguments.items():
                place, name, write = ways.get(field) or self._find_new_target(field)
                if place == "body":
                    fields[field] = value
                elif place != "nowhere" and (text := write(value)) is not None:
                    if place == "query":
                        pairs.append(text)
                    else:
                        added.append((place, name, text))
            field = None
            body = self._build_body(fields)
        except UnsendableValue as error:
            raise _make_argument_error(error, field) from None
        url = self._url.build_url(path, pairs)
        if body is None:
            filled = HttpRequest(self._method, url, self._headers.copy(), None, CIMultiDict())
        else:
            whole, bare = self._body_headers.copy(), self._public_body_headers.copy()
            filled = HttpRequest(self._method, url, whole, body.data, bare)
        if added or (body is not None and body.content_type is not None):
            _add_headers(filled, added, body)
        return filled

    def _find_new_target(self, name: str) -> _ParameterTarget:
        way = self._find_target(name)
        if len(self._targets) < _MAX_PARAMETER_TARGETS:
            self._targets[name] = way
        return way

    def _find_target(self, name: str) -> _ParameterTarget:
        config = self._config
        if name in config.placeholders:
            return _NO_TARGET
        style = config.styles.get(name)
        wire = config.wire_names.get(name, name)
        place = "body" if name == config.body_param else config.params_in.get(name, self._default)
        match place:
            case "header":
                check_style(name, "header", style)
                way = _ParameterTarget(
                    "private" if is_credential_parameter(wire) else "header",
                    istr(wire),
                    make_header_writer(wire, style),
                )
                return _NO_TARGET if wire.lower() in self._own_header_names else way
            case "cookie":
                check_style(name, "cookie", style)
                if not is_valid_cookie(wire):
                    raise Misconfigured(f"config: '{wire[:100]}' is not a valid name of a cookie")
                taken = self._own_cookie_names
                return (
                    _NO_TARGET
                    if wire in taken
                    else _ParameterTarget("cookie", wire, make_cookie_writer(wire, style, taken))
                )
            case "query":
                check_style(name, "query", style)
                taken = self._url.names
                return (
                    _NO_TARGET
                    if wire in taken
                    else _ParameterTarget("query", wire, make_query_writer(wire, style, taken))
                )
        return _ParameterTarget("body", wire)


def _build_headers(config: HttpConfig, credentials: Credentials) -> CIMultiDict[str]:
    headers: CIMultiDict[str] = CIMultiDict()
    for name, value in {**config.headers, **credentials.headers}.items():
        headers[istr(name)] = value
    if credentials.cookies:
        given = [pair.strip() for pair in headers.get(_COOKIE_HEADER, "").split(";")]
        kept = [pair for pair in given if pair and pair.partition("=")[0] not in credentials.cookies]
        own = [f"{name}={value}" for name, value in credentials.cookies.items()]
        headers[_COOKIE_HEADER] = "; ".join([*kept, *own])
    return headers


def _list_cookie_names(header: str) -> Iterator[str]:
    for pair in header.split(";"):
        if name := pair.partition("=")[0].strip():
            yield name


def _add_headers(request: HttpRequest, added: list[tuple[str, str, str]], body: EncodedBody | None) -> None:
    """Add the call's headers and cookies to the request."""
    headers, bare = request.headers, request.bare_headers
    cookies = []
    for place, name, text in added:
        if place == "cookie":
            cookies.append(text)
            continue
        headers[name] = text
        # A credential from the caller is, like the tool's own, only for the tool's origin.
        if place == "header":
            bare[name] = text
    if cookies:
        fixed = headers.get(_COOKIE_HEADER)
        headers[_COOKIE_HEADER] = "; ".join([fixed, *cookies] if fixed else cookies)
    if body is not None and body.content_type is not None:
        headers[_CONTENT_TYPE_HEADER] = bare[_CONTENT_TYPE_HEADER] = body.content_type


def _make_argument_error(error: UnsendableValue, name: str | None) -> InvalidArguments:
    field = error.field or name
    message = f"Field '{field}' {error.reason}"
    problem = FieldProblem(error.code, message, field, error.expected)
    return InvalidArguments(f"Invalid parameters: {message}", problems=[problem])
