"""MedObvious on the first screen of a report: accuracy over all questions and by the paper's average, and false alarms.

A board ranks by the first; the second weighs questions otherwise.
"""

from __future__ import annotations

from lmms_medtasks.report.findings import Finding, Sketch, share_bar, shown, there, whole
from lmms_medtasks.report.published import span
from lmms_medtasks.report.views import Source
from lmms_medtasks.suites.estimates import Macro, Mean
from lmms_medtasks.task_configs.medobvious.measures import (
    ACCURACY,
    FALSE_ALARMS,
    FORMATS,
    PAPER_AVERAGE,
    SUITE,
    TABLE_2,
)
from lmms_medtasks.task_configs.medobvious.report_figures import PLANE

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
        published=span(SUITE, "medobvious", "accuracy") if whole_benchmark else None,
    )
    average = None
    if whole_benchmark:
        level, printed = source.interval(_CHANCE_AVERAGE).estimate, span(SUITE, "medobvious", "paper_average")
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
