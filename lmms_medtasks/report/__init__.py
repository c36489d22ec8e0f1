"""Reports of runs: tables, figures, and what a reader must know before them, in a terminal, as files, as one page."""

import inspect
import sys
from types import ModuleType
from typing import Any

from lmms_medtasks.report.first_screen import ReportDocument
from lmms_medtasks.report.report_options import ReportOptions
from lmms_medtasks.report.reported_suites import build_report

__all__ = ["ReportDocument", "ReportOptions", "build_report"]


class _CallablePackage(ModuleType):
    """``report`` is a name of the public interface and of this package, which an import makes the package's attribute:
    whichever was imported first, it can be called, and ``help`` prints the function."""

    @property
    def __doc__(self) -> str:  # type: ignore[override]
        from lmms_medtasks.report.run_report import report

        return f"report{inspect.signature(report)}\n\n{inspect.getdoc(report)}"

    def __call__(self, *runs: Any, **options: Any) -> Any:
        from lmms_medtasks.report.run_report import report

        return report(*runs, **options)


sys.modules[__name__].__class__ = _CallablePackage
