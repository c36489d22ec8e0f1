"""Puts the parts of a MedQ-Deg report together: for each task set its own, for several a comparison first."""

from __future__ import annotations

from collections.abc import Sequence

from lmms_medtasks.data.progress import bar
from lmms_medtasks.report import about
from lmms_medtasks.report.document import Figure, Part, Section, Table
from lmms_medtasks.report.medq_deg import calibration_tables, comparison, figures, published, reading, tables
from lmms_medtasks.report.medq_deg.analysis import Analysis, analyse
from lmms_medtasks.report.medq_deg.flags import flags
from lmms_medtasks.report.medq_deg.reading import is_ours
from lmms_medtasks.report.suites import Options
from lmms_medtasks.samples.result_files import Run

__all__ = ["TITLE", "USES", "is_ours", "parts"]

TITLE = "MedQ-Deg"
USES: frozenset[str] = frozenset()


def parts(runs: Sequence[Run], options: Options) -> list[Part]:
    """A part for each task set of these runs, before them a comparison if there are several."""
    analyses: list[Analysis] = []
    with bar(len(runs), "Reading and analysing", "runs") as step:
        for run in runs:
            for source in reading.task_sets(run):
                analyses.append(analyse(source, resamples=options.resamples))
            step(1)
    names = comparison.distinct_names(analyses)
    found = [
        part(each, name, f"{options.prefix}part{number}", options.drawn)
        for number, (each, name) in enumerate(zip(analyses, names, strict=True))
    ]
    if len(analyses) > 1:
        found.insert(0, comparison.part(analyses, names, options))
    return found


def part(analysis: Analysis, name: str, key: str, drawn: bool) -> Part:
    """The part of one task set."""
    source = analysis.source
    facts = about.facts(
        source.run,
        source.tasks,
        ("Images", {"simulated": "degraded on the fly", "release": "the release's own"}[source.family]),
        ("Trials (T)", str(source.trials)),
    )
    sections = [_levels(analysis), *_groups(analysis, key, drawn), *_calibration(analysis, key, drawn)]
    sections.append(Section("replies", "Requests and replies", tables=(tables.replies(analysis),)))
    origin = about.origin(source.run, source.tasks, source.label)
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
