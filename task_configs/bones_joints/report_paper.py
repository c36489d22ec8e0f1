"""Bones and Joints: whether models differ, as the paper tests it."""

from __future__ import annotations

from collections.abc import Sequence

from lmms_medtasks.report.cells import count_column, label_column, make_frame, p_value, p_value_cell
from lmms_medtasks.report.document import Frame, FrameColumn
from lmms_medtasks.report.views import ModelResults
from lmms_medtasks.statistics.rank_tests import dunn_test, kruskal_wallis
from lmms_medtasks.statistics.significance import adjust_p_values
from lmms_medtasks.task_configs.bones_joints.report_published import SHOWN, asked_imaging, where_asked

ALL = "all tasks"
_ABOUT = (
    "As the paper does it, over the scores of questions (0 to 1); the paper does not say what its values are. It takes "
    "every answer as independent, which it is not: the models answered the same questions, and several questions are "
    "about one case. Its p values are wrong for this data, too large for one task and too small where the questions of "
    "a case are counted one by one; no conclusion can be based on them. lmms-medtasks compare tests two models on the "
    "same questions, by the images of cases."
)


def scores_by_task(sources: Sequence[ModelResults]) -> dict[str, dict[str, list[float]]]:
    """Task -> model -> scores, for tasks with two models or more, and for all of these tasks together.

    With images if a model was asked with images, else with reports. All together: the models that have scores in each
    of these tasks.
    """
    scores: dict[str, dict[str, list[float]]] = {}
    for source in sources:
        # Reversed: the paper's condition comes first, and is the one that counts.
        asked = reversed(asked_imaging(source))
        shown = {task: where_asked(task, condition) for task, condition in asked if condition in SHOWN}
        for task in sorted(shown, key=lambda task: task.key):
            rows = source.rows.where(shown[task]).scored("accuracy")
            if len(rows):
                scores.setdefault(task.numeral, {})[source.name] = rows.column("accuracy.score").tolist()
    compared = {name: of_task for name, of_task in scores.items() if len(of_task) > 1}
    models = [source.name for source in sources if all(source.name in of_task for of_task in compared.values())]
    if len(compared) < 2 or len(models) < 2:
        return compared
    together = {model: [score for of_task in compared.values() for score in of_task[model]] for model in models}
    return {**compared, ALL: together}


def kruskal_table(sources: Sequence[ModelResults]) -> Frame | None:
    """The Kruskal-Wallis test of each task; None if no two models were asked the same task."""
    compared = scores_by_task(sources)
    tests = {name: kruskal_wallis(scores) for name, scores in compared.items()}
    untested = any(test.p is None for test in tests.values())
    adjusted = adjust_p_values([1.0 if test.p is None else test.p for test in tests.values()])
    rows = (
        (name, len(compared[name]), test.n, test.statistic, len(compared[name]) - 1, p_value_cell(test.p),
         p_value_cell(None if test.p is None else corrected))
        for (name, test), corrected in zip(tests.items(), adjusted, strict=True)
    )  # fmt: skip
    columns = (
        label_column("task"),
        *map(count_column, ("models", "answers")),
        FrameColumn("H", digits=2),
        count_column("df"),
        *map(p_value, ("p", "adjusted p")),
    )
    notes = (
        _ABOUT,
        "Hypothesis: the scores of all models are draws from one distribution. Adjusted: Holm over all rows of this "
        "table (the paper corrects Dunn's test only, which follows where there are three models or more).",
        *(("Empty: all scores of the task are the same, and nothing can be tested.",) if untested else ()),
    )
    return make_frame("kruskal", "The paper's Kruskal-Wallis test of the models", columns, rows, notes)


def dunn_table(sources: Sequence[ModelResults]) -> Frame | None:
    """Dunn's test of each pair, for tasks that three models or more were asked; None where there is none."""
    rows = (
        (name, pair.first, pair.second, pair.difference, pair.z, p_value_cell(pair.p), p_value_cell(pair.adjusted))
        for name, scores in scores_by_task(sources).items()
        if len(scores) > 2
        for pair in dunn_test(scores)
    )
    columns = (
        *map(label_column, ("task", "first", "second")),
        FrameColumn("difference of mean ranks", digits=1, signed=True),
        FrameColumn("z", digits=2, signed=True),
        *map(p_value, ("p", "adjusted p")),
    )
    notes = (
        _ABOUT,
        "Hypothesis: the two models' mean ranks are alike. Adjusted: p times the number of pairs of the task "
        "(Bonferroni), as GraphPad Prism, which the paper used; not over the tasks.",
    )
    return make_frame("dunn", "The paper's test of each pair (Dunn)", columns, rows, notes, long=True)
