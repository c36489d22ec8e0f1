"""Panels of a plane from its marks: axes, series of sources, published groups, what guessing gets, names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from lmms_medtasks.report.charts.chart_spec import ChartSpec, Mark, axis_around
from lmms_medtasks.report.charts.planes import Guide, Panel, Point, Series
from lmms_medtasks.report.charts.svg import (
    BETWEEN,
    DISC,
    GUESS,
    MODELS,
    OTHER,
    PUBLISHED,
    PUBLISHED_GROUPS,
    RING,
    WORST,
    Axis,
    Look,
    axis_of,
    percent_axis,
    places_axis,
    quarters_axis,
)
from lmms_medtasks.report.document import Cell
from lmms_medtasks.report.findings import BY_WORDS
from lmms_medtasks.report.judged_tables import LEXICAL
from lmms_medtasks.short_texts import cut_apart, first_listed, interval_text, shorten_text

_NAMED, _CROWD, _LONGEST = 8, 12, 24
"""Marks of ours up to which all have their names beside them, of more the first and the last; from which on they are
small; and letters of a name."""
_TICKS = 6
"""Parts of an axis of a plot with many marks."""
_BESIDE = 0.05
"""How far series stand apart at one place, so that intervals do not hide each other; a part of that distance."""
_SIZE, _PRINTED, _LEAST, _MORE = 5.0, 3.5, 2.5, 7.0
"""Sizes of marks, in pixels; of those whose area stands for a number the least, and what the whole adds to it."""


def said_of(title: str, panels: Sequence[Panel]) -> str:
    """What the panels show, in words."""
    own = [
        " ".join(filter(None, (panel.title, series.name))) + " " + ", ".join(
            f"{panel.y.text(point.y)}" if panel.x.labels else f"{panel.x.text(point.x)} {panel.y.text(point.y)}"
            for point in series.points[:8]
        )
        for panel in panels for series in panel.series if series.points and not series.quiet and series.look
    ]  # fmt: skip
    return f"{title}. {first_listed([each.strip() for each in own])}."


def panels_of(
    chart: ChartSpec, marks: Sequence[Mark], guides: Sequence[Guide] = (), *, is_small: bool = False
) -> list[Panel]:
    """A panel for each title among the marks; ``is_small``: for a column of a page."""
    by_panel: dict[str, list[Mark]] = {}
    for mark in marks:
        by_panel.setdefault(mark.panel, []).append(mark)
    shown = [own for own in by_panel.values() if _PanelBuilder(chart, own, (), "", is_small).own]
    series = list(dict.fromkeys(each.series for own in shown for each in own if each.kind == "run"))
    titles, _ = without_common_end([own[0].panel for own in shown])
    return [
        _PanelBuilder(chart, own, series, title, is_small).made(guides)
        for own, title in zip(shown, titles, strict=True)
    ]


def without_common_end(texts: Sequence[str]) -> tuple[list[str], str]:
    """The texts without what all have in brackets at their end, and that.

    >>> without_common_end(["clean (3 trials)", "severe (3 trials)"])
    (['clean', 'severe'], '3 trials')
    """
    ends = {text.partition(" (")[2].removesuffix(")") for text in texts}
    common = ends.pop() if len(ends) == 1 and len(texts) > 1 else ""
    return ([text.partition(" (")[0] for text in texts], common) if common else (list(texts), "")


def _clip_guide(guide: Guide, x: Axis, y: Axis) -> Guide:
    ends = [min(max(end, axis.low), axis.high) for end, axis in
            ((guide.x1, x), (guide.y1, y), (guide.x2, x), (guide.y2, y))]  # fmt: skip
    return replace(guide, x1=ends[0], y1=ends[1], x2=ends[2], y2=ends[3])


def largest_fall(own: Sequence[Mark]) -> str | None:
    """The series of these marks that falls most from its first to its last; None where none falls."""
    falls: dict[str, list[float]] = {}
    for each in own:
        falls.setdefault(each.series, []).append(each.value)
    name = min(falls, key=lambda each: falls[each][-1] - falls[each][0])
    return name if falls[name][-1] < falls[name][0] else None


class _PanelBuilder:
    """The making of a panel; ``series``: those of ours in all panels, so that one has one look everywhere."""

    def __init__(self, chart: ChartSpec, marks: Sequence[Mark], series: Sequence[str], title: str, is_small: bool):
        self._chart, self._marks, self._series, self._title, self._small = chart, marks, series, title, is_small
        self._places = list(dict.fromkeys(mark.column for mark in marks))
        self._numbers = any(mark.x.value is not None for mark in marks)
        self.own = [mark for mark in marks if mark.kind == "run" and self._is_there(mark)]

    def _is_there(self, mark: Mark) -> bool:
        return mark.y.value is not None and (not self._numbers or mark.x.value is not None)

    def _place(self, mark: Mark) -> float:
        return float(mark.x.value) if self._numbers else float(self._places.index(mark.column))  # type: ignore[arg-type]

    def made(self, guides: Sequence[Guide]) -> Panel:
        x, y = self._axes([guide.x1 for guide in guides if guide.x1 == guide.x2])
        lines = [*(_clip_guide(guide, x, y) for guide in guides), *self._guides(x, y)]
        if self._small:
            lines = [replace(line, label=line.label if len(self.own) > 1 else "") for line in lines]
            x, y = replace(x, title=""), replace(y, title="")
        title = "" if self._small else shorten_text(self._title, 40)
        series = [*self._published(), *self._of_guessing(), *self._of_ours(x)]
        return Panel(x, y, tuple(series), title, tuple(lines))

    def _axes(self, lines: Sequence[float]) -> tuple[Axis, Axis]:
        """Across and up; ``lines``: places of lines that the first has to hold."""
        chart, titles = self._chart, [*self._chart.axis, "", ""]
        known = [mark for mark in self._marks if self._is_there(mark)]
        if self._small and chart.worst:
            worst = largest_fall(self.own)
            known = [each if each.series == worst else replace(each, y=Cell(each.y.value)) for each in known]
        if not self._numbers:
            heads, common = without_common_end(self._places)
            cut = cut_apart(heads, max(8, 48 // len(heads)))
            x = places_axis([cut[head] for head in heads], titles[0] or common)
            # The number of the largest fall stands at the right.
            x = replace(x, low=-0.35, high=x.high + 0.4) if self._small and chart.worst else x
        else:
            x = self._number_axis(known, titles[0], lines)
        shares = all(0 <= each.value <= 1 for each in known) and not known[0].signed and not known[0].unit
        if known[0].unit == "%" and not chart.scale:
            y = percent_axis(titles[1])
        elif shares:
            y = quarters_axis(0, 1, titles[1], digits=2)
        else:
            y = axis_around(known, titles[1], most=_TICKS if len(known) > _TICKS and not self._small else 5)
            y = replace(y, unit=" %" if known[0].unit == "%" else "")
        return x, y

    def _number_axis(self, known: Sequence[Mark], title: str, lines: Sequence[float]) -> Axis:
        """From 0 to 1 or 100 where all numbers are between; of a few whole numbers a tick each; else around them."""
        places = [self._place(each) for each in known]
        if self._chart.scale == "fitted":
            ends = [end for each in known for end in (each.x.low, each.x.high)]
            return axis_of([*places, *ends, *lines], title, most=_TICKS)
        ticks = sorted(set(places))
        if len(ticks) <= 4 and all(tick == int(tick) for tick in ticks) and self._chart.joined:
            room = (ticks[-1] - ticks[0]) / 10 or 1
            return Axis(ticks[0] - room, ticks[-1] + room, tuple(ticks), title, digits=0)
        if self._chart.diagonal:
            return quarters_axis(0, 1 if max(places) <= 1 else 100, title, digits=2 if max(places) <= 1 else 1)
        return percent_axis(title) if 0 <= min(places) and 1 < max(places) <= 100 else axis_of(places, title)

    def _guides(self, x: Axis, y: Axis) -> list[Guide]:
        found = [Guide(x.low, 0, x.high, 0, kind="zero")] if self.own[0].signed and y.low <= 0 <= y.high else []
        found += [Guide(x.low, y.low, x.high, y.high)] if self._chart.diagonal else []
        guessed = [mark for mark in self._marks if mark.kind == "counts" and mark.y.value is not None]
        if self._numbers or not guessed:
            return found
        level = guessed[0].value
        if len({round(mark.value, 6) for mark in guessed}) == 1 and len(guessed) >= len(self._places):
            # Where the largest fall has its number there is room at the right, and lines begin at the left.
            ends = (x.low, x.high) if self._chart.worst else (x.high, x.low)
            return [*found, Guide(ends[0], level, ends[1], level, "guessing" if self._small else "")]
        places = ((self._place(mark), mark.value) for mark in guessed)
        return [*found, *(Guide(place - 0.4, value, place + 0.4, value) for place, value in places)]

    def _of_guessing(self) -> list[Series]:
        """A cross for one place, a dashed line for several."""
        guessed = [mark for mark in self._marks if mark.kind == "counts" and self._numbers and self._is_there(mark)]
        points = tuple(self._point(each, size=4) for each in guessed)
        if not points:
            return []
        one = len(points) == 1
        name = guessed[0].row if one else "guessing"
        return [Series(name, points, GUESS if one else None, "" if one else "guess")]

    def _published(self) -> list[Series]:
        kept = {id(each) for row in self._chart.chosen(self._marks).values() for each in row}
        known = [mark for mark in self._marks if mark.kind == "reference" and id(mark) in kept and self._is_there(mark)]
        if self._chart.joined:
            line = "joined-published faint" if self._small else "joined-published"
            groups = list(dict.fromkeys(each.group for each in known))
            of_group = dict(zip(groups, [PUBLISHED, *PUBLISHED_GROUPS[2:], *[PUBLISHED] * len(groups)], strict=False))
            of_rows: dict[tuple[str, str], list[Point]] = {}
            for each in known:
                of_rows.setdefault((each.row, each.group), []).append(self._point(each, size=3))
            return [
                Series(group or "published", tuple(points), None if self._small else of_group[group], line, quiet=True)
                for (_, group), points in of_rows.items()
            ]  # fmt: skip
        ends = self._ends(known)
        cut = cut_apart([each.row for each in known], _LONGEST)
        groups = list(dict.fromkeys("" if self._small else each.group for each in known))
        size = 4 if len(groups) > 1 else _PRINTED
        found = []
        for group, look in zip(groups, [*PUBLISHED_GROUPS, *[PUBLISHED] * len(groups)], strict=False):
            own = [each for each in known if self._small or each.group == group]
            points = [self._point(each, self._label(each, cut) if id(each) in ends else "", size) for each in own]
            found.append(Series(group or "published", tuple(points), look, quiet=True))
        return found

    def _ends(self, known: Sequence[Mark]) -> set[int]:
        """The published marks of a plane with a name beside them: the ends and the best."""
        if not known or not self._numbers or self._small:
            return set()
        ends = {id(pick(known, key=key)) for key in (self._place, lambda each: each.value) for pick in (min, max)}
        # Where less is better across, the best are those nearest to the upper left corner.
        best = sorted(known, key=lambda each: self._place(each) - each.value)[: 3 if self._chart.rest else 0]
        return {*ends, *map(id, best)}

    def _of_ours(self, x: Axis) -> list[Series]:
        names = list(dict.fromkeys(each.series for each in self.own))
        if self._chart.names == "points":
            return [self._named()]
        worst = largest_fall(self.own) if self._chart.worst else None
        found = []
        for name in sorted(names, key=lambda each: each == worst):
            own = [each for each in self.own if each.series == name]
            number = self._series.index(name)
            look = WORST if name == worst else self._look(number)
            beside = zip(map(self._point, own), self._beside(x, number, len(names), own), strict=True)
            points = tuple(replace(point, x=point.x + step) for point, step in beside)
            if self._small and worst:
                points = self._bare(points, name == worst)
            elif self._small and self._chart.joined:
                points = tuple(replace(each, label=f"{each.y:.1f}", size=3.5) for each in points)
            line = ("joined-harm" if name == worst else "joined-thin") if self._chart.joined else ""
            at_end = self._chart.names == "ends" and not self._small
            said = name if look is not OTHER or at_end else "other models"
            by_words = [LEXICAL in each.y.mark for each in own]
            for kind in sorted(set(by_words)):
                of_kind = tuple(each for each, words in zip(points, by_words, strict=True) if words is kind)
                pale = kind and len(names) == 1
                found.append(Series(f"{said}, {BY_WORDS}" if pale else said, of_kind, OTHER if pale else look, line,
                                    at_end, faint=pale))  # fmt: skip
        return found

    def _bare(self, points: tuple[Point, ...], is_worst: bool) -> tuple[Point, ...]:
        """Points without interval and number, which in a column of a page only the worst line's end has."""
        bare = tuple(replace(point, size=3.5, low=None, high=None) for point in points)
        if not is_worst:
            return bare
        last = points[-1]
        return *bare[:-1], replace(bare[-1], low=last.low, high=last.high, label=f"{last.y:.1f}")

    def _beside(self, x: Axis, number: int, count: int, own: Sequence[Mark]) -> list[float]:
        """How far each point of a series stands from its place: none where no interval could hide another."""
        if not self._chart.joined or count < 2 or self._small:
            return [0.0] * len(own)
        step = _BESIDE if not self._numbers else 0.012 * (x.high - x.low)
        return [step * (number - (count - 1) / 2) if each.y.low is not None else 0.0 for each in own]

    def _look(self, number: int) -> Look:
        if self._chart.steps and len(self._series) > 1:
            return DISC if number == len(self._series) - 1 else BETWEEN if number else RING
        if self._chart.worst:
            return DISC
        return MODELS[number] if number < len(MODELS) else OTHER

    def _named(self) -> Series:
        ranked = sorted(self.own, key=lambda each: -(each.value if each.total is None else each.total))
        crowded = len(ranked) > _CROWD
        cut = cut_apart([each.row for each in ranked], _LONGEST)
        named = {id(each) for each in (ranked if len(ranked) <= _NAMED else (ranked[0], ranked[-1]))}
        points = [
            self._point(each, self._label(each, cut) if id(each) in named else "", _PRINTED if crowded else _SIZE)
            for each in ranked
        ]
        return Series("measured", tuple(reversed(points)), DISC, faint=crowded)

    def _label(self, mark: Mark, cut: Mapping[str, str]) -> str:
        return self._chart.heads.get(mark.row, cut[mark.row])

    def _point(self, mark: Mark, label: str = "", size: float = _SIZE) -> Point:
        digits, unit = mark.digits, " %" if mark.unit == "%" else ""
        number = f"{mark.value:+.{digits}f}" if mark.signed else f"{mark.value:.{digits}f}"
        number += unit + interval_text(mark.y.low, mark.y.high, digits)
        who = mark.series if mark.kind == "run" else f"{mark.row}, published" if mark.is_published else mark.row
        if mark.x.value is None:
            said = f"{who}, {mark.column}: {number}"
        else:
            x = self._place(mark)
            across = f"{x:g}" if x == int(x) else f"{x:.1f}" if abs(x) >= 2 else f"{x:.2f}"
            where = f", {self._title}" if self._title else ""
            said = f"{who}{where}: {across}{interval_text(mark.x.low, mark.x.high, 1)}, {number}"
        if mark.size is not None:
            total = sum(each.size or 0 for each in self.own if each.series == mark.series) or 1
            size, said = round(_LEAST + _MORE * (mark.size / total) ** 0.5, 1), f"{said}, {mark.size:,.0f} questions"
        # As the first page's filters name a model.
        model = f"{'published' if mark.is_published else 'measured'} {mark.row.lower()}"
        return Point(
            self._place(mark), mark.value, said, mark.y.low, mark.y.high, mark.x.low, mark.x.high, label, size,
            model if self._chart.names == "points" else "",
        )  # fmt: skip
