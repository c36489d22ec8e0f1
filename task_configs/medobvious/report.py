"""MedObvious: its report. Nothing here can move a number."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from lmms_medtasks.grid_positions import parse_size
from lmms_medtasks.grids import triage
from lmms_medtasks.record import FAILED, NO_ANSWER
from lmms_medtasks.report.about import data_kinds
from lmms_medtasks.report.charts import Chart
from lmms_medtasks.report.document import Cell, ReportNotice
from lmms_medtasks.report.findings import FindingChart, Number
from lmms_medtasks.report.headlines import BoardColumn, Headline
from lmms_medtasks.report.published import published_span
from lmms_medtasks.report.shared_sections import rotation_view
from lmms_medtasks.report.suite_report import SuiteReportSpec, question_ids, results_extent
from lmms_medtasks.report.views import (
    ColumnSpec,
    ModelResults,
    RowSpec,
    SectionSpec,
    TableSpec,
    row_count,
    rows_by,
    rows_of_sources,
)
from lmms_medtasks.suites.common_metrics import READINGS, outcome_count
from lmms_medtasks.suites.estimates import Contrast
from lmms_medtasks.task_configs.medobvious import measures
from lmms_medtasks.task_configs.medobvious import report_published as published

PAIRED = f"{published.INTERVALS.rstrip('.')}, of a change between the same items."


# --- One run ----------------------------------------------------------------------------------------------------------
GAPS = TableSpec(
    "gaps",
    "Multiple choice and open",
    ("asked for",),
    [
        RowSpec((family,), estimates=dict.fromkeys(("pairs", "multiple choice", "open", "gap"), gap))
        for family, gap in measures.FORMAT_GAPS.items()
    ],
    (
        ColumnSpec("pairs", unit="n", statistic="second"),
        ColumnSpec("multiple choice", statistic="second"),
        ColumnSpec("open", statistic="first"),
        ColumnSpec("gap", unit="points"),
    ),
    (
        "Pairs of questions about the same grid, both with a score. A positive gap: more correct answers where options "
        "are given. The multiple-choice referring question describes the outlier, the open one does not.",
        PAIRED,
    ),
)
AGREEMENT = TableSpec(
    "agreements",
    "Agreement of an item's answers",
    ("answers about",),
    [
        RowSpec((label,), estimates=dict.fromkeys(("items", "agree"), measures.AGREEMENTS[name]))
        for label, name in (
            ("grid with an outlier, up to five formats", "positive"),
            ("grids without, up to three formats", "negative"),
            ("both", "both"),
        )
    ],
    (ColumnSpec("items", unit="n"), ColumnSpec("agree")),
    (
        "They agree if all name the same place (or none), and call the highlighted panel the outlier exactly if they "
        "named its place (without an outlier: if they named any). Right or wrong does not matter: always none agrees. "
        "Left out: items with a failed request, of fewer than two formats, or a highlighted panel of unknown place.",
        published.INTERVALS,
    ),
)
ALARMS = TableSpec(
    "alarms",
    "False alarms and abstentions",
    ("format",),
    (
        *(RowSpec((title,), {"task_type": name}) for name, title in published.SHORT.items()),
        RowSpec(("all formats",), kind="counts"),
    ),
    (
        ColumnSpec("negatives with an answer", measures.FALSE_ALARMS, "n"),
        ColumnSpec("false alarms", measures.FALSE_ALARMS),
        ColumnSpec("positives", measures.ABSTENTIONS, "n"),
        ColumnSpec("abstentions", measures.ABSTENTIONS),
    ),
    (
        "False alarm: an answer that claims an outlier where there is none (a place, or yes); replies without an "
        "answer are left out (the table of replies has them). Abstention: a reply that names none where there is one "
        "(none, no, a refusal, or no answer at all).",
        published.INTERVALS,
    ),
)
KINDS = TableSpec(
    "kinds",
    "Accuracy by kind",
    ("tier", "kind"),
    rows_by("tier", "kind", labels=lambda tier, kind: (f"T{tier}", kind.replace("_", " "))),
    (
        ColumnSpec("positives", measures.ACCURACY, "n", within=published.POSITIVES),
        ColumnSpec("accuracy", measures.ACCURACY, within=published.POSITIVES),
        ColumnSpec("negatives", measures.ACCURACY, "n", within=published.NEGATIVES),
        ColumnSpec("accuracy ", measures.ACCURACY, within=published.NEGATIVES),
    ),
    (published.INTERVALS,),
    long=True,
)


def _panel_count(grid: str) -> int:
    return len(parse_size(grid).positions)


def _size_rows(sources: Sequence[ModelResults]) -> Iterator[RowSpec]:
    columns = ("positives", "negatives", "overall", "detection, positives")
    guesses = {"questions": None, **dict.fromkeys(columns, published.CHANCE)}
    for (grid,) in sources[0].rows.by(["grid"], key=lambda values: _panel_count(values[0])):
        yield RowSpec((grid.replace("x", "×"),), {"grid": grid})
        yield RowSpec(("uniform guessing",), {"grid": grid}, "counts", guesses)


SIZES = TableSpec(
    "sizes",
    "Accuracy by number of panels",
    ("grid",),
    _size_rows,
    (
        ColumnSpec("panels", lambda source, row, rows: Cell(_panel_count(row.where["grid"])), "count"),
        ColumnSpec("questions", measures.ACCURACY, "n"),
        ColumnSpec("positives", measures.ACCURACY, within=published.POSITIVES),
        ColumnSpec("negatives", measures.ACCURACY, within=published.NEGATIVES),
        ColumnSpec("overall", measures.ACCURACY),
        ColumnSpec("detection, positives", measures.ACCURACY,
               within={**published.POSITIVES, "task_type": ("detection_mcq", "detection_open")}),
    ),
    (
        "Detection, positives: finding the place of the outlier, where a larger grid is more panels to compare. In the "
        "benchmark larger grids are a tier of their own (T3), with other images; generated sets have sizes alike.",
        published.INTERVALS,
    ),
)  # fmt: skip
SCALING = Chart(
    "plane",
    "scaling",
    "Accuracy against the number of panels",
    "How a model does as there is more to compare.",
    SIZES,
    {
        "outlier's place (detection)": ("detection, positives",),
        "where there is none": ("negatives",),
        "all questions": ("overall",),
    },
    x="panels",
    joined=True,
    axis=("panels",),
)
REPLIES = TableSpec(
    "replies",
    "What became of the replies",
    ("format", "grids"),
    rows_by(
        "task_type", "negative", labels=lambda name, sign: (published.SHORT[name], "negative" if sign else "positive")
    ),
    (
        ColumnSpec("questions", row_count, "count"),
        *(ColumnSpec(name, outcome_count(name), "count") for name in READINGS),
    ),
    (
        "Unreadable: words without one answer, or with several. Cut: cut off before an answer. Empty: a reply that "
        "says nothing. These and refusals count as incorrect; failed requests count as nothing.",
    ),
    folded=True,
)


# --- Several runs ----------------------------------------------------------------------------------------------------
RUNS = TableSpec(
    "runs",
    "False alarms, abstentions, agreement",
    ("run",),
    rows_of_sources(lambda source: (source.name,)),
    (
        ColumnSpec("questions", measures.ACCURACY, "n"),
        ColumnSpec("false alarms", measures.FALSE_ALARMS),
        ColumnSpec("abstentions", measures.ABSTENTIONS),
        ColumnSpec("items that agree", measures.AGREEMENTS["both"]),
        ColumnSpec("data", lambda source, row, rows: Cell(results_extent(source)), "text"),
    ),
    (f"Each run on the questions that it was asked. {published.INTERVALS}",),
)


def _way_rows(sources: Sequence[ModelResults]) -> Iterator[RowSpec]:
    """Each other condition, compared with the same run as released, or else with another run of the model."""
    for changed in (results for results in sources if results.condition):
        released = [base for base in sources if not base.condition and changed.run in base.runs_of_model.values()]
        if not released:
            continue
        base = next((results for results in released if results.run is changed.run), released[0])
        both = ModelResults("", base.every.where({"repeated": False}), base.every, base.resamples)
        sides = [{"run": side.rows.column("run")[0], "condition": side.condition} for side in (base, changed)]
        change = Contrast(first=sides[0], second=sides[1], pair=("pair",))
        for name, where in (("all", {}), ("positives", published.POSITIVES), ("negatives", published.NEGATIVES)):
            estimates = dict.fromkeys(("pairs", "as released", "changed", "difference"), change)
            yield RowSpec((base.name, changed.condition, name), where, "counts" if where else "run", estimates, both)


WAYS = TableSpec(
    "ways",
    "As released and otherwise",
    ("run", "asked", "grids"),
    _way_rows,
    (
        ColumnSpec("pairs", unit="n", statistic="second"),
        ColumnSpec("as released", statistic="first"),
        ColumnSpec("changed", statistic="second"),
        ColumnSpec("difference", unit="points"),
    ),
    (
        "Question by question. What a model still gets without the image, it has from the words or from guessing.",
        PAIRED,
    ),
)


# --- The headline -----------------------------------------------------------------------------------------------------


def _headline_numbers(source: ModelResults) -> Iterator[Number]:
    """Accuracy, the paper's average and false alarms; nothing under another condition than the paper's."""
    if source.condition:
        return
    whole = set(source.rows.column("task_type")) == set(measures.FORMATS)
    title = "all questions" if whole else "the formats asked"
    chance = source.interval(published.CHANCE).estimate
    printed = published_span(measures.SUITE, "medobvious", "accuracy") if whole else None
    yield Number(title, f"on {title}", measures.ACCURACY, chance=chance, published=printed)
    if whole:
        chance = source.interval(published.CHANCE_AVERAGE).estimate
        printed = published_span(measures.SUITE, "medobvious", "paper_average")
        words = f"by the paper's average of {len(measures.TABLE_2)} groups of questions"
        yield Number("the paper's average", words, measures.PAPER_AVERAGE, chance=chance, published=printed, main=False)
    words = "false alarms among the answers about consistent grids"
    yield Number("false alarms", words, measures.FALSE_ALARMS, higher_is_better=False, main=False)


HEADLINE = Headline(
    _headline_numbers,
    "finding what is obviously wrong",
    (
        BoardColumn("medobvious", "accuracy", "over all questions, not the paper's average"),
        BoardColumn("medobvious*", "accuracy"),
        BoardColumn("medobvious*", "*"),
    ),
    sketch=lambda source: FindingChart(
        published.PLANE.small(source),
        "correct with an outlier (%) against wrong without one (%); dashed: guessing; hollow: published",
    ),
)


# --- The report, and what a reader must know --------------------------------------------------------------------------
_ALWAYS, _FEW = 0.97, 20


def run_caveats(source: ModelResults) -> Iterator[ReportNotice]:
    """Words of the release that tell the sign; a model that gives nearly always the same verdict."""
    if not source.condition and "mini" not in data_kinds(source.run, source.tasks):
        yield ReportNotice(
            "note",
            "In the release the words of a question tell whether there is an outlier. Run medobvious_noimage and "
            "medobvious_neutral (neutral wording) beside it to see how much of these numbers they explain.",
        )
    if published.is_rotated(source):  # its trials are letters
        return
    answers = [trials[0] for trials in source.rows.column("trials") if trials[0] not in (FAILED, *NO_ANSWER)]
    if len(answers) < _FEW:
        return
    claims = sum(map(triage.claims_outlier, answers)) / len(answers)
    if claims >= _ALWAYS:
        text = f"{claims:.0%} of the answers that were read claim an outlier: it finds one everywhere."
        yield ReportNotice("warning", text)
    if claims <= 1 - _ALWAYS:
        text = f"{1 - claims:.0%} of the answers that were read claim none: it finds one nowhere."
        yield ReportNotice("warning", text)


def _asked_once(view: SectionSpec) -> SectionSpec:
    """The section, for sources that were asked each question once."""
    return replace(view, shown=lambda sources: not published.is_rotated(sources[0]) and view.shown(sources))


_VIEWS = (
    SectionSpec(
        "published",
        "Beside the published models",
        (published.SIGNS_TABLE, published.FORMATS_TABLE, published.RULES_TABLE, published.TIERS_TABLE),
        (published.PLANE, published.FORMAT_POINTS),
    ),
    SectionSpec("formats", "Formats", (GAPS, AGREEMENT)),
    SectionSpec("alarms", "False alarms and abstentions", (ALARMS,)),
    SectionSpec(
        "sizes",
        "Number of panels",
        (SIZES,),
        (SCALING,),
        shown=lambda sources: len(sources[0].rows.values("grid")) > 1,
        folded=True,
    ),
    SectionSpec("kinds", "Kinds of outliers", (KINDS,)),
    SectionSpec("replies", "Replies", (REPLIES,)),
)
ROTATIONS = rotation_view(
    {"rotation": tuple(range(len(measures.LETTERS)))},
    published.INTERVALS,
    groups={
        **{published.SHORT[name]: measures.TABLE_2[name] for name in measures.FORMATS if name.endswith("mcq")},
        **{f"{name} grids": measures.TABLE_2[name] for name in measures.SIGNS},
    },
)
REPORT = SuiteReportSpec(
    is_whole=True,
    headline=HEADLINE,
    views=(*map(_asked_once, _VIEWS), ROTATIONS),
    compared=(
        _VIEWS[0],
        SectionSpec("models", "The runs together", (RUNS,)),
        SectionSpec("ways", "What the image and the wording are worth", (WAYS,)),
    ),
    caveats=run_caveats,
    tests=lambda source: {"all formats": question_ids(source.rows)},
)
