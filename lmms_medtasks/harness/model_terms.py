"""Check that a model may be asked questions whose data's terms forbid third parties.

Such data may only reach a model on this machine, or on a machine that the user named. Known are the harness's own
runners that send questions to a server (``runners.yaml``) and classes derived from them; for other runners it is not
known where they send questions.
"""

from __future__ import annotations

import urllib.request
from collections.abc import Iterable
from typing import Any
from urllib.parse import urlsplit

from lmms_medtasks import endpoints, redacting
from lmms_medtasks.errors import UserError
from lmms_medtasks.harness import runners


def check_model_terms(
    lm: Any, terms: Iterable[tuple[str, str]], resolve: endpoints.Resolve = endpoints.resolve_host
) -> None:
    """Raise UserError if ``lm`` may not be asked a task. ``terms``: tasks' names with the terms of their data."""
    under_terms = [(task, data_terms) for task, data_terms in terms if data_terms]
    problem = model_terms_problem(lm, resolve) if under_terms else None
    if problem:
        task, data_terms = under_terms[0]
        raise UserError(
            f"This model may not be asked {task!r}: {problem}. The terms of its data: {data_terms} Run a model on this "
            f"machine, or one in your own network whose host you name in {endpoints.PRIVATE_HOSTS}. Nothing was sent."
        )


def model_terms_problem(lm: Any, resolve: endpoints.Resolve = endpoints.resolve_host) -> str | None:
    """Why a model may not see such data, as a clause; None if it may."""
    access = next(filter(None, (runners.find_server_access(cls.__module__) for cls in type(lm).__mro__)), None)
    if access != "client":
        return access
    address = urlsplit(str(getattr(getattr(lm, "client", None), "base_url", "")))
    if not address.hostname:
        return "the address of its server is not known"
    proxy = _client_proxy(address.scheme, address.hostname)
    if proxy is not None:
        return f"it is asked through the proxy {redacting.redact_address(proxy)!r} (NO_PROXY can name hosts)"
    return endpoints.endpoint_problem(address.hostname, endpoints.private_hosts(), resolve)


def _client_proxy(scheme: str, host: str) -> str | None:
    """The proxy that a runner's client (httpx) takes from the environment, which would see the questions."""
    proxies = urllib.request.getproxies()
    for name in (host_name.strip().lower() for host_name in proxies.get("no", "").split(",")):
        # Rules of httpx, by which ".gpu.lab" is for hosts below gpu.lab only; urllib's proxy_bypass differs.
        if name == "*" or (name.strip(".") and (host == name or host.endswith("." + name.lstrip(".")))):
            return None
    return proxies.get(scheme) or proxies.get("all")
