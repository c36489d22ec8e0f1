"""The published rows that stand below a task's table, in its columns."""

from __future__ import annotations

from lmms_medtasks.report.reported_suites import report_of
from lmms_medtasks.report.suite_report import PublishedScores
from lmms_medtasks.suites import registry


def published(task: str, template: str = "") -> list[PublishedScores]:
    """The published rows that have numbers of the task's measures, in the paper's order.

    None for a task whose folder is neither installed nor given: who knows what it is. ``template``: of a contributed
    task.
    """
    suite = registry.find(task, {"metadata": {"template": template}} if template else {})
    if suite is None or registry.folder_of(suite.name) is None:
        return []
    return list(report_of(suite).published_scores(task))
