"""A run's kept replies read with today's readers, into a new run. The model is not run, and no judge is asked.

Each reply is given to its task's own hook, with its document from the data that are here. Why it ended and the run's
reasoning tags go with it. A judge's verdicts stay where the judge would be shown the same, and are missing where not.
"""

from __future__ import annotations

import copy
import importlib.metadata
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from typing import Any, NamedTuple

from lmms_medtasks import digests
from lmms_medtasks.errors import UserError
from lmms_medtasks.harness import degraded_pairing, hooks, logged_questions, rejudging, rescoring, run_files
from lmms_medtasks.judges import records, registry, stage
from lmms_medtasks.judges.judging import settled
from lmms_medtasks.judges.protocol import Item, Protocol, Verdict
from lmms_medtasks.parsing.reply import Reply, SentReply, Tags
from lmms_medtasks.record import FAILED, KEY, NO_ANSWER, Judgement, Record, from_earlier_json
from lmms_medtasks.samples import degraded, run_options, runs
from lmms_medtasks.samples.result_files import REREAD, Run

ANSWERED = "answered"
_DRAWN = "degradation_parameters"
"""Key in a record's details: how its pictures were degraded. Only who renders them knows."""


class Moved(NamedTuple):
    """A reply of which something else is read now. ``trial``: from 1. ``reply``: None where terms keep it out."""

    task: str
    id: str
    trial: int
    before: str
    after: str
    rule: str
    reply: str | None


@dataclass
class Reread:
    """A task read again. ``outcomes``: of its replies before and now. ``unjudged``: judgements that no longer hold.

    ``asked_alike``: whether prompt and degradations were today's. ``stands``: whether nothing of it moved.
    ``unknown_marks``: at the beginning of its replies.
    """

    task: str
    rows: list[dict[str, Any]] = field(default_factory=list)
    results: dict[str, Any] = field(default_factory=dict)
    moved: list[Moved] = field(default_factory=list)
    outcomes: tuple[Counter[str], Counter[str]] = field(default_factory=lambda: (Counter(), Counter()))
    unjudged: int = 0
    asked_alike: bool = True
    stands: bool = False
    unknown_marks: set[str] = field(default_factory=set)

    @property
    def replies(self) -> int:
        """How many replies were read."""
        return self.outcomes[1].total()


@dataclass(frozen=True)
class RereadRun:
    """A run read again: the content of its result file, the tasks, and those that stay since they are not ours."""

    run: Run
    content: dict[str, Any]
    tasks: tuple[Reread, ...]
    left: tuple[str, ...]

    def metrics(self, task: str) -> list[tuple[str, float | None, float | None]]:
        """The metrics of a task whose number moved, with the number before and now; None for none."""
        old, new = self._named(task)
        pairs = [(name, _number(old[name]), _number(new[name])) for name in old if name in new]
        return [(name, before, now) for name, before, now in pairs if before != now]

    def only_in_one(self, task: str) -> tuple[list[str], list[str]]:
        """The metrics that the task had and has no more, and those that it has only now."""
        old, new = self._named(task)
        return [name for name in old if name not in new], [name for name in new if name not in old]

    def _named(self, task: str) -> list[dict[str, Any]]:
        entries = [content.get("results", {}).get(task, {}) for content in (self.run.content, self.content)]
        return [
            {name.partition(",")[0]: value for name, value in entry.items() if "," in name and "_stderr" not in name}
            for entry in entries
        ]


def reread(
    run: Run, definitions: rescoring.Definitions, tasks: Sequence[str] = (), tags: Tags | None = None
) -> RereadRun:
    """Read the replies of ``run`` again; of ``tasks`` only, where it is not empty. Nothing is written.

    ``tags``: reasoning tags in place of the run's. Raises UserError with all that keeps the tasks from being read.
    """
    own, left = _tasks(run, tasks)
    content = copy.deepcopy(run.content)
    if tasks:
        run_files.leave(content, own)
    done: list[Reread] = []
    problems: list[str] = []
    for task in own:
        try:
            done.append(_read(run, task, definitions, tags))
        except UserError as error:
            problems.append(f"{task}: {error}")
    if problems:
        rest = f" The others can be read: {' '.join(f'--task {each.task}' for each in done)}." if done else ""
        raise UserError(f"{run.path} can't be read again. {' '.join(problems)}{rest}")
    for each in done:
        _put(content, each, definitions, tags)
    _pair(content, done, definitions)
    sizes = {each.task: len(each.rows) for each in done}
    for task in content["results"]:
        sizes.setdefault(task, run.sample_count(task) or 0)
    rescoring.update_groups(content, definitions, sizes, own)
    content[REREAD] = [*content.get(REREAD, []), _provenance(run, own, tags)]
    return RereadRun(run, content, tuple(done), tuple(left))


def _tasks(run: Run, chosen: Sequence[str]) -> tuple[list[str], list[str]]:
    """The tasks of a run that are read by our readers and have a score, and its others, which stay as they are."""
    configs: Mapping[str, Any] = run.content.get("configs") or {}
    own: list[str] = []
    others: list[str] = []
    failed = degraded.failures(run.content)
    for task, config in configs.items():
        metadata = (config or {}).get("metadata")
        ours = isinstance(metadata, Mapping) and "data_digest" in metadata
        (own if ours and task not in failed else others).append(task)
    for task in chosen:
        if task not in own:
            raise UserError(f"{run.path} has no task {task!r} to be read again. It has: {', '.join(own) or 'none'}.")
    if not own:
        raise UserError(f"{run.path} has no task of lmms-medtasks that could be read again.")
    own = [task for task in own if not chosen or task in chosen]
    if not any(run.samples_file(task).is_file() for task in own):
        raise UserError(
            f"{run.path} has no sample log: the run was made without --log_samples, so no reply was kept. Run it again."
        )
    return own, [] if chosen else others


# --- A task -----------------------------------------------------------------------------------------------------------


def _read(run: Run, task: str, definitions: rescoring.Definitions, tags: Tags | None) -> Reread:
    config, path = run.content["configs"][task], run.samples_file(task)
    rows = [row for _, row in run.rows(task)]
    recorded = list(runs.records(run, task, from_earlier_json))
    asked = run.content.get("n-samples", {}).get(task, {}).get("effective", len(rows))
    if asked != len(rows):
        raise UserError(f"{path} has {len(rows)} rows, {asked} questions were asked. Was the log edited?")
    documents = logged_questions.documents(run, task, definitions)
    unknown = [record.id for record, _ in recorded if record.id not in documents]
    if unknown:
        raise UserError(
            f"{path}: {len(unknown)} of {len(rows)} questions are not in the data that are here, the first is "
            f"{unknown[0]!r}."
        )
    definition, own_tags = definitions.of(task), logged_questions.tags_of(run, task)
    reader = _Reader(definition["process_results"], {each.name: each for each in rejudging.protocols_of(config)})
    names = {KEY, *(name.partition(",")[0] for name in run.tasks.get(task, {}))} - {"alias"}
    done = Reread(task, asked_alike=_asked_alike(config, definitions.loaded(task).config))
    for row, (record, line) in zip(rows, recorded, strict=True):
        where = f"{path}, line {line}"
        sent = logged_questions.replies(run, task, row, record, where, own_tags if tags is None else tags)
        fresh, metrics, changed = reader.read(documents[record.id], sent, record)
        done.unknown_marks |= {str(note["unknown_mark"]) for note in fresh.replies if note.get("unknown_mark")}
        is_kept_out = not row.get("filtered_resps")
        done.moved += _moved(task, record, fresh, changed, [None if is_kept_out else str(each) for each in sent])
        for counted, each in zip(done.outcomes, (record, fresh), strict=True):
            counted.update(trial if trial in (*NO_ANSWER, FAILED) else ANSWERED for trial in each.trials)
        done.unjudged += sum(
            verdict["status"] == "missing" and place in changed
            for place, verdicts in enumerate(fresh.judgement.verdicts if fresh.judgement else ())
            for verdict in verdicts
        )
        kept = {key: metrics.get(key, value) for key, value in row.items() if key in metrics or key not in names}
        done.rows.append({**kept, **metrics})
    fresh_metrics = [{name: row[name] for name in metrics} for row in done.rows]
    named = run_files.filter_of(run, task)
    done.results = rescoring.results_of(task, definition, config, fresh_metrics, named)
    done.stands = not done.moved and {"alias": run.tasks[task].get("alias"), **done.results} == run.tasks[task]
    return done


class _Reader:
    """Reads the replies to a question as its task does, and keeps what a run alone knows."""

    def __init__(self, hook: Callable[..., Mapping[str, Any]], protocols: Mapping[str, Protocol]) -> None:
        self._hook, self._protocols = hook, protocols

    def read(
        self, document: Mapping[str, Any], sent: Sequence[SentReply], recorded: Record
    ) -> tuple[Record, Mapping[str, Any], set[int]]:
        """The question's record now, its metrics, and the places of the replies of which a judge is shown else."""
        hooks.RENDERED.reset([recorded.id])
        for number, drawn in enumerate(recorded.details.get(_DRAWN) or ()):
            hooks.RENDERED.put(recorded.id, number, drawn)
        metrics = self._hook(document, list(sent))
        fresh = from_earlier_json(metrics[KEY], "the task's hook")
        if (recorded.judgement is None) != (fresh.judgement is None):
            raise UserError(
                f"question {recorded.id!r} is judged now and was not, or the other way round: run it again."
            )
        if recorded.judgement is None:
            return fresh, metrics, set()
        judgement, changed = self._judgement(document, sent, recorded, fresh)
        scored = getattr(self._hook, "metrics_of", None)
        if scored is None:
            raise UserError("its hook does not say how a record is scored (records.scored_by).")
        metrics = scored(replace(fresh, judgement=judgement))
        return from_earlier_json(metrics[KEY], "the task's hook"), metrics, changed

    def _judgement(
        self, document: Mapping[str, Any], sent: Sequence[SentReply], recorded: Record, fresh: Record
    ) -> tuple[Judgement, set[int]]:
        old, new = recorded.judgement, fresh.judgement
        assert old is not None and new is not None
        protocol = self._protocols.get(old.judge["protocol"]) or registry.get(old.judge["protocol"])
        items = records.items_of(document, sent, protocol)
        verdicts, changed = [], set()
        for place, (item, given) in enumerate(zip(items, old.verdicts, strict=True)):
            if _is_same(place, item, recorded, fresh, sent[place]):
                verdicts.append(given)
                continue
            changed.add(place)
            made = item and (settled(protocol, item) or Verdict("missing", reason=records.NOT_JUDGED))
            trials = stage.trials_of(protocol, old.judge.get("settings", {})) if made else 0
            verdicts.append(tuple(records.to_json(made, protocol) for _ in range(trials) if made))
        return replace(new, judge=old.judge, verdicts=tuple(verdicts)), changed


def _is_same(place: int, item: Item | None, recorded: Record, fresh: Record, sent: SentReply) -> bool:
    """Whether the judge would be shown what it was shown.

    Where the data's terms keep that out of the log: whether the same marks were taken out of the same reply.
    """
    assert recorded.judgement is not None
    shown = recorded.judgement.items
    if isinstance(shown, str):
        note, reply = _note(recorded, place), Reply.of(sent)
        then = recorded.trials[place], tuple(note.get("marks", ())), note.get("unknown_mark", "")
        has_item = bool(recorded.judgement.verdicts[place])
        return then == (fresh.trials[place], reply.marks, reply.unknown_mark) and has_item == (item is not None)
    given = shown[place]
    return (given and dict(given)) == (item and dict(item.fields))


def _note(record: Record, place: int) -> Mapping[str, Any]:
    return record.replies[place] if place < len(record.replies) else {}


def _moved(task: str, recorded: Record, fresh: Record, changed: set[int], texts: Sequence[str | None]) -> list[Moved]:
    """The replies of which something else is read, and those that a judge is shown in another way."""
    found = []
    for place, (before, after, text) in enumerate(zip(recorded.trials, fresh.trials, texts, strict=True)):
        if before == after and place not in changed:
            continue
        rule = str(_note(fresh, place).get("rule", ""))
        was, now = _judged(recorded, place, before), _judged(fresh, place, after)
        found.append(Moved(task, recorded.id, place + 1, was, now, rule, text))
    # A measure that only one of the two has moves no reply.
    both = recorded.measures.keys() & fresh.measures.keys()
    names = sorted(name for name in both if recorded.measures[name] != fresh.measures[name])
    if names and not found:
        was, now = (", ".join(f"{name} {each.measures[name].score}" for name in names) for each in (recorded, fresh))
        found.append(Moved(task, recorded.id, 1, was, now, "", texts[0]))
    return found


def _judged(record: Record, place: int, trial: str) -> str:
    """What was read of a reply, and of one that is judged whether it was."""
    verdicts = record.judgement.verdicts[place] if record.judgement else ()
    if not verdicts or trial in (*NO_ANSWER, FAILED):
        return trial
    return "not judged" if any(each["status"] == "missing" for each in verdicts) else "judged"


def _asked_alike(config: Mapping[str, Any], today: Any) -> bool:
    """Whether the run's prompt and pictures are those of the task as it is now, as far as their digests tell."""
    then, now = ((each or {}).get("digests") or {} for each in (config.get("metadata"), today.metadata))
    return all(then.get(part) == now.get(part) for part in ("prompt", "degradations"))


# --- The new result file ----------------------------------------------------------------------------------------------


def _put(content: dict[str, Any], done: Reread, definitions: rescoring.Definitions, tags: Tags | None) -> None:
    """Put a task's numbers into a result file, and whose readers they are of."""
    task, loaded = done.task, definitions.loaded(done.task)
    entry = content["results"][task]
    content["results"][task] = {"alias": entry.get("alias", task), **done.results}
    for name, direction in loaded.higher_is_better().items():
        content.setdefault("higher_is_better", {}).setdefault(task, {}).setdefault(name, direction)
    today, metadata = loaded.config.metadata, dict(content["configs"][task]["metadata"])
    now = today.get("digests") or {}
    own = {part: now[part] for part in ("package", "own_code") if part in now}
    metadata["digests"] = {**(metadata.get("digests") or {}), **own}
    # A prompt of another version stays one: only who reads is of today.
    if done.asked_alike and "version" in today:
        metadata["version"], metadata["package_version"] = today["version"], importlib.metadata.version("lmms-medtasks")
        content.setdefault("versions", {})[task] = today["version"]
    if today.get("package_modified"):
        metadata["package_modified"] = True
    if tags is not None:
        told = {**(metadata.get(run_options.METADATA) or {}), run_options.REASONING_TAGS: [list(each) for each in tags]}
        metadata[run_options.METADATA] = told
    content["configs"][task]["metadata"] = metadata


class _Base(NamedTuple):
    base: str


def _pair(content: dict[str, Any], done: Sequence[Reread], definitions: rescoring.Definitions) -> None:
    """Pair degraded tasks with their clean ones anew, as the run did, where either has moved.

    Where neither has, what the run found stays.
    """
    same = {each.task for each in done if each.stands}
    bases = {each.task: base for each in done if (base := degraded.base_of(each.task, content["configs"][each.task]))}
    bases = {task: base for task, base in bases.items() if not {task, base} <= same}
    paired = [each for each in done if each.task in {*bases, *bases.values()}]
    for each in paired:
        for row in each.rows:
            if degraded.SCORES in row:
                row[degraded.SCORES] = {}  # in its place
    for task in bases:
        metadata = content["configs"][task]["metadata"]
        told = metadata[degraded.METADATA]
        kept = {key: value for key, value in told.items() if key not in ("scores", "best_scores")}
        metadata[degraded.METADATA] = kept
    samples = {"samples": {each.task: each.rows for each in paired}}
    shown: Any = {task: _Base(base) for task, base in bases.items()}
    degraded_pairing.pair({**content, **samples}, {each.task: definitions.loaded(each.task) for each in paired}, shown)


def _provenance(run: Run, tasks: Sequence[str], tags: Tags | None) -> dict[str, Any]:
    logs = {task: digests.digest(run.samples_file(task).read_bytes()) for task in tasks}
    return {
        "date": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "version": importlib.metadata.version("lmms-medtasks"),
        "of": {"file": run.path.name, "digest": digests.digest(run.path.read_bytes()), "logs": logs},
        **({} if tags is None else {"reasoning_tags": [list(each) for each in tags]}),
    }


def _number(value: Any) -> float | None:
    """A metric's number, None where it has none."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and not math.isnan(value) else None
