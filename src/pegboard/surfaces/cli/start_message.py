"""What a server says when it is up: where it is, the first key, and a next step to paste."""

from __future__ import annotations

import shlex
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from platformdirs import user_data_path

from pegboard.settings import Settings
from pegboard.surfaces.cli.session import DEFAULT_URL

_DEMO_EXAMPLE = ("get_weather", '{"city": "Lisbon"}', "city=Lisbon")
_BUILTIN_EXAMPLE = ("math_eval", '{"expression": "2^10"}', "expression=2^10")


def build_welcome(
    address: str, new_key: str | None, settings: Settings, warnings: Sequence[str] = (), *, demo: bool
) -> str:
    """Return the welcome text; its commands can be pasted into another terminal."""
    tool, body, arguments = _DEMO_EXAMPLE if demo else _BUILTIN_EXAMPLE
    key, environment = _describe_key(new_key, settings)
    if address != DEFAULT_URL:
        environment = f"PEGBOARD_URL={address} {environment}"
    lines = ["", f"Pegboard is serving at {address}  (API: {address}/docs)"]
    lines += [f"Warning: {warning}" for warning in warnings]
    if new_key is not None:
        kept = "" if _is_in_memory(settings) else f" and kept in {settings.credentials_file.absolute()}"
        lines += [f"Admin key, shown this once{kept}:", f"  {new_key}"]
    lines += [
        "",
        "Try it:",
        f'  curl -s {address}/v1/tools/{tool}/call -H "Authorization: Bearer {key}" '
        f"-H 'Content-Type: application/json' -d '{body}'",
        f"  {environment}{_find_program()} call {tool} {arguments}",
        "",
        "Ctrl-C lets running calls end, then stops.",
        "",
    ]
    return "\n".join(lines)


def _describe_key(new_key: str | None, settings: Settings) -> tuple[str, str]:
    """Return the key as written in the curl command, and the environment that the `pegboard` command needs."""
    if settings.admin_key is not None:
        return "$PEGBOARD_ADMIN_KEY", 'PEGBOARD_KEY="$PEGBOARD_ADMIN_KEY" '
    if _is_in_memory(settings):
        return f"{new_key}", f"PEGBOARD_KEY={new_key} "
    if not settings.credentials_file.exists():
        return "$PEGBOARD_KEY", ""  # the board was set up on another machine; only its admin knows the key
    credentials = shlex.quote(str(settings.credentials_file.absolute()))
    at_home = settings.home == user_data_path("pegboard")
    return f"$(cat {credentials})", "" if at_home else f"PEGBOARD_HOME={shlex.quote(str(settings.home.absolute()))} "


def _is_in_memory(settings: Settings) -> bool:
    return settings.database == "memory"


def _find_program() -> str:
    started = Path(sys.argv[0]).absolute()
    if started.name == "__main__.py":
        return f"{shlex.quote(sys.executable)} -m pegboard"
    found = shutil.which("pegboard")
    return "pegboard" if found is not None and Path(found).samefile(started) else shlex.quote(str(started))
