"""Reports of runs: tables, figures, and what a reader must know before them, in a terminal, as files, as one page.

The package itself can be called, as ``lmms_medtasks.report(runs)``; ``help(lmms_medtasks.report.run_report.report)``
prints all of it.
"""

import sys
from types import ModuleType
from typing import Any

from lmms_medtasks.report.first_screen import ReportDocument
from lmms_medtasks.report.report_options import ReportOptions
from lmms_medtasks.report.reported_suites import build_report

__all__ = ["ReportDocument", "ReportOptions", "build_report"]


class _CallablePackage(ModuleType):
    """``report`` is a name of the public interface and of this package, which an import makes the package's attribute:
    whichever was imported first, it can be called."""

    def __call__(self, *runs: Any, **options: Any) -> Any:
        """The report of runs, see :func:`lmms_medtasks.report.run_report.report`."""
        from lmms_medtasks.report.run_report import report

        return report(*runs, **options)


sys.modules[__name__].__class__ = _CallablePackage
