"""SURE-VQA's report and its first screen. Nothing here can move a number.

``report_published.py`` has shifts and the paper's tables, ``report_paper.py`` what the paper tests.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from lmms_medtasks.errors import UserError
from lmms_medtasks.report import judged_tables
from lmms_medtasks.report.charts import Chart
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
from lmms_medtasks.statistics.confidence import LEVEL
from lmms_medtasks.suites.common_metrics import outcome_count
from lmms_medtasks.suites.estimates import Macro, MacroContrast, Mean
from lmms_medtasks.suites.image_benefit import LostBenefit, floor_of
from lmms_medtasks.suites.suite import Suite
from lmms_medtasks.task_configs.sure_vqa import report_paper
from lmms_medtasks.task_configs.sure_vqa import report_published as published
from lmms_medtasks.task_configs.sure_vqa.measures import KINDS, RANGES, ROBUSTNESS, SIDES

SMALL = 100
"""Questions of a kind in an OoD test below which it is called small: the standard error of a share of one half is then
0.05 or more, were the questions independent. Our choice."""


# --- Sources ----------------------------------------------------------------------------------------------------------
def results_by_shift(
    suite: Suite, runs: Sequence[ResultFile], table: QuestionTable, options: ReportOptions
) -> list[ModelResults]:
    """A source for each model, with and without images apart; no source has verdicts of two judges out of two runs.

    A shift's two tests may be one task or two (``*_iid``, ``*_ood``), of one run or of two. Raises UserError when a
    question of a shift is in two tasks of a run.
    """
    again = table.where({"repeated": True})
    if len(again):
        question, shift, run, task, line = (again.column(name)[0] for name in ("id", "shift", "run", "task", "line"))
        raise UserError(
            f"{runs[run].samples_file(task)}, line {line}: question {question!r} of {published.PublishedShift.of(shift).label} "
            "was asked by another task of this run too. Run a shift's task, or its *_iid and *_ood ones, not both."
        )
    found = sources_by_model(suite, runs, table, options, apart=("condition",), once=("shift", "set"), one_judge=True)
    return [each if each.condition else replace(each, name=f"{each.name} (with images)") for each in found]


# --- Robustness -------------------------------------------------------------------------------------------------------
_BY_TEST = ("n i.i.d.", "i.i.d.", "n OoD", "OoD", "OoD - i.i.d.", "RR")

ROBUSTNESS_TABLE = TableSpec(
    "robustness",
    "Relative robustness by shift",
    ("shift", "questions"),
    lambda found: [
        RowSpec(
            (shift.label, Cell(kind, mark=published.words_mark(found[0], shift, kind))),
            shift.where(kind),
            estimates=dict.fromkeys(_BY_TEST, ROBUSTNESS[kind]),
        )
        for shift, kind in published.shift_groups(found[0])
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
        f"Scores by the judge or by exact match ({published.SCALE}). RR, relative robustness: OoD / i.i.d.; of stars at least "
        "0.2 whatever the model, so not to be compared with that of closed questions. Empty where i.i.d. is 0, or a "
        "test was not run.",
        f"In brackets: {LEVEL} interval over images, of each row by itself; an image in both tests counts as one, so "
        "that it stays paired. n: questions with a score. An RR near 1 is also what guessing gets: compare the i.i.d. "
        "score with that of the run without the image and of the most frequent answers.",
    ),
    marks=published.MARKS,
)


def lost_benefit(found: Sequence[ModelResults]) -> Frame | None:
    """The drop from the i.i.d. to the OoD test beside the image's benefit; None without a ``_noimage`` task."""
    source = found[0]
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
            f"Scores: {published.SCALE}. The two tests have other questions, so each has a floor of its own: a test whose "
            "words tell less drops without any loss of what the image gives. Corrupted tests ask the i.i.d. questions "
            "again and share their floor.",
        ),
    )


def _benefit_comparisons(source: ModelResults) -> Iterator[ImageBenefitRow]:
    blind = rows_without_image(source, {"condition": "no image"})
    for shift, kind in published.shift_groups(source):
        # A question's answer without its image is the same in every shift of its dataset.
        of_dataset = tuple(each for each in blind.values("shift") if each.partition("_")[0] == shift.dataset)
        floor = floor_of(blind.where({"shift": of_dataset}), kind) if of_dataset else {}
        if floor:
            lost = LostBenefit(measure=kind, bounds=RANGES[kind], floor=floor, first=SIDES["iid"], second=SIDES["ood"])
            yield ImageBenefitRow((shift.label, kind), lost, shift.where(kind), "")


# --- Tests, replies, judgements ---------------------------------------------------------------------------------------
_JUDGED = {kind: judged_tables.judged_columns("score", Mean(measure=kind, bounds=RANGES[kind]), kind) for kind in KINDS}


def _test_rows(found: Sequence[ModelResults]) -> Iterator[RowSpec]:
    for shift, kind in published.shift_groups(found[0]):
        for side, name in published.SIDE_NAMES.items():
            labels = (shift.label, Cell(kind, mark=published.words_mark(found[0], shift, kind)), name)
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
    """What became of the judgements, by kind of question and protocol."""
    return judged_tables.summarize_judgings(
        source.rows, ["answer_type", "protocol"], lambda kind, protocol: f"{kind} questions ({protocol})"
    )


# --- What a reader must know ------------------------------------------------------------------------------------------
def shift_caveats(source: ModelResults) -> Iterator[ReportNotice]:
    """Small tests, judgements, credentialed data."""
    sizes = [
        (group.label, len(source.rows.where(group.shift.where(group.kind, "ood"))))
        for group in published.shift_groups(source)
    ]
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
    """A baseline of the paper on a shift, by test, None where it has no number; {} where the paper has no row of it."""
    found: dict[str, CellFunction | None] = {}
    for row in (each for each in shift.printed().rows() if each.texts["model"] == baseline):
        for side, test in _TESTS.items():
            numbers = row.values(f"{_KIND}_{side}")
            found[test] = published.as_cell(Cell(100 * numbers[0])) if numbers else None
    return found


def _complete_shifts(source: ModelResults) -> list[published.PublishedShift]:
    """The shifts with both tests, the largest fall first."""
    changes = [
        (source.interval(_ROBUST, each.where(_KIND), "change").estimate, each)
        for each in published.requested_shifts(source)
    ]
    return [shift for _, shift in sorted((change, shift) for change, shift in changes if change is not None)]


def _shift_rows(sources: Sequence[ModelResults]) -> Iterator[RowSpec]:
    """The shifts of a source, each with the paper's baselines and a guess."""
    (source,) = sources
    guess = dict.fromkeys(_TESTS.values(), published.as_cell(Cell(100 * published.GUESSING[_KIND])))
    for shift in _complete_shifts(source):
        yield RowSpec(
            (_shift_label(shift), published.checkpoint_name(source), "corrupted" if shift.strength else "real"),
            shift.where(_KIND),
        )
        for baseline, said in _BASELINES.items():
            if cells := _printed_baseline(shift, baseline):
                yield RowSpec((_shift_label(shift), said, ""), kind="reference", estimates=cells)
        yield RowSpec((_shift_label(shift), "uniform guessing", ""), kind="counts", estimates=guess)


def _shift_label(shift: published.PublishedShift) -> str:
    """``MIMIC age``: short enough for a column of a page."""
    dataset, name = shift.label.split(", ")
    return f"{dataset.partition('-')[0]} {name}"


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
    """The lines of the real shifts without their names but that of the largest fall; None without a shift."""
    known = [mark for mark in _SKETCH.marks([source]) if mark.y.value is not None]
    own = {each.row for each in known if each.kind == "run"}
    if not own:
        return None
    svg = _SKETCH.small(source)
    orange = "; orange: the largest fall" if 'class="harm"' in svg else ""
    grey = f"; grey: {_BASELINES[_UNTUNED]}" if any(each.is_published for each in known) else ""
    return FindingChart(svg, f"closed questions correct (%), {len(own)} shift{'s' * (len(own) > 1)}{orange}{grey}")


# --- The first screen -------------------------------------------------------------------------------------------------
def _both_tests(source: ModelResults) -> list[published.PublishedShift]:
    """The shifts of real data with scored closed questions of both tests, with the image."""
    own = [
        shift
        for shift, kind in published.shift_groups(source)
        if kind == _KIND and not shift.strength and not source.condition
    ]
    return [
        each
        for each in own
        if all(source.interval(ROBUSTNESS[_KIND], each.where(_KIND), published.STATISTICS[side]).n for side in SIDES)
    ]


def _headline_shifts(source: ModelResults) -> list[list[published.PublishedShift]]:
    """The shift that stands for the benchmark first; without it, or beside other shifts, the mean of all."""
    both = _both_tests(source)
    first = [each for each in both if each == published.PublishedShift.of(published.MAIN_SHIFT)] or both
    return [each for each in ([first] if len(first) == len(both) else [first, both]) if each]


def _headline_numbers(source: ModelResults) -> Iterator[Number]:
    """Each the mean over the chosen shifts, of i.i.d. and of shifted questions."""
    for number, chosen in enumerate(_headline_shifts(source)):
        where = {**KINDS[_KIND], "shift": tuple(f"{each.dataset}_{each.name}" for each in chosen)}
        for side, said in _TESTS.items():
            estimate = Macro(measure=_KIND, groups=tuple(each.where(_KIND, side) for each in chosen))
            # The shortest sentence is about the shifted questions of the first alone.
            words = said if number or side == "iid" else "on shifted closed questions"
            words += f" ({_name_shifts(chosen)})" if side == "ood" else ""
            yield Number(
                f"{said}, {_name_shifts(chosen)}", words, estimate, where, chance=published.GUESSING[_KIND],
                published=published_tables_alone(chosen, side), main=not number and side == "ood",
            )  # fmt: skip


def _headline_changes(source: ModelResults) -> Iterator[Change]:
    for chosen in _headline_shifts(source):
        of_side = {side: tuple(each.where(_KIND, side) for each in chosen) for side in SIDES}
        change = MacroContrast(measure=_KIND, first=of_side["iid"], second=of_side["ood"])
        yield Change(source.interval(change), f"{'in the' if len(chosen) > 1 else 'under'} {_name_shifts(chosen)}")


def _name_shifts(shifts: Sequence[published.PublishedShift]) -> str:
    return shifts[0].label.replace(", ", " ") if len(shifts) == 1 else f"mean of {len(shifts)} shifts"


def published_tables_alone(shifts: Sequence[published.PublishedShift], side: str) -> Span | None:
    """Least and most of the paper's methods, each its mean over these shifts; None where the paper lacks one."""
    printed = [
        {row.texts["model"]: value for row in each.printed().rows() for value in row.values(f"{_KIND}_{side}")}
        for each in shifts
    ]
    named = [name for name in printed[0] if all(name in each for each in printed)]
    means = [100 * sum(each[name] for each in printed) / len(printed) for name in named]
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
