"""The judged answers of runs: from sample logs to one row an answer and a judge, whoever wrote the logs."""

from __future__ import annotations

import fnmatch
import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from lmms_medtasks.errors import UserError, unknown
from lmms_medtasks.judges import identity, records
from lmms_medtasks.judges.protocol import Protocol
from lmms_medtasks.record import Judgement, Record
from lmms_medtasks.samples import runs as report_runs
from lmms_medtasks.samples.result_files import Run

TOTAL = "total"
"""The measure that :attr:`Protocol.total` makes of all dimensions."""

_MODEL = "model"


class AnswerKey(NamedTuple):
    """Which answer: of which model, to which question, which of its replies (from 1)."""

    model: str
    id: str
    trial: int


@dataclass(frozen=True)
class Answer:
    """One reply of a model as one judge judged it.

    Attributes:
        judge: who judged; "none" if nobody did. task, run: where it was read. cluster: the question's image.
        status: "ok", "empty", "cut", "unreadable" or "failed". tags: the question's.
        fields: the texts that the judge is shown; None for a failed request and where the log withholds them. digest:
            of the reply, where the log withholds texts.
        settled: a rule gave the scores, without a judge.
        scores: measure (a dimension, or :data:`TOTAL`) to a number for each judging of it, None where it is missing.
    """

    key: AnswerKey
    judge: str
    task: str
    run: str
    cluster: str
    status: str
    tags: Mapping[str, Any]
    fields: Mapping[str, str] | None
    digest: str
    settled: bool
    scores: Mapping[str, tuple[float | None, ...]]

    @property
    def withheld(self) -> bool:
        """Whether the log holds no texts, as the data's terms want it."""
        return bool(self.digest)


@dataclass(frozen=True)
class Judged:
    """The answers of some runs, all judged by one protocol, each by one or several judges.

    ``notes``: what must stand wherever a judge's numbers do (that it is no language model), by judge.
    """

    protocol: Protocol
    answers: tuple[Answer, ...]
    notes: Mapping[str, str]

    @property
    def models(self) -> list[str]:
        """In the order of the runs."""
        return list(dict.fromkeys(answer.key.model for answer in self.answers))

    @property
    def judges(self) -> list[str]:
        """In the order of the runs."""
        return list(dict.fromkeys(answer.judge for answer in self.answers))

    @property
    def tags(self) -> list[str]:
        """The names of all tags, sorted."""
        return sorted({name for answer in self.answers for name in answer.tags})

    @property
    def measures(self) -> list[str]:
        """The dimensions, and the total where the protocol has one."""
        return [each.name for each in self.protocol.dimensions] + ([TOTAL] if self.protocol.total else [])

    def by_key(self) -> dict[AnswerKey, Answer]:
        """Each answer once, whoever judged it."""
        found: dict[AnswerKey, Answer] = {}
        for answer in self.answers:
            found.setdefault(answer.key, answer)
        return found


def read(paths: Sequence[Path], tasks: Sequence[str] = (), protocol: str = "") -> Judged:
    """The judged answers in the sample logs of the runs at ``paths``.

    ``tasks``: names or wildcards, all if none. ``protocol``: whose answers, where there are several protocols'.

    Raises UserError when there are none, they are of several protocols, an answer is there twice for one judge, or two
    judges of one model did not judge the same texts.
    """
    found = list(report_runs.find(paths))
    chosen = [(run, task) for run in found for task in _judged_tasks(run) if _is_wanted(task, tasks)]
    if not chosen:
        raise _nothing(found, tasks)
    found_rows = [row for run, task in chosen for row in _answers(run, task)]
    protocols = {each.name: each for each, _, _ in found_rows}
    names = sorted(protocols)
    if protocol and protocol not in names:
        raise unknown("judge protocol", protocol, names, "these runs")
    if not protocol and len(names) > 1:
        raise UserError(
            f"The answers were judged by several protocols: {', '.join(names)}. Choose one with --protocol."
        )
    chosen_name = protocol or names[0]
    rows = [(answer, described) for each, answer, described in found_rows if each.name == chosen_name]
    answers = _named_judges(rows)
    _check(answers)
    described = {answer.judge: json.loads(text) for answer, (_, text) in zip(answers, rows, strict=True)}
    notes = {name: report_runs.printable(str(each["note"])) for name, each in described.items() if each.get("note")}
    return Judged(protocols[chosen_name], answers, notes)


def _judged_tasks(run: Run) -> list[str]:
    return [task for task in run.content.get("configs", {}) if report_runs.settings_of(run, task).get("judge")]


def _is_wanted(task: str, patterns: Sequence[str]) -> bool:
    return not patterns or any(fnmatch.fnmatchcase(task, pattern) for pattern in patterns)


def _nothing(found: Sequence[Run], tasks: Sequence[str]) -> UserError:
    judged = sorted({task for run in found for task in _judged_tasks(run)})
    if judged:
        return UserError(f"No judged task is called {', '.join(map(repr, tasks))}. Judged ones: {', '.join(judged)}.")
    others = sorted({task for run in found for task in run.tasks})
    return UserError(
        f"No task in these runs has open answers that a judge judges. Tasks: {', '.join(others) or 'none'}."
    )


def _answers(run: Run, task: str) -> Iterator[tuple[Protocol, Answer, str]]:
    """For each of the task's answers its protocol, the answer, and a description of its judge as text."""
    for record, line in report_runs.records(run, task):
        where = f"{run.samples_file(task)}, line {line}"
        if record.judgement is None:
            raise UserError(f"{where}: its record holds no verdicts. The log is not of a judged task of ours.")
        try:
            protocol = records.protocol_of(record.judgement)
            yield from ((protocol, *row) for row in _of_record(record, record.judgement, run, task, protocol))
        except UserError as error:
            raise UserError(f"{where}: {error}") from error
        except (KeyError, TypeError, IndexError, ValueError) as error:
            raise UserError(
                f"{where}: the record does not fit its judge protocol ({type(error).__name__}: {error}). Was the log "
                "edited, or judged by another version of lmms-medtasks?"
            ) from error


def _of_record(
    record: Record, judgement: Judgement, run: Run, task: str, protocol: Protocol
) -> Iterator[tuple[Answer, str]]:
    measures: dict[str, records.Measure] = {each.name: each.name for each in protocol.dimensions}
    if protocol.total:
        measures[TOTAL] = protocol.total
    numbers = {name: iter(records.scores(judgement, measure)) for name, measure in measures.items()}
    model, judge = report_runs.model_name(run.content), judgement.judge
    answered = " + ".join(map(identity.answer_phrase, identity.answered_models(judgement))) or None
    described = {key: judge.get(key) for key in (*identity.SAME, "note")} | {_MODEL: answered}
    for place, (status, verdicts) in enumerate(zip(record.trials, judgement.verdicts, strict=True)):
        scores = {name: tuple(itertools.islice(each, len(verdicts))) for name, each in numbers.items()}
        answer = Answer(
            key=AnswerKey(model, record.id, place + 1),
            judge=str(judge["name"]),
            task=task,
            run=str(run.path),
            cluster=record.cluster,
            status=status,
            tags=record.tags,
            fields=None if isinstance(judgement.items, str) else judgement.items[place],
            digest="" if judgement.replies is None else str(judgement.replies[place]),
            settled=bool(verdicts) and all(verdict["status"] == "exact" for verdict in verdicts),
            scores=scores,
        )
        yield answer, json.dumps(described, sort_keys=True)


def _named_judges(rows: Sequence[tuple[Answer, str]]) -> tuple[Answer, ...]:
    """Judges of one name that differ in anything that matters (prompt, settings) are told apart by what differs."""
    rows = _with_models(rows)
    descriptions: dict[str, list[str]] = {}
    for answer, described in rows:
        known = descriptions.setdefault(answer.judge, [])
        if described not in known:
            known.append(described)
    names = {text: _name(name, text, texts) for name, texts in descriptions.items() for text in texts}
    return tuple(replace(answer, judge=names[described]) for answer, described in rows)


def _with_models(rows: Sequence[tuple[Answer, str]]) -> list[tuple[Answer, str]]:
    """Answers that no server was asked about are of the judge that answered otherwise in their run, if it was one."""
    models: dict[tuple[str, str, str], set[str]] = {}
    bases = [json.loads(text) for _, text in rows]
    keys = [
        (answer.run, answer.task, json.dumps({**base, _MODEL: None}, sort_keys=True))
        for (answer, _), base in zip(rows, bases, strict=True)
    ]
    for key, base in zip(keys, bases, strict=True):
        if base[_MODEL] is not None:
            models.setdefault(key, set()).add(base[_MODEL])
    found = []
    for (answer, text), key, base in zip(rows, keys, bases, strict=True):
        (only,) = models[key] if len(models.get(key, ())) == 1 else (base[_MODEL],)
        found.append((answer, text if base[_MODEL] == only else json.dumps({**base, _MODEL: only}, sort_keys=True)))
    return found


def _name(name: str, described: str, of_that_name: Sequence[str]) -> str:
    if len(of_that_name) == 1:
        return report_runs.printable(name)
    others = [json.loads(text) for text in of_that_name]
    own = json.loads(described)
    differing = sorted(key for key in set().union(*others) if len({json.dumps(each.get(key)) for each in others}) > 1)
    return report_runs.printable(f"{name} ({', '.join(f'{key} {own.get(key)}' for key in differing)})")


def _check(answers: Sequence[Answer]) -> None:
    seen: dict[tuple[AnswerKey, str], Answer] = {}
    texts: dict[AnswerKey, Answer] = {}
    for answer in answers:
        before = seen.setdefault((answer.key, answer.judge), answer)
        if before is not answer:
            raise UserError(
                f"Model {answer.key.model!r}, question {answer.key.id!r} is there twice, judged by {answer.judge!r} "
                f"both times: task {before.task!r} of {before.run} and task {answer.task!r} of {answer.run}. Name one "
                "of the two runs only, or choose a task with --task."
            )
        first = texts.setdefault(answer.key, answer)
        if (first.fields, first.digest) != (answer.fields, answer.digest):
            raise UserError(
                f"Model {answer.key.model!r}, question {answer.key.id!r}: {first.run} and {answer.run} hold different "
                "answers: their judges can't be compared. Judge one run again with `lmms-medtasks judge RUN --judge …`."
            )
