"""Failed requests kept out of the harness's cache of replies (``--use_cache``).

It takes any text that is not empty for a reply, also the mark of a failed request, and would give that back as the
reply in every later run.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator
from typing import Any

from lmms_medtasks.harness.replacing import replaced
from lmms_medtasks.parsing import is_failed_request


@contextlib.contextmanager
def left_out(cache: Any) -> Iterator[None]:
    """Let the harness's ``ResponseCache`` neither store nor find failed requests, until the end."""
    is_valid, look_up = cache._is_valid_response, cache._lookup

    @functools.wraps(is_valid)
    def is_valid_response(response: Any, request_type: str) -> bool:
        return bool(is_valid(response, request_type)) and not _failed(response)

    @functools.wraps(look_up)
    def found(cache_key: str) -> Any:
        response = look_up(cache_key)
        return None if _failed(response) else response

    with replaced(cache, "_is_valid_response", is_valid_response), replaced(cache, "_lookup", found):
        yield


def _failed(response: Any) -> bool:
    text = getattr(response, "text", response)
    return isinstance(text, str) and is_failed_request(text)
