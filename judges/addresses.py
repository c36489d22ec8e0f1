"""The address of a judge, taken apart: what may be shown of it, and the name and password that may not."""

from __future__ import annotations

from dataclasses import dataclass, field
from urllib.parse import unquote, urlsplit, urlunsplit

from lmms_medtasks.errors import UserError

_CHAT = "/chat/completions"


@dataclass(frozen=True)
class Address:
    """``url``: the base (".../v1"), without name, password and a slash at its end. ``host``: its host, no port."""

    url: str
    host: str
    user: str = field(default="", repr=False)
    password: str = field(default="", repr=False)


def address(url: str, where: str) -> Address:
    """``url`` taken apart; both forms in use are taken, ".../v1" and ".../v1/chat/completions".

    Raises UserError, without the URL's password, when it is no http(s) URL, or has a query. ``where`` says where it is
    from.
    """
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        parts, host, port = urlsplit(""), "", None
    shown = url.rsplit("@", 1)[-1].partition("?")[0]
    if parts.scheme not in ("http", "https") or not host or any(ord(character) <= 32 for character in url):
        raise UserError(f"{shown!r} from {where} is no URL of a judge. Expected one as http://localhost:8000/v1.")
    if parts.query or parts.fragment:
        raise UserError(f"{shown!r} from {where} has a query, which a base URL has not. Leave it out.")
    place = f"[{host}]" if ":" in host else host
    base = urlunsplit((parts.scheme, f"{place}:{port}" if port else place, parts.path, "", "")).rstrip("/")
    return Address(base.removesuffix(_CHAT), host, unquote(parts.username or ""), unquote(parts.password or ""))
