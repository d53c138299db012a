"""What tools that reach out need in their `config`: http and mcp."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import Field, field_validator, model_validator
from yarl import URL

from pegboard.core.model import Bounded, Model

Seconds = Annotated[float, Field(gt=0, le=3600)]
Text = Annotated[str, Field(min_length=1)]

# Names that the client writes by itself: a tool that sets one could smuggle a second request into the first.
_OWN_HEADERS = frozenset(
    {"connection", "content-length", "host", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade"}
)
_TOKEN = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+", re.ASCII)
_REFERENCE = re.compile(r"\{\{secret:[^{}]*\}\}")
_LABEL = re.compile(r"[A-Za-z0-9_-]{1,63}", re.ASCII)
_LONGEST_HOST = 253
PLACEHOLDER = re.compile(r"\{([^{}]+)\}")


def check_header(name: str, value: str | None = None) -> None:
    """Raise ValueError where a header of this name, or this value in it, could change the request's shape."""
    if not _TOKEN.fullmatch(name):
        raise ValueError(f"'{name[:100]}' is not a valid header name")
    if name.lower() in _OWN_HEADERS:
        raise ValueError(f"the header '{name}' is written by the board itself")
    if value is not None and any((char < " " and char != "\t") or char == "\x7f" for char in value):
        raise ValueError(f"the value of the header '{name}' holds a line break or another control character")


def check_url(url: str, field: str) -> str:
    """The URL, if it is absolute, of the web, without credentials and with a fixed host; ValueError says which rule."""
    if not url.startswith(("http://", "https://")):
        raise ValueError(f"{field} must start with http:// or https://, but is '{url[:100]}'")
    if any(char <= " " or char == "\x7f" for char in url):
        raise ValueError(f"{field} holds a space or a control character; percent-encode it")
    authority = re.split(r"[/?#\\]", url.partition("://")[2], maxsplit=1)[0]
    if "@" in authority:
        # A URL is shown and logged, so it may not hold a password.
        raise ValueError("a URL may not hold a user or password; put them in auth_config, where they are encrypted")
    if "{" in authority or "\\" in url:
        raise ValueError(f"{field} must name its host itself: placeholders stand in the path and the query only")
    try:
        parts = urlsplit(_REFERENCE.sub("", url))
        port = parts.port
    except ValueError as error:
        raise ValueError(f"{field} is not a valid URL: {error}") from None
    if not parts.hostname or port == 0:
        raise ValueError(f"{field} names no host")
    if not _is_host(parts.hostname):
        raise ValueError(
            f"{field} names the host '{parts.hostname[:100]}', which cannot be looked up: a host is an address, or a "
            "name of at most 253 characters whose parts, between dots, have 1 to 63 letters, digits or hyphens each"
        )
    return url


def _is_host(host: str) -> bool:
    if ":" in host:
        return True  # an address in brackets
    try:
        name = (URL.build(scheme="http", host=host).raw_host or "").removesuffix(".")
    except ValueError:
        return False
    return len(name) <= _LONGEST_HOST and all(_is_label(label) for label in name.split("."))


def _is_label(label: str) -> bool:
    if not _LABEL.fullmatch(label):
        return False
    if not label.lower().startswith("xn--"):
        return True
    try:
        return not label[4:].encode().decode("punycode").isascii()
    except UnicodeError:
        return False


StringMap = Annotated[dict[str, str], Bounded]


class ParameterStyle(Model):
    """How an array or object is written into a URL, a header or a form."""

    style: Literal["form", "simple", "label", "matrix", "spaceDelimited", "pipeDelimited", "deepObject", "json"]
    explode: bool | None = Field(None, description="One entry an element; true for form, false otherwise if absent")
    allow_reserved: bool = Field(False, description="Whether :/?#[]@!$&'()*+,;= stay as they are in a query")


class HttpConfig(Model):
    """A request to a URL; `{param}` in the URL is filled from the arguments."""

    url: Text
    method: Literal["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
    headers: StringMap = {}
    timeout: Seconds | None = None
    params_in: Annotated[dict[str, Literal["path", "query", "header", "cookie", "body"]], Bounded] = {}
    styles: Annotated[dict[str, ParameterStyle], Bounded] = {}
    wire_names: Annotated[dict[str, Text], Bounded] = Field(
        {}, description="What a parameter is called upstream, where that differs"
    )
    body_format: Literal["json", "form", "multipart", "text", "binary"] = "json"
    body_param: Text | None = Field(None, description="The one parameter that is the whole body")
    content_type: Text | None = Field(None, description="The body's Content-Type, where it is not the usual one")
    part_types: Annotated[dict[str, Text], Bounded] = Field(
        {}, description="Content-Type of single parts of a multipart body"
    )
    response: Literal["body", "full"] = "body"
    max_response_bytes: int | None = Field(None, ge=1, le=2**30)

    @model_validator(mode="before")
    @classmethod
    def _method_in_capitals(cls, data: Any) -> Any:
        if isinstance(data, dict) and isinstance(data.get("method"), str):
            return {**data, "method": data["method"].upper()}
        return data

    @field_validator("url")
    @classmethod
    def _sound_url(cls, url: str) -> str:
        return check_url(url, "url")

    @model_validator(mode="after")
    def _sound_parts(self) -> HttpConfig:
        for name, value in self.headers.items():
            check_header(name, value)
        for media_type in (self.content_type, *self.part_types.values()):
            check_header("Content-Type", media_type)
        for name, place in self.params_in.items():
            if place == "header":
                check_header(self.wire_names.get(name, name))
        in_url = set(self.placeholders)
        for name, place in self.params_in.items():
            if place == "path" and name not in in_url:
                raise ValueError(f"params_in puts '{name}' in the path, but url has no {{{name}}}")
        if self.body_param is not None and self.body_param in in_url:
            raise ValueError(f"body_param '{self.body_param}' is in the url already")
        return self

    @property
    def placeholders(self) -> tuple[str, ...]:
        """The parameters that the URL is filled from."""
        return tuple(PLACEHOLDER.findall(_REFERENCE.sub("", self.url)))


class McpConfig(Model):
    """A tool of an MCP server, reached over HTTP or, for admins, started as a command."""

    server_url: Text | None = None
    command: Annotated[list[Text], Bounded] | None = Field(None, min_length=1)
    tool: Text | None = None
    method: Literal["call_tool"] = "call_tool"
    headers: StringMap = {}
    env: StringMap = {}
    working_dir: Text | None = None
    timeout: Seconds | None = None
    response: Literal["auto", "full"] = "auto"
    pinned: str | None = Field(
        None, pattern=r"^[0-9a-f]{64}$", description="Digest of the upstream's definition that the owner took on"
    )

    @field_validator("command", mode="before")
    @classmethod
    def _some_command(cls, command: Any) -> Any:
        if command == []:
            raise ValueError("command is empty; give the program to start, and its arguments after it")
        return command

    @field_validator("server_url")
    @classmethod
    def _sound_url(cls, url: str | None) -> str | None:
        return None if url is None else check_url(url, "server_url")

    @model_validator(mode="after")
    def _one_way_in(self) -> McpConfig:
        if (self.server_url is None) == (self.command is None):
            raise ValueError("server_url is required (or, for admins, command in its place)")
        if self.server_url is None and self.headers:
            raise ValueError("headers are for a server_url; a command takes env")
        if self.command is None and (self.env or self.working_dir):
            raise ValueError("env and working_dir are for a command; a server_url takes headers")
        for name, value in self.headers.items():
            check_header(name, value)
        if any("\0" in word for word in (self.command or ())):
            raise ValueError("command holds the character NUL")
        return self
