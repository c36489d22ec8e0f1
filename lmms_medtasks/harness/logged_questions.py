"""The documents and replies of a sample log, and a check that its scores follow from them.

The documents come from the data on this machine. Each reply can be parsed again by the task's own hook. A judge's
verdicts are taken from the log; checked is that the judge was shown what follows from the reply, and that verdicts of
rules are right.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from lmms_medtasks.data import subsets
from lmms_medtasks.errors import UserError
from lmms_medtasks.harness.rescoring import TaskDefinitions, record_scorer
from lmms_medtasks.judges import records, withheld
from lmms_medtasks.judges.protocol import JudgedItem
from lmms_medtasks.parsing.reply import SentReply, Tags, parse_tags
from lmms_medtasks.record import KEY, QuestionJudgement, QuestionRecord, record_from_json
from lmms_medtasks.samples.result_files import ResultFile
from lmms_medtasks.samples.run_options import HARNESS_TAGS, METADATA, REASONING_TAGS
from lmms_medtasks.samples.runs import list_logged_replies

_COMPARED = ("id", "cluster", "trials", "expected", "measures", "tags", "pair")


def documents(run: ResultFile, task: str, definitions: TaskDefinitions) -> dict[str, Mapping[str, Any]]:
    """All documents of a task of ``run`` by their ids, without pictures, also if the run was of a subset.

    Raises UserError if the data are missing, or differ from the run's.
    """
    metadata = run.content["configs"][task].get("metadata") or {}
    loaded = definitions.load_task(task)
    recorded, here = metadata.get("data_digest"), (loaded.config.metadata or {}).get("data_digest")
    if subset := metadata.get("subset"):
        here = subsets.digest_of(str(here), subsets.DataSubset(subset["size"], subset["seed"]))
    if recorded != here:
        raise UserError(f"{run.path}, {task}: the run read data of digest {recorded}, here are data of digest {here}.")
    return {str(document["id"]): document for document in loaded.eval_docs_no_media}


def read_reasoning_tags(run: ResultFile, task: str) -> Tags:
    """The custom reasoning tags that a task was run with, without those of the harness.

    Raises UserError if they are not tags, as in an edited result file.
    """
    # Tags of the task's own YAML are there too.
    task_tags = (run.content["configs"][task].get("metadata") or {}).get(REASONING_TAGS)
    logged_tags = task_tags or _given_tags(run, task)
    known = {tuple(each) for each in HARNESS_TAGS}
    where = f"{run.path}, the run's --reasoning_tags"
    return tuple(tag for tag in parse_tags(logged_tags, where) if tag not in known) if logged_tags else ()


def _given_tags(run: ResultFile, task: str) -> Any:
    """The tags by which the harness removed thoughts from replies, in the form of the option; None for no tags."""
    task_option = ((run.content["configs"][task].get("metadata") or {}).get(METADATA) or {}).get(REASONING_TAGS)
    run_option = ((run.content.get("config") or {}).get("resolved_cli_args") or {}).get(REASONING_TAGS)
    logged_tags = run_option if task_option is None else task_option
    if isinstance(logged_tags, str):
        try:
            logged_tags = json.loads(logged_tags)
        except ValueError:
            return None  # "none"
    return logged_tags


def read_sent_replies(
    run: ResultFile, task: str, row: Mapping[str, Any], record: QuestionRecord, where: str, tags: Tags
) -> list[SentReply]:
    """The replies in a row of a task's log as the model sent them, with the reason why each ended.

    If the data's terms keep them out of the log, they come from this machine's store. ``tags``: custom reasoning tags.
    Raises UserError, beginning with ``where``, for missing replies, and if their number is not that of the trials.
    """
    texts = _reply_texts(row.get("filtered_resps"))
    if texts:
        sent = _as_sent(texts, _reply_texts(row.get("resps")), _given_tags(run, task) or HARNESS_TAGS)
    else:
        sent = _recall_replies(record, where)
    if len(sent) != len(record.trials):
        raise UserError(
            f"{where}: the row has {len(sent)} replies, its record says what was read of {len(record.trials)}. Was the "
            "log edited?"
        )
    notes = [*record.replies, *({} for _ in sent[len(record.replies) :])]
    return [
        SentReply(text, note.get("ended", ""), note.get("limit"), tags) for text, note in zip(sent, notes, strict=False)
    ]


def _reply_texts(logged: Any) -> list[str]:
    return [] if logged is None else list(map(str, list_logged_replies(logged)))


def _as_sent(filtered: Sequence[str], raw: Sequence[str], tags: Sequence[Sequence[str]]) -> list[str]:
    """The raw replies of which the filtered ones are the text without thoughts; else the filtered ones."""
    from lmms_eval.api.reasoning import strip_reasoning_tags

    pairs = zip(filtered, raw if len(raw) == len(filtered) else filtered, strict=True)
    pairs_of_tags = [list(tag) for tag in tags]
    return [sent if strip_reasoning_tags(sent, pairs_of_tags) == text.strip() else text for text, sent in pairs]


def _recall_replies(record: QuestionRecord, where: str) -> list[str]:
    digests = record.judgement.replies if record.judgement else None
    if not digests:
        raise UserError(
            f"{where}: the log holds no replies (the data's terms keep them out), so nothing can be read again."
        )
    recalled = [withheld.find_withheld_reply(str(digest)) for digest in digests]
    if lost := recalled.count(None):
        raise UserError(
            f"{where}: the data's terms keep replies out of the log, and {lost} of {len(recalled)} of question "
            f"{record.id!r} are not on this machine. Where the model was run they are."
        )
    return [each for each in recalled if each is not None]


def iter_recomputed_differences(run: ResultFile, task: str, definitions: TaskDefinitions) -> Iterator[str]:
    """A sentence for each question of a task's log whose record does not follow from its replies.

    Raises UserError if the task's data are missing or differ from the run's, or the log holds no replies.
    """
    questions = documents(run, task, definitions)
    hook, tags = definitions.get_definition(task)["process_results"], read_reasoning_tags(run, task)
    seen: set[str] = set()
    for line, row in run.rows(task):
        where = f"{run.samples_file(task)}, line {line}"
        recorded = record_from_json(row.get(KEY), where)
        if recorded.id not in questions:
            yield f"{where}: there is no question {recorded.id!r} in the data that are here."
            continue
        sent = read_sent_replies(run, task, row, recorded, where, tags)
        seen.add(recorded.id)
        if different := _different_fields(hook, questions[recorded.id], sent, recorded, task):
            yield f"{where}: question {recorded.id!r}: {', '.join(different)} do not follow from its replies."
    if left := len(set(questions) - seen):
        yield f"{task}: {left:,} of {len(questions):,} questions are not in the log."


def _different_fields(
    hook: Any, document: Mapping[str, Any], replies: Sequence[SentReply], recorded: QuestionRecord, task: str
) -> list[str]:
    """The fields of a question's record that do not follow from its replies."""
    fresh = record_from_json(hook(document, list(replies))[KEY], "the task's hook")
    different = []
    if recorded.judgement is not None and fresh.judgement is not None:
        different += _other_judgement(document, replies, recorded.judgement)
        metrics = record_scorer(task, hook)(replace(fresh, judgement=recorded.judgement))
        fresh = record_from_json(metrics[KEY], "the task's hook")
    elif recorded.judgement is not fresh.judgement:
        different.append("judgement")
    logged, recomputed = recorded.to_json(), fresh.to_json()
    return [*different, *(name for name in _COMPARED if logged.get(name) != recomputed.get(name))]


def _other_judgement(
    document: Mapping[str, Any], replies: Sequence[SentReply], recorded: QuestionJudgement
) -> list[str]:
    """Parts of a judgement that do not follow from the replies: the items shown, or the verdicts of rules."""
    protocol = records.judgement_protocol(recorded)
    items = records.make_judged_items(document, replies, protocol)
    if not isinstance(recorded.items, str) and [item and dict(item.fields) for item in items] != list(recorded.items):
        return ["what the judge was shown"]
    pairs = zip(items, recorded.verdicts, strict=False)
    if len(items) != len(recorded.verdicts) or any(_not_settled(protocol, item, given) for item, given in pairs):
        return ["what a rule settled"]
    return []


def _not_settled(protocol: Any, item: JudgedItem | None, verdicts: tuple[Mapping[str, Any], ...]) -> bool:
    """Whether verdicts are attributed to a rule, or to a judge, but are the other's."""
    rule = item and protocol.settle(item)
    if rule is None:
        return any(verdict["status"] == "exact" for verdict in verdicts)
    return any(verdict["status"] == "judged" or dict(verdict["labels"]) != dict(rule[0]) for verdict in verdicts)
