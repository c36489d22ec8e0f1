"""Puts the parts of a Bones and Joints report together: for each model its own, for several a comparison first."""

from __future__ import annotations

from collections.abc import Sequence

from lmms_medtasks.data.progress import bar
from lmms_medtasks.report import judged
from lmms_medtasks.report.asked import origin
from lmms_medtasks.report.bones_joints import comparison, figures, published, tables
from lmms_medtasks.report.bones_joints.analysis import Analysis, analyse
from lmms_medtasks.report.bones_joints.facts import facts, flags
from lmms_medtasks.report.bones_joints.reading import TITLE, is_ours, sources
from lmms_medtasks.report.document import Part, Section, Table
from lmms_medtasks.report.suites import Options
from lmms_medtasks.samples.result_files import Run
from lmms_medtasks.samples.runs import distinct_names

__all__ = ["TITLE", "USES", "is_ours", "parts"]

USES: frozenset[str] = frozenset()


def parts(runs: Sequence[Run], options: Options) -> list[Part]:
    """A part for each model that these runs are of, before them a comparison if there are several."""
    found = sources(runs)
    analyses: list[Analysis] = []
    with bar(len(found), "Analysing", "models") as step:
        for source in found:
            analyses.append(analyse(source, resamples=options.resamples))
            step(1)
    names = distinct_names([each.asked[0].run for each in found], [0] * len(found))
    own = [
        part(each, name, f"{options.prefix}part{number}", options.drawn)
        for number, (each, name) in enumerate(zip(analyses, names, strict=True))
    ]
    named = list(zip(names, analyses, strict=True))
    compared = judged.compared(named, _judgings, lambda group, chosen: comparison.part(dict(group), chosen), options)
    return [*compared, *own]


def _judgings(named: tuple[str, Analysis]) -> list[judged.Judging]:
    return [asked.judging for asked in named[1].source.asked if asked.judging]


def part(analysis: Analysis, name: str, key: str, drawn: bool) -> Part:
    """The part of one model."""
    figure = figures.own_radar(analysis, key) if drawn else None
    sections = [
        Section(
            "main", "Beside the paper", tables=(published.table({name: analysis}),), figures=(figure,) if figure else ()
        ),
        Section("tasks", "Tasks", tables=(tables.tasks(analysis),)),
    ]
    if analysis.gaps:
        sections.append(Section("gap", "Multiple choice and open answers", tables=(tables.gaps(analysis),)))
    shortcuts = tables.shortcuts(analysis)
    if shortcuts:
        sections.append(Section("shortcut", "Does it look", tables=(shortcuts,)))
    sections += [*_contradictions(analysis), _parts(analysis), *_judgements(analysis)]
    return Part(key, name, facts(analysis.source), flags(analysis), tuple(sections), origin(analysis.source.asked))


def _contradictions(analysis: Analysis) -> list[Section]:
    shown: list[Table] = []
    for each in analysis.results:
        if each.asked.task.form == "contradiction" and each.labels:
            examples = tables.examples(each)
            shown += [tables.labels(each), *([examples] if examples else [])]
    return [Section("contradictions", "Text against images", tables=tuple(shown))] if shown else []


def _parts(analysis: Analysis) -> Section:
    diseases = tables.by_disease(analysis)
    shown = (tables.by_site(analysis), tables.site_counts(analysis), *([diseases] if diseases else []))
    return Section("parts", "Sites and diseases", tables=shown)


def _judgements(analysis: Analysis) -> list[Section]:
    own = {each.name: each.judging for each in analysis.source.asked if each.judging}
    if not own:
        return []
    causes = judged.causes(own)
    shown = (judged.judgements(own), *([causes] if causes else []))
    return [Section("judgements", "Judgements", tables=shown)]
