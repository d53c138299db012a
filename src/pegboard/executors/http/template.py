"""A tool's request, compiled once and filled for each call."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from multidict import CIMultiDict, istr
from yarl import URL

from pegboard.core.errors import FieldProblem, InvalidArguments, Misconfigured
from pegboard.core.outbound import HttpConfig
from pegboard.executors.credentials import Credentials, is_cookie, is_sensitive, secrets_of
from pegboard.executors.http.bodies import Body, body_builder, content_type_of
from pegboard.executors.http.styles import Write, check_style, cookie_writer, header_writer, query_writer
from pegboard.executors.http.texts import Unwritable
from pegboard.executors.http.urls import UrlTemplate

_IN_QUERY: Final = frozenset({"GET", "HEAD", "DELETE", "OPTIONS"})
_CONTENT_TYPE = istr("Content-Type")
_COOKIE = istr("Cookie")
# Names that calls may bring along; beyond them a way is found anew each time, so that memory stays bounded.
_MOST_WAYS = 1000


class Request(NamedTuple):
    """A request to send; `bare_headers` are those that may also go to another origin."""

    method: str
    url: URL
    headers: CIMultiDict[str]
    body: bytes | None
    bare_headers: CIMultiDict[str]


class _Way(NamedTuple):
    """Where a parameter goes, what it is called there and how it is written."""

    place: str
    name: str = ""
    write: Write = lambda value: None


_NOWHERE = _Way("nowhere")


class RequestTemplate:
    """Makes the requests of one tool."""

    __slots__ = (
        "_bare_body_headers",
        "_body_headers",
        "_build",
        "_config",
        "_default",
        "_headers",
        "_method",
        "_taken_cookies",
        "_taken_headers",
        "_url",
        "_ways",
        "origin",
        "secrets",
    )

    def __init__(self, config: HttpConfig, credentials: Credentials) -> None:
        self._config = config
        self._method = config.method
        self._url = url = UrlTemplate(config, credentials.query)
        self.origin: str = url.origin
        self.secrets: tuple[str, ...] = secrets_of(credentials, config.headers, url.fixed_query)
        in_query = config.method in _IN_QUERY or config.body_param is not None
        self._default = "query" if in_query else "body"
        self._build = body_builder(config)
        self._headers = _headers(config, credentials)
        # Names that the tool sets itself: what a caller sends under one of them is dropped, not added.
        self._taken_headers = frozenset(name.lower() for name in self._headers)
        self._taken_cookies = frozenset(_cookie_names(self._headers.get(_COOKIE, "")))
        content_type = content_type_of(config)
        self._body_headers = self._headers.copy()
        self._body_headers[_CONTENT_TYPE] = content_type
        self._bare_body_headers = CIMultiDict({_CONTENT_TYPE: content_type})
        self._ways: dict[str, _Way] = {}
        for name in {**config.params_in, **config.styles, **config.wire_names, **dict.fromkeys(config.placeholders)}:
            self._ways[name] = self._way(name)
        if config.body_param is not None:
            self._ways[config.body_param] = self._way(config.body_param)

    @classmethod
    def of(cls, config: HttpConfig, auth: Mapping[str, Any] | None) -> RequestTemplate:
        """The template of a tool's requests; raises Misconfigured where none of them could be sent."""
        whole = config.body_param
        for name, place in config.params_in.items():
            if whole is not None and (name == whole) != (place == "body"):
                raise Misconfigured(
                    f"config.body_param says that '{whole}' is the whole body, but params_in puts '{name}' "
                    f"in the {place}; leave one of the two out"
                )
        return cls(config, Credentials.of(auth))

    def fill(self, arguments: Mapping[str, Any]) -> Request:
        """The request for these arguments; raises InvalidArguments for a value that cannot be sent in its place."""
        ways = self._ways
        fields: dict[str, Any] = {}
        added: list[tuple[str, str, str]] = []
        field: str | None = None
        try:
            path = self._url.path(arguments)
            pairs = self._url.pairs(arguments)
            for field, value in arguments.items():
                place, name, write = ways.get(field) or self._learned(field)
                if place == "body":
                    fields[field] = value
                elif place != "nowhere" and (text := write(value)) is not None:
                    if place == "query":
                        pairs.append(text)
                    else:
                        added.append((place, name, text))
            field = None
            body = self._build(fields)
        except Unwritable as error:
            raise _refused(error, field) from None
        url = self._url.joined(path, pairs)
        if body is None:
            filled = Request(self._method, url, self._headers.copy(), None, CIMultiDict())
        else:
            whole, bare = self._body_headers.copy(), self._bare_body_headers.copy()
            filled = Request(self._method, url, whole, body.data, bare)
        if added or (body is not None and body.content_type is not None):
            _add(filled, added, body)
        return filled

    def _learned(self, name: str) -> _Way:
        way = self._way(name)
        if len(self._ways) < _MOST_WAYS:
            self._ways[name] = way
        return way

    def _way(self, name: str) -> _Way:
        config = self._config
        if name in config.placeholders:
            return _NOWHERE
        style = config.styles.get(name)
        wire = config.wire_names.get(name, name)
        place = "body" if name == config.body_param else config.params_in.get(name, self._default)
        match place:
            case "header":
                check_style(name, "header", style)
                way = _Way("private" if is_sensitive(wire) else "header", istr(wire), header_writer(wire, style))
                return _NOWHERE if wire.lower() in self._taken_headers else way
            case "cookie":
                check_style(name, "cookie", style)
                if not is_cookie(wire):
                    raise Misconfigured(f"config: '{wire[:100]}' is not a valid name of a cookie")
                taken = self._taken_cookies
                return _NOWHERE if wire in taken else _Way("cookie", wire, cookie_writer(wire, style, taken))
            case "query":
                check_style(name, "query", style)
                taken = self._url.names
                return _NOWHERE if wire in taken else _Way("query", wire, query_writer(wire, style, taken))
        return _Way("body", wire)


def _headers(config: HttpConfig, credentials: Credentials) -> CIMultiDict[str]:
    headers: CIMultiDict[str] = CIMultiDict()
    for name, value in {**config.headers, **credentials.headers}.items():
        headers[istr(name)] = value
    if credentials.cookies:
        given = [pair.strip() for pair in headers.get(_COOKIE, "").split(";")]
        kept = [pair for pair in given if pair and pair.partition("=")[0] not in credentials.cookies]
        own = [f"{name}={value}" for name, value in credentials.cookies.items()]
        headers[_COOKIE] = "; ".join([*kept, *own])
    return headers


def _cookie_names(header: str) -> Iterator[str]:
    for pair in header.split(";"):
        if name := pair.partition("=")[0].strip():
            yield name


def _add(request: Request, added: list[tuple[str, str, str]], body: Body | None) -> None:
    """Put what a call brings along into the request's headers."""
    headers, bare = request.headers, request.bare_headers
    cookies = []
    for place, name, text in added:
        if place == "cookie":
            cookies.append(text)
            continue
        headers[name] = text
        # What a caller sends as a credential is, like the tool's own, for the tool's own origin.
        if place == "header":
            bare[name] = text
    if cookies:
        fixed = headers.get(_COOKIE)
        headers[_COOKIE] = "; ".join([fixed, *cookies] if fixed else cookies)
    if body is not None and body.content_type is not None:
        headers[_CONTENT_TYPE] = bare[_CONTENT_TYPE] = body.content_type


def _refused(error: Unwritable, name: str | None) -> InvalidArguments:
    field = error.field or name
    message = f"Field '{field}' {error.says}"
    problem = FieldProblem(error.code, message, field, error.expected)
    return InvalidArguments(f"Invalid parameters: {message}", problems=[problem])
