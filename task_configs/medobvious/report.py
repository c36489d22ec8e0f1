"""MedObvious: its report, and the tables of several runs. Nothing here can move a number."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from lmms_medtasks.grids import triage
from lmms_medtasks.record import FAILED, NO_ANSWER
from lmms_medtasks.report.about import data_of
from lmms_medtasks.report.document import Cell, Flag
from lmms_medtasks.report.rotated_options import rotation_view
from lmms_medtasks.report.suite_report import Report, extent, question_ids
from lmms_medtasks.report.views import Column, Row, Source, Table, View, rows_of_sources
from lmms_medtasks.statistics.confidence import LEVEL
from lmms_medtasks.suites.estimates import Contrast
from lmms_medtasks.task_configs.medobvious import report_finding
from lmms_medtasks.task_configs.medobvious.measures import (
    ABSTENTIONS,
    ACCURACY,
    AGREEMENTS,
    FALSE_ALARMS,
    FORMATS,
    LETTERS,
    SIGNS,
    TABLE_2,
)
from lmms_medtasks.task_configs.medobvious.report_figures import FORMAT_POINTS, PLANE, SCALING, several_sizes
from lmms_medtasks.task_configs.medobvious.report_published import (
    FORMATS_TABLE,
    INTERVALS,
    NEGATIVES,
    POSITIVES,
    RULES_TABLE,
    SHORT,
    TIERS_TABLE,
    TOGETHER,
    is_rotated,
)
from lmms_medtasks.task_configs.medobvious.report_tables import (
    ACCURACIES,
    AGREEMENT,
    ALARMS,
    GAPS,
    KINDS,
    REPLIES,
    SIZES,
)

RUNS = Table(
    "runs",
    "Accuracy, false alarms, abstentions, agreement",
    ("run",),
    rows_of_sources(lambda source: (source.name,)),
    (
        Column("questions", ACCURACY, "n"),
        Column("overall", ACCURACY),
        Column("positives", ACCURACY, within=POSITIVES),
        Column("negatives", ACCURACY, within=NEGATIVES),
        Column("false alarms", FALSE_ALARMS),
        Column("abstentions", ABSTENTIONS),
        Column("items that agree", AGREEMENTS["both"]),
        Column("data", lambda source, row, rows: Cell(extent(source)), "text"),
    ),
    (f"Each run on the questions that it was asked. In brackets: {LEVEL} interval over items.",),
)


def _way_rows(sources: Sequence[Source]) -> Iterator[Row]:
    """A run's questions asked otherwise, against the same run as released."""
    for other in (each for each in sources if each.condition):
        base = next((each for each in sources if each.run is other.run and not each.condition), None)
        if base is None:
            continue
        number = other.rows.column("run")[0]
        both = Source("", base.every.where({"run": number, "repeated": False}), base.every, base.resamples)
        change = Contrast(first={"condition": ""}, second={"condition": other.condition}, pair=("pair",))
        for name, where in (("all", {}), ("positives", POSITIVES), ("negatives", NEGATIVES)):
            estimates = dict.fromkeys(("pairs", "as released", "so", "difference"), change)
            yield Row((base.name, other.condition, name), where, "counts" if where else "run", estimates, both)


WAYS = Table(
    "ways",
    "As released and otherwise",
    ("run", "asked", "grids"),
    _way_rows,
    (
        Column("pairs", unit="n", statistic="second"),
        Column("as released", statistic="first"),
        Column("so", statistic="second"),
        Column("difference", unit="points"),
    ),
    (
        "Question by question. What a model still gets without the image, it has from the words or from guessing.",
        TOGETHER,
    ),
)


# --- What a reader must know ------------------------------------------------------------------------------------------

_ALWAYS, _FEW = 0.97, 20


def caveats(source: Source) -> Iterator[Flag]:
    """The release's words that tell the sign; a model that says the same of nearly everything."""
    if not source.condition and "mini" not in data_of(source.run, source.tasks):
        yield Flag(
            "note",
            "In the release the words of a question tell whether there is an outlier. Run medobvious_noimage and "
            "medobvious_neutral (neutral wording) beside it to see how much of these numbers they explain.",
        )
    if is_rotated(source):  # its trials are letters
        return
    read = [trials[0] for trials in source.rows.column("trials")]
    known = [trial for trial in read if trial not in (FAILED, *NO_ANSWER)]
    if len(known) < _FEW:
        return
    claims = sum(map(triage.claims_outlier, known)) / len(known)
    if claims >= _ALWAYS:
        yield Flag("warning", f"{claims:.0%} of the answers that were read claim an outlier: it finds one everywhere.")
    if claims <= 1 - _ALWAYS:
        yield Flag("warning", f"{1 - claims:.0%} of the answers that were read claim none: it finds one nowhere.")


def _once(view: View) -> View:
    """The section, for sources that were asked each question once."""
    return replace(view, shown=lambda sources: not is_rotated(sources[0]) and view.shown(sources))


_VIEWS = (
    View("published", "Beside the published models", (FORMATS_TABLE, RULES_TABLE, TIERS_TABLE), (PLANE, FORMAT_POINTS)),
    View("accuracies", "Accuracy with intervals", (ACCURACIES,)),
    View("formats", "Formats", (GAPS, AGREEMENT)),
    View("alarms", "False alarms and abstentions", (ALARMS,)),
    View("sizes", "Number of panels", (SIZES,), (SCALING,), shown=several_sizes, folded=True),
    View("kinds", "Kinds of outliers", (KINDS,)),
    View("replies", "Replies", (REPLIES,)),
)
ROTATIONS = rotation_view(
    {"rotation": tuple(range(len(LETTERS)))},
    INTERVALS,
    groups={
        **{SHORT[name]: TABLE_2[name] for name in FORMATS if name.endswith("mcq")},
        **{f"{name} grids": TABLE_2[name] for name in SIGNS},
    },
)
REPORT = Report(
    headline=report_finding.HEADLINE,
    views=(*map(_once, _VIEWS), ROTATIONS),
    compared=(
        View("models", "The runs together", (RUNS,)),
        View(
            "published",
            "Beside the published models",
            (FORMATS_TABLE, RULES_TABLE, TIERS_TABLE),
            (PLANE, FORMAT_POINTS, replace(SCALING, folded=True)),
        ),
        View("ways", "What the image and the wording are worth", (WAYS,)),
    ),
    caveats=caveats,
    tests=lambda source: {"all formats": question_ids(source.rows)},
)
