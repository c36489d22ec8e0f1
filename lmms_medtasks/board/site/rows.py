"""The published rows that stand below a task's table, in its columns."""

from __future__ import annotations

from collections.abc import Iterator

from lmms_medtasks.board import installed
from lmms_medtasks.report.document import Cell
from lmms_medtasks.report.suite_report import PublishedScores, report_of
from lmms_medtasks.suites import registry


def published(task: str) -> list[PublishedScores]:
    """The published rows that have numbers of the task's measures, in the paper's order.

    None for a task that is not installed, whatever its name: nobody published numbers of it.
    """
    if installed.of_task(task) is None:
        return []
    if task == "medq_deg":
        return list(_medq_deg())
    suite = registry.find(task, {})
    if suite is not None:
        return list(report_of(suite).published_scores(task))
    return list(_bones_joints(task)) if task.startswith("bones_joints_") else []


def _medq_deg() -> Iterator[PublishedScores]:
    from lmms_medtasks.task_configs.medq_deg import reference

    for row in reference.level_results():
        cells = {f"accuracy_l{level}": Cell(value) for level, value in enumerate((row.l0, row.l1, row.l2))}
        yield PublishedScores("Liu et al., arXiv:2603.07769v1,", row.model, "published, Table 6", cells)


def _bones_joints(task: str) -> Iterator[PublishedScores]:
    from lmms_medtasks.task_configs.bones_joints import reference

    number, _, rest = task.removeprefix("bones_joints_").partition("_")
    if rest.endswith(("_noimage", "_swapped")) or rest == "released":
        return
    imaging = "reports" if rest.endswith("_report") else "images"
    for row in reference.results():
        # Tasks I to III are the same for a model that was given reports in the others.
        if row.task == number and (row.imaging == imaging or number in ("t1", "t2", "t3")):
            paper = "Wang et al., The Illusion of Clinical Reasoning,"
            yield PublishedScores(paper, row.model, "published, text", {"accuracy": Cell(row.accuracy)})
