"""What tools may reach although it is not on the open internet."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from yarl import URL

from pegboard.egress.addresses import Address, numeric, routable

Network = IPv4Network | IPv6Network

_ACCEPTED = "a host, host:port, an address, address:port, [IPv6]:port or a network such as 10.0.0.0/8"


@dataclass(frozen=True, slots=True)
class AllowList:
    """Names, addresses and networks that may be reached although they are private; nothing if empty."""

    names: frozenset[tuple[str, int | None]] = frozenset()
    networks: tuple[tuple[Network, int | None], ...] = ()

    @classmethod
    def read(cls, text: str) -> AllowList:
        """The list that a comma-separated text stands for; ValueError names the entry that is not understood."""
        names: set[tuple[str, int | None]] = set()
        networks: dict[tuple[Network, int | None], None] = {}
        for entry in filter(None, (part.strip() for part in text.split(","))):
            host, port = _split(entry)
            if (network := _network(entry, host)) is not None:
                networks[network, port] = None
            else:
                names.add((_name(entry, host), port))
        return cls(frozenset(names), tuple(networks))

    def permits(self, host: str, port: int, address: Address) -> bool:
        """Whether a connection to this address may be made for a request to this host and port."""
        if routable(address):
            return True
        if self.names:
            name = _plain(host)
            if (name, None) in self.names or (name, port) in self.names:
                return True
        if not self.networks:
            return False
        inner = _unmapped(address)
        return any(entry_port in (None, port) and inner in network for network, entry_port in self.networks)


def _split(entry: str) -> tuple[str, int | None]:
    if entry.startswith("["):
        host, closed, rest = entry[1:].partition("]")
        if not closed or ":" not in host or (rest and not rest.startswith(":")):
            raise _refusal(entry)
        return host, _port(entry, rest[1:]) if rest else None
    if entry.count(":") == 1:
        host, _, port = entry.partition(":")
        return host, _port(entry, port)
    return entry, None


def _port(entry: str, text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 5 and 0 < int(text) < 65536):
        raise _refusal(entry, f"'{text[:20]}' is not a port")
    return int(text)


def _network(entry: str, host: str) -> Network | None:
    if "/" in host:
        if host != entry:
            raise _refusal(entry, "a network takes no port")
        try:
            return ip_network(host)
        except ValueError as error:
            raise _refusal(entry, str(error)) from None
    if not numeric(host):
        return None
    if "%" in host:
        raise _refusal(entry, "leave out the zone after %")
    try:
        return ip_network(_unmapped(ip_address(host)))
    except ValueError:
        raise _refusal(entry, "write an address in full, as in 127.0.0.1 or ::1") from None


def _name(entry: str, host: str) -> str:
    if "*" in host:
        raise _refusal(entry, "there are no wildcards; name each host")
    try:
        name = _plain(URL.build(scheme="http", host=host).raw_host or "")
    except ValueError:
        name = ""
    if not name or "%" in name:
        raise _refusal(entry)
    return name


def _plain(host: str) -> str:
    """The name without what makes no difference: capitals, a last dot, and how its letters are written."""
    if not host.isascii():
        try:
            host = URL.build(scheme="http", host=host).raw_host or host
        except ValueError:
            return host
    return host.lower().removesuffix(".")


def _unmapped(address: Address) -> Address:
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        return address.ipv4_mapped
    return address


def _refusal(entry: str, reason: str = "") -> ValueError:
    why = f" ({reason})" if reason else ""
    return ValueError(f"'{entry[:100]}' is not understood{why}; expected {_ACCEPTED}")
