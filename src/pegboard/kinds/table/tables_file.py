"""Reads the tables file and reports all its faults at once."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from pegboard.json_schema.read_arguments import convert_to_floats
from pegboard.json_schema.storable_json import find_unstorable
from pegboard.kinds.table.config import DatabaseAddress, FromEnvironment, TableEntry, TableField, TablesFile
from pegboard.kinds.table.config_rules import find_config_faults, find_field_faults, find_file_faults
from pegboard.kinds.table.sources import normalize_url
from pegboard.model.api_errors import Fault, Invalid
from pegboard.model.documents import DocumentError, read_json, read_text, read_yaml
from pegboard.model.validation_messages import list_model_faults

MAX_FILE_BYTES = 4 * 2**20


def read_file_bytes(file: Path) -> bytes:
    """Return the bytes of the file, at most one more than `read_tables_file` accepts; raise Invalid."""
    try:
        if file.exists() and not file.is_file():  # opening a named pipe would block until a writer opens it
            raise _build_unreadable_error(file, "it is no file")
        with file.open("rb") as opened:
            return opened.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        raise _build_unreadable_error(file, error.strerror or str(error)) from None


def read_tables_file(text: bytes, file: str) -> TablesFile:
    """Parse the tables of this file, in JSON or YAML; raise Invalid with all faults."""
    if len(text) > MAX_FILE_BYTES:
        raise _build_invalid_error(file, [Fault("", f"is too large: at most {MAX_FILE_BYTES:,} bytes are read")])
    try:
        data = _parse_text(read_text(text), file)
    except DocumentError as error:
        line = f"line {error.line}: " if error.line is not None else ""
        raise _build_invalid_error(file, [Fault("", line + error.message)]) from None
    if not isinstance(data, dict):
        raise _build_invalid_error(file, [Fault("", 'must be an object such as {"database": URL, "tables": [...]}')])
    if faults := _find_unstorable(data):
        raise _build_invalid_error(file, faults)
    faults = _find_outer_faults(data)
    if "tables" not in data:
        faults.append(Fault("tables", "is required: the list of tables that become tools"))
    listed = data.get("tables")
    entries: dict[int, TableEntry] = {}
    for place, entry in enumerate(listed if isinstance(listed, list) else ()):
        under = f"tables.{place}"
        try:
            entries[place] = TableEntry.model_validate(entry)
        except ValidationError as error:
            faults += [*list_model_faults(error, TableEntry, under), *_find_entry_faults(entry, under)]
        else:
            faults += find_config_faults(entries[place], under)
    sources = data.get("sources")
    faults += find_file_faults(entries, list(sources) if isinstance(sources, dict) else [])
    if faults:
        raise _build_invalid_error(file, faults)
    return TablesFile.model_validate({**data, "tables": list(entries.values())})


def read_tool_ids(text: bytes, file: str) -> dict[int, str]:
    """Return the toolId of each table of a file by position; tables without a readable one are left out."""
    try:
        data = _parse_text(read_text(text[:MAX_FILE_BYTES]), file)
    except DocumentError:
        return {}
    listed = data.get("tables") if isinstance(data, dict) else None
    return {
        place: entry["toolId"]
        for place, entry in enumerate(listed if isinstance(listed, list) else ())
        if isinstance(entry, dict) and isinstance(entry.get("toolId"), str)
    }


def resolve_addresses(file: TablesFile, environ: Mapping[str, str]) -> dict[str | None, str]:
    """Return the URL of each source by name, that of the file's database under None; raise Invalid with all faults."""
    named: dict[str | None, DatabaseAddress] = dict(file.sources.items())
    if file.database is not None:
        named[None] = file.database
    found: dict[str | None, str] = {}
    faults = []
    for name, address in named.items():
        where = "database" if name is None else f"sources.{name}"
        if isinstance(address, FromEnvironment) and not environ.get(address.env):
            faults.append(Fault(where, f"the environment variable {address.env} is not set"))
            continue
        found[name] = address if isinstance(address, str) else environ[address.env]
        try:
            normalize_url(found[name])
        except ValueError as error:
            faults.append(Fault(where, str(error)))
    if faults:
        raise Invalid.of("The tables file cannot be used", faults)
    return found


def _build_unreadable_error(file: Path, why: str) -> Invalid:
    return Invalid.of(f"{file} cannot be read", [Fault("", why)])


def _build_invalid_error(file: str, faults: list[Fault]) -> Invalid:
    return Invalid.of(f"The tables in {file} are not valid", faults)


def _parse_text(text: str, file: str) -> Any:
    if file.lower().endswith((".yaml", ".yml")) or not text.lstrip().startswith(("{", "[")):
        documents = read_yaml(text, number=_read_decimal).values
        if len(documents) > 1:
            raise DocumentError(f"holds {len(documents)} documents, only one is read")
        return documents[0] if documents else None
    return read_json(text, _read_decimal)


def _read_decimal(text: str) -> Decimal:
    try:
        return Decimal(text)
    except InvalidOperation:
        raise ValueError(f"{text[:40]} is beyond every number") from None


def _find_unstorable(data: dict[str, Any]) -> list[Fault]:
    try:
        return find_unstorable(convert_to_floats(data))
    except RecursionError:
        return [Fault("", "nested too deeply")]


def _find_outer_faults(data: Mapping[str, Any]) -> list[Fault]:
    """Return the faults of the file outside its tables, which are validated separately."""
    listed = data.get("tables", [])
    try:
        TablesFile.model_validate({**data, "tables": [] if isinstance(listed, list) else listed})
    except ValidationError as error:
        return list_model_faults(error, TablesFile)
    return []


def _find_entry_faults(entry: Any, under: str) -> list[Fault]:
    """Return the faults of the valid fields of an invalid table."""
    faults = []
    fields = entry.get("fields") if isinstance(entry, dict) else None
    for place, field in enumerate(fields if isinstance(fields, list) else ()):
        try:
            read = TableField.model_validate(field)
        except ValidationError:
            continue
        faults += find_field_faults(read, f"{under}.fields.{place}")
    return faults
