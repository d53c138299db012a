"""Files of fixtures, read with every fault told by its line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import orjson
from pydantic import ValidationError

from pegboard.mocking.fixtures import Fixtures
from pegboard.registry.definition import faults_in
from pegboard.registry.documents import Documents, Misread, read_json, read_text, read_yaml
from pegboard.registry.schemas import SchemaProblem, check_schema
from pegboard.registry.storable import unstorable


class BadFixtures(Exception):
    """The file cannot be used; each of `lines` says where and why."""

    def __init__(self, file: str, lines: Sequence[str]) -> None:
        super().__init__("\n".join([f"The fixtures in {file} are not valid", *lines]))
        self.file = file
        self.lines = tuple(lines)


def read_fixtures(raw: bytes, file: str) -> Fixtures:
    """The fixtures that a file of this name holds, YAML or JSON; raises BadFixtures with every fault."""
    try:
        text = read_text(raw)
        documents = _documents(text)
    except Misread as error:
        place = f"{file}:{error.line}" if error.line else file
        raise BadFixtures(file, [f"{place}: {error.message}"]) from None
    if len(documents.values) != 1 or not isinstance(documents.values[0], dict):
        raise BadFixtures(file, [f"{file}: must be one object such as {{tools: [{{name: …, responses: […]}}]}}"])
    data = documents.values[0]
    try:
        fixtures = Fixtures.model_validate(data)
    except ValidationError as error:
        items = error.errors(include_url=False)
        faults: list[tuple[Sequence[str | int], str]] = [
            (item["loc"], faults_in([item], Fixtures)[0].message) for item in items
        ]
    else:
        faults = list(_unusable(fixtures))
    if not faults:
        return fixtures
    documents = _with_lines(text, documents)
    raise BadFixtures(file, [_told(file, documents, where, why) for where, why in faults])


def _documents(text: str) -> Documents:
    """The documents of the text; those in JSON have no lines."""
    if text.lstrip()[:1] not in ("{", "["):
        return read_yaml(text)
    try:
        return Documents([read_json(text)])
    except Misread:
        if text.lstrip()[:1] == "[":
            raise
        return _flow(text)


def _with_lines(text: str, documents: Documents) -> Documents:
    """The same documents with their lines; those of JSON are found by reading it as YAML too, which takes long."""
    if documents.lines:
        return documents
    try:
        again = read_yaml(text)
    except Misread:
        return documents
    return again if again.values == documents.values else documents


def _flow(text: str) -> Documents:
    """YAML that begins with a brace; what is wrong with it is told as of JSON, which it most likely is."""
    try:
        return read_yaml(text)
    except Misread:
        read_json(text)
        raise


def _unusable(fixtures: Fixtures) -> Iterator[tuple[Sequence[str | int], str]]:
    """What no model finds: names that are there twice or not at all, schemas and texts that cannot be used."""
    names = {tool.name.lower() for tool in fixtures.tools}
    for place, name in fixtures.twice():
        yield ("tools", place), f"another tool is called '{name}' already"
    for place, tool in enumerate(fixtures.tools):
        for field, schema in (("input_schema", tool.input_schema), ("output_schema", tool.output_schema)):
            try:
                if schema is not None:
                    check_schema(schema, where=field)
            except SchemaProblem as error:
                yield ("tools", place, field), str(error).removeprefix(field).lstrip(": ")
        other = tool.fallback.tool if tool.fallback is not None else None
        if other and other.lower() == tool.name.lower():
            yield ("tools", place, "fallback", "tool"), "a tool cannot fall back on itself"
        elif other and other.lower() not in names:
            yield ("tools", place, "fallback", "tool"), f"the file has no tool '{other[:100]}'"
        for number, response in enumerate(tool.responses):
            for field, value in (("when", response.when), ("respond", response.respond)):
                try:
                    orjson.dumps(value)
                except TypeError as error:
                    yield ("tools", place, "responses", number, field), f"no board can send this: {error}"
        for fault in unstorable(tool.definition):
            yield ("tools", place, *fault.field.split(".")), fault.message


def _told(file: str, documents: Documents, where: Iterable[str | int], why: str) -> str:
    """The fault with the line that the innermost object around it begins in."""
    value: Any = documents.values[0]
    line = documents.line_of(value)
    steps = list(where)
    for step in steps:
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):
            break
        line = documents.line_of(value) or line
    path = ".".join(map(str, steps))
    return f"{file}{f':{line}' if line else ''}: {f'{path}: ' if path else ''}{why}"
