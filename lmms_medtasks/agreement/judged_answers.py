"""The judged answers of runs: from sample logs to one row an answer and a judge, whoever wrote the logs."""

from __future__ import annotations

import fnmatch
import functools
import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from lmms_medtasks.errors import UserError, unknown_name_error
from lmms_medtasks.judges import identity, records
from lmms_medtasks.judges.protocol import JudgeProtocol
from lmms_medtasks.record import QuestionJudgement, QuestionRecord
from lmms_medtasks.samples import runs as report_runs
from lmms_medtasks.samples.result_files import ResultFile

TOTAL = "total"
"""The measure that :attr:`JudgeProtocol.total` makes of all dimensions."""

_MODEL = "model"


class AnswerKey(NamedTuple):
    """Which answer: of which model, to which question, which of its replies (from 1)."""

    model: str
    id: str
    trial: int


@dataclass(frozen=True, kw_only=True)
class JudgedAnswer:
    """One reply of a model as one judge judged it.

    Attributes:
        judge: name of the judge, or "none". task, run: where the answer was read. cluster: the question's image.
        fields: the texts that the judge is shown; None for a failed request and where the log withholds them.
        digest: of the reply if the data's terms keep texts out of the log, else "".
        settled: a rule gave the scores, without a judge.
        scores: measure (a dimension, or :data:`TOTAL`) to a number for each judging of it, None where it is missing.
    """

    key: AnswerKey
    judge: str
    task: str
    run: str
    cluster: str
    fields: Mapping[str, str] | None
    digest: str
    settled: bool
    scores: Mapping[str, tuple[float | None, ...]]


@dataclass(frozen=True)
class JudgedAnswers:
    """The answers of some runs, judged by one protocol. ``notes``: what to show beside a judge's numbers, by judge."""

    protocol: JudgeProtocol
    answers: tuple[JudgedAnswer, ...]
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
    def measures(self) -> list[str]:
        """The dimensions, and the total where the protocol has one."""
        return [dimension.name for dimension in self.protocol.dimensions] + ([TOTAL] if self.protocol.total else [])

    @functools.cached_property
    def by_key(self) -> dict[AnswerKey, JudgedAnswer]:
        """Each answer once, whoever judged it."""
        answers: dict[AnswerKey, JudgedAnswer] = {}
        for answer in self.answers:
            answers.setdefault(answer.key, answer)
        return answers


def read_judged_answers(paths: Sequence[Path], tasks: Sequence[str] = (), protocol: str = "") -> JudgedAnswers:
    """The judged answers in the sample logs of the runs at ``paths``.

    ``tasks``: names or wildcards, all if empty. ``protocol``: name of the protocol if the runs have several.

    Raises UserError if there are no answers or several protocols, if one judge judged an answer twice, or if two judges
    of one model judged different texts.
    """
    result_files = report_runs.find_result_files(paths)
    judged = [
        (run, task)
        for run in result_files
        for task in run.content.get("configs", {})
        if report_runs.task_settings(run, task).get("judge")
    ]
    if not judged:
        others = ", ".join(sorted({task for run in result_files for task in run.tasks})) or "none"
        raise UserError(f"No task in these runs has open answers that a judge judges. Tasks: {others}.")
    chosen = [(run, task) for run, task in judged if not tasks or any(fnmatch.fnmatchcase(task, x) for x in tasks)]
    if not chosen:
        names = ", ".join(sorted({task for _, task in judged}))
        raise UserError(f"No judged task is called {', '.join(map(repr, tasks))}. Judged ones: {names}.")
    rows = [row for run, task in chosen for row in _read_answers(run, task)]
    protocols = {row_protocol.name: row_protocol for row_protocol, _, _ in rows}
    if protocol and protocol not in protocols:
        raise unknown_name_error("judge protocol", protocol, sorted(protocols), "these runs")
    if not protocol and len(protocols) > 1:
        names = ", ".join(sorted(protocols))
        raise UserError(f"The answers were judged by several protocols: {names}. Choose one with --protocol.")
    protocol_name = protocol or next(iter(protocols))
    chosen_rows = [(answer, judge) for row_protocol, answer, judge in rows if row_protocol.name == protocol_name]
    answers = _named_judges(chosen_rows)
    _check_answers(answers)
    notes = {
        answer.judge: report_runs.make_printable(str(judge["note"]))
        for answer, (_, judge) in zip(answers, chosen_rows, strict=True)
        if judge["note"]
    }
    return JudgedAnswers(protocols[protocol_name], answers, notes)


def _read_answers(run: ResultFile, task: str) -> list[tuple[JudgeProtocol, JudgedAnswer, Mapping[str, Any]]]:
    """The task's answers, each with its protocol and a description of its judge."""
    rows: list[tuple[JudgeProtocol, JudgedAnswer, Mapping[str, Any]]] = []
    for record, line in report_runs.iter_records(run, task):
        location = f"{run.samples_file(task)}, line {line}"
        if record.judgement is None:
            raise UserError(f"{location}: its record holds no verdicts. The log is not of a judged task of ours.")
        try:
            protocol = records.judgement_protocol(record.judgement)
            judge = {key: record.judgement.judge.get(key) for key in (*identity.SAME, "note")}
            judge[_MODEL] = " + ".join(map(identity.answer_phrase, identity.answered_models(record.judgement))) or None
            rows += [
                (protocol, record_answer, judge)
                for record_answer in _iter_record_answers(record, record.judgement, run, task, protocol)
            ]
        except UserError as error:
            raise UserError(f"{location}: {error}") from error
        except (KeyError, TypeError, IndexError, ValueError) as error:
            raise UserError(
                f"{location}: the record does not fit its judge protocol ({type(error).__name__}: {error}). Was the "
                "log edited, or judged by another version of lmms-medtasks?"
            ) from error
    # Answers that needed no request belong to the judge that answered the others, if it was only one.
    models = {judge[_MODEL] for _, _, judge in rows} - {None}
    only = {_MODEL: models.pop()} if len(models) == 1 else {}
    return [(protocol, answer, {**judge, **only}) for protocol, answer, judge in rows]


def _iter_record_answers(
    record: QuestionRecord, judgement: QuestionJudgement, run: ResultFile, task: str, protocol: JudgeProtocol
) -> Iterator[JudgedAnswer]:
    measures: dict[str, records.Measure] = {dimension.name: dimension.name for dimension in protocol.dimensions}
    if protocol.total:
        measures[TOTAL] = protocol.total
    numbers = {name: iter(records.verdict_scores(judgement, measure)) for name, measure in measures.items()}
    model = report_runs.model_name(run.content)
    for index, (_, verdicts) in enumerate(zip(record.trials, judgement.verdicts, strict=True)):
        yield JudgedAnswer(
            key=AnswerKey(model, record.id, index + 1),
            judge=str(judgement.judge["name"]),
            task=task,
            run=str(run.path),
            cluster=record.cluster,
            fields=None if isinstance(judgement.items, str) else judgement.items[index],
            digest="" if judgement.replies is None else str(judgement.replies[index]),
            settled=bool(verdicts) and all(verdict["status"] == "exact" for verdict in verdicts),
            scores={name: tuple(itertools.islice(scores, len(verdicts))) for name, scores in numbers.items()},
        )


def _named_judges(rows: Sequence[tuple[JudgedAnswer, Mapping[str, Any]]]) -> tuple[JudgedAnswer, ...]:
    """The answers; judges of one name with different prompts or settings have these in their names."""
    judges_by_name: dict[str, list[Mapping[str, Any]]] = {}
    for answer, judge in rows:
        known = judges_by_name.setdefault(answer.judge, [])
        if judge not in known:
            known.append(judge)
    answers = []
    for answer, judge in rows:
        namesakes = judges_by_name[answer.judge]
        differing = sorted(key for key in judge if any(namesake[key] != judge[key] for namesake in namesakes))
        difference = f" ({', '.join(f'{key} {judge[key]}' for key in differing)})" if differing else ""
        answers.append(replace(answer, judge=report_runs.make_printable(answer.judge + difference)))
    return tuple(answers)


def _check_answers(answers: Sequence[JudgedAnswer]) -> None:
    seen: dict[tuple[AnswerKey, str], JudgedAnswer] = {}
    texts: dict[AnswerKey, JudgedAnswer] = {}
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
