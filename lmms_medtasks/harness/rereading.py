"""A run's kept replies read with today's readers, into a new run. The model is not run, and no judge is asked.

Each reply is given to its task's own hook, with its document from the data that are here. Why it ended and the run's
reasoning tags go with it. A judge's verdicts stay where the judge would be shown the same, and are missing where not.
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
"""Key in a record's details: how its pictures were degraded. Only who renders them knows."""


class MovedReply(NamedTuple):
    """A reply of which something else is read now. ``trial``: from 1. ``reply``: None where terms keep it out."""

    task: str
    id: str
    trial: int
    before: str
    after: str
    rule: str
    reply: str | None


@dataclass
class RereadTask:
    """A task read again. ``outcomes``: of its replies before and now. ``unjudged``: judgements that no longer hold.

    ``asked_alike``: whether prompt and degradations were today's. ``stands``: whether nothing of it moved.
    ``unknown_marks``: at the beginning of its replies.
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
        """How many replies were read."""
        return self.outcomes[1].total()


@dataclass(frozen=True)
class RereadRun:
    """A run read again: its new files, the tasks, and those that stay since they are not ours."""

    remade: rescoring.RemadeRun
    tasks: tuple[RereadTask, ...]
    left: tuple[str, ...]

    @property
    def run(self) -> ResultFile:
        """The run as it was."""
        return self.remade.run

    def moved_metrics(self, task: str) -> list[tuple[str, float | None, float | None]]:
        """The metrics of a task whose number moved, with the number before and now; None for none."""
        old, new = self._metric_values(task)
        pairs = [(name, _metric_number(old[name]), _metric_number(new[name])) for name in old if name in new]
        return [(name, before, now) for name, before, now in pairs if before != now]

    def one_sided_metrics(self, task: str) -> tuple[list[str], list[str]]:
        """The metrics that the task had and has no more, and those that it has only now."""
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
    """Read the replies of ``run`` again; of ``tasks`` only, where it is not empty. Nothing is written.

    ``tags``: reasoning tags in place of the run's. Raises UserError with all that keeps the tasks from being read.
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
        rest = f" The others can be read: {' '.join(f'--task {each.task}' for each in done)}." if done else ""
        raise UserError(f"{run.path} can't be read again. {' '.join(problems)}{rest}")
    remade = rescoring.RemadeRun(run, definitions, requested, alone=bool(tasks))
    for each in done:
        remade.put_task(each.task, each.rows, each.results)
        _note_readers(remade.content, each, definitions, tags)
    _pair_degraded(remade.content, done, definitions)
    remade.update_groups()
    remade.content[REREAD] = [*remade.content.get(REREAD, []), _describe_reread(run, requested, tags)]
    return RereadRun(remade, tuple(done), tuple(left))


def _split_tasks(run: ResultFile, chosen: Sequence[str]) -> tuple[list[str], list[str]]:
    """The tasks of a run that are read by our readers and have a score, and its others, which stay as they are."""
    configs: Mapping[str, Any] = run.content.get("configs") or {}
    ours_with_score: list[str] = []
    others: list[str] = []
    failed = degraded.list_degraded_failures(run.content)
    for task, config in configs.items():
        metadata = (config or {}).get("metadata")
        ours = isinstance(metadata, Mapping) and "data_digest" in metadata
        (ours_with_score if ours and task not in failed else others).append(task)
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


# --- A task -----------------------------------------------------------------------------------------------------------


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
    own_tags = logged_questions.read_reasoning_tags(run, task)
    reader = _Reader(
        task,
        definitions.get_definition(task)["process_results"],
        {each.name: each for each in rejudging.get_recorded_protocols(config)},
    )
    names = {KEY, *(name.partition(",")[0] for name in run.tasks.get(task, {}))} - {"alias"}
    done = RereadTask(task, asked_alike=_asked_alike(config, definitions.load_task(task).config))
    for row, (record, line) in zip(rows, recorded, strict=True):
        where = f"{path}, line {line}"
        sent = logged_questions.read_sent_replies(run, task, row, record, where, own_tags if tags is None else tags)
        fresh, metrics, changed = reader.read_question(documents[record.id], sent, record)
        done.unknown_marks |= {str(note["unknown_mark"]) for note in fresh.replies if note.get("unknown_mark")}
        is_kept_out = not row.get("filtered_resps")
        done.moved += _moved_replies(
            task, record, fresh, changed, [None if is_kept_out else str(each) for each in sent]
        )
        for counted, each in zip(done.outcomes, (record, fresh), strict=True):
            counted.update(trial if trial in (*NO_ANSWER, FAILED) else ANSWERED for trial in each.trials)
        done.unjudged += sum(
            verdict["status"] == "missing" and place in changed
            for place, verdicts in enumerate(fresh.judgement.verdicts if fresh.judgement else ())
            for verdict in verdicts
        )
        kept_columns = {
            key: metrics.get(key, value) for key, value in row.items() if key in metrics or key not in names
        }
        done.rows.append({**kept_columns, **metrics})
    fresh_metrics = [{name: row[name] for name in metrics} for row in done.rows]
    done.results = rescoring.logged_results(run, task, definitions, fresh_metrics)
    done.stands = not done.moved and {"alias": run.tasks[task].get("alias"), **done.results} == run.tasks[task]
    return done


class _Reader:
    """Reads the replies to a question as its task does, and keeps what a run alone knows."""

    def __init__(
        self, task: str, hook: Callable[..., Mapping[str, Any]], protocols: Mapping[str, JudgeProtocol]
    ) -> None:
        self._task, self._hook, self._protocols = task, hook, protocols

    def read_question(
        self, document: Mapping[str, Any], sent: Sequence[SentReply], recorded: QuestionRecord
    ) -> tuple[QuestionRecord, Mapping[str, Any], set[int]]:
        """The question's record now, its metrics, and the places of the replies of which a judge is shown else."""
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
        for place, (item, old_verdicts) in enumerate(zip(items, old.verdicts, strict=True)):
            if _is_same(place, item, recorded, fresh, sent[place]):
                verdicts.append(old_verdicts)
                continue
            changed.add(place)
            made = item and (settle_by_rule(protocol, item) or JudgeVerdict("missing", reason=records.NOT_JUDGED))
            trials = count_judging_trials(protocol, old.judge.get("settings", {})) if made else 0
            verdicts.append(tuple(records.verdict_to_json(made, protocol) for _ in range(trials) if made))
        return replace(new, judge=old.judge, verdicts=tuple(verdicts)), changed


def _is_same(
    place: int, item: JudgedItem | None, recorded: QuestionRecord, fresh: QuestionRecord, sent: SentReply
) -> bool:
    """Whether the judge would be shown what it was shown.

    Where the data's terms keep that out of the log: whether the same marks were taken out of the same reply.
    """
    assert recorded.judgement is not None
    shown = recorded.judgement.items
    if isinstance(shown, str):
        note, reply = _reply_note(recorded, place), Reply.of(sent)
        then = recorded.trials[place], tuple(note.get("marks", ())), note.get("unknown_mark", "")
        has_item = bool(recorded.judgement.verdicts[place])
        return then == (fresh.trials[place], reply.marks, reply.unknown_mark) and has_item == (item is not None)
    shown_item = shown[place]
    return (shown_item and dict(shown_item)) == (item and dict(item.fields))


def _reply_note(record: QuestionRecord, place: int) -> Mapping[str, Any]:
    return record.replies[place] if place < len(record.replies) else {}


def _moved_replies(
    task: str, recorded: QuestionRecord, fresh: QuestionRecord, changed: set[int], texts: Sequence[str | None]
) -> list[MovedReply]:
    """The replies of which something else is read, and those that a judge is shown in another way."""
    moved = []
    for place, (before, after, text) in enumerate(zip(recorded.trials, fresh.trials, texts, strict=True)):
        if before == after and place not in changed:
            continue
        rule = str(_reply_note(fresh, place).get("rule", ""))
        before_text, after_text = _judged_outcome(recorded, place, before), _judged_outcome(fresh, place, after)
        moved.append(MovedReply(task, recorded.id, place + 1, before_text, after_text, rule, text))
    # A measure that only one of the two has moves no reply.
    both = recorded.measures.keys() & fresh.measures.keys()
    names = sorted(name for name in both if recorded.measures[name] != fresh.measures[name])
    if names and not moved:
        before_text, after_text = (
            ", ".join(f"{name} {each.measures[name].score}" for name in names) for each in (recorded, fresh)
        )
        moved.append(MovedReply(task, recorded.id, 1, before_text, after_text, "", texts[0]))
    return moved


def _judged_outcome(record: QuestionRecord, place: int, trial: str) -> str:
    """What was read of a reply, and of one that is judged whether it was."""
    verdicts = record.judgement.verdicts[place] if record.judgement else ()
    if not verdicts or trial in (*NO_ANSWER, FAILED):
        return trial
    return "not judged" if any(verdict["status"] == "missing" for verdict in verdicts) else "judged"


def _asked_alike(config: Mapping[str, Any], today: Any) -> bool:
    """Whether the run's prompt and pictures are those of the task as it is now, as far as their digests tell."""
    then, now = ((each or {}).get("digests") or {} for each in (config.get("metadata"), today.metadata))
    return all(then.get(part) == now.get(part) for part in ("prompt", "degradations"))


# --- The new result file ----------------------------------------------------------------------------------------------


def _note_readers(
    content: dict[str, Any], done: RereadTask, definitions: rescoring.TaskDefinitions, tags: Tags | None
) -> None:
    """Note in a result file whose readers a task's numbers are of."""
    task, loaded = done.task, definitions.load_task(done.task)
    for name, direction in loaded.higher_is_better().items():
        content.setdefault("higher_is_better", {}).setdefault(task, {}).setdefault(name, direction)
    today, metadata = loaded.config.metadata, dict(content["configs"][task]["metadata"])
    now = today.get("digests") or {}
    reader_digests = {part: now[part] for part in ("package", "own_code") if part in now}
    metadata["digests"] = {**(metadata.get("digests") or {}), **reader_digests}
    # A prompt of another version stays one: only who reads is of today.
    if done.asked_alike and "version" in today:
        metadata["version"], metadata["package_version"] = today["version"], importlib.metadata.version("lmms-medtasks")
        content.setdefault("versions", {})[task] = today["version"]
    if today.get("package_modified"):
        metadata["package_modified"] = True
    if tags is not None:
        options = {
            **(metadata.get(run_options.METADATA) or {}),
            run_options.REASONING_TAGS: [list(tag) for tag in tags],
        }
        metadata[run_options.METADATA] = options
    content["configs"][task]["metadata"] = metadata


class _Base(NamedTuple):
    base: str


def _pair_degraded(content: dict[str, Any], done: Sequence[RereadTask], definitions: rescoring.TaskDefinitions) -> None:
    """Pair degraded tasks with their clean ones anew, as the run did, where either has moved.

    Where neither has, what the run found stays.
    """
    same = {each.task for each in done if each.stands}
    bases = {
        each.task: base for each in done if (base := degraded.find_base_task(each.task, content["configs"][each.task]))
    }
    bases = {task: base for task, base in bases.items() if not {task, base} <= same}
    paired = [each for each in done if each.task in {*bases, *bases.values()}]
    for each in paired:
        for row in each.rows:
            if degraded.SCORES in row:
                row[degraded.SCORES] = {}  # in its place
    for task in bases:
        metadata = content["configs"][task]["metadata"]
        details = metadata[degraded.METADATA]
        kept_details = {key: value for key, value in details.items() if key not in ("scores", "best_scores")}
        metadata[degraded.METADATA] = kept_details
    samples = {"samples": {each.task: each.rows for each in paired}}
    shown: Any = {task: _Base(base) for task, base in bases.items()}
    degraded_pairing.add_paired_scores(
        {**content, **samples}, {each.task: definitions.load_task(each.task) for each in paired}, shown
    )


def _describe_reread(run: ResultFile, tasks: Sequence[str], tags: Tags | None) -> dict[str, Any]:
    logs = {task: digests.content_digest(run.samples_file(task).read_bytes()) for task in tasks}
    return {
        "date": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "version": importlib.metadata.version("lmms-medtasks"),
        "of": {"file": run.path.name, "digest": digests.content_digest(run.path.read_bytes()), "logs": logs},
        **({} if tags is None else {"reasoning_tags": [list(tag) for tag in tags]}),
    }


def _metric_number(value: Any) -> float | None:
    """A metric's number, None where it has none."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and not math.isnan(value) else None


MOVED = "moved.csv"
_SHOWN_CHARACTERS = 200
"""Characters of a reply in the list."""


def folder_beside(paths: Sequence[Path]) -> Path:
    """``RUN-reread`` beside the first path, or the next of that name that is not there yet."""
    first = paths[0].resolve()
    root = first if first.is_dir() else first.parent
    folders = (root.with_name(f"{root.name}-reread{number or ''}") for number in itertools.count())
    return next(folder for folder in folders if not folder.exists())


def find_run_folders(paths: Sequence[Path], output: Path) -> list[tuple[ResultFile, Path]]:
    """The runs that ``paths`` are or hold, and for each the folder below ``output`` that its new files go to.

    Below ``output`` they lie as they lie below the path; of several paths each has a folder of its name. Raises
    UserError where there is no run, two paths have one name, ``output`` holds something, or lies in a run.
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
    """Write a run that was read again to ``folder``, each file whole or not at all, the results last; their path.

    The logs of tasks that stay are copied.
    """
    for task in reread_run.left:
        source = reread_run.run.samples_file(task)
        if source.is_file():
            write_bytes_atomically(folder / source.name, source.read_bytes())
    alone = len(list(reread_run.run.path.parent.glob(f"*{result_files.SUFFIX}"))) == 1
    name = MOVED if alone else f"{reread_run.run.path.name.removesuffix(result_files.SUFFIX)}_{MOVED}"
    write_text_atomically(folder / name, moved_csv(moved for each in reread_run.tasks for moved in each.moved))
    return reread_run.remade.write_files(folder)


def moved_csv(moved: Iterable[MovedReply]) -> str:
    """The list of replies that moved, a row a reply; no text where the terms of its data forbid it."""
    rows = ([*map(str, each[:-1]), (each.reply or "")[:_SHOWN_CHARACTERS]] for each in moved)
    return "".join(map(csv_line, [MovedReply._fields, *rows]))
