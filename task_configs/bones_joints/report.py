"""Bones and Joints: tables of its report on one model. Nothing here can move a number."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence

from lmms_medtasks.record import FAILED, Record
from lmms_medtasks.report import judged_tables
from lmms_medtasks.report.cells import NONE, count, label, percent, percent_of, share
from lmms_medtasks.report.document import Cell, Flag, Frame, FrameRow
from lmms_medtasks.report.suite_report import Report
from lmms_medtasks.report.views import CellFunction, Column, Row, Source, Table, View, row_count
from lmms_medtasks.samples.runs import printable, records
from lmms_medtasks.samples.table import Samples
from lmms_medtasks.statistics.confidence import LEVEL
from lmms_medtasks.suites.common_metrics import outcome_count
from lmms_medtasks.suites.estimates import MacroContrast, Mean
from lmms_medtasks.suites.judged_measures import bound, judgement_counts
from lmms_medtasks.suites.outcomes import READINGS
from lmms_medtasks.task_configs.bones_joints import judging, report_comparison, report_finding, report_image
from lmms_medtasks.task_configs.bones_joints.forms import disease_count, forms, paper_share, sites
from lmms_medtasks.task_configs.bones_joints.measures import (
    AS_PUBLISHED,
    CONDITIONS,
    NO_IMAGE,
    REPORTS,
    ROTATED,
    SWAPPED,
    labels_of,
)
from lmms_medtasks.task_configs.bones_joints.report_cases import task_pairs_table, tasks_table
from lmms_medtasks.task_configs.bones_joints.report_figures import PATHWAY
from lmms_medtasks.task_configs.bones_joints.report_groups import (
    SHOWN,
    TaskGroup,
    find_group,
    sources,
    task_groups,
)
from lmms_medtasks.task_configs.bones_joints.report_published import PUBLISHED_TABLE
from lmms_medtasks.task_configs.bones_joints.text_shortcut import Asked, TextShortcut, text_shortcut

STRUCTURED, TEXT_ONLY, OPEN = ("t1", "t2", "t3"), ("t1", "t2"), ("t4", "t5", "t6", "t7")
"""Tasks I to III, multiple choice; those of them without images; Tasks IV to VII, open questions."""

_INTERVALS = f"In brackets: {LEVEL} intervals over the images of cases (docs/intervals_and_tests.md)."
_MOST_EXAMPLES = 12
_LONGEST = 600  # characters of a text that is shown as an example


def _group(source: Source, row: Row) -> TaskGroup:
    """The group that a row is about."""
    return next(each for each in task_groups(source) if each.where == row.where)


# --- Tasks ------------------------------------------------------------------------------------------------------------


def _judgement_count(place: int) -> CellFunction:
    def cell(source: Source, row: Row, rows: Samples) -> Cell:
        judged = any(judge is not None for judge in rows.column("judge"))
        return Cell(judgement_counts(rows, "accuracy")[place]) if judged else NONE

    return cell


def _unclear(source: Source, row: Row, rows: Samples) -> Cell:
    counted = _group(source, row).label_counts()
    return percent_of(counted[judging.UNCLEAR] / counted.total() if counted else None)


TASKS = Table(
    "tasks",
    "Accuracy by task",
    ("task",),
    lambda sources: [Row((f"{each.label}: {each.task.name}",), each.where) for each in _asked_once(sources[0])],
    (
        Column("questions", row_count, "count"),
        Column("accuracy", lambda source, row, rows: _group(source, row).accuracy(source)),
        Column("Unclear", _unclear),
        Column("all judgements agree", Mean(measure="unanimous"), bare=True),
        Column("steps found", Mean(measure="steps_found"), bare=True),
        Column("n judged", _judgement_count(0), "count"),
        Column("n", _judgement_count(1), "count"),
        Column("missing as wrong", bound("accuracy", "low")),
        Column("missing as correct", bound("accuracy", "high")),
        *(Column(name, outcome_count(name), "count") for name in READINGS),
    ),
    (
        _INTERVALS,
        "Open answers: mean over the judgements (three, or one by a judge at temperature 0), Correct 1, Incorrect and "
        "Unclear 0. Task VIII: 1 where the answer names the contradiction. Steps found: of the experts' chain, Tasks V "
        "and VII.",
        "Unreadable (no one option), cut (off before an answer), empty and refused replies count as wrong; what a "
        "judged refusal is worth the judge says. Failed requests count as nothing.",
    ),
    marks=judged_tables.MEANINGS,
)


# --- Multiple choice and open answers ---------------------------------------------------------------------------------


def _gap(structured: Sequence[str], imaging: str) -> MacroContrast:
    """Multiple choice less open answers: each side is the mean over its tasks' accuracies, all tasks weighing alike."""
    return MacroContrast(
        first=tuple({"paper_task": task, "condition": imaging} for task in OPEN),
        second=tuple({"paper_task": task, "condition": AS_PUBLISHED} for task in structured),
    )


GAP_ESTIMATES: Mapping[tuple[str, str], MacroContrast] = {
    ("I to III less IV to VII", "images"): _gap(STRUCTURED, AS_PUBLISHED),
    ("I and II less IV to VII", "images"): _gap(TEXT_ONLY, AS_PUBLISHED),
    # With reports only the texts of Tasks I and II are of the same kind.
    ("I and II less IV to VII", "reports"): _gap(TEXT_ONLY, REPORTS),
}


def _gap_rows(sources: Sequence[Source]) -> Iterator[Row]:
    (source,) = sources
    groups = task_groups(source)
    for (name, imaging), estimate in GAP_ESTIMATES.items():
        if not source.intervals(estimate):
            continue
        condition = REPORTS if imaging == "reports" else AS_PUBLISHED
        judged = (find_group(groups, task, condition) for task in OPEN)
        mark = judged_tables.marks(*(each.judging for each in judged if each))
        yield Row((Cell(name, mark=mark), imaging), estimates=dict.fromkeys(_GAP_HEADS, estimate))


_GAP_HEADS = ("multiple choice", "open answers", "gap")
GAPS = Table(
    "gap",
    "Multiple choice against open answers",
    ("gap", "imaging in IV to VII"),
    _gap_rows,
    (
        Column("multiple choice", statistic="second"),
        Column("open answers", statistic="first"),
        Column("gap", unit="points"),
    ),
    (
        f"Each side is the mean of its tasks' accuracies, all tasks weighing alike. In brackets: {LEVEL} intervals "
        "over the images of cases, which Tasks III to VII share. The paper: above 90 % on multiple choice in text, "
        "below 60 % on open questions.",
    ),
    marks=judged_tables.MEANINGS,
)


# --- Does it look -----------------------------------------------------------------------------------------------------


def shortcuts(source: Source) -> dict[str, TextShortcut]:
    """The text-shortcut rate of Task III, by what was done to its images."""
    groups = task_groups(source)
    shown = find_group(groups, "t3", AS_PUBLISHED)
    found = {}
    for said, condition in (("taken away", NO_IMAGE), ("swapped", SWAPPED)):
        other = find_group(groups, "t3", condition)
        if shown and other:
            found[said] = text_shortcut(_answers(shown.rows), _answers(other.rows))
    return found


def _answers(rows: Samples) -> dict[str, Asked]:
    columns = (rows.column(name) for name in ("id", "case_id", "trials", "expected"))
    return {
        name: Asked(case, trials[0] if len(trials[0]) == 1 else "", expected, trials[0] == FAILED)
        for name, case, trials, expected in zip(*columns, strict=True)
    }


def shortcut_table(sources: Sequence[Source]) -> Frame | None:
    """The text-shortcut rate; None unless Task III was asked with its images and otherwise."""
    rows = tuple(
        FrameRow((Cell(said), Cell(each.n), percent(each.rate), percent(each.stayed_right), percent_of(each.chance),
                 Cell(each.unread), Cell(each.failed), Cell(each.only_one)))
        for said, each in shortcuts(sources[0]).items()
    )  # fmt: skip
    columns = (
        label("images"), count("questions"), share("same answer"), share("same answer, of the right ones"),
        share("by chance"), count("without an answer"), count("failed"), count("asked only once"),
    )  # fmt: skip
    notes = (
        "Task III with its images against the same questions with the images taken away, or swapped for another "
        "case's. A model that does not look at the images has 100 %. By chance: what two independent series of answers "
        f"with these frequencies would give. In brackets: {LEVEL} interval over cases. The measure is ours; the paper "
        "describes the tendency.",
    )
    return Frame("shortcut", "Text-shortcut rate", columns, rows, notes) if rows else None


# --- Text against images ----------------------------------------------------------------------------------------------

SourceTable = Callable[[Sequence[Source]], Frame | None]


def _labels_table(condition: str) -> SourceTable:
    """What the judge said of the answers to Task VIII under a condition."""

    def table(sources: Sequence[Source]) -> Frame | None:
        group = find_group(task_groups(sources[0]), "t8", condition)
        counted = group.label_counts() if group else None
        if group is None or not counted:
            return None
        rows = tuple(
            FrameRow((Cell(name), Cell(number), percent_of(number / counted.total())))
            for name, number in counted.most_common()
        )
        columns = (label("verdict"), count("judgements"), share("share"))
        title = f"What became of contradictions (Task {group.label})"
        return Frame(f"contradiction{group.key}", title, columns, rows)

    return table


def _examples_table(condition: str) -> SourceTable:
    """Answers to Task VIII side by side with what they contradict, failures first."""

    def table(sources: Sequence[Source]) -> Frame | None:
        group = find_group(task_groups(sources[0]), "t8", condition)
        if group is None or not group.measured:
            return None
        judged = group.rows.take(group.rows.column("accuracy.judged") > 0)
        places = sorted(zip(judged.column("accuracy.score"), judged.column("id"), strict=True))
        shown = [name for _, name in places[:_MOST_EXAMPLES]]
        run = next(run for run, tasks in sources[0].asked if group.name in tasks)
        found = {record.id: record for record, _ in records(run, group.name) if record.id in shown}
        columns = ("question", "text is about", "images show", "images of", "text", "answer", "verdicts")
        rest = f" The first {_MOST_EXAMPLES} of {len(places)}; the log has all." if len(places) > len(shown) else ""
        return Frame(
            f"examples{group.key}",
            f"Text, images and answer (Task {group.label})",
            tuple(map(label, columns)),
            tuple(_example(found[name]) for name in shown),
            (f"The answers with the lowest scores first.{rest}",),
            long=True,
        )

    return table


def _example(record: Record) -> FrameRow:
    judgement = record.judgement
    items = judgement.items if judgement and not isinstance(judgement.items, str) else ()
    item = next((each for each in items if each), {})
    texts = {name: _short(item.get(name, "")) for name in ("text_site", "image_site", "question", "answer")}
    case = printable(str(record.tags.get("image_case") or ""))
    given = labels_of(judgement) if judgement else []
    verdicts = ", ".join(
        f"{name} ({given.count(name)})" if len(set(given)) > 1 else name for name in dict.fromkeys(given)
    )
    cells = (printable(record.id), texts["text_site"], texts["image_site"], case or None, texts["question"],
             texts["answer"], verdicts)  # fmt: skip
    return FrameRow(tuple(map(Cell, cells)))


def _short(text: str) -> str:
    """One line, so long that an example can be read."""
    line = printable(" ".join(text.split()))
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"


# --- Sites and diseases -----------------------------------------------------------------------------------------------


def _asked_once(source: Source) -> list[TaskGroup]:
    """The groups whose questions were asked once each: copies with rotated options have a section of their own."""
    return [each for each in task_groups(source) if each.condition != ROTATED]


def _accuracy_columns(sources: Sequence[Source]) -> tuple[Column, ...]:
    """A column for each task group: the accuracy of the part that a row is about."""

    def column(group: TaskGroup) -> Column:
        return Column(group.label, lambda source, row, rows: group.accuracy(source, row.where))

    return tuple(map(column, _asked_once(sources[0])))


def _count_columns(sources: Sequence[Source]) -> tuple[Column, ...]:
    def column(group: TaskGroup) -> Column:
        return Column(group.label, lambda source, row, rows: Cell(_scored_count(group, row.where)), "count")

    return tuple(map(column, _asked_once(sources[0])))


def _scored_count(group: TaskGroup, where: Mapping[str, object]) -> int:
    return len(group.rows.where(where).scored("accuracy")) if group.measured else 0


def _other_sites(sources: Sequence[Source]) -> list[str]:
    found = set(sources[0].rows.column("site")) - {None, ""}
    return sorted(found - set(sites()))


def _site_rows(sources: Sequence[Source]) -> list[Row]:
    return [Row((printable(site),), {"site": site}) for site in (*sites(), *_other_sites(sources))]


def _paper_share(source: Source, row: Row, rows: Samples) -> Cell:
    return Cell(paper_share(row.where["site"]) if row.where["site"] in sites() else None)


def _number_of_cases(size: int, source: Source, row: Row, rows: Samples) -> Cell:
    return Cell(size)


def _disease_rows(sources: Sequence[Source]) -> Iterator[Row]:
    groups = task_groups(sources[0])
    named = {key for key in sources[0].rows.by(["disease", "disease_listed"]) if key[0]}
    sizes = {
        key: max(_scored_count(group, {"disease": key[0], "disease_listed": key[1]}) for group in groups)
        for key in named
    }
    for name, listed in sorted(named, key=lambda key: (-sizes[key], str(key))):
        yield Row(
            (printable(name), listed or "not given"),
            {"disease": name, "disease_listed": listed},
            estimates={"cases": functools.partial(_number_of_cases, sizes[name, listed])},
        )


SITES = Table(
    "sites",
    "Accuracy by site",
    ("site",),
    _site_rows,
    lambda sources: (Column("of the paper's questions", _paper_share), *_accuracy_columns(sources)),
    (_INTERVALS, "Task VIII is by the site of the text. The number of questions is in the next table."),
    marks=judged_tables.MEANINGS,
)
SITE_COUNTS = Table(
    "site_counts",
    "Scored questions by site",
    ("site",),
    lambda sources: [Row(row.labels, row.where, "counts") for row in _site_rows(sources)],
    _count_columns,
    folded=True,
)
DISEASES = Table(
    "diseases",
    "Accuracy by disease",
    ("disease", "in the paper's list"),
    _disease_rows,
    lambda sources: (Column("cases", unit="count"), *_accuracy_columns(sources)),
    (
        _INTERVALS,
        f"The paper counts {disease_count()} diseases and does not list them: 'listed' are those that its text names, "
        "all others are 'unlisted'.",
    ),
    marks=judged_tables.MEANINGS,
    long=True,
)


# --- Judgements, and what a reader must know --------------------------------------------------------------------------


def _judgings(source: Source) -> dict[str, judged_tables.Judging]:
    """What became of the judgements, by the harness's task."""
    return {each.name: each.judging for each in task_groups(source) if each.judging}


def caveats(source: Source) -> Iterator[Flag]:
    """Who judged and what is missing, which tasks were not asked, whether the model looks."""
    yield from judged_tables.flags(_judgings(source))
    groups = task_groups(source)
    missing = [task.numeral for key, task in forms().items() if not find_group(groups, key, *SHOWN)]
    if missing:
        yield Flag("note", f"Not asked here: Task {', '.join(missing)}.")
    for said, found in shortcuts(source).items():
        if found.rate.estimate == 1.0 and found.n > 1:
            yield Flag(
                "warning",
                f"With the images of Task III {said} all {found.n} answers stayed the same, as those of a model that "
                "does not look.",
            )


REPORT = Report(
    headline=report_finding.HEADLINE,
    views=(
        View("main", "Beside the paper", (PUBLISHED_TABLE,), (PATHWAY,)),
        View("tasks", "Tasks", (TASKS, tasks_table, task_pairs_table)),
        View("gap", "Multiple choice and open answers", (GAPS,)),
        View("shortcut", "Does it look", (shortcut_table,)),
        report_image.BENEFIT,
        report_image.ROTATIONS,
        View(
            "contradictions",
            "Text against images",
            tuple(table(each) for each in CONDITIONS for table in (_labels_table, _examples_table)),
        ),
        View("parts", "Sites and diseases", (SITES, SITE_COUNTS, DISEASES)),
        View("judgements", "Judgements", judged_tables.judging_tables(_judgings)),
    ),
    compared=report_comparison.VIEWS,
    caveats=caveats,
    sources=sources,
    compare=report_comparison.comparison,
)
