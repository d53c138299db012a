"""The address policy: parses hosts as IP addresses, and decides which addresses tools may reach."""

from __future__ import annotations

import re
import stringprep
import unicodedata
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from yarl import URL

Address = IPv4Address | IPv6Address

_IPV4_PART = re.compile(r"0[xX][0-9a-fA-F]+|0[0-7]*|[1-9][0-9]*", re.ASCII)
_NUMERIC_LABEL = re.compile(r"0[xX][0-9a-fA-F]*|[0-9]+", re.ASCII)
_MAX_HOST_CHARS = 255

# Written out because Python's `is_global` differs between versions.
_LOCAL_V4 = tuple(
    IPv4Network(network)
    for network in (
        "0.0.0.0/8",  # this host
        "10.0.0.0/8",
        "100.64.0.0/10",  # carrier-grade NAT; 100.100.100.200 is a metadata service
        "127.0.0.0/8",
        "168.63.129.16/32",  # virtual public IP of Azure for services to its own virtual machines
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
_IPV4_COMPATIBLE = IPv6Network("::/96")


def parse_address(host: str) -> Address | None:
    """Return the IP address that a resolver would read from this host without a DNS query; None for a DNS name."""
    if len(host) > _MAX_HOST_CHARS:
        return None
    text = _normalize_idna(host).strip()
    if text.startswith("[") and text.endswith("]"):
        text = text[1:-1]
    if ":" in text:
        return _parse_ip(text.partition("%")[0])
    text = text.partition("%")[0].removesuffix(".")
    return _parse_ipv4_numbers(text.split("."))


def is_numeric_host(host: str) -> bool:
    """Return True if the host can only be an IP address: no DNS name ends in a number."""
    text = _normalize_idna(host).strip().removesuffix(".")
    return ":" in text or _NUMERIC_LABEL.fullmatch(text.rpartition(".")[2]) is not None


def is_routable(address: Address) -> bool:
    """Return True if the address is globally routable; for an IPv6 address that embeds IPv4, check the IPv4 address."""
    if isinstance(address, IPv4Address):
        return not any(address in network for network in _LOCAL_V4)
    if (wrapped := _unwrap_ipv4(address)) is not None:
        return all(is_routable(inner) for inner in wrapped)
    return address in _GLOBAL_V6 and not any(address in network for network in _LOCAL_V6)


def _unwrap_ipv4(address: IPv6Address) -> tuple[IPv4Address, ...] | None:
    if (mapped := address.ipv4_mapped) is not None:
        return (mapped,)
    if (inner := address.sixtofour) is not None:
        return (inner,)
    if (teredo := address.teredo) is not None:
        return teredo
    if address in _NAT64 or address in _IPV4_COMPATIBLE:
        return (IPv4Address(int(address) & 0xFFFFFFFF),)
    return None


def _normalize_idna(host: str) -> str:
    """Return the host after IDNA mapping.

    Full-width and circled digits become digits, invisible characters are removed.
    """
    if host.isascii():
        return host
    shown = (char for char in host if not stringprep.in_table_b1(char) and unicodedata.category(char) != "Cf")
    return unicodedata.normalize("NFKC", "".join(shown)).replace("\u3002", ".")


def _parse_ip(text: str) -> Address | None:
    try:
        return ip_address(text)
    except ValueError:
        return None


def _parse_ipv4_numbers(parts: list[str]) -> IPv4Address | None:
    if len(parts) > 4 or not all(_IPV4_PART.fullmatch(part) for part in parts):
        return None
    *leading, last = (_parse_ipv4_part(part) for part in parts)
    if any(number > 255 for number in leading) or last >= 256 ** (4 - len(leading)):
        return None
    value = last
    for position, number in enumerate(leading):
        value += number << (24 - 8 * position)
    return IPv4Address(value)


def _parse_ipv4_part(part: str) -> int:
    if part[:2] in ("0x", "0X"):
        return int(part, 16)
    return int(part, 8 if part[0] == "0" else 10)


Network = IPv4Network | IPv6Network

_ACCEPTED_FORMS = "a host, host:port, an address, address:port, [IPv6]:port or a network such as 10.0.0.0/8"


@dataclass(frozen=True, slots=True)
class AllowList:
    """Names, addresses and networks that may be reached although they are private."""

    names: frozenset[tuple[str, int | None]] = frozenset()
    networks: tuple[tuple[Network, int | None], ...] = ()

    @classmethod
    def read(cls, text: str) -> AllowList:
        """Parse a comma-separated list; raise ValueError with the entry that is invalid."""
        names: set[tuple[str, int | None]] = set()
        networks: dict[tuple[Network, int | None], None] = {}
        for entry in filter(None, (part.strip() for part in text.split(","))):
            host, port = _split_port(entry)
            if (network := _parse_network(entry, host)) is not None:
                networks[network, port] = None
            else:
                names.add((_parse_name(entry, host), port))
        return cls(frozenset(names), tuple(networks))

    def permits(self, host: str, port: int, address: Address) -> bool:
        """Return True if a request to this host and port may connect to this address."""
        if is_routable(address):
            return True
        if self.names:
            name = _normalize_name(host)
            if (name, None) in self.names or (name, port) in self.names:
                return True
        if not self.networks:
            return False
        inner = _unmap_ipv4(address)
        return any(entry_port in (None, port) and inner in network for network, entry_port in self.networks)


def _split_port(entry: str) -> tuple[str, int | None]:
    if entry.startswith("["):
        host, closed, rest = entry[1:].partition("]")
        if not closed or ":" not in host or (rest and not rest.startswith(":")):
            raise _make_entry_error(entry)
        return host, _parse_port(entry, rest[1:]) if rest else None
    if entry.count(":") == 1:
        host, _, port = entry.partition(":")
        return host, _parse_port(entry, port)
    return entry, None


def _parse_port(entry: str, text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 5 and 0 < int(text) < 65536):
        raise _make_entry_error(entry, f"'{text[:20]}' is not a port")
    return int(text)


def _parse_network(entry: str, host: str) -> Network | None:
    if "/" in host:
        if host != entry:
            raise _make_entry_error(entry, "a network takes no port")
        try:
            return ip_network(host)
        except ValueError as error:
            raise _make_entry_error(entry, str(error)) from None
    if not is_numeric_host(host):
        return None
    if "%" in host:
        raise _make_entry_error(entry, "leave out the zone after %")
    try:
        return ip_network(_unmap_ipv4(ip_address(host)))
    except ValueError:
        raise _make_entry_error(entry, "write an address in full, as in 127.0.0.1 or ::1") from None


def _parse_name(entry: str, host: str) -> str:
    if "*" in host:
        raise _make_entry_error(entry, "there are no wildcards; name each host")
    try:
        name = _normalize_name(URL.build(scheme="http", host=host).raw_host or "")
    except ValueError:
        name = ""
    if not name or "%" in name:
        raise _make_entry_error(entry)
    return name


def _normalize_name(host: str) -> str:
    """Return the name in lower case, in its ASCII form, and without a trailing dot."""
    if not host.isascii():
        try:
            host = URL.build(scheme="http", host=host).raw_host or host
        except ValueError:
            return host
    return host.lower().removesuffix(".")


def _unmap_ipv4(address: Address) -> Address:
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        return address.ipv4_mapped
    return address


def _make_entry_error(entry: str, reason: str = "") -> ValueError:
    why = f" ({reason})" if reason else ""
    return ValueError(f"'{entry[:100]}' is not understood{why}; expected {_ACCEPTED_FORMS}")
