"""Puts the parts of a Med-CMR report together: for each model its own, for several a comparison first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lmms_medtasks.data.progress import bar
from lmms_medtasks.errors import UserError
from lmms_medtasks.report import judged
from lmms_medtasks.report.asked import origin
from lmms_medtasks.report.document import Figure, Part, Section, Table
from lmms_medtasks.report.med_cmr import comparison, figures, published, tables
from lmms_medtasks.report.med_cmr.analysis import Analysis, Choice, Circular, Open, analyse
from lmms_medtasks.report.med_cmr.facts import facts, flags
from lmms_medtasks.report.med_cmr.reading import TAGS, TITLE, is_ours, sources
from lmms_medtasks.report.suites import Options
from lmms_medtasks.samples.result_files import Run
from lmms_medtasks.samples.runs import distinct_names

__all__ = ["TITLE", "USES", "is_ours", "parts"]

USES = frozenset({"pairs", "parameters"})
_ENTIRE = {True: "", False: ", no image"}


def parts(runs: Sequence[Run], options: Options) -> list[Part]:
    """A part for each model that these runs are of, before them a comparison if there are several."""
    found = sources(runs)
    analyses: list[Analysis] = []
    with bar(len(found), "Analysing", "models") as step:
        for source in found:
            analyses.append(analyse(source, resamples=options.resamples))
            step(1)
    names = _names(analyses)
    own = [
        part(each, name, f"{options.prefix}part{number}", options.drawn)
        for number, (each, name) in enumerate(zip(analyses, names, strict=True))
    ]
    if len(own) > 1:
        return [comparison.part(dict(zip(names, analyses, strict=True)), options), *own]
    if options.pairs or options.parameters:
        raise UserError(f"--pair and --parameters compare several models; these runs are of one, {names[0]!r}.")
    return own


def _names(analyses: Sequence[Analysis]) -> list[str]:
    """A name for each, no two alike: the model's, with what else sets it apart from another of the same model."""
    firsts = [each.source.asked[0].run for each in analyses]
    judges = [_judges(each) for each in analyses]
    variants = [each.source.variant for each in analyses]
    titles = distinct_names(firsts, list(zip(variants, judges, strict=True)))
    names = [f"{name} ({variant})" if variant else name for name, variant in zip(titles, variants, strict=True)]
    return [
        f"{name}, judged by {judge or 'nobody'}" if names.count(name) > 1 else name
        for name, judge in zip(names, judges, strict=True)
    ]


def _judges(analysis: Analysis) -> str:
    judgings = (each.judging for each in analysis.source.asked if each.judging)
    return ", ".join(dict.fromkeys(name for judging in judgings for name in judging.names))


def part(analysis: Analysis, name: str, key: str, drawn: bool) -> Part:
    """The part of one model."""
    sections = [
        _main(analysis, name, key, drawn),
        *_choice(analysis, key, drawn),
        *_circular(analysis, key, drawn),
        *_open(analysis),
        *_without_image(analysis),
        _replies(analysis),
    ]
    return Part(key, name, facts(analysis), flags(analysis), tuple(sections), origin(analysis.source.asked))


def _main(analysis: Analysis, name: str, key: str, drawn: bool) -> Section:
    figure = figures.own_radar(analysis, key) if drawn else None
    shown = (published.table([analysis], [name]),)
    return Section("main", "Beside the published models", tables=shown, figures=(figure,) if figure else ())


def _choice(analysis: Analysis, key: str, drawn: bool) -> list[Section]:
    sections = []
    for image, found in analysis.choice.items():
        end = "" if image else "_noimage"
        letters = tables.letters(found.letters, f"letters{end}", f"Letters, multiple choice{_ENTIRE[image]}")
        pictures: tuple[Figure, ...] = ()
        if drawn:
            pictures = (figures.position(found.letters, f"letters{end}", key, letters.title, letters.key),)
        # Without images: what language alone gets, as a whole; the parts' own breakdown is of the benchmark as it is.
        tags = [tables.choice_tags(found, tag) for tag in TAGS] if image else []
        shown = (tables.choice(found, image), *tags, letters)
        sections.append(Section(f"choice{end}", f"Multiple choice{_ENTIRE[image]}", tables=shown, figures=pictures))
    return sections


def _circular(analysis: Analysis, key: str, drawn: bool) -> list[Section]:
    return [_rotated(found, image, key, drawn) for image, found in analysis.circular.items()]


def _rotated(found: Circular, image: bool, key: str, drawn: bool) -> Section:
    end = "" if image else "_noimage"
    name = f"rotated_letters{end}"
    letters = tables.letters(found.letters, name, f"Letters, rotated options{_ENTIRE[image]}")
    pictures: tuple[Figure, ...] = ()
    if drawn:
        pictures = (figures.position(found.letters, name, key, letters.title, letters.key),)
    shown = (tables.circular(found, image), letters)
    return Section(f"rotated{end}", f"Rotated options{_ENTIRE[image]}", tables=shown, figures=pictures)


def _open(analysis: Analysis) -> list[Section]:
    sections = []
    for image, found in analysis.open.items():
        shown: list[Table] = [tables.open_scores(found, image), tables.open_dimensions(found, image)]
        shown.append(tables.open_dimension_scores(found, image))
        shown += [tables.open_tags(found, tag) for tag in TAGS] if image else []
        shown.append(tables.parts(found, image))
        sections.append(
            Section(f"open{'' if image else '_noimage'}", f"Open answers{_ENTIRE[image]}", tables=tuple(shown))
        )
    return sections


def _without_image(analysis: Analysis) -> list[Section]:
    shown = tuple(tables.without_image(analysis, form) for form in analysis.without_image)
    return [Section("without_image", "With and without the image", tables=shown)] if shown else []


def _replies(analysis: Analysis) -> Section:
    own = {each.name: each.judging for each in analysis.source.asked if each.judging}
    by_form: Mapping[str, Mapping[bool, Choice | Circular | Open]] = {
        "mcq": analysis.choice,
        "circular": analysis.circular,
        "open": analysis.open,
    }
    replies = {each.name: by_form[each.form][each.image].replies for each in analysis.source.asked}
    shown = [tables.replies(replies)]
    if own:
        causes = judged.causes(own)
        shown = [judged.judgements(own), *([causes] if causes else []), *shown]
    return Section("replies", "Requests, replies and judgements", tables=tuple(shown))
