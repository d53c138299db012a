"""A tool's URL, split once into what is fixed and what each call fills in."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import quote, unquote_plus

from yarl import URL

from pegboard.core.errors import FieldProblem, InvalidArguments, Misconfigured
from pegboard.core.outbound import PLACEHOLDER, HttpConfig
from pegboard.executors.http.styles import Write, check_style, path_writer, value_writer
from pegboard.executors.http.texts import Unwritable, quoted

# What a URL cannot hold as it is; a percent sign that begins no escape is among it, an escape stays as it is written.
_UNSENDABLE = re.compile(r"%(?![0-9A-Fa-f]{2})|[^A-Za-z0-9\-._~:/?@!$&'()*+,;=%\[\]]+", re.ASCII)
_STEPS = frozenset({".", ".."})


class _Slot(NamedTuple):
    """A placeholder, and how a value is written in its place."""

    field: str
    write: Write


# A segment of the path, or a pair of the query, that has placeholders in it.
_Open = tuple[str | _Slot, ...]


class UrlTemplate:
    """The URL of a tool without what its calls add: an origin, a path and a query, partly open."""

    __slots__ = ("_authority", "_pairs", "_parts", "_scheme", "fixed_query", "names", "origin")

    def __init__(self, config: HttpConfig, credentials: Mapping[str, str]) -> None:
        scheme, _, rest = config.url.partition("://")
        authority = re.split(r"[/?#]", rest, maxsplit=1)[0]
        try:
            url = URL(f"{scheme}://{authority}")
            host = url.host or ""
            self.origin = f"{scheme}://{f'[{host}]' if ':' in host else host}:{url.port}"
            self._scheme, self._authority = scheme, str(url.origin()).partition("://")[2]
            path, query = _path_and_query(rest[len(authority) :])
        except ValueError as error:
            raise Misconfigured(f"config.url is not a URL that can be reached: {error}") from None

        def in_path(field: str) -> _Slot:
            style = config.styles.get(field)
            check_style(field, "path", style)
            return _Slot(field, path_writer(config.wire_names.get(field, field), style))

        def in_query(field: str) -> _Slot:
            return _Slot(field, value_writer(field, config.styles.get(field)))

        self._parts = _merged(_cut(path, "/", in_path))
        own = [f"{quoted(name)}={quoted(value)}" for name, value in credentials.items()]
        # A credential replaces a pair of the URL that has its name.
        given = [pair for pair in _cut(query, "&", in_query) if pair and _name_of(pair) not in credentials]
        self._pairs: list[str | _Open] = [*given, *own]
        # The names of the query's own pairs: no argument is sent under one of them.
        self.names = frozenset(name for pair in self._pairs if (name := _name_of(pair)) is not None)
        self.fixed_query = "&".join(pair for pair in self._pairs if isinstance(pair, str))
        if all(isinstance(pair, str) for pair in self._pairs):
            self._pairs = [self.fixed_query] if self.fixed_query else []

    def path(self, arguments: Mapping[str, Any]) -> str:
        """The path for these arguments; raises InvalidArguments or Unwritable for what cannot stand in one."""
        parts = self._parts
        if len(parts) == 1:
            return str(parts[0])
        return "".join([part if isinstance(part, str) else self._segment(part, arguments) for part in parts])

    def pairs(self, arguments: Mapping[str, Any]) -> list[str]:
        """The pairs of the URL's own query, without those that a value is missing for."""
        pairs = []
        for pair in self._pairs:
            if isinstance(pair, str):
                pairs.append(pair)
                continue
            texts = [piece if isinstance(piece, str) else _written(piece, arguments) for piece in pair]
            if None not in texts:
                text = "".join(map(str, texts))
                if _name_of(pair) is None and unquote_plus(text.partition("=")[0]) in self.names:
                    raise _taken_name(pair)
                pairs.append(text)
        return pairs

    def joined(self, path: str, pairs: list[str]) -> URL:
        """The URL of this path and these pairs, both encoded already: nothing is encoded, or decoded, again."""
        return URL.build(
            scheme=self._scheme, authority=self._authority, path=path, query_string="&".join(pairs), encoded=True
        )

    def _segment(self, segment: _Open, arguments: Mapping[str, Any]) -> str:
        texts = []
        for piece in segment:
            if isinstance(piece, str):
                texts.append(piece)
                continue
            if arguments.get(piece.field) is None:
                raise self._missing(arguments)
            text = _written(piece, arguments)
            # Refused wherever it stands, so that no two pieces together are a step upwards either.
            if not text or text in _STEPS:
                raise _no_step(piece.field)
            texts.append(text)
        return "".join(texts)

    def _missing(self, arguments: Mapping[str, Any]) -> InvalidArguments:
        slots = [piece for part in self._parts if not isinstance(part, str) for piece in part]
        fields = dict.fromkeys(slot.field for slot in slots if isinstance(slot, _Slot))
        absent = [field for field in fields if arguments.get(field) is None]
        problems = [
            FieldProblem(
                "missing", f"Field '{field}' is required, as the URL is made with it", field, "a value", "nothing"
            )
            for field in absent
        ]
        named = ", ".join(f"'{field}'" for field in absent)
        return InvalidArguments(f"Invalid parameters: missing {named}", problems=problems)


def _path_and_query(text: str) -> tuple[list[str], list[str]]:
    """The text of the path and of the query, each split at its placeholders: every second item is a field's name."""
    path: list[str] = []
    query: list[str] = []
    current = path
    for index, piece in enumerate(PLACEHOLDER.split(text)):
        if index % 2:
            current.append(piece)
            continue
        literal, fragment, _ = piece.partition("#")
        if current is path and "?" in literal:
            before, _, literal = literal.partition("?")
            path.append(_sendable(before))
            current = query
        current.append(_sendable(literal))
        if fragment:
            break
    return path, query


def _cut(pieces: Sequence[str], at: str, slot: Callable[[str], _Slot]) -> list[str | _Open]:
    """What stands between the separators: text, or an open part where it has a placeholder in it."""
    parts: list[list[str | _Slot]] = [[]]
    for index, piece in enumerate(pieces):
        if index % 2:
            parts[-1].append(slot(piece))
            continue
        first, *others = piece.split(at)
        parts[-1].append(first)
        parts += [[text] for text in others]
    # Text alone is one piece: a placeholder always has text, if only an empty one, on either side.
    return [str(part[0]) if len(part) == 1 else tuple(piece for piece in part if piece) for part in parts]


def _name_of(pair: str | _Open) -> str | None:
    """The name of a pair of the query; None if a placeholder is part of it."""
    start = pair if isinstance(pair, str) else pair[0]
    if not isinstance(start, str) or (start is not pair and "=" not in start):
        return None
    return unquote_plus(start.partition("=")[0])


def _taken_name(pair: _Open) -> Unwritable:
    return Unwritable(
        "must not be the name of another query parameter of the tool's URL",
        expected="another name",
        field=next(piece.field for piece in pair if isinstance(piece, _Slot)),
        code="custom",
    )


def _merged(segments: list[str | _Open]) -> list[str | _Open]:
    """The path from its first slash on, with fixed neighbours joined."""
    merged: list[str | _Open] = []
    text = "" if len(segments) > 1 else "/"
    for index, segment in enumerate(segments):
        text += "/" if index else ""
        if isinstance(segment, str):
            text += segment
        else:
            merged += [text, segment]
            text = ""
    return [*merged, text] if text else merged


def _written(slot: _Slot, arguments: Mapping[str, Any]) -> str | None:
    try:
        return slot.write(arguments.get(slot.field))
    except Unwritable as error:
        error.field = slot.field
        raise


def _no_step(field: str) -> Unwritable:
    return Unwritable(
        "must not be empty, '.' or '..', as it is a step of the URL's path",
        expected="text for a URL's path",
        field=field,
    )


def _sendable(text: str) -> str:
    return _UNSENDABLE.sub(lambda match: quote(match[0], safe=""), text)
