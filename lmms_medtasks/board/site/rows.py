"""The published rows that stand below a task's table, in its columns."""

from __future__ import annotations

from collections.abc import Mapping

from lmms_medtasks.board import installed
from lmms_medtasks.report.reported_suites import report_of
from lmms_medtasks.report.suite_report import PublishedScores
from lmms_medtasks.suites import registry


def published(task: str, told: Mapping[str, str]) -> list[PublishedScores]:
    """The published rows that have numbers of the task's measures, in the paper's order.

    None for a task whose folder is neither installed nor given: who knows what it is. ``told``: an entry's settings.
    """
    suite = installed.declaration(task, told)
    if suite is None or registry.folder_of(suite.name) is None:
        return []
    return list(report_of(suite).published_scores(task))
