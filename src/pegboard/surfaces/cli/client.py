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

from pegboard.surfaces.cli.failures import Refused, Unreachable, Usage
from pegboard.surfaces.cli.output import say
from pegboard.surfaces.cli.session import Session

if TYPE_CHECKING:
    from pegboard.settings import Settings

PAGE = 200
CONNECT_SECONDS = 5.0
READ_SECONDS = 60.0
_START_ONE = "Start one with: pegboard serve. Or say where it is with --url or PEGBOARD_URL."


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer of the board: its text as it came, and what that says."""

    status: int
    text: str
    data: Any
    headers: Mapping[str, str] = field(default_factory=dict)


class Client:
    """Asks the board, and turns whatever goes wrong into a Failure."""

    def __init__(self, http: httpx.AsyncClient, url: str, key_from: str) -> None:
        self._http = http
        self._url = url
        self._key_from = key_from

    async def get(self, path: str, **params: Any) -> Reply:
        """Read something."""
        return await self.send("GET", path, params=params)

    async def post(self, path: str, body: Any = None, *, patient: bool = False) -> Reply:
        """Make or do something; `patient` waits for as long as it takes."""
        return await self.send("POST", path, body=None if body is None else _encoded(body), patient=patient)

    async def patch(self, path: str, body: Any) -> Reply:
        """Change something."""
        return await self.send("PATCH", path, body=_encoded(body))

    async def put(self, path: str, body: Any) -> Reply:
        """Set something."""
        return await self.send("PUT", path, body=_encoded(body))

    async def delete(self, path: str) -> None:
        """Remove something."""
        await self.send("DELETE", path)

    async def pages(
        self, path: str, params: Mapping[str, Any], *, limit: int, cursor: str | None, every: bool = False
    ) -> Reply:
        """One list out of as many pages as `limit` needs, or all of them."""
        items: list[Any] = []
        while True:
            wanted = PAGE if every else min(PAGE, limit - len(items))
            reply = await self.get(path, **params, limit=wanted, cursor=cursor)
            cursor = reply.data["next_cursor"]
            if not items and (cursor is None or (not every and wanted == limit)):
                return reply
            items += reply.data["items"]
            if cursor is None or (not every and len(items) >= limit):
                whole = {"items": items, "next_cursor": cursor}
                return Reply(reply.status, json.dumps(whole, ensure_ascii=False), whole)

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
    ) -> Reply:
        """The board's answer; one that is no success is a Failure unless `any_status`."""
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
            params={name: _parameter(value) for name, value in (params or {}).items() if value is not None} or None,
            content=body,
            headers={**({"Content-Type": "application/json"} if body is not None else {}), **(headers or {})},
            timeout=httpx.Timeout(READ_SECONDS, connect=CONNECT_SECONDS, read=None if patient else READ_SECONDS),
        )

    @contextmanager
    def _failures(self) -> Iterator[None]:
        """Whatever goes wrong on the way, as a Failure."""
        try:
            yield
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            why = str(error) or "no answer in time"
            raise Unreachable(f"No board can be reached at {self._url}: {why}", [_START_ONE]) from None
        except httpx.TimeoutException:
            raise Unreachable(f"The board at {self._url} did not answer in {READ_SECONDS:g} seconds") from None
        except (httpx.TransportError, httpx.DecodingError) as error:
            raise Unreachable(f"The connection to {self._url} broke: {str(error) or type(error).__name__}") from None

    def _read(self, response: httpx.Response, *, any_status: bool) -> Reply:
        kind = response.headers.get("content-type", "").partition(";")[0].strip()
        if response.status_code == 204:
            return Reply(204, "", None)
        # Every answer of a board has a request id; what has none is somebody else's, whatever it looks like.
        ours = "x-request-id" in response.headers
        if ours and kind in ("application/json", "application/problem+json"):
            try:
                data = json.loads(response.text)
            except (ValueError, RecursionError):
                raise Unreachable(
                    f"{self._url} is not a Pegboard server (it answered with invalid JSON). Check --url."
                ) from None
            if kind == "application/problem+json" and isinstance(data, dict):
                raise self._refusal(response.status_code, data)
            if response.is_success or any_status:
                return Reply(response.status_code, response.text, data, response.headers)
        what = f"HTTP {response.status_code}" + (f", {kind}" if kind else "")
        raise Unreachable(f"{self._url} is not a Pegboard server (it answered {what}). Check --url.", [_START_ONE])

    def _refusal(self, status: int, problem: Mapping[str, Any]) -> Refused:
        detail = str(problem.get("detail") or problem.get("title") or f"HTTP {status}")
        errors = problem.get("errors")
        faults = [fault for fault in errors if isinstance(fault, dict)] if isinstance(errors, list) else []
        lines = [f"{fault.get('field')}: {fault.get('message')}" for fault in faults] if len(faults) > 1 else []
        if status == 401:
            lines.append(f"The key came from {self._key_from}; an admin makes a new one with: pegboard keys create")
        return Refused(detail, lines, status=status, faults=faults, problem=problem)


@asynccontextmanager
async def open_client(session: Session, *, keyless: bool = False) -> AsyncIterator[Client]:
    """A client for the board that the options name; `keyless` sends no key."""
    if session.local:
        async with _in_process() as client:
            yield client
        return
    url = checked_url(session.url)
    key, key_from = (None, "nowhere") if keyless else find_key(session)
    headers = {"X-Pegboard-Surface": "cli"} | ({"Authorization": f"Bearer {key}"} if key else {})
    plain = url.startswith("http:")
    # An empty trust store saves reading the real one, where no TLS is spoken.
    verify = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if plain else True
    # No proxy is asked for a board on this machine.
    async with httpx.AsyncClient(headers=headers, verify=verify, trust_env=not (plain and _is_loopback(url))) as http:
        yield Client(http, url, key_from)


@asynccontextmanager
async def _in_process() -> AsyncIterator[Client]:
    from pegboard.board import Pegboard  # noqa: PLC0415 -- start-up time
    from pegboard.core.version import __version__  # noqa: PLC0415 -- start-up time
    from pegboard.surfaces.cli.in_process import InProcess  # noqa: PLC0415 -- start-up time
    from pegboard.surfaces.rest.app import create_app  # noqa: PLC0415 -- start-up time
    from pegboard.telemetry.logs import configure_logs  # noqa: PLC0415 -- start-up time

    settings = read_settings()
    configure_logs("warning", settings.log_format)
    async with AsyncExitStack() as stack:
        try:
            board = await stack.enter_async_context(Pegboard.open(settings=settings))
        except Exception as error:
            why = str(error) or type(error).__name__
            raise Unreachable(
                f"The board cannot be opened: {why}", ["See what is wrong with: pegboard doctor"]
            ) from None
        if board.new_key and settings.credentials_file.exists():
            say(f"A new board was set up in {settings.home}; the admin's key is in {settings.credentials_file}")
        token = secrets.token_urlsafe(32)
        board.snapshot.admit(token, board.admin)
        headers = {"Authorization": f"Bearer {token}", "X-Pegboard-Surface": "cli"}
        transport = InProcess(create_app(board, __version__))
        http = await stack.enter_async_context(httpx.AsyncClient(transport=transport, headers=headers))
        yield Client(http, "http://pegboard", "this process")


def find_key(session: Session) -> tuple[str, str]:
    """The key to send, and where it was found; Usage says where it was looked for."""
    if session.key:
        key, where = session.key.strip(), "--key or PEGBOARD_KEY"
    else:
        file = read_settings().credentials_file
        where = str(file)
        try:
            key = file.read_text(encoding="ascii", errors="replace").strip()
        except FileNotFoundError:
            raise Usage(
                f"No key was found: --key and PEGBOARD_KEY are not set, and there is no {file}",
                ["The first start of a board writes that file: pegboard serve. For another board, set PEGBOARD_KEY."],
            ) from None
        except OSError as error:
            raise Usage(f"The key in {file} cannot be read: {error.strerror}") from None
    if not key or not key.isascii() or not key.isprintable() or " " in key:
        raise Usage(f"The key from {where} is not one: a key is a line of printable ASCII without spaces")
    return key, where


def read_settings(**given: Any) -> Settings:
    """The settings of this machine, and those given; Usage names those that are wrong."""
    from pydantic import ValidationError  # noqa: PLC0415 -- start-up time
    from pydantic_settings import SettingsError  # noqa: PLC0415 -- start-up time

    from pegboard.settings import Settings  # noqa: PLC0415 -- start-up time

    try:
        return Settings(**given)
    except ValidationError as error:
        lines = [_setting_fault(fault) for fault in error.errors(include_url=False)]
        raise Usage("The settings are not valid", lines) from None
    except SettingsError as error:
        field = _SETTING.search(str(error))
        if field is None:
            raise Usage(f"The settings cannot be read: {error}") from None
        example = ' Write {"max_calls": 5, "period": "minute"}' if field[1] == "key_rate" else ""
        raise Usage(f"PEGBOARD_{field[1].upper()} is not JSON.{example}") from None
    except (ValueError, OSError) as error:
        raise Usage(f"The settings cannot be read: {error}") from None


def _setting_fault(fault: Mapping[str, Any]) -> str:
    from pegboard.core.model_errors import message_of  # noqa: PLC0415 -- start-up time

    name, *inside = map(str, fault["loc"]) if fault["loc"] else ("",)
    if inside and fault["type"] == "missing":
        return f"PEGBOARD_{name.upper()}: '{'.'.join(inside)}' is missing"
    return f"PEGBOARD_{name.upper()}: {''.join(f'{step}: ' for step in inside)}{message_of(fault)}"


_SETTING = re.compile(r'field "(\w+)"')
_HOST_AND_PORT = re.compile(r"[\w.-]+(:\d{1,5})?")


def checked_url(url: str) -> str:
    """The board's address, without a slash at its end."""
    try:
        parsed = httpx.URL(url)
    except httpx.InvalidURL as error:
        raise Usage(f"'{url}' is not a URL: {error}") from None
    if parsed.scheme not in ("http", "https") or not parsed.host or parsed.query or parsed.fragment:
        example = f"http://{url}" if _HOST_AND_PORT.fullmatch(url) else "http://127.0.0.1:8080"
        raise Usage(f"'{url}' is not the URL of a server. Write it like {example}")
    return str(parsed).rstrip("/")


def _is_loopback(url: str) -> bool:
    host = httpx.URL(url).host
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _encoded(body: Any) -> bytes:
    return json.dumps(body, allow_nan=False).encode()


def _parameter(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value).encode("utf-8", "replace").decode()
