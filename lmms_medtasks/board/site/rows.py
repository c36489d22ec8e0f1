"""The published rows that stand below a task's table, in its columns."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from lmms_medtasks.board import installed
from lmms_medtasks.report.document import Cell
from lmms_medtasks.report.suite_report import PublishedScores, report_of
from lmms_medtasks.suites import registry


def published(task: str, template: str = "") -> list[PublishedScores]:
    """The published rows that have numbers of the task's measures, in the paper's order.

    None for a task whose folder is neither installed nor given: who knows what it is. ``template``: of a contributed
    task.
    """
    suite = registry.find(task, {"metadata": {"template": template}} if template else {})
    if suite is not None and registry.folder_of(suite.name) is not None:
        return list(report_of(suite).published_scores(task))
    if installed.of_task(task) is None:
        return []
    if task == "medq_deg":
        return list(_medq_deg())
    if task in ("med_cmr_mcq", "med_cmr_open"):
        return list(_med_cmr(task))
    if task.startswith("bones_joints_"):
        return list(_bones_joints(task))
    return list(_sure_vqa(task)) if task.startswith("sure_") else []


def _medq_deg() -> Iterator[PublishedScores]:
    from lmms_medtasks.task_configs.medq_deg import reference

    for row in reference.level_results():
        cells = {f"accuracy_l{level}": Cell(value) for level, value in enumerate((row.l0, row.l1, row.l2))}
        yield PublishedScores("Liu et al., arXiv:2603.07769v1,", row.model, "published, Table 6", cells)


def _med_cmr(task: str) -> Iterator[PublishedScores]:
    from lmms_medtasks.task_configs.med_cmr import reference

    for row in reference.results():
        cells = {"accuracy": Cell(row.mcq_all)} if task == "med_cmr_mcq" else {"total": Cell(row.open_all)}
        yield PublishedScores("Med-CMR, CVPR 2026,", row.model, "published, main table", cells)


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


def _sure_vqa(task: str) -> Iterator[PublishedScores]:
    from lmms_medtasks.task_configs.sure_vqa import reference

    tables = {
        f"sure_{dataset}_{shift}": (dataset, shift) for dataset, shifts in reference.SHIFTS.items() for shift in shifts
    }
    shown = not task.endswith("_noimage")
    found = tables.get(task.removesuffix("_noimage"))
    if found is None:
        return
    dataset, shift = found
    number = next(number for number, table in reference.TABLES.items() if table == (dataset, shown))
    for base, method in itertools.product(reference.BASE_MODELS, reference.METHODS):
        cells: dict[str, Cell] = {}
        for kind, factor in (("closed", 100.0), ("open", 1.0)):
            for row in reference.robustness_results(dataset, base, shift, kind, image_shown=shown):
                if row.method == method:
                    cells[f"{kind}_iid"] = _scaled(row.iid, factor)
                    cells[f"{kind}_ood"] = _scaled(row.ood, factor)
        if cells and (method != "most_frequent" or base == "medical"):
            name = reference.METHODS[method]
            title = name if method == "most_frequent" else f"{reference.BASE_MODELS[base]}: {name}"
            yield PublishedScores("SURE-VQA", title, f"published, Table {number}", cells)


def _scaled(printed: tuple[float, float | None] | None, factor: float) -> Cell:
    if printed is None:
        return Cell(None)
    mean, sd = printed
    return Cell(factor * mean, sd=None if sd is None else factor * sd)
