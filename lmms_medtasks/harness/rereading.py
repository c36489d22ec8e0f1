"""Parse a run's logged replies with the current parsers, into a new run. Neither the model nor a judge is run.

The task's hook gets each reply with its document, the reason why it ended, and the run's reasoning tags. A judge's
verdict stays if the judge would be shown the same, else it is missing.
"""

from __future__ import annotations

import importlib.metadata
import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, NamedTuple

from lmms_medtasks import digests
from lmms_medtasks.errors import UserError
from lmms_medtasks.harness import degraded_pairing, hooks, logged_questions, rejudging, rescoring
from lmms_medtasks.judges import records, registry
from lmms_medtasks.judges.judging import settle_by_rule
from lmms_medtasks.judges.protocol import JudgedItem, JudgeProtocol, JudgeVerdict, count_judging_trials
from lmms_medtasks.parsing.reply import Reply, SentReply, Tags
from lmms_medtasks.record import FAILED, KEY, NO_ANSWER, QuestionJudgement, QuestionRecord, record_from_earlier_json
from lmms_medtasks.report.csv_writer import csv_line
from lmms_medtasks.samples import degraded, result_files, run_options, runs
from lmms_medtasks.samples.result_files import REREAD, ResultFile
from lmms_medtasks.writing import write_bytes_atomically, write_text_atomically

ANSWERED = "answered"
_DRAWN = "degradation_parameters"
"""Key in a record's details: how its pictures were degraded, which only the run that rendered them knows."""


class MovedReply(NamedTuple):
    """A reply whose parsed answer changed. ``trial``: from 1. ``reply``: None if the data's terms withhold it."""

    task: str
    id: str
    trial: int
    before: str
    after: str
    rule: str
    reply: str | None


@dataclass
class RereadTask:
    """A task read again. ``outcomes``: counts of parse statuses before and now. ``unjudged``: verdicts that were lost.

    ``asked_alike``: whether prompt and degradations are the current ones. ``stands``: whether nothing changed.
    ``unknown_marks``: unknown marks at the beginning of its replies.
    """

    task: str
    rows: list[dict[str, Any]] = field(default_factory=list)
    results: dict[str, Any] = field(default_factory=dict)
    moved: list[MovedReply] = field(default_factory=list)
    outcomes: tuple[Counter[str], Counter[str]] = field(default_factory=lambda: (Counter(), Counter()))
    unjudged: int = 0
    asked_alike: bool = True
    stands: bool = False
    unknown_marks: set[str] = field(default_factory=set)

    @property
    def reply_count(self) -> int:
        return self.outcomes[1].total()


@dataclass(frozen=True)
class RereadRun:
    """A run read again: its new files, the tasks, and the names of other tasks, which stay unchanged."""

    remade: rescoring.RemadeRun
    tasks: tuple[RereadTask, ...]
    left: tuple[str, ...]

    @property
    def run(self) -> ResultFile:
        """The old run."""
        return self.remade.run

    def moved_metrics(self, task: str) -> list[tuple[str, float | None, float | None]]:
        """The metrics of a task whose number changed, with the number before and now; None for no number."""
        old, new = self._metric_values(task)
        pairs = [(name, _metric_number(old[name]), _metric_number(new[name])) for name in old if name in new]
        return [(name, before, now) for name, before, now in pairs if before != now]

    def one_sided_metrics(self, task: str) -> tuple[list[str], list[str]]:
        """The metrics that only the old task has, and those that only the new one has."""
        old, new = self._metric_values(task)
        return [name for name in old if name not in new], [name for name in new if name not in old]

    def _metric_values(self, task: str) -> list[dict[str, Any]]:
        entries = [content.get("results", {}).get(task, {}) for content in (self.run.content, self.remade.content)]
        return [
            {name.partition(",")[0]: value for name, value in entry.items() if "," in name and "_stderr" not in name}
            for entry in entries
        ]


def reread_replies(
    run: ResultFile, definitions: rescoring.TaskDefinitions, tasks: Sequence[str] = (), tags: Tags | None = None
) -> RereadRun:
    """Read the replies of ``run`` again, unless ``tasks`` is empty only of these. Writes no files.

    ``tags``: reasoning tags in place of the run's. Raises UserError with all problems of the tasks.
    """
    requested, left = _split_tasks(run, tasks)
    done: list[RereadTask] = []
    problems: list[str] = []
    for task in requested:
        try:
            done.append(_reread_task(run, task, definitions, tags))
        except UserError as error:
            problems.append(f"{task}: {error}")
    if problems:
        rest = f" The others can be read: {' '.join(f'--task {reread.task}' for reread in done)}." if done else ""
        raise UserError(f"{run.path} can't be read again. {' '.join(problems)}{rest}")
    remade = rescoring.RemadeRun(run, definitions, requested, alone=bool(tasks))
    for reread in done:
        remade.put_task(reread.task, reread.rows, reread.results)
        _note_readers(remade.content, reread, definitions.load_task(reread.task), tags)
    _pair_degraded(remade.content, done, definitions)
    remade.update_groups()
    remade.content[REREAD] = [*remade.content.get(REREAD, []), _describe_reread(run, requested, tags)]
    return RereadRun(remade, tuple(done), tuple(left))


def _split_tasks(run: ResultFile, chosen: Sequence[str]) -> tuple[list[str], list[str]]:
    """The scored tasks of ours (of them only ``chosen``, unless it is empty), and all other tasks of a run."""
    configs: Mapping[str, Any] = run.content.get("configs") or {}
    ours_with_score: list[str] = []
    others: list[str] = []
    failed = degraded.list_degraded_failures(run.content)
    for task, config in configs.items():
        metadata = (config or {}).get("metadata")
        is_ours = isinstance(metadata, Mapping) and "data_digest" in metadata
        (ours_with_score if is_ours and task not in failed else others).append(task)
    for task in chosen:
        if task not in ours_with_score:
            raise UserError(
                f"{run.path} has no task {task!r} to be read again. It has: {', '.join(ours_with_score) or 'none'}."
            )
    if not ours_with_score:
        raise UserError(f"{run.path} has no task of lmms-medtasks that could be read again.")
    ours_with_score = [task for task in ours_with_score if not chosen or task in chosen]
    if not any(run.samples_file(task).is_file() for task in ours_with_score):
        raise UserError(
            f"{run.path} has no sample log: the run was made without --log_samples, so no reply was kept. Run it again."
        )
    return ours_with_score, [] if chosen else others


def _reread_task(run: ResultFile, task: str, definitions: rescoring.TaskDefinitions, tags: Tags | None) -> RereadTask:
    config, path = run.content["configs"][task], run.samples_file(task)
    rows = [row for _, row in run.rows(task)]
    recorded = list(runs.iter_records(run, task, record_from_earlier_json))
    question_count = run.content.get("n-samples", {}).get(task, {}).get("effective", len(rows))
    if question_count != len(rows):
        raise UserError(f"{path} has {len(rows)} rows, {question_count} questions were asked. Was the log edited?")
    documents = logged_questions.documents(run, task, definitions)
    unknown = [record.id for record, _ in recorded if record.id not in documents]
    if unknown:
        raise UserError(
            f"{path}: {len(unknown)} of {len(rows)} questions are not in the data that are here, the first is "
            f"{unknown[0]!r}."
        )
    run_tags = logged_questions.read_reasoning_tags(run, task)
    protocols = {protocol.name: protocol for protocol in rejudging.get_recorded_protocols(config)}
    reader = _Reader(task, definitions.get_definition(task)["process_results"], protocols)
    names = {KEY, *(name.partition(",")[0] for name in run.tasks.get(task, {}))} - {"alias"}
    done = RereadTask(task, asked_alike=_asked_alike(config, definitions.load_task(task).config))
    for row, (record, line) in zip(rows, recorded, strict=True):
        where = f"{path}, line {line}"
        sent = logged_questions.read_sent_replies(run, task, row, record, where, run_tags if tags is None else tags)
        fresh, metrics, changed = reader.read_question(documents[record.id], sent, record)
        done.unknown_marks |= {str(note["unknown_mark"]) for note in fresh.replies if note.get("unknown_mark")}
        texts = [str(reply) if row.get("filtered_resps") else None for reply in sent]
        done.moved += _moved_replies(task, record, fresh, changed, texts)
        for counts, counted_record in zip(done.outcomes, (record, fresh), strict=True):
            counts.update(trial if trial in (*NO_ANSWER, FAILED) else ANSWERED for trial in counted_record.trials)
        verdicts = fresh.judgement.verdicts if fresh.judgement else ()
        done.unjudged += sum(verdict["status"] == "missing" for index in changed for verdict in verdicts[index])
        # Columns keep their order; old metrics that the task has no more are dropped.
        kept_columns = {key: value for key, value in row.items() if key in metrics or key not in names}
        done.rows.append({**kept_columns, **metrics})
    fresh_metrics = [{name: row[name] for name in metrics} for row in done.rows]
    done.results = rescoring.logged_results(run, task, definitions, fresh_metrics)
    done.stands = not done.moved and {"alias": run.tasks[task].get("alias"), **done.results} == run.tasks[task]
    return done


class _Reader:
    """Reads the replies to a question as its task does, with the run's degradation parameters and verdicts."""

    def __init__(
        self, task: str, hook: Callable[..., Mapping[str, Any]], protocols: Mapping[str, JudgeProtocol]
    ) -> None:
        self._task, self._hook, self._protocols = task, hook, protocols

    def read_question(
        self, document: Mapping[str, Any], sent: Sequence[SentReply], recorded: QuestionRecord
    ) -> tuple[QuestionRecord, Mapping[str, Any], set[int]]:
        """The new record, its metrics, and the indices of replies that a judge would now be shown differently."""
        hooks.RENDERED.reset([recorded.id])
        for number, drawn in enumerate(recorded.details.get(_DRAWN) or ()):
            hooks.RENDERED.put(recorded.id, number, drawn)
        metrics = self._hook(document, list(sent))
        fresh = record_from_earlier_json(metrics[KEY], "the task's hook")
        if (recorded.judgement is None) != (fresh.judgement is None):
            raise UserError(
                f"question {recorded.id!r} is judged now and was not, or the other way round: run it again."
            )
        if recorded.judgement is None:
            return fresh, metrics, set()
        judgement, changed = self._carry_verdicts(document, sent, recorded, fresh)
        metrics = rescoring.record_scorer(self._task, self._hook)(replace(fresh, judgement=judgement))
        return record_from_earlier_json(metrics[KEY], "the task's hook"), metrics, changed

    def _carry_verdicts(
        self, document: Mapping[str, Any], sent: Sequence[SentReply], recorded: QuestionRecord, fresh: QuestionRecord
    ) -> tuple[QuestionJudgement, set[int]]:
        old, new = recorded.judgement, fresh.judgement
        assert old is not None and new is not None
        protocol = self._protocols.get(old.judge["protocol"]) or registry.get(old.judge["protocol"])
        items = records.make_judged_items(document, sent, protocol)
        verdicts, changed = [], set()
        for index, (item, old_verdicts) in enumerate(zip(items, old.verdicts, strict=True)):
            if _is_same(index, item, recorded, fresh, sent[index]):
                verdicts.append(old_verdicts)
                continue
            changed.add(index)
            verdict = item and (settle_by_rule(protocol, item) or JudgeVerdict("missing", reason=records.NOT_JUDGED))
            trials = count_judging_trials(protocol, old.judge.get("settings", {})) if verdict else 0
            verdicts.append(tuple(records.verdict_to_json(verdict, protocol) for _ in range(trials) if verdict))
        return replace(new, judge=old.judge, verdicts=tuple(verdicts)), changed


def _is_same(
    index: int, item: JudgedItem | None, recorded: QuestionRecord, fresh: QuestionRecord, sent: SentReply
) -> bool:
    """Whether the judge would be shown the same as before.

    If the data's terms keep that out of the log: whether the same marks were removed from the same reply.
    """
    assert recorded.judgement is not None
    shown = recorded.judgement.items
    if isinstance(shown, str):
        note, reply = _reply_note(recorded, index), Reply.of(sent)
        before = recorded.trials[index], tuple(note.get("marks", ())), note.get("unknown_mark", "")
        has_item = bool(recorded.judgement.verdicts[index])
        return before == (fresh.trials[index], reply.marks, reply.unknown_mark) and has_item == (item is not None)
    shown_item = shown[index]
    return (shown_item and dict(shown_item)) == (item and dict(item.fields))


def _reply_note(record: QuestionRecord, index: int) -> Mapping[str, Any]:
    return record.replies[index] if index < len(record.replies) else {}


def _moved_replies(
    task: str, recorded: QuestionRecord, fresh: QuestionRecord, changed: set[int], texts: Sequence[str | None]
) -> list[MovedReply]:
    """The replies whose parsed answer changed, and those that a judge would be shown differently."""
    moved = []
    for index, (before, after, text) in enumerate(zip(recorded.trials, fresh.trials, texts, strict=True)):
        if before == after and index not in changed:
            continue
        rule = str(_reply_note(fresh, index).get("rule", ""))
        before_text, after_text = _judged_outcome(recorded, index, before), _judged_outcome(fresh, index, after)
        moved.append(MovedReply(task, recorded.id, index + 1, before_text, after_text, rule, text))
    # Measures of only one of the two records do not count as moved.
    common = recorded.measures.keys() & fresh.measures.keys()
    names = sorted(name for name in common if recorded.measures[name] != fresh.measures[name])
    if names and not moved:
        before_text, after_text = (
            ", ".join(f"{name} {record.measures[name].score}" for name in names) for record in (recorded, fresh)
        )
        moved.append(MovedReply(task, recorded.id, 1, before_text, after_text, "", texts[0]))
    return moved


def _judged_outcome(record: QuestionRecord, index: int, trial: str) -> str:
    """The parsed answer of a trial, or for a judged reply whether it has verdicts."""
    verdicts = record.judgement.verdicts[index] if record.judgement else ()
    if not verdicts or trial in (*NO_ANSWER, FAILED):
        return trial
    return "not judged" if any(verdict["status"] == "missing" for verdict in verdicts) else "judged"


def _asked_alike(config: Mapping[str, Any], today: Any) -> bool:
    """Whether the run's digests of prompt and degradations are those of the task as it is now."""
    before = (config.get("metadata") or {}).get("digests") or {}
    now = (today.metadata or {}).get("digests") or {}
    return all(before.get(part) == now.get(part) for part in ("prompt", "degradations"))


def _note_readers(content: dict[str, Any], done: RereadTask, loaded: Any, tags: Tags | None) -> None:
    """Record in a result file with which parsers a task's numbers were made. ``loaded``: the task as it is now."""
    task = done.task
    for name, direction in loaded.higher_is_better().items():
        content.setdefault("higher_is_better", {}).setdefault(task, {}).setdefault(name, direction)
    today, metadata = loaded.config.metadata, dict(content["configs"][task]["metadata"])
    now = today.get("digests") or {}
    reader_digests = {part: now[part] for part in ("package", "own_code") if part in now}
    metadata["digests"] = {**(metadata.get("digests") or {}), **reader_digests}
    # A task with another prompt keeps its version: only its parsers are new.
    if done.asked_alike and "version" in today:
        metadata["version"], metadata["package_version"] = today["version"], importlib.metadata.version("lmms-medtasks")
        content.setdefault("versions", {})[task] = today["version"]
    if today.get("package_modified"):
        metadata["package_modified"] = True
    if tags is not None:
        options = metadata.get(run_options.METADATA) or {}
        metadata[run_options.METADATA] = {**options, run_options.REASONING_TAGS: [list(tag) for tag in tags]}
    content["configs"][task]["metadata"] = metadata


def _pair_degraded(content: dict[str, Any], done: Sequence[RereadTask], definitions: rescoring.TaskDefinitions) -> None:
    """Pair degraded tasks with their clean ones again, as the run did, if one of the two has changed."""
    unchanged = {reread.task for reread in done if reread.stands}
    bases = {}
    for task in (reread.task for reread in done):
        base = degraded.find_base_task(task, content["configs"][task])
        if base and not {task, base} <= unchanged:
            bases[task] = base
    paired = [reread for reread in done if reread.task in {*bases, *bases.values()}]
    for reread in paired:
        for row in reread.rows:
            if degraded.SCORES in row:
                row[degraded.SCORES] = {}  # the key keeps its position
    for task in bases:
        metadata = content["configs"][task]["metadata"]
        details = metadata[degraded.METADATA].items()
        metadata[degraded.METADATA] = {key: value for key, value in details if key not in ("scores", "best_scores")}
    samples = {"samples": {reread.task: reread.rows for reread in paired}}
    tasks = {reread.task: definitions.load_task(reread.task) for reread in paired}
    degraded_pairing.add_paired_scores({**content, **samples}, tasks, bases)


def _describe_reread(run: ResultFile, tasks: Sequence[str], tags: Tags | None) -> dict[str, Any]:
    logs = {task: digests.content_digest(run.samples_file(task).read_bytes()) for task in tasks}
    return {
        "date": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "version": importlib.metadata.version("lmms-medtasks"),
        "of": {"file": run.path.name, "digest": digests.content_digest(run.path.read_bytes()), "logs": logs},
        **({} if tags is None else {"reasoning_tags": [list(tag) for tag in tags]}),
    }


def _metric_number(value: Any) -> float | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and not math.isnan(value) else None


MOVED = "moved.csv"
_SHOWN_CHARACTERS = 200
"""Characters of a reply in the list."""


def folder_beside(paths: Sequence[Path]) -> Path:
    """``RUN-reread`` beside the first path, with a number if that exists."""
    first = paths[0].resolve()
    root = first if first.is_dir() else first.parent
    folders = (root.with_name(f"{root.name}-reread{number or ''}") for number in itertools.count())
    return next(folder for folder in folders if not folder.exists())


def find_run_folders(paths: Sequence[Path], output: Path) -> list[tuple[ResultFile, Path]]:
    """The runs in ``paths``, each with the folder for its new files, which has the same relative path below ``output``.

    Several paths have a folder of their name each. Raises UserError if there is no run, two paths have one name,
    ``output`` is not empty, or is inside of a run.
    """
    if output.is_file() or (output.is_dir() and any(output.iterdir())):
        raise UserError(f"--output {output} is not empty. Give a folder that is not there yet.")
    roots = {path: (path if path.is_dir() else path.parent).resolve() for path in paths}
    placed: dict[Path, tuple[ResultFile, Path]] = {}
    root_by_folder: dict[Path, Path] = {}
    for path, root in roots.items():
        if output.resolve().is_relative_to(root):
            raise UserError(f"--output {output} lies in {path}, whose runs it would be one of. Give another folder.")
        base = output / root.name if len(set(roots.values())) > 1 else output
        if root_by_folder.setdefault(base, root) != root:
            raise UserError(
                f"{path} and {root_by_folder[base]} have one name. Read them again apart, each into its own folder."
            )
        for run in runs.find_result_files([path]):
            placed.setdefault(run.path.resolve(), (run, base / run.path.resolve().parent.relative_to(root)))
    return list(placed.values())


def write_reread_run(reread_run: RereadRun, folder: Path) -> Path:
    """Write a run that was read again to ``folder``, each file whole or not at all, and return its result file.

    The result file is written last. The logs of tasks that stay are copied.
    """
    for task in reread_run.left:
        source = reread_run.run.samples_file(task)
        if source.is_file():
            write_bytes_atomically(folder / source.name, source.read_bytes())
    alone = len(list(reread_run.run.path.parent.glob(f"*{result_files.SUFFIX}"))) == 1
    name = MOVED if alone else f"{reread_run.run.path.name.removesuffix(result_files.SUFFIX)}_{MOVED}"
    write_text_atomically(folder / name, moved_csv(moved for task in reread_run.tasks for moved in task.moved))
    return reread_run.remade.write_files(folder)


def moved_csv(moved: Iterable[MovedReply]) -> str:
    """The replies that moved, a row a reply; no text if the data's terms withhold it."""
    rows = ([*map(str, reply[:-1]), (reply.reply or "")[:_SHOWN_CHARACTERS]] for reply in moved)
    return "".join(map(csv_line, [MovedReply._fields, *rows]))
