"""Where an upstream sends a request on to, and what of it may go there."""

from __future__ import annotations

from multidict import CIMultiDict
from yarl import URL

from pegboard.core.errors import EgressRefused, ToolError, UpstreamFailed
from pegboard.egress.hosts import origin_of
from pegboard.executors.http.template import Request
from pegboard.executors.masking import Mask

MOST = 5
_REDIRECTED = "Upstream redirected"
STATUSES = frozenset({301, 302, 303, 307, 308})
# What describes a body that is no longer sent.
_OF_A_BODY = ("Content-Type", "Content-Encoding", "Content-Language", "Content-Location", "Content-Disposition")


class Trail:
    """The way of one call from redirect to redirect: never long, never twice the same."""

    __slots__ = ("_mask", "_steps")

    def __init__(self, mask: Mask) -> None:
        self._mask = mask
        self._steps: list[tuple[str, URL]] = []

    def follow(self, request: Request, status: int, location: str | None) -> Request:
        """The request to send next; to another origin it goes without credentials, and for good."""
        self._steps.append((request.method, request.url))
        if len(self._steps) > MOST:
            raise UpstreamFailed(f"Upstream redirected more than {MOST} times")
        url = self._target(request.url, status, location)
        leaves = origin_of(url) != origin_of(request.url)
        if leaves:
            self._check_leaving(request.url, url)
        method, body, bare = request.method, request.body, request.bare_headers
        headers = bare if leaves else request.headers
        if (status == 303 and method not in {"GET", "HEAD"}) or (status in {301, 302} and method == "POST"):
            method, body, headers, bare = "GET", None, _without_body(headers), _without_body(bare)
        if (method, url) in self._steps:
            raise UpstreamFailed(f"Upstream redirects in a loop, back to {origin_of(url)}")
        return request._replace(method=method, url=url, headers=headers, body=body, bare_headers=bare)

    def explain(self, error: ToolError, url: URL) -> None:
        """Say in a refusal of this URL that the request was redirected to it."""
        if self._steps and isinstance(error, EgressRefused) and not error.message.startswith(_REDIRECTED):
            error.message = f"{_REDIRECTED} to {origin_of(url)}. {error.message}"
            error.args = (error.message,)

    def _target(self, base: URL, status: int, location: str | None) -> URL:
        if not location:
            raise UpstreamFailed(f"Upstream answered {status} without saying where to")
        try:
            url = base.join(URL(location)).with_fragment(None)
            named = bool(url.host) and url.port is not None
        except (ValueError, TypeError):
            raise UpstreamFailed("Upstream redirected to something that is no URL") from None
        if url.scheme not in {"http", "https"}:
            raise EgressRefused(f"Upstream redirected to a {url.scheme or 'schemeless'} address")
        if not named:
            raise UpstreamFailed("Upstream redirected to a URL without a host")
        return url

    def _check_leaving(self, base: URL, url: URL) -> None:
        """Refuse what would show the request, or a credential that stands in the URL, to somebody else."""
        if base.scheme == "https" and url.scheme == "http":
            raise EgressRefused(
                f"Upstream redirected from https to {origin_of(url)}, where anybody could read along; if that is "
                "meant, set the tool's url to it"
            )
        if any(self._mask.text(shown) != shown for shown in (str(url), url.human_repr())):
            raise EgressRefused(
                f"Upstream redirected to another origin, {origin_of(url)}, with the tool's credential in the URL; if "
                "that is meant, set the tool's url to it"
            )


def _without_body(headers: CIMultiDict[str]) -> CIMultiDict[str]:
    kept = headers.copy()
    for name in _OF_A_BODY:
        kept.popall(name, None)
    return kept
