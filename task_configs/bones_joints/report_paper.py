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


def compared_scores(sources: Sequence[ModelResults]) -> dict[str, dict[str, list[float]]]:
    """The scores of each model's questions, by task where two models or more have any, and for all these together.

    With images where a model was asked with images, else with reports. All together: of the models that have scores in
    each of these tasks.
    """
    scores: dict[str, dict[str, list[float]]] = {}
    for source in sources:
        # As the paper asks comes first, and is the one that counts.
        shown = {task: where_asked(task, each) for task, each in reversed(asked_imaging(source)) if each in SHOWN}
        for task in sorted(shown, key=lambda each: each.key):
            rows = source.rows.where(shown[task]).scored("accuracy")
            if len(rows):
                scores.setdefault(task.numeral, {})[source.name] = rows.column("accuracy.score").tolist()
    compared = {name: found for name, found in scores.items() if len(found) > 1}
    every = [each.name for each in sources if all(each.name in found for found in compared.values())]
    if len(compared) < 2 or len(every) < 2:
        return compared
    return {**compared, ALL: {name: [score for found in compared.values() for score in found[name]] for name in every}}


def kruskal_table(sources: Sequence[ModelResults]) -> Frame | None:
    """The Kruskal-Wallis test of each task; None where no two models were asked the same task."""
    compared = compared_scores(sources)
    found = {name: kruskal_wallis(scores) for name, scores in compared.items()}
    untested = [name for name, test in found.items() if test.p is None]
    adjusted = adjust_p_values([1.0 if test.p is None else test.p for test in found.values()])
    rows = (
        (name, len(compared[name]), test.n, test.statistic, len(compared[name]) - 1, p_value_cell(test.p),
         p_value_cell(None if test.p is None else corrected))
        for (name, test), corrected in zip(found.items(), adjusted, strict=True)
    )  # fmt: skip
    columns = (
        label_column("task"),
        count_column("models"),
        count_column("answers"),
        FrameColumn("H", digits=2),
        count_column("df"),
        p_value("p"),
        p_value("adjusted p"),
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
        (name, each.first, each.second, each.difference, each.z, p_value_cell(each.p), p_value_cell(each.adjusted))
        for name, scores in compared_scores(sources).items()
        if len(scores) > 2
        for each in dunn_test(scores)
    )
    columns = (
        label_column("task"),
        label_column("first"),
        label_column("second"),
        FrameColumn("difference of mean ranks", digits=1, signed=True),
        FrameColumn("z", digits=2, signed=True),
        p_value("p"),
        p_value("adjusted p"),
    )
    notes = (
        _ABOUT,
        "Hypothesis: the two models' mean ranks are alike. Adjusted: p times the number of pairs of the task "
        "(Bonferroni), as GraphPad Prism, which the paper used; not over the tasks.",
    )
    return make_frame("dunn", "The paper's test of each pair (Dunn)", columns, rows, notes, long=True)
