"""MedObvious on the first screen of a report: accuracy over all questions and by the paper's average, and false alarms.

A board ranks by the first; the second weighs questions otherwise.
"""

from __future__ import annotations

import csv
from pathlib import Path

from lmms_medtasks.report.findings import Finding, Sketch, Span, share_bar, shown, span, there, whole
from lmms_medtasks.report.views import Source
from lmms_medtasks.suites.estimates import Macro, Mean
from lmms_medtasks.task_configs.medobvious.measures import ACCURACY, FALSE_ALARMS, FORMATS, PAPER_AVERAGE, TABLE_2
from lmms_medtasks.task_configs.medobvious.report_figures import PLANE
from lmms_medtasks.task_configs.medobvious.report_published import printed_accuracy

_TABLE_2 = Path(__file__).parent / "reference" / "table2.csv"
_HUMAN = "group", "human"
_CHANCE = Mean(measure="chance", exact=True)
_CHANCE_AVERAGE = Macro(measure="chance", exact=True, groups=tuple(TABLE_2.values()))


def finding(source: Source) -> Finding | None:
    """The finding; None for questions that were asked otherwise than in the paper."""
    if source.condition:
        return None
    whole_benchmark = set(source.rows.column("task_type")) == set(FORMATS)
    right = share_bar(
        source,
        "all questions" if whole_benchmark else "the formats asked",
        ACCURACY,
        chance=source.interval(_CHANCE).estimate,
        published=_printed() if whole_benchmark else None,
    )
    average = None
    if whole_benchmark:
        level, printed = source.interval(_CHANCE_AVERAGE).estimate, span(_TABLE_2, "average", without=[_HUMAN])
        average = share_bar(source, "the paper's average", PAPER_AVERAGE, chance=level, published=printed)
    alarms = share_bar(source, "false alarms", FALSE_ALARMS, higher_is_better=False)
    if right is None:
        return None
    guessing = f", {right.guessing} ({right.chance:.1f} %)" if right.guessing else ""
    weighed = f"; {shown(average)} by the paper's average of {len(TABLE_2)} groups of questions" if average else ""
    said = f"; {shown(alarms)} of the answers about consistent grids are false alarms" if alarms else ""
    return Finding(
        "MedObvious",
        there(right, average, alarms),
        f"{shown(right)} of {right.title} correct{guessing}{weighed}{said}.",
        f"correct on {whole(right)} of questions about what is obviously wrong",
        "finding what is obviously wrong",
        sketch=lambda: Sketch(
            PLANE.small(source),
            "correct with an outlier (%) against wrong without one (%); dashed: guessing; hollow: published",
        ),
    )


def _printed() -> Span:
    """Least and most of the paper's models."""
    with _TABLE_2.open(encoding="utf-8", newline="") as lines:
        group, human = _HUMAN
        found = [printed_accuracy(row) for row in csv.DictReader(lines) if row[group] != human]
    return min(found), max(found)
