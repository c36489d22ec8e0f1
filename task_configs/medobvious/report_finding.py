"""MedObvious on the first screen of a report: right answers, and false alarms on consistent grids."""

from __future__ import annotations

from pathlib import Path

from lmms_medtasks.report.findings import Finding, share_bar, shown, span, there, whole
from lmms_medtasks.report.views import Source
from lmms_medtasks.suites.estimates import Macro, Mean
from lmms_medtasks.task_configs.medobvious.measures import ACCURACY, FALSE_ALARMS, FORMATS, PAPER_AVERAGE, TABLE_2

_TABLE_2 = Path(__file__).parent / "reference" / "table2.csv"
_CHANCE = Mean(measure="chance", exact=True)
_CHANCE_AVERAGE = Macro(measure="chance", exact=True, groups=tuple(TABLE_2.values()))


def finding(source: Source) -> Finding | None:
    """The finding; None for questions that were asked otherwise than in the paper."""
    if source.condition:
        return None
    whole_benchmark = set(source.rows.column("task_type")) == set(FORMATS)
    estimate, chance = (PAPER_AVERAGE, _CHANCE_AVERAGE) if whole_benchmark else (ACCURACY, _CHANCE)
    title = "the paper's average" if whole_benchmark else "the formats asked"
    printed = span(_TABLE_2, "average", without=[("group", "human")]) if whole_benchmark else None
    right = share_bar(source, title, estimate, chance=source.interval(chance).estimate, published=printed)
    alarms = share_bar(source, "false alarms", FALSE_ALARMS, higher_is_better=False)
    if right is None:
        return None
    guessing = "" if right.beats_chance or right.chance is None else f", no better than guessing ({right.chance:.1f} %)"
    said = f"; a false alarm on {shown(alarms)} of the consistent grids" if alarms else ""
    return Finding(
        "MedObvious",
        there(right, alarms),
        f"{shown(right)} correct{guessing}{said}.",
        f"correct on {whole(right)} of what is obviously wrong",
        "finding what is obviously wrong",
    )
