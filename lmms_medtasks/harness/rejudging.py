"""Judge a finished run from its files: missing verdicts, or everything by another judge. The model is not run."""

from __future__ import annotations

import copy
import functools
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from lmms_medtasks.errors import UnwritableFile, UserError, unknown_name_error
from lmms_medtasks.harness import chosen_settings, logged_questions, rescoring
from lmms_medtasks.judges import identity, own_scales, records, registry, withheld
from lmms_medtasks.judges.judging import JudgeSession, JudgingCounts, Say, Wanted
from lmms_medtasks.judges.protocol import (
    JudgedItem,
    JudgeProtocol,
    JudgeVerdict,
    Key,
    count_judging_trials,
    judgement_key,
)
from lmms_medtasks.judges.settings import JudgeSettings
from lmms_medtasks.record import QuestionJudgement, QuestionRecord
from lmms_medtasks.samples import result_files as results
from lmms_medtasks.samples import runs
from lmms_medtasks.suites import own_parts

NOT_HERE = "reply not on this machine"


@dataclass(frozen=True)
class JudgedTask:
    """A task of a result file that has judge protocols."""

    run: results.ResultFile
    task: str
    protocols: tuple[JudgeProtocol, ...]

    @property
    def task_config(self) -> dict[str, Any]:
        """The task's configuration in the result file."""
        return self.run.content["configs"][self.task]

    @property
    def recorded_judge(self) -> Mapping[str, Any]:
        """The judge in the file, in the form of :func:`lmms_medtasks.judges.identity.summarise_judge`."""
        return (self.task_config.get("metadata") or {}).get("judge") or {"name": "none", "protocols": []}

    @functools.cached_property
    def has_verdicts(self) -> bool:
        """Whether a judge gave at least one verdict."""
        trials = (trial for judgement in self.iter_judgements() for trial in judgement.verdicts)
        return any(verdict["status"] == "judged" for trial in trials for verdict in trial)

    def iter_judgements(self) -> Iterator[QuestionJudgement]:
        """The judgements in the log, in order."""
        judgements = (record.judgement for record, _ in runs.iter_records(self.run, self.task))
        return (judgement for judgement in judgements if judgement is not None)

    def is_judged_by(self, settings: JudgeSettings) -> bool:
        """Whether the file's verdicts, if any, are by this judge."""
        return not self.has_verdicts or self.recorded_judge["name"] == settings.name

    @functools.cached_property
    def models(self) -> frozenset[str]:
        """The models whose verdicts the log holds; see :func:`lmms_medtasks.judges.identity.answered_models`."""
        return frozenset(name for judgement in self.iter_judgements() for name in identity.answered_models(judgement))

    def check_same(self, settings: JudgeSettings) -> None:
        """Raise UserError unless this judge, with these settings and prompts, gave the file's verdicts, if any."""
        for different in self.other_ways(settings) if self.has_verdicts else ():
            raise UserError(
                f"{self.task} was judged by {settings.name} in another way than now ({different}). Verdicts "
                "that were given in two ways can't be mixed in one table. Restore what differs, or judge everything "
                "again: -o FOLDER."
            )

    def other_ways(self, settings: JudgeSettings) -> Iterator[str]:
        """For each protocol what differs between the file's judge, with its settings, and this one, if anything."""
        recorded = {judge["protocol"]: judge for judge in self.recorded_judge["protocols"]}
        for protocol in self.protocols:
            now = identity.describe_judge(settings, protocol)
            if differences := identity.judge_differences(recorded.get(protocol.name, {}), now):
                yield "; ".join(differences)


@dataclass(frozen=True, kw_only=True)
class RejudgedTask:
    """The result of judging a task. ``kept``: verdicts of the log that stayed; ``results``: its new entry in the file.

    ``models``: models with verdicts in its new log. ``checks``: results of checks of the judge, by protocol.
    """

    judged: JudgedTask
    counts: JudgingCounts
    kept: int
    results: Mapping[str, Any]
    models: frozenset[str]
    checks: Mapping[str, str]


def find_judged_tasks(runs: Sequence[results.ResultFile], tasks: Sequence[str]) -> list[JudgedTask]:
    """The tasks of ``runs`` with a judge protocol; only those in ``tasks`` unless it is empty.

    Raises UserError if there are none, or ``tasks`` has an unknown name.
    """
    judged = []
    for run in runs:
        for task, config in run.content.get("configs", {}).items():
            if run.samples_file(task).is_file() and (protocols := registry.task_protocols(config)):
                judged.append(JudgedTask(run, task, tuple(protocols)))
    names = {judged_task.task for judged_task in judged}
    if not judged:
        raise UserError(
            f"Nothing to judge in {', '.join(str(run.path) for run in runs) or 'no result file'}: no task with a judge "
            "and a sample log. Runs need --log_samples."
        )
    for task in tasks:
        if task not in names:
            raise UserError(f"Task {task!r} is not judged in this run. Judged: {', '.join(sorted(names))}.")
    return [judged_task for judged_task in judged if not tasks or judged_task.task in tasks]


def load_custom_protocols(runs: Sequence[results.ResultFile], include_path: Path | None) -> None:
    """Load the custom judge protocols of ``runs``, those in files from their tasks' folders below ``include_path``.

    Raises UserError if one is missing, or has another name than in the runs.
    """
    for run in runs:
        for task, config in run.content.get("configs", {}).items():
            custom = ((config.get("metadata") or {}).get(own_parts.KEY) or {}).get("judge")
            if not custom:
                continue
            yaml_files = sorted(include_path.rglob(f"{task}.yaml")) if include_path else []
            reference = str(custom["reference"])
            if not yaml_files and (own_scales.is_rubric(reference) or reference.partition(":")[0].endswith(".py")):
                raise UserError(
                    f"{task} in {run.path} is judged by {reference}, a file beside its YAML. Give its folder with "
                    "--include-path."
                )
            protocol = registry.get(reference, yaml_files[0].parent if yaml_files else None)
            if protocol.name != custom["name"]:
                raise UserError(
                    f"{task} in {run.path} was judged by {custom['name']}; {reference} is {protocol.name} now."
                )


def with_judge_prompts(run: results.ResultFile, given: Sequence[str], tasks: Sequence[str]) -> results.ResultFile:
    """The run with other files as prompts of its judge; ``given`` in the form of ``--judge-prompt``.

    Only for ``tasks``, unless it is empty. Raises UserError for a missing file and for a protocol of none of the tasks.
    """
    files = chosen_settings.parse_prompt_files(chosen_settings.format_prompt_files(given))
    content, known = copy.deepcopy(run.content), set()
    for task, config in content.get("configs", {}).items():
        names = {protocol.name for protocol in get_recorded_protocols(config)} if not tasks or task in tasks else set()
        task_files = {name: file for name, file in files.items() if names and (not name or name in names)}
        known |= set(task_files) | names
        if task_files:
            default = config["lmms_eval_specific_kwargs"]["default"]
            before = default.get("judge_prompt") or {}
            default["judge_prompt"] = {**({"": before} if isinstance(before, str) else before), **task_files}
    for name in files:
        if name not in known:
            raise unknown_name_error("judge protocol", name, sorted(known - {""}), f"--judge-prompt, {run.path}")
    return replace(run, content=content)


def get_recorded_protocols(config: Mapping[str, Any]) -> list[JudgeProtocol]:
    """The protocols in a task's configuration, without custom prompts, whose files may be gone."""
    given = config.get("lmms_eval_specific_kwargs") or {}
    default = {name: value for name, value in (given.get("default") or {}).items() if name != "judge_prompt"}
    return registry.task_protocols({**config, "lmms_eval_specific_kwargs": {**given, "default": default}})


def rejudge_tasks(
    tasks: Sequence[JudgedTask],
    judge: JudgeSession,
    definitions: rescoring.TaskDefinitions,
    target: Path,
    say: Say,
    *,
    detail: Say,
    alone: bool,
) -> list[RejudgedTask]:
    """Judge ``tasks``, all of one run, and write its result file and their sample logs to the folder ``target``.

    Verdicts of the same judge stay, others are replaced. ``alone``: the written result file holds no other tasks, and
    so no numbers of other judges. ``target`` may be the run's own folder. If its files have this content already,
    nothing is written. ``detail``: see :meth:`~lmms_medtasks.judges.judging.JudgeSession.judge`.
    """
    run, done = tasks[0].run, []
    names = [task.task for task in tasks]
    others = [] if alone else [other for other in find_judged_tasks([run], []) if other.task not in names]
    _expect_model([*tasks, *others], judge)
    remade = rescoring.RemadeRun(run, definitions, names, alone=alone)
    content = remade.content
    for task in tasks:
        rows, outcome = _rejudge_task(task, judge, definitions, say, detail)
        if outcome.kept and judge.other_model:
            raise UserError(f"{task.task} in {run.path} stays as it is. {judge.other_model}.")
        done.append(outcome)
        alias = identity.judged_task_label(content["results"][task.task].get("alias", task.task), judge.settings)
        remade.put_task(task.task, rows, outcome.results, alias)
        config = content["configs"][task.task]
        if config.get("task_alias") or not judge.settings.is_llm:
            config["task_alias"] = identity.judged_task_label(config.get("task_alias") or task.task, judge.settings)
        checks = outcome.checks
        config.setdefault("metadata", {})["judge"] = identity.summarise_judge(
            judge.settings, task.protocols, lambda protocol, checks=checks: checks.get(protocol.name, "")
        )
    models = {name for outcome in done for name in outcome.models}
    _check_one_model(models.union(*(other.models for other in others)), run, judge.settings)
    remade.update_groups()
    file = target / run.path.name
    unchanged = all(_same_rows(path, text) for path, text in remade.log_texts(target).items())
    if unchanged and _same_but_dates(file, content):
        say(f"Nothing has changed: {file} and its logs stay as they are.")
        return done
    made = datetime.now(timezone.utc).isoformat(timespec="seconds")
    judged_by = {"judge": judge.settings.name, "endpoint": judge.settings.endpoint}
    content["judged_again"] = [*content.get("judged_again", []), {"date": made, **judged_by, "tasks": names}]
    try:
        remade.write_files(target)
    except UnwritableFile as error:
        if unkept := sum(outcome.counts.unkept for outcome in done):
            verdicts = f"{unkept:,} verdicts could not be kept either: their questions are asked, and paid for, again."
        else:
            verdicts = "The judge's verdicts are kept: what it has judged is not asked again."
        raise UserError(f"{error} {verdicts}") from error
    say(f"Written: {file}")
    return done


def _same_rows(path: Path, text: str) -> bool:
    """Whether a sample log has these rows already, in any JSON formatting."""
    if not path.is_file():
        return False
    old_rows, rows = path.read_text("utf-8", errors="surrogatepass").split("\n"), text.split("\n")
    return len(old_rows) == len(rows) and all(
        _comparable_text(old_row) == _comparable_text(row) for old_row, row in zip(old_rows, rows, strict=True)
    )


def _same_but_dates(path: Path, content: Mapping[str, Any]) -> bool:
    """Whether a result file has this content already, apart from ``judged_again``."""
    texts = (path.read_text("utf-8"), rescoring.json_line(content)) if path.is_file() else ("", "{}")
    return len(set(map(_comparable_text, texts))) == 1


def _comparable_text(text: str) -> str:
    """JSON in a form that is equal for equal content, also with NaN; ``judged_again`` is left out."""
    content = json.loads(text or "null")
    if isinstance(content, dict):
        content.pop("judged_again", None)
    return json.dumps(content, sort_keys=True)


def _expect_model(tasks: Sequence[JudgedTask], judge: JudgeSession) -> None:
    """Tell the judge the model that gave the verdicts in the logs; raises UserError if there are several."""
    same = [task for task in tasks if task.models and not any(task.other_ways(judge.settings))]
    models = {model for task in same for model in task.models}
    _check_one_model(models, tasks[0].run, judge.settings)
    for model in models:
        judge.expect(model)


def _check_one_model(models: Iterable[str], run: results.ResultFile, settings: JudgeSettings) -> None:
    """Raise UserError if verdicts of several answering models would be in one result file."""
    names = sorted(models)
    if len(names) > 1:
        answered = " and ".join(map(identity.answer_phrase, names))
        advice = identity.one_model_advice(settings, names[-1])
        raise UserError(f"{run.path} stays as it is: {settings.name} is {answered} there. {advice}.")


def _rejudge_task(
    task: JudgedTask, judge: JudgeSession, definitions: rescoring.TaskDefinitions, say: Say, detail: Say
) -> tuple[list[dict[str, Any]], RejudgedTask]:
    metrics_of = definitions.metrics_of(task.task)
    rows = [row for _, row in task.run.rows(task.task)]
    documents = _Documents(task, definitions)
    answers = [
        _Answers.from_record(
            record, f"{task.run.samples_file(task.task)}, line {line}", documents, judge.settings, task.protocols
        )
        for record, line in runs.iter_records(task.run, task.task)
    ]
    counts = JudgingCounts()
    verdicts_by_key: dict[Key, JudgeVerdict] = {}
    for protocol in task.protocols:
        protocol_answers = [answer for answer in answers if answer.protocol.name == protocol.name]
        wanted = [item for answer in protocol_answers for item in answer.wanted_items()]
        verdicts, protocol_counts = judge.judge(protocol, wanted, say=say, detail=detail)
        verdicts_by_key |= verdicts
        counts = counts.and_also(protocol_counts)
    if lost := sum(answer.lost_count for answer in answers):
        counts = counts.and_also(JudgingCounts(missing=lost, reasons={NOT_HERE: lost}))
    checks = _judge_checks(answers, judge)
    protocols = {answer.protocol.name: answer.protocol for answer in answers}
    descriptions = {
        name: identity.describe_judge(judge.settings, protocol, checks[name]) for name, protocol in protocols.items()
    }
    judgements = [answer.make_judgement(verdicts_by_key, descriptions[answer.protocol.name]) for answer in answers]
    pairs = zip(answers, judgements, strict=True)
    metrics = [metrics_of(replace(answer.record, judgement=judgement)) for answer, judgement in pairs]
    return [{**row, **row_metrics} for row, row_metrics in zip(rows, metrics, strict=True)], RejudgedTask(
        judged=task,
        counts=counts,
        kept=sum(answer.kept_count for answer in answers),
        results=rescoring.logged_results(task.run, task.task, definitions, metrics),
        models=frozenset(name for judgement in judgements for name in identity.answered_models(judgement)),
        checks=checks,
    )


def _judge_checks(answers: Sequence[_Answers], judge: JudgeSession) -> dict[str, str]:
    """Results of checks of the judge by protocol: the recorded one if all verdicts stay, else the current one."""
    recorded = {answer.protocol.name: str(answer.judgement.judge.get("check") or "") for answer in answers}
    known = {answer.protocol.name: answer.protocol for answer in answers if next(answer.wanted_items(), None)}
    return {**recorded, **{name: judge.check_of(protocol) for name, protocol in known.items()}}


class _Documents:
    """Items of a record: from the record itself, or from the data if the terms keep texts out of the log."""

    def __init__(self, task: JudgedTask, definitions: rescoring.TaskDefinitions) -> None:
        self._task, self._definitions = task, definitions

    @functools.cached_property
    def _documents(self) -> dict[str, Mapping[str, Any]]:
        return logged_questions.documents(self._task.run, self._task.task, self._definitions)

    def judged_items(self, id: str, judgement: QuestionJudgement) -> list[JudgedItem | None]:
        """For each reply to a question the item to judge; None if there is none, or it is not on this machine."""
        if not isinstance(judgement.items, str):
            return [fields and JudgedItem(id, fields) for fields in judgement.items]
        document = self._documents.get(id)
        if document is None:
            raise UserError(f"Task {self._task.task!r}: no document {id!r} in the data that are here.")
        replies = [withheld.find_withheld_reply(digest) for digest in judgement.replies or ()]
        return [
            None
            if reply is None
            else records.make_judged_items(document, [reply], records.judgement_protocol(judgement))[0]
            for reply in replies
        ]


@dataclass(frozen=True)
class _Answers:
    """The answers in a record. ``items``: see :meth:`_Documents.judged_items`. ``keep``: whether verdicts stay."""

    record: QuestionRecord
    judgement: QuestionJudgement
    protocol: JudgeProtocol
    items: Sequence[JudgedItem | None]
    keep: bool
    trials: int

    @classmethod
    def from_record(
        cls,
        record: QuestionRecord,
        where: str,
        documents: _Documents,
        settings: JudgeSettings,
        protocols: Sequence[JudgeProtocol],
    ) -> _Answers:
        """``where``: file and line, for messages. ``protocols``: the task's, with its own prompts and rules."""
        if record.judgement is None:
            raise UserError(f"{where}: its record holds no verdicts.")
        name = record.judgement.judge["protocol"]
        protocol = next((protocol for protocol in protocols if protocol.name == name), None) or registry.get(name)
        judge = identity.describe_judge(settings, protocol)
        same = not identity.judge_differences(record.judgement.judge, judge)
        trials = count_judging_trials(protocol, judge["settings"])
        return cls(
            record, record.judgement, protocol, documents.judged_items(record.id, record.judgement), same, trials
        )

    @property
    def kept_count(self) -> int:
        """Number of verdicts of the log that stay."""
        pairs = zip(self.items, self.judgement.verdicts, strict=True)
        return sum(self._verdict_stays(item, old, n) for item, old in pairs for n in range(len(old)))

    @property
    def lost_count(self) -> int:
        """Number of verdicts that stay missing because the reply is not on this machine."""
        verdicts = [old for item, old in zip(self.items, self.judgement.verdicts, strict=True) if item is None]
        return sum(not self._verdict_stays(None, old, n) for old in verdicts for n in range(len(old)))

    def _verdict_stays(self, item: JudgedItem | None, old: Sequence[Mapping[str, Any]], trial: int) -> bool:
        """Whether a verdict stays: this judge's, or a rule's about a reply that is not on this machine."""
        status = old[trial]["status"] if trial < len(old) else "missing"
        return status != "missing" and (self.keep or (item is None and status == "exact"))

    def wanted_items(self) -> Iterator[Wanted]:
        """Items to judge, each with the number of the trial."""
        for item, old in zip(self.items, self.judgement.verdicts, strict=True):
            if item is not None:
                yield from ((item, trial) for trial in range(self.trials) if not self._verdict_stays(item, old, trial))

    def make_judgement(self, new_verdicts: Mapping[Key, JudgeVerdict], judge: Mapping[str, Any]) -> QuestionJudgement:
        """The record's judgement by ``judge`` (its description), with ``new_verdicts`` in place of those that go."""
        verdicts = []
        for item, old in zip(self.items, self.judgement.verdicts, strict=True):
            trials = range(len(old) if item is None else self.trials)
            verdicts.append(tuple(self._make_verdict(item, old, trial, new_verdicts) for trial in trials))
        return replace(self.judgement, judge=dict(judge), verdicts=tuple(verdicts))

    def _make_verdict(
        self,
        item: JudgedItem | None,
        old: Sequence[Mapping[str, Any]],
        trial: int,
        new_verdicts: Mapping[Key, JudgeVerdict],
    ) -> dict[str, Any]:
        if self._verdict_stays(item, old, trial):
            return dict(old[trial])
        not_here = JudgeVerdict("missing", reason=NOT_HERE)
        new = records.verdict_to_json(
            not_here if item is None else new_verdicts[judgement_key(self.protocol, item, trial)], self.protocol
        )
        if self.keep and trial < len(old) and new["status"] == "missing" and not new["reply"] and old[trial]["reply"]:
            return dict(old[trial])  # the judge's earlier reply, since it was not asked again
        return new
