"""Which servers may see what must not reach a third party: those on this machine, or on one that the user named.

Allowed is an endpoint on loopback, or at a host listed in MEDTASKS_PRIVATE_HOSTS (names, comma between) whose every
address is private (RFC 1918, RFC 4193) or loopback. What a server does with the texts can't be seen: one that hands
them on is the user's own breach of the terms.
"""

from __future__ import annotations

import ipaddress
import os
import socket
from collections.abc import Callable, Mapping, Sequence

Resolve = Callable[[str], list[str]]
IP = ipaddress.IPv4Address | ipaddress.IPv6Address

PRIVATE_HOSTS = "MEDTASKS_PRIVATE_HOSTS"
_PRIVATE = [ipaddress.ip_network(each) for each in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7")]


def private_hosts(environment: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """The hosts that the user named as private."""
    text = (os.environ if environment is None else environment).get(PRIVATE_HOSTS, "")
    return tuple(filter(None, (each.strip() for each in text.split(","))))


def resolve_host(host: str) -> list[str]:
    """All addresses of a host name, as this machine resolves it; [] if it does not."""
    try:
        return sorted({str(found[4][0]) for found in socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)})
    except (OSError, UnicodeError):
        return []


def endpoint_problem(host: str, named: Sequence[str], resolve: Resolve = resolve_host) -> str | None:
    """Why a server at ``host`` may not see texts, as a clause; None if it may. ``named``: as private."""
    listed = host.lower() in {each.lower().strip("[]") for each in named}
    literal = _parse_address(host)
    addresses = [host] if literal else resolve(host)
    if not addresses:
        return f"its host {host!r} resolves to no address"
    for address in addresses:
        found = _parse_address(address)
        private = found is not None and any(found in network for network in _PRIVATE)
        if found is not None and (found.is_loopback or (listed and private)):
            continue
        kind = "not listed as private" if private else "no private address"
        return f"its host {host!r} is at {address}: not this machine, and {kind}"
    if not listed and literal is None and host.lower() != "localhost":
        return f"its host {host!r} is this machine only as long as its name resolves so; write localhost"
    return None


def _parse_address(text: str) -> IP | None:
    """An IP address (the IPv4 one in a mapped IPv6 address), or None."""
    try:
        found = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return None
    return getattr(found, "ipv4_mapped", None) or found
