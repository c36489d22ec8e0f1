"""Medical vision-language benchmarks as a plugin of the lmms-eval harness, with functions for notebooks.

``import lmms_medtasks as mt`` imports nothing else: each name below is imported when it is first used. docs/python.md
describes them, docs/notebook.ipynb shows them at work.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lmms_medtasks.errors import UserError as UserError
    from lmms_medtasks.interface.degrading import Degrade as Degrade
    from lmms_medtasks.interface.degrading import degrade as degrade
    from lmms_medtasks.interface.degrading import list_degradations as list_degradations
    from lmms_medtasks.interface.estimates import accuracy as accuracy
    from lmms_medtasks.interface.estimates import cohen_kappa as cohen_kappa
    from lmms_medtasks.interface.estimates import difference as difference
    from lmms_medtasks.interface.estimates import krippendorff_alpha as krippendorff_alpha
    from lmms_medtasks.interface.estimates import mean as mean
    from lmms_medtasks.interface.evaluation import evaluate as evaluate
    from lmms_medtasks.interface.evaluation import list_tasks as list_tasks
    from lmms_medtasks.interface.replies import count_outcomes as count_outcomes
    from lmms_medtasks.interface.replies import parse as parse
    from lmms_medtasks.interface.runs import compare as compare
    from lmms_medtasks.interface.runs import read_runs as read_runs
    from lmms_medtasks.report.run_report import report as report

__version__ = "0.3.0"

_HOMES = {
    "degrade": "interface.degrading",
    "Degrade": "interface.degrading",
    "list_degradations": "interface.degrading",
    "parse": "interface.replies",
    "count_outcomes": "interface.replies",
    "accuracy": "interface.estimates",
    "mean": "interface.estimates",
    "difference": "interface.estimates",
    "cohen_kappa": "interface.estimates",
    "krippendorff_alpha": "interface.estimates",
    "list_tasks": "interface.evaluation",
    "evaluate": "interface.evaluation",
    "read_runs": "interface.runs",
    "report": "report",
    "compare": "interface.runs",
    "UserError": "errors",
}
"""Public name -> the module that has it, below this package; in the order of docs/python.md."""

__all__ = ["__version__", *_HOMES]  # noqa: PLE0604 (names of a table)


if not TYPE_CHECKING:  # a type checker that sees it takes every package for one of its values

    def __getattr__(name: str) -> Any:
        """A public name, imported now (PEP 562)."""
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        import importlib

        home = importlib.import_module(f"{__name__}.{_HOMES[name]}")
        if name == _HOMES[name]:
            return home  # `report`, a package that can be called; importing it has made it an attribute here
        value = getattr(home, name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted(__all__)
