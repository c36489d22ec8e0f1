"""Puts the parts of a MedObvious report together: one a run and way of asking, for several a comparison first."""

from __future__ import annotations

from collections.abc import Sequence

from lmms_medtasks.data.progress import bar
from lmms_medtasks.report.document import Figure, Part, Section
from lmms_medtasks.report.medobvious import comparison, figures, published, tables
from lmms_medtasks.report.medobvious.analysis import Analysis, analyse
from lmms_medtasks.report.medobvious.facts import facts, flags, origin
from lmms_medtasks.report.medobvious.reading import TITLE, is_ours, sources
from lmms_medtasks.report.suites import Options
from lmms_medtasks.samples.result_files import Run
from lmms_medtasks.samples.runs import distinct_names

__all__ = ["TITLE", "USES", "is_ours", "parts"]

USES: frozenset[str] = frozenset()


def parts(runs: Sequence[Run], options: Options) -> list[Part]:
    """A part for each run and way of asking, before them a comparison if there are several."""
    found = sources(runs)
    analyses: list[Analysis] = []
    with bar(len(found), "Analysing", "task sets") as step:
        for source in found:
            analyses.append(analyse(source, resamples=options.resamples))
            step(1)
    variants = [each.variant for each in found]
    titles = distinct_names([each.run for each in found], variants)
    names = [f"{name} ({variant})" if variant else name for name, variant in zip(titles, variants, strict=True)]
    own = [
        part(each, name, f"{options.prefix}part{number}", options.drawn)
        for number, (each, name) in enumerate(zip(analyses, names, strict=True))
    ]
    return [comparison.part(dict(zip(names, analyses, strict=True)), options), *own] if len(own) > 1 else own


def part(analysis: Analysis, name: str, key: str, drawn: bool) -> Part:
    """The part of one run and way of asking."""
    itself = {name: analysis}
    pictures = [figures.plane(itself, key), figures.formats(itself, key)] if drawn else []
    main = (published.formats([analysis], [name]), published.tiers([analysis], [name]))
    sections = [
        Section("published", "Beside the published models", tables=main, figures=_there(pictures)),
        Section("accuracies", "Accuracy with intervals", tables=(tables.accuracies(analysis),)),
        Section("formats", "Formats", tables=(tables.gaps(analysis), tables.agreements(analysis))),
        Section("alarms", "False alarms and abstentions", tables=(tables.alarms(analysis),)),
    ]
    if len(analysis.sizes) > 1:
        curve = (figures.scaling(itself, key),) if drawn else ()
        sections.append(Section("sizes", "Number of panels", tables=(tables.sizes(analysis),), figures=curve))
    sections += [
        Section("kinds", "Kinds of outliers", tables=(tables.kinds(analysis),)),
        Section("replies", "Replies", tables=(tables.replies(analysis),)),
    ]
    source = analysis.source
    return Part(key, name, facts(source), flags(source), tuple(sections), origin(source))


def _there(found: Sequence[Figure | None]) -> tuple[Figure, ...]:
    return tuple(each for each in found if each is not None)
