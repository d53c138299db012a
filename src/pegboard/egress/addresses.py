"""Addresses: which texts are one, and which of them the open internet can reach."""

from __future__ import annotations

import re
import stringprep
import unicodedata
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

Address = IPv4Address | IPv6Address

_PART = re.compile(r"0[xX][0-9a-fA-F]+|0[0-7]*|[1-9][0-9]*", re.ASCII)
_NUMBER = re.compile(r"0[xX][0-9a-fA-F]*|[0-9]+", re.ASCII)
_LONGEST = 255

# Written out, because what Python's is_global knows differs between its versions.
_LOCAL_V4 = tuple(
    IPv4Network(network)
    for network in (
        "0.0.0.0/8",  # this host
        "10.0.0.0/8",
        "100.64.0.0/10",  # carrier-grade NAT; 100.100.100.200 is a metadata service
        "127.0.0.0/8",
        "168.63.129.16/32",  # a cloud's service for its own virtual machines
        "169.254.0.0/16",  # link-local; 169.254.169.254 is the usual metadata service
        "172.16.0.0/12",
        "192.0.0.0/24",  # protocol assignments
        "192.0.2.0/24",  # documentation, as are 198.51.100.0 and 203.0.113.0
        "192.88.99.0/24",  # 6to4 relays
        "192.168.0.0/16",
        "198.18.0.0/15",  # benchmarking
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/4",  # multicast
        "240.0.0.0/4",  # reserved, and broadcast
    )
)
_GLOBAL_V6 = IPv6Network("2000::/3")
_LOCAL_V6 = tuple(
    IPv6Network(network)
    for network in (
        "2001::/23",  # protocol assignments: benchmarking, ORCHID
        "2001:db8::/32",  # documentation
        "3fff::/20",  # documentation
    )
)
_NAT64 = IPv6Network("64:ff9b::/96")
_COMPATIBLE = IPv6Network("::/96")


def literal(host: str) -> Address | None:
    """The address that a resolver would take this host for without asking anybody; None for a real name."""
    if len(host) > _LONGEST:
        return None
    text = _mapped(host).strip()
    if text.startswith("[") and text.endswith("]"):
        text = text[1:-1]
    if ":" in text:
        return _read(text.partition("%")[0])
    text = text.partition("%")[0].removesuffix(".")
    return _numbers(text.split("."))


def numeric(host: str) -> bool:
    """Whether the host can only be meant as an address: no name ends in a number."""
    text = _mapped(host).strip().removesuffix(".")
    return ":" in text or _NUMBER.fullmatch(text.rpartition(".")[2]) is not None


def routable(address: Address) -> bool:
    """Whether the address belongs to one host on the open internet, looking through those that wrap another."""
    if isinstance(address, IPv4Address):
        return not any(address in network for network in _LOCAL_V4)
    if (wrapped := _wrapped(address)) is not None:
        return all(routable(inner) for inner in wrapped)
    return address in _GLOBAL_V6 and not any(address in network for network in _LOCAL_V6)


def _wrapped(address: IPv6Address) -> tuple[IPv4Address, ...] | None:
    if (mapped := address.ipv4_mapped) is not None:
        return (mapped,)
    if (inner := address.sixtofour) is not None:
        return (inner,)
    if (teredo := address.teredo) is not None:
        return teredo
    if address in _NAT64 or address in _COMPATIBLE:
        return (IPv4Address(int(address) & 0xFFFFFFFF),)
    return None


def _mapped(host: str) -> str:
    """The host as IDNA reads it: full-width and circled digits are digits, invisible characters are nothing."""
    if host.isascii():
        return host
    shown = (char for char in host if not stringprep.in_table_b1(char) and unicodedata.category(char) != "Cf")
    return unicodedata.normalize("NFKC", "".join(shown)).replace("\u3002", ".")


def _read(text: str) -> Address | None:
    try:
        return ip_address(text)
    except ValueError:
        return None


def _numbers(parts: list[str]) -> IPv4Address | None:
    if len(parts) > 4 or not all(_PART.fullmatch(part) for part in parts):
        return None
    *leading, last = (_number(part) for part in parts)
    if any(number > 255 for number in leading) or last >= 256 ** (4 - len(leading)):
        return None
    value = last
    for position, number in enumerate(leading):
        value += number << (24 - 8 * position)
    return IPv4Address(value)


def _number(part: str) -> int:
    if part[:2] in ("0x", "0X"):
        return int(part, 16)
    return int(part, 8 if part[0] == "0" else 10)
