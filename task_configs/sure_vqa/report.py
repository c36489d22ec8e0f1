"""SURE-VQA: the tables and figures of its report, beside the published rows. Nothing here can move a number."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from lmms_medtasks.errors import UserError
from lmms_medtasks.report import judged_tables
from lmms_medtasks.report.cells import NONE, number, percent_of
from lmms_medtasks.report.document import Cell, Flag
from lmms_medtasks.report.report_options import Options
from lmms_medtasks.report.suite_report import Report, sources_by_model
from lmms_medtasks.report.views import Column, Row, Source, Table, View, row_count
from lmms_medtasks.samples.result_files import Run
from lmms_medtasks.samples.table import Samples
from lmms_medtasks.statistics.confidence import LEVEL
from lmms_medtasks.suites.common_metrics import MANY_EMPTY, outcome_count
from lmms_medtasks.suites.estimates import Mean
from lmms_medtasks.suites.judged_measures import bound_of, judgement_counts
from lmms_medtasks.suites.suite import Suite
from lmms_medtasks.task_configs.sure_vqa import report_comparison, report_finding, report_image, report_published
from lmms_medtasks.task_configs.sure_vqa.measures import ROBUSTNESS, SIDES
from lmms_medtasks.task_configs.sure_vqa.report_shift_chart import SLOPES
from lmms_medtasks.task_configs.sure_vqa.report_shifts import (
    GUESSING,
    SCALE,
    SIDE_NAMES,
    Shift,
    answered,
    answered_share,
    groups,
    is_baseline,
    kind_label,
    mean,
    of_words,
    replies,
    scores,
    shifts,
    statistic,
)
from lmms_medtasks.task_configs.sure_vqa.robustness import relative_robustness

SMALL = 100
"""Questions of a kind in an OoD test below which it is called small: the standard error of a share of one half is then
0.05 or more, were the questions independent. Our choice."""

CREDENTIALED = ("mimic",)
TEXT_HEADS = {
    "exact_match": "exact match",
    "precision": "precision",
    "recall": "recall",
    "f1": "F1",
    "bleu": "BLEU-1",
}


# --- Sources ----------------------------------------------------------------------------------------------------------


def sources(suite: Suite, runs: Sequence[Run], table: Samples, options: Options) -> list[Source]:
    """A source for each model, with and without images apart; no source has verdicts of two judges out of two runs.

    A shift's two tests may be one task or two (``*_iid``, ``*_ood``), of one run or of two. Raises UserError when a
    question of a shift is in two tasks of a run.
    """
    again = table.where({"repeated": True})
    if len(again):
        question, shift = again.column("id")[0], Shift.of(again.column("shift")[0])
        raise UserError(
            f"{_place(runs, again)}: question {question!r} of {shift.label} was asked by another task of this run too. "
            "Run a shift's task, or its *_iid and *_ood ones, not both."
        )
    found = sources_by_model(suite, runs, table, options, apart=("condition",), once=("shift", "set"), one_judge=True)
    return [each if each.condition else replace(each, name=f"{each.name} (with images)") for each in found]


def _place(runs: Sequence[Run], rows: Samples) -> str:
    """Where the first of these rows stands: file and line."""
    run, task, line = (rows.column(name)[0] for name in ("run", "task", "line"))
    return f"{runs[run].samples_file(task)}, line {line}"


# --- Robustness -------------------------------------------------------------------------------------------------------

_ROBUSTNESS_NOTES = (
    f"Scores by the judge or by exact match ({SCALE}). RR, relative robustness: OoD / i.i.d.; of stars at least 0.2 "
    "whatever the model, so not to be compared with that of closed questions. Empty where i.i.d. is 0.",
    f"In brackets: {LEVEL} interval over images, of each row by itself; an image in both tests counts "
    "as one, so that it stays paired. n: questions with a score. An RR near 1 is also what guessing gets: compare the "
    "i.i.d. score with that of the run without the image and of the most frequent answers.",
)
_MISSING = (
    "Missing: judgements that could not be obtained, counted as the scale's worst or best; empty in rows without any."
)


def missing(source: Source, shift: Shift, kind: str) -> int:
    """Judgements of both tests that are missing."""
    obtained, requested = judgement_counts(source.rows.where(shift.where(kind)), kind)
    return requested - obtained


def robustness_bounds(source: Source, shift: Shift, kind: str) -> tuple[float | None, float | None]:
    """RR at worst and at best over what the missing judgements might have been."""
    iid, ood = (source.rows.where(shift.where(kind, side)) for side in SIDES)
    return tuple(  # type: ignore[return-value]
        relative_robustness(bound_of(iid, kind, first), bound_of(ood, kind, second))
        for first, second in (("high", "low"), ("low", "high"))
    )


def _group(row: Row) -> tuple[Shift, str]:
    return Shift.of(row.where["shift"]), str(row.labels[1]).removesuffix(judged_tables.LEXICAL)


def _is_small(source: Source, shift: Shift, kind: str) -> bool:
    return 0 < len(source.rows.where(shift.where(kind, "ood"))) < SMALL


def _ood_count(source: Source, row: Row, rows: Samples) -> Cell:
    shift, kind = _group(row)
    small = _is_small(source, shift, kind)
    return Cell(statistic(source, shift, kind, "ood").n, mark="#" if small else "")


def _bound(place: int, source: Source, row: Row, rows: Samples) -> Cell:
    shift, kind = _group(row)
    return Cell(robustness_bounds(source, shift, kind)[place]) if missing(source, shift, kind) else NONE


_BY_TEST = ("n i.i.d.", "i.i.d.", "OoD", "OoD - i.i.d.", "RR")
_BOUNDS = (
    Column("RR, missing at worst", functools.partial(_bound, 0), "", 2),
    Column("RR, missing at best", functools.partial(_bound, 1), "", 2),
)


def _any_missing(found: Sequence[Source]) -> bool:
    return any(missing(each, shift, kind) for each in found for shift, kind in groups(each))


def _said_of_words(found: Sequence[Source]) -> list[str]:
    return [f"{sign} {meaning}" for sign, meaning in of_words(found).items()]


ROBUSTNESS_TABLE = Table(
    "robustness",
    "Relative robustness by shift",
    ("shift", "questions"),
    lambda found: [
        Row(
            (shift.label, kind_label(found[0], shift, kind)),
            shift.where(kind),
            estimates=dict.fromkeys(_BY_TEST, ROBUSTNESS[kind]),
        )
        for shift, kind in groups(found[0])
    ],
    lambda found: (
        Column("n i.i.d.", unit="n", statistic="first"),
        Column("i.i.d.", unit="", digits=2, statistic="first"),
        Column("n OoD", _ood_count, "count"),
        Column("OoD", unit="", digits=2, statistic="second"),
        Column("OoD - i.i.d.", unit="", digits=2, statistic="change", signed=True),
        Column("RR", unit="", digits=2, statistic="ratio"),
        *(_BOUNDS if _any_missing(found) else ()),
    ),
    lambda found: (*_ROBUSTNESS_NOTES, *([_MISSING] if _any_missing(found) else []), *_said_of_words(found)),
    marks={"#": f"Fewer than {SMALL} OoD questions: their mean and RR say little without their intervals."},
)


# --- Tests, replies, judgements ---------------------------------------------------------------------------------------

_HEAD = ("shift", "questions", "test")
_OUTCOMES = ("failed", "empty", "cut", "unreadable")


def _test_rows(found: Sequence[Source]) -> Iterator[Row]:
    for shift, kind in groups(found[0]):
        for side, name in SIDE_NAMES.items():
            yield Row((shift.label, kind_label(found[0], shift, kind), name), shift.where(kind, side))


def _of_test(source: Source, row: Row, rows: Samples) -> Cell:
    """The mean of a test, from the draw with both."""
    shift, kind = _group(row)
    return number(statistic(source, shift, kind, row.where["set"]))


def _images(source: Source, row: Row, rows: Samples) -> Cell:
    shift, kind = _group(row)
    return Cell(statistic(source, shift, kind, row.where["set"]).clusters)


def _images_in_both(source: Source, row: Row, rows: Samples) -> Cell:
    shift, kind = _group(row)
    iid, ood = (set(source.rows.where(shift.where(kind, side)).scored(kind).column("cluster")) for side in SIDES)
    return Cell(len(iid & ood))


def _judgements(place: int, source: Source, row: Row, rows: Samples) -> Cell:
    return Cell(judgement_counts(rows, _group(row)[1])[place])


def _coverage(source: Source, row: Row, rows: Samples) -> Cell:
    obtained, requested = judgement_counts(rows, _group(row)[1])
    return percent_of(obtained / requested if requested else None)


def _missing_as(which: str, source: Source, row: Row, rows: Samples) -> Cell:
    return Cell(bound_of(rows, _group(row)[1], which))


TESTS = Table(
    "tests",
    "Tests, replies and judgements",
    _HEAD,
    _test_rows,
    (
        Column("asked", row_count, "count"),
        Column("images", _images, "count"),
        Column("images in both tests", _images_in_both, "count"),
        *(Column(name, outcome_count(name), "count") for name in _OUTCOMES),
        Column("judged", functools.partial(_judgements, 0), "count"),
        Column("wanted", functools.partial(_judgements, 1), "count"),
        Column("coverage", _coverage),
        Column("score", _of_test, "", 2),
        Column("missing as worst", functools.partial(_missing_as, "low"), "", 2),
        Column("missing as best", functools.partial(_missing_as, "high"), "", 2),
    ),
    lambda found: (
        "Failed requests have no score and are left out; a reply that is empty, cut (off in its thoughts) or "
        "unreadable (an unknown mark before it) counts as wrong. A missing judgement is never "
        "a score. images: of the questions with a score.",
        *_said_of_words(found),
    ),
    long=True,
)
TRADITIONAL = Table(
    "traditional",
    "Traditional metrics beside the judged score",
    _HEAD,
    _test_rows,
    (
        Column("judged score", _of_test, "", 2),
        *(Column(head, Mean(measure=name, exact=True), "", 2) for name, head in TEXT_HEADS.items()),
    ),
    lambda found: (
        "Means over all replies, from 0 to 1. They match tokens and know neither synonyms nor negation: the paper "
        "shows them to fail (section 2, P2), and scores by the judge. Normalised as in the VQA challenge.",
        *_said_of_words(found),
    ),
)


def _score_of_answered(source: Source, row: Row, rows: Samples) -> Cell:
    kind = _group(row)[1]
    with_words = set(answered(rows).rows.tolist())
    known = zip(rows.rows.tolist(), scores(rows, kind), strict=True)
    return Cell(mean([score for place, score in known if place in with_words]))


def _has_empty(rows: Samples) -> bool:
    return any(trials[0] == "empty" for trials in rows.column("trials"))


ANSWERED = Table(
    "answered",
    "What was answered at all",
    _HEAD,
    lambda found: list(_test_rows(found)) if _has_empty(found[0].rows) else [],
    (
        Column("replies", lambda source, row, rows: Cell(len(replies(rows))), "count"),
        Column("answered", lambda source, row, rows: percent_of(answered_share(rows))),
        Column("score of the answered", _score_of_answered, "", 2),
        Column("score of all", _of_test, "", 2),
    ),
    (
        "The most frequent baseline answers only questions that stand in the training set; the paper leaves cells "
        "empty where too few do. In the score of all an empty reply counts as wrong.",
    ),
)


def judging(source: Source) -> Mapping[str, judged_tables.Judging]:
    """What became of the judgements, by kind of question and protocol."""
    return judged_tables.judgings(
        source.rows, ["answer_type", "protocol"], lambda kind, protocol: f"{kind} questions ({protocol})"
    )


# --- What a reader must know ------------------------------------------------------------------------------------------


def caveats(source: Source) -> Iterator[Flag]:
    """Empty replies, tests that are small or not there, shared images, judgements, credentialed data."""
    count, empty = len(replies(source.rows)), len(replies(source.rows)) - len(answered(source.rows))
    if empty > MANY_EMPTY * count and not is_baseline(source):
        yield Flag(
            "warning",
            f"{empty:,} of {count:,} replies are empty and count as wrong. Some runners turn an error into an empty "
            "reply: look into the run's log.",
        )
    yield from _test_flags(source)
    yield from _shared_image_flags(source)
    yield from judged_tables.flags(judging(source))
    if any(shift.dataset in CREDENTIALED for shift in shifts(source)):
        yield Flag(
            "note",
            "Credentialed data (PhysioNet): this report holds aggregate numbers, no question, answer, image or id.",
        )


def _test_flags(source: Source) -> Iterator[Flag]:
    sizes = {
        (shift, kind): {side: len(source.rows.where(shift.where(kind, side))) for side in SIDES}
        for shift, kind in groups(source)
    }
    small = [f"{shift.label}, {kind} {own['ood']}" for (shift, kind), own in sizes.items() if 0 < own["ood"] < SMALL]
    if small:
        text = f"OoD tests of fewer than {SMALL} questions, whose RR says little without its interval: "
        yield Flag("warning", text + "; ".join(small) + ".")
    for (shift, kind), own in sizes.items():
        name = f"{shift.label}, {kind} questions"
        empty = [side for side, size in own.items() if not size]
        for side in empty:
            yield Flag("warning", f"{name}: none in the {SIDE_NAMES[side]} test of this run; there is no RR.")
        if not empty and statistic(source, shift, kind, "iid").estimate == 0:
            yield Flag("warning", f"{name}: the i.i.d. score is 0, and what is kept of nothing is not defined: no RR.")


def _shared_image_flags(source: Source) -> Iterator[Flag]:
    found = []
    for shift in shifts(source):
        iid, ood = (set(source.rows.where(shift.where(side=side)).column("cluster")) for side in SIDES)
        if iid & ood and not shift.strength:
            found.append(f"{shift.label} {len(iid & ood):,} of {len(iid):,} i.i.d. and {len(ood):,} OoD")
    if found:
        yield Flag("note", f"Images in both tests, which intervals take as one each: {'; '.join(found)}.")


REPORT = Report(
    headline=report_finding.HEADLINE,
    guessing=GUESSING,
    views=(
        View("robustness", "Robustness to shifts", (ROBUSTNESS_TABLE,), (SLOPES,)),
        report_image.BENEFIT,
        View("published", "Beside the paper", report_published.SHIFT_TABLES),
        View("corruptions", "Corruptions beside real shifts", (report_published.own_corruptions,)),
        View("answered", "What was answered at all", (ANSWERED,)),
        View("traditional", "Traditional metrics", (TRADITIONAL,)),
        View("judgements", "Tests and judgements", (TESTS, *judged_tables.judging_tables(judging))),
    ),
    compared=(),
    caveats=caveats,
    sources=sources,
    compare=report_comparison.compare,
    uses=frozenset({"pairs"}),
)
