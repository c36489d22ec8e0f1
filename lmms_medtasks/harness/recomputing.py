"""A run's scores computed again from its replies: each is read by the task's own hook, on the data that are here.

Verdicts of a judge are taken as they are recorded; that the judge was shown what follows from the reply, and that a
rule settled what is said to be settled by a rule, is checked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from lmms_medtasks.errors import UserError
from lmms_medtasks.harness import logged_questions
from lmms_medtasks.harness.rescoring import Definitions
from lmms_medtasks.judges import records
from lmms_medtasks.judges.protocol import Item
from lmms_medtasks.record import KEY, Judgement, Record, from_json
from lmms_medtasks.samples.result_files import Run

_COMPARED = ("id", "cluster", "trials", "expected", "measures", "tags", "pair")


def differences(run: Run, task: str, definitions: Definitions) -> Iterator[str]:
    """What of a task's log does not follow from the replies in it, a sentence for each question.

    Raises UserError where the task's data are not here, are others than the run's, or the log holds no replies.
    """
    documents = logged_questions.documents(run, task, definitions)
    hook, tags = definitions.of(task)["process_results"], logged_questions.tags_of(run, task)
    seen = set()
    for line, row in run.rows(task):
        where = f"{run.samples_file(task)}, line {line}"
        recorded = from_json(row.get(KEY), where)
        if recorded.id not in documents:
            yield f"{where}: there is no question {recorded.id!r} in the data that are here."
            continue
        replies = logged_questions.replies(run, task, row, recorded, where, tags)
        seen.add(recorded.id)
        if different := _different(hook, documents[recorded.id], replies, recorded):
            yield f"{where}: question {recorded.id!r}: {', '.join(different)} do not follow from its replies."
    if left := len(set(documents) - seen):
        yield f"{task}: {left:,} of {len(documents):,} questions are not in the log."


def _different(hook: Any, document: Mapping[str, Any], replies: list[Any], recorded: Record) -> list[str]:
    fresh = from_json(hook(document, replies)[KEY], "the task's hook")
    found = []
    if recorded.judgement is not None and fresh.judgement is not None:
        found += _other_judgement(document, replies, recorded.judgement)
        scored = getattr(hook, "metrics_of", None)
        if scored is None:
            raise UserError("The task's hook does not say how a record is scored (records.scored_by).")
        fresh = from_json(scored(replace(fresh, judgement=recorded.judgement))[KEY], "the task's hook")
    elif recorded.judgement is not fresh.judgement:
        found.append("judgement")
    one, other = recorded.to_json(), fresh.to_json()
    return [*found, *(name for name in _COMPARED if one.get(name) != other.get(name))]


def _other_judgement(document: Mapping[str, Any], replies: list[Any], recorded: Judgement) -> list[str]:
    """What of a judgement is not what the replies give: the items shown, or what a rule is said to have settled."""
    protocol = records.protocol_of(recorded)
    items = records.items_of(document, replies, protocol)
    if not isinstance(recorded.items, str) and [each and dict(each.fields) for each in items] != list(recorded.items):
        return ["what the judge was shown"]
    pairs = zip(items, recorded.verdicts, strict=False)
    if len(items) != len(recorded.verdicts) or any(_not_settled(protocol, item, given) for item, given in pairs):
        return ["what a rule settled"]
    return []


def _not_settled(protocol: Any, item: Item | None, verdicts: tuple[Mapping[str, Any], ...]) -> bool:
    """Whether verdicts are said to be a rule's, or a judge's, and are the other's."""
    rule = item and protocol.settle(item)
    if rule is None:
        return any(each["status"] == "exact" for each in verdicts)
    return any(each["status"] == "judged" or dict(each["labels"]) != dict(rule[0]) for each in verdicts)
