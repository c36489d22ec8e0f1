"""What a leaderboard is made of: one model's scores on one task, question by question, and what is wrong with them.

All of it is compact (about ten bytes a question and measure, no text of a question or an answer) and knows neither
files nor the harness: :mod:`lmms_medtasks.board.collect` makes it from runs and packs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

import numpy as np

from lmms_medtasks.board.columns import Coded, mean_of

Level = Literal["refused", "unranked", "flag"]
"""refused: no entry was made. unranked: shown, but apart from the ranking, since it does not compare with the others.
flag: ranked, and said beside it."""


@dataclass(frozen=True)
class Questions:
    """The questions of a task, sorted by id. Entries that were asked the same ones share one object.

    Attributes:
        ids: (n,) strings, distinct, sorted.
        clusters: the image (or item) that a question shares with others: what a bootstrap draws.
        tags: by name, such as severity, degradation, modality, dimension, tier, set, answer_type; see ``measures.yml``.
        digest: of ids, clusters and tags; the same digest is the same questions.
    """

    ids: np.ndarray
    clusters: Coded
    tags: Mapping[str, Coded]
    digest: str

    def __len__(self) -> int:
        return len(self.ids)

    def cluster_labels(self) -> list[str]:
        """The n clusters as strings, as the bootstrap of :mod:`lmms_medtasks.statistics.bootstrap` takes them."""
        return [str(label) for label in self.clusters.labels()]


@dataclass(frozen=True)
class Measure:
    """One number a question: ``score``, None where the question has none or is not of this measure's part.

    ``low``, ``high``, ``judged``, ``wanted`` are there for judged answers: the score had missing judgements been worst
    or best, and the judgements had and wanted.
    """

    score: Coded
    low: Coded | None = None
    high: Coded | None = None
    judged: Coded | None = None
    wanted: Coded | None = None

    @property
    def mean(self) -> float | None:
        """Mean of the scores that there are (exactly rounded, whatever the order); None without any."""
        return mean_of(self.score)

    @property
    def n(self) -> int:
        """Questions with a score."""
        return int((self.score.codes != 0).sum())

    @property
    def bounds(self) -> tuple[float | None, float | None]:
        """The mean had all missing judgements been worst, and best; both are the mean where nothing was judged."""
        return (
            self.mean if self.low is None else mean_of(self.low),
            self.mean if self.high is None else mean_of(self.high),
        )


@dataclass(frozen=True)
class Scale:
    """How a measure is shown: its range, the number of decimals and unit, and whether more is better.

    ``main``: it belongs into the suite's table; others are in the data files only. ``interval``: "bootstrap" over
    images, or "share" where the suite's report takes :func:`lmms_medtasks.statistics.shares.share`.
    """

    low: float
    high: float
    unit: str
    digits: int
    higher_is_better: bool = True
    main: bool = False
    interval: Literal["bootstrap", "share"] = "bootstrap"

    @property
    def factor(self) -> float:
        """What a value is multiplied by to be shown in ``unit`` (100 for shares in percent)."""
        return 100.0 if self.unit == "%" else 1.0


@dataclass(frozen=True)
class Model:
    """A model as it was run.

    ``name``: the checkpoint that its arguments name, else the harness's name; text of others, made printable but NOT
    escaped for HTML. ``harness_model``: the harness's name of its runner. ``arguments``: digest of all arguments (they
    may hold keys, so they are not kept); "" if there were none.
    """

    name: str
    harness_model: str
    arguments: str

    @property
    def key(self) -> str:
        """Tells models apart: name, runner and arguments."""
        return f"{self.name}|{self.harness_model}|{self.arguments}"


@dataclass(frozen=True)
class Judge:
    """Who judged the open answers, by which prompts. ``prompts``: protocol -> "version digest".

    ``name``: in full, with the endpoint and the model that answered; see ``judges.identity.full_name``.
    """

    name: str
    prompts: Mapping[str, str]
    settings: str
    is_paper_judge: bool


@dataclass(frozen=True)
class Counts:
    """How much of a task was run: questions in the data, asked, and in the log; replies; judgements.

    ``original`` and ``effective`` are None where the run does not say. ``parsed`` of ``replies`` could be read,
    ``failed`` of ``requests`` got no reply; ``judged`` of ``wanted`` judgements were had (both 0 where none is judged).
    """

    original: int | None
    effective: int | None
    rows: int
    replies: int
    parsed: int
    requests: int
    failed: int
    wanted: int
    judged: int

    @property
    def parse_rate(self) -> float | None:
        """Share of the replies that could be read."""
        return self.parsed / self.replies if self.replies else None

    @property
    def coverage(self) -> float | None:
        """Share of the judgements wanted that were had."""
        return self.judged / self.wanted if self.wanted else None

    @property
    def failure_rate(self) -> float | None:
        """Share of the requests that got no reply."""
        return self.failed / self.requests if self.requests else None


@dataclass(frozen=True)
class Problem:
    """Something that limits or forbids an entry. ``code`` is one of ``thresholds.yml``; ``reason`` is a sentence.

    ``source``: the file that it is about. ``task`` and ``model`` are "" where it is about a whole file.
    """

    code: str
    level: Level
    reason: str
    source: str
    task: str = ""
    model: str = ""


@dataclass(frozen=True)
class Source:
    """Where an entry came from. ``results``: the result file or the pack. ``samples``: the log, None of a pack.

    ``sha256``: file name -> digest, of what was read. ``signed_off_by``: of a pack.
    """

    kind: Literal["run", "pack"]
    results: Path
    samples: Path | None
    date: str
    sha256: Mapping[str, str] = field(default_factory=dict)
    signed_off_by: str = ""


@dataclass(frozen=True)
class Entry:
    """One model on one task of one version.

    Attributes:
        suite: "medq_deg", "med_cmr", "medobvious", "sure_vqa", "bones_joints", the folder of a contributed task, or
            "contributed" where that is not told. task: as the harness calls it.
        version: of the task. data: "full", "sample", "mini", "unknown". data_digest: of the data's bytes.
        fingerprint: digests of prompt, code and degradations. fingerprint_recorded: whether the task version was
            released with these; None if not recorded.
        harness: version of lmms-eval, as recorded. settings: further facts worth showing, by name.
        credentialed: ids may be shown, texts and images never.
        measures: by metric name, in the order of the log. extra: further columns by ``metric.field`` (parsed, replies,
            failed, trials), and ``trials``: what was read from each reply ("A;A;B"), where these are no texts.
        reported: the task's metrics as the harness wrote them, those with a number.
    """

    suite: str
    task: str
    version: str
    model: Model
    data: str
    data_digest: str
    fingerprint: Mapping[str, str]
    fingerprint_recorded: bool | None
    judge: Judge | None
    harness: str
    settings: Mapping[str, str]
    credentialed: bool
    source: Source
    questions: Questions
    measures: Mapping[str, Measure]
    extra: Mapping[str, Coded]
    counts: Counts
    reported: Mapping[str, float]
    problems: tuple[Problem, ...] = ()

    @property
    def ranked(self) -> bool:
        """Whether it may stand in the ranking."""
        return all(problem.level == "flag" for problem in self.problems)

    @property
    def limited(self) -> bool:
        """Whether fewer questions were asked than the data has."""
        return self.counts.original is not None and self.counts.effective != self.counts.original

    def with_problems(self, problems: Sequence[Problem]) -> Entry:
        """The entry with these problems added."""
        return replace(self, problems=(*self.problems, *problems))


@dataclass(frozen=True)
class Reference:
    """What all ranked entries of a task have in common; None: not demanded."""

    version: str
    data: str
    data_digest: str
    fingerprint: Mapping[str, str]
    judge: str | None
    prompts: Mapping[str, str]
    harness: str


@dataclass(frozen=True)
class Board:
    """Everything read: the entries (at most one a model and task), what the ranking is of, and every problem.

    ``problems`` holds those of the entries and those of files that gave none. ``references``: by task. ``bad``: the
    problems that a build's exit status tells of: everything refused, and what the rules name.
    """

    entries: tuple[Entry, ...]
    references: Mapping[str, Reference]
    problems: tuple[Problem, ...]
    bad: tuple[Problem, ...] = ()

    def of(self, *, suite: str | None = None, task: str | None = None, ranked: bool | None = None) -> list[Entry]:
        """The entries of a suite, of a task, ranked ones or the others."""
        return [
            entry
            for entry in self.entries
            if suite in (None, entry.suite) and task in (None, entry.task) and ranked in (None, entry.ranked)
        ]

    @property
    def suites(self) -> list[str]:
        """Suites with an entry, sorted."""
        return sorted({entry.suite for entry in self.entries})

    @property
    def models(self) -> list[Model]:
        """Models with an entry, sorted by name."""
        return sorted({entry.model.key: entry.model for entry in self.entries}.values(), key=lambda each: each.key)

    @property
    def refused(self) -> list[Problem]:
        """What gave no entry at all."""
        return [problem for problem in self.problems if problem.level == "refused"]
