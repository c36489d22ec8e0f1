"""MedObvious's headline: accuracy over all questions and by the paper's average, and false alarms.

A board ranks by the first; the second weighs questions otherwise.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

from lmms_medtasks.report.findings import Sketch, Span, span
from lmms_medtasks.report.headlines import Column, Headline, Number
from lmms_medtasks.report.views import Source
from lmms_medtasks.suites.estimates import Macro, Mean
from lmms_medtasks.task_configs.medobvious.measures import ACCURACY, FALSE_ALARMS, FORMATS, PAPER_AVERAGE, TABLE_2
from lmms_medtasks.task_configs.medobvious.report_figures import PLANE
from lmms_medtasks.task_configs.medobvious.report_published import printed_accuracy

_TABLE_2 = Path(__file__).parent / "reference" / "table2.csv"
_HUMAN = "group", "human"
_CHANCE = Mean(measure="chance", exact=True)
_CHANCE_AVERAGE = Macro(measure="chance", exact=True, groups=tuple(TABLE_2.values()))


def _numbers(source: Source) -> Iterator[Number]:
    """None for questions that were asked otherwise than in the paper."""
    if source.condition:
        return
    whole = set(source.rows.column("task_type")) == set(FORMATS)
    title = "all questions" if whole else "the formats asked"
    chance, printed = source.interval(_CHANCE).estimate, _printed() if whole else None
    yield Number(title, f"on {title}", ACCURACY, chance=chance, published=printed)
    if whole:
        level, printed = source.interval(_CHANCE_AVERAGE).estimate, span(_TABLE_2, "average", without=[_HUMAN])
        words = f"by the paper's average of {len(TABLE_2)} groups of questions"
        yield Number(
            "the paper's average", words, PAPER_AVERAGE, chance=level, published=printed, main=False
        )  # fmt: skip
    words = "false alarms among the answers about consistent grids"
    yield Number("false alarms", words, FALSE_ALARMS, higher_is_better=False, main=False)


def _printed() -> Span:
    """Least and most of the paper's models."""
    with _TABLE_2.open(encoding="utf-8", newline="") as lines:
        group, human = _HUMAN
        found = [printed_accuracy(row) for row in csv.DictReader(lines) if row[group] != human]
    return min(found), max(found)


HEADLINE = Headline(
    _numbers,
    "finding what is obviously wrong",
    (
        Column("medobvious", "accuracy", "over all questions, not the paper's average"),
        Column("medobvious*", "accuracy"),
        Column("medobvious*", "*"),
    ),
    sketch=lambda source: Sketch(
        PLANE.small(source),
        "correct with an outlier (%) against wrong without one (%); dashed: guessing; hollow: published",
    ),
)
