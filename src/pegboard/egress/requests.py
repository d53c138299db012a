"""Requests as they are given: nothing is added to them that nobody asked for."""

from __future__ import annotations

from collections.abc import Iterable
from http.cookies import BaseCookie
from typing import Any, Final

import aiohttp
from multidict import CIMultiDict
from yarl import URL

_NO_TYPE: Final[CIMultiDict[None]] = CIMultiDict({"Content-Type": None})
_NO_COOKIES: Final[BaseCookie[str]] = BaseCookie()


class PlainRequest(aiohttp.ClientRequest):
    """A request whose headers are those of the session and its own."""

    # Cookies, the machine's credentials, compression, a type for a body that has none: aiohttp sees to each of them for
    # each request. Here they never apply, and leaving them out makes a request quicker.

    def update_auto_headers(self, skip_auto_headers: Iterable[str] | None) -> None:
        """None but the session's."""
        self._skip_auto_headers = _NO_TYPE

    def update_cookies(self, cookies: Any) -> None:
        """They are headers like others."""

    def update_content_encoding(self, data: Any) -> None:
        """Bodies are sent as they are."""

    def update_auth(self, auth: aiohttp.BasicAuth | None, trust_env: bool = False) -> None:
        """Credentials are headers like others."""

    def update_expect_continue(self, expect: bool = False) -> None:
        """Nobody asks first."""


class NoCookies(aiohttp.DummyCookieJar):
    """Keeps none and sends none; the answer is made once, where aiohttp's own jar makes one for each request."""

    def filter_cookies(self, request_url: URL) -> BaseCookie[str]:
        """Never any."""
        return _NO_COOKIES
