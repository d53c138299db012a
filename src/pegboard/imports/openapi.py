"""Tools from API documents."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from aiohttp import ClientResponse
from multidict import CIMultiDict
from yarl import URL

from pegboard.core.call import Caller
from pegboard.core.errors import EgressRefused, UpstreamFailed
from pegboard.core.outbound import check_url
from pegboard.core.refusals import Fault, Invalid
from pegboard.core.tool import AuthConfig, Kind, Tool
from pegboard.egress.outbound import Outbound
from pegboard.egress.reading import read_capped
from pegboard.executors.http.redirects import STATUSES, Trail
from pegboard.executors.http.template import Request
from pegboard.executors.masking import Mask
from pegboard.imports.base import Definition, Shelf, published
from pegboard.imports.workshop import Tell, silent
from pegboard.registry.definition import checked
from pegboard.registry.openapi.importing import Imported, import_document
from pegboard.registry.openapi.naming import source_tag
from pegboard.registry.openapi.reading import read_document
from pegboard.registry.registry import refuse_agents
from pegboard.registry.taking import TakenOn

FETCH_SECONDS = 60.0

# The names of secrets that a config and an auth_config refer to, and the user of this id does not have.
MissingSecrets = Callable[[str, Mapping[str, Any], Mapping[str, Any] | None], list[str]]


class OpenApiImport:
    """Makes a tool of each operation of an OpenAPI or Swagger document."""

    def __init__(self, shelf: Shelf, outbound: Outbound, *, missing_secrets: MissingSecrets, max_bytes: int) -> None:
        self._shelf = shelf
        self._outbound = outbound
        self._missing_secrets = missing_secrets
        self._max_bytes = max_bytes

    async def __call__(
        self,
        caller: Caller,
        *,
        document: Mapping[str, Any] | str | bytes | None = None,
        url: str | None = None,
        server_url: str | None = None,
        prefix: str = "",
        include: Sequence[str] = (),
        auth_config: Mapping[str, Any] | None = None,
        is_public: bool | None = None,
        dry_run: bool = False,
        tell: Tell = silent,
    ) -> TakenOn:
        """Import a document, given whole or by its URL; run again, it updates what it made before."""
        refuse_agents(caller)
        if (document is None) == (url is None):
            raise Invalid.of("Nothing to import", [Fault("document", "give either document or url")])
        for field, given in (("url", url), ("server_url", server_url)):
            if given is not None:
                _check(field, given)
        if auth_config is not None:
            checked(AuthConfig, auth_config, "auth_config")
        with self._shelf.workshop.place(caller):
            if url is not None:
                tell("fetching", 0, 0)
                document = await self._fetched(url)
            tell("reading", 0, 0)
            found = await self._shelf.workshop.run(
                lambda on_progress: import_document(
                    document
                    if isinstance(document, Mapping)
                    else read_document(document or b"", on_progress=on_progress),
                    source_url=url,
                    server_url=server_url,
                    prefix=prefix,
                    include=include,
                    auth_config=auth_config,
                    on_progress=on_progress,
                ),
                "reading",
                tell,
            )
            definitions = [published(definition, is_public) for definition in found.definitions]
            belongs = _of_source(source_tag(found.title))
            taken = await self._shelf.take_on(definitions, caller, belongs, are_sound=True, dry_run=dry_run, tell=tell)
        taken.left_out[:0] = found.left_out
        taken.warnings.extend(found.warnings)
        taken.warnings.extend(
            f"There is no secret '{name}', so calls will fail. Set it: pegboard secrets set {name}"
            for name in self._missing_secrets(caller.user_id, {}, auth_config)
        )
        if not include:
            taken.gone.extend(await self._gone(caller, found, prefix))
        return taken

    async def _gone(self, caller: Caller, found: Imported, prefix: str) -> Iterator[str]:
        source = source_tag(found.title)
        before = await self._shelf.owned(
            caller, lambda tool: tool.tool_type is Kind.HTTP and source in tool.tags and tool.name.startswith(prefix)
        )
        return _gone(before, found, prefix)

    async def _fetched(self, url: str) -> bytes:
        try:
            async with asyncio.timeout(FETCH_SECONDS):
                return await read_capped(await self._sent(url), self._max_bytes)
        except EgressRefused as error:
            raise Invalid.of("The document cannot be fetched", [Fault("url", error.message)]) from None
        except TimeoutError:
            raise UpstreamFailed(f"The document could not be read within {FETCH_SECONDS:g} s") from None
        except UpstreamFailed as error:
            if "max_response_bytes" not in error.message:
                raise
            # That is what a tool's owner could do about it.
            most = f"{self._max_bytes:,} bytes that are read at most (PEGBOARD_MAX_IMPORT_BYTES)"
            raise UpstreamFailed(f"The document is larger than the {most}") from None

    async def _sent(self, url: str) -> ClientResponse:
        """The answer at the end of a way of redirects, if it is a good one."""
        headers = CIMultiDict({"Accept": "application/json, application/yaml, */*"})
        self._outbound.check(url)
        request = Request("GET", URL(url), headers, None, headers)
        trail = Trail(Mask(()))
        while True:
            try:
                self._outbound.check(str(request.url))
                response = await self._outbound.send(request.method, request.url, headers=request.headers)
            except EgressRefused as error:
                trail.explain(error, request.url)
                raise
            if response.status < 300:
                return response
            response.close()
            if response.status not in STATUSES:
                raise UpstreamFailed(f"The document's server answered {response.status} {response.reason or ''}")
            request = trail.follow(request, response.status, response.headers.get("Location"))


def _of_source(source: str) -> Callable[[Tool, Definition], bool]:
    def belongs(tool: Tool, definition: Definition) -> bool:
        if tool.tool_type is not Kind.HTTP:
            return False
        mine, theirs = definition["config"], tool.config
        # Many documents have the same title, such as the one that their framework gives them.
        return _route(mine) == _route(theirs) or (source in tool.tags and _origin(mine) == _origin(theirs))

    return belongs


def _check(field: str, url: str) -> None:
    try:
        check_url(url, field)
    except ValueError as error:
        raise Invalid.of("The import is not valid", [Fault(field, str(error))]) from None


def _gone(before: Sequence[Tool], found: Imported, prefix: str) -> Iterator[str]:
    """The names of those tools whose operations the document no longer has."""
    origins = {_origin(definition["config"]) for definition in found.definitions}
    known = {each["name"].lower() for each in found.definitions} | {each.name.lower() for each in found.left_out}
    routes: dict[tuple[str, str], tuple[str, ...]] = {}
    for each in found.definitions:
        route = _route(each["config"])
        routes[route] = (*routes.get(route, ()), each["name"].removeprefix(prefix).lower())
    for tool in before:
        name = tool.name.lower()
        # The same operation may have been imported with a longer prefix too.
        with_more = name.endswith(routes.get(_route(tool.config), ()))
        if name not in known and not with_more and (not origins or _origin(tool.config) in origins):
            yield tool.name


def _origin(config: Mapping[str, Any]) -> tuple[str, str]:
    parts = urlsplit(config["url"])
    return parts.scheme, parts.netloc.lower()


def _route(config: Mapping[str, Any]) -> tuple[str, str]:
    return config["method"], config["url"]
