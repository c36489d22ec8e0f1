"""Reports of runs: tables, figures, and what a reader must know before them, in a terminal, as files, as one page."""

from lmms_medtasks.report.assemble import build
from lmms_medtasks.report.document import Document
from lmms_medtasks.report.report_options import Options

__all__ = ["Document", "Options", "build"]
