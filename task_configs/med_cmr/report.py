"""Med-CMR: tables and figures of its report, beside the published rows. Nothing here can move a number."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from lmms_medtasks.record import FAILED
from lmms_medtasks.report import document, judged_tables
from lmms_medtasks.report.cells import count, label, percent_of, share
from lmms_medtasks.report.document import Cell, Flag
from lmms_medtasks.report.rotated_options import rotation_view
from lmms_medtasks.report.suite_report import Report
from lmms_medtasks.report.views import Column, Row, Source, Table, View
from lmms_medtasks.statistics.confidence import LEVEL
from lmms_medtasks.suites.estimates import Contrast
from lmms_medtasks.suites.outcomes import OUTCOMES, outcomes
from lmms_medtasks.task_configs.med_cmr import report_finding
from lmms_medtasks.task_configs.med_cmr.measures import (
    ACCURACY,
    BREAKDOWNS,
    BY_DIMENSION,
    FORMS,
    RANGES,
    SIDE_ACCURACY,
    read_replies,
)
from lmms_medtasks.task_configs.med_cmr.report_comparison import comparison
from lmms_medtasks.task_configs.med_cmr.report_dimensions import (
    IMAGE,
    INTERVALS,
    KEY,
    SIDE_NOTE,
    TITLES,
    breakdown,
    rows_by_side,
)
from lmms_medtasks.task_configs.med_cmr.report_figures import DIMENSIONS_CHART
from lmms_medtasks.task_configs.med_cmr.report_models import MEASURE_OF, asked, judgings, models, was_asked
from lmms_medtasks.task_configs.med_cmr.report_open import open_view
from lmms_medtasks.task_configs.med_cmr.report_published import MAIN

# --- Multiple choice --------------------------------------------------------------------------------------------------


def _choice_table(shown: bool) -> Table:
    """Accuracy by dimension, both sides' means, and overall."""
    where = asked("mcq", shown)

    def rows(sources: Sequence[Source]) -> Iterator[Row]:
        yield Row(("All questions",), where)
        yield from rows_by_side(
            sources, where, "accuracy", lambda side: dict.fromkeys(("questions", "accuracy"), SIDE_ACCURACY[side])
        )

    return Table(
        f"mcq{KEY[shown]}",
        f"Multiple choice{IMAGE[shown]}: accuracy",
        ("dimension",),
        rows,
        (Column("questions", ACCURACY, "n"), Column("accuracy", ACCURACY, digits=2)),
        ("A reply without an answer counts as incorrect, a failed request as nothing.", SIDE_NOTE, INTERVALS),
    )


# --- What the image adds ----------------------------------------------------------------------------------------------

_FORM_TITLES = {
    "mcq": ("Multiple choice", "accuracy"),
    "circular": ("Rotated options", "accuracy over all copies"),
    "open": ("Open answers", "total"),
}


def _without_image(form: str) -> Table:
    """With and without the image, question by question; of circular tasks copy by copy."""
    change = Contrast(
        measure=MEASURE_OF[form],
        bounds=RANGES[MEASURE_OF[form]],
        first={"image_shown": False},
        second={"image_shown": True},
        pair=("id",),
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
            "Over the questions that have a value both ways. A difference whose interval holds 0 does not show that "
            "the image was of use; how much use it may still have been, the interval's ends say.",
            f"In brackets: {LEVEL} interval over images, of a change between the same images; not corrected for the "
            "number of rows.",
        ),
    )


# --- Requests and replies ---------------------------------------------------------------------------------------------


def _replies(sources: Sequence[Source]) -> document.Frame:
    """What became of the requests of each task."""
    rows = []
    for task in sources[0].rows.values("task"):
        own_rows = sources[0].rows.where({"task": task})
        counts = outcomes(own_rows)
        unscored = sum(set(each) == {FAILED} for each in own_rows.column("trials"))
        parsed, replied = read_replies(own_rows)
        counted = map(Cell, (sum(counts.values()), unscored, *counts.values()))
        rows.append(document.FrameRow((Cell(task), *counted, percent_of(parsed / replied if replied else None))))
    heads = ("requests", "questions without a reply", *OUTCOMES)
    notes = (
        "Failed requests count as nothing and are left out. Unreadable (words and no one option), cut (off before an "
        "answer), empty (says nothing), refused: counted as incorrect, of open answers as the worst. Parse rate of "
        "open answers: both parts are there; the others are judged all the same.",
    )
    columns = (label("task"), *map(count, heads), share("parse rate"))
    return document.Frame("replies", "Requests and replies", columns, tuple(rows), notes, folded=True)


# --- Sections ---------------------------------------------------------------------------------------------------------


def _shown(form: str, image_shown: bool) -> Callable[[Sequence[Source]], bool]:
    return lambda sources: was_asked(sources[0], form, image_shown)


def _choice_view(shown: bool) -> View:
    columns = (Column("questions", ACCURACY, "n"), Column("accuracy", ACCURACY))
    # Without images: what language alone gets, as a whole; the parts' own breakdown is of the benchmark as it is.
    tags = BREAKDOWNS if shown else ()
    by_tag = (breakdown("mcq", tag, "Multiple choice: accuracy", columns, lambda sources: (INTERVALS,)) for tag in tags)
    tables = (_choice_table(shown), *by_tag)
    title = f"Multiple choice{IMAGE[shown]}"
    return View(f"choice{KEY[shown]}", title, tables, shown=_shown("mcq", shown))


def _circular_view(shown: bool) -> View:
    groups = {TITLES[name]: each for name, each in BY_DIMENSION.items()}
    where = asked("circular", shown)
    return rotation_view(where, INTERVALS, groups=groups, ending=KEY[shown], title_ending=IMAGE[shown])


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


REPORT = Report(
    headline=report_finding.HEADLINE,
    views=(
        View("main", "Beside the published models", (MAIN,), (DIMENSIONS_CHART,)),
        *(view(shown) for view in (_choice_view, _circular_view, open_view) for shown in (True, False)),
        View("without_image", "With and without the image", tuple(map(_without_image, FORMS))),
        View(
            "replies",
            "Requests, replies and judgements",
            (
                *judged_tables.judging_tables(judgings),
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
)
