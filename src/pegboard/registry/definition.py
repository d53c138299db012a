"""From what people write about a tool to a tool, and back."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from itertools import islice
from typing import Any, TypeVar, get_args

from pydantic import BaseModel, ValidationError

from pegboard.core.call import Caller
from pegboard.core.configs import (
    CONFIGS,
    SECRET_MAPS,
    BuiltinConfig,
    InternalConfig,
    KindConfig,
    PythonConfig,
    ShellConfig,
)
from pegboard.core.definitions import ToolCreate, ToolResponse
from pegboard.core.model_errors import message_of
from pegboard.core.outbound import HttpConfig
from pegboard.core.refusals import MAX_FAULTS, Fault, Invalid
from pegboard.core.table_config import TableConfig
from pegboard.core.tool import AuthConfig, Kind, Tool
from pegboard.registry.chaining.plan import chain_faults
from pegboard.registry.confined import STRICT, CodeRules, builtin_faults, operator_faults, shell_faults, url_faults
from pegboard.registry.owners_credentials import credential_faults
from pegboard.registry.python_tools import code_faults
from pegboard.registry.schemas import SchemaProblem, check_schema
from pegboard.registry.sealing import (
    equal_when_opened,
    keep_masked,
    keep_masked_auth,
    mask_auth,
    mask_config,
    seal_auth,
    seal_config,
)
from pegboard.registry.storable import unstorable
from pegboard.registry.tables.defining import table_definition
from pegboard.store.vault import Vault

M = TypeVar("M", bound=BaseModel)
_PLAIN_FIELDS = [name for name in ToolCreate.model_fields if name not in ("config", "auth_config")]


def read_definition(data: Any) -> ToolCreate:
    """The definition, understood; raises Invalid with every fault."""
    try:
        return ToolCreate.model_validate(data)
    except ValidationError as error:
        raise Invalid.of("The tool definition is not valid", faults_of(error, ToolCreate)) from None


def checked(model: type[M], data: Any, under: str) -> M:
    """The data as this model reads it; raises Invalid with every fault."""
    try:
        return model.model_validate(data)
    except ValidationError as error:
        raise Invalid.of("The request is not valid", faults_of(error, model, under)) from None


# As much of a key as a fault shows.
MAX_NAME = 100
# What definitions of OpenAI call it.
_OTHER_NAMES = {"parameters": "input_schema"}


def faults_of(error: ValidationError, model: type[BaseModel], under: str = "") -> list[Fault]:
    """Each fault pydantic found, with the nearest word where a key is unknown."""
    return faults_in(error.errors(include_url=False), model, under)


def faults_in(items: Iterable[Mapping[str, Any]], model: type[BaseModel], under: str = "") -> list[Fault]:
    """The same, from what pydantic lists; one more than a refusal lists at most."""
    faults = []
    for item in islice(items, MAX_FAULTS + 1):
        steps = [str(step)[:MAX_NAME] for step in item["loc"]]
        path = ".".join([under, *steps] if under else steps)
        message = message_of(item)
        if item["type"] == "extra_forbidden":
            known = _keys_at(model, item["loc"][:-1])
            key = steps[-1]
            near = difflib.get_close_matches(key, known, 1)
            if key in _OTHER_NAMES and _OTHER_NAMES[key] in known:
                message = f"unknown key; '{key}' is OpenAI's name for {_OTHER_NAMES[key]}"
            else:
                message = (
                    f"unknown key; did you mean '{near[0]}'?" if near else f"unknown key; known: {', '.join(known)}"
                )
        faults.append(Fault(path, message))
    return faults


def _keys_at(model: type[BaseModel], steps: Iterable[str | int]) -> list[str]:
    """The keys that the model has at this place of it."""
    for step in steps:
        fields = {field.alias or name: field for name, field in model.model_fields.items()}
        if step in fields:
            model = next(_models_in(fields[str(step)].annotation), model)
    return [field.alias or name for name, field in model.model_fields.items()]


def _models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from _models_in(part)


def build(
    spec: ToolCreate,
    vault: Vault,
    caller: Caller,
    tool: Tool,
    now: datetime,
    *,
    is_sound: bool = False,
    rules: CodeRules = STRICT,
) -> Tool:
    """The tool that the definition describes, checked and sealed; `tool` is what it was, or a bare new one.

    What is the same as before when opened is as it was sealed before.
    """
    free = {name: getattr(spec, name) for name in ("description", "display_name", "tags", "config", "auth_config")}
    if spec.fallback is not None:
        free["fallback"] = {"value": spec.fallback.value}
    if faults := unstorable(free):
        raise Invalid.of(f"The definition of '{spec.name}' is not valid", faults)
    config: dict[str, Any] = dict(spec.config)
    auth = dict(spec.auth_config) if spec.auth_config is not None else None
    try:
        config = keep_masked(config, tool.config)
        auth = keep_masked_auth(auth, tool.sealed_auth, vault, tool.id)
    except ValueError as error:
        path, _, words = str(error).partition(" ")
        faults.append(Fault(path, words))
    model = CONFIGS[spec.tool_type]
    try:
        checked = model.model_validate(config)
    except ValidationError as error:
        faults += faults_of(error, model, "config")
    else:
        spec, found = _with_config(spec, checked, tool, rules)
        faults += found
        normal = checked.model_dump(mode="json", exclude_unset=True, by_alias=True)
        config = {key: config[key] if key in SECRET_MAPS else value for key, value in normal.items()}
    if auth is not None:
        try:
            AuthConfig.model_validate(auth)
        except ValidationError as error:
            faults += faults_of(error, AuthConfig, "auth_config")
    if not is_sound:  # checking a large schema takes its time, and some callers have
        faults += _schema_faults(spec)
    if spec.fallback is not None and spec.fallback.tool is not None and spec.fallback.tool.lower() == spec.name.lower():
        faults.append(Fault("fallback.tool", "a tool cannot fall back on itself"))
    if not faults and caller.user_id != tool.owner_id:
        faults += credential_faults(tool, spec, config, auth, vault)
    if faults:
        raise Invalid.of(f"The definition of '{spec.name}' is not valid", faults)
    sealed = seal_config(config, vault, tool.id)
    sealed_auth = seal_auth(auth, vault, tool.id) if auth is not None else None
    is_same = equal_when_opened(tool.config, None, sealed, None, vault, tool.id)
    is_same_auth = equal_when_opened({}, tool.sealed_auth, {}, sealed_auth, vault, tool.id)
    # An earlier version stored no readable references.
    is_same_auth = is_same_auth and mask_auth(tool.sealed_auth) == mask_auth(sealed_auth)
    built = replace(
        tool,
        **{name: getattr(spec, name) for name in _PLAIN_FIELDS},
        config=tool.config if is_same else sealed,
        sealed_auth=tool.sealed_auth if is_same_auth else sealed_auth,
        updated_at=now,
    )
    rules.refuse(built, caller, tool)
    return built


def _with_config(spec: ToolCreate, config: KindConfig, tool: Tool, rules: CodeRules) -> tuple[ToolCreate, list[Fault]]:
    """The definition with what its config says about the rest of it, and what in the config is wrong."""
    if isinstance(config, TableConfig):
        return table_definition(spec, config, tool)
    if isinstance(config, ShellConfig):
        return spec, shell_faults(config, spec.input_schema) + operator_faults(config, tool)
    if isinstance(config, HttpConfig):
        return spec, url_faults(config, spec.input_schema, tool)
    if isinstance(config, BuiltinConfig):
        return spec, builtin_faults(config)
    if isinstance(config, InternalConfig) and config.chain is not None:
        return spec, chain_faults(config.chain, "config.chain.")
    return spec, code_faults(config, tool, rules.libraries) if isinstance(config, PythonConfig) else []


def _schema_faults(spec: ToolCreate) -> list[Fault]:
    faults = []
    for where, schema in (("input_schema", spec.input_schema), ("output_schema", spec.output_schema)):
        if schema is None:
            continue
        try:
            check_schema(schema, where=where)
        except SchemaProblem as error:
            faults.append(Fault(where, str(error).removeprefix(where).lstrip(": ")))
        else:
            faults += unstorable({where: schema})
    return faults


def definition_of(tool: Tool) -> dict[str, Any]:
    """What people would write to get this tool, secrets masked."""
    return {
        **{name: getattr(tool, name) for name in _PLAIN_FIELDS},
        "config": mask_config(tool.config),
        "auth_config": mask_auth(tool.sealed_auth),
    }


def shown(tool: Tool, caller: Caller) -> ToolResponse:
    """The tool as this caller may see it."""
    whole = caller.is_admin or (tool.owner_id == caller.user_id and caller.agent_id is None)
    return ToolResponse.model_construct(
        **{name: getattr(tool, name) for name in _PLAIN_FIELDS if whole or name != "fallback"},
        config=mask_config(tool.config) if whole else None,
        auth_config=mask_auth(tool.sealed_auth) if whole else None,
        id=tool.id,
        owner_id=tool.owner_id,
        alias=tool.alias,
        version=tool.version,
        created_at=tool.created_at,
        updated_at=tool.updated_at,
        deleted_at=tool.deleted_at,
        is_deleted=tool.is_deleted,
        drifted=tool.drifted,
    )


def bare(tool_id: str, owner_id: str, now: datetime) -> Tool:
    """A tool with nothing on it yet but its id and owner."""
    empty: Mapping[str, Any] = {}
    return Tool(tool_id, owner_id, "", Kind.MOCK, empty, empty, now, now)
