"""Every number of the harness's table stands, to the last bit, wherever the report or the leaderboard prints it too.

A place is named by the labels that a reader sees: table, row, column. What no view prints is listed by name, so that a
new metric is either placed or left out on purpose.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import pytest

from lmms_medtasks.board.boards import Leaderboard
from lmms_medtasks.board.collect import collect_entries
from lmms_medtasks.board.site.board_tables import BoardStandings, PageLinks, ranking_table
from lmms_medtasks.board.site.model_page import model_score_table
from lmms_medtasks.report import ReportOptions, build_report
from lmms_medtasks.report.document import PUBLISHED, Cell, Frame, FrameColumn
from lmms_medtasks.report.first_screen import ReportDocument
from lmms_medtasks.report.report_options import RESAMPLES
from lmms_medtasks.samples.result_files import ResultFile
from lmms_medtasks.suites.common_metrics import JUDGED_NAMES, READ_NAMES

REORDERED = 1e-12
"""Largest difference of two means over the same numbers that are added in another order."""


class Place(NamedTuple):
    """Where a report prints a metric.

    ``row``: patterns, each of which a text cell of the row fits, of one row only. ``column``: a pattern of its name.
    ``factor``: what the harness's number is multiplied by there; 100 under a head with % or points, else 1, unless
    given. ``end``: a cell's value, or an end of its interval. ``reordered``: the view adds the same numbers in another
    order.
    """

    metric: str
    table: str
    row: tuple[str, ...]
    column: str
    factor: float | None = None
    end: str = "value"
    reordered: bool = False


# --- Where each benchmark's report prints the metrics of a task -------------------------------------------------------

FORMATS = {"detection_mcq": "A *", "detection_open": "B *", "referring_mcq": "C *", "referring_open": "D *",
           "visual_referring": "E *"}  # fmt: skip


def medobvious(task: str) -> Iterator[Place]:
    yield Place("accuracy", "signs", ("this run*",), "all questions")
    for name, column in FORMATS.items():
        yield Place(f"accuracy_{name}", "formats", ("this run*",), column)
    for name in ("positive", "negative"):
        yield Place(f"accuracy_{name}", "signs", ("this run*",), name)
    for tier in range(1, 6):
        yield Place(f"accuracy_t{tier}", "tiers", ("this run*",), f"T{tier}")
    yield Place("questions", "signs", ("this run*",), "questions")
    yield Place("balanced_accuracy", "signs", ("this run*",), "balanced")
    yield Place("paper_average", "signs", ("this run*",), "Avg")
    for asked in ("detection", "referring"):
        yield Place(f"format_gap_{asked}", "gaps", (asked,), "gap")
        for form, column in (("mcq", "multiple choice"), ("open", "open")):
            if asked == "detection":  # of referring, the gap is over the items that have both forms
                yield Place(f"accuracy_{asked}_{form}", "gaps", (asked,), column)
    for name, row in {"": "both", "_positive": "grid with*", "_negative": "grids without*"}.items():
        yield Place(f"consistency{name}", "agreements", (row,), "agree")
    yield Place("false_alarm_rate", "alarms", ("all formats",), "false alarms")
    yield Place("abstention_rate", "alarms", ("all formats",), "abstentions")


LEVELS = (0, 1, 2)


def medq_deg(task: str) -> Iterator[Place]:
    for level in LEVELS:
        row = (f"L{level}",)
        yield Place(f"accuracy_l{level}", "levels", row, "accuracy")
        yield Place(f"accuracy_l{level}", "table6", ("this run*read as in our accuracy*",), f"L{level}", 100)
        yield Place(f"accuracy_paper_rule_l{level}", "table6", ("this run*paper's rule*",), f"L{level}", 100)
        yield Place(f"accuracy_l{level}", "calibration", row, "accuracy")
        yield Place(f"confidence_l{level}", "calibration", row, "confidence C")
        yield Place(f"shift_l{level}", "calibration", row, "shift")
        yield Place(f"shift_size_l{level}", "calibration", row, "distance from 0")
        yield Place(f"agreement_l{level}", "calibration_errors", row, "agreement")
        yield Place(f"agreement_shift_l{level}", "calibration_errors", row, "agreement less accuracy")
        for name, column in (("ece_share_10", "ECE"), ("brier_share", "Brier"), ("aurc_share", "AURC")):
            yield Place(f"{name}_l{level}", "calibration_errors", row, column)
        if level:
            yield Place(f"drop_l{level}", "levels", row, "minus L0", -100)
            yield Place(f"drop_l{level}", "table6", ("this run*read as in our accuracy*",), f"L{level}-L0", -100)
    for name, table, printed in (("capability", "capabilities", "table2"), ("category", "categories", "table3")):
        yield Place(f"{name}_macro", table, ("Average over these",), "accuracy")
        yield Place(f"{name}_macro", printed, ("this run*",), "Avg.", 100)
    pairs = ("each question with its own clean form",)
    yield Place("dke_intra_null", "dke", pairs, "yes if nothing changes", 100)
    yield Place("dke_intra_p", "dke", pairs, "p")


DIMENSIONS = ("sod", "fdd", "su", "tp", "cr", "ltg", "msi")
SCORES = ("consistency", "coherence", "visual_accuracy", "ground_truth_correctness", "total")


def med_cmr(task: str) -> Iterator[Place]:
    end = "_noimage" if task.endswith("_noimage") else ""
    yield Place("failed_requests", "replies", (task,), "failed")
    for name in ("unreadable", "cut", "empty", *(["refused"] if "mcq" in task else [])):
        yield Place(f"{name}_replies", "replies", (task,), name)
    if "circular" in task:
        yield Place("circular_accuracy", "circular", ("right under every rotation",), "accuracy")
    elif "mcq" in task:
        table = f"mcq{end}"
        yield Place("questions", table, ("All questions",), "questions")
        yield Place("accuracy", table, ("All questions",), "accuracy")
        yield Place("visual_mean", table, ("*visual dimensions",), "accuracy")
        yield Place("reasoning_mean", table, ("*reasoning dimensions",), "accuracy")
        for name in DIMENSIONS:
            yield Place(f"accuracy_{name}", table, (f"*({name.upper()})",), "accuracy")
            if not end:
                yield Place(f"accuracy_{name}", "main", ("this run*",), name.upper(), 100)
        if not end:
            yield Place("accuracy", "main", ("this run*",), "MCQ All", 100)
    else:
        table, row = f"open_dimensions{end}", ("All questions",)
        for name in SCORES:
            yield Place(name, table, row, name.replace("_", " "))
        yield Place("bound_worst", table, row, "missing as worst")
        yield Place("bound_best", table, row, "missing as best")
        for name in DIMENSIONS:
            yield Place(f"total_{name}", table, (f"*({name.upper()})",), "total")
        yield Place("both_parts", table, row, "both parts")
        yield Place("exact_match", table, row, "the reference's words")
        yield Place("coverage", "judgements", (task,), "coverage")
        if not end:
            yield Place("total", "main", ("this run*",), "Open All")


SHIFTS = {"slake_modality": "SLAKE, modality", "mimic_age": "MIMIC-CXR-VQA, age"}
TESTS = {"iid": "i.i.d.", "ood": "OoD"}


def sure_vqa(task: str) -> Iterator[Place]:
    name = task.removeprefix("sure_").removesuffix("_noimage")
    shift = SHIFTS[name]
    published = f"published_{task.removeprefix('sure_')}"
    for kind in ("closed", "open"):
        yield Place(f"{kind}_rr", "robustness", (shift, f"{kind}*"), "RR")
        if kind == "closed" or published == f"published_{name}":
            yield Place(f"{kind}_rr", published, ("this run*",), f"{kind} RR")
        for test, head in TESTS.items():
            metric, row = f"{kind}_{test}", (shift, f"{kind}*", head)
            yield Place(metric, "robustness", (shift, f"{kind}*"), head)
            if kind == "closed" or published == f"published_{name}":
                yield Place(metric, published, ("this run*",), f"{kind} {head}")
            yield Place(metric, "tests", row, "score")
            yield Place(f"{metric}_worst", "tests", row, "missing as worst")
            yield Place(f"{metric}_best", "tests", row, "missing as best")


TASKS = {"t1": "I", "t2": "II", "t3": "III", "t4": "IV", "t5": "V", "t6": "VI", "t7": "VII", "t8": "VIII"}
SITES = ("knee", "hip", "shoulder", "ankle", "elbow", "wrist", "spine")


def bones_joints(task: str) -> Iterator[Place]:
    if task == "bones_joints_structured":
        # The harness's table has the mean of the tasks' numbers, the report the macro mean of one draw.
        yield Place("accuracy", "gap", ("I to III *", "images"), "multiple choice", reordered=True)
    elif task == "bones_joints_open":
        yield Place("accuracy", "gap", ("I to III *", "images"), "open answers", reordered=True)
    else:
        number = TASKS[task.removeprefix("bones_joints_")[:2]]
        group = f"{number}, no image" if task.endswith("_noimage") else number
        row = (f"{group}: *",)
        yield Place("questions", "tasks", row, "questions")
        yield Place("accuracy", "tasks", row, "accuracy")
        yield Place("accuracy_low", "tasks", row, "accuracy", end="low")
        yield Place("accuracy_high", "tasks", row, "accuracy", end="high")
        if group == number:
            yield Place("accuracy", "main", ("this run*", "images"), number)
        for site in SITES:
            yield Place(f"accuracy_{site}", "sites", (site,), group)
        for name in ("unreadable", "cut", "empty", *(["refused"] if number in ("I", "II", "III") else [])):
            yield Place(f"{name}_replies", "tasks", row, name)
        yield Place("failed_requests", "tasks", row, "failed")
        yield Place("unclear_rate", "tasks", row, "Unclear")
        yield Place("unanimous", "tasks", row, "all judgements agree")
        yield Place("steps_found", "tasks", row, "steps found")
        yield Place("bound_worst", "tasks", row, "missing as wrong")
        yield Place("bound_best", "tasks", row, "missing as correct")
        if number not in ("I", "II", "III"):
            yield Place("coverage", "judgements", (task,), "coverage")


EXAMPLES = Path(__file__).resolve().parents[2] / "docs" / "examples"
CONTRIBUTED = {
    "chest_side": ("questions", "accuracy", "chance", *READ_NAMES),
    "lesion_words": ("questions", "score_iid", "score_ood", "score_relative_robustness", "judged", "bound_worst",
                     "bound_best", "complete", "shared_images", *JUDGED_NAMES),
}  # fmt: skip


def contributed(task: str) -> Iterator[Place]:
    """The report that every benchmark has: a row a task, a column a metric."""
    for name in CONTRIBUTED[task.removesuffix("_noimage")]:
        yield Place(name, "results", (task,), name)


# --- Runs -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    """A benchmark's run, and how many of its numbers must be found.

    Attributes:
        model, tasks, limit: what is run. places: from a task to where its metrics stand in the report.
        in_report, on_board: least numbers of cells of the report and of the leaderboard that are compared.
        unprinted: patterns of the metrics that the report does not print, of all tasks or ``task/metric``.
        resamples: of the report, where the harness's table has a number that is made of them.
        folder: of tasks that are not installed.
    """

    model: str
    tasks: str
    places: Callable[[str], Iterator[Place]]
    in_report: int
    on_board: int
    unprinted: tuple[str, ...]
    limit: str = ""
    resamples: int = 0
    folder: Path | None = None


CASES = {
    "medobvious": Case(
        "medtasks_random", "medobvious,medobvious_noimage", medobvious, 50, 40,
        # The report counts replies by what was read, and reads them by the authors' rule, format by format.
        ("parse_rate", "*_replies", "failed_requests", "accuracy_paper_rule*"),
    ),
    "medq_deg": Case(
        "medtasks_random", "medq_deg,medq_deg_calib", medq_deg, 49, 14,
        # A limit that leaves questions with different numbers of degraded forms, so that pairs and whole sets differ.
        # The report counts questions and replies level by level; of the Dunning-Kruger effect it says "yes" or "no".
        ("questions", "parse_rate", "*_replies", "failed_requests", "identical_trials", "unmapped_capabilities",
         "dke_intra"),
        limit="100", resamples=RESAMPLES,
    ),
    "med_cmr": Case(
        "medtasks_observer", "med_cmr,med_cmr_mcq_circular,med_cmr_mcq_noimage,med_cmr_open_noimage", med_cmr, 78, 58,
        # The report counts what was read of replies, and has the right letters beside the chosen ones;
        # judgements in place of open questions. Of rotated questions its mean is over questions, the harness's over
        # their copies, of which questions with more options have more.
        ("without_*", "complete", "parse_rate", "position_bias", "excess_?", "incomplete_questions",
         "med_cmr_open*/questions", "med_cmr_mcq_circular/questions", "med_cmr_mcq_circular/accuracy"),
    ),
    "sure_vqa": Case(
        "medtasks_observer", "sure_slake_modality,sure_mimic_age,sure_slake_modality_noimage", sure_vqa, 69, 39,
        # The report counts by test and kind of question, and leaves matched words to the harness's table.
        ("questions", "*_replies", "failed_requests", "*_judged", "shared_images", "*_exact_match", "*_f1",
         "*_precision", "*_recall", "*_bleu"),
    ),
    "bones_joints": Case(
        "medtasks_observer", "bones_joints,bones_joints_t3_image_noimage", bones_joints, 131, 101,
        # The report has the shares of verdicts, only of those that occur. The lexical judge judges once: whether its
        # judgements are unanimous has no value.
        ("parse_rate", "complete", "went_on", "missed", "objected_otherwise",
         ),
        resamples=RESAMPLES,
    ),
    "contributed": Case(
        "medtasks_observer", "chest_side,chest_side_noimage,lesion_words", contributed, 19, 13, (), folder=EXAMPLES,
    ),
}  # fmt: skip


def harness_numbers(run: ResultFile) -> Iterator[tuple[str, str, float | None]]:
    """Task, metric and value of everything that the harness printed but its standard errors, which are its own."""
    for task, values in run.tasks.items():
        for key, value in values.items():
            name, _, filtered = key.partition(",")
            if filtered and "_stderr" not in name:
                yield task, name, value if isinstance(value, int | float) else None


class Pair(NamedTuple):
    """A number of the harness, in the unit of the place where it should stand, and what stands there."""

    name: str
    expected: float | None
    shown: float | None
    reordered: bool = False

    @property
    def same(self) -> bool:
        if self.expected is None or self.shown is None or not self.reordered:
            return self.expected == self.shown
        return abs(self.expected - self.shown) <= REORDERED * abs(self.expected)


def table_of(document: ReportDocument, key: str, part: str) -> Frame:
    """The report's table of this key in the part that was made of these tasks."""
    made_of = [(dict(each.origin).get("run task set", ""), table) for each, table in document.tables()]
    found = [table for tasks, table in made_of if table.key == key and part in tasks.split("; ")[0].split(", ")]
    assert len(found) == 1, (key, part, len(found))
    return found[0]


def cell_of(table: Frame, row: tuple[str, ...], column: str) -> tuple[FrameColumn, Cell]:
    """The one cell whose row has a text for each of these patterns, in the column of numbers that fits."""
    rows = [each for each in table.rows if each.kind in ("run", "counts")]
    for pattern in row:
        texts = [[cell.value for cell in each.cells if isinstance(cell.value, str)] for each in rows]
        rows = [each for each, own in zip(rows, texts, strict=True) if fnmatch.filter(own, pattern)]
    heads = enumerate(table.columns)
    places = [number for number, each in heads if each.kind == "number" and fnmatch.fnmatchcase(each.name, column)]
    assert len(rows) == len(places) == 1, (table.key, row, column, len(rows), len(places))
    return table.columns[places[0]], rows[0].cells[places[0]]


def report_pairs(case: Case, run: ResultFile, document: ReportDocument) -> tuple[list[Pair], set[str]]:
    """Every number of the harness with what stands in each of its places, and the metrics that stand nowhere."""
    pairs, unplaced = [], set()
    tasks = run.content["configs"]
    for task, metric, value in harness_numbers(run):
        # A group's number stands in the part of its tasks.
        part = task if task in tasks else next(iter(tasks))
        places = [each for each in case.places(task) if each.metric == metric]
        if not places:
            unplaced.add(f"{task}/{metric}")
        for place in places:
            column, cell = cell_of(table_of(document, place.table, part), place.row, place.column)
            factor = place.factor or (100 if column.unit in ("%", "points") else 1)
            expected = None if value is None else factor * value
            name = f"{task}, {metric}: {place.table}, {place.row}, {column.head}"
            pairs.append(Pair(name, expected, getattr(cell, place.end), place.reordered))
    return pairs, unplaced


def board_pairs(run: ResultFile, board: Leaderboard) -> Iterator[Pair]:
    """What stands in the tables of the leaderboard's pages, unrounded, with the harness's number."""
    harness = {(task, metric): value for task, metric, value in harness_numbers(run)}
    standings, links = BoardStandings(board, 0), PageLinks(lambda model: "", lambda suite: "")
    [model] = board.models
    for row in model_score_table(model.key, standings, links).rows:
        task, metric, shown = (cell.value for cell in row.cells[:3])
        value = harness[task, metric]
        factor = board.scale(task, metric).factor
        yield Pair(f"{task}, {metric}: a model's scores", None if value is None else factor * value, shown)
    for entry in board.entries:
        table = ranking_table(entry.task, standings, links)
        if table is None:
            continue
        [row] = [each for each in table.rows if each.kind not in PUBLISHED]
        for column, cell in zip(table.columns, row.cells, strict=True):
            metric = {"answers read": "parse_rate", "judged": "coverage"}.get(column.name, column.name)
            if (entry.task, metric) in harness:
                value = harness[entry.task, metric]
                # Med-CMR's total is made in points of 100; other points are differences of shares.
                factor = 100 if column.unit in ("%", "points") and metric != "total" else 1
                yield Pair(f"{entry.task}, {metric}: ranking", None if value is None else factor * value, cell.value)


@pytest.mark.parametrize("suite", CASES)
def test_report_and_leaderboard_print_the_harness_numbers(suite, harness):
    case = CASES[suite]
    options = {"--limit": case.limit, "--include_path": str(case.folder or "")}
    more = [text for option, given in options.items() if given for text in (option, given)]
    done = harness("--model", case.model, "--tasks", case.tasks, *more, MEDTASKS_JUDGE="lexical")
    reported, unplaced = report_pairs(
        case, done.run, build_report([done.folder], ReportOptions(resamples=case.resamples))
    )
    on_board = list(board_pairs(done.run, collect_entries([done.folder])))
    assert [each for each in (*reported, *on_board) if not each.same] == []
    patterns = [each if "/" in each else f"*/{each}" for each in case.unprinted]
    assert [name for name in sorted(unplaced) if not any(fnmatch.fnmatchcase(name, each) for each in patterns)] == []
    assert [each for each in patterns if not fnmatch.filter(unplaced, each)] == []
    numbers = [sum(each.expected is not None for each in pairs) for pairs in (reported, on_board)]
    assert numbers[0] >= case.in_report and numbers[1] >= case.on_board, numbers


def test_a_bit_is_a_difference():
    assert not Pair("", 0.3, 0.1 + 0.2).same and Pair("", 0.3, 0.1 + 0.2, reordered=True).same
    assert not Pair("", None, 0.0).same and not Pair("", 0.0, None, reordered=True).same
