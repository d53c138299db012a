"""Which tools a caller may register, and which credentials of a tool's owner another user may not use in a change."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pegboard.kinds.base import RegistrationRules
from pegboard.kinds.catalog import find_kind
from pegboard.model.api_errors import Fault, Forbidden
from pegboard.model.call import Caller
from pegboard.model.secrets import SECRET_MAPS, list_secret_names
from pegboard.model.tool import Tool
from pegboard.model.tool_definition import ToolDefinition
from pegboard.registry.secret_fields import MaskedAuth, MaskedValue, are_equal_unsealed, has_mask, seal_config
from pegboard.storage.vault import Vault


class RegistrationPolicy(RegistrationRules):
    """The rules for which tools a caller may register on this board."""

    __slots__ = ()

    def check_registration(self, tool: Tool, caller: Caller, before: Tool | None = None) -> None:
        """Raise Forbidden if this caller may not register the tool, or not change `before` into it."""
        # Unchanged parts are not checked again: otherwise a user could not deactivate a tool that is no longer allowed.
        if before is None or (tool.tool_type, tool.config) != (before.tool_type, before.config):
            reason = find_kind(tool.tool_type).may_register(tool, caller, self)
            if reason is not None:
                raise Forbidden(reason)
        limit = tool.max_result_bytes
        is_changed = before is None or limit != before.max_result_bytes
        if not caller.is_admin and is_changed and limit is not None and limit > self.max_result_bytes:
            raise Forbidden(
                f"Only admins may set a max_result_bytes of more than {self.max_result_bytes:,}, which is the board's "
                "own (PEGBOARD_MAX_RESULT_BYTES)"
            )


# Config keys that have no influence on where credentials are sent or how they are used.
_HARMLESS_KEYS = frozenset({"timeout", "max_response_bytes", "pinned", "listed"})
_REMEDY = "give a value of your own, leave it out, or have the owner make the change"


def find_credential_faults(
    tool: Tool, spec: ToolDefinition, config: Mapping[str, Any], auth: Mapping[str, Any] | None, vault: Vault
) -> list[Fault]:
    """Return a fault for each credential of the owner that the change would use in another way.

    `config` and `auth` are the new values, with stored values in place of masks.
    """
    sealed = seal_config(config, vault, tool.id)
    is_same = are_equal_unsealed(
        _drop_harmless_keys(tool.config), None, _drop_harmless_keys(sealed), None, vault, tool.id
    )
    is_moved = spec.tool_type != tool.tool_type or not is_same
    if find_kind(spec.tool_type).runs_own_code and spec.input_schema != tool.input_schema:
        is_moved = True
    faults = list(_find_config_faults(config)) if is_moved else []
    if auth is not None and (is_moved or not isinstance(auth, MaskedAuth)):
        kept = isinstance(auth, MaskedAuth) or has_mask(spec.auth_config or {})
        if kept or list_secret_names({}, auth):
            faults.append(Fault("auth_config", _format_refusal("holds credentials")))
    return faults


def _find_config_faults(config: Mapping[str, Any]) -> Iterator[Fault]:
    for group in SECRET_MAPS:
        for name, value in (config.get(group) or {}).items():
            if isinstance(value, MaskedValue):
                yield Fault(f"config.{group}.{name}", _format_refusal("is a credential"))
    if names := list_secret_names(config, None):
        named = ", ".join(f"'{name}'" for name in sorted(names)[:10])
        yield Fault("config", _format_refusal(f"refers to secrets ({named})"))


def _format_refusal(what: str) -> str:
    return f"{what} of the tool's owner; another user who changes what the tool does cannot keep that: {_REMEDY}"


def _drop_harmless_keys(config: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in config.items() if name not in _HARMLESS_KEYS}
