"""Medical vision-language benchmarks as a plugin of the lmms-eval harness, and what a notebook needs of them.

``import lmms_medtasks as mt`` imports nothing else: each name below is imported when it is first used. ``dir(mt)``
lists them; docs/python.md describes them, docs/notebook.md shows them at work.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lmms_medtasks.errors import UserError as UserError
    from lmms_medtasks.interface.degrading import Degrade as Degrade
    from lmms_medtasks.interface.degrading import degrade as degrade

__version__ = "0.2.0"

_HOMES = {
    "Degrade": "interface.degrading",
    "UserError": "errors",
    "degrade": "interface.degrading",
}
"""Public name -> the module that has it, below this package."""

__all__ = ["__version__", *_HOMES]  # noqa: PLE0604 (names of a table)


def __getattr__(name: str) -> Any:
    """A public name, imported now (PEP 562). ``report`` is also a package's name, which can be called."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    value = getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
