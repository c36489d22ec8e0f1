"""Puts the parts of a MedQ-Deg report together: for each task set its own, for several a comparison first."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from lmms_medtasks.metrics.bootstrap import RESAMPLES
from lmms_medtasks.report import calibration_tables, comparison, figures, published, reading, tables
from lmms_medtasks.report.document import Document, Figure, Part, Section, Table
from lmms_medtasks.report.flags import data_of, extent, flags
from lmms_medtasks.report.medq_deg import Analysis, analyse
from lmms_medtasks.sources.progress import bar


def build(paths: Sequence[Path], *, resamples: int = RESAMPLES, drawn: bool = True) -> Document:
    """The report of the runs that ``paths`` hold (see :func:`lmms_medtasks.report.reading.runs`).

    ``drawn=False`` leaves the figures out (a terminal can't show them). The same files give the same document.
    Raises UserError when a run can't be read, holds no task of MedQ-Deg, or can't be told apart from another.
    """
    runs = reading.runs(paths)
    analyses: list[Analysis] = []
    with bar(len(runs), "Reading and analysing", "runs") as step:
        for run in runs:
            for source in reading.task_sets(run):
                analyses.append(analyse(source, resamples=resamples))
            step(1)
    names = comparison.distinct_names(analyses)
    parts = [
        part(each, name, f"part{number}", drawn)
        for number, (each, name) in enumerate(zip(analyses, names, strict=True))
    ]
    if len(analyses) > 1:
        parts.insert(0, comparison.part(analyses, names, resamples=resamples, drawn=drawn))
    models = list(dict.fromkeys(each.source.model for each in analyses))
    title = f"MedQ-Deg: {models[0]}" if len(models) == 1 else f"MedQ-Deg: {len(models)} models"
    return Document(title, tuple(parts))


def part(analysis: Analysis, name: str, key: str, drawn: bool) -> Part:
    """The part of one task set."""
    source = analysis.source
    config = source.run.content.get("config") or {}
    facts = (
        ("Model", source.model),
        ("Harness model", reading.printable(str(config.get("model", "not recorded")))),
        ("Tasks", ", ".join(source.tasks)),
        ("Images", {"simulated": "degraded on the fly", "release": "the release's own"}[source.family]),
        ("Trials (T)", str(source.trials)),
        ("Data", ", ".join(data_of(analysis))),
        (
            "Task version",
            ", ".join(sorted({str(source.run.content.get("versions", {}).get(t, "?")) for t in source.tasks})),
        ),
        ("Run", reading.printable(str(source.run.content.get("date") or source.run.path.name))),
    )
    sections = [_levels(analysis), *_groups(analysis, key, drawn), *_calibration(analysis, key, drawn)]
    sections.append(Section("replies", "Requests and replies", tables=(tables.replies(analysis),)))
    origin = (("run model", source.model), ("run task set", source.label), ("run data", extent(analysis)))
    return Part(key, name, facts, flags(analysis), tuple(sections), origin)


def _levels(analysis: Analysis) -> Section:
    shown = (tables.levels(analysis), published.levels([analysis], [analysis.source.model]))
    return Section("levels", "Accuracy by level", tables=shown)


def _groups(analysis: Analysis, key: str, drawn: bool) -> list[Section]:
    pictures = (figures.radar(analysis, key),) if drawn else ()
    sections = []
    if analysis.capabilities and analysis.categories:
        first = (
            tables.capabilities(analysis.capabilities),
            published.capabilities([analysis], [analysis.source.model]),
        )
        second = (tables.categories(analysis.categories), published.categories([analysis], [analysis.source.model]))
        sections += [
            Section("capabilities", "Capabilities", tables=first),
            Section("categories", "Categories of degradations", tables=second),
        ]
    sections.append(Section("modalities", "Modalities", tables=(tables.modalities(analysis),), figures=pictures))
    if analysis.degradations:
        heat = tuple(figures.heatmap(analysis, level, key) for level in analysis.heat) if drawn else ()
        shown: tuple[Table, ...] = (tables.degradations(analysis), tables.heat(analysis))
        sections.append(Section("degradations", "Degradations", tables=shown, figures=heat))
    return sections


def _calibration(analysis: Analysis, key: str, drawn: bool) -> list[Section]:
    dke = calibration_tables.dke(analysis)
    missing = () if dke else ("The Dunning-Kruger test (equation 5) needs L0 and L2; one of them is not in this run.",)
    shown = [calibration_tables.shift(analysis), *([dke] if dke else []), calibration_tables.errors(analysis)]
    if analysis.degradation_calibration:
        shown.append(calibration_tables.by_degradation(analysis))
    shown += [calibration_tables.bins(analysis), calibration_tables.coverage(analysis)]
    pictures: tuple[Figure, ...] = ()
    if drawn:
        pictures = tuple(draw(analysis, key) for draw in (figures.shift, figures.reliability, figures.coverage))
    return [Section("calibration", "Confidence and calibration", missing, tuple(shown), pictures)]
