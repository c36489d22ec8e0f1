"""MedObvious: the tables of one run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from lmms_medtasks.grids import triage
from lmms_medtasks.record import FAILED, NO_ANSWER
from lmms_medtasks.report.document import Cell
from lmms_medtasks.report.views import Column, Row, Source, Table, rows_by
from lmms_medtasks.samples.table import Samples
from lmms_medtasks.suites.estimates import Contrast
from lmms_medtasks.suites.outcomes import READINGS, outcome_of
from lmms_medtasks.task_configs.medobvious.measures import (
    ABSTENTIONS,
    ACCURACY,
    AGREEMENTS,
    BALANCED_ACCURACY,
    FALSE_ALARMS,
    FORMAT_GAPS,
    PAPER_AVERAGE,
    SIGNS,
    TABLE_2,
)
from lmms_medtasks.task_configs.medobvious.report_published import (
    CHANCE,
    CHANCE_AVERAGE,
    INTERVALS,
    NEGATIVES,
    POSITIVES,
    SHORT,
    TIER_CHANCE,
    TIER_MEAN,
    TOGETHER,
)


def _accuracy_rows(sources: Sequence[Source]) -> Iterator[Row]:
    yield Row(("All questions",))
    for name, where in TABLE_2.items():
        yield Row((SHORT.get(name, name.capitalize()),), where)
    averages = {"n": None, "accuracy": PAPER_AVERAGE, "uniform guessing": CHANCE_AVERAGE}
    yield Row(("The paper's Avg",), kind="counts", estimates=averages)
    balanced = {"n": None, "accuracy": BALANCED_ACCURACY, "uniform guessing": None}
    yield Row(("Balanced: the mean of positives and negatives",), kind="counts", estimates=balanced)
    for (tier,) in sources[0].rows.by(["tier"]):
        yield Row((f"T{tier}",), {"tier": tier})
    means = {"n": None, "accuracy": TIER_MEAN, "uniform guessing": TIER_CHANCE}
    yield Row(("Mean of the tiers",), kind="counts", estimates=means)


ACCURACIES = Table(
    "accuracies",
    "Accuracy",
    ("questions",),
    _accuracy_rows,
    (Column("n", ACCURACY, "n"), Column("accuracy", ACCURACY), Column("uniform guessing", CHANCE)),
    ("A reply that could not be read counts as incorrect, a failed request as nothing.", INTERVALS),
)


def _gap_row(family: str, gap: Contrast) -> Row:
    return Row((family,), estimates=dict.fromkeys(("pairs", "multiple choice", "open", "gap"), gap))


GAPS = Table(
    "gaps",
    "Multiple choice and open",
    ("asked for",),
    tuple(_gap_row(family, gap) for family, gap in FORMAT_GAPS.items()),
    (
        Column("pairs", unit="n", statistic="second"),
        Column("multiple choice", statistic="second"),
        Column("open", statistic="first"),
        Column("gap", unit="points"),
    ),
    (
        "Pairs of questions about the same grid, both with a score. A positive gap: more correct answers where options "
        "are given. The multiple-choice referring question describes the outlier, the open one does not.",
        TOGETHER,
    ),
)


def _without_value(source: Source, row: Row, rows: Samples) -> Cell:
    return Cell(AGREEMENTS[_AGREEING[str(row.labels[0])]].without_value(rows))


_AGREEING = {
    "grid with an outlier, up to five formats": "positive",
    "grids without, up to three formats": "negative",
    "both": "both",
}
AGREEMENT = Table(
    "agreements",
    "Agreement of an item's answers",
    ("answers about",),
    tuple(
        Row((label,), estimates=dict.fromkeys(("items", "agree"), AGREEMENTS[name]))
        for label, name in _AGREEING.items()
    ),
    (Column("items", unit="n"), Column("agree"), Column("not to be said", _without_value, "count")),
    (
        "They agree if all name the same place (or none), and call the highlighted panel the outlier exactly if they "
        "named its place (without an outlier: if they named any). Right or wrong does not matter: always none agrees.",
        "Not to be said: a failed request, fewer than two formats, or a highlighted panel of unknown place.",
        INTERVALS,
    ),
)


def _unanswered(source: Source, row: Row, rows: Samples) -> Cell:
    """Negatives whose replies, where any came, all lack an answer."""
    trials = rows.where(NEGATIVES).column("trials")
    return Cell(sum(set(each) != {FAILED} and set(each) <= {FAILED, *NO_ANSWER} for each in trials))


ALARMS = Table(
    "alarms",
    "False alarms and abstentions",
    ("format",),
    (*(Row((title,), {"task_type": name}) for name, title in SHORT.items()), Row(("all formats",), kind="counts")),
    (
        Column("negatives with an answer", FALSE_ALARMS, "n"),
        Column("false alarms", FALSE_ALARMS),
        Column("negatives without an answer", _unanswered, "count"),
        Column("positives", ABSTENTIONS, "n"),
        Column("abstentions", ABSTENTIONS),
    ),
    (
        "False alarm: an answer that claims an outlier where there is none (a place, or yes); replies without an "
        "answer are left out and stand beside. Abstention: a reply that names none where there is one (none, no, a "
        "refusal, or no answer at all).",
        INTERVALS,
    ),
)
KINDS = Table(
    "kinds",
    "Accuracy by kind",
    ("tier", "kind"),
    rows_by("tier", "kind", labels=lambda tier, kind: (f"T{tier}", kind.replace("_", " "))),
    (
        Column("positives", ACCURACY, "n", within=POSITIVES),
        Column("accuracy", ACCURACY, within=POSITIVES),
        Column("negatives", ACCURACY, "n", within=NEGATIVES),
        Column("accuracy ", ACCURACY, within=NEGATIVES),
    ),
    (INTERVALS,),
    long=True,
)


def _panels(grid: str) -> int:
    """9 for "3x3"."""
    rows, _, columns = grid.partition("x")
    return int(rows) * int(columns)


def _size_rows(sources: Sequence[Source]) -> Iterator[Row]:
    guesses = {
        "questions": None,
        **dict.fromkeys(("positives", "negatives", "overall", "detection, positives"), CHANCE),
    }
    for (grid,) in sources[0].rows.by(["grid"], key=lambda values: _panels(values[0])):
        yield Row((grid.replace("x", "×"),), {"grid": grid})
        yield Row(("uniform guessing",), {"grid": grid}, "counts", guesses)


SIZES = Table(
    "sizes",
    "Accuracy by number of panels",
    ("grid",),
    _size_rows,
    (
        Column("panels", lambda source, row, rows: Cell(_panels(row.where["grid"])), "count"),
        Column("questions", ACCURACY, "n"),
        Column("positives", ACCURACY, within=POSITIVES),
        Column("negatives", ACCURACY, within=NEGATIVES),
        Column("overall", ACCURACY),
        Column("detection, positives", ACCURACY,
               within={**POSITIVES, "task_type": ("detection_mcq", "detection_open")}),
    ),
    (
        "Detection, positives: finding the place of the outlier, where a larger grid is more panels to compare. In the "
        "benchmark larger grids are a tier of their own (T3), with other images; generated sets have sizes alike.",
        INTERVALS,
    ),
)  # fmt: skip
OUTCOMES = ("right", "another place", "none", "wrong yes or no", *READINGS)
"""What a reply can be. "none" is wrong there: on a grid with an outlier."""


def _outcomes(rows: Samples) -> Counter[str]:
    """Which of :data:`OUTCOMES` the first reply to each question is."""
    found: Counter[str] = Counter()
    for trials, score in zip(rows.column("trials"), rows.column("accuracy.score"), strict=True):
        trial = trials[0]
        if (outcome := outcome_of(trial)) in READINGS:
            found[outcome] += 1
        elif score == 1:
            found["right"] += 1
        else:
            found[
                "wrong yes or no" if trial in ("yes", "no") else "none" if trial == triage.NONE else "another place"
            ] += 1
    return found


def _outcome(name: str) -> Column:
    return Column(name, lambda source, row, rows: Cell(_outcomes(rows)[name]), "count")


def _reply_rows(sources: Sequence[Source]) -> Iterator[Row]:
    for name, title in SHORT.items():
        for sign, number in SIGNS.items():
            where = {"task_type": name, "negative": number}
            if len(sources[0].rows.where(where)):
                yield Row((title, sign), where)


REPLIES = Table(
    "replies",
    "What became of the replies",
    ("format", "grids"),
    _reply_rows,
    (Column("questions", lambda source, row, rows: Cell(len(rows)), "count"), *map(_outcome, OUTCOMES)),
    (
        "Another place, none: wrong there. Unreadable: words without one answer, or with several. Cut: cut off before "
        "an answer. Empty: a reply that says nothing. Only right replies count as correct; failed requests count as "
        "nothing, and all other replies as incorrect.",
    ),
    folded=True,
)
