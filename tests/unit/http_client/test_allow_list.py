"""The allow-list: how it is parsed, and what it permits."""

from __future__ import annotations

from ipaddress import ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard.http_client.address_policy import AllowList, is_routable
from tests.unit.http_client.blocked_addresses import NOT_PUBLIC, PUBLIC


@pytest.mark.parametrize("text", NOT_PUBLIC.values(), ids=NOT_PUBLIC)
def test_an_empty_list_lets_nothing_private_through(text: str) -> None:
    assert not AllowList.read("").permits("name.example", 80, ip_address(text))


@pytest.mark.parametrize("text", PUBLIC.values(), ids=PUBLIC)
def test_what_is_public_needs_no_entry(text: str) -> None:
    assert AllowList().permits("name.example", 80, ip_address(text))


@pytest.mark.parametrize(
    ("entries", "host", "port", "address"),
    [
        ("localhost", "localhost", 80, "127.0.0.1"),
        ("localhost", "LOCALHOST", 80, "127.0.0.1"),
        ("LocalHost.", "localhost", 80, "::1"),
        ("localhost", "localhost.", 80, "::1"),
        ("intranet.example:8080", "intranet.example", 8080, "10.1.2.3"),
        ("my_service", "my_service", 80, "172.18.0.2"),
        ("bücher.example", "xn--bcher-kva.example", 80, "10.0.0.1"),
        ("xn--bcher-kva.example", "BÜCHER.example", 80, "10.0.0.1"),
        ("127.0.0.1", "127.0.0.1", 8000, "127.0.0.1"),
        ("127.0.0.1", "any.example", 8000, "127.0.0.1"),
        ("127.0.0.1", "any.example", 8000, "::ffff:127.0.0.1"),
        ("::ffff:127.0.0.1", "any.example", 8000, "127.0.0.1"),
        ("127.0.0.1:8000", "any.example", 8000, "127.0.0.1"),
        ("10.0.0.0/8", "any.example", 1, "10.255.0.1"),
        ("::1", "any.example", 1, "::1"),
        ("[::1]", "any.example", 1, "::1"),
        ("[::1]:8080", "any.example", 8080, "::1"),
        ("fd00::/8", "any.example", 1, "fd00:ec2::254"),
        ("fe80::/10", "fe80::1%eth0", 1, "fe80::1%eth0"),
        ("64:ff9b:1::/48", "any.example", 443, "64:ff9b:1::8.8.8.8"),
        (" a.example , 10.0.0.1 ,, b.example:1 ", "b.example", 1, "10.9.9.9"),
    ],
)
def test_an_entry_lets_through_what_it_names(entries: str, host: str, port: int, address: str) -> None:
    assert AllowList.read(entries).permits(host, port, ip_address(address))


@pytest.mark.parametrize(
    ("entries", "host", "port", "address"),
    [
        ("localhost", "127.0.0.1", 80, "127.0.0.1"),
        ("localhost", "local.host", 80, "127.0.0.1"),
        ("localhost", "a.localhost", 80, "127.0.0.1"),
        ("localhost", "localhost.example", 80, "127.0.0.1"),
        ("localhost", "localhost..", 80, "127.0.0.1"),
        ("intranet.example:8080", "intranet.example", 8081, "10.1.2.3"),
        ("intranet.example:8080", "intranet.example", 80, "10.1.2.3"),
        ("intranet.example", "an.intranet.example", 80, "10.1.2.3"),
        ("127.0.0.1", "127.0.0.1", 80, "127.0.0.2"),
        ("127.0.0.1", "127.0.0.1", 80, "::1"),
        ("127.0.0.1", "any.example", 80, "64:ff9b::127.0.0.1"),
        ("127.0.0.1", "any.example", 80, "2002:7f00:1::"),
        ("127.0.0.1:8000", "127.0.0.1", 8001, "127.0.0.1"),
        ("10.0.0.0/8", "10.0.0.1", 80, "192.168.0.1"),
        ("10.0.0.0/31", "any.example", 80, "10.0.0.2"),
        ("[::1]:8080", "::1", 8081, "::1"),
        ("::1", "::1", 80, "::"),
        ("fd00::/8", "any.example", 80, "fc00::1"),
        ("169.254.169.253", "any.example", 80, "169.254.169.254"),
        ("0.0.0.0", "any.example", 80, "127.0.0.1"),
        ("localhost", "local\u200bhost", 80, "127.0.0.1"),
    ],
)
def test_an_entry_lets_nothing_else_through(entries: str, host: str, port: int, address: str) -> None:
    assert not AllowList.read(entries).permits(host, port, ip_address(address))


@pytest.mark.parametrize(
    "entry",
    [
        "*.example.com",
        "*",
        "http://example.com",
        "example.com/path",
        "user@example.com",
        "example.com:0",
        "example.com:65536",
        "example.com:http",
        "example.com:",
        ":80",
        "10.0.0.0/8:80",
        "10.0.0.1/8",
        "10.0.0.0/33",
        "127.1",
        "0x7f.1",
        "2130706433",
        "127.0.0.1.",
        "256.0.0.1",
        "fe80::1%eth0",
        "[::1",
        "[::1]80",
        "[127.0.0.1]:80",
        "[example.com]:80",
        "::1::",
        "a b",
        "a%20b",
    ],
)
def test_what_is_not_understood_is_named_with_what_is_accepted(entry: str) -> None:
    with pytest.raises(ValueError, match=r"host:port, an address, address:port, \[IPv6\]:port or a network") as caught:
        AllowList.read(f"fine.example, {entry}")
    assert f"'{entry}'" in str(caught.value)


def test_a_very_long_entry_is_shown_in_part() -> None:
    with pytest.raises(ValueError, match="is not understood") as caught:
        AllowList.read("*" * 10_000)
    assert len(str(caught.value)) < 400


@given(st.text(max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        allow = AllowList.read(text)
    except ValueError as error:
        assert "is not understood" in str(error)
    else:
        assert not allow.permits("other.invalid", 9, ip_address("::1")) or allow.networks


@given(st.ip_addresses(), st.integers(1, 65535), st.integers(1, 65535))
def test_an_address_with_a_port_opens_that_port_alone(address: str, port: int, other: int) -> None:
    shown = ip_address(address)
    entry = f"[{shown}]:{port}" if shown.version == 6 else f"{shown}:{port}"
    allow = AllowList.read(entry)
    assert allow.permits("any.example", port, shown)
    assert allow.permits("any.example", other, shown) == (is_routable(shown) or port == other)
