"""The file of tables, read with every fault told at once."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from pegboard.core.refusals import Fault, Invalid
from pegboard.core.table_config import Address, FromEnvironment, TableEntry, TableField, TablesFile
from pegboard.executors.table.sources import place_of
from pegboard.registry.definition import faults_of
from pegboard.registry.documents import Misread, read_json, read_text, read_yaml
from pegboard.registry.storable import unstorable
from pegboard.registry.tables.rules import config_faults, field_faults, file_faults
from pegboard.registry.values import as_floats

MAX_BYTES = 4 * 2**20


def bytes_of(file: Path) -> bytes:
    """What the file holds, as far as `read_tables` takes it; raises Invalid."""
    try:
        if file.exists() and not file.is_file():  # to open a pipe would wait for whoever writes to it
            raise _unreadable(file, "it is no file")
        with file.open("rb") as opened:
            return opened.read(MAX_BYTES + 1)
    except OSError as error:
        raise _unreadable(file, error.strerror or str(error)) from None


def read_tables(text: bytes, file: str) -> TablesFile:
    """The tables that the text of this file lists, in JSON or YAML; raises Invalid with every fault."""
    if len(text) > MAX_BYTES:
        raise _invalid(file, [Fault("", f"is too large: at most {MAX_BYTES:,} bytes are read")])
    try:
        data = _value(read_text(text), file)
    except Misread as error:
        line = f"line {error.line}: " if error.line is not None else ""
        raise _invalid(file, [Fault("", line + error.message)]) from None
    if not isinstance(data, dict):
        raise _invalid(file, [Fault("", 'must be an object such as {"database": URL, "tables": [...]}')])
    if faults := _unstorable(data):
        raise _invalid(file, faults)
    faults = _faults_around(data)
    if "tables" not in data:
        faults.append(Fault("tables", "is required: the list of tables that become tools"))
    listed = data.get("tables")
    entries: dict[int, TableEntry] = {}
    for place, entry in enumerate(listed if isinstance(listed, list) else ()):
        under = f"tables.{place}"
        try:
            entries[place] = TableEntry.model_validate(entry)
        except ValidationError as error:
            faults += [*faults_of(error, TableEntry, under), *_faults_inside(entry, under)]
        else:
            faults += config_faults(entries[place], under)
    sources = data.get("sources")
    faults += file_faults(entries, list(sources) if isinstance(sources, dict) else [])
    if faults:
        raise _invalid(file, faults)
    return TablesFile.model_validate({**data, "tables": list(entries.values())})


def tool_ids_in(text: bytes, file: str) -> dict[int, str]:
    """The toolId of each table of a file by its place; only those that can be read."""
    try:
        data = _value(read_text(text[:MAX_BYTES]), file)
    except Misread:
        return {}
    listed = data.get("tables") if isinstance(data, dict) else None
    return {
        place: entry["toolId"]
        for place, entry in enumerate(listed if isinstance(listed, list) else ())
        if isinstance(entry, dict) and isinstance(entry.get("toolId"), str)
    }


def addresses(file: TablesFile, environ: Mapping[str, str]) -> dict[str | None, str]:
    """The URL of each source by name, and under None that of the file's database; raises Invalid with every fault."""
    named: dict[str | None, Address] = dict(file.sources.items())
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
            place_of(found[name])
        except ValueError as error:
            faults.append(Fault(where, str(error)))
    if faults:
        raise Invalid.of("The tables file cannot be used", faults)
    return found


def _unreadable(file: Path, why: str) -> Invalid:
    return Invalid.of(f"{file} cannot be read", [Fault("", why)])


def _invalid(file: str, faults: list[Fault]) -> Invalid:
    return Invalid.of(f"The tables in {file} are not valid", faults)


def _value(text: str, file: str) -> Any:
    if file.lower().endswith((".yaml", ".yml")) or not text.lstrip().startswith(("{", "[")):
        documents = read_yaml(text, number=_decimal).values
        if len(documents) > 1:
            raise Misread(f"holds {len(documents)} documents, only one is read")
        return documents[0] if documents else None
    return read_json(text, _decimal)


def _decimal(text: str) -> Decimal:
    try:
        return Decimal(text)
    except InvalidOperation:
        raise ValueError(f"{text[:40]} is beyond every number") from None


def _unstorable(data: dict[str, Any]) -> list[Fault]:
    try:
        return unstorable(as_floats(data))
    except RecursionError:
        return [Fault("", "nested too deeply")]


def _faults_around(data: Mapping[str, Any]) -> list[Fault]:
    """What is wrong with the file apart from the tables, each of which is looked at by itself."""
    listed = data.get("tables", [])
    try:
        TablesFile.model_validate({**data, "tables": [] if isinstance(listed, list) else listed})
    except ValidationError as error:
        return faults_of(error, TablesFile)
    return []


def _faults_inside(entry: Any, under: str) -> list[Fault]:
    """What breaks the rules in the fields that can be read of a table that cannot."""
    faults = []
    fields = entry.get("fields") if isinstance(entry, dict) else None
    for place, field in enumerate(fields if isinstance(fields, list) else ()):
        try:
            read = TableField.model_validate(field)
        except ValidationError:
            continue
        faults += field_faults(read, f"{under}.fields.{place}")
    return faults
