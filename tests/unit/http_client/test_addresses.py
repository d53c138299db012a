"""Which texts are addresses, and which addresses are public."""

from __future__ import annotations

import socket
from collections.abc import Callable
from ipaddress import IPv4Address, IPv6Address, ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard.http_client.address_policy import is_numeric_host, is_routable, parse_address
from tests.unit.http_client.blocked_addresses import LOOPBACK_SPELLINGS, NOT_PUBLIC, PUBLIC


@pytest.mark.parametrize("text", NOT_PUBLIC.values(), ids=NOT_PUBLIC)
def test_an_address_that_is_not_public_is_not_routable(text: str) -> None:
    assert not is_routable(ip_address(text))


@pytest.mark.parametrize("text", PUBLIC.values(), ids=PUBLIC)
def test_a_public_address_is_routable(text: str) -> None:
    assert is_routable(ip_address(text))


@pytest.mark.parametrize("host", LOOPBACK_SPELLINGS)
def test_every_spelling_of_loopback_is_read_as_an_address(host: str) -> None:
    address = parse_address(host)
    assert address is not None
    assert not is_routable(address)
    assert is_numeric_host(host) or host.startswith("[")


@pytest.mark.parametrize(
    ("host", "address"),
    [
        ("fe80::1%eth0", "fe80::1"),
        ("[fe80::1%25eth0]", "fe80::1"),
        ("0xa9fea9fe", "169.254.169.254"),
        ("2852039166", "169.254.169.254"),
        ("0251.0376.0251.0376", "169.254.169.254"),
        ("169.254.43518", "169.254.169.254"),
        ("169.16689662", "169.254.169.254"),
        ("0", "0.0.0.0"),
        ("0x0", "0.0.0.0"),
        ("00", "0.0.0.0"),
        ("4294967295", "255.255.255.255"),
        ("127.0\u00ad.0.1", "127.0.0.1"),
        ("127\u200b.0.0.1", "127.0.0.1"),
        (" 127.0.0.1 ", "127.0.0.1"),
    ],
)
def test_other_spellings_mean_what_a_resolver_would_take_them_for(host: str, address: str) -> None:
    assert parse_address(host) == ip_address(address)


@pytest.mark.parametrize(
    "host",
    ["example.com", "localhost", "", ".", "1e100.net", "127.0.0.1.example.com", "dead.beef", "x127.0.0.1x", "a" * 300],
)
def test_a_name_is_no_address(host: str) -> None:
    assert parse_address(host) is None
    assert not is_numeric_host(host)


@pytest.mark.parametrize(
    "host",
    [
        "256.0.0.1",
        "1.2.3.4.5",
        "4294967296",
        "08.0.0.1",
        "127.0.0.09",
        "0x",
        "0x.1",
        "1..2",
        "127.0.0.256",
        "1.2.65536",
    ],
)
def test_a_number_out_of_range_is_no_address_and_no_name_either(host: str) -> None:
    assert parse_address(host) is None
    assert is_numeric_host(host)


@pytest.mark.parametrize("host", ["[::1", "::g", "[::ffff:0x7f.1]", "1:2:3", "[:::1]"])
def test_a_broken_ipv6_address_is_no_address_and_no_name_either(host: str) -> None:
    assert parse_address(host) is None
    assert is_numeric_host(host)


@given(st.text(alphabet="0123456789xXabF.", max_size=20).filter(lambda text: not text.endswith(".")))
def test_numbers_are_read_as_the_system_reads_them(text: str) -> None:
    try:
        expected = IPv4Address(socket.inet_aton(text))
    except OSError:
        assert parse_address(text) is None
    else:
        assert parse_address(text) == expected


def octal(number: int) -> str:
    return f"0{number:o}"


def padded(number: int) -> str:
    return f"0x{number:08X}"


@st.composite
def spellings(draw: st.DrawFn) -> tuple[IPv4Address, str]:
    """Return an IPv4 address and one of the ways to write it."""
    address = IPv4Address(draw(st.integers(0, 2**32 - 1)))
    octets = list(address.packed)
    count = draw(st.integers(0, 3))
    numbers = [*octets[:count], int.from_bytes(bytes(octets[count:]), "big")]
    forms: list[Callable[[int], str]] = [str, hex, octal, padded]
    return address, ".".join(draw(st.sampled_from(forms))(number) for number in numbers)


@given(spellings())
def test_an_address_in_any_spelling_is_recognised(case: tuple[IPv4Address, str]) -> None:
    address, text = case
    assert parse_address(text) == address
    assert is_numeric_host(text)


@given(st.text(max_size=40))
def test_any_text_is_an_address_or_is_not(text: str) -> None:
    address = parse_address(text)
    assert address is None or is_numeric_host(text) or text.strip().startswith("[")


@given(st.ip_addresses(v=4))
def test_wrapping_an_address_does_not_make_it_public(address: IPv4Address) -> None:
    inner = int(address)
    wrapped = [
        IPv6Address((0xFFFF << 32) | inner),
        IPv6Address((0x2002 << 112) | (inner << 80)),
        IPv6Address((0x64FF9B << 96) | inner),
        IPv6Address((0x20010000 << 96) | (0x08080808 << 64) | (inner ^ 0xFFFFFFFF)),
    ]
    assert {is_routable(address)} == {is_routable(outer) for outer in wrapped}


@given(st.ip_addresses())
def test_nothing_is_routable_that_python_calls_private(address: IPv4Address | IPv6Address) -> None:
    wrapping = isinstance(address, IPv6Address) and (address.sixtofour or address.teredo)
    assert not is_routable(address) or address.is_global or wrapping
