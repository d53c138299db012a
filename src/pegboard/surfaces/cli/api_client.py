"""The one way to the board: REST, over the network or within this process."""

from __future__ import annotations

import ipaddress
import json
import re
import secrets
import ssl
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import httpx

from pegboard.surfaces.cli.exit_codes import BoardUnreachable, RequestRefused, UsageError
from pegboard.surfaces.cli.output import write_message
from pegboard.surfaces.cli.session import CliSession

if TYPE_CHECKING:
    from pegboard.settings import Settings

PAGE_SIZE = 200
CONNECT_TIMEOUT_SECONDS = 5.0
READ_TIMEOUT_SECONDS = 60.0
_START_SERVER_HINT = "Start one with: pegboard serve. Or say where it is with --url or PEGBOARD_URL."


@dataclass(frozen=True, slots=True)
class ApiReply:
    """A response of the board: the raw text and the parsed data."""

    status: int
    text: str
    data: Any
    headers: Mapping[str, str] = field(default_factory=dict)


class ApiClient:
    """Sends requests to the board, and converts every error to a CommandFailure."""

    def __init__(self, http: httpx.AsyncClient, url: str, key_from: str) -> None:
        self._http = http
        self._url = url
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
        self, path: str, params: Mapping[str, Any], *, limit: int, cursor: str | None, every: bool = False
    ) -> ApiReply:
        """Return one list from as many pages as `limit` requires, or from all pages if `every`."""
        items: list[Any] = []
        while True:
            wanted = PAGE_SIZE if every else min(PAGE_SIZE, limit - len(items))
            reply = await self.get(path, **params, limit=wanted, cursor=cursor)
            cursor = reply.data["next_cursor"]
            if not items and (cursor is None or (not every and wanted == limit)):
                return reply
            items += reply.data["items"]
            if cursor is None or (not every and len(items) >= limit):
                whole = {"items": items, "next_cursor": cursor}
                return ApiReply(reply.status, json.dumps(whole, ensure_ascii=False), whole)

    async def send(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, Any] | None = None,
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
        patient: bool = False,
        any_status: bool = False,
    ) -> ApiReply:
        """Return the response; raise a CommandFailure for an error status unless `any_status`."""
        request = self._request(method, path, params=params, body=body, headers=headers, patient=patient)
        with self._failures():
            response = await self._http.send(request)
            return self._read(response, any_status=any_status)

    def _request(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, Any] | None,
        body: bytes | None,
        headers: Mapping[str, str] | None,
        patient: bool,
    ) -> httpx.Request:
        return self._http.build_request(
            method,
            self._url + path,
            params={name: _encode_parameter(value) for name, value in (params or {}).items() if value is not None}
            or None,
            content=body,
            headers={**({"Content-Type": "application/json"} if body is not None else {}), **(headers or {})},
            timeout=httpx.Timeout(
                READ_TIMEOUT_SECONDS, connect=CONNECT_TIMEOUT_SECONDS, read=None if patient else READ_TIMEOUT_SECONDS
            ),
        )

    @contextmanager
    def _failures(self) -> Iterator[None]:
        """Convert transport errors to BoardUnreachable."""
        try:
            yield
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            why = str(error) or "no answer in time"
            raise BoardUnreachable(f"No board can be reached at {self._url}: {why}", [_START_SERVER_HINT]) from None
        except httpx.TimeoutException:
            raise BoardUnreachable(
                f"The board at {self._url} did not answer in {READ_TIMEOUT_SECONDS:g} seconds"
            ) from None
        except (httpx.TransportError, httpx.DecodingError) as error:
            raise BoardUnreachable(
                f"The connection to {self._url} broke: {str(error) or type(error).__name__}"
            ) from None

    def _read(self, response: httpx.Response, *, any_status: bool) -> ApiReply:
        kind = response.headers.get("content-type", "").partition(";")[0].strip()
        if response.status_code == 204:
            return ApiReply(204, "", None)
        # Every response of a board has a request id; a response without one is from another server, such as a proxy.
        ours = "x-request-id" in response.headers
        if ours and kind in ("application/json", "application/problem+json"):
            try:
                data = json.loads(response.text)
            except (ValueError, RecursionError):
                raise BoardUnreachable(
                    f"{self._url} is not a Pegboard server (it answered with invalid JSON). Check --url."
                ) from None
            if kind == "application/problem+json" and isinstance(data, dict):
                raise self._refusal(response.status_code, data)
            if response.is_success or any_status:
                return ApiReply(response.status_code, response.text, data, response.headers)
        what = f"HTTP {response.status_code}" + (f", {kind}" if kind else "")
        raise BoardUnreachable(
            f"{self._url} is not a Pegboard server (it answered {what}). Check --url.", [_START_SERVER_HINT]
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
        async with _open_in_process() as client:
            yield client
        return
    url = check_url(session.url)
    key, key_from = (None, "nowhere") if keyless else find_key(session)
    headers = {"X-Pegboard-Surface": "cli"} | ({"Authorization": f"Bearer {key}"} if key else {})
    plain = url.startswith("http:")
    # Without TLS, an empty trust store saves the time to load the real one.
    verify = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if plain else True
    # Ignore proxy settings for a board on this machine.
    async with httpx.AsyncClient(headers=headers, verify=verify, trust_env=not (plain and _is_loopback(url))) as http:
        yield ApiClient(http, url, key_from)


@asynccontextmanager
async def _open_in_process() -> AsyncIterator[ApiClient]:
    from pegboard.board import Pegboard  # noqa: PLC0415 -- start-up time
    from pegboard.surfaces.cli.in_process_client import InProcessTransport  # noqa: PLC0415 -- start-up time
    from pegboard.surfaces.rest.app import create_app  # noqa: PLC0415 -- start-up time
    from pegboard.telemetry.logs import configure_logs  # noqa: PLC0415 -- start-up time
    from pegboard.version import __version__  # noqa: PLC0415 -- start-up time

    settings = read_settings()
    configure_logs("warning", settings.log_format)
    async with AsyncExitStack() as stack:
        try:
            board = await stack.enter_async_context(Pegboard.open(settings=settings))
        except Exception as error:
            why = str(error) or type(error).__name__
            raise BoardUnreachable(
                f"The board cannot be opened: {why}", ["See what is wrong with: pegboard doctor"]
            ) from None
        if board.new_key and settings.credentials_file.exists():
            write_message(
                f"A new board was set up in {settings.home}; the admin's key is in {settings.credentials_file}"
            )
        token = secrets.token_urlsafe(32)
        board.snapshot.admit(token, board.admin)
        headers = {"Authorization": f"Bearer {token}", "X-Pegboard-Surface": "cli"}
        transport = InProcessTransport(create_app(board, __version__))
        http = await stack.enter_async_context(httpx.AsyncClient(transport=transport, headers=headers))
        yield ApiClient(http, "http://pegboard", "this process")


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
    if not key or not key.isascii() or not key.isprintable() or " " in key:
        raise UsageError(f"The key from {where} is not one: a key is a line of printable ASCII without spaces")
    return key, where


def read_settings(**given: Any) -> Settings:
    """Return the settings of this machine, overridden by those given; raise UsageError if some are invalid."""
    from pegboard.settings import InvalidSettings, Settings  # noqa: PLC0415 -- start-up time

    try:
        return Settings(**given)
    except InvalidSettings as error:
        raise UsageError("The settings are not valid", error.faults) from None
    except (ValueError, OSError) as error:
        raise UsageError(f"The settings cannot be read: {error}") from None


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


def _is_loopback(url: str) -> bool:
    host = httpx.URL(url).host
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _encode_json(body: Any) -> bytes:
    return json.dumps(body, allow_nan=False).encode()


def _encode_parameter(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value).encode("utf-8", "replace").decode()
