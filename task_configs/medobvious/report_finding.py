"""MedObvious's headline: accuracy over all questions and by the paper's average, and false alarms.

A board ranks by the first; the second weighs questions otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator

from lmms_medtasks.report.findings import Number, Sketch
from lmms_medtasks.report.headlines import BoardColumn, Headline
from lmms_medtasks.report.published import span
from lmms_medtasks.report.views import Source
from lmms_medtasks.task_configs.medobvious.measures import (
    ACCURACY,
    FALSE_ALARMS,
    FORMATS,
    PAPER_AVERAGE,
    SUITE,
    TABLE_2,
)
from lmms_medtasks.task_configs.medobvious.report_published import CHANCE, CHANCE_AVERAGE, PLANE


def _numbers(source: Source) -> Iterator[Number]:
    """None for questions that were asked otherwise than in the paper."""
    if source.condition:
        return
    whole = set(source.rows.column("task_type")) == set(FORMATS)
    title = "all questions" if whole else "the formats asked"
    chance, printed = source.interval(CHANCE).estimate, span(SUITE, "medobvious", "accuracy") if whole else None
    yield Number(title, f"on {title}", ACCURACY, chance=chance, published=printed)
    if whole:
        level, printed = source.interval(CHANCE_AVERAGE).estimate, span(SUITE, "medobvious", "paper_average")
        words = f"by the paper's average of {len(TABLE_2)} groups of questions"
        yield Number("the paper's average", words, PAPER_AVERAGE, chance=level, published=printed, main=False)
    words = "false alarms among the answers about consistent grids"
    yield Number("false alarms", words, FALSE_ALARMS, higher_is_better=False, main=False)


HEADLINE = Headline(
    _numbers,
    "finding what is obviously wrong",
    (
        BoardColumn("medobvious", "accuracy", "over all questions, not the paper's average"),
        BoardColumn("medobvious*", "accuracy"),
        BoardColumn("medobvious*", "*"),
    ),
    sketch=lambda source: Sketch(
        PLANE.small(source),
        "correct with an outlier (%) against wrong without one (%); dashed: guessing; hollow: published",
    ),
)
