"""SURE-VQA on the first screen of a report: closed questions as trained and shifted, and the shift that costs most."""

from __future__ import annotations

from collections.abc import Sequence

from lmms_medtasks.report.findings import Finding, Span, is_told_apart, lost, points, share_bar, shown, there, whole
from lmms_medtasks.report.views import Source
from lmms_medtasks.suites.estimates import Macro, MacroContrast
from lmms_medtasks.task_configs.sure_vqa import reference
from lmms_medtasks.task_configs.sure_vqa.measures import ROBUSTNESS, SIDES
from lmms_medtasks.task_configs.sure_vqa.report_shifts import STATISTICS, Shift, groups

_KIND = "closed"


def finding(source: Source) -> Finding | None:
    """The finding over the shifts of real data, with the image; None without closed questions of both tests."""
    if source.condition:
        return None
    own = [shift for shift, kind in groups(source) if kind == _KIND and not shift.strength]
    both = [
        each
        for each in own
        if all(source.interval(ROBUSTNESS[_KIND], each.where(_KIND), STATISTICS[side]).n for side in SIDES)
    ]
    if not both:
        return None
    of_side = {side: tuple(each.where(_KIND, side) for each in both) for side in SIDES}
    title = both[0].label if len(both) == 1 else f"{len(both)} shifts"
    bars = there(
        *(
            share_bar(
                source, f"{said}, {title}", Macro(measure=_KIND, groups=of_side[side]), published=printed(both, side)
            )
            for side, said in (("iid", "as trained"), ("ood", "shifted"))
        )
    )
    if len(bars) < len(SIDES):
        return None
    change = source.interval(MacroContrast(measure=_KIND, first=of_side["iid"], second=of_side["ood"]))
    of = both[0].label if len(both) == 1 else f"the mean of {len(both)} shifts"
    said = lost(change, f"of closed questions under {of}")
    most = _worst(source, both) if len(both) > 1 else ""
    return Finding(
        "SURE-VQA",
        bars,
        f"Closed questions: {shown(bars[0])} as trained, {shown(bars[1])} under shift{most}.",
        f"correct on {whole(bars[1])} of closed questions under shift",
        "closed questions under shift",
        f"{said}{most}.",
        change=change,
        under=f"under {of}",
    )


def _worst(source: Source, shifts: Sequence[Shift]) -> str:
    """``; most is lost under SLAKE, modality: 36.8 points [20.3, 52.1]``; "" where none is told apart from nothing."""
    changes = [(source.interval(ROBUSTNESS[_KIND], each.where(_KIND), "change"), each) for each in shifts]
    known = [
        each for each in changes if each[0].estimate is not None and is_told_apart(each[0]) and each[0].estimate < 0
    ]
    if not known:
        return ""
    change, shift = min(known, key=lambda each: each[0].estimate or 0.0)
    return f"; most is lost under {shift.label}: {points(change)}"


def printed(shifts: Sequence[Shift], side: str) -> Span | None:
    """Least and most of the paper's methods, each its mean over these shifts; None where the paper lacks one."""
    if not all(each.published for each in shifts):
        return None
    means = []
    for model in reference.BASE_MODELS:
        rows = [
            {
                row.method: getattr(row, side)
                for row in reference.robustness_results(each.dataset, model, each.name, _KIND)
            }
            for each in shifts
        ]
        for method in rows[0]:
            values = [row.get(method) for row in rows]
            if all(value is not None for value in values):
                means.append(100 * sum(value.mean for value in values if value) / len(values))
    return (min(means), max(means)) if means else None
