"""All settings of a board, read from PEGBOARD_* environment variables or pegboard.toml."""

from __future__ import annotations

import difflib
import os
import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args
from urllib.parse import urlsplit

from platformdirs import user_data_path
from pydantic import Field, SecretStr, ValidationError, field_validator
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    SettingsError,
    TomlConfigSettingsSource,
)

from pegboard.http_client.address_policy import AllowList
from pegboard.json_schema.value_text import format_value, shorten
from pegboard.model.tool import RateLimit
from pegboard.model.validation_messages import format_model_error, list_item_faults
from pegboard.sandbox.limits import KERNEL_FEATURES


def _count_cpus() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class InvalidSettings(ValueError):
    """Invalid settings; `faults` has one line per setting, which names the source of the value."""

    def __init__(self, faults: Sequence[str]) -> None:
        super().__init__(f"The settings are not valid: {'; '.join(faults)}")
        self.faults = list(faults)


class _StrictTomlSource(TomlConfigSettingsSource):
    """Settings from TOML files; raises ValueError for an unknown name, with the closest known name.

    pydantic-settings can only refuse unknown names in all sources, but the environment may have other variables.
    """

    def __call__(self) -> dict[str, Any]:
        """Return the settings of the files."""
        known = self.settings_cls.model_fields
        for name in self.toml_data:
            if name not in known:
                near = difflib.get_close_matches(name, known, 1)
                hint = f"did you mean '{near[0]}'?" if near else f"there are: {', '.join(known)}"
                raise ValueError(f"pegboard.toml: unknown setting '{name}'; {hint}")
        return super().__call__()


def _check_toml(file: Path) -> None:
    """Raise ValueError with the file name if the file exists and is not valid TOML."""
    if file.is_file():
        try:
            tomllib.loads(file.read_text(encoding="utf-8"))
        except ValueError as error:
            raise ValueError(f"{file}: {error}") from None


def check_public_url(text: str) -> str:
    """Return the URL without a slash at its end; raise ValueError unless it has only a scheme, a host and a path."""
    parsed = urlsplit(text)
    if parsed.scheme not in ("http", "https") or not parsed.hostname or parsed.username is not None:
        raise ValueError("must be an http or https URL, such as https://tools.example.com")
    if parsed.query or parsed.fragment or parsed.port == 0:
        raise ValueError("must have no query and no fragment")
    return text.rstrip("/")


class Settings(BaseSettings):
    """The settings of a board; the environment overrides `pegboard.toml` in the working folder or in home."""

    # Some settings are secrets, so error messages must not show their values.
    model_config = SettingsConfigDict(
        env_prefix="PEGBOARD_", frozen=True, extra="ignore", env_ignore_empty=True, hide_input_in_errors=True
    )

    home: Path = Field(default_factory=lambda: user_data_path("pegboard"), description="Folder of the board's state")
    database_url: str | None = Field(None, repr=False, description="PostgreSQL or SQLite URL; SQLite in home if absent")
    redis_url: SecretStr | None = Field(None, description="Valkey or Redis for the rate limits of several processes")
    admin_key: SecretStr | None = Field(None, description="The admin's key; generated at the first start if absent")
    secret_key: SecretStr | None = Field(
        None, description="32 bytes, base64, that encrypt credentials; NEW,OLD while rotating; a file in home if absent"
    )
    tables: Path | None = Field(None, description="File of the database tables that become tools; YAML or JSON")
    host: str = Field("127.0.0.1", description="Address the server listens on")
    port: int = Field(8080, ge=0, le=65535, description="Port the server listens on")
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        "info", description="Minimum level of logged messages"
    )
    log_format: Literal["auto", "console", "json"] = Field("auto", description="auto: console on a terminal, else json")
    cors_origins: str = Field("", description="Comma-separated origins that browsers may call from; * for any")
    max_connections: int | None = Field(
        None,
        ge=1,
        description="Maximum number of connections to one server process; by default half of the file descriptors it "
        "may open, and at most 10,000",
    )
    max_body_bytes: int = Field(4 * 2**20, ge=1024, description="Maximum size of a request body")
    max_arguments_bytes: int = Field(2**20, ge=64, description="Maximum size of the arguments of a call, as JSON")
    max_depth: int = Field(64, ge=4, le=200, description="Maximum nesting of arguments")
    max_result_bytes: int = Field(2**20, ge=64, description="Default maximum size of a result")
    key_rate: RateLimit = Field(
        RateLimit(max_calls=1_200_000, period="minute", burst=200_000),
        description="Maximum rate of all calls with one key, as a protection against floods",
    )
    max_running_calls: int = Field(
        4000, ge=2, le=100_000, description="Maximum number of running calls of all users; see rate limits"
    )
    max_followed_calls: int = Field(
        2000, ge=2, le=100_000, description="Maximum number of payloads of all users that are followed with events"
    )
    max_event_readers: int = Field(
        5000, ge=2, le=100_000, description="Maximum number of connections of all users that read events"
    )
    max_host_connections: int = Field(
        400, ge=2, le=10_000, description="Maximum running calls of http and mcp tools to one host, of all users"
    )
    egress_allow: str = Field(
        "",
        description="Comma-separated hosts, host:port and CIDRs that http and mcp tools, and python and shell tools "
        "with network: true, may reach even if their addresses are private",
    )
    connect_seconds: float = Field(
        10,
        gt=0,
        le=300,
        description="Timeout for connections of http and mcp tools, and of python and shell tools with network: true",
    )
    max_response_bytes: int = Field(
        10 * 2**20, ge=1024, description="Maximum size of a response to an http or mcp tool, after decompression"
    )
    max_import_bytes: int = Field(32 * 2**20, ge=1024, description="Maximum size of an imported API document")
    allowed_hosts: str = Field(
        "",
        description="Comma-separated names that the Host header of a request to /mcp may have; by default the loopback "
        "names while the server listens on loopback, otherwise any",
    )
    public_url: str | None = Field(
        None,
        description="The address under which browsers reach this server through a proxy, such as "
        "https://tools.example.com; needed to log in to the web console from other machines",
    )
    console: bool = Field(True, description="Whether the web console is served; off switches it off")
    session_seconds: int = Field(
        43_200, ge=300, le=30 * 86_400, description="Seconds after which a session of the web console ends"
    )
    session_idle_seconds: int = Field(
        7200, ge=300, le=30 * 86_400, description="Seconds without a request after which such a session ends"
    )
    mcp_sessions: int = Field(
        10_000, ge=1, le=1_000_000, description="Maximum number of MCP sessions, and of listen streams, in one process"
    )
    mcp_page_size: int = Field(1000, ge=1, le=100_000, description="Maximum number of tools on one page of tools/list")
    mcp_list_ttl_ms: int = Field(
        5000, ge=0, le=86_400_000, description="Milliseconds for which an MCP client may keep a list"
    )
    mcp_children: int = Field(16, ge=0, le=1000, description="Maximum number of MCP servers that run as commands")
    mcp_child_memory: int = Field(2 * 2**30, ge=64 * 2**20, description="Maximum memory of each of them, in bytes")
    mcp_connect_seconds: float = Field(
        30, ge=1, le=600, description="Seconds in which an MCP server must start and answer the first message"
    )
    sandbox_children: int = Field(
        default_factory=lambda: min(_count_cpus() + 2, 1000),
        ge=1,
        le=1000,
        description="Maximum number of running python and shell calls; by default the number of processors plus two",
    )
    sandbox_zygotes: int = Field(8, ge=1, le=100, description="Maximum number of zygotes, one per set of libraries")
    sandbox_memory: int = Field(512 * 2**20, ge=64 * 2**20, description="Maximum memory of such a call, in bytes")
    sandbox_processes: int = Field(64, ge=1, le=4096, description="Maximum processes and threads of such a call")
    sandbox_disk: int = Field(256 * 2**20, ge=2**20, description="Bytes that such a call may write to its work folder")
    sandbox_output: int = Field(2**20, ge=1024, description="Bytes that such a call may write to stdout, and to stderr")
    sandbox_without: str = Field(
        "",
        description="Comma-separated kernel features (landlock, namespaces, seccomp) that python and shell tools may "
        "run without; by default they do not run if one is missing",
    )
    python_libraries: str = Field(
        "numpy,pandas,scipy,scikit-learn,statsmodels,sympy,networkx,matplotlib,pillow,openpyxl,python-dateutil,pytz,"
        "pyyaml,lxml,beautifulsoup4,jinja2,orjson,requests,httpx",
        description="Comma-separated libraries that python tools may use if they are installed",
    )
    shell_for_members: bool = Field(False, description="Whether users who are not admins may register shell tools")
    drain_seconds: float = Field(30, ge=0, description="Seconds in which running calls may end at shutdown")

    if not TYPE_CHECKING:  # type checkers know each field as a parameter

        def __init__(self, **given: Any) -> None:
            """Read the settings; raises InvalidSettings with every fault."""
            try:
                super().__init__(**given)
            except ValidationError as error:
                raise InvalidSettings(
                    [_describe_error(item, given, type(self)) for item in error.errors(include_url=False)]
                ) from None
            except SettingsError as error:
                raise InvalidSettings([_describe_unparsed(error)]) from None

    @field_validator("egress_allow")
    @classmethod
    def _readable(cls, text: str) -> str:
        AllowList.read(text)
        return text

    @field_validator("public_url")
    @classmethod
    def _check_public_url(cls, text: str | None) -> str | None:
        return None if text is None else check_public_url(text)

    @field_validator("sandbox_without")
    @classmethod
    def _check_kernel_abilities(cls, text: str) -> str:
        for name in split_comma_list(text):
            if name not in KERNEL_FEATURES:
                raise ValueError(
                    f"'{name}' is not a kernel feature of the sandbox; there are: {', '.join(KERNEL_FEATURES)}"
                )
        return text

    @field_validator("admin_key")
    @classmethod
    def _check_admin_key(cls, key: SecretStr | None) -> SecretStr | None:
        if key is not None:
            text = key.get_secret_value()
            if len(text) < 16 or not text.isascii() or not text.isprintable() or " " in text:
                raise ValueError("must be at least 16 printable ASCII characters without spaces")
        return key

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Return the sources by priority: keyword arguments, environment, files."""
        files = list_toml_files()
        for file in files:
            _check_toml(file)
        return (init_settings, env_settings, _StrictTomlSource(settings_cls, files))

    def list_plain_values(self) -> dict[str, Any]:
        """Return the settings that are neither secrets nor addresses which may contain a password."""
        return {
            name: getattr(self, name)
            for name, field in type(self).model_fields.items()
            if field.repr and SecretStr not in (field.annotation, *get_args(field.annotation))
        }

    @property
    def database(self) -> str:
        """The URL of the database."""
        return self.database_url or f"sqlite:///{self.home / 'pegboard.db'}"

    @property
    def credentials_file(self) -> Path:
        """The file with the admin's first key, for the command line."""
        return self.home / "credentials"

    @property
    def key_file(self) -> Path:
        """The file with the encryption keys, unless they come from the environment."""
        return self.home / "secret.key"


def split_comma_list(text: str) -> tuple[str, ...]:
    """Return the items of a comma-separated list, stripped."""
    return tuple(word for part in text.split(",") if (word := part.strip()))


def _describe_error(item: Mapping[str, Any], given: Mapping[str, Any], model: type[Settings]) -> str:
    """Return one line for a pydantic error: source of the setting, expected and, unless secret, received value."""
    name, *inside = map(str, item["loc"] or ("settings",))
    if item["type"] == "extra_forbidden":
        message = list_item_faults([item], model)[0].message
    else:
        value, field = item["input"], model.model_fields.get(name)
        is_secret = field is None or not field.repr or SecretStr in (field.annotation, *get_args(field.annotation))
        shown = f"'{shorten(value)}'" if isinstance(value, str) else format_value(value)
        message = format_model_error(item, None if is_secret else shown)
    return ": ".join([_describe_source(name, given), *inside, message])


def _describe_source(name: str, given: Mapping[str, Any]) -> str:
    """Return the source of a setting's value: keyword argument, environment variable or file."""
    variable = f"PEGBOARD_{name.upper()}"
    if name in given:
        return name
    if not _get_environment_value(variable):
        for file in reversed(list_toml_files()):
            if file.is_file() and name in tomllib.loads(file.read_text(encoding="utf-8")):
                return f"{name} in {file}"
    return variable


def _get_environment_value(variable: str) -> str:
    return next((value for key, value in os.environ.items() if key.upper() == variable), "")


def _describe_unparsed(error: SettingsError) -> str:
    field = re.search(r'field "(\w+)"', str(error))
    if field is None:
        return str(error)
    example = ' such as {"max_calls": 5, "period": "minute"}' if field[1] == "key_rate" else ""
    variable = f"PEGBOARD_{field[1].upper()}"
    return f"{variable}: must be JSON{example}, but received '{shorten(_get_environment_value(variable))}'"


# Variables of the command line, of tables files and of tools; they are not settings of the server.
_NON_SETTING_VARIABLES = frozenset({"PEGBOARD_URL", "PEGBOARD_KEY", "PEGBOARD_TABLES_DATABASE", "PEGBOARD_PROGRESS_FD"})


def describe_unknown_variables(environ: Mapping[str, str]) -> list[str]:
    """Return one sentence for each PEGBOARD_* variable that is not a setting."""
    known = {f"PEGBOARD_{name.upper()}" for name in Settings.model_fields} | _NON_SETTING_VARIABLES
    found = []
    for name in sorted(environ):
        if name.startswith("PEGBOARD_") and name.upper() not in known:
            near = difflib.get_close_matches(name, known, 1)
            found.append(f"{name} is not a setting and is ignored" + (f"; did you mean {near[0]}?" if near else ""))
    return found


def list_toml_files() -> list[Path]:
    """Return the possible settings files, existing or not; later files take precedence."""
    home = Path(os.environ.get("PEGBOARD_HOME") or user_data_path("pegboard"))
    return [home / "pegboard.toml", Path("pegboard.toml")]
