"""What a sample log was made of, and whether its scores follow from that.

It was made of its task's documents, which are taken from the data that are here, and of the replies as they were sent.
Each reply can be read again by the task's own hook. Verdicts of a judge are taken as they are recorded; that the judge
was shown what follows from the reply, and that a rule settled what is said to be settled by a rule, is checked.
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

_COMPARED = ("id", "cluster", "trials", "expected", "measures", "tags", "pair")


def documents(run: ResultFile, task: str, definitions: TaskDefinitions) -> dict[str, Mapping[str, Any]]:
    """The documents of a task of ``run`` by their ids, without pictures; of a run of a subset those of the whole.

    Raises UserError where the data are not here, or are others than the run's.
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
    """The reasoning tags of the user's own that a task was run with; () for the harness's, which are known.

    Raises UserError where they are none, as in an edited result file.
    """
    # The task's own, as its YAML has them, stand there too.
    task_tags = (run.content["configs"][task].get("metadata") or {}).get(REASONING_TAGS)
    logged_tags = task_tags or _given_tags(run, task)
    known = {tuple(each) for each in HARNESS_TAGS}
    where = f"{run.path}, the run's --reasoning_tags"
    return tuple(tag for tag in parse_tags(logged_tags, where) if tag not in known) if logged_tags else ()


def _given_tags(run: ResultFile, task: str) -> Any:
    """What the harness stripped replies by, as it was given; None where it stripped nothing."""
    task_option = ((run.content["configs"][task].get("metadata") or {}).get(METADATA) or {}).get(REASONING_TAGS)
    run_option = ((run.content.get("config") or {}).get("resolved_cli_args") or {}).get(REASONING_TAGS)
    logged_tags = next((each for each in (task_option, run_option) if each is not None), None)
    if isinstance(logged_tags, str):
        try:
            logged_tags = json.loads(logged_tags)
        except ValueError:
            return None  # "none"
    return logged_tags


def read_sent_replies(
    run: ResultFile, task: str, row: Mapping[str, Any], record: QuestionRecord, where: str, tags: Tags
) -> list[SentReply]:
    """The replies in a row of a task's log as they were sent, as far as it holds them, with why each ended.

    Where the data's terms keep them out of the log they are those that this machine keeps. ``tags``: of thoughts,
    beside those that are known. Raises UserError, with the line's place ``where``, for replies that are not here, and
    where their number is not that of the record's trials.
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
    """Replies in any of the forms that the harness writes them in; [] where there are none."""
    while isinstance(logged, list) and len(logged) == 1 and isinstance(logged[0], list):
        logged = logged[0]
    return [str(each) for each in (logged if isinstance(logged, list) else [] if logged is None else [logged])]


def _as_sent(filtered: Sequence[str], raw: Sequence[str], tags: Sequence[Sequence[str]]) -> list[str]:
    """The replies before the harness took thoughts out, where these are what it took the others of."""
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
    """What of a task's log does not follow from the replies in it, a sentence for each question.

    Raises UserError where the task's data are not here, are others than the run's, or the log holds no replies.
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
    """What of a question's record does not follow from its replies."""
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
    """What of a judgement is not what the replies give: the items shown, or what a rule is said to have settled."""
    protocol = records.judgement_protocol(recorded)
    items = records.make_judged_items(document, replies, protocol)
    if not isinstance(recorded.items, str) and [each and dict(each.fields) for each in items] != list(recorded.items):
        return ["what the judge was shown"]
    pairs = zip(items, recorded.verdicts, strict=False)
    if len(items) != len(recorded.verdicts) or any(_not_settled(protocol, item, given) for item, given in pairs):
        return ["what a rule settled"]
    return []


def _not_settled(protocol: Any, item: JudgedItem | None, verdicts: tuple[Mapping[str, Any], ...]) -> bool:
    """Whether verdicts are said to be a rule's, or a judge's, and are the other's."""
    rule = item and protocol.settle(item)
    if rule is None:
        return any(verdict["status"] == "exact" for verdict in verdicts)
    return any(verdict["status"] == "judged" or dict(verdict["labels"]) != dict(rule[0]) for verdict in verdicts)
