"""A leaderboard: all entries, and the reference of each task's ranking."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from lmms_medtasks.board.entries import EntryModel, EntryProblem, LeaderboardEntry
from lmms_medtasks.board.trust.levels import OWN_RUN
from lmms_medtasks.short_texts import first_named
from lmms_medtasks.suites.suite import Measure


@dataclass(frozen=True, kw_only=True)
class TaskReference:
    """What all ranked entries of a task have in common; None: not demanded. ``settings``: see ``asked_by`` of entries.

    ``digests``: those that stay as long as the task's version does. ``packages``: version of the package -> its
    digests. ``harness``: "" if neither pin, rules nor entries name it. ``unverified``: parts taken from the entries
    themselves, because no pin and no rule names them.
    """

    version: str
    data: str
    data_digest: str
    digests: Mapping[str, str]
    packages: Mapping[str, Mapping[str, str]]
    judge: str | None
    prompts: Mapping[str, str]
    harness: str
    settings: str = ""
    unverified: tuple[str, ...] = ()


@dataclass(frozen=True)
class Leaderboard:
    """The entries (at most one a model and task is ranked), the references by task, and every problem.

    ``problems``: those of entries, of files without an entry, and of copies. ``bad``: the problems that a build's exit
    status reports: refusals and those that the rules name. ``owned``: only a model name's owner could submit its
    entries.
    """

    entries: tuple[LeaderboardEntry, ...]
    references: Mapping[str, TaskReference]
    problems: tuple[EntryProblem, ...]
    bad: tuple[EntryProblem, ...] = ()
    owned: bool = False

    def scale(self, task: str, metric: str) -> Measure:
        """The scale of a task's metric, as its entries have it."""
        return self.of(task=task)[0].scale(metric)

    def of(
        self, *, suite: str | None = None, task: str | None = None, ranked: bool | None = None
    ) -> list[LeaderboardEntry]:
        """The entries of a suite, of a task, ranked ones or the others."""
        return [
            entry
            for entry in self.entries
            if suite in (None, entry.suite) and task in (None, entry.task) and ranked in (None, entry.ranked)
        ]

    def of_known_questions(self, suite: str) -> list[LeaderboardEntry]:
        """Entries of a suite; on a public board those on questions that a ranked entry or one of our runs was asked
        too.

        Questions of other entries are unverified and may be invented. Without a ranked entry: all entries.
        """
        entries = self.of(suite=suite)
        asked = {(entry.task, entry.questions.digest) for entry in entries if entry.ranked or entry.level == OWN_RUN}
        known = [entry for entry in entries if (entry.task, entry.questions.digest) in asked]
        return known if self.owned and known else entries

    @property
    def suites(self) -> list[str]:
        """Suites with an entry, sorted."""
        return sorted({entry.suite for entry in self.entries})

    @property
    def models(self) -> list[EntryModel]:
        """Models with an entry, sorted by name."""
        return sorted({entry.model.key: entry.model for entry in self.entries}.values(), key=lambda each: each.key)

    @property
    def refused_count(self) -> int:
        """The number of refused runs or tasks; one of them may have several reasons."""
        return len({(problem.source, problem.task) for problem in self.refused})

    @property
    def refused(self) -> list[EntryProblem]:
        """The problems because of which there is no entry."""
        return [problem for problem in self.problems if problem.level == "refused"]


def told_once(problems: Iterable[EntryProblem]) -> list[tuple[EntryProblem, list[str]]]:
    """The problems, the worst first, with the tasks of each; the same problem in several tasks of a run is one.

    Of refusals with one code the first reason is kept: the others differ in the names of task and log.
    """
    tasks: dict[tuple[str, ...], tuple[EntryProblem, set[str]]] = {}
    for each in problems:
        reason = each.code if each.level == "refused" else each.reason
        tasks.setdefault((each.level, each.model, each.source, reason), (each, set()))[1].add(each.task)
    told = [(problem, sorted(own - {""})) for problem, own in tasks.values()]
    levels = ("refused", "unranked", "flag")
    return sorted(told, key=lambda each: (levels.index(each[0].level), each[0].model, each[0].source, each[0].reason))


def join_reasons(found: Iterable[tuple[str, str, str]], most: int | None) -> list[str]:
    """Reason, subject and task as sentences: each reason once, with its subjects and ``most`` of their tasks."""
    reasons: dict[str, dict[str, dict[str, None]]] = {}
    for reason, subject, task in found:
        reasons.setdefault(reason, {}).setdefault(subject, {})[task] = None
    return [
        f"{reason} ({'; '.join(f'{name}: {first_named(list(tasks), most)}' for name, tasks in subjects.items())})"
        for reason, subjects in reasons.items()
    ]


def drawn_clusters(entries: Iterable[LeaderboardEntry]) -> str:
    """The independent units of these entries, for a note: "images", with those of other benchmarks in brackets."""
    suites = [suite for entry in entries if (suite := entry.declaration)]
    other = dict.fromkeys(f"{suite.title}: {suite.cluster}s" for suite in suites if suite.cluster != "image")
    return f"images ({'; '.join(other)})" if other else "images"
