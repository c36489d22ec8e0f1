"""The published rows that stand below a task's table, in its columns."""

from __future__ import annotations

from lmms_medtasks.board import installed
from lmms_medtasks.report.suite_report import PublishedScores, report_of
from lmms_medtasks.suites import registry


def published(task: str) -> list[PublishedScores]:
    """The published rows that have numbers of the task's measures, in the paper's order.

    None for a task that is not installed, whatever its name: nobody published numbers of it.
    """
    suite = registry.find(task, {}) if installed.of_task(task) else None
    return list(report_of(suite).published_scores(task)) if suite else []
