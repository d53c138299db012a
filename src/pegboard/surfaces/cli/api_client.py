"""The client that all commands use: REST over the network, or within this process."""

from __future__ import annotations

import ipaddress
import json
import re
import ssl
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypedDict, Unpack
from urllib.parse import quote

import httpx
from httpx_sse import EventSource

from pegboard.surfaces.cli.exit_codes import BoardUnreachable, RequestRefused, UsageError
from pegboard.surfaces.cli.session import ALL_PAGES, CliSession, PageOptions, read_settings

PAGE_SIZE = 200
EVENT_STREAM_TYPE = "text/event-stream"
JSON_LINES_TYPE = "application/x-ndjson"
CONNECT_TIMEOUT_SECONDS = 5.0
READ_TIMEOUT_SECONDS = 60.0
_START_SERVER_HINT = "Start one with: pegboard serve. Or give its URL with --url or PEGBOARD_URL."


@dataclass(frozen=True, slots=True)
class ApiReply:
    """A response of the board: the raw text and the parsed data."""

    status: int
    text: str
    data: Any
    headers: Mapping[str, str] = field(default_factory=dict)


class ServerEvent(NamedTuple):
    """A server-sent event: its id if it has one, its name, and its data, parsed and as text."""

    number: str
    name: str
    text: str
    data: Any


class OpenedStream(NamedTuple):
    """An open response: a stream of events, or a complete reply if the board sent no stream."""

    run_id: str | None
    events: AsyncIterator[ServerEvent]
    reply: ApiReply | None


class RequestOptions(TypedDict, total=False):
    """The optional parts of a request; `patient` disables the read timeout."""

    params: Mapping[str, Any] | None
    body: bytes | None
    headers: Mapping[str, str] | None
    patient: bool


class ApiClient:
    """Sends requests to the board, and converts every error to a CommandFailure."""

    def __init__(self, http: httpx.AsyncClient, url: str, key_from: str) -> None:
        self.url = url
        self._http = http
        self._key_source = key_from

    async def get(self, path: str, **params: Any) -> ApiReply:
        """Send a GET request."""
        return await self.send("GET", path, params=params)

    async def post(self, path: str, body: Any = None, *, patient: bool = False) -> ApiReply:
        """Send a POST request with a JSON body; `patient` disables the read timeout."""
        return await self.send("POST", path, body=None if body is None else _encode_json(body), patient=patient)

    async def patch(self, path: str, body: Any) -> ApiReply:
        """Send a PATCH request with a JSON body."""
        return await self.send("PATCH", path, body=_encode_json(body))

    async def put(self, path: str, body: Any) -> ApiReply:
        """Send a PUT request with a JSON body."""
        return await self.send("PUT", path, body=_encode_json(body))

    async def delete(self, path: str) -> None:
        """Send a DELETE request."""
        await self.send("DELETE", path)

    async def pages(
        self, path: str, params: Mapping[str, Any] | None = None, page: PageOptions = ALL_PAGES
    ) -> ApiReply:
        """Return one list from as many pages as the options require."""
        limit, cursor, every = page
        items: list[Any] = []
        while True:
            wanted = PAGE_SIZE if every else min(PAGE_SIZE, limit - len(items))
            reply = await self.get(path, **(params or {}), limit=wanted, cursor=cursor)
            cursor = reply.data["next_cursor"]
            if not items and (cursor is None or (not every and wanted == limit)):
                return reply
            items += reply.data["items"]
            if cursor is None or (not every and len(items) >= limit):
                whole = {"items": items, "next_cursor": cursor}
                return ApiReply(reply.status, json.dumps(whole, ensure_ascii=False), whole)

    async def send(
        self, method: str, path: str, *, any_status: bool = False, **options: Unpack[RequestOptions]
    ) -> ApiReply:
        """Return the response; raise a CommandFailure for an error status unless `any_status`."""
        request = self._request(method, path, options)
        with self._failures():
            response = await self._http.send(request)
            return self._read(response, any_status=any_status)

    async def lines(self, path: str, params: Mapping[str, Any]) -> AsyncIterator[str]:
        """Yield the text of each response of JSON Lines until there are no more lines."""
        cursor: str | None = None
        while True:
            reply = await self.get(path, **params, cursor=cursor)
            yield reply.text
            cursor = reply.headers.get("x-next-cursor")
            if cursor is None:
                return

    @asynccontextmanager
    async def open_events(
        self, method: str, path: str, **options: Unpack[RequestOptions]
    ) -> AsyncIterator[OpenedStream]:
        """Yield the open response; raise a CommandFailure on errors, and after a minute of silence unless `patient`."""
        options["headers"] = {"Accept": EVENT_STREAM_TYPE, **(options.get("headers") or {})}
        request = self._request(method, path, options)
        with self._failures():
            response = await self._http.send(request, stream=True)
            try:
                is_stream = response.headers.get("content-type", "").startswith(EVENT_STREAM_TYPE)
                if not is_stream:
                    await response.aread()
                reply = None if is_stream else self._read(response, any_status=False)
                yield OpenedStream(response.headers.get("x-run-id"), read_events(response), reply)
            finally:
                await response.aclose()

    async def follow_import(self, path: str, body: Any, on_progress: Callable[[dict[str, Any]], None]) -> ApiReply:
        """Return the final report and pass progress to `on_progress`; raise a CommandFailure on an error event."""
        async with self.open_events("POST", path, body=_encode_json(body), patient=True) as opened:
            if opened.reply is not None:
                return opened.reply
            async for event in opened.events:
                if event.name == "complete":
                    return ApiReply(200, event.text, event.data)
                if event.name == "error":
                    raise self._refusal(int(event.data.get("status") or 500), event.data)
                on_progress(event.data)
        raise BoardUnreachable(
            f"The connection to {self.url} was closed before the import ended; run it again to see what is left"
        )

    def _request(self, method: str, path: str, options: RequestOptions) -> httpx.Request:
        given, body = options.get("params") or {}, options.get("body")
        params = {name: _encode_parameter(value) for name, value in given.items() if value is not None}
        content_type = {} if body is None else {"Content-Type": "application/json"}
        read_timeout = None if options.get("patient") else READ_TIMEOUT_SECONDS
        return self._http.build_request(
            method,
            self.url + path,
            params=params or None,
            content=body,
            headers={**content_type, **(options.get("headers") or {})},
            timeout=httpx.Timeout(READ_TIMEOUT_SECONDS, connect=CONNECT_TIMEOUT_SECONDS, read=read_timeout),
        )

    @contextmanager
    def _failures(self) -> Iterator[None]:
        """Convert transport errors to BoardUnreachable."""
        try:
            yield
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            why = str(error) or "no response in time"
            raise BoardUnreachable(f"No board can be reached at {self.url}: {why}", [_START_SERVER_HINT]) from None
        except httpx.TimeoutException:
            raise BoardUnreachable(
                f"The board at {self.url} did not answer in {READ_TIMEOUT_SECONDS:g} seconds"
            ) from None
        except (httpx.TransportError, httpx.DecodingError) as error:
            raise BoardUnreachable(
                f"The connection to {self.url} broke: {str(error) or type(error).__name__}"
            ) from None

    def _read(self, response: httpx.Response, *, any_status: bool) -> ApiReply:
        kind = response.headers.get("content-type", "").partition(";")[0].strip()
        if response.status_code == 204:
            return ApiReply(204, "", None)
        # Every response of a board has a request id; a response without one is from another server, such as a proxy.
        ours = "x-request-id" in response.headers
        if ours and response.is_success and kind == JSON_LINES_TYPE:
            return ApiReply(response.status_code, response.text, None, response.headers)
        if ours and kind in ("application/json", "application/problem+json"):
            try:
                data = json.loads(response.text)
            except (ValueError, RecursionError):
                raise BoardUnreachable(
                    f"{self.url} is not a Pegboard server (it answered with invalid JSON). Check --url."
                ) from None
            if kind == "application/problem+json" and isinstance(data, dict):
                raise self._refusal(response.status_code, data)
            if response.is_success or any_status:
                return ApiReply(response.status_code, response.text, data, response.headers)
        what = f"HTTP {response.status_code}" + (f", {kind}" if kind else "")
        raise BoardUnreachable(
            f"{self.url} is not a Pegboard server (it answered {what}). Check --url.", [_START_SERVER_HINT]
        )

    def _refusal(self, status: int, problem: Mapping[str, Any]) -> RequestRefused:
        detail = str(problem.get("detail") or problem.get("title") or f"HTTP {status}")
        errors = problem.get("errors")
        faults = [fault for fault in errors if isinstance(fault, dict)] if isinstance(errors, list) else []
        lines = [f"{fault.get('field')}: {fault.get('message')}" for fault in faults] if len(faults) > 1 else []
        if status == 401:
            lines.append(f"The key came from {self._key_source}; an admin makes a new one with: pegboard keys create")
        return RequestRefused(detail, lines, status=status, faults=faults, problem=problem)


@asynccontextmanager
async def open_client(session: CliSession, *, keyless: bool = False) -> AsyncIterator[ApiClient]:
    """Yield a client for the board that the options select; `keyless` sends no key."""
    if session.local:
        from pegboard.surfaces.cli.in_process_client import open_board  # noqa: PLC0415 -- only --local needs the board

        async with open_board() as http:
            yield ApiClient(http, "http://pegboard", "this process")
        return
    url = check_url(session.url)
    key, key_from = (None, "nowhere") if keyless else find_key(session)
    headers = {"X-Pegboard-Surface": "cli"} | ({"Authorization": f"Bearer {key}"} if key else {})
    plain = url.startswith("http:")
    # Without TLS, an empty trust store saves the time to load the real one.
    verify = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if plain else True
    # Ignore proxy settings for a board on this machine.
    async with httpx.AsyncClient(
        headers=headers, verify=verify, trust_env=not (plain and is_loopback(httpx.URL(url).host))
    ) as http:
        yield ApiClient(http, url, key_from)


def find_key(session: CliSession) -> tuple[str, str]:
    """Return the key to send and where it was found; raise UsageError, with the places searched, if there is none."""
    if session.key:
        key, where = session.key.strip(), "--key or PEGBOARD_KEY"
    else:
        file = read_settings().credentials_file
        where = str(file)
        try:
            key = file.read_text(encoding="ascii", errors="replace").strip()
        except FileNotFoundError:
            raise UsageError(
                f"No key was found: --key and PEGBOARD_KEY are not set, and there is no {file}",
                ["The first start of a board writes that file: pegboard serve. For another board, set PEGBOARD_KEY."],
            ) from None
        except OSError as error:
            raise UsageError(f"The key in {file} cannot be read: {error.strerror}") from None
    if not is_printable_key(key):
        raise UsageError(f"The key from {where} is invalid: a key is a line of printable ASCII without spaces")
    return key, where


_HOST_AND_PORT = re.compile(r"[\w.-]+(:\d{1,5})?")


def check_url(url: str) -> str:
    """Return the URL of the board without a trailing slash; raise UsageError if it is not the URL of a server."""
    try:
        parsed = httpx.URL(url)
    except httpx.InvalidURL as error:
        raise UsageError(f"'{url}' is not a URL: {error}") from None
    if parsed.scheme not in ("http", "https") or not parsed.host or parsed.query or parsed.fragment:
        example = f"http://{url}" if _HOST_AND_PORT.fullmatch(url) else "http://127.0.0.1:8080"
        raise UsageError(f"'{url}' is not the URL of a server. Write it like {example}")
    return str(parsed).rstrip("/")


def is_printable_key(key: str) -> bool:
    """Return True if the text can be a key."""
    return bool(key) and key.isascii() and key.isprintable() and " " not in key


def is_loopback(host: str) -> bool:
    """Return True if the host is this machine."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _encode_json(body: Any) -> bytes:
    return json.dumps(body, allow_nan=False).encode()


def _encode_parameter(value: Any) -> Any:
    # httpx writes True as `true`; words of the command line that are not UTF-8 cannot be encoded.
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else value


def build_path(*parts: str) -> str:
    """Return the quoted API path of these parts; raise UsageError if a part cannot be a name or an id."""
    for part in parts:
        if part in ("", ".", "..") or "/" in part:
            raise UsageError(f"'{part}' cannot be a name or an id")
    return "/" + "/".join(quote(part, safe="", errors="replace") for part in ("v1", *parts))


async def read_events(response: httpx.Response) -> AsyncIterator[ServerEvent]:
    """Yield the events of a stream; raise BoardUnreachable if the data of one is not JSON."""
    async for event in EventSource(response).aiter_sse():
        if not event.data:  # a comment or `retry` alone, such as the keep-alive
            continue
        try:
            data = json.loads(event.data)
        except (ValueError, RecursionError):
            raise BoardUnreachable(f"The server sent an event '{event.event[:100]}' that cannot be read") from None
        yield ServerEvent(event.id, event.event, event.data, data)
