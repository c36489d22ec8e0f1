"""Puts the parts of a SURE-VQA report together: one for each run, with and without images apart, and a comparison."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lmms_medtasks.data.progress import bar
from lmms_medtasks.report import about, judged
from lmms_medtasks.report.document import Figure, Part, Section
from lmms_medtasks.report.suites import Options
from lmms_medtasks.report.sure_vqa import comparison, figures, published, tables
from lmms_medtasks.report.sure_vqa.analysis import Analysis, analyse
from lmms_medtasks.report.sure_vqa.flags import flags
from lmms_medtasks.report.sure_vqa.methods import Method, methods
from lmms_medtasks.report.sure_vqa.reading import TITLE, is_ours, sources
from lmms_medtasks.samples.result_files import Run
from lmms_medtasks.samples.runs import distinct_names

__all__ = ["TITLE", "USES", "is_ours", "parts"]

USES: frozenset[str] = frozenset({"pairs"})


def parts(runs: Sequence[Run], options: Options) -> list[Part]:
    """A part for each run and for its tasks without images, before them a comparison if there are several."""
    analyses: list[Analysis] = []
    with bar(len(runs), "Reading and analysing", "runs") as step:
        for run in runs:
            analyses += [analyse(source, resamples=options.resamples) for source in sources(run)]
            step(1)
    kinds = [each.source.label for each in analyses]
    names = distinct_names([each.source.run for each in analyses], kinds)
    found = [
        part(each, f"{name} ({kind})", f"{options.prefix}part{number}", options.drawn)
        for number, (each, name, kind) in enumerate(zip(analyses, names, kinds, strict=True))
    ]
    return [*judged.compared(analyses, lambda each: each.source.judging.values(), _comparison, options), *found]


def _comparison(analyses: Sequence[Analysis], options: Options) -> Part:
    runs = list({each.source.run.path: each.source.run for each in analyses}.values())
    return comparison.part(methods(analyses), runs, options)


def part(analysis: Analysis, name: str, key: str, drawn: bool) -> Part:
    """The part of one source."""
    source = analysis.source
    judges = "; ".join(dict.fromkeys(each.said for each in source.judging.values()))
    facts = about.facts(source.run, source.tasks, ("Images", source.label), ("Judge", judges))
    own = about.own_cell(source.run, source.tasks)
    alone = [replace(method, cell=own) for method in methods([analysis])]
    sections = [_robustness(analysis, key, drawn), *_published(alone)]
    answered = tables.answered(analysis)
    if answered:
        sections.append(Section("answered", "What was answered at all", tables=(answered,)))
    sections.append(Section("traditional", "Traditional metrics", tables=(tables.traditional(analysis),)))
    causes = judged.causes(source.judging)
    judgements = (tables.tests(analysis), judged.judgements(source.judging), *([causes] if causes else []))
    sections.append(Section("judgements", "Tests and judgements", tables=judgements))
    origin = about.origin(source.run, source.tasks, source.label)
    return Part(key, name, facts, flags(analysis), tuple(sections), origin)


def _robustness(analysis: Analysis, key: str, drawn: bool) -> Section:
    figure = figures.robustness(analysis, key) if drawn else None
    pictures: tuple[Figure, ...] = (figure,) if figure else ()
    return Section("robustness", "Robustness to shifts", tables=(tables.robustness(analysis),), figures=pictures)


def _published(alone: Sequence[Method]) -> list[Section]:
    shown = published.shifts(alone)
    sections = [Section("published", "Beside the paper", tables=tuple(shown))] if shown else []
    corrupted = published.corruptions(alone)
    if corrupted:
        sections.append(Section("corruptions", "Corruptions beside real shifts", tables=(corrupted,)))
    return sections
