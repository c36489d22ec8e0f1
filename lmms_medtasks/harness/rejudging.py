"""Judging a finished run from its files: what is missing, or everything by another judge. The model is not run."""

from __future__ import annotations

import contextlib
import copy
import functools
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from lmms_medtasks.errors import UserError, unknown
from lmms_medtasks.harness import chosen_settings, logged_questions, rescoring, run_files
from lmms_medtasks.judges import identity, own_scales, records, registry, withheld
from lmms_medtasks.judges.judging import Counts, Judge, Say, Wanted
from lmms_medtasks.judges.protocol import Item, Key, Protocol, Verdict, key_of, trials_of
from lmms_medtasks.judges.settings import Settings
from lmms_medtasks.record import Judgement, Record
from lmms_medtasks.samples import result_files as results
from lmms_medtasks.samples import runs
from lmms_medtasks.suites import own_parts

NOT_HERE = "reply not on this machine"


@dataclass(frozen=True)
class Judged:
    """A task of a result file that names protocols."""

    run: results.Run
    task: str
    protocols: tuple[Protocol, ...]

    @property
    def config(self) -> dict[str, Any]:
        """What the result file says of the task."""
        return self.run.content["configs"][self.task]

    @property
    def recorded(self) -> Mapping[str, Any]:
        """The judge that the file names for it, as :func:`lmms_medtasks.judges.identity.summary` describes it."""
        return (self.config.get("metadata") or {}).get("judge") or {"name": "none", "protocols": []}

    @functools.cached_property
    def has_verdicts(self) -> bool:
        """Whether a judge gave any: one that never answered (a wrong address) is no one's judge yet."""
        verdicts = (each for judgement in self.judgements() for given in judgement.verdicts for each in given)
        return any(each["status"] == "judged" for each in verdicts)

    def judgements(self) -> Iterator[Judgement]:
        """The judgements in the log, in its order."""
        found = (record.judgement for record, _ in runs.records(self.run, self.task))
        return (judgement for judgement in found if judgement is not None)

    def by(self, settings: Settings) -> bool:
        """Whether the file's verdicts are of this judge, or of none yet."""
        return not self.has_verdicts or self.recorded["name"] == settings.name

    @functools.cached_property
    def models(self) -> frozenset[str]:
        """The models whose verdicts the log holds; see :func:`lmms_medtasks.judges.identity.answered_models`."""
        return frozenset(name for judgement in self.judgements() for name in identity.answered_models(judgement))

    def check_same(self, settings: Settings) -> None:
        """Raise UserError unless this judge, with these settings and prompts, gave the file's verdicts, if any."""
        for different in self.other_ways(settings) if self.has_verdicts else ():
            raise UserError(
                f"{self.task} was judged by {settings.name} in another way than now ({different}): the two must not "
                "stand in one table. Set it as it was, or judge everything again: -o FOLDER."
            )

    def other_ways(self, settings: Settings) -> Iterator[str]:
        """For each protocol that the file's judge asked in another way, or another judge, what differs."""
        then = {each["protocol"]: each for each in self.recorded["protocols"]}
        for protocol in self.protocols:
            now = identity.describe(settings, protocol)
            if different := identity.differences(then.get(protocol.name, {}), now):
                yield "; ".join(different)


@dataclass(frozen=True)
class Done:
    """What became of a task. ``kept``: verdicts of the log that stayed; ``results``: its new entry in the file.

    ``models``: those whose verdicts stand in its log now. ``checks``: what a check says of the judge, by protocol.
    """

    judged: Judged
    counts: Counts
    kept: int
    results: Mapping[str, Any]
    models: frozenset[str]
    checks: Mapping[str, str]


def judged_tasks(runs: Sequence[results.Run], tasks: Sequence[str]) -> list[Judged]:
    """The tasks of ``runs`` that name a protocol, those called ``tasks`` only if it is not empty.

    Raises UserError where there is none, or a name is of none.
    """
    found = []
    for run in runs:
        for task, config in run.content.get("configs", {}).items():
            if run.samples_file(task).is_file() and (protocols := registry.protocols_of(config)):
                found.append(Judged(run, task, tuple(protocols)))
    names = {each.task for each in found}
    if not found:
        raise UserError(
            f"Nothing to judge in {', '.join(str(run.path) for run in runs) or 'no result file'}: no task with a judge "
            "and a sample log. Runs need --log_samples."
        )
    for task in tasks:
        if task not in names:
            raise UserError(f"Task {task!r} is not judged in this run. Judged: {', '.join(sorted(names))}.")
    return [each for each in found if not tasks or each.task in tasks]


def know_protocols(runs: Sequence[results.Run], include_path: Path | None) -> None:
    """Find the judge protocols of ``runs`` that are not ours, in the folders of their tasks below ``include_path``.

    Raises UserError where one is not there, or is another than the runs say.
    """
    for run in runs:
        for task, config in run.content.get("configs", {}).items():
            own = ((config.get("metadata") or {}).get(own_parts.KEY) or {}).get("judge")
            if not own:
                continue
            found = sorted(include_path.rglob(f"{task}.yaml")) if include_path else []
            reference = str(own["reference"])
            if not found and (own_scales.is_rubric(reference) or reference.partition(":")[0].endswith(".py")):
                raise UserError(
                    f"{task} in {run.path} is judged by {reference}, a file beside its YAML. Give its folder with "
                    "--include-path."
                )
            protocol = registry.get(reference, found[0].parent if found else None)
            if protocol.name != own["name"]:
                raise UserError(
                    f"{task} in {run.path} was judged by {own['name']}; {reference} is {protocol.name} now."
                )


def with_judge_prompts(run: results.Run, given: Sequence[str], tasks: Sequence[str]) -> results.Run:
    """The run with these files in place of its judge's prompts; ``given`` as ``--judge-prompt`` has it.

    Only of ``tasks``, where it is not empty. Raises UserError where a file is not there, and for a protocol that none
    of the tasks names.
    """
    files = chosen_settings.judge_prompts(chosen_settings.written(given))
    content, met = copy.deepcopy(run.content), set()
    for task, config in content.get("configs", {}).items():
        names = {each.name for each in protocols_of(config)} if not tasks or task in tasks else set()
        own = {name: file for name, file in files.items() if names and (not name or name in names)}
        met |= set(own) | names
        if own:
            default = config["lmms_eval_specific_kwargs"]["default"]
            before = default.get("judge_prompt") or {}
            default["judge_prompt"] = {**({"": before} if isinstance(before, str) else before), **own}
    for name in files:
        if name not in met:
            raise unknown("judge protocol", name, sorted(met - {""}), f"--judge-prompt, {run.path}")
    return replace(run, content=content)


def protocols_of(config: Mapping[str, Any]) -> list[Protocol]:
    """The protocols that a task's configuration names, without a user's own prompts, whose files may be gone."""
    given = config.get("lmms_eval_specific_kwargs") or {}
    default = {name: value for name, value in (given.get("default") or {}).items() if name != "judge_prompt"}
    return registry.protocols_of({**config, "lmms_eval_specific_kwargs": {**given, "default": default}})


def rejudge(
    tasks: Sequence[Judged], judge: Judge, definitions: rescoring.Definitions, target: Path, say: Say, *, alone: bool
) -> list[Done]:
    """Judge ``tasks``, all of one run, and write its result file and their sample logs to the folder ``target``.

    Verdicts of the same judge stay; those of another are made anew. ``alone``: the result file written holds no other
    task, so that no other judge's numbers stand beside these. ``target`` may be the run's own folder. Each file
    is written whole or not at all, the logs before the results, so that a run stopped in between is mended by another.
    Where they hold the same already nothing is written.
    """
    run, done, sizes = tasks[0].run, [], {}
    own = {each.task for each in tasks}
    others = [] if alone else [each for each in judged_tasks([run], []) if each.task not in own]
    _expect([*tasks, *others], judge)
    content = copy.deepcopy(run.content)
    if alone:
        run_files.leave(content, own)
    logs: dict[str, list[dict[str, Any]]] = {}
    for each in tasks:
        rows, outcome = _rejudged(each, judge, definitions, say)
        if outcome.kept and judge.other_model:
            raise UserError(f"{each.task} in {run.path} stays as it is. {judge.other_model}.")
        logs[each.task], sizes[each.task] = rows, len(rows)
        done.append(outcome)
        entry = content["results"][each.task]
        alias = identity.labelled(entry.get("alias", each.task), judge.settings)
        content["results"][each.task] = {"alias": alias, **outcome.results}
        config = content["configs"][each.task]
        if config.get("task_alias") or not judge.settings.is_llm:
            config["task_alias"] = identity.labelled(config.get("task_alias") or each.task, judge.settings)
        checks = outcome.checks
        config.setdefault("metadata", {})["judge"] = identity.summary(
            judge.settings, each.protocols, lambda protocol, checks=checks: checks.get(protocol.name, "")
        )
    models = {name for each in done for name in each.models}
    _check_one_model(models.union(*(each.models for each in others)), run, judge.settings)
    for task in content["results"]:
        sizes.setdefault(task, run.sample_count(task) or 0)
    rescoring.update_groups(content, definitions, sizes, own)
    files = {target / run.samples_file(task).name: "".join(map(run_files.line, rows)) for task, rows in logs.items()}
    file = target / run.path.name
    if all(_same_rows(path, text) for path, text in files.items()) and _same_but_dates(file, content):
        say(f"Nothing has changed: {file} and its logs stay as they are.")
        return done
    made = datetime.now(timezone.utc).isoformat(timespec="seconds")
    judged_by = {"judge": judge.settings.name, "endpoint": judge.settings.endpoint}
    made_by = {"date": made, **judged_by, "tasks": [each.task for each in tasks]}
    content["judged_again"] = [*content.get("judged_again", []), made_by]
    unkept = sum(each.counts.unkept for each in done)
    for path, text in files.items():
        _write(path, text, unkept)
    _write(file, run_files.line(content, indent=2), unkept)
    say(f"Written: {file}")
    return done


def _same_rows(path: Path, text: str) -> bool:
    """Whether a sample log holds these rows already, however they are written."""
    if not path.is_file():
        return False
    there, new = (each.split("\n")[:-1] for each in (path.read_text("utf-8", errors="surrogatepass"), text))
    return len(there) == len(new) and all(
        _plain(json.loads(old)) == _plain(json.loads(row)) for old, row in zip(there, new, strict=True)
    )


def _same_but_dates(path: Path, content: Mapping[str, Any]) -> bool:
    """Whether a result file holds this already, but for when it was judged again."""
    if not path.is_file():
        return False
    both = (json.loads(path.read_text("utf-8")), json.loads(run_files.line(content)))
    return len({_plain({key: each[key] for key in each if key != "judged_again"}) for each in both}) == 1


def _plain(content: Any) -> str:
    return json.dumps(content, sort_keys=True)  # as text, so that NaN is the same as NaN


def _expect(tasks: Sequence[Judged], judge: Judge) -> None:
    """Go on by the model whose verdicts of this judge the logs hold; raises UserError where there are several."""
    same = [each for each in tasks if each.models and not any(each.other_ways(judge.settings))]
    models = {model for each in same for model in each.models}
    _check_one_model(models, tasks[0].run, judge.settings)
    for model in models:
        judge.expect(model)


def _check_one_model(models: Iterable[str], run: results.Run, settings: Settings) -> None:
    """Raise UserError where verdicts of several answering models would stand in one result file."""
    names = sorted(models)
    if len(names) > 1:
        said = " and ".join(map(identity.answer_phrase, names))
        advice = identity.one_model_advice(settings, names[-1])
        raise UserError(f"{run.path} stays as it is: {settings.name} is {said} there. {advice}.")


def _rejudged(
    each: Judged, judge: Judge, definitions: rescoring.Definitions, say: Say
) -> tuple[list[dict[str, Any]], Done]:
    metrics_of = definitions.metrics_of(each.task)
    rows = [row for _, row in each.run.rows(each.task)]
    documents = _Documents(each, definitions)
    answers = [
        _Answers.of(
            record, f"{each.run.samples_file(each.task)}, line {line}", documents, judge.settings, each.protocols
        )
        for record, line in runs.records(each.run, each.task)
    ]
    counts = Counts()
    found: dict[Key, Verdict] = {}
    for protocol in each.protocols:
        own = [answer for answer in answers if answer.protocol.name == protocol.name]
        verdicts, some = judge.judge(protocol, [wanted for answer in own for wanted in answer.wanted()], say=say)
        found |= verdicts
        counts = counts.and_also(some)
    if lost := sum(answer.lost for answer in answers):
        counts = counts.and_also(Counts(missing=lost, reasons={NOT_HERE: lost}))
    checks = _checks(answers, judge)
    protocols = {answer.protocol.name: answer.protocol for answer in answers}
    described = {name: identity.describe(judge.settings, own, checks[name]) for name, own in protocols.items()}
    judged = [answer.judged(found, described[answer.protocol.name]) for answer in answers]
    models = frozenset(name for judgement in judged for name in identity.answered_models(judgement))
    fresh = [
        metrics_of(replace(answer.record, judgement=judgement))
        for answer, judgement in zip(answers, judged, strict=True)
    ]
    new = [{**row, **metrics} for row, metrics in zip(rows, fresh, strict=True)]
    named = run_files.filter_of(each.run, each.task)
    entry = rescoring.results_of(each.task, definitions.of(each.task), each.config, fresh, named)
    return new, Done(each, counts, sum(answer.kept for answer in answers), entry, models, checks)


def _checks(answers: Sequence[_Answers], judge: Judge) -> dict[str, str]:
    """What a check says of the judge, by protocol: as it was recorded where all verdicts stay, else as it is known."""
    recorded = {answer.protocol.name: str(answer.judgement.judge.get("check") or "") for answer in answers}
    known = {answer.protocol.name: answer.protocol for answer in answers if next(answer.wanted(), None)}
    return {**recorded, **{name: judge.check_of(protocol) for name, protocol in known.items()}}


class _Documents:
    """Items of a record: from the record itself, or, where the terms keep them out of it, from the data."""

    def __init__(self, each: Judged, definitions: rescoring.Definitions) -> None:
        self._each, self._definitions = each, definitions
        self._documents: dict[str, Mapping[str, Any]] | None = None

    def items(self, id: str, judgement: Judgement) -> list[Item | None]:
        """For each reply to a question the item that is judged; None where there is none, or it is not here."""
        if not isinstance(judgement.items, str):
            return [fields and Item(id, fields) for fields in judgement.items]
        if self._documents is None:
            self._documents = logged_questions.documents(self._each.run, self._each.task, self._definitions)
        document = self._documents.get(id)
        if document is None:
            raise UserError(f"Task {self._each.task!r}: no document {id!r} in the data that are here.")
        replies = [withheld.recall(digest) for digest in judgement.replies or ()]
        return [
            None if reply is None else records.items_of(document, [reply], records.protocol_of(judgement))[0]
            for reply in replies
        ]


@dataclass(frozen=True)
class _Answers:
    """The answers in a record. ``items``: one a reply, None where there is nothing to judge, or it is not here."""

    record: Record
    judgement: Judgement
    protocol: Protocol
    items: Sequence[Item | None]
    keep: bool
    trials: int

    @classmethod
    def of(
        cls, record: Record, where: str, documents: _Documents, settings: Settings, protocols: Sequence[Protocol]
    ) -> _Answers:
        """The record's verdicts stay where this very judge gave them. ``where``: its file and line, for messages.

        ``protocols``: the task's, with prompts and rules of its own.
        """
        if record.judgement is None:
            raise UserError(f"{where}: its record holds no verdicts.")
        named = record.judgement.judge["protocol"]
        protocol = next((each for each in protocols if each.name == named), None) or registry.get(named)
        judge = identity.describe(settings, protocol)
        same = not identity.differences(record.judgement.judge, judge)
        trials = trials_of(protocol, judge["settings"])
        return cls(record, record.judgement, protocol, documents.items(record.id, record.judgement), same, trials)

    @property
    def kept(self) -> int:
        """How many of the log's verdicts stay."""
        pairs = zip(self.items, self.judgement.verdicts, strict=True)
        return sum(self._stays(item, old, n) for item, old in pairs for n in range(len(old)))

    @property
    def lost(self) -> int:
        """How many verdicts stay missing because the reply to judge is not here."""
        pairs = zip(self.items, self.judgement.verdicts, strict=True)
        return sum(not self._stays(item, old, n) for item, old in pairs if item is None for n in range(len(old)))

    def _stays(self, item: Item | None, old: Sequence[Mapping[str, Any]], trial: int) -> bool:
        """Whether a verdict stays: this judge's own, and a rule's about a reply that is not here to be read again."""
        status = old[trial]["status"] if trial < len(old) else "missing"
        return status != "missing" and (self.keep or (item is None and status == "exact"))

    def wanted(self) -> Iterator[Wanted]:
        """What is to be judged."""
        for item, old in zip(self.items, self.judgement.verdicts, strict=True):
            if item is not None:
                yield from ((item, trial) for trial in range(self.trials) if not self._stays(item, old, trial))

    def judged(self, found: Mapping[Key, Verdict], judge: Mapping[str, Any]) -> Judgement:
        """The record's judgement by ``judge``, as it is described, with the verdicts that ``found`` has for it."""
        verdicts = tuple(
            tuple(self._verdict(item, old, trial, found) for trial in self._trials(item, old))
            for item, old in zip(self.items, self.judgement.verdicts, strict=True)
        )
        return replace(self.judgement, judge=dict(judge), verdicts=verdicts)

    def _trials(self, item: Item | None, old: Sequence[Any]) -> range:
        return range(len(old) if item is None else self.trials)

    def _verdict(
        self, item: Item | None, old: Sequence[Mapping[str, Any]], trial: int, found: Mapping[Key, Verdict]
    ) -> dict[str, Any]:
        if self._stays(item, old, trial):
            return dict(old[trial])
        lost = Verdict("missing", reason=NOT_HERE)
        new = records.to_json(lost if item is None else found[key_of(self.protocol, item, trial)], self.protocol)
        if self.keep and trial < len(old) and new["status"] == "missing" and not new["reply"] and old[trial]["reply"]:
            return dict(old[trial])  # what the judge said then, where it was not asked again
        return new


def _write(path: Path, text: str, unkept: int) -> None:
    """Write a file whole or not at all; raises UserError where it can't be written.

    ``unkept``: how many of the judge's verdicts are not in the cache, and so are lost with the file.
    """
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part.write_text(text, encoding="utf-8", errors="surrogatepass")
        os.replace(part, path)
    except OSError as error:
        with contextlib.suppress(OSError):
            part.unlink()
        if unkept:
            said = f"{unkept:,} verdicts could not be kept either: their questions are asked, and paid for, again."
        else:
            said = "The judge's verdicts are kept: what it has judged is not asked again."
        raise UserError(f"Can't write {path}: {error}. {said}") from error
