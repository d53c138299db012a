"""The files in which MCP clients keep their servers, read as imports: JSON with or without comments, and TOML."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pegboard.model.documents import read_json, read_text
from pegboard.model.secrets import SCHEME_AND_CREDENTIAL, SECRET_REFERENCE, is_credential_parameter
from pegboard.surfaces.cli.exit_codes import UsageError
from pegboard.surfaces.cli.input_files import locate_document_errors, read_input

FILE_SUFFIXES = (".json", ".jsonc", ".toml")
# The members that hold the servers: most clients, VS Code, Codex, Zed.
_ROOTS = ("mcpServers", "servers", "mcp_servers", "context_servers")
_URL_MEMBERS = ("url", "httpUrl", "serverUrl")
_HEADER_MEMBERS = ("headers", "http_headers")
_HTTP_TYPES = (None, "stdio", "http", "streamable-http", "streamable_http", "streamableHttp")
# A text, which stays, or a comment or a trailing comma, which does not.
_COMMENT = re.compile(r'("(?:\\.|[^"\\\n])*")|//[^\n]*|/\*.*?\*/', re.DOTALL)
_TRAILING_COMMA = re.compile(r'("(?:\\.|[^"\\\n])*")|,(?=\s*[}\]])', re.DOTALL)
_VARIABLE = re.compile(r"\$\{([^}]*)\}")
_WHOLE_VARIABLE = re.compile(r"\$([A-Za-z_][A-Za-z0-9_]*)", re.ASCII)
_URL_WITH_PASSWORD = re.compile(r"://[^/\s:@]*:[^/\s@]+@")
_NOT_IN_SECRET_NAMES = re.compile(r"[^A-Za-z0-9_.-]", re.ASCII)
_MAX_SECRET_NAME = 240


@dataclass(slots=True)
class FileServer:
    """One server of a file: the body of its import, which refers to the secrets, and the values of the secrets."""

    name: str
    body: dict[str, Any] = field(default_factory=dict)
    secrets: dict[str, str] = field(default_factory=dict)
    # Why it cannot be imported.
    problem: str | None = None
    is_disabled: bool = False


class _Unusable(Exception):
    """The entry of a server cannot be read; the message has the reason."""


def is_server_file(words: list[str]) -> bool:
    """Return True if the source of an import is a file of a client, not a URL or a command."""
    return len(words) == 1 and "://" not in words[0] and words[0].lower().endswith(FILE_SUFFIXES)


def read_server_file(source: str, environment: Mapping[str, str]) -> list[FileServer]:
    """Return the servers of the file in order; raise UsageError if it cannot be read or has none."""
    with locate_document_errors(source):
        text = read_text(read_input(source))
        data = _read_toml(source, text) if source.lower().endswith(".toml") else read_json(_remove_comments(text))
    found = next((data[root] for root in _ROOTS if root in data), None) if isinstance(data, dict) else None
    if not isinstance(found, dict) or not found:
        raise UsageError(f"{source}: no servers in it; they are expected in {', '.join(_ROOTS[:-1])} or {_ROOTS[-1]}")
    return [_read_server(name, entry, environment) for name, entry in found.items()]


def _read_toml(source: str, text: str) -> Any:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{source}: not TOML: {error}") from None


def _remove_comments(text: str) -> str:
    """Return the text without comments and trailing commas; line breaks stay, for the lines in messages."""
    without = _COMMENT.sub(lambda match: match[1] or "\n" * match[0].count("\n"), text)
    return _TRAILING_COMMA.sub(lambda match: match[1] or "", without)


def _read_server(name: str, entry: Any, environment: Mapping[str, str]) -> FileServer:
    server = FileServer(name)
    if not isinstance(entry, dict):
        server.problem = "not an object"
        return server
    server.is_disabled = entry.get("disabled") is True or entry.get("enabled") is False
    if not server.is_disabled:
        try:
            server.body = _EntryReader(server, entry, environment).read()
        except _Unusable as problem:
            server.problem = str(problem)
    return server


class _EntryReader:
    """Reads the entry of one server, and collects its secrets."""

    def __init__(self, server: FileServer, entry: Mapping[str, Any], environment: Mapping[str, str]) -> None:
        self._server = server
        self._entry = entry
        self._environment = environment

    def read(self) -> dict[str, Any]:
        """Return the body of the import; raise _Unusable if the entry is not valid."""
        kind = self._entry.get("type") or self._entry.get("transport")
        if kind not in _HTTP_TYPES:
            raise _Unusable(f"the transport '{kind}' is not supported")
        url = next((self._entry[member] for member in _URL_MEMBERS if self._entry.get(member)), None)
        if url is None and not self._entry.get("command"):
            raise _Unusable("it has neither a command nor a url")
        return self._read_command() if url is None else self._read_url(url)

    def _read_url(self, url: Any) -> dict[str, Any]:
        server_url = self._expand(_check_text("url", url))
        headers: dict[str, str] = {}
        for member in _HEADER_MEMBERS:
            headers |= self._read_values(member)
        for header, variable in self._read_texts("env_http_headers").items():
            headers[header] = self._hide(header, self._get_variable(variable))
        if token_variable := self._entry.get("bearer_token_env_var"):
            headers["Authorization"] = "Bearer " + self._hide("Authorization", self._get_variable(str(token_variable)))
        return {"server_url": server_url, **({"headers": headers} if headers else {})}

    def _read_command(self) -> dict[str, Any]:
        if self._entry.get("envFile"):
            raise _Unusable("it has an envFile, which is not read; put its values into env")
        args = self._entry.get("args") or []
        if not isinstance(args, list):
            raise _Unusable("args is not a list")
        words = [self._entry["command"], *args]
        env = self._read_values("env")
        passed = self._entry.get("env_vars") or []
        for item in passed if isinstance(passed, list) else [passed]:
            variable = str(item.get("name") if isinstance(item, dict) else item)
            # Codex passes those that are set.
            if variable in self._environment:
                env.setdefault(variable, self._read_value(variable, self._environment[variable]))
        body = {"command": [self._expand(_check_text("command", word)) for word in words], "env": env}
        if self._entry.get("cwd"):
            body["working_dir"] = self._expand(_check_text("cwd", self._entry["cwd"]))
        return {name: value for name, value in body.items() if value}

    def _read_texts(self, member: str) -> dict[str, str]:
        values = self._entry.get(member) or {}
        if not isinstance(values, dict):
            raise _Unusable(f"{member} is not an object")
        return {name: _check_text(member, value) for name, value in values.items() if value is not None}

    def _read_values(self, member: str) -> dict[str, str]:
        values = self._read_texts(member).items()
        return {name: self._read_value(name, self._expand(value, is_whole=True)) for name, value in values}

    def _read_value(self, name: str, value: str) -> str:
        """Return the value, or a reference to a secret if the name or the value is that of a credential."""
        is_secret = is_credential_parameter(name) or _URL_WITH_PASSWORD.search(value) is not None
        if not is_secret or SECRET_REFERENCE.search(value):
            return value
        match = SCHEME_AND_CREDENTIAL.fullmatch(value)
        assert match is not None
        return f"{match[1]} {self._hide(name, match[2])}" if match[1] else self._hide(name, value)

    def _expand(self, text: str, *, is_whole: bool = False) -> str:
        """Return the text with the variables of the environment; `$NAME` counts only if it is the whole text."""
        if is_whole and (whole := _WHOLE_VARIABLE.fullmatch(text)):
            return self._replace(whole[1])
        return _VARIABLE.sub(lambda match: self._replace(match[1]), text)

    def _replace(self, inner: str) -> str:
        kind, _, rest = inner.partition(":")
        if kind == "input":
            # The client asks its user for the value; here it is a secret that the user has set.
            return _refer(self._name_secret(rest))
        if inner == "userHome":
            return str(Path.home())
        name, has_default, default = (rest if kind == "env" else inner).partition(":-")
        value = self._environment.get(name, default if has_default else None)
        if value is None:
            raise _Unusable(f"the environment variable {name} is not set")
        return self._hide(name, value) if is_credential_parameter(name) else value

    def _get_variable(self, name: str) -> str:
        if name not in self._environment:
            raise _Unusable(f"the environment variable {name} is not set")
        return self._environment[name]

    def _hide(self, name: str, value: str) -> str:
        """Return a reference to the secret with this value, which is named after the server and `name`."""
        if not value:
            return value
        base = secret = self._name_secret(name)
        number = 1
        while self._server.secrets.get(secret, value) != value:
            number += 1
            secret = f"{base}_{number}"
        self._server.secrets[secret] = value
        return _refer(secret)

    def _name_secret(self, name: str) -> str:
        text = _NOT_IN_SECRET_NAMES.sub("_", f"{self._server.name}.{name}")[:_MAX_SECRET_NAME]
        return text if text[0].isalpha() or text[0] == "_" else f"_{text}"


def _refer(secret: str) -> str:
    return f"{{{{secret:{secret}}}}}"


def _check_text(member: str, value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (int, float)):
        return str(value)
    if not isinstance(value, str):
        raise _Unusable(f"{member} has a value that is not a text")
    return value
