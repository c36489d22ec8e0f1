"""MedObvious: tables and figures of its report, beside the published rows. Nothing here can move a number."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import yaml

from lmms_medtasks.grids import triage
from lmms_medtasks.record import FAILED, NO_ANSWER
from lmms_medtasks.report import document
from lmms_medtasks.report.about import data_of, own
from lmms_medtasks.report.charts import Lines, Plane, Points
from lmms_medtasks.report.document import Cell, Flag
from lmms_medtasks.report.rotated_options import rotation_view
from lmms_medtasks.report.suite_report import PublishedScores, Report, extent, question_ids
from lmms_medtasks.report.variance_tables import Crossed, crossed_table
from lmms_medtasks.report.views import Column, Published, Row, Source, Table, View, rows_by, rows_of_sources
from lmms_medtasks.samples.table import Samples
from lmms_medtasks.suites.estimates import Contrast, Macro, Mean
from lmms_medtasks.task_configs.medobvious import report_finding
from lmms_medtasks.task_configs.medobvious.measures import (
    ABSTENTIONS,
    ACCURACY,
    AGREEMENTS,
    FALSE_ALARMS,
    FORMAT_GAPS,
    FORMATS,
    LETTERS,
    NEUTRAL,
    PAPER_AVERAGE,
    PAPER_RULE,
    PAPER_RULE_HOSTED,
    ROTATED,
    SIGNS,
    TABLE_2,
    TIERS,
)

REFERENCE = Path(__file__).parent / "reference"
GROUPS = {
    "open": "general open-source",
    "medical": "medical open-source",
    "proprietary": "proprietary",
    "human": "human",
}
SHORT = dict(zip(FORMATS, ("A detection MCQ", "B detection open", "C referring MCQ", "D referring open",
                           "E visual referring"), strict=True))  # fmt: skip
HEADS = {**SHORT, "positive": "positive", "negative": "negative"}
"""Table 2's columns by the paper's letters and names."""

POSITIVES, NEGATIVES = ({"negative": sign} for sign in SIGNS.values())
CHANCE, CHANCE_AVERAGE = (
    Mean(measure="chance", exact=True),
    Macro(measure="chance", exact=True, groups=tuple(TABLE_2.values())),
)
TIER_MEAN, TIER_CHANCE = Macro(by="tier"), Macro(measure="chance", exact=True, by="tier")
INTERVALS = "In brackets: 95 % interval over items."
TOGETHER = "In brackets: 95 % interval over items, of a change between the same items."


# --- Beside the published models --------------------------------------------------------------------------------------

_PRINTED = "Rows marked published: MedObvious, arXiv 2603.23501v1, {table}, as printed; these models were not run here."


def _discrepancies() -> str:
    listed = yaml.safe_load((REFERENCE / "discrepancies.yml").read_text("utf-8"))["discrepancies"]
    said = [
        f"{each['row']}, all: {each['printed']:.1f} printed, {each['recomputed']:.1f} by its tiers; {each['comment']}"
        for each in listed
        if each["column"] == "all"
    ]
    return f"Printed otherwise: {'. '.join(said)}."


def _label(row: Mapping[str, str]) -> tuple[str, ...]:
    return row["model"], f"published, {GROUPS[row['group']]}"


def _own(source: Source) -> tuple[str, ...]:
    return source.name, str(own(extent(source)).value)


def is_rotated(source: Source) -> bool:
    """Whether a source is copies of questions with their options rotated: no part of the paper."""
    return ROTATED in source.condition


def _published_rows(chance: Row) -> Callable[[Sequence[Source]], list[Row]]:
    """A row for each source that was asked each question once, and one for guessing."""
    return lambda sources: rows_of_sources(_own, chance)([each for each in sources if not is_rotated(each)])


def _format_notes(sources: Sequence[Source]) -> tuple[str, ...]:
    whose = "the first row" if len(sources) > 1 else "this run"
    guessing = f"one of all positions and none, or of yes and no; by arithmetic, for the questions of {whose}."
    return (
        "Task D is scored by its position, as in the authors' scripts; the paper's numbers look as if something else "
        "was asked for.",
        "Avg is the paper's: the plain mean of the seven columns before it. It is no share of correct answers: each "
        "question counts in two columns.",
        *([f"Uniform guessing: {guessing}"] if sources else []),
    )


def _tier_mark(source: Source) -> str:
    return "" if len(set(source.rows.column("tier"))) == len(TIERS) else "†"


GUESSING = ("uniform guessing", "arithmetic")
CHANCE_ROW = Row(GUESSING, kind="counts", estimates={**dict.fromkeys(TABLE_2, CHANCE), "Avg": CHANCE_AVERAGE})
RULES = {PAPER_RULE: "open weights", PAPER_RULE_HOSTED: "hosted"}
AVERAGES = {measure: Macro(measure=measure, groups=tuple(TABLE_2.values())) for measure in RULES}
SCRIPTS = {"open": "open weights", "medical": "open weights", "proprietary": "hosted"}
"""By a published row's group whose script read its replies; people's answers no script."""

PRINTED_FORMATS = Published(
    REFERENCE / "table2.csv",
    {**{name: name for name in TABLE_2}, "average": "Avg"},
    _label,
    (_PRINTED.format(table="Table 2"), "The human expert answered another mix of questions than the models."),
)
_FORMAT_COLUMNS = (
    *(Column(HEADS[name], ACCURACY, within=where, key=name, bare=True) for name, where in TABLE_2.items()),
    Column("Avg", PAPER_AVERAGE, bare=True),
)
FORMATS_TABLE = Table(
    "formats",
    "Accuracy by format and sign (Table 2)",
    ("model", "source"),
    _published_rows(CHANCE_ROW),
    _FORMAT_COLUMNS,
    _format_notes,
    PRINTED_FORMATS,
)


def _rule_rows(sources: Sequence[Source]) -> Iterator[Row]:
    """Each source by each of the scripts' two readings."""
    for source in sources:
        for measure, script in RULES.items() if not is_rotated(source) else ():
            estimates = {**dict.fromkeys(TABLE_2, Mean(measure=measure)), "Avg": AVERAGES[measure]}
            yield Row((*_own(source), script), estimates=estimates, source=source)


RULES_TABLE = Table(
    "paper_rule",
    "Accuracy by format and sign (Table 2), replies read as the authors' scripts read them",
    ("model", "source", "script for"),
    _rule_rows,
    tuple(replace(each, of=None) for each in _FORMAT_COLUMNS),
    (
        "The scripts for open-weight models read the letters A to E only: on 3×3 grids F to J are never right. A row "
        "is to be compared with published rows of its script.",
    ),
    replace(PRINTED_FORMATS, label=lambda row: (*_label(row), SCRIPTS.get(row["group"], ""))),
)
TIERS_TABLE = Table(
    "tiers",
    "Accuracy by tier (Table 3)",
    ("model", "source"),
    _published_rows(
        Row(GUESSING, kind="counts", estimates={**{f"T{tier}": CHANCE for tier in TIERS}, "all": TIER_CHANCE}),
    ),
    (
        *(Column(f"T{tier}", ACCURACY, within={"tier": tier}, bare=True) for tier in TIERS),
        Column("all", TIER_MEAN, bare=True, mark=_tier_mark),
    ),
    ("All is the plain mean of the tiers, as in the paper.",),
    Published(
        REFERENCE / "table3.csv",
        {**{f"T{tier}": f"T{tier}" for tier in TIERS}, "all": "all"},
        _label,
        (_PRINTED.format(table="Table 3 as the project page has it"), _discrepancies()),
    ),
)


def _found_by_claiming(source: Source) -> float:
    """Percent of the outliers that are found by always naming one, at a random place.

    Uniform guessing over ``n`` answers of which one says none is right with 1 / n, over the others with 1 / (n - 1).
    """
    chance = source.rows.where(POSITIVES).scored("chance").column("chance.score")
    return 100 * float((chance / (1 - chance)).mean()) if len(chance) else 100.0


PLANE = Plane(
    "plane",
    "Found against false alarms",
    "Up: more outliers found. Right: more wrong answers where there is none, whatever they say: false alarms and "
    "replies that can't be read. Always saying none is the lower left corner, always finding one the right edge. "
    "Dashed: who names an outlier in a share of the questions, at a random place; it ends below 100, as the place has "
    "to be right too. Hollow: published, 100 less the printed accuracy where there is none. Bars: 95 % intervals.",
    FORMATS_TABLE,
    ("positive", "negative"),
    CHANCE_ROW,
    ("wrong where there is none, percent", "correct where there is an outlier, percent"),
    shown=lambda sources: any(
        all(len(each.rows.where(sign).scored("accuracy")) for sign in (POSITIVES, NEGATIVES)) for each in sources
    ),
    groups=GROUPS,
    labelled=("Human expert", "Qwen2.5-VL-7B", "MedGemma1.5-4B-IT", "Qwen3-VL-8B", "Gemini-2.0-Flash"),
    alarms=True,
    claimed=_found_by_claiming,
)
FORMAT_POINTS = Points(
    "formats",
    "Sensitivity to the format",
    "Detection and visual referring are asked about grids without an outlier too, referring MCQ "
    "and open are not. Hollow: the paper's models. Bars are 95 % intervals over items.",
    FORMATS_TABLE,
    FORMATS,
    CHANCE_ROW,
    heads=tuple(SHORT.values()),
    left_out=("human",),
)


# --- A source's own tables --------------------------------------------------------------------------------------------


def _accuracy_rows(sources: Sequence[Source]) -> Iterator[Row]:
    yield Row(("All questions",))
    for name, where in TABLE_2.items():
        yield Row((SHORT.get(name, name.capitalize()),), where)
    averages = {"n": None, "accuracy": PAPER_AVERAGE, "uniform guessing": CHANCE_AVERAGE}
    yield Row(("The paper's Avg",), kind="counts", estimates=averages)
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
ALARMS = Table(
    "alarms",
    "False alarms and abstentions",
    ("format",),
    (*(Row((title,), {"task_type": name}) for name, title in SHORT.items()), Row(("all formats",), kind="counts")),
    (
        Column("negatives", FALSE_ALARMS, "n"),
        Column("false alarms", FALSE_ALARMS),
        Column("positives", ABSTENTIONS, "n"),
        Column("abstentions", ABSTENTIONS),
    ),
    (
        "False alarm: a reply that claims an outlier where there is none (a place, or yes). Abstention: a reply that "
        "names none where there is one (none, no, a refusal, or no answer at all).",
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
SCALING = Lines(
    "scaling",
    "Accuracy against the number of panels",
    "How a model does as there is more to compare. Bars are 95 % intervals over items.",
    SIZES,
    ("detection, positives", "negatives", "overall"),
    shown=lambda sources: _several_sizes(sources),
    x="panels",
    heads=("outlier's place (detection)", "where there is none", "all questions"),
)


def _several_sizes(sources: Sequence[Source]) -> bool:
    return any(len(set(each.rows.column("grid"))) > 1 for each in sources)


OUTCOMES = ("right", "another place", "none", "wrong yes or no", *NO_ANSWER, FAILED)
"""What a reply can be. "none" is wrong there: on a grid with an outlier."""


def _outcomes(rows: Samples) -> Counter[str]:
    """Which of :data:`OUTCOMES` the first reply to each question is."""
    found: Counter[str] = Counter()
    for trials, score in zip(rows.column("trials"), rows.column("accuracy.score"), strict=True):
        trial = trials[0]
        if trial == FAILED or trial in NO_ANSWER:
            found[trial] += 1
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
        "Another place, none: wrong there. Empty: a reply that says nothing. Ambiguous: several candidates. Only right "
        "replies count as correct; failed requests count as nothing, and all other replies as incorrect.",
    ),
    folded=True,
)


# --- Several sources --------------------------------------------------------------------------------------------------

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
    ("Each run on the questions that it was asked. In brackets: 95 % interval over items.",),
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


def wordings(sources: Sequence[Source]) -> document.Table | None:
    """The same questions in the release's and in the neutral wording: the wording as a sample."""
    found = []
    for other in (each for each in sources if each.condition == NEUTRAL):
        base = next((each for each in sources if each.run is other.run and not each.condition), None)
        if base is None:
            continue
        pairs = base.rows.changes(other.rows, "accuracy", ("pair",))
        scores = 100 * np.column_stack([pairs.column(f"{name}.score") for name in ("before", "after")])
        if len(scores):
            items = tuple(pairs.column("cluster"))
            found.append(Crossed(base.name, ("as released", NEUTRAL), scores, items, (0.0, 100.0)))
    return crossed_table("wordings", "Over wordings: the prompt as a sample", "run", "wording", found, 1)


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


def published_scores(task: str) -> Iterator[PublishedScores]:
    """Table 2's positives and negatives, for the task of all tiers and formats; accuracy over its formats."""
    for row in PRINTED_FORMATS.rows() if task == "medobvious" else ():
        cells = {f"accuracy_{sign}": Cell(PRINTED_FORMATS.value(row, sign)) for sign in SIGNS}
        cells["accuracy"] = Cell(report_finding.printed_accuracy(row))
        source = "published, Table 2; accuracy over its formats"
        kind = "human" if row["group"] == "human" else "model"
        yield PublishedScores("MedObvious, arXiv 2603.23501v1,", row["model"], source, cells, kind)  # type: ignore[arg-type]


def _once(view: View) -> View:
    """The section, for sources that were asked each question once."""
    return replace(view, shown=lambda sources: not is_rotated(sources[0]) and view.shown(sources))


_VIEWS = (
    View("published", "Beside the published models", (FORMATS_TABLE, RULES_TABLE, TIERS_TABLE), (PLANE, FORMAT_POINTS)),
    View("accuracies", "Accuracy with intervals", (ACCURACIES,)),
    View("formats", "Formats", (GAPS, AGREEMENT)),
    View("alarms", "False alarms and abstentions", (ALARMS,)),
    View("sizes", "Number of panels", (SIZES,), (SCALING,), shown=_several_sizes),
    View("kinds", "Kinds of outliers", (KINDS,)),
    View("replies", "Replies", (REPLIES,)),
)
ROTATIONS = rotation_view(
    {"rotation": tuple(range(len(LETTERS)))},
    INTERVALS,
    cluster="item",
    groups={
        **{SHORT[name]: TABLE_2[name] for name in FORMATS if name.endswith("mcq")},
        **{f"{name} grids": TABLE_2[name] for name in SIGNS},
    },
)
REPORT = Report(
    finding=report_finding.finding,
    views=(*map(_once, _VIEWS), ROTATIONS),
    compared=(
        View("models", "The runs together", (RUNS,)),
        View(
            "published",
            "Beside the published models",
            (FORMATS_TABLE, RULES_TABLE, TIERS_TABLE),
            (PLANE, FORMAT_POINTS, SCALING),
        ),
        View("ways", "What the image and the wording are worth", (WAYS, wordings)),
    ),
    caveats=caveats,
    published_scores=published_scores,
    tests=lambda source: {"all formats": question_ids(source.rows)},
)
