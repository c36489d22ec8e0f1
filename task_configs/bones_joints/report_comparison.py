"""Bones and Joints: several models side by side, and whether they differ: by case, and as the paper tests it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from lmms_medtasks.report.cells import NONE, count, frame, label, p_value, probability
from lmms_medtasks.report.document import Cell, Flag, Frame, FrameColumn, Part
from lmms_medtasks.report.judged_tables import MEANINGS, Judging, is_lexical
from lmms_medtasks.report.report_options import Options
from lmms_medtasks.report.same_questions import with_marks
from lmms_medtasks.report.suite_report import extent, extents_of_data, question_ids
from lmms_medtasks.report.views import CellFunction, Column, Row, Source, Table, View, rows_of_sources
from lmms_medtasks.samples.table import Samples
from lmms_medtasks.statistics.confidence import LEVEL
from lmms_medtasks.statistics.rank_tests import dunn, kruskal_wallis
from lmms_medtasks.statistics.significance import adjust
from lmms_medtasks.task_configs.bones_joints.forms import forms
from lmms_medtasks.task_configs.bones_joints.report_cases import model_pairs_table, models_table
from lmms_medtasks.task_configs.bones_joints.report_figures import PATHWAY_OF_MODELS
from lmms_medtasks.task_configs.bones_joints.report_groups import SHOWN, find_group, task_groups
from lmms_medtasks.task_configs.bones_joints.report_published import PUBLISHED_TABLE

ALL = "all tasks"
_ABOUT = (
    "As the paper does it, over the scores of questions (0 to 1); the paper does not say what its values are. It takes "
    "every answer as independent, which it is not: the models answered the same questions, and several questions are "
    "about one case. Its p values are wrong for this data, too large for one task and too small where the questions of "
    "a case are counted one by one; no conclusion can be based on them. The tests by case are those of the data."
)


def _accuracy(task: str) -> CellFunction:
    def cell(source: Source, row: Row, rows: Samples) -> Cell:
        group = find_group(task_groups(source), task, *SHOWN)
        return group.accuracy(source) if group else NONE

    return cell


MODELS = Table(
    "models",
    "Accuracy of the models",
    ("model",),
    rows_of_sources(lambda source: (source.name,)),
    (
        *(Column(task.numeral, _accuracy(key)) for key, task in forms().items()),
        Column("data", lambda source, row, rows: Cell(extent(source)), "text"),
    ),
    (
        f"With images where a model was asked with images, else with radiology reports. In brackets: {LEVEL} interval "
        "over the images of cases, of each number by itself.",
    ),
    marks=MEANINGS,
)


# --- Do the models differ ---------------------------------------------------------------------------------------------


def compared_scores(sources: Sequence[Source]) -> dict[str, dict[str, list[float]]]:
    """The scores of each model's questions, by task where two models or more have any, and for all these together.

    All together: of the models that have scores in each of these tasks.
    """
    scores: dict[str, dict[str, list[float]]] = {}
    for source in sources:
        groups = task_groups(source)
        for key, task in forms().items():
            group = find_group(groups, key, *SHOWN)
            own = group.rows.scored("accuracy").column("accuracy.score").tolist() if group else []
            if own:
                scores.setdefault(task.numeral, {})[source.name] = own
    compared = {name: found for name, found in scores.items() if len(found) > 1}
    if len(compared) > 1:
        every = [each.name for each in sources if all(each.name in found for found in compared.values())]
        if len(every) > 1:
            together = {name: [score for found in compared.values() for score in found[name]] for name in every}
            return {**compared, ALL: together}
    return compared


def kruskal_table(sources: Sequence[Source]) -> Frame | None:
    """The Kruskal-Wallis test of each task; None where no two models were asked the same task."""
    compared = compared_scores(sources)
    found = {name: kruskal_wallis(scores) for name, scores in compared.items()}
    adjusted = adjust([1.0 if test.p is None else test.p for test in found.values()])
    rows = (
        (name, len(compared[name]), test.n, test.statistic, len(compared[name]) - 1, probability(test.p),
         probability(corrected))
        for (name, test), corrected in zip(found.items(), adjusted, strict=True)
    )  # fmt: skip
    columns = (label("task"), count("models"), count("answers"), FrameColumn("H", digits=2), count("df"),
               p_value("p"), p_value("adjusted p"))  # fmt: skip
    notes = (
        _ABOUT,
        "Hypothesis: the scores of all models are draws from one distribution. Adjusted: Holm over all rows of this "
        "table (the paper corrects Dunn's test only, which follows where there are three models or more).",
    )
    return frame("kruskal", "The paper's Kruskal-Wallis test of the models", columns, rows, notes)


def dunn_table(sources: Sequence[Source]) -> Frame | None:
    """Dunn's test of each pair, for tasks that three models or more were asked; None where there is none."""
    rows = (
        (name, each.first, each.second, each.difference, each.z, probability(each.p), probability(each.adjusted))
        for name, scores in compared_scores(sources).items()
        if len(scores) > 2
        for each in dunn(scores)
    )
    columns = (
        label("task"), label("first"), label("second"), FrameColumn("difference of mean ranks", digits=1, signed=True),
        FrameColumn("z", digits=2, signed=True), p_value("p"), p_value("adjusted p"),
    )  # fmt: skip
    notes = (
        _ABOUT,
        "Hypothesis: the two models' mean ranks are alike. Adjusted: p times the number of pairs of the task "
        "(Bonferroni), as GraphPad Prism, which the paper used; not over the tasks.",
    )
    return frame("dunn", "The paper's test of each pair (Dunn)", columns, rows, notes, long=True)


# --- The part ---------------------------------------------------------------------------------------------------------

VIEWS = (
    View("models", "The models together", (MODELS,), (PATHWAY_OF_MODELS,)),
    View("tests", "Do the models differ", (models_table, model_pairs_table)),
    View("published", "Beside the paper", (PUBLISHED_TABLE,)),
    View("paper-tests", "As the paper tests it", (kruskal_table, dunn_table)),
)


def comparison(sources: Sequence[Source], key: str, options: Options) -> Part:
    """The comparison of at least two models."""
    runs = {id(run) for source in sources for run, _ in source.asked}
    facts = (("Runs", str(len(runs))), ("Models", ", ".join(each.name for each in sources)))
    sections = (view.section(sources, options.drawn) for view in VIEWS)
    judges = (each.shown for each in _judgings(sources).values())
    origin = (
        ("data of the runs", "; ".join(dict.fromkeys(map(extent, sources)))),
        ("judges of the runs", ", ".join(dict.fromkeys(judges))),
    )
    part = Part(key, "Comparison", facts, tuple(_flags(sources)), tuple(filter(None, sections)), origin)
    return with_marks(part, {source.name: _tests(source) for source in sources})


def _tests(source: Source) -> Mapping[str, frozenset[str]]:
    return {f"Task {each.label}": question_ids(each.rows) for each in task_groups(source) if each.condition in SHOWN}


def _judgings(sources: Sequence[Source]) -> dict[tuple[str, str], Judging]:
    """What became of the judgements, by source and the harness's task."""
    return {(source.name, each.name): each.judging
            for source in sources for each in task_groups(source) if each.judging}  # fmt: skip


def _flags(sources: Sequence[Source]) -> Iterator[Flag]:
    data = extents_of_data(sources)
    if data != ["full"]:
        yield Flag("warning", f"Data of these runs: {'; '.join(data)}. Only full data compares with the paper's.")
    judgings = list(_judgings(sources).values())
    for name in dict.fromkeys(name for each in judgings for name in each.names if is_lexical(name)):
        yield Flag("warning", f"Open answers were judged by {name}, which compares words and is NO LLM: a smoke test.")
    by_protocol: dict[str, set[str]] = {}
    for judging in judgings:
        by_protocol.setdefault(judging.protocol.name, set()).add(judging.said)
    if any(len(said) > 1 for said in by_protocol.values()):
        judges = "; ".join(sorted({each.said for each in judgings}))
        yield Flag("warning", f"Open answers were judged differently and do not compare: {judges}.")
