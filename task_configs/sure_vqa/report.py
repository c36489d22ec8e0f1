"""SURE-VQA: the tables and figures of its report, beside the published rows. Nothing here can move a number."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from lmms_medtasks.errors import UserError
from lmms_medtasks.report import judged_tables
from lmms_medtasks.report.document import Cell, Flag, Frame
from lmms_medtasks.report.report_options import Options
from lmms_medtasks.report.shared_sections import Comparison, benefit_table, rows_without_image
from lmms_medtasks.report.suite_report import Report, sources_by_model
from lmms_medtasks.report.views import Column, Row, Source, Table, View, row_count
from lmms_medtasks.samples.result_files import Run
from lmms_medtasks.samples.table import Samples
from lmms_medtasks.statistics.confidence import LEVEL
from lmms_medtasks.suites.common_metrics import EMPTY_REPLIES, outcome_count
from lmms_medtasks.suites.estimates import Count, Mean
from lmms_medtasks.suites.image_benefit import LostBenefit, floor_of
from lmms_medtasks.suites.judged_measures import bound, coverage, judgement_counts
from lmms_medtasks.suites.outcomes import outcomes
from lmms_medtasks.suites.suite import Suite
from lmms_medtasks.task_configs.sure_vqa import report_across, report_finding, report_published
from lmms_medtasks.task_configs.sure_vqa.measures import KINDS, RANGES, ROBUSTNESS, SIDES
from lmms_medtasks.task_configs.sure_vqa.report_shift_chart import SLOPES
from lmms_medtasks.task_configs.sure_vqa.report_shifts import (
    GUESSING,
    MARKS,
    SCALE,
    SIDE_NAMES,
    Shift,
    answered,
    baseline_of,
    groups,
    shifts,
    words_mark,
)

SMALL = 100
"""Questions of a kind in an OoD test below which it is called small: the standard error of a share of one half is then
0.05 or more, were the questions independent. Our choice."""

CREDENTIALED = ("mimic",)


# --- Sources ----------------------------------------------------------------------------------------------------------


def sources(suite: Suite, runs: Sequence[Run], table: Samples, options: Options) -> list[Source]:
    """A source for each model, with and without images apart; no source has verdicts of two judges out of two runs.

    A shift's two tests may be one task or two (``*_iid``, ``*_ood``), of one run or of two. Raises UserError when a
    question of a shift is in two tasks of a run.
    """
    again = table.where({"repeated": True})
    if len(again):
        question, shift, run, task, line = (again.column(name)[0] for name in ("id", "shift", "run", "task", "line"))
        raise UserError(
            f"{runs[run].samples_file(task)}, line {line}: question {question!r} of {Shift.of(shift).label} was asked "
            "by another task of this run too. Run a shift's task, or its *_iid and *_ood ones, not both."
        )
    found = sources_by_model(suite, runs, table, options, apart=("condition",), once=("shift", "set"), one_judge=True)
    return [each if each.condition else replace(each, name=f"{each.name} (with images)") for each in found]


# --- Robustness -------------------------------------------------------------------------------------------------------

_BY_TEST = ("n i.i.d.", "i.i.d.", "n OoD", "OoD", "OoD - i.i.d.", "RR")

ROBUSTNESS_TABLE = Table(
    "robustness",
    "Relative robustness by shift",
    ("shift", "questions"),
    lambda found: [
        Row(
            (shift.label, Cell(kind, mark=words_mark(found[0], shift, kind))),
            shift.where(kind),
            estimates=dict.fromkeys(_BY_TEST, ROBUSTNESS[kind]),
        )
        for shift, kind in groups(found[0])
    ],
    (
        Column("n i.i.d.", unit="n", statistic="first"),
        Column("i.i.d.", unit="", digits=2, statistic="first"),
        Column("n OoD", unit="n", statistic="second"),
        Column("OoD", unit="", digits=2, statistic="second"),
        Column("OoD - i.i.d.", unit="", digits=2, statistic="change", signed=True),
        Column("RR", unit="", digits=2, statistic="ratio"),
    ),
    (
        f"Scores by the judge or by exact match ({SCALE}). RR, relative robustness: OoD / i.i.d.; of stars at least "
        "0.2 whatever the model, so not to be compared with that of closed questions. Empty where i.i.d. is 0, or a "
        "test was not run.",
        f"In brackets: {LEVEL} interval over images, of each row by itself; an image in both tests counts as one, so "
        "that it stays paired. n: questions with a score. An RR near 1 is also what guessing gets: compare the i.i.d. "
        "score with that of the run without the image and of the most frequent answers.",
    ),
    marks=MARKS,
)


def lost_benefit(found: Sequence[Source]) -> Frame | None:
    """The drop from the i.i.d. to the OoD test beside the image's benefit; None without a ``_noimage`` task."""
    source = found[0]
    if source.condition:
        return None
    return benefit_table(
        "What is lost of the image's benefit",
        ("shift", "questions"),
        ("i.i.d.", "OoD"),
        source,
        list(_comparisons(source)),
        "image",
        (
            f"Scores: {SCALE}. The two tests have other questions, so each has a floor of its own: a test whose words "
            "tell less drops without any loss of what the image gives. Corrupted tests ask the i.i.d. questions again "
            "and share their floor.",
        ),
    )


def _comparisons(source: Source) -> Iterator[Comparison]:
    blind = rows_without_image(source, {"condition": "no image"})
    for shift, kind in groups(source):
        # A question's answer without its image is the same in every shift of its dataset.
        of_dataset = tuple(each for each in blind.values("shift") if each.partition("_")[0] == shift.dataset)
        floor = floor_of(blind.where({"shift": of_dataset}), kind) if of_dataset else {}
        if floor:
            lost = LostBenefit(measure=kind, bounds=RANGES[kind], floor=floor, first=SIDES["iid"], second=SIDES["ood"])
            yield Comparison((shift.label, kind), lost, shift.where(kind), "")


# --- Tests, replies, judgements ---------------------------------------------------------------------------------------


def _of_test(kind: str) -> dict[str, Any]:
    """By column what stands there of a test's questions of a kind."""
    mean = Mean(measure=kind, bounds=RANGES[kind])
    return {
        "images": Count(function=lambda rows: len(set(rows.scored(kind).column("cluster")))),
        "judged": Count(function=lambda rows: judgement_counts(rows, kind)[0]),
        "wanted": Count(function=lambda rows: judgement_counts(rows, kind)[1]),
        "coverage": coverage(kind),
        "score": mean,
        "score of the answered": mean,
        "missing as worst": bound(kind, "low"),
        "missing as best": bound(kind, "high"),
    }


_OF_TEST = {kind: _of_test(kind) for kind in KINDS}
_HEAD = ("shift", "questions", "test")


def _test_rows(found: Sequence[Source]) -> Iterator[Row]:
    for shift, kind in groups(found[0]):
        for side, name in SIDE_NAMES.items():
            labels = (shift.label, Cell(kind, mark=words_mark(found[0], shift, kind)), name)
            yield Row(labels, shift.where(kind, side), estimates=_OF_TEST[kind])


TESTS = Table(
    "tests",
    "Tests, replies and judgements",
    _HEAD,
    _test_rows,
    (
        Column("asked", row_count, "count"),
        Column("images", unit="count"),
        *(Column(name, outcome_count(name), "count") for name in ("failed", "empty", "cut", "unreadable")),
        Column("judged", unit="count"),
        Column("wanted", unit="count"),
        Column("coverage"),
        Column("score", unit="", digits=2),
        Column("score of the answered", unit="", digits=2, over=answered),
        Column("missing as worst", unit="", digits=2),
        Column("missing as best", unit="", digits=2),
    ),
    (
        "Failed requests have no score and are left out; a reply that is empty, cut (off in its thoughts) or "
        "unreadable (an unknown mark before it) counts as wrong. A missing judgement is never a score. images: of the "
        "questions with a score. The answered: without empty replies, as which the most frequent baseline leaves "
        "questions that do not stand in the training set.",
    ),
    marks=MARKS,
    long=True,
)


def judging(source: Source) -> Mapping[str, judged_tables.Judging]:
    """What became of the judgements, by kind of question and protocol."""
    return judged_tables.judgings(
        source.rows, ["answer_type", "protocol"], lambda kind, protocol: f"{kind} questions ({protocol})"
    )


# --- What a reader must know ------------------------------------------------------------------------------------------


def caveats(source: Source) -> Iterator[Flag]:
    """Empty replies, small tests, shared images, judgements, credentialed data."""
    many_empty = EMPTY_REPLIES.notice(source.rows, outcomes(source.rows)["empty"])
    if many_empty and not baseline_of(source):
        yield Flag("warning", many_empty)
    yield from _test_flags(source)
    yield from _shared_image_flags(source)
    yield from judged_tables.flags(judging(source))
    if any(shift.dataset in CREDENTIALED for shift in shifts(source)):
        yield Flag(
            "note",
            "Credentialed data (PhysioNet): this report holds aggregate numbers, no question, answer, image or id.",
        )


def _test_flags(source: Source) -> Iterator[Flag]:
    sizes = [
        (f"{shift.label}, {kind}", len(source.rows.where(shift.where(kind, "ood")))) for shift, kind in groups(source)
    ]
    small = [f"{name} {size}" for name, size in sizes if 0 < size < SMALL]
    if small:
        text = f"OoD tests of fewer than {SMALL} questions, whose RR says little without its interval: "
        yield Flag("warning", text + "; ".join(small) + ".")


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
        View("benefit", "Above what language alone gets", (lost_benefit,)),
        View("published", "Beside the paper", report_published.SHIFT_TABLES),
        View("corruptions", "Corruptions beside real shifts", (report_published.own_corruptions,)),
        View("judgements", "Tests and judgements", (TESTS, *judged_tables.judging_tables(judging))),
    ),
    compared=(),
    caveats=caveats,
    sources=sources,
    compare=report_across.compare,
)
