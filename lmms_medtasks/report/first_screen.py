"""The first screen of a report: whose runs they are, what was found in a sentence, and whether it may be quoted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lmms_medtasks.report import quotable
from lmms_medtasks.report.document import MARKS
from lmms_medtasks.report.findings import Finding
from lmms_medtasks.report.quotable import Asked, Check
from lmms_medtasks.samples.result_files import Run
from lmms_medtasks.samples.runs import date_of, model_name, printable
from lmms_medtasks.short_texts import listed

NO_FINDING = "No question has a score."
"""What stands where a finding would, of a run without one."""

ALL, NAMED = 4, 3
"""Models that are all named at once; of more the best ones, the others are folded or points without a name."""

_GOOD, _WEAK = 2, 3
"""Clauses of each kind in the sentence; what else is no better than guessing is counted: it must not be missed."""


@dataclass(frozen=True)
class ModelFindings:
    """What was found of a model, a finding a benchmark."""

    model: str
    findings: tuple[Finding, ...]

    @property
    def sentence(self) -> str:
        """What a reader should keep: where it is right, and where it is no better than guessing."""
        ordered = sorted(self.findings, key=lambda each: not each.loss)
        good = [each.clause for each in ordered if each.beats_chance][:_GOOD]
        weak = [each.about for each in ordered if not each.beats_chance]
        left = len(weak) - _WEAK
        weak = weak if left <= 1 else [*weak[:_WEAK], f"{left} more benchmarks"]
        # "But" where something is better than guessing; what has no level of guessing may be no better.
        known = any(each.beats_chance and any(bar.chance is not None for bar in each.bars) for each in ordered)
        said = "; ".join(good)
        if weak:
            said += f"{', but no' if known else '; no' if good else 'no'} better than guessing at {listed(weak)}"
        return f"{said[:1].upper()}{said[1:]}." if said else ""


@dataclass(frozen=True)
class FirstScreen:
    """The first screen.

    ``facts``: short texts about the runs, for badges. ``models``: each with its findings, in the order of the runs.
    ``checks``: whether the numbers may be quoted. ``sentences``: of each part with a finding, by benchmark and name.
    """

    facts: tuple[str, ...]
    models: tuple[ModelFindings, ...]
    checks: tuple[Check, ...]
    sentences: Mapping[tuple[str, str], str]

    @property
    def named(self) -> tuple[ModelFindings, ...]:
        """The models whose sentence stands at once: all in the order of the runs, of many the best by mean place."""
        return self.models if len(self.models) <= ALL else self._ranked[:NAMED]

    @property
    def folded(self) -> tuple[ModelFindings, ...]:
        """The other models, best first."""
        return () if len(self.models) <= ALL else self._ranked[NAMED:]

    @property
    def _ranked(self) -> tuple[ModelFindings, ...]:
        """The models by their mean place, from 0 (best) to 1, over the numbers that they have."""
        places: dict[str, list[float]] = {model.model: [] for model in self.models}
        found: dict[tuple[str, str], list[tuple[float, str]]] = {}
        for model in self.models:
            for finding in model.findings:
                for bar in finding.bars:
                    found.setdefault((finding.suite, bar.title), []).append((bar.worth, model.model))
        for values in found.values():
            for worth, name in values:
                places[name].append(sum(other > worth for other, _ in values) / max(1, len(values) - 1))
        return tuple(sorted(self.models, key=lambda each: sum(own) / len(own) if (own := places[each.model]) else 2.0))

    @property
    def no_finding(self) -> str:
        """What a screen without a finding says, else ""."""
        return "" if self.models else NO_FINDING

    @property
    def other_scales(self) -> bool:
        """Whether a number's scale is not 0 to 100."""
        return any(bar.scale for model in self.models for finding in model.findings for bar in finding.bars)

    @property
    def marks(self) -> dict[str, str]:
        """The marks of its numbers, and what they mean."""
        used = {bar.cell.mark for model in self.models for finding in model.findings for bar in finding.bars}
        return {mark: text for mark, text in MARKS.items() if mark in used}

    @property
    def verdict(self) -> str:
        """Whether these numbers may be quoted: ``Not yet. Missing: full data.``"""
        return quotable.verdict(self.checks)


def first_screen(
    runs: Sequence[Run], asked: Sequence[tuple[Asked, Finding | None]], lost: Sequence[tuple[Run, Finding]] = ()
) -> FirstScreen:
    """The first screen of a report on ``runs``; ``asked``: each source with its finding, in the report's order.

    ``lost``: what degraded pictures cost each run that has degraded tasks.

    Of several findings of one model about a benchmark (other trials, a part of the questions) the one that rests on the
    most questions counts. Where that leaves a whole run out, the facts say so.
    """
    kept: dict[str, dict[object, tuple[int, Finding, Path]]] = {}
    for run in runs:
        kept.setdefault(model_name(run.content), {})
    for each, finding in asked:
        if finding is None:
            continue
        own, size = kept[model_name(each.source.run.content)], len(each.source.rows)
        key = finding.suite, id(each.suite)  # a folder's choices and open answers are two suites of one title
        if key not in own or size > own[key][0]:
            own[key] = size, finding, each.source.run.path
    for run, finding in lost:
        # Of several runs the first, as their tables come; nothing says which of them rests on more.
        kept[model_name(run.content)].setdefault((finding.suite, None), (0, finding, run.path))
    models = tuple(
        ModelFindings(name, tuple(finding for _, finding, _ in own.values())) for name, own in kept.items() if own
    )
    shown = {path for own in kept.values() for _, _, path in own.values()}
    behind = len({each.source.run.path for each, finding in asked if finding} - shown)
    sentences: dict[tuple[str, str], str] = {}
    for each, finding in asked:
        if finding is not None:
            part = each.suite.title, each.source.name
            sentences[part] = f"{sentences[part]} {finding.sentence}" if part in sentences else finding.sentence
    more = (f"{behind} more run{'s' if behind > 1 else ''} of the same model in the tables",) if behind else ()
    # Of tasks that are none of ours nothing is known that the checks ask for.
    checks = quotable.checks([each for each, _ in asked]) if asked else ()
    return FirstScreen((*_facts(runs, asked), *more), models, checks, sentences)


def _facts(runs: Sequence[Run], asked: Sequence[tuple[Asked, Finding | None]]) -> tuple[str, ...]:
    tasks = {task for each, _ in asked for task in each.source.tasks}
    suites = {each.suite.title for each, _ in asked}
    trials = max((len(found) for each, _ in asked for found in each.source.rows.column("trials")), default=0)
    dates = sorted({printable(date_of(run.content))[:8] for run in runs} - {""})
    days = [f"{each[:4]}-{each[4:6]}-{each[6:]}" if each.isdigit() else each for each in dates]
    named = f"{len(tasks)} task{'s' if len(tasks) > 1 else ''}"
    return (
        *([named + (f" of {len(suites)} benchmarks" if len(suites) > 1 else "")] if tasks else []),
        *([f"up to {trials} trials a question"] if trials > 1 else []),
        *([days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"] if days else []),
    )
