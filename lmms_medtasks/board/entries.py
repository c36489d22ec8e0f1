"""The parts of a leaderboard: one model's scores on one task, question by question, and its problems.

Everything is compact (about ten bytes a question and measure, no text of a question or an answer) and knows neither
files nor the harness: :mod:`lmms_medtasks.board.collect` makes it from runs and packs.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lmms_medtasks.board import installed
from lmms_medtasks.board.columns import codes_of
from lmms_medtasks.digests import of_package, of_task
from lmms_medtasks.errors import UserError
from lmms_medtasks.record import FAILED
from lmms_medtasks.report.judged_tables import is_lexical
from lmms_medtasks.samples.table import QuestionTable
from lmms_medtasks.statistics.intervals import IntervalEstimate
from lmms_medtasks.suites import common_metrics
from lmms_medtasks.suites.estimates import EMPTY, Estimate, Mean
from lmms_medtasks.suites.suite import Measure, Metric, Suite

QUESTION = ("id", "cluster", "pair", "expected", "task", "condition")
"""The columns of questions that are not tags."""

SMALL = 10_000
"""Questions up to which an entry keeps its decoded columns: about a megabyte then, hundreds on a board of many."""

T = TypeVar("T")
Level = Literal["refused", "unranked", "flag"]
"""refused: no entry was made. unranked: shown outside the ranking, as not comparable. flag: ranked with a note."""


class _EntryMemory:
    """Values that are computed once, by key; they take no part in comparing and replacing."""

    @functools.cached_property
    def _made(self) -> dict[Hashable, Any]:
        return {}

    def _once(self, key: Hashable, make: Callable[[], T]) -> T:
        if key not in self._made:
            self._made[key] = make()
        found: T = self._made[key]
        return found


@dataclass(frozen=True)
class EntryQuestions(_EntryMemory):
    """The questions of a task, sorted by id. Entries that were asked the same ones share one object.

    Attributes:
        table: a row a question: those of :data:`QUESTION`, and the tags.
        digest: of the whole table; the same digest is the same questions.
    """

    table: pa.Table
    digest: str

    def __len__(self) -> int:
        return int(self.table.num_rows)

    @functools.cached_property
    def ids(self) -> np.ndarray:
        """(n,) strings, distinct, sorted."""
        return np.array(self.table.column("id").to_pylist())

    @functools.cached_property
    def tags(self) -> tuple[str, ...]:
        """The columns of the table that are tags, sorted."""
        return tuple(sorted({*self.table.column_names} - {*QUESTION}))

    def values(self, name: str) -> list[Any]:
        """(n,) values of a column of the table, decoded once; None everywhere if the column is missing."""
        there = name in self.table.column_names
        return self._once(("values", name), self.table.column(name).to_pylist if there else lambda: [None] * len(self))

    @functools.cached_property
    def samples(self) -> QuestionTable:
        """The questions as a table; all entries on these questions share its decoded columns."""
        return QuestionTable(self.table)

    def tag(self, name: str) -> pa.DictionaryArray:
        """A column of the table in codes (:mod:`lmms_medtasks.board.columns`)."""
        return self.table.column(name).combine_chunks()

    def codes(self, name: str) -> np.ndarray:
        """(n,) integers of a column: 0 for no value, else the index of the row's value, from 1."""
        return self._once(("codes", name), lambda: codes_of(self.tag(name)))


def all_ids(entries: Iterable[LeaderboardEntry]) -> np.ndarray:
    """(n,) strings: the ids of all questions of these entries, distinct and sorted."""
    shared = {entry.questions.digest: entry.questions for entry in entries}
    if len(shared) == 1:
        return next(iter(shared.values())).ids
    return np.unique(np.concatenate([questions.ids for questions in shared.values()]))


@dataclass(frozen=True)
class EntryModel:
    """A model as it was run.

    ``name``: the checkpoint of its arguments, else the harness's name; printable text of others, NOT escaped for HTML.
    ``arguments``: digest of all arguments (they may hold keys, so they are not kept); "" if there were none.
    """

    name: str
    harness_model: str
    arguments: str

    @property
    def key(self) -> str:
        """Name, runner and arguments: distinguishes models."""
        return f"{self.name}|{self.harness_model}|{self.arguments}"


@dataclass(frozen=True, kw_only=True)
class EntryJudge:
    """The judge of the open answers. ``prompts``: protocol -> "version digest".

    ``name``: in full, with the endpoint and the model that answered; see ``judges.identity.full_name``.
    """

    name: str
    prompts: Mapping[str, str]
    settings: str
    is_paper_judge: bool


@dataclass(frozen=True)
class QuestionCounts:
    """How much of a task was run: questions in the data, asked, and in the log; replies; judgements.

    ``original`` and ``effective`` are None if the run does not record them. ``parsed`` of ``replies`` could be read,
    ``empty`` have no text; ``failed`` of ``requests`` got no reply; ``judged`` of ``wanted`` judgements were obtained
    (both 0 without a judge).
    """

    original: int | None
    effective: int | None
    rows: int
    replies: int = 0
    parsed: int = 0
    empty: int = 0
    requests: int = 0
    failed: int = 0
    wanted: int = 0
    judged: int = 0

    @property
    def parse_rate(self) -> float | None:
        """Share of the replies that could be read."""
        return self.parsed / self.replies if self.replies else None

    @property
    def coverage(self) -> float | None:
        """Share of the judgements requested that were obtained."""
        return self.judged / self.wanted if self.wanted else None

    @property
    def failure_rate(self) -> float | None:
        """Share of the requests that got no reply."""
        return self.failed / self.requests if self.requests else None


@dataclass(frozen=True)
class EntryProblem:
    """A reason that limits or forbids an entry. ``code`` is one of ``thresholds.yml``; ``reason`` is a sentence.

    ``source``: its file. ``task`` and ``model`` are "" if the problem is about a whole file.
    """

    code: str
    level: Level
    reason: str
    source: str
    task: str = ""
    model: str = ""


@dataclass(frozen=True, kw_only=True)
class EntryOrigin:
    """The origin of an entry. ``results``: the result file or the pack. ``samples``: the log, None for a pack.

    ``date``: in UTC, see ``samples.runs.date_of``. ``sha256``: file name -> digest of the files read; for a pack, as it
    says of its run. ``signed_off_by``: of a pack. ``digest``: SHA-256 of the submission's bytes: of a pack, or of a run
    the SHA-256 of its result file's and the log's digests, concatenated in hexadecimal digits.
    """

    kind: Literal["run", "pack"]
    results: Path
    samples: Path | None
    date: str
    sha256: Mapping[str, str] = field(default_factory=dict)
    signed_off_by: str = ""
    digest: str = ""


def replies_to(samples: QuestionTable) -> np.ndarray:
    """(n,) integers: the number of replies to each question; a failed request has none."""
    places, trials = samples.texts("trials")
    return np.bincount(places[np.asarray(pc.not_equal(trials, FAILED))], minlength=len(samples))


def measure_of(metric: Metric) -> str | None:
    """The measure whose scores a metric is made of; None for a metric of replies or of its own units."""
    return getattr(metric.estimate, "measure", None)


@dataclass(frozen=True)
class LeaderboardEntry(_EntryMemory):
    """One model on one task of one version.

    Attributes:
        suite: the folder of the task where it is installed, "contributed" where it is not. task: as the harness calls
            it.
        version: of the task. data: "full", "sample", "mini", "unknown", or the subset of one of them that was asked
            ("1000 images of full"). data_digest: of the data's bytes, and of the subset's draw.
        digests: of the prompt, the package, its degradations, and code of someone's own. package_version: ours.
            package_modified: whether its files are others than were installed; None where that is not known.
        harness: version of lmms-eval, as recorded. settings: further facts worth showing, by name.
        credentialed: ids may be shown, texts and images never.
        answers: a row a question, as ``questions`` has them: ``trials``, ``judgement``, the columns of measures, and
            of a run the ``line`` of its log; no texts.
        metrics: the task's main metrics, and its other means of a measure that a question has a score for, as the
            benchmark orders them.
        reported: the task's metrics as the harness wrote them, those with a number.
        at_limit: replies that the limit of new tokens ended, read or not; 0 for a pack, which does not say.
        level: what a board verified of it (:data:`lmms_medtasks.board.trust.levels.LEVELS`).
    """

    suite: str
    task: str
    version: str
    model: EntryModel
    data: str
    data_digest: str
    digests: Mapping[str, str]
    package_version: str
    package_modified: bool | None
    judge: EntryJudge | None
    harness: str
    settings: Mapping[str, str]
    credentialed: bool
    source: EntryOrigin
    questions: EntryQuestions
    answers: pa.Table
    metrics: tuple[str, ...]
    counts: QuestionCounts
    reported: Mapping[str, float]
    at_limit: int = 0
    problems: tuple[EntryProblem, ...] = ()
    level: str = ""

    @property
    def of_package(self) -> dict[str, str]:
        """The digests that another version of the package may change without changing a number."""
        return of_package(self.digests)

    @property
    def of_task(self) -> dict[str, str]:
        """The other digests: they stay as long as the task's version does."""
        return of_task(self.digests)

    @property
    def declaration(self) -> Suite | None:
        """The declaration of its benchmark; None for an unknown task."""
        return installed.task_declaration(self.task, self.settings)

    @property
    def declared(self) -> str:
        """A digest of the declaration that the entry brings along, "" if our code has it."""
        return installed.declaration_digest(self.task, self.settings)

    @property
    def samples(self) -> QuestionTable:
        """The questions with the answers, for estimates; with few questions its columns are decoded once."""
        return self._once_of_few("samples", self._made_samples)

    def make_samples(self) -> QuestionTable:
        """As :attr:`samples`, for callers that take a function."""
        return self.samples

    def _made_samples(self) -> QuestionTable:
        table = self.questions.table
        for name in self.answers.column_names:
            table = table.append_column(name, self.answers.column(name))
        return QuestionTable(table, shared=self.questions.samples)

    def _once_of_few(self, key: Hashable, make: Callable[[], T]) -> T:
        return self._once(key, make) if len(self.questions) <= SMALL else make()

    @property
    def outcomes(self) -> dict[str, int]:
        """Replies of each of :data:`lmms_medtasks.suites.common_metrics.OUTCOMES`."""
        return common_metrics.count_outcomes(QuestionTable(self.answers))

    @property
    def main_metrics(self) -> list[str]:
        """The metrics that its benchmark's table shows and that are compared; without one its first metric."""
        suite = self.declaration
        main = {metric.name for metric in suite.main_metrics} if suite else set()
        return [name for name in self.metrics if name in main] or list(self.metrics[:1])

    def interval(self, metric: str, *, with_interval: bool = True) -> IntervalEstimate:
        """A metric's number with its interval, as in the report; without it as the harness prints it."""
        estimate = self.estimate(metric)
        return estimate.of(self.samples, with_interval).get(estimate.main, EMPTY)

    @property
    def main_means(self) -> list[str]:
        """The main metrics that are means over questions: each question has a score."""
        return [name for name in self.main_metrics if self.is_mean(name)]

    def is_mean(self, metric: str) -> bool:
        """Whether a metric is a mean over questions."""
        return isinstance(self.estimate(metric), Mean)

    def is_lexical(self, metric: str) -> bool:
        """Whether verdicts of the judge that compares words are part of a metric: it is a smoke test, not a score."""
        if self.judge is None or not is_lexical(self.judge.name):
            return False
        return not {"judged", "partial"}.isdisjoint(self.scored(metric).column("judgement"))

    def estimate(self, metric: str) -> Estimate:
        """The estimate of a metric."""
        return self._declared.metric(metric).estimate

    def scored(self, metric: str) -> QuestionTable:
        """The questions of a metric: those with a score of its measure; without a measure those with a reply."""

        def find() -> QuestionTable:
            declared = self._declared.metric(metric)
            rows, measure = self.samples.where(declared.estimate.where), measure_of(declared)
            return rows.take(replies_to(rows) > 0) if measure is None else rows.scored(measure)

        return self._once_of_few(("scored", metric), find)

    def scores(self, metric: str) -> np.ndarray:
        """(n,) floats: each question's score of a metric that is a mean; NaN if it has none."""
        rows, scores = self.scored(metric), np.full(len(self.questions), np.nan)
        scores[rows.rows] = rows.column(f"{measure_of(self._declared.metric(metric))}.score")
        return scores

    def scale(self, metric: str) -> Measure:
        """The scale of a metric in its direction: of a mean its measure's, else the range of its statistic.

        The range is 0 to 1 where none is known (a ratio).
        """
        return self._once(("scale", metric), lambda: self._made_scale(self._declared.metric(metric)))

    def _made_scale(self, metric: Metric) -> Measure:
        better = metric.higher_is_better is not False
        if isinstance(metric.estimate, Mean):
            return replace(self._declared.measure(metric.estimate.measure), higher_is_better=better)
        unit = self._declared.unit(metric)
        digits = 1 if unit in ("%", "points") else 3
        return Measure(metric.name, metric.about, *metric.estimate.range(self.samples), unit, digits, better)

    @property
    def _declared(self) -> Suite:
        suite = self.declaration
        if suite is None:
            raise UserError(f"{self.task} is not known here, so its numbers can't be computed. {installed.ADVICE}")
        return suite

    @property
    def ranked(self) -> bool:
        """Whether it may be ranked."""
        return all(problem.level == "flag" for problem in self.problems)

    @property
    def variant(self) -> str:
        """The data that was read, also if only a subset of it was asked."""
        return self.data.rpartition(" of ")[2]

    @property
    def asked_by(self) -> str:
        """Settings other than ours: ``paper settings``, ``own prompt mine.txt (1a2b…)``; "" for ours."""
        return self.settings.get("settings", "")

    @property
    def limited(self) -> bool:
        """Whether fewer questions were asked than the data has."""
        return self.counts.original is not None and self.counts.effective != self.counts.original

    def with_problems(self, problems: Sequence[EntryProblem]) -> LeaderboardEntry:
        """The entry with these problems added."""
        return replace(self, problems=(*self.problems, *problems))
