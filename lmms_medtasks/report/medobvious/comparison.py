"""The part of a MedObvious report that has several runs, or several ways of asking in one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lmms_medtasks.report.cells import count, label, percent, points, share
from lmms_medtasks.report.document import Cell, Flag, Part, Row, Section, Table
from lmms_medtasks.report.medobvious import figures, published
from lmms_medtasks.report.medobvious.analysis import Analysis
from lmms_medtasks.report.medobvious.facts import extent
from lmms_medtasks.report.medobvious.reading import AS_RELEASED
from lmms_medtasks.report.same_questions import with_marks
from lmms_medtasks.report.suites import Options
from lmms_medtasks.statistics.grouped import Change, changes

_SIGNS = (None, 0, 1)
_NAMES = {None: "all", 0: "positives", 1: "negatives"}


def part(analyses: Mapping[str, Analysis], options: Options) -> Part:
    """The comparison of at least two analyses, by the names that the report gives them."""
    own, names = list(analyses.values()), list(analyses)
    key = f"{options.prefix}all"
    found = [_models(analyses), published.formats(own, names), published.tiers(own, names)]
    drawn = [figures.plane(analyses, key), figures.formats(analyses, key)] if options.drawn else []
    if options.drawn and any(len(each.sizes) > 1 for each in own):
        drawn.append(figures.scaling(analyses, key))
    sections = [
        Section("models", "The runs together", tables=(found[0],)),
        Section("published", "Beside the published models", tables=tuple(found[1:]),
                figures=tuple(each for each in drawn if each)),
    ]  # fmt: skip
    ways = _ways(analyses, options)
    if ways:
        sections.append(Section("ways", "What the picture and the wording are worth", tables=(ways,)))
    runs = len({id(each.source.run) for each in own})
    facts = (("Runs", str(runs)), ("Models and ways of asking", ", ".join(names)))
    origin = (("data of the runs", "; ".join(dict.fromkeys(extent(each.source) for each in own))),)
    asked = {
        name: {"all formats": frozenset(record["id"] for record in each.source.records)}
        for name, each in analyses.items()
    }
    return with_marks(Part(key, "Comparison", facts, tuple(_flags(own)), tuple(sections), origin), asked)


def _flags(analyses: Sequence[Analysis]) -> list[Flag]:
    data = sorted({extent(each.source).partition(";")[0] for each in analyses})
    if data == ["full"]:
        return []
    return [Flag("warning", f"Data of these runs: {'; '.join(data)}. Only full data compares with the paper's.")]


def _models(analyses: Mapping[str, Analysis]) -> Table:
    rows = []
    for name, each in analyses.items():
        cells = (
            percent(each.overall),
            percent(each.columns["positive"]),
            percent(each.columns["negative"]),
            percent(each.alarms["negative"]),
            percent(each.abstentions["positive"]),
            percent(each.agreements["both"].share),
        )
        rows.append(Row((Cell(name), Cell(each.overall.n), *cells, Cell(extent(each.source)))))
    columns = (
        label("run"),
        count("questions"),
        share("overall"),
        share("positives"),
        share("negatives"),
        share("false alarms"),
        share("abstentions"),
        share("items that agree"),
        label("data"),
    )
    notes = ("Each run on the questions that it was asked. In brackets: 95 % interval by bootstrap over items.",)
    return Table("runs", "Accuracy, false alarms, abstentions, agreement", columns, tuple(rows), notes)


def _ways(analyses: Mapping[str, Analysis], options: Options) -> Table | None:
    """The same run's questions asked otherwise, question by question; None if no run asked in two ways."""
    rows = []
    for analysis in analyses.values():
        if analysis.source.variant == AS_RELEASED:
            continue
        same = [each for each in analyses.values() if each.source.run is analysis.source.run]
        base = next((each for each in same if each.source.variant == AS_RELEASED), None)
        if base is None:
            continue
        for sign in _SIGNS:
            change = _change(base, analysis, sign, options.resamples)
            cells = (percent(change.before), percent(change.after), percent(change.change))
            names = (Cell(_model(analyses, base)), Cell(analysis.source.variant), Cell(_NAMES[sign]))
            rows.append(Row((*names, Cell(change.after.n), *cells), "run" if sign is None else "counts"))
    if not rows:
        return None
    columns = (label("run"), label("asked"), label("grids"), count("pairs"), share("as released"), share("so"),
               points("difference"))  # fmt: skip
    notes = (
        "Question by question. What a model still gets without the picture, it has from the words.",
        "In brackets: 95 % interval by bootstrap over items, the same items drawn for both.",
    )
    return Table("ways", "As released and otherwise", columns, tuple(rows), notes)


def _model(analyses: Mapping[str, Analysis], wanted: Analysis) -> str:
    return next(name for name, each in analyses.items() if each is wanted)


def _change(base: Analysis, other: Analysis, sign: int | None, resamples: int) -> Change:
    before, after = (
        [record for record in each.source.records if sign is None or record["negative"] == sign]
        for each in (base, other)
    )
    return changes(before, after, [], resamples=resamples)[()]
