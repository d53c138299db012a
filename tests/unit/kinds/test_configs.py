"""The hosts and commands that a config may name."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from pegboard.kinds.config_fields import check_url
from pegboard.kinds.mcp.config import McpConfig


@pytest.mark.parametrize(
    "host",
    [
        "xn--",
        "xn--a-.example",
        "api.XN--99999999.example",
        "...",
        ".example",
        "a..b",
        "a" * 64 + ".example",
        "a" * 300,
        ".".join(["a" * 50] * 6),
        "exa%mple",
        "ex%61mple.com",
        "a,b",
        "a$b",
        "b\u00fccher" * 10 + ".example",
        "\u200b",
    ],
)
def test_a_host_that_can_never_be_looked_up_is_refused(host: str) -> None:
    with pytest.raises(ValueError, match=r"^url names (the host '.*', which cannot be looked up: |no host)"):
        check_url(f"https://{host}:8443/path", "url")


@pytest.mark.parametrize(
    "host",
    [
        "localhost",
        "api.example.com",
        "API.Example.COM.",
        "a_service",
        "3com.example",
        "a-b--c.example",
        "b\u00fccher.example",
        "xn--bcher-kva.example",
        "xn--i-7iq.example",
        "a" * 63 + ".example",
        "127.0.0.1",
        "2130706433",
        "[::1]",
    ],
)
def test_any_other_is_taken(host: str) -> None:
    url = f"https://{host}/path"
    assert check_url(url, "url") == url


@given(st.text(min_size=1, max_size=300))
def test_any_host_is_accepted_or_refused_with_a_message(host: str) -> None:
    try:
        check_url(f"https://{host}/", "url")
    except ValueError as error:
        assert "url" in str(error).lower()


def test_an_empty_command_is_reported_in_plain_words() -> None:
    with pytest.raises(ValidationError, match="command is empty; give the program to start"):
        McpConfig.model_validate({"command": []})
