"""Reads fixtures files and reports every error with its line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import orjson
from pydantic import ValidationError

from pegboard.json_schema.compile import SchemaProblem, check_schema
from pegboard.json_schema.storable_json import find_unstorable
from pegboard.mock_server.fixtures import Fixtures
from pegboard.model.documents import DocumentError, YamlDocuments, read_json_or_yaml, read_text, read_yaml
from pegboard.model.validation_messages import list_item_faults


class BadFixtures(Exception):
    """Raised if the file is invalid; each of `lines` has a location and a reason."""

    def __init__(self, file: str, lines: Sequence[str]) -> None:
        super().__init__("\n".join([f"The fixtures in {file} are not valid", *lines]))
        self.file = file
        self.lines = tuple(lines)


def read_fixtures(raw: bytes, file: str) -> Fixtures:
    """Return the fixtures of a YAML or JSON file; raise BadFixtures with every error."""
    try:
        text = read_text(raw)
        documents = read_json_or_yaml(text)
    except DocumentError as error:
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
            (item["loc"], list_item_faults([item], Fixtures)[0].message) for item in items
        ]
    else:
        faults = list(_find_problems(fixtures))
    if not faults:
        return fixtures
    documents = _add_line_numbers(text, documents)
    raise BadFixtures(file, [_format_problem(file, documents, where, why) for where, why in faults])


def _add_line_numbers(text: str, documents: YamlDocuments) -> YamlDocuments:
    """Return the documents with line numbers; JSON is parsed again as YAML for this, which is slow."""
    if documents.lines:
        return documents
    try:
        again = read_yaml(text)
    except DocumentError:
        return documents
    return again if again.values == documents.values else documents


def _find_problems(fixtures: Fixtures) -> Iterator[tuple[Sequence[str | int], str]]:
    """Yield errors that the models do not detect: duplicate or unknown names, invalid schemas and texts."""
    names = {tool.name.lower() for tool in fixtures.tools}
    for place, name in fixtures.find_duplicates():
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
        for fault in find_unstorable(tool.definition):
            yield ("tools", place, *fault.field.split(".")), fault.message


def _format_problem(file: str, documents: YamlDocuments, where: Iterable[str | int], why: str) -> str:
    """Return the error with the line of the innermost object around it."""
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
