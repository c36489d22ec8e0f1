"""Bones and Joints: the eight tasks along the pathway of a case, of one model or of several."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lmms_medtasks.report.cells import NONE
from lmms_medtasks.report.charts import (
    DISC,
    OTHER,
    PUBLISHED,
    Chart,
    Guide,
    Panel,
    Point,
    PointRow,
    Series,
    percent_axis,
    places_axis,
    point_chart,
    small_plane,
)
from lmms_medtasks.report.document import Cell
from lmms_medtasks.report.findings import BY_WORDS, Sketch, chance_of_options
from lmms_medtasks.report.judged_tables import LEXICAL, MEANINGS, marks
from lmms_medtasks.report.views import Source
from lmms_medtasks.short_texts import first_listed, interval_text
from lmms_medtasks.statistics.confidence import LEVEL
from lmms_medtasks.task_configs.bones_joints.forms import Task, forms
from lmms_medtasks.task_configs.bones_joints.measures import AS_PUBLISHED, REPORTS
from lmms_medtasks.task_configs.bones_joints.report_groups import SHOWN, find_group, task_groups
from lmms_medtasks.task_configs.bones_joints.report_published import PUBLISHED_TABLE

_SAID = {AS_PUBLISHED: "with images", REPORTS: "with their reports in place of images"}


def _cell(source: Source, task: Task, *conditions: str) -> Cell:
    """The task's accuracy under the first of the conditions that it was asked under; a text-only task has one."""
    group = find_group(task_groups(source), task.key, *(conditions if task.images else (AS_PUBLISHED,)))
    return group.accuracy(source) if group else NONE


def _published(task: Task) -> tuple[tuple[str, float], ...]:
    rows = PUBLISHED_TABLE.published.rows() if PUBLISHED_TABLE.published else ()
    named = ((f"{row.texts['model']} ({row.texts['imaging']})", row.values(task.numeral)) for row in rows)
    return tuple((name, value) for name, values in named for value in values)


def _chance(source: Source, task: Task) -> float | None:
    group = find_group(task_groups(source), task.key, AS_PUBLISHED)
    share = chance_of_options(group.rows) if group and not group.judging else None
    return None if share is None else 100 * share


def _rows(sources: Sequence[Source], columns: Sequence[tuple[Source, tuple[str, ...]]]) -> list[PointRow]:
    return [
        PointRow(
            f"{task.numeral} {task.name}",
            tuple(_cell(source, task, *conditions) for source, conditions in columns),
            _published(task),
            _chance(sources[0], task),
        )
        for task in forms().values()
    ]


def _draw_own(sources: Sequence[Source]) -> str:
    """A point for images, and one for reports where the model was asked with reports."""
    asked = {each.condition for each in task_groups(sources[0])}
    conditions = [each for each in SHOWN if each == AS_PUBLISHED or each in asked]
    names = [_SAID[each] for each in conditions]
    return point_chart(_TITLE, names, _rows(sources, [(sources[0], (each,)) for each in conditions]), _AXIS)


def _draw_several(sources: Sequence[Source]) -> str:
    """A point a model, with images, or with reports where it has no images."""
    return point_chart(
        _TITLE, [each.name for each in sources], _rows(sources, [(each, SHOWN) for each in sources]), _AXIS
    )


def sketch(source: Source) -> Sketch:
    """The tasks along the pathway of one model, as the paper asks them."""
    tasks = list(forms().values())
    x = places_axis([each.numeral for each in tasks])
    own, by_words, printed, guides = [], [], [], []
    for place, task in enumerate(tasks):
        cell, chance = _cell(source, task, AS_PUBLISHED), _chance(source, task)
        if isinstance(cell.value, int | float):
            said = f"{task.title}: {cell.value:.1f} %{interval_text(cell.low, cell.high, 1)}"
            point = Point(place, cell.value, said, cell.low, cell.high, size=4.5)
            if LEXICAL in cell.mark:
                by_words.append(replace(point, said=f"{said}, {BY_WORDS}"))
            else:
                own.append(point)
        printed += [
            Point(place, value, f"{task.title}, {model}: {value:g} %", size=3) for model, value in _published(task)
        ]
        if chance is not None:
            guides.append(Guide(place - 0.4, chance, place + 0.4, chance))
    series = (
        Series("published", tuple(printed), PUBLISHED, quiet=True),
        Series("this model", tuple(own), DISC),
        Series("this model, by words", tuple(by_words), OTHER, faint=True),
    )
    panel = Panel(x, percent_axis(), series, guides=tuple(guides))
    points = [*own, *by_words]
    svg = small_plane(f"{_TITLE}. {first_listed([point.said for point in points])}.", panel)
    pale = f"; pale: {BY_WORDS}" if by_words else ""
    said = f"correct (%), tasks I to VIII, {len(points)} with an accuracy; dashed: guessing; hollow: published{pale}"
    return Sketch(svg, said)


_TITLE, _AXIS = "Accuracy in the eight tasks", "correct, percent"
_ABOUT = (
    f"From knowledge to reasoning, in the order of a case. Bars: {LEVEL} intervals. A task without a point was not "
    "asked or not judged. Hollow: as the paper prints it, on its own data; language models read reports there."
)


def _about(sources: Sequence[Source]) -> str:
    """What is drawn, and what limits the judged numbers, as the marks in the tables have it."""
    used = marks(*(each.judging for source in sources for each in task_groups(source)))
    limits = "".join(f" {meaning}" for mark, meaning in MEANINGS.items() if mark in used)
    return f"{_ABOUT}{f' From the diagnosis on (IV to VIII):{limits}' if limits else ''}"


PATHWAY = Chart("pathway", _TITLE, _about, "main", _draw_own)
PATHWAY_OF_MODELS = Chart("pathway", _TITLE, _about, "models", _draw_several)
