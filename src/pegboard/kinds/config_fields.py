"""Fields that the configs of several kinds share: texts, durations, URLs, headers, environment variables."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field
from yarl import URL

from pegboard.model.base_model import Bounded
from pegboard.model.secrets import REFERENCE_WITH_ANY_NAME, SECRET_REFERENCE

Seconds = Annotated[float, Field(gt=0, le=3600)]
NonEmptyText = Annotated[str, Field(min_length=1)]
# Headers that the HTTP client writes itself: a tool that sets one could smuggle a second request into the first.
_RESERVED_HEADERS = frozenset(
    {"connection", "content-length", "host", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade"}
)
_HEADER_TOKEN = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+", re.ASCII)
_VARIABLE_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_HOST_LABEL = re.compile(r"[A-Za-z0-9_-]{1,63}", re.ASCII)
_MAX_HOST_CHARACTERS = 253
URL_PLACEHOLDER = re.compile(r"\{([^{}]+)\}")
# The kernel's files there describe the whole machine.
_FORBIDDEN_FOLDERS = ("/proc", "/sys", "/dev")
# Each value is searched for in all output of a call. The same limits apply after secrets are filled in, when the tool
# is prepared.
MAX_VARIABLES = 100
MAX_VARIABLE_BYTES = 32 * 1024
MAX_ENV_BYTES = 128 * 1024
MAX_LIBRARIES = 50


def check_header(name: str, value: str | None = None) -> None:
    """Raise ValueError if a header with this name or value could change the structure of the request."""
    if not _HEADER_TOKEN.fullmatch(name):
        raise ValueError(f"'{name[:100]}' is not a valid header name")
    if name.lower() in _RESERVED_HEADERS:
        raise ValueError(f"the header '{name}' is written by the board itself")
    if value is not None and any((char < " " and char != "\t") or char == "\x7f" for char in value):
        raise ValueError(f"the value of the header '{name}' holds a line break or another control character")


def check_url(url: str, field: str) -> str:
    """Return the URL if it is absolute, http(s), without credentials and with a fixed host; raise ValueError if not."""
    if not url.startswith(("http://", "https://")):
        raise ValueError(f"{field} must start with http:// or https://, but is '{url[:100]}'")
    if any(char <= " " or char == "\x7f" for char in url):
        raise ValueError(f"{field} holds a space or a control character; percent-encode it")
    authority = re.split(r"[/?#\\]", url.partition("://")[2], maxsplit=1)[0]
    if "@" in authority:
        # URLs appear in responses and logs, so they must not contain a password.
        raise ValueError("a URL may not hold a user or password; put them in auth_config, where they are encrypted")
    if "{" in authority or "\\" in url:
        raise ValueError(f"{field} must name its host itself: placeholders are allowed in the path and the query only")
    try:
        parts = urlsplit(REFERENCE_WITH_ANY_NAME.sub("", url))
        port = parts.port
    except ValueError as error:
        raise ValueError(f"{field} is not a valid URL: {error}") from None
    if not parts.hostname or port == 0:
        raise ValueError(f"{field} has no host")
    if not _is_host(parts.hostname):
        raise ValueError(
            f"{field} names the host '{parts.hostname[:100]}', which cannot be looked up: a host is an address, or a "
            "name of at most 253 characters whose parts, between dots, have 1 to 63 letters, digits or hyphens each"
        )
    return url


def is_variable_name(name: str) -> bool:
    """True if the name is valid for a shell variable."""
    return _VARIABLE_NAME.fullmatch(name) is not None


def _is_host(host: str) -> bool:
    if ":" in host:
        return True  # an IPv6 address in brackets
    try:
        name = (URL.build(scheme="http", host=host).raw_host or "").removesuffix(".")
    except ValueError:
        return False
    return len(name) <= _MAX_HOST_CHARACTERS and all(_is_host_label(label) for label in name.split("."))


def _is_host_label(label: str) -> bool:
    if not _HOST_LABEL.fullmatch(label):
        return False
    if not label.lower().startswith("xn--"):
        return True
    try:
        return not label[4:].encode().decode("punycode").isascii()
    except UnicodeError:
        return False


def _refuse_secret_references(text: str) -> str:
    if found := SECRET_REFERENCE.search(text):
        raise ValueError(
            f"{found[0]} is filled in only within env; set a variable in env to {found[0]} and read that variable"
        )
    return text


def _check_env(env: dict[str, str]) -> dict[str, str]:
    if len(env) > MAX_VARIABLES:
        raise ValueError(f"{len(env):,} variables, at most {MAX_VARIABLES}")
    size = 0
    for name, value in env.items():
        if not is_variable_name(name):
            raise ValueError(
                f"'{name[:100]}' is not a valid variable name: letters, digits and underscores, not a digit first"
            )
        if "\0" in value:
            raise ValueError(f"the value of '{name[:100]}' holds the character NUL")
        length = len(value.encode("utf-8", "surrogatepass"))
        if length > MAX_VARIABLE_BYTES:
            raise ValueError(f"the value of '{name[:100]}' is {length:,} bytes, at most {MAX_VARIABLE_BYTES:,}")
        size += len(name) + length
    if size > MAX_ENV_BYTES:
        raise ValueError(f"{size:,} bytes of names and values, at most {MAX_ENV_BYTES:,}")
    return env


def check_working_dir(path: str) -> str:
    """Return the normalised path if commands may see such a folder; raise ValueError if not."""
    folder = PurePosixPath(path)
    if not folder.is_absolute() or ".." in folder.parts or "\0" in path:
        raise ValueError(f"must be an absolute path without '..', but is '{path[:100]}'")
    plain = "/" + "/".join(folder.parts[1:])  # two leading slashes count as one
    if plain == "/" or any(plain == place or plain.startswith(place + "/") for place in _FORBIDDEN_FOLDERS):
        raise ValueError(
            f"cannot be '{path[:100]}': commands never see the whole file system, {', '.join(_FORBIDDEN_FOLDERS)}; "
            "name the folder that it works in"
        )
    return plain


StringMap = Annotated[dict[str, str], Bounded]
Code = Annotated[NonEmptyText, AfterValidator(_refuse_secret_references)]
Env = Annotated[dict[str, str], Bounded, AfterValidator(_check_env)]
Library = Annotated[str, Field(min_length=1, max_length=100), AfterValidator(_refuse_secret_references)]
Folder = Annotated[Code, AfterValidator(check_working_dir)]


def list_placeholders(url: str) -> tuple[str, ...]:
    """Return the names of the placeholders in a URL."""
    return tuple(URL_PLACEHOLDER.findall(REFERENCE_WITH_ANY_NAME.sub("", url)))
