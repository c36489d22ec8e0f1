"""The suites' own reports of the runs behind a board: a model's parts, and the comparison of a suite's models."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from lmms_medtasks.board import packs
from lmms_medtasks.board.entries import Entry
from lmms_medtasks.board.model_names import shown_name
from lmms_medtasks.build_cache import NO_CACHE, BuildCache
from lmms_medtasks.errors import UserError
from lmms_medtasks.report.document import PUBLISHED, Flag, Part
from lmms_medtasks.report.findings import Finding
from lmms_medtasks.report.report_options import RESAMPLES, Options
from lmms_medtasks.report.reported_suites import holding, suites
from lmms_medtasks.samples import result_files as results
from lmms_medtasks.samples.result_files import Run
from lmms_medtasks.samples.runs import model_name

_COMPARISON = "Comparison"
_COMPARED = 2
"""Models from which on they are compared."""


@dataclass(frozen=True)
class SourceFinding:
    """What was found of a source: the model's name in the run, the source's, its tasks, and how many questions."""

    model: str
    source: str
    tasks: tuple[str, ...]
    questions: int
    finding: Finding


@dataclass(frozen=True)
class Report:
    """Parts of a page, or why there are none.

    ``findings``: of each source that has one. ``sentences``: of a model's report, what was found in each part, or "".
    """

    parts: tuple[Part, ...]
    reason: str = ""
    findings: tuple[SourceFinding, ...] = ()
    sentences: tuple[str, ...] = ()


@dataclass(frozen=True)
class Reports:
    """What a suite's report says: of each model, by its key, and of all ranked entries together."""

    models: Mapping[str, Report]
    comparison: Report


def of_suite(suite: str, entries: Sequence[Entry], resamples: int = RESAMPLES, cache: BuildCache = NO_CACHE) -> Reports:
    """The reports of all models with an entry of this suite; the comparison is of the ranked entries.

    An entry that is shown apart takes no other one of its model with it: the comparison leaves out that entry alone,
    and says so. Models that are ranked throughout are analysed in one go with the comparison, where the parts can be
    told apart by the model's name; a report that can't be made is given with the reason, and keeps no other one, nor
    the comparison of the others, from being made. ``cache``: where what is of one model alone may be kept.
    """
    asked = Options(resamples=resamples, prefix=f"{suite}-", published=False, cache=cache)
    by_model: dict[str, list[Entry]] = {}
    for entry in entries:
        by_model.setdefault(entry.model.key, []).append(entry)
    ranked = {key: [entry for entry in own if entry.ranked] for key, own in by_model.items()}
    compared = {key: own for key, own in ranked.items() if any(entry.source.samples for entry in own)}
    together, comparison = _together(suite, compared, asked)
    models = {}
    for key, own in by_model.items():
        whole = together.get(key) if ranked[key] == own else None
        models[key] = _titled(suite, whole or _parts(suite, runs_of(own), asked))
    sound = {key: own for key, own in compared.items() if models[key].parts}
    if not comparison.parts and _COMPARED <= len(sound) < len(compared):
        left_out = [shown_name(own[0].model.name) for key, own in compared.items() if key not in sound]
        said = f"Not in this comparison, since there is no report of it: {'; '.join(left_out)}."
        comparison = _with_note(_together(suite, sound, asked)[1], said)
    return Reports(models, _without_apart(comparison, by_model))


def _without_apart(comparison: Report, by_model: Mapping[str, Sequence[Entry]]) -> Report:
    """The comparison with a note on the entries that are shown apart and so are not in it."""
    apart = [
        f"{shown_name(own[0].model.name)} ({', '.join(sorted({entry.task for entry in own if not entry.ranked}))})"
        for own in by_model.values()
        if not all(entry.ranked for entry in own)
    ]
    if not apart:
        return comparison
    return _with_note(comparison, f"Not in this comparison, since not ranked: {'; '.join(apart)}.")


def _with_note(report: Report, said: str) -> Report:
    flag = Flag("note", said)
    return replace(report, parts=tuple(replace(part, flags=(*part.flags, flag)) for part in report.parts))


def _together(suite: str, models: Mapping[str, Sequence[Entry]], asked: Options) -> tuple[dict[str, Report], Report]:
    """Each model's own parts where they can be told apart, and the comparison."""
    if len(models) < _COMPARED:
        return {}, Report((), "Models are compared where at least two have runs here. A submission has scores only.")
    runs = runs_of(entry for own in models.values() for entry in own)
    found = _parts(suite, runs, asked)
    own_parts: dict[str, list[Part]] = {}
    for part in found.parts:
        if part.title != _COMPARISON:
            own_parts.setdefault(dict(part.origin).get("run model", ""), []).append(part)
    comparison = replace(found, parts=tuple(part for part in found.parts if part.title == _COMPARISON))
    names = {key: shown_name(own[0].model.name) for key, own in models.items()}
    if sorted(names.values()) != sorted(own_parts):
        return {}, comparison
    told = {name: tuple(each for each in found.findings if each.model == name) for name in own_parts}
    return {key: Report(tuple(own_parts[name]), findings=told[name]) for key, name in names.items()}, comparison


def _titled(suite: str, found: Report) -> Report:
    """With the suite's name in each title; without a comparison of a model's own runs.

    Published rows are left out: they stand on the suite's page, once for all models.
    """
    kept = [part.without(*PUBLISHED) for part in found.parts if part.title != _COMPARISON]
    module = suites().get(suite)
    name = module.title if module else suite  # a contributed one's title is its name
    parts = [replace(part, title=name if len(kept) == 1 else f"{name}: {part.title}") for part in kept]
    said = (" ".join(e.finding.sentence for e in found.findings if e.source == part.title) for part in kept)
    return Report(tuple(parts), "" if parts else f"{name}: {found.reason}", found.findings, tuple(said))


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


def _parts(suite: str, runs: Sequence[Run], asked: Options) -> Report:
    if not runs:
        return Report((), "Only packs: they have a score a question, not what a report is made from.")
    try:
        ours = suites()
        # One contributed benchmark may have several declarations: of the suite's name as their title.
        found = [
            (name, each) for name, each in holding(runs).items() if suite == (name if name in ours else each[0].title)
        ]
        parts: list[Part] = []
        findings: list[SourceFinding] = []
        for name, (module, own) in found:
            made = module.report(own, replace(asked, prefix=f"{name}-") if len(found) > 1 else asked)
            parts += made.parts
            findings += [
                SourceFinding(
                    model_name(source.source.run.content),
                    source.source.name,
                    source.source.tasks,
                    len(source.source.rows),
                    each,
                )  # fmt: skip
                for source, each in made.found
                if each is not None
            ]
        return Report(tuple(parts), "" if parts else "This benchmark has no report.", tuple(findings))
    except UserError as error:
        return Report((), str(error))
    except packs.UNCOMPUTABLE as error:
        # A log of strangers may hold anything: what an entry is made of is checked, a report is made of more.
        return Report((), f"It can't be made of what the log holds ({error!r:.200}).")
