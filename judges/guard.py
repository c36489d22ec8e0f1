"""Who may see texts whose terms forbid third parties: a judge on this machine, or on one that the user named.

Allowed is an endpoint on loopback, or at a host listed in MEDTASKS_JUDGE_PRIVATE_HOSTS of which every address is
private (RFC 1918, RFC 4193) or loopback. Redirects are never followed, and proxies not used. What we can't see is what
a server does with the texts: one on this machine that hands them on is the user's own breach of the terms.
"""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Callable, Iterable

from lmms_medtasks.errors import UserError
from lmms_medtasks.judges.protocol import Protocol
from lmms_medtasks.judges.settings import JUDGE, Settings

Resolve = Callable[[str], list[str]]
IP = ipaddress.IPv4Address | ipaddress.IPv6Address

_PRIVATE = [ipaddress.ip_network(each) for each in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7")]


def resolve(host: str) -> list[str]:
    """All addresses of a host name, as this machine resolves it; [] if it does not."""
    try:
        return sorted({str(found[4][0]) for found in socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)})
    except (OSError, UnicodeError):
        return []


def check(settings: Settings, protocols: Iterable[Protocol], resolve: Resolve = resolve) -> None:
    """Raise UserError, with the terms, where the judge may not see what one of ``protocols`` would show it."""
    if not settings.is_llm:
        return
    for protocol in protocols:
        if protocol.terms and (problem := _problem(settings, resolve)):
            raise UserError(
                f"{settings.name} may not judge {protocol.name!r}: {problem}. The terms of its data: {protocol.terms} "
                f"Use a judge on this machine (MEDTASKS_JUDGE=local:MODEL), or name the host of one in your own "
                f"network in {JUDGE}_PRIVATE_HOSTS. Nothing was sent."
            )


def _problem(settings: Settings, resolve: Resolve) -> str | None:
    if settings.provider in ("azure", "bedrock"):
        return f"{settings.provider} is a third party"
    host = settings.address.host
    listed = host.lower() in {each.lower().strip("[]") for each in settings.private_hosts}
    literal = _address(host)
    addresses = [host] if literal else resolve(host)
    if not addresses:
        return f"its host {host!r} resolves to no address"
    for each in addresses:
        found = _address(each)
        private = found is not None and _is_private(found)
        if found is not None and (found.is_loopback or (listed and private)):
            continue
        kind = "not listed as private" if private else "no private address"
        return f"its host {host!r} is at {each}: not this machine, and {kind}"
    if not listed and literal is None and host.lower() != "localhost":
        return f"its host {host!r} is this machine only as long as its name resolves so; write localhost"
    return None


def _address(text: str) -> IP | None:
    """An IP address, the IPv4 one inside a mapped IPv6 address; None if ``text`` is none."""
    try:
        found = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return None
    return getattr(found, "ipv4_mapped", None) or found


def _is_private(found: IP) -> bool:
    return any(found in network for network in _PRIVATE if network.version == found.version)
