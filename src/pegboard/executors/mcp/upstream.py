"""An MCP server as the board reaches it, and the tools that it offers."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePath
from typing import Any
from urllib.parse import parse_qsl, quote, unquote_plus, urlencode, urlsplit, urlunsplit

from pegboard.core.call import Progress
from pegboard.core.errors import Drifted, Misconfigured, ToolError, UpstreamFailed
from pegboard.core.outbound import McpConfig
from pegboard.executors.credentials import Credentials, secrets_in

_RUNNER = re.compile(r"(?:python[\d.]*|node|npx|bunx|uvx|pipx)$")

Pairs = tuple[tuple[str, str], ...]
OnProgress = Callable[[Progress], None]


@dataclass(frozen=True)
class Upstream:
    """One MCP server, reached in one way with one set of credentials; tools that share all of it share a session."""

    server_url: str | None
    command: tuple[str, ...] | None
    headers: Pairs = ()
    env: Pairs = ()
    working_dir: str | None = None
    # Whose session it is: a server may remember what one person did in it, and nobody else may come upon that.
    owner_id: str = ""

    @classmethod
    def of(cls, config: McpConfig, auth: Mapping[str, Any] | None, owner_id: str = "") -> Upstream:
        """The server that a config names; raises Misconfigured where the credentials cannot be sent to it."""
        if config.server_url is None:
            if auth is not None:
                raise Misconfigured("auth_config is for a server_url; give a command its credentials through env")
            # Commands are for admins only, and one process serves all of them.
            return cls(None, tuple(config.command or ()), (), _pairs(config.env), config.working_dir)
        credentials = Credentials.of(auth)
        headers = dict(credentials.headers)
        if credentials.cookies:
            headers["Cookie"] = "; ".join(f"{name}={value}" for name, value in credentials.cookies.items())
        theirs = {name.lower() for name in headers}
        headers |= {name: value for name, value in config.headers.items() if name.lower() not in theirs}
        for name, value in headers.items():
            if not value.isascii():
                raise Misconfigured(f"The value of the header '{name}' holds a character that is not ASCII")
        return cls(_with_query(config.server_url, credentials.query), None, _pairs(headers), (), None, owner_id)

    @cached_property
    def shown(self) -> str:
        """What messages call it: where it is, or which program it is; no secret is in that."""
        if self.command is not None:
            return f"MCP server '{program_of(self.command)}'"
        parts = urlsplit(self.server_url or "")
        return f"{parts.scheme}://{parts.netloc}"

    @cached_property
    def origin(self) -> str:
        """What it is told apart by when it keeps failing."""
        if self.command is None:
            return self.shown
        told = json.dumps([self.command, self.env, self.working_dir]).encode()
        return f"{self.shown} ({hashlib.sha256(told).hexdigest()[:8]})"

    @cached_property
    def secrets(self) -> frozenset[str]:
        """The texts that must not appear in an answer or an error."""
        query = urlsplit(self.server_url or "").query
        held = (dict(self.headers), dict(self.env), dict(parse_qsl(query)))
        return frozenset(text for values in held for text in secrets_in(values))


@dataclass(frozen=True, slots=True)
class UpstreamTool:
    """A tool as its server describes it, and the digest that changes with any of it."""

    name: str
    title: str | None
    description: str | None
    input_schema: Mapping[str, Any]
    output_schema: Mapping[str, Any] | None
    annotations: Mapping[str, Any]
    digest: str


class Changed(Drifted):
    """The server defines the tool in another way than the one its owner took on."""

    def __init__(self, message: str, live: UpstreamTool) -> None:
        super().__init__(message)
        self.live = live


class Gone(UpstreamFailed):
    """The server does not offer the tool, or no longer."""


class NotRun(Exception):
    """The call surely did not run, for this reason; another session may have more luck."""

    def __init__(self, error: ToolError) -> None:
        super().__init__(error.message)
        self.error = error


def program_of(command: Sequence[str]) -> str:
    """The program that a command starts, and what a program such as npx runs; no further word: it may be a secret."""
    program, *words = (PurePath(word).name for word in command)
    script = next((word for word in words if not word.startswith("-")), "") if _RUNNER.match(program) else ""
    return f"{program} {script}".strip()


def digest_of(  # noqa: PLR0917 -- the fields, in the order of UpstreamTool
    name: str,
    title: str | None,
    description: str | None,
    input_schema: Mapping[str, Any],
    output_schema: Mapping[str, Any] | None,
    annotations: Mapping[str, Any],
) -> str:
    """What a definition is pinned to: the same for the same definition, in whatever order it is written."""
    whole = {
        "name": name,
        "title": title,
        "description": description,
        "inputSchema": input_schema,
        "outputSchema": output_schema,
        "annotations": annotations,
    }
    text = json.dumps(whole, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _pairs(given: Mapping[str, str]) -> Pairs:
    return tuple(sorted(given.items()))


def _with_query(url: str, query: Mapping[str, str]) -> str:
    if not query:
        return url
    parts = urlsplit(url)
    # A credential replaces a pair of the URL that has its name.
    own = [pair for pair in parts.query.split("&") if pair and unquote_plus(pair.partition("=")[0]) not in query]
    return urlunsplit(parts._replace(query="&".join([*own, urlencode(query, quote_via=quote)])))
