"""The first screen of a report: whose runs they are, what was found in a sentence, and whether it may be quoted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatch
from typing import NamedTuple

from lmms_medtasks import folders
from lmms_medtasks.report import about, best_models, judged_tables, quotable
from lmms_medtasks.report.document import MARKS
from lmms_medtasks.report.findings import BELOW, NO_BETTER, Finding, value_text
from lmms_medtasks.report.judged_tables import MEANINGS
from lmms_medtasks.report.quotable import Asked, Check
from lmms_medtasks.report.readability import NOTHING_SAID
from lmms_medtasks.samples.result_files import Run
from lmms_medtasks.samples.runs import date_of, model_name, printable
from lmms_medtasks.short_texts import listed
from lmms_medtasks.suites.suite import Suite

NO_FINDING = "No question has a score."
"""What stands where a finding would, of a run without one."""

NOT_JUDGED = "Run and not judged: no answer has a score. Judge from the log alone: lmms-medtasks judge RUN."
"""What stands where a finding would, of a benchmark whose answers no judge saw."""

ALL, NAMED = 4, 3
"""Models that are all named at once; of more the best ones, the others are folded or points without a name."""

_Runs = tuple[tuple[Run, tuple[str, ...]], ...]

_GOOD, _WEAK = 2, 3
"""Clauses of each kind in the sentence; what else is no better than guessing is counted: it must not be missed."""


@dataclass(frozen=True)
class ModelFindings:
    """What was found of a model, a finding a benchmark; ``trial``: how few questions that rests on, "" for all."""

    model: str
    findings: tuple[Finding, ...]
    trial: str = ""

    @property
    def sentence(self) -> str:
        """What a reader should keep: what was not read, where it is right, and where it is no better than guessing."""
        unread = [each for each in self.findings if each.unread]
        ordered = sorted((each for each in self.findings if not each.unread), key=lambda each: not each.loss)
        good = [each.clause for each in ordered if each.beats_chance][:_GOOD]
        guessed = []
        for how in (NO_BETTER, BELOW):
            weak = [each.about for each in ordered if each.guessing == how]
            left = len(weak) - _WEAK
            weak = weak if left <= 1 else [*weak[:_WEAK], f"{left} more benchmarks"]
            guessed += [f"{how} at {listed(weak)}"] if weak else []
        # "But" where something is better than guessing; what has no level of guessing may be no better.
        known = any(each.beats_chance and any(bar.chance is not None for bar in each.bars) for each in ordered)
        said = "; ".join(good)
        if guessed:
            said += f"{', but ' if known else '; ' if good else ''}{' and '.join(guessed)}"
        if unread:
            first = [f"{each.unread}{f' on {each.suite}' if len(self.findings) > 1 else ''}" for each in unread]
            there = " there" if ordered else ""
            said = f"{'; '.join(first)}: {NOTHING_SAID}{there}{f'; {said}' if said else ''}"
        said = f"{self.trial}: {said}" if self.trial else said
        return f"{said[:1].upper()}{said[1:]}." if said else ""


@dataclass(frozen=True)
class FirstScreen:
    """The first screen.

    ``facts``: short texts about the runs, for badges. ``models``: each with its findings, in the order of the runs.
    ``checks``: whether the numbers may be quoted. ``sentences``: of each part with a finding, by benchmark and name.
    ``others``: which of several runs of a model is shown, and how the others differ from it, a sentence each.
    ``best``: of several models, who is best at the numbers of a benchmark, a sentence by its title.
    """

    facts: tuple[str, ...]
    models: tuple[ModelFindings, ...]
    checks: tuple[Check, ...]
    sentences: Mapping[tuple[str, str], str]
    others: tuple[str, ...] = ()
    best: Mapping[str, str] = field(default_factory=dict)

    @property
    def named(self) -> tuple[ModelFindings, ...]:
        """The models whose sentence stands at once, best first by mean place: all, of many the first ones."""
        return self.ranked if len(self.models) <= ALL else self.ranked[:NAMED]

    @property
    def folded(self) -> tuple[ModelFindings, ...]:
        """The other models, best first."""
        return () if len(self.models) <= ALL else self.ranked[NAMED:]

    @property
    def leader(self) -> str:
        """Of several models asked the same questions who has most of the best numbers, a sentence; "" if nobody has."""
        if len(self.models) == 1 or not self.best or best_models.OTHER_QUESTIONS in self.best.values():
            return ""
        leads, compared = best_models.leads(
            [[each for each in model.findings if not each.unread] for model in self.models]
        )
        most = max(leads.values(), default=0)
        first = [place for place, count in leads.items() if count == most]
        if len(first) != 1:
            return ""
        share = f"all {compared}" if most == compared > 1 else f"{most} of the {compared}"
        return f"{self.models[first[0]].model} leads in {share} numbers that several of these models have."

    @property
    def ranked(self) -> tuple[ModelFindings, ...]:
        """The models by their mean place over all numbers; without a number a model is last.

        Else one that was asked a single benchmark could head all that were asked every one.
        """
        places = dict.fromkeys((model.model for model in self.models), 0)
        found: dict[tuple[str, str], dict[str, float]] = {}
        for model in self.models:
            for finding in (each for each in model.findings if not each.unread):
                for bar in finding.bars:
                    found.setdefault((finding.suite, bar.title), {})[model.model] = bar.worth
        for worths in found.values():
            for name in places:
                own = worths.get(name)
                ahead = len(self.models) - 1 if own is None else sum(worth > own for worth in worths.values())
                places[name] += ahead
        return tuple(sorted(self.models, key=lambda each: places[each.model]))

    @property
    def no_finding(self) -> str:
        """What a screen without a finding says, else ""."""
        return "" if self.models else NO_FINDING

    @property
    def other_scales(self) -> bool:
        """Whether a number's scale is not 0 to 100."""
        return any(bar.scale for model in self.models for finding in model.findings for bar in finding.bars)

    @property
    def is_weak_somewhere(self) -> bool:
        """Whether a number is no better than guessing: its bar has a colour of its own."""
        bars = (bar for model in self.models for finding in model.findings for bar in finding.bars)
        return not all(bar.beats_chance for bar in bars)

    @property
    def marks(self) -> dict[str, str]:
        """The marks of its numbers, and what they mean."""
        bars = [bar for model in self.models for finding in model.findings for bar in finding.bars]
        used = {sign for bar in bars for sign in bar.cell.mark}
        return {mark: text for mark, text in (MEANINGS | MARKS).items() if mark in used}

    def not_judged(self, suite: str) -> str:
        """That none of a benchmark's answers was judged; "" for another one."""
        said = [text for (title, _), text in self.sentences.items() if title == suite]
        return NOT_JUDGED if NOT_JUDGED in said else ""

    @property
    def verdict(self) -> str:
        """Whether these numbers may be quoted: ``Not yet. Missing: full data.``"""
        return quotable.verdict(self.checks)


def first_screen(
    runs: Sequence[Run],
    asked: Sequence[tuple[Asked, Finding | None]],
    unread: Sequence[str] = (),
) -> FirstScreen:
    """The first screen of a report on ``runs``; ``asked``: each source with its finding, in the report's order.

    ``unread``: see :class:`Document`.

    Of several findings of one model about a benchmark (other trials, a part of the questions) the one that rests on the
    most questions counts; of as many the one that a leaderboard ranks first. Where that leaves a whole run
    out, the facts say so.
    """
    kept: dict[str, dict[object, _Kept]] = {}
    asked = [(each, finding and _of_trial(finding, each.source.asked)) for each, finding in asked]
    for run in runs:
        kept.setdefault(model_name(run.content), {})
    for each, finding in asked:
        if finding is None:
            continue
        place = _headline_place(each.suite, each.source.tasks)
        own = kept[model_name(each.source.run.content)]
        new = _Kept(len(each.source.rows), finding, each.source.asked, place)
        key = finding.suite, id(each.suite)  # a folder's choices and open answers are two suites of one title
        if key not in own or new.rests_on > own[key].rests_on:
            own[key] = new
    models = tuple(
        ModelFindings(
            name,
            tuple(each.finding for each in own.values()),
            _trial(pair for each in own.values() for pair in each.asked),
        )
        for name, own in kept.items()
        if own
    )
    shown = {each.run.path for own in kept.values() for each in own.values()}
    behind = len({each.source.run.path for each, finding in asked if finding} - shown)
    sentences: dict[tuple[str, str], str] = {}
    for each, finding in asked:
        part, said = (each.suite.title, each.source.name), finding.sentence if finding else _without_finding(each)
        if said:
            sentences[part] = f"{sentences[part]} {said}" if part in sentences else said
    more = (f"{behind} more run{'s' if behind > 1 else ''} of the same model in the tables",) if behind else ()
    checks = quotable.checks([each for each, _ in asked], unread)
    others = tuple(_other_runs(runs, kept, asked))
    return FirstScreen((*_facts(runs, asked), *more), models, checks, sentences, others, _best(kept))


class _Kept(NamedTuple):
    """A finding that the screen shows, its questions, the runs that it is of with their tasks, and their place."""

    size: int
    finding: Finding
    asked: _Runs
    headline_place: int = 0

    @property
    def run(self) -> Run:
        return self.asked[0][0]

    @property
    def rests_on(self) -> tuple[int, int]:
        """Questions, and how early a leaderboard looks at their tasks."""
        return self.size, -self.headline_place


def _headline_place(suite: Suite, tasks: Iterable[str]) -> int:
    """The first place in ``headline`` of the benchmark's ``board.yml`` that has one of these tasks, from 0."""
    path = folders.folder() / suite.name / "board.yml"
    said = folders.read_yaml(path).get("headline", []) if path.is_file() else []
    patterns = [str(pattern) for pattern, _ in said]
    found = [place for place, pattern in enumerate(patterns) if any(fnmatch(task, pattern) for task in tasks)]
    return min(found, default=len(patterns))


def _best(kept: Mapping[str, Mapping[object, _Kept]]) -> dict[str, str]:
    """Who is best at each benchmark that several models were asked, by its title."""
    found: dict[str, dict[str, _Kept]] = {}
    for model, own in kept.items():
        for each in own.values():
            if not each.finding.unread:
                found.setdefault(each.finding.suite, {}).setdefault(model, each)
    said = {}
    for suite, by_model in found.items():
        asked = [each.asked for each in by_model.values()]
        alike = len({_trial(each) for each in asked}) == 1 and not about.other_data(asked)
        sentence = best_models.sentence({model: each.finding for model, each in by_model.items()})
        if sentence:
            said[suite] = sentence if alike else best_models.OTHER_QUESTIONS
    return said


def _without_finding(asked: Asked) -> str:
    """What stands in place of a finding where no answer was judged; "" for other questions without a score."""
    judged = judged_tables.protocols(asked.source.rows).values()
    return NOT_JUDGED if any(each.statuses["missing"] and not each.names for each in judged) else ""


def _trial(asked: Iterable[tuple[Run, Sequence[str]]]) -> str:
    """``trial of 20 questions a task``; "" where all questions were asked."""
    counts = [(original, effective) for run, tasks in asked for _, original, effective in about.counts(run, tasks)]
    limited = {effective for original, effective in counts if effective < original}
    if not limited:
        return ""
    most = max(effective for _, effective in counts)
    return f"trial of {most:,} questions a task" if limited == {most} else "trial of a part of the questions"


def _of_trial(finding: Finding, asked: Iterable[tuple[Run, Sequence[str]]]) -> Finding:
    """The finding; where not all questions were asked its sentences say so."""
    trial = _trial(asked)
    if not trial:
        return finding
    loss = finding.loss and f"{finding.loss.rstrip('.')} ({trial})."
    return replace(finding, sentence=f"{trial.capitalize()}: {finding.sentence}", loss=loss)


def _other_runs(
    runs: Sequence[Run], kept: Mapping[str, Mapping[object, _Kept]], asked: Sequence[tuple[Asked, Finding | None]]
) -> Iterator[str]:
    """Of each finding that several runs of a model have: whose is shown, and how the other runs differ."""
    folders = [run.path.parent for run in runs]
    for each, finding in asked:
        source, name = each.source, model_name(each.source.run.content)
        own = kept[name].get((finding.suite, id(each.suite))) if finding else None
        if finding is None or own is None or own.run is source.run:
            continue
        # Asked otherwise, as without images: other tasks.
        if not {*source.tasks}.intersection(task for _, tasks in own.asked for task in tasks):
            continue
        place, other = (
            printable(str(run.path.parent if folders.count(run.path.parent) == 1 else run.path))
            for run in (own.run, source.run)
        )
        before = {bar.title: bar for bar in own.finding.bars}
        said = [
            f"{bar.title} {value_text(bar, bar.digits)}, not {value_text(before[bar.title], bar.digits)}"
            for bar in finding.bars
            if bar.title in before and bar.cell.value != before[bar.title].cell.value
        ]
        more = f" and {len(said) - 1} more other numbers" if len(said) > 1 else ""
        differs = [
            *([f"{said[0]}{more}"] if said else []),
            *(["other data"] if about.other_data([own.asked, source.asked]) else []),
            *(["other settings"] if _settings(own.asked) != _settings(source.asked) else []),
        ]
        whose = f"{name}, {finding.suite}" if len(kept) > 1 else finding.suite
        yield f"{whose}: shown is {place}. {other} has {'; '.join(differs) or 'the same numbers'}."


def _settings(asked: _Runs) -> set[str]:
    return {about.settings_of(*each) for each in asked}


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
