"""Build a stored tool from its definition, and a definition or API response from a stored tool."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from pydantic import ValidationError

from pegboard.json_schema.compile import SchemaProblem, check_schema
from pegboard.json_schema.storable_json import find_unstorable
from pegboard.kinds.base import Registration
from pegboard.kinds.catalog import find_kind, make_missing_error
from pegboard.model.api_errors import Fault, Invalid
from pegboard.model.call import Caller
from pegboard.model.secrets import SECRET_MAPS
from pegboard.model.tool import AuthConfig, Tool
from pegboard.model.tool_definition import ToolDefinition, ToolResponse
from pegboard.model.validation_messages import list_model_faults
from pegboard.registry.registration_policy import RegistrationPolicy, find_credential_faults
from pegboard.registry.secret_fields import (
    are_equal_unsealed,
    keep_masked,
    keep_masked_auth,
    mask_auth,
    mask_config,
    seal_auth,
    seal_config,
)
from pegboard.registry.tool_create import ToolCreate, read_definition
from pegboard.storage.vault import Vault

_PLAIN_FIELDS = [name for name in ToolCreate.model_fields if name not in ("config", "auth_config")]
_RESPONSE_FIELDS = [name for name in ToolResponse.model_fields if name not in ("config", "auth_config")]


def build_tool(
    spec: ToolCreate,
    vault: Vault,
    caller: Caller,
    tool: Tool,
    now: datetime,
    *,
    rules: RegistrationPolicy,
    is_sound: bool = False,
) -> Tool:
    """Return the tool that the definition describes, checked and sealed; `tool` is the previous version or an empty
    tool.

    A config or auth_config that is unchanged after decryption keeps its stored ciphertext. Raises Invalid with every
    fault, or Forbidden if the caller may not register such a tool.
    """
    free = {name: getattr(spec, name) for name in ("description", "display_name", "tags", "config", "auth_config")}
    if spec.fallback is not None:
        free["fallback"] = {"value": spec.fallback.value}
    if faults := find_unstorable(free):
        raise Invalid.of(f"The definition of '{spec.name}' is not valid", faults)
    config: dict[str, Any] = dict(spec.config)
    auth = dict(spec.auth_config) if spec.auth_config is not None else None
    try:
        config = keep_masked(config, tool.config)
        auth = keep_masked_auth(auth, tool.sealed_auth, vault, tool.id)
    except ValueError as error:
        path, _, words = str(error).partition(" ")
        faults.append(Fault(path, words))
    kind = find_kind(spec.tool_type)
    try:
        checked = kind.config.model_validate(config)
    except ValidationError as error:
        faults += list_model_faults(error, kind.config, "config")
    else:
        registration = Registration(spec, checked, tool, rules)
        faults += kind.check(registration)
        spec = spec.model_copy(update=dict(kind.complete(registration)))
        normal = checked.model_dump(mode="json", exclude_unset=True, by_alias=True)
        config = {key: config[key] if key in SECRET_MAPS else value for key, value in normal.items()}
    if auth is not None:
        try:
            AuthConfig.model_validate(auth)
        except ValidationError as error:
            faults += list_model_faults(error, AuthConfig, "auth_config")
    if not is_sound:  # checking a large schema is slow, and some callers have already checked it
        faults += _find_schema_faults(spec)
    if spec.fallback is not None and spec.fallback.tool is not None and spec.fallback.tool.lower() == spec.name.lower():
        faults.append(Fault("fallback.tool", "a tool cannot fall back on itself"))
    if not faults and caller.user_id != tool.owner_id:
        faults += find_credential_faults(tool, spec, config, auth, vault)
    if faults:
        raise Invalid.of(f"The definition of '{spec.name}' is not valid", faults)
    sealed = seal_config(config, vault, tool.id)
    sealed_auth = seal_auth(auth, vault, tool.id) if auth is not None else None
    is_same = are_equal_unsealed(tool.config, None, sealed, None, vault, tool.id)
    if kind.is_missing and not is_same:
        raise Invalid.of(
            f"The definition of '{spec.name}' is not valid", [Fault("config", make_missing_error(kind.name).message)]
        )
    is_same_auth = are_equal_unsealed({}, tool.sealed_auth, {}, sealed_auth, vault, tool.id)
    # Earlier versions did not store references to secrets in readable form, so compare the masked form too.
    is_same_auth = is_same_auth and mask_auth(tool.sealed_auth) == mask_auth(sealed_auth)
    built = replace(
        tool,
        **{name: getattr(spec, name) for name in _PLAIN_FIELDS},
        config=tool.config if is_same else sealed,
        sealed_auth=tool.sealed_auth if is_same_auth else sealed_auth,
        updated_at=now,
    )
    rules.check_registration(built, caller, tool)
    return built


def _find_schema_faults(spec: ToolDefinition) -> list[Fault]:
    faults = []
    for where, schema in (("input_schema", spec.input_schema), ("output_schema", spec.output_schema)):
        if schema is None:
            continue
        try:
            check_schema(schema, where=where)
        except SchemaProblem as error:
            faults.append(Fault(where, str(error).removeprefix(where).lstrip(": ")))
        else:
            faults += find_unstorable({where: schema})
    return faults


def write_definition(tool: Tool) -> dict[str, Any]:
    """Return the definition of this tool as a dict, with secrets masked."""
    return {
        **{name: getattr(tool, name) for name in _PLAIN_FIELDS},
        "config": mask_config(tool.config),
        "auth_config": mask_auth(tool.sealed_auth),
    }


def build_tool_response(tool: Tool, caller: Caller) -> ToolResponse:
    """Return the tool as this caller may see it: only its owner and admins get the config, credentials and fallback."""
    whole = caller.is_admin or (tool.owner_id == caller.user_id and caller.agent_id is None)
    return ToolResponse.model_construct(
        **{name: getattr(tool, name) for name in _RESPONSE_FIELDS if whole or name != "fallback"},
        config=mask_config(tool.config) if whole else None,
        auth_config=mask_auth(tool.sealed_auth) if whole else None,
    )


def make_empty_tool(tool_id: str, owner_id: str, now: datetime) -> Tool:
    """Return a tool that has only an id, an owner and timestamps."""
    empty: Mapping[str, Any] = {}
    return Tool(tool_id, owner_id, "", "", empty, empty, now, now)


def build_local_tool(
    tool_id: str, definition: Mapping[str, Any], vault: Vault, owner: Caller, rules: RegistrationPolicy
) -> Tool:
    """Return a tool that is never stored, from its definition."""
    now = datetime.now(UTC)
    empty = make_empty_tool(tool_id, owner.user_id, now)
    return build_tool(read_definition(definition), vault, owner, empty, now, rules=rules)
