"""SURE-VQA on the first screen of a report: closed i.i.d. and shifted questions, and the shift that costs most."""

from __future__ import annotations

from collections.abc import Sequence

from lmms_medtasks.report.findings import (
    Bar,
    Finding,
    Span,
    is_told_apart,
    lost,
    points,
    share_bar,
    shown,
    there,
    value_text,
    whole,
)
from lmms_medtasks.report.views import Source
from lmms_medtasks.statistics.intervals import Interval
from lmms_medtasks.suites.estimates import Macro, MacroContrast
from lmms_medtasks.task_configs.sure_vqa.measures import ROBUSTNESS, SIDES
from lmms_medtasks.task_configs.sure_vqa.report_shift_chart import sketch
from lmms_medtasks.task_configs.sure_vqa.report_shifts import GUESSING, HEADLINE, STATISTICS, Shift, groups

_KIND = "closed"


def finding(source: Source) -> Finding | None:
    """The finding over the shifts of real data, with the image; None without closed questions of both tests.

    The shift that stands for the benchmark comes first; without it, or beside other shifts, stands the mean of all.
    """
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
    first = [each for each in both if each == Shift.of(HEADLINE)] or both
    of_all = first if len(first) == len(both) else both
    chosen = [first] if of_all is first else [first, both]
    bars = [each for group in chosen for each in _bars(source, group)]
    if len(bars) < len(SIDES) * len(chosen):
        return None
    shifted, of = bars[1], f"the {_called(first)}" if len(first) > 1 else _shift(first[0])
    guessed = f", {shifted.guessing} ({100 * GUESSING[_KIND]:.0f} %)" if shifted.guessing else ""
    change = _change(source, first)
    loss, more = lost(change, f"on closed questions under {of}"), ""
    if of_all is not first:
        over = f"{_called(both)} ({_questions(source, both):,} questions)"
        more = f"; {over} from {value_text(bars[2], 1)} to {shown(bars[3])}"
        loss += f"; {lost(_change(source, both), f'in the {over}')}"
    most = _worst(source, both) if len(both) > 1 else ""
    one = "" if of_all is first else f", 1 of {len(both)} shifts"
    extent = f"{_called(first)}{one} ({_questions(source, first):,} questions)"
    doubt = "" if change.low is None or is_told_apart(change) else ", maybe by chance"
    return Finding(
        "SURE-VQA",
        tuple(bars),
        f"Closed questions, {extent}: accuracy {_moves(bars[0], shifted)}{doubt}{guessed}{more}{most}.",
        f"correct on {whole(shifted)} of closed questions under {of}",
        "closed questions under shift",
        f"{loss}{most}.",
        beats=shifted.beats_chance,
        change=change,
        under=f"under {of}",
        sketch=lambda: sketch(source),
    )


def _bars(source: Source, shifts: Sequence[Shift]) -> tuple[Bar, ...]:
    """The mean over these shifts, of i.i.d. and of shifted questions."""
    return there(
        *(
            share_bar(
                source,
                f"{said}, {_called(shifts)}",
                Macro(measure=_KIND, groups=tuple(each.where(_KIND, side) for each in shifts)),
                chance=GUESSING[_KIND],
                published=printed(shifts, side),
            )
            for side, said in (("iid", "i.i.d."), ("ood", "shifted"))
        )
    )


def _moves(iid: Bar, shifted: Bar) -> str:
    """``falls from 91.5 % i.i.d. to 83.1 % [76.7, 88.3] shifted``."""
    verb = "falls" if shifted.worth < iid.worth else "goes"
    return f"{verb} from {value_text(iid, 1)} i.i.d. to {shown(shifted)} shifted"


def _change(source: Source, shifts: Sequence[Shift]) -> Interval:
    of_side = {side: tuple(each.where(_KIND, side) for each in shifts) for side in SIDES}
    return source.interval(MacroContrast(measure=_KIND, first=of_side["iid"], second=of_side["ood"]))


def _called(shifts: Sequence[Shift]) -> str:
    return shifts[0].label.replace(", ", " ") if len(shifts) == 1 else f"mean of {len(shifts)} shifts"


def _shift(shift: Shift) -> str:
    """``a shift of question type in SLAKE``."""
    dataset, name = shift.label.split(", ")
    return f"a shift of {name} in {dataset}"


def _questions(source: Source, shifts: Sequence[Shift]) -> int:
    """Closed questions of both tests."""
    return sum(len(source.rows.where(each.where(_KIND)).scored(_KIND)) for each in shifts)


def _worst(source: Source, shifts: Sequence[Shift]) -> str:
    """``; most lost: SLAKE age, 36.8 points [20.3, 52.1]``; "" without a loss told apart."""
    changes = [(source.interval(ROBUSTNESS[_KIND], each.where(_KIND), "change"), each) for each in shifts]
    known = [
        each for each in changes if each[0].estimate is not None and is_told_apart(each[0]) and each[0].estimate < 0
    ]
    if not known:
        return ""
    change, shift = min(known, key=lambda each: each[0].estimate or 0.0)
    return f"; most lost: {_called([shift])}, {points(change)}"


def printed(shifts: Sequence[Shift], side: str) -> Span | None:
    """Least and most of the paper's methods, each its mean over these shifts; None where the paper lacks one."""
    printed = [
        {row.texts["model"]: value for row in each.printed().rows() for value in row.values(f"{_KIND}_{side}")}
        for each in shifts
    ]
    named = [name for name in printed[0] if all(name in each for each in printed)]
    means = [100 * sum(each[name] for each in printed) / len(printed) for name in named]
    return (min(means), max(means)) if means else None
