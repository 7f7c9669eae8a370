"""Connects to addresses that are open to everybody, and to those that are allowed by name.

A name is resolved first, each address is checked, and the connection goes to the address that was
checked: what the name leads to a moment later does not matter. What is checked is the address and
not how it is written, so that `2130706433`, `0x7f.1` and `::ffff:127.0.0.1` are 127.0.0.1.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterable
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Any

import httpcore

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

_MOST_TRIED = 3
_CLOSED_4 = tuple(
    IPv4Network(each)
    for each in (
        *("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16"),
        *("172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16"),
        *("198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/3"),
        "168.63.129.16/32",  # what a cloud tells its machines
    )
)
_OPEN_6 = IPv6Network("2000::/3")
_CLOSED_6 = tuple(
    IPv6Network(each)
    # tunnels lead to addresses of version 4 that nobody checked
    for each in ("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")
)
_TRANSLATED = IPv6Network("64:ff9b::/96")


class ClosedAddressError(Exception):
    """An address that this server does not call."""


def networks_of(texts: Iterable[str]) -> tuple[Network, ...]:
    """Networks as they are written; `ValueError` says which is none."""
    return tuple(ip_network(text) for text in texts)


def literal_address(host: str) -> Address | None:
    """Returns the address that a host is, however it is written; `None` for a name."""
    try:
        return ip_address(host.partition("%")[0])
    except ValueError:
        pass
    try:
        return IPv4Address(socket.inet_aton(host))
    except OSError:
        return None


def is_open(address: Address, networks: tuple[Network, ...] = ()) -> bool:
    """Returns whether it may be called: open to everybody, or in a network that is allowed."""
    if isinstance(address, IPv6Address):
        inner = address.ipv4_mapped
        if inner is None and address in _TRANSLATED:
            inner = IPv4Address(int(address) & 0xFFFF_FFFF)
        if inner is not None:
            return is_open(inner, networks)
    if any(address in each for each in networks):
        return True
    if isinstance(address, IPv4Address):
        return not any(address in each for each in _CLOSED_4)
    return address in _OPEN_6 and not any(address in each for each in _CLOSED_6)


async def open_addresses(host: str, port: int, networks: tuple[Network, ...]) -> list[str]:
    """Returns the addresses of a host that may be called; an error where there is none of them."""
    loop = asyncio.get_running_loop()
    try:
        found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as bad:
        raise httpcore.ConnectError(f"the name cannot be resolved: {bad}") from bad
    listed = dict.fromkeys(str(sockaddr[0]).partition("%")[0] for *_, sockaddr in found)
    opened = [each for each in listed if is_open(ip_address(each), networks)]
    if not opened:
        raise ClosedAddressError("this server does not call that address")
    return opened[:_MOST_TRIED]


class CheckedBackend(httpcore.AsyncNetworkBackend):
    """Connects to what was checked, and to nothing else."""

    def __init__(self, networks: tuple[Network, ...]) -> None:
        self._networks = networks
        self._inner = httpcore.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """Connects to an address of a host."""
        failure: Exception | None = None
        for address in await open_addresses(host, port, self._networks):
            try:
                return await self._inner.connect_tcp(
                    address, port, timeout, local_address, socket_options
                )
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as bad:
                failure = bad
        assert failure is not None
        raise failure

    async def connect_unix_socket(
        self, path: str, timeout: float | None = None, socket_options: Iterable[Any] | None = None
    ) -> httpcore.AsyncNetworkStream:
        """Refuses what is no address of a network."""
        raise ClosedAddressError("this server calls no socket of its machine")

    async def sleep(self, seconds: float) -> None:
        """Waits."""
        await self._inner.sleep(seconds)
