"""Digests of the questions and data of a task version: the board's pins (``pins.yml``).

They are written once, from a run of all questions by somebody who prepared the data, into the board's repository.
Entries on other questions or data are not ranked, however many agree with each other.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from lmms_medtasks import folders
from lmms_medtasks.board.entries import LeaderboardEntry
from lmms_medtasks.errors import UserError
from lmms_medtasks.writing import write_text_atomically

_HEAD = (
    "# Digests of the questions and the data of each task version, by: lmms-medtasks leaderboard pin RUNS -o FILE\n"
    "# task: version: data: what the entries of a ranking must be of. judge: who judges; without it the rules say.\n"
)
_NONE = "0"
_DIGEST = 16
"""Hexadecimal digits of a measure's digest."""
Key = tuple[str, str, str]
"""Task, version, data (and settings, where they are not ours)."""


@dataclass(frozen=True)
class QuestionPin:
    """What entries must have.

    Attributes:
        data: digest of the data's bytes. questions: of ids, clusters, right answers and tags. count: of questions.
        measures: the questions of each measure, see :func:`score_question_digests`. metrics: of the pinned run.
        judge: of the run, in full, "" without one. prompts: of the judge; without one those of the installed code.
        trials: replies to each question, 0 if they differ. declared: of a contributed task, see
            :attr:`lmms_medtasks.board.entries.LeaderboardEntry.declared`. harness: its version.
    """

    data: str
    questions: str
    count: int
    measures: Mapping[str, str]
    metrics: tuple[str, ...]
    digests: Mapping[str, str] = field(default_factory=dict)
    package_version: str = ""
    judge: str = ""
    prompts: Mapping[str, str] = field(default_factory=dict)
    trials: int = 0
    declared: str = ""
    harness: str = ""

    def differences(self, entry: LeaderboardEntry) -> list[str]:
        """Differences of an entry's questions from the pin, a sentence each; [] if there are none."""
        differences = []
        if entry.data_digest != self.data:
            differences.append(f"Its data are not the pinned ones (digest {entry.data_digest[:12] or 'none'} against "
                         f"{self.data[:12] or 'none'}).")  # fmt: skip
        if entry.questions.digest != self.questions:
            said = "some are missing, added, or have other images, correct answers or tags"
            differences.append(
                f"Its {len(entry.questions):,} questions are not the {self.count:,} pinned ones: {said}."
            )
            return differences
        if entry.declared != self.declared:
            differences.append(
                "It says that the task has another template, protocol of a judge, or parts of its own than the "
                "pinned run (or the pin is of an earlier version: the board's keepers pin the run again)."
            )
        if self.trials and (own_trials := trials_of(entry)) != self.trials:
            said = f"{own_trials}" if own_trials else "not as many for all"
            differences.append(f"Replies to each question: {said}, and {self.trials} of the pinned run "
                         "(all entries need as many, so that nobody can submit the best of several).")  # fmt: skip
        # Missing judgements, and so missing metrics, are another problem; questions are counted below.
        whole = entry.counts.judged == entry.counts.wanted
        if whole and (lacking := [name for name in self.metrics if name not in entry.metrics]):
            differences.append(f"It lacks {', '.join(lacking)}, which every entry of these questions has.")
        entry_measures = score_question_digests(entry)
        for name in sorted({*self.measures, *entry_measures}):
            questions, pinned = entry_measures.get(name, _NONE), self.measures.get(name, _NONE)
            if questions != pinned:
                differences.append(f"Of its questions {questions} belong to {name}, and of the pinned ones {pinned}.")
        return differences


@dataclass(frozen=True)
class QuestionPins:
    """All pins of a board. Without pins, forged questions cannot be detected.

    ``demanded``: whether only pinned tasks are ranked.
    """

    found: Mapping[Key, QuestionPin]
    demanded: bool = True

    def of(self, entry: LeaderboardEntry) -> QuestionPin | None:
        """The pin of an entry's task, version and data."""
        return self.found.get(pin_key(entry))

    def lack(self, task: str) -> bool:
        """Whether a task is not ranked for want of a pin, of whatever version and data."""
        return self.demanded and all(task != name for name, _, _ in self.found)

    def hold(self, entry: LeaderboardEntry) -> bool:
        """Whether an entry has the questions and data that are pinned for its task, version and data."""
        pin = self.of(entry)
        return pin is not None and not pin.differences(entry)


NONE = QuestionPins({}, demanded=False)


def pin_key(entry: LeaderboardEntry) -> Key:
    """Task, version, data."""
    return entry.task, entry.version, f"{entry.data}, {entry.asked_by}" if entry.asked_by else entry.data


def score_question_digests(entry: LeaderboardEntry) -> dict[str, str]:
    """Measure -> its questions: ``120 (6f1c…)``, their number and a digest of their indices by id."""
    digests = {}
    for name in entry.answers.column_names:
        measure, _, field = name.rpartition(".")
        if field == "asked":
            asked = entry.answers.column(name).is_valid().to_numpy()
            digest = hashlib.sha256(np.packbits(asked).tobytes()).hexdigest()
            digests[measure] = f"{int(asked.sum())} ({digest[:_DIGEST]})"
    return digests


def trials_of(entry: LeaderboardEntry) -> int:
    """Replies to each question, including failed requests; 0 if the numbers differ."""
    places, _ = entry.samples.texts("trials")
    counts = set(np.bincount(places, minlength=len(entry.questions)).tolist())
    return int(counts.pop()) if len(counts) == 1 else 0


def pin_of(entry: LeaderboardEntry) -> QuestionPin:
    """The pin of an entry. Raises UserError for a pack, or if not all questions of the data were asked."""
    where = f"{entry.source.results}, {entry.task}"
    if entry.source.kind != "run":
        raise UserError(f"{where}: a pack says itself what its questions are. Pin a run on data that you prepared.")
    if entry.data == "unknown" or entry.limited or entry.counts.rows != entry.counts.effective:
        raise UserError(f"{where}: not all questions of its data were asked (or it does not say). Pin a whole run.")
    if wrong := [problem.reason for problem in entry.problems if problem.code in ("not_adding_up", "modified_package")]:
        raise UserError(f"{where}: {' '.join(wrong)}")
    judge = entry.judge if entry.judge and entry.judge.name != "none" and " + " not in entry.judge.name else None
    return QuestionPin(
        data=entry.data_digest,
        questions=entry.questions.digest,
        count=len(entry.questions),
        measures=score_question_digests(entry),
        metrics=entry.metrics,
        digests=entry.digests,
        package_version=entry.package_version,
        judge=judge.name if judge else "",
        prompts=entry.judge.prompts if entry.judge else {},
        trials=trials_of(entry),
        declared=entry.declared,
        harness=entry.harness,
    )


def write_pins(entries: Iterable[LeaderboardEntry], path: Path) -> int:
    """Add the pins of these entries to the file ``path``; returns how many are new.

    A pin without a judge gets the judge of an entry that has one. Raises UserError if an entry differs from its pin:
    pins are changed by hand only.
    """
    pins = dict(read_pins(path).found) if path.is_file() else {}
    new = 0
    for entry in entries:
        key, pin = pin_key(entry), pin_of(entry)
        pinned = pins.setdefault(key, pin)
        fixed = ("data", "questions", "measures", "declared")
        others = [each for each in fixed if getattr(pinned, each) != getattr(pin, each)]
        if others:
            what = "questions of its measures" if others == ["measures"] else others[0]
            where = f"{path} pins other {what} for {' '.join(key)} than {entry.source.results} has."
            raise UserError(f"{where} Remove that pin by hand if it was wrong.")
        new += pinned is pin
        if pin.judge and not pinned.judge:
            pins[key] = replace(pinned, judge=pin.judge, prompts=pin.prompts)
    tree: dict[str, Any] = {}
    for (task, version, data), pin in sorted(pins.items()):
        said = {**asdict(pin), "metrics": list(pin.metrics)}
        fields = {name: value for name, value in said.items() if value or name == "data"}
        tree.setdefault(task, {}).setdefault(version, {})[data] = fields
    write_text_atomically(path, _HEAD + yaml.safe_dump(tree, sort_keys=False, width=1000))
    return new


def read_pins(path: Path) -> QuestionPins:
    """The pins of a file. Raises UserError for another form."""
    tree = folders.load_yaml(path) or {}
    try:
        pins = {
            (str(task), str(version), str(data)): _parse_pin(pin)
            for task, versions in tree.items()
            for version, kinds in versions.items()
            for data, pin in kinds.items()
        }
    except (AttributeError, TypeError, KeyError, ValueError) as error:
        raise UserError(
            f"{path}: expected task: version: data: {{data, questions, count, measures, metrics}} ({error!r}). "
            "Write it with: lmms-medtasks leaderboard pin RUNS -o FILE"
        ) from error
    return QuestionPins(pins)


_KINDS: Mapping[str, type] = {
    "count": int, "trials": int, "metrics": list, "measures": dict, "digests": dict, "prompts": dict
}  # fmt: skip
"""Field of a pin -> what it is in the file; the others are texts."""
_WORDS = {str: "a text", int: "a whole number from 0, of questions from 1", list: "a list", dict: "a mapping"}


def _parse_pin(fields: Mapping[str, Any]) -> QuestionPin:
    for name, value in fields.items():
        kind: Any = _KINDS.get(name, str)
        if type(value) is not kind or (kind is int and value < (name == "count")):
            hint = ": put it in quotation marks" if kind is str else ""
            raise TypeError(f"{name}: {value!r}, expected {_WORDS[kind]}{hint}")
        texts = [*value, *value.values()] if kind is dict else value if kind is list else ()
        if not all(isinstance(text, str) for text in texts):
            again = ": a measure has the digest of its questions beside their number" if name == "measures" else ""
            raise TypeError(f"{name}: {value!r}, expected texts{again}: pin the run again")
    return QuestionPin(**{**fields, "metrics": tuple(fields["metrics"])})
