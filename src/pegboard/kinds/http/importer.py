"""Imports tools from OpenAPI and Swagger documents."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from aiohttp import ClientResponse
from multidict import CIMultiDict
from yarl import URL

from pegboard.http_client.bounded_body import read_bounded_body
from pegboard.http_client.guarded_client import GuardedClient
from pegboard.kinds.config_fields import check_url
from pegboard.kinds.http.executor import REDIRECT_STATUSES, RedirectTrail
from pegboard.kinds.http.openapi.import_document import ImportedDocument, import_document, read_document
from pegboard.kinds.http.openapi.naming import make_openapi_source_tag
from pegboard.kinds.http.request_template import HttpRequest
from pegboard.kinds.import_target import Definition, ImportTarget, set_visibility
from pegboard.kinds.secret_mask import SecretMask
from pegboard.model.accounts import refuse_agents
from pegboard.model.api_errors import Fault, Invalid
from pegboard.model.call import Caller
from pegboard.model.call_errors import EgressRefused, UpstreamFailed
from pegboard.model.import_report import ImportReport, ReportProgress, ignore_progress
from pegboard.model.tool import AuthConfig, Kind, Tool
from pegboard.model.validation_messages import validate_model

FETCH_SECONDS = 60.0

# Returns the secrets that a config and an auth_config refer to and that this user does not have.
FindMissingSecrets = Callable[[str, Mapping[str, Any], Mapping[str, Any] | None], list[str]]


@dataclass(eq=False)
class OpenApiImport:
    """Creates a tool for each operation of an OpenAPI or Swagger document."""

    import_target: ImportTarget
    outbound: GuardedClient
    missing_secrets: FindMissingSecrets
    max_bytes: int

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
        on_progress: ReportProgress = ignore_progress,
    ) -> ImportReport:
        """Import a document, given as text or by URL; a repeated import updates the tools."""
        refuse_agents(caller)
        if (document is None) == (url is None):
            raise Invalid.of("Nothing to import", [Fault("document", "give either document or url")])
        for field, given in (("url", url), ("server_url", server_url)):
            if given is not None:
                _check_url_field(field, given)
        if auth_config is not None:
            validate_model(AuthConfig, auth_config, "auth_config")
        with self.import_target.import_threads.place(caller):
            if url is not None:
                on_progress("fetching", 0, 0)
                document = await self._fetch_document(url)
            on_progress("reading", 0, 0)
            found = await self.import_target.import_threads.run(
                lambda report_count: import_document(
                    document
                    if isinstance(document, Mapping)
                    else read_document(document or b"", on_progress=report_count),
                    source_url=url,
                    server_url=server_url,
                    prefix=prefix,
                    include=include,
                    auth_config=auth_config,
                    on_progress=report_count,
                ),
                "reading",
                on_progress,
            )
            definitions = [set_visibility(definition, is_public) for definition in found.definitions]
            belongs = _match_source(make_openapi_source_tag(found.title))
            taken = await self.import_target.import_tools(
                definitions, caller, belongs, are_sound=True, dry_run=dry_run, on_progress=on_progress
            )
        taken.left_out[:0] = found.left_out
        taken.warnings.extend(found.warnings)
        taken.warnings.extend(
            f"There is no secret '{name}', so calls will fail. Set it: pegboard secrets set {name}"
            for name in self.missing_secrets(caller.user_id, {}, auth_config)
        )
        if not include:
            taken.gone.extend(await self._find_gone_tools(caller, found, prefix))
        return taken

    async def _find_gone_tools(self, caller: Caller, found: ImportedDocument, prefix: str) -> Iterator[str]:
        source = make_openapi_source_tag(found.title)
        before = await self.import_target.list_owned(
            caller, lambda tool: tool.tool_type == Kind.HTTP and source in tool.tags and tool.name.startswith(prefix)
        )
        return _list_removed_names(before, found, prefix)

    async def _fetch_document(self, url: str) -> bytes:
        try:
            async with asyncio.timeout(FETCH_SECONDS):
                return await read_bounded_body(await self._send_request(url), self.max_bytes)
        except EgressRefused as error:
            raise Invalid.of("The document cannot be fetched", [Fault("url", error.message)]) from None
        except TimeoutError:
            raise UpstreamFailed(f"The document could not be read within {FETCH_SECONDS:g} s") from None
        except UpstreamFailed as error:
            if "max_response_bytes" not in error.message:
                raise
            # max_response_bytes is a setting of tools and does not apply here.
            most = f"{self.max_bytes:,} bytes that are read at most (PEGBOARD_MAX_IMPORT_BYTES)"
            raise UpstreamFailed(f"The document is larger than the {most}") from None

    async def _send_request(self, url: str) -> ClientResponse:
        """Follow redirects and return the final response; raise UpstreamFailed if its status is not a success."""
        headers = CIMultiDict({"Accept": "application/json, application/yaml, */*"})
        self.outbound.check(url)
        request = HttpRequest("GET", URL(url), headers, None, headers)
        trail = RedirectTrail(SecretMask(()))
        while True:
            try:
                self.outbound.check(str(request.url))
                response = await self.outbound.send(request.method, request.url, headers=request.headers)
            except EgressRefused as error:
                trail.add_redirect_to_message(error, request.url)
                raise
            if response.status < 300:
                return response
            response.close()
            if response.status not in REDIRECT_STATUSES:
                raise UpstreamFailed(f"The document's server answered {response.status} {response.reason or ''}")
            request = trail.follow(request, response.status, response.headers.get("Location"))


def _match_source(source: str) -> Callable[[Tool, Definition], bool]:
    def belongs(tool: Tool, definition: Definition) -> bool:
        if tool.tool_type != Kind.HTTP:
            return False
        mine, theirs = definition["config"], tool.config
        # Many documents have the same title, for example the default of their framework.
        return _get_route(mine) == _get_route(theirs) or (
            source in tool.tags and _get_origin(mine) == _get_origin(theirs)
        )

    return belongs


def _check_url_field(field: str, url: str) -> None:
    try:
        check_url(url, field)
    except ValueError as error:
        raise Invalid.of("The import is not valid", [Fault(field, str(error))]) from None


def _list_removed_names(before: Sequence[Tool], found: ImportedDocument, prefix: str) -> Iterator[str]:
    """Yield the names of the tools whose operations are no longer in the document."""
    origins = {_get_origin(definition["config"]) for definition in found.definitions}
    known = {each["name"].lower() for each in found.definitions} | {each.name.lower() for each in found.left_out}
    routes: dict[tuple[str, str], tuple[str, ...]] = {}
    for each in found.definitions:
        route = _get_route(each["config"])
        routes[route] = (*routes.get(route, ()), each["name"].removeprefix(prefix).lower())
    for tool in before:
        name = tool.name.lower()
        # The same operation may also have been imported with a longer prefix.
        with_more = name.endswith(routes.get(_get_route(tool.config), ()))
        if name not in known and not with_more and (not origins or _get_origin(tool.config) in origins):
            yield tool.name


def _get_origin(config: Mapping[str, Any]) -> tuple[str, str]:
    parts = urlsplit(config["url"])
    return parts.scheme, parts.netloc.lower()


def _get_route(config: Mapping[str, Any]) -> tuple[str, str]:
    return config["method"], config["url"]
