"""Replace attributes of the harness's objects for a while."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from typing import Any


@contextlib.contextmanager
def replace_attribute(holder: Any, name: str, value: Any) -> Iterator[None]:
    """Set an attribute of an object; restore it at the end, by deleting it if the class has it."""
    before = {name: vars(holder)[name]} if name in vars(holder) else {}
    setattr(holder, name, value)
    try:
        yield
    finally:
        if before:
            setattr(holder, name, before[name])
        else:
            delattr(holder, name)


@contextlib.contextmanager
def wrap_method(holder: Any, name: str, wrapper: Callable[..., Any]) -> Iterator[None]:
    """Let ``holder.name(...)`` call ``wrapper(original, ...)`` until the end; an object without the method stays."""
    original: Any = getattr(holder, name, None)
    if not callable(original):
        yield
        return
    with replace_attribute(holder, name, functools.wraps(original)(functools.partial(wrapper, original))):
        yield
