"""SURE-VQA: closed questions from the i.i.d. test to the shifted one, a line a shift, and the paper's baselines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from lmms_medtasks.report.charts import Chart
from lmms_medtasks.report.document import Cell
from lmms_medtasks.report.findings import Sketch
from lmms_medtasks.report.views import CellFunction, Column, Row, Source, Table
from lmms_medtasks.statistics.confidence import LEVEL
from lmms_medtasks.task_configs.sure_vqa.measures import ROBUSTNESS, SIDES
from lmms_medtasks.task_configs.sure_vqa.report_shifts import GUESSING, Shift, model_of, shifts

_KIND = "closed"
_ROBUST = ROBUSTNESS[_KIND]
_UNTUNED = "LLaVA-Med 1.5: No fine-tuning"
_BASELINES = {_UNTUNED: "LLaVA-Med 1.5 without fine-tuning", "Most frequent": "most frequent answers"}
"""The paper's baselines: the first has both tests of each shift, the other the i.i.d. tests of two datasets."""
_TESTS = dict(zip(SIDES, ("i.i.d.", "shifted"), strict=True))


def _fixed(number: float) -> CellFunction:
    return lambda source, row, rows: Cell(100 * number)


def _printed(shift: Shift, baseline: str) -> dict[str, CellFunction | None]:
    """A baseline of the paper on a shift, by test, None where it has no number; {} where the paper has no row of it."""
    found: dict[str, CellFunction | None] = {}
    for row in (each for each in shift.printed().rows() if each.texts["model"] == baseline):
        for side, test in _TESTS.items():
            numbers = row.values(f"{_KIND}_{side}")
            found[test] = _fixed(numbers[0]) if numbers else None
    return found


def _asked(source: Source) -> list[Shift]:
    """The shifts with both tests, the largest fall first."""
    changes = [(source.interval(_ROBUST, each.where(_KIND), "change").estimate, each) for each in shifts(source)]
    return [shift for _, shift in sorted((change, shift) for change, shift in changes if change is not None)]


def _rows(sources: Sequence[Source]) -> Iterator[Row]:
    """Of one source its shifts with the paper's baselines; of several the real shifts that more than one was asked."""
    shown = sources if len(sources) == 1 else [each for each in sources if not each.condition]
    asked = {id(each): _asked(each) for each in shown}
    models = [model_of(each) for each in shown]
    every = list(dict.fromkeys(shift for own in asked.values() for shift in own))
    if len(sources) > 1:
        often = [shift for shift in every if sum(shift in own for own in asked.values()) > 1 and not shift.strength]
        every = sorted(often, key=lambda each: each.place)
    for shift in every:
        for source in (each for each in shown if shift in asked[id(each)]):
            # A model's name alone, where that tells the sources apart.
            name = model_of(source) if len(set(models)) == len(models) else source.name
            strength = "corrupted" if shift.strength else "real"
            yield Row((_label(shift), name, strength), shift.where(_KIND), source=source)
        for baseline, said in _BASELINES.items() if len(sources) == 1 else [(_UNTUNED, _BASELINES[_UNTUNED])]:
            if cells := _printed(shift, baseline):
                yield Row((_label(shift), said, ""), kind="reference", estimates=cells, source=shown[0])
        guess = dict.fromkeys(_TESTS.values(), _fixed(GUESSING[_KIND]))
        yield Row((_label(shift), "uniform guessing", ""), kind="counts", estimates=guess, source=shown[0])


def _label(shift: Shift) -> str:
    """``MIMIC age``: short enough for a column of a page, and for a panel on a phone."""
    dataset, name = shift.label.split(", ")
    return f"{dataset.partition('-')[0]} {name}"


SLOPES = Chart(
    "plane",
    "shifts",
    "Closed questions, i.i.d. and shifted",
    "A line a shift, from the i.i.d. test (data as the paper's models were trained on) to the shifted one. Orange: the "
    f"largest fall. Bars: {LEVEL} intervals over images. Grey lines: "
    f"{_BASELINES[_UNTUNED]}, from the paper and on its data. Squares: always the most frequent answer, which the "
    "paper prints for i.i.d. tests only. Dashed: guessing.",
    Table(
        "shifts",
        "Closed questions, i.i.d. and shifted",
        ("shift", "model", "strength"),
        _rows,
        (
            Column(_TESTS["iid"], _ROBUST, statistic="first", bare=True),
            Column(_TESTS["ood"], _ROBUST, statistic="second"),
        ),
    ),
    tuple(_TESTS.values()),
    group="model",
    joined=True,
    names="ends",
    worst=True,
    scale="fitted",
    axis=("", "correct, percent"),
    numbers="robustness",
)
SLOPES_OF_MODELS = replace(
    SLOPES,
    title="Closed questions of each model, i.i.d. and shifted",
    about="A panel a shift, a line a model, from the i.i.d. test to the shifted one, percent. Bars: "
    f"{LEVEL} intervals over images. Grey: {_BASELINES[_UNTUNED]}, from the paper and on its "
    "data. Dashed: guessing.",
    panel="shift",
    series="model",
    names="legend",
    worst=False,
    scale="",
    axis=(),
)
_SKETCH = replace(SLOPES, where={"strength": "real"}, group="")


def sketch(source: Source) -> Sketch | None:
    """The lines of the real shifts without their names but that of the largest fall; None without a shift."""
    known = [each for each in _SKETCH.marks([source]) if each.y.value is not None]
    own = {each.row for each in known if each.kind == "run"}
    if not own:
        return None
    svg = _SKETCH.small(source)
    orange = "; orange: the largest fall" if 'class="harm"' in svg else ""
    grey = f"; grey: {_BASELINES[_UNTUNED]}" if any(each.is_published for each in known) else ""
    return Sketch(svg, f"closed questions correct (%), {len(own)} shift{'s' * (len(own) > 1)}{orange}{grey}")
