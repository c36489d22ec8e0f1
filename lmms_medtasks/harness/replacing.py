"""An attribute of an object of the harness, replaced for a while."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any


@contextlib.contextmanager
def replace_attribute(holder: Any, name: str, value: Any) -> Iterator[None]:
    """Set an attribute of an object; at the end it is as it was, one of its class's again if it was that."""
    before = {name: vars(holder)[name]} if name in vars(holder) else {}
    setattr(holder, name, value)
    try:
        yield
    finally:
        if before:
            setattr(holder, name, before[name])
        else:
            delattr(holder, name)
