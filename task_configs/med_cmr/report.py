"""Med-CMR: tables and figures of its report, beside the published rows. Nothing here can move a number."""

from __future__ import annotations

import csv
import functools
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from lmms_medtasks.record import FAILED
from lmms_medtasks.report import document, judged_tables
from lmms_medtasks.report.about import own
from lmms_medtasks.report.cells import NONE, count, label, percent, percent_of, share
from lmms_medtasks.report.document import Cell, Flag
from lmms_medtasks.report.judged_tables import INCOMPLETE, LEXICAL, OTHER, judged_columns
from lmms_medtasks.report.suite_report import PublishedScores, Report
from lmms_medtasks.report.views import Column, Published, Row, Source, Table, View
from lmms_medtasks.samples.runs import printable
from lmms_medtasks.samples.table import Samples, Where
from lmms_medtasks.suites.estimates import Contrast, Count, Estimate, Mean
from lmms_medtasks.suites.judged import bound_of
from lmms_medtasks.task_configs.med_cmr.dimensions import dimensions
from lmms_medtasks.task_configs.med_cmr.judging import PROTOCOL, WEIGHTS
from lmms_medtasks.task_configs.med_cmr.measures import (
    ACCURACY,
    BOTH,
    BREAKDOWNS,
    BY_DIMENSION,
    DIMENSIONS,
    EVERY_ROTATION,
    EXACT,
    FORMS,
    INCOMPLETE_QUESTIONS,
    OVER_ROTATIONS,
    SIDE_ACCURACY,
    SIDE_TOTAL,
    SIDES,
    TOTAL,
    UNROTATED,
    parts,
)
from lmms_medtasks.task_configs.med_cmr.report_figures import LetterBars, OwnRadar
from lmms_medtasks.task_configs.med_cmr.report_letters import letters_table
from lmms_medtasks.task_configs.med_cmr.report_models import (
    MEASURE_OF,
    asked,
    by_judge,
    data_of,
    judging,
    judgings,
    models,
    was_asked,
)

REFERENCE = Path(__file__).parent / "reference"
TITLES = {each.short: f"{each.name} ({each.short})" for each in dimensions()}
INTERVALS = "In brackets: 95 % interval by bootstrap over images."
_SIDE = "Mean over the dimensions of a side, each weighing alike; the overall row is over all questions."
_MISSING = (
    "Means are over the judgements that were had: n judged of n. A missing one is no zero: the last two columns are "
    "the mean over all answers, had each missing one been the scale's worst, or its best."
)
_IMAGE = {True: "", False: ", no image"}
_KEY = {True: "", False: "_noimage"}
_HEADS = {"mcq_all": "MCQ All", "open_all": "Open All"}


# --- Beside the published models --------------------------------------------------------------------------------------


def discrepancies() -> list[dict[str, Any]]:
    """Every printed number that the others, or the text, do not agree with."""
    return yaml.safe_load((REFERENCE / "discrepancies.yml").read_text("utf-8"))["discrepancies"]


def findings() -> Mapping[str, Any]:
    """What the text gives beside the table: ``alignment``, ``medical_fine_tuning``, ``scale``, ``errors``."""
    return yaml.safe_load((REFERENCE / "findings.yml").read_text("utf-8"))


def _published_notes() -> tuple[str, ...]:
    """Where the published rows are from, and which of their numbers do not fit the others."""
    odd = [
        f"{each['row']}, {_HEADS.get(each['column'], each['column'])}: {each['printed']:.2f} printed; {each['note']}"
        for each in discrepancies()
    ]
    return (
        "Rows marked published: Med-CMR, CVPR 2026, main table, as printed; these models were not run here.",
        f"Printed otherwise than the rest gives: {'. '.join(odd)}.",
    )


def _published_label(row: Mapping[str, str]) -> tuple[str, ...]:
    medical = ", medical" if row["medical"] == "yes" else ""
    return row["model"], f"published, {row['type'][:1].lower()}{row['type'][1:]}{medical}"


def _bare(where: Where) -> Callable[[Source, Row, Samples], Cell]:
    """Accuracy in percent as the paper prints it: without a sign and an interval."""
    return lambda source, row, rows: percent(source.interval(ACCURACY, {**asked("mcq"), **where}), bare=True)


def _open_all(source: Source, row: Row, rows: Samples) -> Cell:
    total, found = source.interval(TOTAL, asked("open")).estimate, judging(source)
    return NONE if total is None else Cell(total, mark=judged_tables.marks(found))


def _main_columns(sources: Sequence[Source]) -> tuple[Column, ...]:
    one_judge = len(by_judge(sources)) < 2
    return (
        *(Column(name, _bare(where), "", 2) for name, where in BY_DIMENSION.items()),
        Column(_HEADS["mcq_all"], _bare({}), "", 2),
        Column(_HEADS["open_all"], _open_all if one_judge else None, "", 2),
    )


def _main_notes(sources: Sequence[Source]) -> tuple[str, ...]:
    apart = "These runs' open answers were judged by different judges: their totals stand in a table for each."
    return (
        "Accuracy in percent, the open total from 0 to 100. A run's own tables have counts and intervals.",
        "SOD, FDD and SU are the visual dimensions, TP, CR, LTG and MSI those of reasoning.",
        *([apart] if len(by_judge(sources)) > 1 else []),
    )


def _mark_meanings() -> dict[str, str]:
    """What each mark means, and those that stand together."""
    alone = {
        LEXICAL: "By a judge that compares words, no LLM: a smoke test, no score.",
        OTHER: "By another judge than the paper's: does not compare with the published column.",
        INCOMPLETE: "Judgements are missing: the mean is over those that were had (bounds: the run's own tables).",
    }
    together = (marks for size in (1, 2, 3) for marks in itertools.combinations(alone, size))
    return dict(sorted(("".join(marks), " ".join(alone[each] for each in marks)) for marks in together))


MAIN = Table(
    "main",
    "Main results",
    ("model", "source"),
    lambda sources: [Row((each.name, str(own(data_of(each)).value)), source=each) for each in sources],
    _main_columns,
    _main_notes,
    Published(
        REFERENCE / "results.csv",
        {**{name: name for name in DIMENSIONS}, **_HEADS},
        _published_label,
        _published_notes(),
    ),
    _mark_meanings(),
)


# --- Dimensions and breakdowns ----------------------------------------------------------------------------------------


def _rows_by_side(
    sources: Sequence[Source], where: Where, measure: str, of_side: Callable[[str], Mapping[str, Estimate]]
) -> Iterator[Row]:
    """For each side the mean over its dimensions (marked where one has no score), and its dimensions."""
    for side, names in SIDES.items():
        own_rows = (sources[0].rows.where({**where, **BY_DIMENSION[name]}).scored(measure) for name in names)
        mark = "" if all(map(len, own_rows)) else "†"
        within = {**where, "dimension": names}
        label = Cell(f"Mean of the {side} dimensions", mark=mark)
        yield Row((label,), within, "counts", of_side(side))
        for name in names:
            yield Row((TITLES[name],), {**where, **BY_DIMENSION[name]})


def _choice_table(shown: bool) -> Table:
    """Accuracy by dimension, both sides' means, and overall."""
    where = asked("mcq", shown)

    def rows(sources: Sequence[Source]) -> Iterator[Row]:
        yield Row(("All questions",), where)
        yield from _rows_by_side(
            sources, where, "accuracy", lambda side: dict.fromkeys(("questions", "accuracy"), SIDE_ACCURACY[side])
        )

    return Table(
        f"mcq{_KEY[shown]}",
        f"Multiple choice{_IMAGE[shown]}: accuracy",
        ("dimension",),
        rows,
        (Column("questions", ACCURACY, "n"), Column("accuracy", ACCURACY, digits=2)),
        ("An unreadable reply counts as incorrect, a failed request as nothing.", _SIDE, INTERVALS),
    )


def _breakdown_rows(where: Where, tag: str) -> Callable[[Sequence[Source]], Iterator[Row]]:
    """A row for each text that the release has there."""

    def rows(sources: Sequence[Source]) -> Iterator[Row]:
        values: dict[str, list[Any]] = {}
        for value in sources[0].rows.where(where).values(tag):
            values.setdefault(printable(str(value or "not recorded")), []).append(value)
        for text in sorted(values):
            yield Row((text,), {**where, tag: tuple(values[text])})

    return rows


def _breakdown(
    form: str, tag: str, title: str, columns: tuple[Column, ...], notes: Callable[[Sequence[Source]], tuple[str, ...]]
) -> Table:
    name = tag.replace("_", " ")
    # Subtypes are many: a terminal leaves them to the files, the page shows them folded.
    long = tag == "subtype"
    rows = _breakdown_rows(asked(form), tag)
    return Table(f"{form}_{tag}", f"{title} by {name}", (name,), rows, columns, notes, long=long, folded=long)


# --- Rotated options --------------------------------------------------------------------------------------------------


def _circular_table(shown: bool) -> Table:
    """Accuracy that survives the rotation of the options, beside the plain one."""
    where = asked("circular", shown)
    heads = {
        "right under every rotation": EVERY_ROTATION,
        "as asked, not rotated": UNROTATED,
        "mean over all rotations": OVER_ROTATIONS,
    }
    both = ("questions", "accuracy")

    def notes(sources: Sequence[Source]) -> tuple[str, ...]:
        rows = sources[0].rows.where(where)
        questions, left_out = len(rows.values("pair")), INCOMPLETE_QUESTIONS.value(rows)
        text = f"{left_out:,} of {questions:,} questions lack a reply to a rotation and are left out."
        return (
            "Each question is asked once for each rotation of its options; a model that knows the answer finds it in "
            "every place.",
            *([text] if left_out else []),
            INTERVALS,
        )

    return Table(
        f"circular{_KEY[shown]}",
        f"Rotated options{_IMAGE[shown]}",
        ("accuracy",),
        (
            *(Row((head,), where, estimates=dict.fromkeys(both, each)) for head, each in heads.items()),
            *(
                Row((f"every rotation, {TITLES[name]}",), {**where, **each}, "counts",
                    dict.fromkeys(both, EVERY_ROTATION))
                for name, each in BY_DIMENSION.items()
            ),
        ),
        (Column("questions", unit="n"), Column("accuracy", digits=2)),
        notes,
    )  # fmt: skip


# --- Open answers -----------------------------------------------------------------------------------------------------


def _scale_note() -> str:
    weights = ", ".join(f"{name.replace('_', ' ')} {weight}" for name, weight in WEIGHTS.items())
    return (
        f"Total: the scores weighted ({weights}) and brought to 0 to 100, as in the paper. The scale of the single "
        "scores and the judge's prompt are ours: the paper does not print its own."
    )


def _open_notes(shown: bool, *notes: str) -> Callable[[Sequence[Source]], tuple[str, ...]]:
    def made(sources: Sequence[Source]) -> tuple[str, ...]:
        found = judging(sources[0], shown)
        return (f"Judge: {found.shown if found else 'none'}.", *notes, INTERVALS)

    return made


def _open_scores(shown: bool) -> Table:
    """The judge's scores overall: a row a measure, the total last."""
    rows = []
    for name, estimate in (*((name, Mean(measure=name)) for name in WEIGHTS), ("total", TOTAL)):
        title = "Total (0 to 100)"
        if name in WEIGHTS:
            scale = PROTOCOL.dimension(name)
            title = f"{name.replace('_', ' ').capitalize()} ({scale.worst:g} to {scale.best:g})"
        estimates = {each.name: each.of for each in judged_columns("mean", estimate, name)}
        rows.append(Row((title,), asked("open", shown), estimates=estimates))
    return Table(
        f"open{_KEY[shown]}",
        f"Open answers{_IMAGE[shown]}: scores",
        ("score",),
        tuple(rows),
        judged_columns("mean", TOTAL, "total"),
        _open_notes(shown, _scale_note(), _MISSING),
    )


def _side_bound(rows: Samples, which: str) -> float | None:
    """The mean over the dimensions of their bounds; those without a judgement requested are left out."""
    known = [found for each in rows.by(["dimension"]).values() if (found := bound_of(each, "total", which)) is not None]
    return sum(known) / len(known) if known else None


_SIDE_BOUNDS = {
    f"missing as {name}": Count(function=functools.partial(_side_bound, which=which))
    for name, which in (("worst", "low"), ("best", "high"))
}


def _open_dimensions(shown: bool) -> Table:
    """The total by dimension of the questions."""
    where = asked("open", shown)
    return Table(
        f"open_dimensions{_KEY[shown]}",
        f"Open answers{_IMAGE[shown]}: total by dimension",
        ("dimension",),
        lambda sources: list(
            _rows_by_side(sources, where, "total", lambda side: {"total": SIDE_TOTAL[side], **_SIDE_BOUNDS})
        ),
        judged_columns("total", TOTAL, "total"),
        _open_notes(shown, _scale_note(), _MISSING, _SIDE),
    )


def _open_dimension_scores(shown: bool) -> Table:
    """The single scores by dimension of the questions, with how many were judged."""
    counts = judged_columns("total", TOTAL, "total")[1:3]
    return Table(
        f"open_scores{_KEY[shown]}",
        f"Open answers{_IMAGE[shown]}: single scores by dimension",
        ("dimension",),
        tuple(Row((name,), {**asked("open", shown), **each}) for name, each in BY_DIMENSION.items()),
        (*(Column(name.replace("_", " "), Mean(measure=name), "", 2) for name in WEIGHTS), *counts),
        _open_notes(shown, _scale_note(), "Over the judgements that were had."),
    )


def _parts_table(shown: bool) -> Callable[[Sequence[Source]], document.Table]:
    """Which of its two parts an answer had, and how many are the reference word for word."""

    def made(sources: Sequence[Source]) -> document.Table:
        found = parts(sources[0].rows.where(asked("open", shown)))
        rows = [
            document.Row((Cell(name.replace("_", " ")), Cell(number), percent_of(number / found.total())))
            for name, number in found.most_common()
        ]
        exact = percent(sources[0].interval(EXACT, asked("open", shown)), bare=True)
        rows.append(document.Row((Cell("final answer is the reference's words"), NONE, exact), "counts"))
        columns = (label("parts read"), count("answers"), share("share"))
        notes = (
            "The prompt asks for two lines, Reasoning: and Answer:. An answer without one is judged as it is; a reply "
            "without any text is the scale's worst, by a rule.",
        )
        title = f"Open answers{_IMAGE[shown]}: their parts"
        return document.Table(f"parts{_KEY[shown]}", title, columns, tuple(rows), notes)

    return made


# --- What the image adds ----------------------------------------------------------------------------------------------

_FORM_TITLES = {
    "mcq": ("Multiple choice", "accuracy"),
    "circular": ("Rotated options", "accuracy over all rotations"),
    "open": ("Open answers", "total"),
}


def _without_image(form: str) -> Table:
    """With and without the image, question by question; of circular tasks copy by copy."""
    change = Contrast(
        measure=MEASURE_OF[form], first={"image_shown": False}, second={"image_shown": True}, pair=("id",)
    )
    where, scaled = {"form": form}, form == "open"
    names = {"All questions": {}, **{TITLES[name]: each for name, each in BY_DIMENSION.items()}}
    rows = tuple(Row((name,), {**where, **each}) for name, each in names.items())
    title, what = _FORM_TITLES[form]
    unit = "" if scaled else "%"
    return Table(
        f"without_image_{form}",
        f"{title}: {what} with and without the image",
        ("dimension",),
        lambda sources: rows if was_asked(sources[0], form) and was_asked(sources[0], form, False) else (),
        (
            Column("pairs", change, "n", statistic="second"),
            Column("with image", change, unit, 2, statistic="second"),
            Column("without", change, unit, 2, statistic="first"),
            Column("difference", change, "" if scaled else "points", 2, signed=True),
        ),
        (
            "Over the questions that have a value both ways. A difference near 0 says that the image was of no use.",
            "In brackets: 95 % interval by bootstrap over images, the same images drawn for both sides.",
        ),
    )


# --- Requests and replies ---------------------------------------------------------------------------------------------


def _replies(sources: Sequence[Source]) -> document.Table:
    """What became of the requests of each task."""
    rows = []
    for task in sources[0].rows.values("task"):
        own_rows = sources[0].rows.where({"task": task})
        every = own_rows.column("trials")
        failed, requests = sum(each.count(FAILED) for each in every), sum(map(len, every))
        unscored = sum(set(each) == {FAILED} for each in every)
        letters = sum(len(trial) == 1 for each in every for trial in each)
        parsed, replied = letters + parts(own_rows)[BOTH], requests - failed
        counted = map(Cell, (requests, failed, unscored, replied - parsed))
        rows.append(document.Row((Cell(task), *counted, percent_of(parsed / replied if replied else None))))
    columns = (
        label("task"),
        count("requests"),
        count("failed"),
        count("questions without a reply"),
        count("unreadable replies"),
        share("parse rate"),
    )
    notes = (
        "Failed requests count as nothing and are left out. Unreadable: no letter found, counted as incorrect; of open "
        "answers: one of the two parts is missing, judged all the same.",
    )
    return document.Table("replies", "Requests and replies", columns, tuple(rows), notes, folded=True)


# --- Sections ---------------------------------------------------------------------------------------------------------


def _shown(form: str, image_shown: bool) -> Callable[[Sequence[Source]], bool]:
    return lambda sources: was_asked(sources[0], form, image_shown)


def _letters(form: str, key: str, title: str, shown: bool) -> tuple[Any, LetterBars]:
    key, title = f"{key}{_KEY[shown]}", f"{title}{_IMAGE[shown]}"
    where = asked(form, shown)
    return letters_table(key, title, where, INTERVALS), LetterBars(key, title, where)


def _choice_view(shown: bool) -> View:
    table, bars = _letters("mcq", "letters", "Letters, multiple choice", shown)
    columns = (Column("questions", ACCURACY, "n"), Column("accuracy", ACCURACY))
    # Without images: what language alone gets, as a whole; the parts' own breakdown is of the benchmark as it is.
    tags = BREAKDOWNS if shown else ()
    by_tag = (
        _breakdown("mcq", tag, "Multiple choice: accuracy", columns, lambda sources: (INTERVALS,)) for tag in tags
    )
    tables = (_choice_table(shown), *by_tag, table)
    title = f"Multiple choice{_IMAGE[shown]}"
    return View(f"choice{_KEY[shown]}", title, tables, (bars,), _shown("mcq", shown))


def _circular_view(shown: bool) -> View:
    table, bars = _letters("circular", "rotated_letters", "Letters, rotated options", shown)
    title = f"Rotated options{_IMAGE[shown]}"
    return View(f"rotated{_KEY[shown]}", title, (_circular_table(shown), table), (bars,), _shown("circular", shown))


def _open_view(shown: bool) -> View:
    columns, notes = judged_columns("total", TOTAL, "total", 1), _open_notes(shown, _MISSING)
    by_tag = (_breakdown("open", tag, "Open answers: total", columns, notes) for tag in (BREAKDOWNS if shown else ()))
    first = (_open_scores(shown), _open_dimensions(shown), _open_dimension_scores(shown))
    tables: tuple[Table | Callable[[Sequence[Source]], document.Table | None], ...] = (
        *first, *by_tag, _parts_table(shown),
    )  # fmt: skip
    return View(f"open{_KEY[shown]}", f"Open answers{_IMAGE[shown]}", tables, (), _shown("open", shown))


def caveats(source: Source) -> Iterator[Flag]:
    """What limits judged numbers; which columns of the paper's table stay empty."""
    yield from judged_tables.flags(judgings(source))
    have = "multiple-choice" if was_asked(source, "mcq") else "open" if was_asked(source, "open") else ""
    if not have:
        yield Flag(
            "note", "No question was asked here as the paper asks it, once and with its image: its table is empty."
        )
    elif not (was_asked(source, "mcq") and was_asked(source, "open")):
        yield Flag("note", f"Only {have} questions were asked here: the other columns of the paper's table stay empty.")


def published_scores(task: str) -> Iterator[PublishedScores]:
    """The main table's last two columns, for the tasks with the image."""
    metric, column = {"med_cmr_mcq": ("accuracy", "mcq_all"), "med_cmr_open": ("total", "open_all")}.get(task, ("", ""))
    for row in published_rows() if metric else ():
        cells = {metric: Cell(float(row[column]))}
        yield PublishedScores("Med-CMR, CVPR 2026,", row["model"], "published, main table", cells)


def published_rows() -> list[dict[str, str]]:
    """The seven rows of the paper's main table, as printed, in its order."""
    with (REFERENCE / "results.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _report() -> Report:
    from lmms_medtasks.task_configs.med_cmr.report_comparison import comparison

    return Report(
        views=(
            View("main", "Beside the published models", (MAIN,), (OwnRadar(),)),
            *(view(shown) for view in (_choice_view, _circular_view, _open_view) for shown in (True, False)),
            View("without_image", "With and without the image", tuple(map(_without_image, FORMS))),
            View(
                "replies",
                "Requests, replies and judgements",
                (
                    lambda sources: judged_tables.judgements(judgings(sources[0])),
                    lambda sources: judged_tables.causes(judgings(sources[0])),
                    _replies,
                ),
            ),
        ),
        compared=(),
        caveats=caveats,
        sources=models,
        compare=comparison,
        one_comparison=True,
        uses=frozenset({"pairs", "parameters"}),
        published_scores=published_scores,
        printed=lambda: [MAIN.printed()],
    )


REPORT = _report()
