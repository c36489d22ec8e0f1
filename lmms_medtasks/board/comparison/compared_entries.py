"""The two sides of a comparison: entries by task, reasons against comparing them, paired scores."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from lmms_medtasks.board.boards import Leaderboard, join_reasons
from lmms_medtasks.board.collect import collect_entries, task_names
from lmms_medtasks.board.entries import EntryProblem, LeaderboardEntry
from lmms_medtasks.board.rules import BoardRules
from lmms_medtasks.board.trust import rules_of_trust
from lmms_medtasks.errors import UserError, nearest_match
from lmms_medtasks.judges import identity
from lmms_medtasks.report.judged_tables import LEXICAL
from lmms_medtasks.samples.degraded import is_degraded_name
from lmms_medtasks.seeding import stable_seed
from lmms_medtasks.short_texts import first_named
from lmms_medtasks.statistics.power import DetectableDifference, TestCriterion, detectable_difference
from lmms_medtasks.suites import common_metrics
from lmms_medtasks.suites.contributions import PairedChange, paired_change

SAME = 1e-9
"""Scores that differ by no more are the same."""
_Reason = TypeVar("_Reason")
_Of = TypeVar("_Of")


@dataclass(frozen=True)
class ComparedRuns:
    """One side: its folder or file as given, and its board."""

    path: Path
    board: Leaderboard

    @property
    def name(self) -> str:
        """The model's name, or the path where there are several."""
        names = {entry.model.name for entry in self.board.entries}
        return names.pop() if len(names) == 1 else str(self.path)

    @property
    def shown(self) -> str:
        """The name with the path, which distinguishes two runs of one model."""
        return self.name if self.name == str(self.path) else f"{self.name}  ({self.path})"


def read_compared_runs(
    path: Path,
    *,
    tasks: Sequence[str] = (),
    rules: BoardRules | None = None,
    processes: int = 1,
    pins: Path | None = None,
) -> ComparedRuns:
    """Read one side; problems against the pins in the file ``pins`` are among the board's.

    Raises UserError if one of ``tasks`` is missing, or nothing can be compared.
    """
    trust = rules_of_trust.read_trust(pins)
    board = collect_entries([path], tasks=tasks, rules=rules, processes=processes, trust=trust)
    if without_entry := [task for task in tasks if task not in entry_tasks(board.entries)]:
        names = task_names(path)
        for task in without_entry:
            if is_degraded_name(task):
                raise UserError(
                    f"{task} can't be compared with another run: a degraded task is paired with the clean one of its "
                    "own run. What each run lost stands in lmms-medtasks report RUN --suite 'Degraded tasks'."
                )
            if names and task not in names:
                hint = nearest_match(task, names)
                raise UserError(f"No result of {task} in {path}.{hint} Tasks there: {', '.join(names)}.")
    if not board.entries:
        wanted = f" of {', '.join(tasks)}" if tasks else ""
        if not board.problems:
            raise UserError(
                f"No *_results.json{wanted} and no submission in {path}. Give the --output_path of a run, with its "
                "sample logs beside it (--log_samples), or a submission."
            )
        reasons = [problem.reason for problem in board.problems]
        more = f" And {len(reasons) - 3} more." if len(reasons) > 3 else ""  # noqa: PLR2004 - enough to see what is wrong
        raise UserError(f"No result{wanted} in {path} that can be compared. {' '.join(reasons[:3])}{more}")
    return ComparedRuns(path, board)


def read_both(
    first: Path, second: Path, *, tasks: Sequence[str] = (), rules: BoardRules | None = None, pins: Path | None = None
) -> tuple[ComparedRuns, ComparedRuns]:
    """Read both sides with all processors, see :func:`read_compared_runs`."""
    options: dict[str, Any] = {"tasks": tasks, "rules": rules, "processes": os.cpu_count() or 1, "pins": pins}
    return read_compared_runs(first, **options), read_compared_runs(second, **options)


def degraded_tasks_of_both(first: ComparedRuns, second: ComparedRuns) -> list[str]:
    """The degraded tasks that both sides were asked, which no comparison has."""
    return sorted(set.intersection(*(set(filter(is_degraded_name, task_names(each.path))) for each in (first, second))))


def one_model(side: ComparedRuns) -> None:
    """Raise UserError if a side has more than one entry on a task, because either could be meant."""
    seen: dict[str, LeaderboardEntry] = {}
    for entry in side.board.entries:
        other = seen.setdefault(entry.task, entry)
        if other is not entry:
            raise UserError(
                f"{side.path} has two entries on {entry.task}: {_describe_entry(other)} and {_describe_entry(entry)}. "
                "Name the folder or file of one of them."
            )


def match_entries(first: ComparedRuns, second: ComparedRuns) -> list[tuple[LeaderboardEntry, LeaderboardEntry]]:
    """The entries of two sides of one model each, on every common task.

    Raises UserError if a side has several entries on a task, or there is no common task.
    """
    for side in (first, second):
        one_model(side)
    others = {entry.task: entry for entry in second.board.entries}
    matched = [(entry, others[entry.task]) for entry in first.board.entries if entry.task in others]
    if not matched:
        first_tasks, second_tasks = (", ".join(entry_tasks(side.board.entries)) for side in (first, second))
        raise UserError(f"No task in common: {first.path} has {first_tasks}; {second.path} has {second_tasks}.")
    return matched


def _describe_entry(entry: LeaderboardEntry) -> str:
    judge = f", judged by {entry.judge.name}" if entry.judge else ""
    settings = f", {entry.asked_by}" if entry.asked_by else ""
    return f"{entry.model.name} ({entry.source.results}, version {entry.version}, {entry.data} data{settings}{judge})"


def incomparable_reasons(first: LeaderboardEntry, second: LeaderboardEntry) -> Iterator[str]:
    """Why the scores of two entries on a task are not comparable; nothing if they are."""
    if first.version != second.version:
        yield f"task version {first.version} and {second.version}"
    if (first.data, first.data_digest) != (second.data, second.data_digest):
        digests = f"{first.data_digest[:12]} and {second.data_digest[:12]}"
        kinds = f"{first.data} and {second.data} data, digests"
        alike = f"both {first.data}, of other questions, answers or images: digests"
        yield f"other data ({alike if first.data == second.data else kinds} {digests})"
    if first.asked_by != second.asked_by:
        said = [each or "our settings" for each in (first.asked_by, second.asked_by)]
        yield f"asked with {' and with '.join(said)}"
    if first.settings.get("other_model") != second.settings.get("other_model"):
        said = [entry.settings.get("other_model") or "answered as asked" for entry in (first, second)]
        yield f"another model ({said[0]}; {said[1]})"
    judges = [entry.judge.name if entry.judge else "none" for entry in (first, second)]
    if not identity.same_judge(*judges):
        yield f"judged by {judges[0]} and {judges[1]}"
    elif first.judge and second.judge and first.judge.prompts != second.judge.prompts:
        yield "judged by other prompts"


def same_run(first: LeaderboardEntry, second: LeaderboardEntry) -> bool:
    """Whether two entries were read from files with the same bytes."""
    one, other = (set(each.source.sha256.values()) for each in (first, second))
    return bool(one) and one == other


def asked_in_part(called: str, entries: Sequence[LeaderboardEntry]) -> Iterator[str]:
    """A sentence if not all questions were asked. ``called``: the name of the side."""
    limited = [entry for entry in entries if entry.limited]
    if limited:
        counts = {entry.counts.effective for entry in limited}
        number = f"{counts.pop():,} questions a task" if len(counts) == 1 else "only a part of the questions"
        limits = dict.fromkeys(entry.settings.get("limit") or "not all" for entry in limited)
        yield f"{called} asked {number} ({', '.join(limits)})."


def problems_said(
    sides: Mapping[str, ComparedRuns], chosen: Callable[[EntryProblem], bool], *, most: int | None = None
) -> list[str]:
    """The chosen problems of the sides' boards, each reason once, with the sides and the tasks (``most`` are named)."""
    found = ((called, problem) for called, side in sides.items() for problem in filter(chosen, side.board.problems))
    return join_reasons(((each.reason, called, each.task or each.source) for called, each in found), most)


def group_reasons(said: Iterable[tuple[_Reason, _Of]]) -> dict[_Reason, list[_Of]]:
    """Reason -> its subjects, in order; subjects with the reason "" are left out."""
    grouped: dict[_Reason, list[_Of]] = {}
    for reason, subject in said:
        if reason:
            grouped.setdefault(reason, []).append(subject)
    return grouped


def replies_said(sides: Mapping[str, ComparedRuns]) -> list[str]:
    """For each side with replies without an answer: the outcomes of all replies, and the tasks with most of these."""
    texts = []
    for called, side in sides.items():
        every: Counter[str] = Counter()
        without: Counter[str] = Counter()
        for entry in side.board.entries:
            every.update(entry.outcomes)
            without[entry.task] += sum(entry.outcomes.values()) - entry.outcomes[common_metrics.ANSWERED]
        tasks = [task for task, count in without.most_common() if count]
        if tasks:
            texts.append(
                f"Replies ({called}): {common_metrics.describe_outcomes(every)}. "
                f"Without an answer: {first_named(tasks, 3)}."
            )
    return texts


def explaining_differences(first: LeaderboardEntry, second: LeaderboardEntry) -> Iterator[str]:
    """Other differences between two entries that may explain a difference of their scores."""
    for part in sorted({*first.of_task, *second.of_task}):
        if first.digests.get(part) != second.digests.get(part):
            yield f"another {part.replace('_', ' ')}"
    if first.package_version != second.package_version:
        yield f"lmms-medtasks {first.package_version} and {second.package_version}"
    elif first.of_package != second.of_package:
        yield f"other code of lmms-medtasks {first.package_version}"
    for name in ("generation", "image_encoding"):
        if first.settings.get(name) != second.settings.get(name):
            yield f"other {name.replace('_', ' ')} settings" if name != "image_encoding" else "other image encoding"
    if first.harness != second.harness:
        yield f"harness {first.harness} and {second.harness}"


def entry_tasks(entries: Iterable[LeaderboardEntry]) -> list[str]:
    """The tasks, each once, in the order of the entries."""
    return list(dict.fromkeys(entry.task for entry in entries))


@dataclass(frozen=True)
class PairedScores:
    """The scores of the n questions with a score in both entries, sorted by id, and the numbers compared.

    For a number that is not a mean over questions a row is an image and its contribution: their mean is the number.

    Attributes:
        ids: (n,) strings. clusters: (n,) strings, the first entry's images. first, second: (n,) floats.
        change: the numbers, the change, its interval and test.
        unscored: questions of both with a score in one only (a failed request, a missing judgement).
        only_first, only_second: questions of this measure that the other entry was not asked.
        by_words: whether each side's number is of the judge that compares words.
    """

    of_questions: bool
    ids: np.ndarray
    clusters: np.ndarray
    first: np.ndarray
    second: np.ndarray
    change: PairedChange
    unscored: int = 0
    only_first: int = 0
    only_second: int = 0
    by_words: tuple[bool, bool] = (False, False)

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def differences(self) -> np.ndarray:
        """(n,) floats: second minus first."""
        return self.second - self.first

    @property
    def signs(self) -> tuple[str, str]:
        """The signs of both numbers, "" for none."""
        return LEXICAL * self.by_words[0], LEXICAL * self.by_words[1]

    @property
    def images(self) -> int:
        """Distinct images."""
        return len(set(self.clusters))

    @property
    def linear(self) -> bool:
        """Whether the test is exact; else it is asymptotic."""
        return self.change.contributions is None or self.change.contributions.linear

    @property
    def lacking(self) -> str:
        """Why no test is possible; "" if one is."""
        if len(self):
            return ""
        if self.change.contributions:
            return f"No test: {self.change.contributions.reason}."
        return f"{'No question has a score' if self.of_questions else 'There is no value'} in both."

    def detectable(self, criterion: TestCriterion, largest: float) -> DetectableDifference:
        """The smallest true difference that these rows would have shown; ``largest``: of the scale."""
        return detectable_difference(self.clusters.tolist(), self.differences, criterion, largest=largest)

    def most_telling(self, count: int, seed: str = "") -> Sequence[int]:
        """The ``count`` rows that differ most, without ties. A hash of the id decides between equals, so that the
        choice is reproducible and does not favour the beginning of the data."""
        away = np.round(np.abs(self.differences), 9)
        rows = np.flatnonzero(away > SAME).tolist()
        return sorted(rows, key=lambda row: (-away[row], stable_seed("telling", seed, str(self.ids[row]))))[:count]


def pair_scores(first: LeaderboardEntry, second: LeaderboardEntry, metric: str) -> PairedScores:
    """Join two entries by question id for a common metric; by image if it is not a mean over questions."""
    change = paired_change(first.make_samples, second.make_samples, first.estimate(metric), metric)
    rows, others = first.scored(metric).rows, second.scored(metric).rows
    one, other, only_first, only_second = rows, others, 0, 0
    if first.questions.digest != second.questions.digest:
        one, other = first.questions.ids[rows], second.questions.ids[others]
        only_first = int((~np.isin(one, second.questions.ids)).sum())
        only_second = int((~np.isin(other, first.questions.ids)).sum())
    unscored = len(np.setxor1d(one, other, assume_unique=True)) - only_first - only_second
    by_words = (False, False)
    if change.first is not None:  # else the second has none as well: no question has a score in both
        by_words = first.is_lexical(metric), second.is_lexical(metric)
    if not first.is_mean(metric):
        parts = change.contributions
        images = parts.clusters if parts else np.array([], dtype=str)
        before, after = (parts.sums * (len(images) / parts.rows)).T if parts else np.zeros((2, 0))
        return PairedScores(False, images, images, before, after, change, unscored, only_first, only_second, by_words)
    _, own, its = np.intersect1d(one, other, assume_unique=True, return_indices=True)
    rows, others = rows[own], others[its]
    ids, images = first.questions.ids[rows], first.samples.column("cluster")[rows]
    before, after = first.scores(metric)[rows], second.scores(metric)[others]
    return PairedScores(True, ids, images, before, after, change, unscored, only_first, only_second, by_words)
