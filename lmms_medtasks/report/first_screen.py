"""The first screen of a report: the runs, the findings in a sentence, and whether the numbers may be quoted.

Of several models it says who is best at a benchmark's numbers, by the test of ranks
(:mod:`lmms_medtasks.statistics.rank_intervals`) on the questions that all of them have.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from lmms_medtasks.report import about, judged_tables, quotable
from lmms_medtasks.report.document import MARKS, Frame, ReportChapter
from lmms_medtasks.report.findings import (
    BELOW,
    NOTHING_SAID,
    Number,
    SuiteFinding,
    headline_titles,
    join_titles,
    said_of_guessing,
    to_sentence,
)
from lmms_medtasks.report.judged_tables import MEANINGS
from lmms_medtasks.report.quotable import QuotabilityCheck, SuiteResults
from lmms_medtasks.report.views import ModelResults
from lmms_medtasks.samples.result_files import ResultFile
from lmms_medtasks.samples.runs import date_of, make_printable, model_name
from lmms_medtasks.short_texts import count_noun, join_with_and
from lmms_medtasks.statistics.rank_intervals import rank_intervals
from lmms_medtasks.suites.contributions import image_contributions

NO_FINDING = "No question has a score."
"""What stands where a finding would, of a run without one."""

NO_HEADLINE = "None of the questions that its first numbers are of has a score."
NOT_JUDGED = "Run and not judged: no answer has a score. Judge from the log alone: lmms-medtasks judge RUN."
"""What stands where a finding would, of a benchmark whose answers no judge saw."""

ALL, NAMED = 4, 3
"""Models that are all named at once; of more the best ones, the others are folded or points without a name."""

_Runs = tuple[tuple[ResultFile, tuple[str, ...]], ...]

_GOOD = 2
"""Clauses of what is better than guessing in a model's sentence."""


@dataclass(frozen=True)
class ModelFindings:
    """What was found of a model, a finding a benchmark; ``trial``: how few questions that rests on, "" for all."""

    model: str
    findings: tuple[SuiteFinding, ...]
    trial: str = ""

    @property
    def sentence(self) -> str:
        """What a reader should keep: what was not read, where it is right, and where it is no better than guessing."""
        unread = [finding for finding in self.findings if finding.unread]
        ordered = sorted(
            (finding for finding in self.findings if not finding.unread), key=lambda each: not each.changes
        )
        several = len(self.findings) > 1
        good = [each.clause_of_several if several else each.clause for each in ordered if not each.guessing][:_GOOD]
        guessed = said_of_guessing([(each.guessing, each.guessed_at) for each in ordered], "at")
        # "But" where something is better than guessing; what has no level of guessing or no interval may be no better.
        known = any(bar.is_above_guessing for each in ordered if not each.guessing for bar in each.main)
        said = "; ".join(good)
        if guessed:
            said += f"{', but ' if known else '; ' if good else ''}{' and '.join(guessed)}"
        if len(self.findings) == 1 and unread:
            said = f"{unread[0].unread}: {NOTHING_SAID}"
        elif unread:
            # Why is said in each benchmark's box and in the check: here it would fill a phone.
            few = f"too few readable replies on {join_with_and([each.suite for each in unread])}"
            said = f"{few}; {said}" if said else f"{few}: {NOTHING_SAID}"
        return to_sentence(f"{self.trial}: {said}" if self.trial else said)


@dataclass(frozen=True, kw_only=True)
class FirstScreen:
    """The first screen.

    ``facts``: short texts about the runs, for badges. ``models``: each with its findings, in the order of the runs.
    ``checks``: whether the numbers may be quoted. ``sentences``: of each part with a finding, by benchmark and name.
    ``others``: which of several runs of a model is shown, and how the others differ from it, a sentence each.
    ``best``: of several models, who is best at the numbers of a benchmark, a sentence by its title.
    ``leader``: the same of all benchmarks together, "" if the models were asked different questions.
    ``empty``: why a benchmark that was run has no finding, by its title.
    ``losses``: what degraded images cost, a sentence for each task and metric.
    """

    facts: tuple[str, ...]
    models: tuple[ModelFindings, ...]
    checks: tuple[QuotabilityCheck, ...]
    sentences: Mapping[tuple[str, str], str]
    others: tuple[str, ...] = ()
    best: Mapping[str, str] = field(default_factory=dict)
    leader: str = ""
    empty: Mapping[str, str] = field(default_factory=dict)
    losses: tuple[str, ...] = ()

    @property
    def named(self) -> tuple[ModelFindings, ...]:
        """The models whose sentence stands at once, best first: all, of many the first ones."""
        return self.ranked if len(self.models) <= ALL else self.ranked[:NAMED]

    @property
    def folded(self) -> tuple[ModelFindings, ...]:
        """The other models, best first."""
        return () if len(self.models) <= ALL else self.ranked[NAMED:]

    @property
    def ranked(self) -> tuple[ModelFindings, ...]:
        """The models: by how many benchmarks they are better than guessing at, then by how few they are below it at,
        then by their mean place over all numbers; without a number a model is last.

        Else one that guesses, or was asked a single benchmark, could head all.
        """
        worths: dict[tuple[str, str], dict[str, float]] = {}
        read = {model.model: [each for each in model.findings if not each.unread] for model in self.models}
        for name, findings in read.items():
            for finding in findings:
                for bar in finding.bars:
                    worths.setdefault((finding.suite, bar.title), {})[name] = bar.worth

        def place(model: ModelFindings) -> tuple[int, int, int]:
            known, name = [each.guessing for each in read[model.model]], model.model
            ahead = (sum(worth > each[name] for worth in each.values()) if name in each else len(read) - 1
                     for each in worths.values())  # fmt: skip
            return -known.count(""), known.count(BELOW), sum(ahead)

        return tuple(sorted(self.models, key=place))

    @property
    def no_finding(self) -> str:
        """The text of a screen without a finding, else ""."""
        return "" if self.models else NO_FINDING

    def below_headline(self, sentence: str) -> str:
        """A finding's sentence for a place below the headline: without what that says already."""
        headline = self.models[0].sentence if len(self.models) == 1 else ""
        if sentence == headline:
            return ""
        return sentence.replace(f": {NOTHING_SAID}", "") if NOTHING_SAID in headline else sentence

    @property
    def bars(self) -> list[Number]:
        """The numbers of all findings."""
        return [bar for model in self.models for finding in model.findings for bar in finding.bars]

    @property
    def marks(self) -> dict[str, str]:
        """The marks of its numbers, and what they mean."""
        used = {sign for bar in self.bars for sign in bar.cell.mark}
        return {mark: text for mark, text in (MEANINGS | MARKS).items() if mark in used}

    @property
    def verdict(self) -> str:
        """Whether these numbers may be quoted: ``Not yet. Missing: full data.``"""
        return quotable.quotability_verdict(self.checks)


@dataclass(frozen=True)
class ReportDocument:
    """A report. ``first``: its first screen, None for one that is about no runs of a benchmark.

    ``unread``: why the log of each task that it leaves out can't be read.
    """

    title: str
    parts: tuple[ReportChapter, ...]
    first: FirstScreen | None = None
    unread: tuple[str, ...] = ()

    def tables(self) -> Iterator[tuple[ReportChapter, Frame]]:
        """Every table with the part it stands in."""
        for part in self.parts:
            for section in part.sections:
                for table in section.tables:
                    yield part, table


def first_screen(
    runs: Sequence[ResultFile],
    asked: Sequence[tuple[SuiteResults, SuiteFinding | None]],
    unread: Sequence[str] = (),
    losses: Sequence[str] = (),
) -> FirstScreen:
    """The first screen of a report on ``runs``; ``asked``: each source with its finding, in the report's order.

    ``unread``: see :class:`ReportDocument`; ``losses``: see :class:`FirstScreen`, of many the first ones are shown.

    Of several findings of one model about a benchmark (other trials, a part of the questions) the one that rests on the
    most questions counts; of as many the one that a leaderboard ranks first.
    """
    kept: dict[str, dict[object, _Kept]] = {model_name(run.content): {} for run in runs}
    asked = [(each, finding and replace(finding, trial=_trial_note(each.source.asked))) for each, finding in asked]
    sentences: dict[tuple[str, str], str] = {}
    for each, finding in asked:
        part, said = (each.suite.title, each.source.name), finding.sentence if finding else _without_finding(each)
        if said:
            sentences[part] = f"{sentences[part]} {said}" if part in sentences else said
        if finding:
            own = kept[model_name(each.source.run.content)]
            new = _Kept(each.source, finding)
            key = finding.suite, id(each.suite)  # a folder's choices and open answers are two suites of one title
            if key not in own or new.rests_on > own[key].rests_on:
                own[key] = new
    models = []
    for name, own in kept.items():
        trial = _trial_note(pair for each in own.values() for pair in each.source.asked)
        models += [ModelFindings(name, tuple(each.finding for each in own.values()), trial)] if own else []
    known = {each.suite.title for each, finding in asked if finding}
    empty = {each.suite.title: _without_finding(each) or NO_HEADLINE for each, _ in asked
             if each.suite.title not in known}  # fmt: skip
    for title in empty if len(kept) > 1 else ():
        whose = [model_name(each.source.run.content) for each, _ in asked if each.suite.title == title]
        empty[title] = f"{join_with_and(list(dict.fromkeys(whose)))}: {empty[title]}"
    best, leader = _best_at(kept)
    more = [f"{count_noun(left, 'more metric')}: see Degraded tasks."] if (left := len(losses) - ALL) > 0 else []
    return FirstScreen(
        facts=_screen_facts(runs, asked),
        models=tuple(models),
        checks=quotable.quotability_checks([each for each, _ in asked], unread),
        sentences=sentences,
        others=tuple(_other_runs(kept, asked)),
        best=best,
        leader=leader,
        empty=empty,
        losses=(*losses[:ALL], *more),
    )


class _Kept(NamedTuple):
    source: ModelResults
    finding: SuiteFinding

    @property
    def rests_on(self) -> tuple[int, int]:
        """Questions, and how early a leaderboard looks at their tasks."""
        return len(self.source.rows), -self.finding.place


def _best_at(kept: Mapping[str, Mapping[object, _Kept]]) -> tuple[dict[str, str], str]:
    """Who is best at each benchmark that several models were asked, by its title, and at all of them."""
    by_suite: dict[str, dict[str, _Kept]] = {}
    for model, own in kept.items():
        for each in own.values():
            if not each.finding.unread:
                by_suite.setdefault(each.finding.suite, {}).setdefault(model, each)
    sentences, every = dict[str, str](), list[str]()
    for suite, by_model in by_suite.items():
        runs = [shown.source.asked for shown in by_model.values()]
        if len(runs) > 1 and (len(set(map(_trial_note, runs))) > 1 or about.other_data(runs)):
            sentences[suite] = OTHER_QUESTIONS
        elif best := best_models({model: shown.finding for model, shown in by_model.items()}):
            sentences[suite] = best_sentence(best)
            every += best.values()
    return sentences, "" if OTHER_QUESTIONS in sentences.values() else leader_sentence(every)


def _without_finding(asked: SuiteResults) -> str:
    """The sentence in place of a finding if no answer was judged; "" if other questions have no score."""
    judged = judged_tables.judgings_by_protocol(asked.source.rows).values()
    return NOT_JUDGED if any(each.statuses["missing"] and not each.deciding for each in judged) else ""


def _trial_note(asked: Iterable[tuple[ResultFile, Sequence[str]]]) -> str:
    """``trial of 20 questions a task``; "" where all questions were asked."""
    counts = [
        (original, effective) for run, tasks in asked for _, original, effective in about.question_counts(run, tasks)
    ]
    limited = {effective for original, effective in counts if effective < original}
    if not limited:
        return ""
    most = max(effective for _, effective in counts)
    return f"trial of {most:,} questions a task" if limited == {most} else "trial of a part of the questions"


def _other_runs(
    kept: Mapping[str, Mapping[object, _Kept]], asked: Sequence[tuple[SuiteResults, SuiteFinding | None]]
) -> Iterator[str]:
    """For each finding of several runs of a model: the run that is shown, and how the others differ."""
    found: dict[tuple[str, str], list[str]] = {}
    for each, finding in asked:
        source, name = each.source, model_name(each.source.run.content)
        own = kept[name].get((finding.suite, id(each.suite))) if finding else None
        if finding is None or own is None or own.source is source:
            continue
        whose, shown = f"{name}: " if len(kept) > 1 else "", own.source
        of_others = not {*source.tasks}.intersection(shown.tasks)
        if shown.name == name if of_others else shown.run is source.run:
            continue
        if of_others:
            # Of other tasks it was asked otherwise, as without images.
            said = f"shown is {shown.name}; other ways to ask are below."
        else:
            place, other = shown.run.path, source.run.path
            if place.parent != other.parent:
                place, other = place.parent, other.parent
            judges = judged_tables.deciding_judges([shown.rows, source.rows])
            numbers = [{bar.title: bar.value for bar in of.bars} for of in (own.finding, finding)]
            settings = [{about.changed_run_settings(*pair) for pair in of.asked} for of in (shown, source)]
            more = ", ".join(sorted(_model_argument_texts(source.asked) - _model_argument_texts(shown.asked)))
            differs = [
                *(["other numbers"] if numbers[0] != numbers[1] else []),
                *(["other data"] if about.other_data([shown.asked, source.asked]) else []),
                *(["other settings"] if settings[0] != settings[1] else []),
                *([f"other model arguments ({more})"] if more else []),
                *(["another judge or another text of its prompt"] if judges[0] != judges[1] else []),
            ]
            has = join_with_and(differs) or "the same numbers"
            said = f"shown is {make_printable(str(place))}. {make_printable(str(other))} has {has}."
        found.setdefault((whose, said), []).append(finding.suite)
    for (whose, said), of in found.items():
        yield f"{whose}{join_with_and(list(dict.fromkeys(of)))}: {said}"


def _model_argument_texts(asked: _Runs) -> set[str]:
    """The model arguments of runs, each as ``dtype=bfloat16``."""
    given = [(run.content.get("config") or {}).get("model_args") or "" for run, _ in asked]
    pairs = [[f"{key}={value}" for key, value in each.items()] if isinstance(each, Mapping) else str(each).split(",")
             for each in given]  # fmt: skip
    return {make_printable(pair) for own in pairs for pair in own if pair}


def _screen_facts(
    runs: Sequence[ResultFile], asked: Sequence[tuple[SuiteResults, SuiteFinding | None]]
) -> tuple[str, ...]:
    tasks = {task for each, _ in asked for task in each.source.tasks}
    suites = {each.suite.title for each, _ in asked}
    trials = max((len(found) for each, _ in asked for found in each.source.rows.column("trials")), default=0)
    dates = sorted({make_printable(date_of(run.content))[:8] for run in runs} - {""})
    days = [f"{date[:4]}-{date[4:6]}-{date[6:]}" if date.isdigit() else date for date in dates]
    named = f"{len(tasks)} task{'s' if len(tasks) > 1 else ''}"
    return (
        *([named + (f" of {len(suites)} benchmarks" if len(suites) > 1 else "")] if tasks else []),
        *([f"up to {trials} trials a question"] if trials > 1 else []),
        *([days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"] if days else []),
    )


OTHER_QUESTIONS = "Not of the same questions: no model is called the best."
BEST_MEANING = "best: better than every other beyond chance, by the test of ranks on the questions of all"


def best_models(findings: Mapping[str, SuiteFinding]) -> dict[str, str]:
    """Of each number that several models have, by its title, the model that is best; "" where none is.

    ``findings``: of one benchmark, by model. Where words were compared nobody is best.
    """
    best = {}
    for title in headline_titles(list(findings.values())):
        bars = {model: bar for model, finding in findings.items() for bar in finding.bars if bar.title == title}
        if len(bars) > 1 and not any(bar.by_words for bar in bars.values()):
            index = _index_of_best(list(bars.values()))
            best[title] = "" if index is None else list(bars)[index]
    return best


def best_sentence(found: Mapping[str, str]) -> str:
    """``m is best at clean images (L0); n is best at false alarms.``."""
    said: dict[str, list[str]] = {}
    for title, model in found.items():
        said.setdefault(model, []).append(title)
    return "; ".join(f"{who or 'none'} is best at {join_titles(what)}" for who, what in said.items()) + "."


def leader_sentence(found: Sequence[str]) -> str:
    """In how many numbers that several models have each is best, a sentence; ``found``: who is, "" of none."""
    if not found:
        return ""
    whose = "that several of these models have"
    if len(found) == 1:
        return f"Better than every other beyond chance in the one number {whose}: {found[0] or 'none'}."
    said = [f"{model} in {count}" for model, count in Counter(filter(None, found)).most_common()]
    names = join_with_and(said) or "none in any"
    return f"Better than every other beyond chance: {names} of {len(found)} numbers {whose}."


def _index_of_best(bars: Sequence[Number]) -> int | None:
    """The index of the number that is better than every other beyond chance; None without one, or without a test."""
    rows, estimate = [bar.rows for bar in bars if bar.rows is not None and bar.cell.low is not None], bars[0].estimate
    if estimate is None or len(rows) < len(bars) or any(bar.estimate != estimate for bar in bars):
        return None
    found = image_contributions([functools.partial(row.where, {}) for row in rows], estimate)
    pairs = found and rank_intervals(found.sums if bars[0].higher_is_better else -found.sums, sizes=found.sizes)
    return next((index for index, rank in enumerate(pairs.high) if rank == 1), None) if pairs else None
