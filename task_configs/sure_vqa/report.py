"""SURE-VQA's report and its first screen. Nothing here can move a number.

``report_published.py`` has shifts and the paper's tables, ``report_paper.py`` the paper's tests.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from lmms_medtasks.errors import UserError
from lmms_medtasks.report import judged_tables
from lmms_medtasks.report.charts import Chart
from lmms_medtasks.report.charts.plane_panels import largest_fall
from lmms_medtasks.report.document import Cell, Frame, ReportNotice
from lmms_medtasks.report.findings import Change, FindingChart, Number, Span
from lmms_medtasks.report.headlines import BoardColumn, Headline
from lmms_medtasks.report.report_options import ReportOptions
from lmms_medtasks.report.shared_sections import ImageBenefitRow, benefit_table, rows_without_image
from lmms_medtasks.report.suite_report import SuiteReportSpec, sources_by_model
from lmms_medtasks.report.views import (
    CellFunction,
    ColumnSpec,
    ModelResults,
    RowSpec,
    SectionSpec,
    TableSpec,
    row_count,
)
from lmms_medtasks.samples.result_files import ResultFile
from lmms_medtasks.samples.table import QuestionTable
from lmms_medtasks.short_texts import count_noun
from lmms_medtasks.statistics.confidence import LEVEL
from lmms_medtasks.suites.common_metrics import outcome_count
from lmms_medtasks.suites.estimates import Macro, MacroContrast, Mean
from lmms_medtasks.suites.image_benefit import LostBenefit, floor_of
from lmms_medtasks.suites.suite import Suite
from lmms_medtasks.task_configs.sure_vqa import report_paper
from lmms_medtasks.task_configs.sure_vqa import report_published as published
from lmms_medtasks.task_configs.sure_vqa.measures import KINDS, RANGES, ROBUSTNESS, SIDES

SMALL = 100
"""An OoD test with fewer questions of a kind is called small: the standard error of a share of one half is then 0.05 or
more, even for independent questions. Our choice."""


# --- Sources ----------------------------------------------------------------------------------------------------------
def results_by_shift(
    suite: Suite, runs: Sequence[ResultFile], table: QuestionTable, options: ReportOptions
) -> list[ModelResults]:
    """The results of each model, separately with and without images; no results join runs of two judges.

    A shift's two tests may be one task or two (``*_iid``, ``*_ood``), of one run or of two. Raises UserError if a
    question of a shift is in two tasks of a run.
    """
    repeated = table.where({"repeated": True})
    if len(repeated):
        question, shift, run, task, line = (repeated.column(name)[0] for name in ("id", "shift", "run", "task", "line"))
        raise UserError(
            f"{runs[run].samples_file(task)}, line {line}: question {question!r} of "
            f"{published.PublishedShift.of(shift).label} was asked by another task of this run too. Run a shift's "
            "task, or its *_iid and *_ood ones, not both."
        )
    models = sources_by_model(suite, runs, table, options, apart=("condition",), once=("shift", "set"), one_judge=True)
    return [model if model.condition else replace(model, name=f"{model.name} (with images)") for model in models]


# --- Robustness -------------------------------------------------------------------------------------------------------
_BY_TEST = ("n i.i.d.", "i.i.d.", "n OoD", "OoD", "OoD - i.i.d.", "RR")

ROBUSTNESS_TABLE = TableSpec(
    "robustness",
    "Relative robustness by shift",
    ("shift", "questions"),
    lambda sources: [
        RowSpec(
            (shift.label, Cell(kind, mark=published.words_mark(sources[0], shift, kind))),
            shift.where(kind),
            estimates=dict.fromkeys(_BY_TEST, ROBUSTNESS[kind]),
        )
        for shift, kind in published.shift_groups(sources[0])
    ],
    (
        ColumnSpec("n i.i.d.", unit="n", statistic="first"),
        ColumnSpec("i.i.d.", unit="", digits=2, statistic="first"),
        ColumnSpec("n OoD", unit="n", statistic="second"),
        ColumnSpec("OoD", unit="", digits=2, statistic="second"),
        ColumnSpec("OoD - i.i.d.", unit="", digits=2, statistic="change", signed=True),
        ColumnSpec("RR", unit="", digits=2, statistic="ratio"),
    ),
    (
        f"Scores by the judge or by exact match ({published.SCALE}). RR, relative robustness: OoD / i.i.d.; of stars "
        "at least 0.2 whatever the model, so not to be compared with that of closed questions. Empty where i.i.d. is "
        "0, or a test was not run.",
        f"In brackets: {LEVEL} interval over images, of each row by itself; an image in both tests counts as one, so "
        "that it stays paired. n: questions with a score. An RR near 1 is also what guessing gets: compare the i.i.d. "
        "score with that of the run without the image and of the most frequent answers.",
    ),
    marks=published.MARKS,
)


def lost_benefit(sources: Sequence[ModelResults]) -> Frame | None:
    """The drop from the i.i.d. to the OoD test, and the image's benefit; None without a ``_noimage`` task."""
    source = sources[0]
    if source.condition:
        return None
    return benefit_table(
        "What is lost of the image's benefit",
        ("shift", "questions"),
        ("i.i.d.", "OoD"),
        source,
        list(_benefit_comparisons(source)),
        "image",
        (
            f"Scores: {published.SCALE}. The two tests have other questions, so each has a floor of its own: a test "
            "whose words tell less drops without any loss of what the image gives. Corrupted tests ask the i.i.d. "
            "questions again and share their floor.",
        ),
    )


def _benefit_comparisons(source: ModelResults) -> Iterator[ImageBenefitRow]:
    blind = rows_without_image(source, {"condition": "no image"})
    for shift, kind in published.shift_groups(source):
        # A question's answer without its image is the same in every shift of its dataset.
        of_dataset = tuple(tag for tag in blind.values("shift") if tag.partition("_")[0] == shift.dataset)
        floor = floor_of(blind.where({"shift": of_dataset}), kind) if of_dataset else {}
        if floor:
            lost = LostBenefit(measure=kind, bounds=RANGES[kind], floor=floor, first=SIDES["iid"], second=SIDES["ood"])
            yield ImageBenefitRow((shift.label, kind), lost, shift.where(kind), "")


# --- Tests, replies, judgements ---------------------------------------------------------------------------------------
_JUDGED = {kind: judged_tables.judged_columns("score", Mean(measure=kind, bounds=RANGES[kind]), kind) for kind in KINDS}


def _test_rows(sources: Sequence[ModelResults]) -> Iterator[RowSpec]:
    for shift, kind in published.shift_groups(sources[0]):
        for side, name in published.SIDE_NAMES.items():
            labels = (shift.label, Cell(kind, mark=published.words_mark(sources[0], shift, kind)), name)
            of_kind = {column.name: column.of for column in _JUDGED[kind]}
            of_kind["score of the answered"] = of_kind["score"]
            yield RowSpec(labels, shift.where(kind, side), estimates=of_kind)


TESTS = TableSpec(
    "tests",
    "Tests, replies and judgements",
    ("shift", "questions", "test"),
    _test_rows,
    (
        ColumnSpec("asked", row_count, "count"),
        *(ColumnSpec(name, outcome_count(name), "count") for name in ("failed", "empty", "cut", "unreadable")),
        *(replace(column, of=None) for column in _JUDGED["closed"]),
        ColumnSpec("score of the answered", unit="", digits=2, over=published.questions_answered),
    ),
    (
        "Failed requests have no score and are left out; a reply that is empty, cut (off in its thoughts) or "
        "unreadable (an unknown mark before it) counts as wrong. A missing judgement is never a score. The answered: "
        "without empty replies, as which the most frequent baseline leaves questions that do not stand in the training "
        "set.",
    ),
    marks=published.MARKS,
    long=True,
)


def judgings_of_tests(source: ModelResults) -> Mapping[str, judged_tables.JudgingSummary]:
    """The state of the judgements, by kind of question and protocol."""
    return judged_tables.summarize_judgings(
        source.rows, ["answer_type", "protocol"], lambda kind, protocol: f"{kind} questions ({protocol})"
    )


# --- What a reader must know ------------------------------------------------------------------------------------------
def shift_caveats(source: ModelResults) -> Iterator[ReportNotice]:
    """Small tests, judgements, credentialed data."""
    groups = published.shift_groups(source)
    sizes = [(group.label, len(source.rows.where(group.shift.where(group.kind, "ood")))) for group in groups]
    small = [f"{name} {size}" for name, size in sizes if 0 < size < SMALL]
    if small:
        text = f"OoD tests of fewer than {SMALL} questions, whose RR says little without its interval: "
        yield ReportNotice("warning", text + "; ".join(small) + ".")
    yield from judged_tables.judging_notices(judgings_of_tests(source))
    if any(shift.dataset == "mimic" for shift in published.requested_shifts(source)):
        yield ReportNotice(
            "note",
            "Credentialed data (PhysioNet): this report holds aggregate numbers, no question, answer, image or id.",
        )


# --- The chart --------------------------------------------------------------------------------------------------------
_KIND = "closed"
_ROBUST = ROBUSTNESS[_KIND]
_UNTUNED = "LLaVA-Med 1.5: No fine-tuning"
_BASELINES = {_UNTUNED: "LLaVA-Med 1.5 without fine-tuning", "Most frequent": "most frequent answers"}
"""The paper's baselines: the first has both tests of each shift, the other the i.i.d. tests of two datasets."""
_TESTS = dict(zip(SIDES, ("i.i.d.", "shifted"), strict=True))


def _printed_baseline(shift: published.PublishedShift, baseline: str) -> dict[str, CellFunction | None]:
    """A baseline of the paper on a shift, by test, None without a number; {} if the paper has no row of it."""
    cells: dict[str, CellFunction | None] = {}
    for row in (row for row in shift.printed().rows() if row.texts["model"] == baseline):
        for side, test in _TESTS.items():
            numbers = row.values(f"{_KIND}_{side}")
            cells[test] = published.as_cell(Cell(100 * numbers[0])) if numbers else None
    return cells


def _complete_shifts(source: ModelResults) -> list[published.PublishedShift]:
    """The shifts with both tests, the largest fall first."""
    shifts = published.requested_shifts(source)
    changes = [(source.interval(_ROBUST, shift.where(_KIND), "change").estimate, shift) for shift in shifts]
    return [shift for _, shift in sorted((change, shift) for change, shift in changes if change is not None)]


def _shift_rows(sources: Sequence[ModelResults]) -> Iterator[RowSpec]:
    (source,) = sources
    guess = dict.fromkeys(_TESTS.values(), published.as_cell(Cell(100 * published.GUESSING[_KIND])))
    for shift in _complete_shifts(source):
        dataset, name = shift.label.split(", ")
        label = f"{dataset.partition('-')[0]} {name}"  # "MIMIC age": short enough for a column of a page
        strength = "corrupted" if shift.strength else "real"
        yield RowSpec((label, published.checkpoint_name(source), strength), shift.where(_KIND))
        for baseline, title in _BASELINES.items():
            if cells := _printed_baseline(shift, baseline):
                yield RowSpec((label, title, ""), kind="reference", estimates=cells)
        yield RowSpec((label, "uniform guessing", ""), kind="counts", estimates=guess, estimates_only=True)


SLOPES = Chart(
    "plane",
    "shifts",
    "Closed questions, i.i.d. and shifted",
    "A line a shift, from the i.i.d. test (data as the paper's models were trained on) to the shifted one. Orange: the "
    f"largest fall. Bars: {LEVEL} intervals over images. Grey lines: "
    f"{_BASELINES[_UNTUNED]}, from the paper and on its data. Squares: always the most frequent answer, which the "
    "paper prints for i.i.d. tests only. Dashed: guessing.",
    TableSpec(
        "shifts",
        "Closed questions, i.i.d. and shifted",
        ("shift", "model", "strength"),
        _shift_rows,
        (
            ColumnSpec(_TESTS["iid"], _ROBUST, statistic="first", bare=True),
            ColumnSpec(_TESTS["ood"], _ROBUST, statistic="second"),
        ),
    ),
    tuple(_TESTS.values()),
    group="model",
    joined=True,
    names="ends",
    worst=True,
    scale="fitted",
    axis=("", "correct, percent"),
    numbers="robustness",
)
_SKETCH = replace(SLOPES, where={"strength": "real"}, group="")


def _slope_sketch(source: ModelResults) -> FindingChart | None:
    """The lines of the real shifts, with the number of the largest fall only; None without a shift."""
    known = [mark for mark in _SKETCH.marks([source]) if mark.y.value is not None]
    own = [mark for mark in known if mark.kind == "run"]
    if not own:
        return None
    count, worst = count_noun(len({mark.row for mark in own}), "shift"), largest_fall(own)
    orange = f"; orange: the largest fall, {worst}" if worst else ""
    grey = f"; grey: {_BASELINES[_UNTUNED]}" if any(mark.is_published for mark in known) else ""
    return FindingChart(_SKETCH.small(source), f"correct (%), {count}{orange}{grey}")


# --- The first screen -------------------------------------------------------------------------------------------------
def _headline_shifts(source: ModelResults) -> list[list[published.PublishedShift]]:
    """First the shift that represents the benchmark; then, or without it, the mean of all shifts.

    These are shifts of real data with scored closed questions of both tests, with the image.
    """
    groups = [] if source.condition else published.shift_groups(source)
    shifts = [
        shift
        for shift, kind in groups
        if kind == _KIND
        and not shift.strength
        and all(published.shift_estimate(source, shift, _KIND, side).n for side in SIDES)
    ]
    first = [shift for shift in shifts if shift == published.PublishedShift.of(published.MAIN_SHIFT)] or shifts
    return [chosen for chosen in ([first] if len(first) == len(shifts) else [first, shifts]) if chosen]


def _headline_numbers(source: ModelResults) -> Iterator[Number]:
    """Each the mean over the chosen shifts, of i.i.d. and of shifted questions."""
    for number, chosen in enumerate(_headline_shifts(source)):
        where = {**KINDS[_KIND], "shift": tuple(f"{shift.dataset}_{shift.name}" for shift in chosen)}
        for side, test in _TESTS.items():
            estimate = Macro(measure=_KIND, groups=tuple(shift.where(_KIND, side) for shift in chosen))
            # The shortest sentence is about the shifted questions of the first alone.
            words = test if number or side == "iid" else "on shifted closed questions"
            words += f" ({_name_shifts(chosen)})" if side == "ood" else ""
            yield Number(
                f"{test}, {_name_shifts(chosen)}", words, estimate, where, chance=published.GUESSING[_KIND],
                published=published_tables_alone(chosen, side), main=not number and side == "ood",
            )  # fmt: skip


def _headline_changes(source: ModelResults) -> Iterator[Change]:
    for chosen in _headline_shifts(source):
        iid, ood = (tuple(shift.where(_KIND, side) for shift in chosen) for side in SIDES)
        change = MacroContrast(measure=_KIND, first=iid, second=ood)
        yield Change(source.interval(change), f"{'in the' if len(chosen) > 1 else 'under'} {_name_shifts(chosen)}")


def _name_shifts(shifts: Sequence[published.PublishedShift]) -> str:
    return shifts[0].label.replace(", ", " ") if len(shifts) == 1 else f"mean of {len(shifts)} shifts"


def published_tables_alone(shifts: Sequence[published.PublishedShift], side: str) -> Span | None:
    """The range of the paper's methods, each by its mean over these shifts; None if no method has all of them."""
    printed = [
        {row.texts["model"]: value for row in shift.printed().rows() for value in row.values(f"{_KIND}_{side}")}
        for shift in shifts
    ]
    complete = [model for model in printed[0] if all(model in scores for scores in printed)]
    means = [100 * sum(scores[model] for scores in printed) / len(printed) for model in complete]
    return (min(means), max(means)) if means else None


def _board_column(task: str, side: str, words: str, heads: bool = True) -> BoardColumn:
    return BoardColumn(task, f"closed_{side}", words, heads, ("", "closed_iid") if side == "ood" else None)


HEADLINE = Headline(
    _headline_numbers,
    "closed questions under shift",
    (
        _board_column(
            f"sure_{published.MAIN_SHIFT}", "ood", "on closed questions of an unseen modality, one of 7 shifts"
        ),
        _board_column("sure_*", "ood", "on closed questions under shift"),
        BoardColumn("sure_*", "closed*"),
        BoardColumn("sure_*", "*"),
        _board_column("sure_*", "iid", "on i.i.d. ones", heads=False),
        BoardColumn("sure_*", "open_ood", "on open questions under shift", heads=False),
        BoardColumn("sure_*", "open_iid", "on i.i.d. ones", heads=False),
    ),
    changes=_headline_changes,
    sketch=_slope_sketch,
)


# --- The sections -----------------------------------------------------------------------------------------------------
REPORT = SuiteReportSpec(
    is_whole=True,
    headline=HEADLINE,
    guessing=published.GUESSING,
    views=(
        SectionSpec("robustness", "Robustness to shifts", (ROBUSTNESS_TABLE,), (SLOPES,)),
        SectionSpec("benefit", "Above what language alone gets", (lost_benefit,)),
        SectionSpec("published", "Beside the paper", published.SHIFT_TABLES),
        SectionSpec("corruptions", "Corruptions beside real shifts", (published.CORRUPTIONS.filled,)),
        SectionSpec("judgements", "Tests and judgements", (TESTS, *judged_tables.judging_tables(judgings_of_tests))),
    ),
    compared=(
        SectionSpec("joined", "Beside the published methods", (*published.SHIFT_TABLES, published.OTHER_SHIFTS)),
        SectionSpec("tested", "More than guessing", (report_paper.baseline_table,)),
        SectionSpec("corruptions", "Corruptions beside real shifts", (published.CORRUPTIONS.filled,)),
        SectionSpec("paper-tests", "As the paper tests it", (report_paper.variance_tables,)),
    ),
    caveats=shift_caveats,
    compared_caveats=report_paper.compared_caveats,
    sources=results_by_shift,
    mark=report_paper.mark_rows,
)
