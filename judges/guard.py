"""Who may see texts whose terms forbid third parties: a judge that :mod:`lmms_medtasks.endpoints` allows.

Redirects are never followed, and proxies not used.
"""

from __future__ import annotations

from collections.abc import Iterable

from lmms_medtasks import endpoints
from lmms_medtasks.errors import UserError
from lmms_medtasks.judges.protocol import Protocol
from lmms_medtasks.judges.settings import Settings


def check(settings: Settings, protocols: Iterable[Protocol], resolve: endpoints.Resolve = endpoints.resolve) -> None:
    """Raise UserError, with the terms, where the judge may not see what one of ``protocols`` would show it."""
    if not settings.is_llm:
        return
    for protocol in protocols:
        if not protocol.terms:
            continue
        if problem := endpoints.problem(settings.address.host, settings.private_hosts, resolve):
            raise UserError(
                f"{settings.name} may not judge {protocol.name!r}: {problem}. The terms of its data: {protocol.terms} "
                f"Use a judge on this machine (MEDTASKS_JUDGE=local:MODEL), or name the host of one in your own "
                f"network in {endpoints.PRIVATE_HOSTS}. Nothing was sent."
            )
