"""The credentials of a tool's owner, where another user changes the tool: they never go anywhere else."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pegboard.core.configs import SECRET_MAPS
from pegboard.core.definitions import ToolCreate
from pegboard.core.refusals import Fault
from pegboard.core.tool import Kind, Tool
from pegboard.registry.sealing import Kept, KeptAuth, equal_when_opened, has_mask, references, seal_config
from pegboard.store.vault import Vault

# What of a config says nothing about where credentials go, and what is done with them.
_HARMLESS = frozenset({"timeout", "max_response_bytes", "pinned"})
# Kinds whose owner's code or script decides by its arguments what it does with credentials.
_CODE = (Kind.PYTHON, Kind.SHELL)
_WAY_OUT = "give a value of your own, leave it out, or have the owner make the change"


def credential_faults(
    tool: Tool, spec: ToolCreate, config: Mapping[str, Any], auth: Mapping[str, Any] | None, vault: Vault
) -> list[Fault]:
    """Each credential of the owner that would be used otherwise than the owner meant it.

    `config` and `auth` are what the tool is to have, with kept values in place of masks.
    """
    sealed = seal_config(config, vault, tool.id)
    is_same = equal_when_opened(_without_harmless(tool.config), None, _without_harmless(sealed), None, vault, tool.id)
    is_moved = spec.tool_type != tool.tool_type or not is_same
    if spec.tool_type in _CODE and spec.input_schema != tool.input_schema:
        is_moved = True
    faults = list(_in_config(config)) if is_moved else []
    if auth is not None and (is_moved or not isinstance(auth, KeptAuth)):
        kept = isinstance(auth, KeptAuth) or has_mask(spec.auth_config or {})
        if kept or references({}, auth):
            faults.append(Fault("auth_config", _refused("holds credentials")))
    return faults


def _in_config(config: Mapping[str, Any]) -> Iterator[Fault]:
    for group in SECRET_MAPS:
        for name, value in (config.get(group) or {}).items():
            if isinstance(value, Kept):
                yield Fault(f"config.{group}.{name}", _refused("is a credential"))
    if names := references(config, None):
        named = ", ".join(f"'{name}'" for name in sorted(names)[:10])
        yield Fault("config", _refused(f"refers to secrets ({named})"))


def _refused(what: str) -> str:
    return f"{what} of the tool's owner; another user who changes what the tool does cannot keep that: {_WAY_OUT}"


def _without_harmless(config: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in config.items() if name not in _HARMLESS}
