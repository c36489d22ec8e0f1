"""The suites' own reports of the runs behind a board: a model's parts, and the comparison of a suite's models."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from lmms_medtasks.board import packs
from lmms_medtasks.board.entries import Entry
from lmms_medtasks.board.model_names import shown_name
from lmms_medtasks.board.site.pages import Body
from lmms_medtasks.build_cache import NO_CACHE, BuildCache
from lmms_medtasks.errors import UserError
from lmms_medtasks.report.document import Flag, Part
from lmms_medtasks.report.findings import Finding
from lmms_medtasks.report.report_options import RESAMPLES, Options
from lmms_medtasks.report.reported_suites import holding, report, suites
from lmms_medtasks.report.suite_report import Planned
from lmms_medtasks.samples import result_files as results
from lmms_medtasks.samples.result_files import Run
from lmms_medtasks.samples.runs import model_name
from lmms_medtasks.suites import registry

MakeBody = Callable[[str, Planned, Any, BuildCache], Body]
"""From a model's key ("" for a comparison), a part of its report, what that depends on (JSON), and where it may be
kept, to the part's HTML."""
_COMPARED = 2
"""Models from which on they are compared."""


@dataclass(frozen=True)
class SourceFinding:
    """What was found of a source: the model's name in the run, the source's, and the finding."""

    model: str
    source: str
    finding: Finding


@dataclass(frozen=True)
class _Found:
    """What a report's parts are made of, or why there are none."""

    planned: tuple[Planned, ...]
    findings: tuple[SourceFinding, ...] = ()
    reason: str = ""
    sentences: tuple[str, ...] = ()


@dataclass(frozen=True)
class Report:
    """Parts of a page, or why there are none.

    ``sentences``: of a model's report, what was found in each part, or "".
    """

    parts: tuple[Body, ...]
    reason: str = ""
    sentences: tuple[str, ...] = ()


@dataclass(frozen=True)
class Reports:
    """What a suite's report says: of each model, by its key, and of all ranked entries together."""

    models: Mapping[str, Report]
    comparison: Report


def of_suite(
    suite: str, entries: Sequence[Entry], body: MakeBody, resamples: int = RESAMPLES, cache: BuildCache = NO_CACHE
) -> Reports:
    """The reports of all models with an entry of this suite; the comparison is of the ranked entries.

    An entry that is shown apart takes no other one of its model with it: the comparison leaves out that entry alone,
    and says so. Models that are ranked throughout are analysed in one go with the comparison, where the parts can be
    told apart by the model's name; a report that can't be made is given with the reason, and keeps no other one, nor
    the comparison of the others, from being made. ``cache``: where tables of logs and finished parts may be kept.
    """
    kept = cache if suite in registry.names() else NO_CACHE  # of someone's own benchmark it does not know the code
    asked = Options(resamples=resamples, prefix=f"{suite}-", cache=kept)
    by_model: dict[str, list[Entry]] = {}
    for entry in entries:
        by_model.setdefault(entry.model.key, []).append(entry)

    def made(key: str, found: _Found, own: Iterable[Entry]) -> Report:
        files = [[entry.model.name, entry.task, entry.ranked, *entry.source.sha256.items()] for entry in own]
        parts: tuple[Body, ...] = ()
        try:
            parts = tuple(body(key, each, [suite, resamples, files], kept) for each in found.planned)
            reason = found.reason
        except UserError as error:
            reason = str(error)
        except packs.UNCOMPUTABLE as error:
            reason = _uncomputable(error)
        if parts:
            return Report(parts, "", found.sentences)
        return Report((), f"{_title(suite)}: {reason}" if key else reason)

    ranked = {key: [entry for entry in own if entry.ranked] for key, own in by_model.items()}
    compared = {key: own for key, own in ranked.items() if any(entry.source.samples for entry in own)}
    together, comparison = _together(suite, compared, asked)
    models = {}
    for key, own in by_model.items():
        whole = together.get(key) if ranked[key] == own else None
        models[key] = made(key, _titled(suite, whole or _planned(suite, runs_of(own), asked)), own)
    sound = {key: own for key, own in compared.items() if models[key].parts}
    notes = _not_ranked(by_model)
    if _COMPARED <= len(sound) < len(compared):
        left_out = [shown_name(own[0].model.name) for key, own in compared.items() if key not in sound]
        notes = [f"Not in this comparison, since there is no report of it: {'; '.join(left_out)}.", *notes]
        comparison = _together(suite, sound, asked)[1]
    comparison = replace(comparison, planned=tuple(_with_notes(each, notes) for each in comparison.planned))
    return Reports(models, made("", comparison, entries))


def _not_ranked(by_model: Mapping[str, Sequence[Entry]]) -> list[str]:
    """What is said of the entries that are shown apart and so are not in the comparison."""
    apart = [
        f"{shown_name(own[0].model.name)} ({', '.join(sorted({entry.task for entry in own if not entry.ranked}))})"
        for own in by_model.values()
        if not all(entry.ranked for entry in own)
    ]
    return [f"Not in this comparison, since not ranked: {'; '.join(apart)}."] if apart else []


def _with_notes(planned: Planned, notes: Sequence[str]) -> Planned:
    def make() -> Part:
        part = planned.make()
        return replace(part, flags=(*part.flags, *(Flag("note", said) for said in notes)))

    return replace(planned, make=make)


def _together(suite: str, models: Mapping[str, Sequence[Entry]], asked: Options) -> tuple[dict[str, _Found], _Found]:
    """Each model's own parts where they can be told apart, and the comparison."""
    if len(models) < _COMPARED:
        said = "Models are compared where at least two have runs here. A submission has scores only."
        return {}, _Found((), reason=said)
    found = _planned(suite, runs_of(entry for own in models.values() for entry in own), asked)
    own_parts: dict[str, list[Planned]] = {}
    for each in found.planned:
        if each.model:
            own_parts.setdefault(each.model, []).append(each)
    comparison = replace(found, planned=tuple(each for each in found.planned if not each.model))
    names = {key: shown_name(own[0].model.name) for key, own in models.items()}
    if sorted(names.values()) != sorted(own_parts):
        return {}, comparison
    told = {name: tuple(each for each in found.findings if each.model == name) for name in own_parts}
    return {key: _Found(tuple(own_parts[name]), told[name]) for key, name in names.items()}, comparison


def _titled(suite: str, found: _Found) -> _Found:
    """With the suite's name in each title and what was found in each part; without a comparison of its own runs."""
    own = [each for each in found.planned if each.model]
    titles = [_title(suite) if len(own) == 1 else f"{_title(suite)}: {each.title}" for each in own]
    said = (" ".join(told.finding.sentence for told in found.findings if told.source == each.title) for each in own)
    planned = tuple(replace(each, title=title) for each, title in zip(own, titles, strict=True))
    return replace(found, planned=planned, sentences=tuple(said))


def _title(suite: str) -> str:
    module = suites().get(suite)
    return module.title if module else suite  # a contributed one's title is its name


def runs_of(entries: Iterable[Entry]) -> list[Run]:
    """The runs that entries are from, each once; packs are none. Only tasks that have an entry are left in them."""
    tasks: dict[Path, list[str]] = {}
    for entry in entries:
        if entry.source.samples is not None:
            tasks.setdefault(entry.source.results, []).append(entry.task)
    return [_only(results.read(path), tasks[path]) for path in sorted(tasks)]


def _only(run: Run, tasks: Sequence[str]) -> Run:
    configs = {name: config for name, config in run.content.get("configs", {}).items() if name in tasks}
    return Run(run.path, {**run.content, "configs": configs, "config": _without_path(run)})


def _without_path(run: Run) -> Mapping[str, Any]:
    """The run's configuration without the folder that a local checkpoint lies in."""
    config = run.content.get("config") or {}
    name, arguments = model_name(run.content), config.get("model_args")
    if isinstance(arguments, Mapping):
        return {**config, "model_args": {key: shown_name(name) if str(value) == name else value
                                         for key, value in arguments.items()}}  # fmt: skip
    return {**config, "model_args": str(arguments or "").replace(name, shown_name(name))}


def _planned(suite: str, runs: Sequence[Run], asked: Options) -> _Found:
    if not runs:
        return _Found((), reason="Only packs: they have a score a question, not what a report is made from.")
    try:
        ours = suites()
        # One contributed benchmark may have several declarations: of the suite's name as their title.
        found = [
            (name, each) for name, each in holding(runs).items() if suite == (name if name in ours else each[0].title)
        ]
        planned: list[Planned] = []
        findings: list[SourceFinding] = []
        for name, (suite_of_name, own) in found:
            made = report(suite_of_name, own, replace(asked, prefix=f"{name}-") if len(found) > 1 else asked)
            planned += made.parts
            findings += [
                SourceFinding(model_name(source.run.content), source.name, each)
                for source, each in ((asked.source, each) for asked, each in made.found)
                if each is not None
            ]
        return _Found(tuple(planned), tuple(findings), "" if planned else "This benchmark has no report.")
    except UserError as error:
        return _Found((), reason=str(error))
    except packs.UNCOMPUTABLE as error:
        return _Found((), reason=_uncomputable(error))


def _uncomputable(error: BaseException) -> str:
    # A log of strangers may hold anything: what an entry is made of is checked, a report is made of more.
    return f"It can't be made of what the log holds ({error!r:.200})."
