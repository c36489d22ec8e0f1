"""SURE-VQA's headline: closed i.i.d. and shifted questions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lmms_medtasks.report.findings import Change, Number, Span
from lmms_medtasks.report.headlines import BoardColumn, Headline
from lmms_medtasks.report.views import Source
from lmms_medtasks.suites.estimates import Macro, MacroContrast
from lmms_medtasks.task_configs.sure_vqa.measures import KINDS, ROBUSTNESS, SIDES
from lmms_medtasks.task_configs.sure_vqa.report_shift_chart import sketch
from lmms_medtasks.task_configs.sure_vqa.report_shifts import GUESSING, MAIN_SHIFT, STATISTICS, Shift, groups

_KIND = "closed"
_SAID = {"iid": "i.i.d.", "ood": "shifted"}


def _both_tests(source: Source) -> list[Shift]:
    """The shifts of real data with scored closed questions of both tests, with the image."""
    own = [shift for shift, kind in groups(source) if kind == _KIND and not shift.strength and not source.condition]
    return [
        each
        for each in own
        if all(source.interval(ROBUSTNESS[_KIND], each.where(_KIND), STATISTICS[side]).n for side in SIDES)
    ]


def _chosen(source: Source) -> list[list[Shift]]:
    """The shift that stands for the benchmark first; without it, or beside other shifts, the mean of all."""
    both = _both_tests(source)
    first = [each for each in both if each == Shift.of(MAIN_SHIFT)] or both
    return [each for each in ([first] if len(first) == len(both) else [first, both]) if each]


def _numbers(source: Source) -> Iterator[Number]:
    """Each the mean over the chosen shifts, of i.i.d. and of shifted questions."""
    for number, shifts in enumerate(_chosen(source)):
        where = {**KINDS[_KIND], "shift": tuple(f"{each.dataset}_{each.name}" for each in shifts)}
        for side, said in _SAID.items():
            estimate = Macro(measure=_KIND, groups=tuple(each.where(_KIND, side) for each in shifts))
            # The shortest sentence is about the shifted questions of the first alone.
            words = said if number or side == "iid" else "on shifted closed questions"
            words += f" ({_name_shifts(shifts)})" if side == "ood" else ""
            yield Number(
                f"{said}, {_name_shifts(shifts)}", words, estimate, where, chance=GUESSING[_KIND],
                published=printed(shifts, side), main=not number and side == "ood",
            )  # fmt: skip


def _changes(source: Source) -> Iterator[Change]:
    for shifts in _chosen(source):
        of_side = {side: tuple(each.where(_KIND, side) for each in shifts) for side in SIDES}
        change = MacroContrast(measure=_KIND, first=of_side["iid"], second=of_side["ood"])
        yield Change(source.interval(change), f"{'in the' if len(shifts) > 1 else 'under'} {_name_shifts(shifts)}")


def _name_shifts(shifts: Sequence[Shift]) -> str:
    return shifts[0].label.replace(", ", " ") if len(shifts) == 1 else f"mean of {len(shifts)} shifts"


def printed(shifts: Sequence[Shift], side: str) -> Span | None:
    """Least and most of the paper's methods, each its mean over these shifts; None where the paper lacks one."""
    printed = [
        {row.texts["model"]: value for row in each.printed().rows() for value in row.values(f"{_KIND}_{side}")}
        for each in shifts
    ]
    named = [name for name in printed[0] if all(name in each for each in printed)]
    means = [100 * sum(each[name] for each in printed) / len(printed) for name in named]
    return (min(means), max(means)) if means else None


def _column(task: str, side: str, words: str, heads: bool = True) -> BoardColumn:
    return BoardColumn(task, f"closed_{side}", words, heads, ("", "closed_iid") if side == "ood" else None)


HEADLINE = Headline(
    _numbers,
    "closed questions under shift",
    (
        _column(f"sure_{MAIN_SHIFT}", "ood", "on closed questions of an unseen modality, one of 7 shifts"),
        _column("sure_*", "ood", "on closed questions under shift"),
        BoardColumn("sure_*", "closed*"),
        BoardColumn("sure_*", "*"),
        _column("sure_*", "iid", "on i.i.d. ones", heads=False),
        BoardColumn("sure_*", "open_ood", "on open questions under shift", heads=False),
        BoardColumn("sure_*", "open_iid", "on i.i.d. ones", heads=False),
    ),
    changes=_changes,
    sketch=sketch,
)
