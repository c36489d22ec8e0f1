"""A user's marks of thoughts, from ``--reasoning_tags`` or a task's YAML, and the way of replies to scoring hooks.

The harness removes marked thoughts before a hook sees a reply, and passes on a plain text, without its ending. That
step is switched off for our tasks: a hook gets each reply as a :class:`SentReply` with the user's marks, and
:mod:`lmms_medtasks.parsing.reply`, which knows more marks, splits it.
"""

from __future__ import annotations

import contextlib
import functools
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from typing import Any

from lmms_medtasks.harness.calls import gather_values, reply_length_limit
from lmms_medtasks.harness.replacing import wrap_method
from lmms_medtasks.parsing.reply import Reply, SentReply, Tags
from lmms_medtasks.progress import print_message
from lmms_medtasks.samples.run_options import TAGS_OPTION, parse_given_tags

METADATA, UNKNOWN = "reasoning_tags", "unknown_marks"
"""Keys of a task's metadata: the user's own tags, as a list of pairs; unknown mark -> replies that begin with it."""


def take_over_reasoning_tags(tasks: Iterable[Any], options: Mapping[str, Any]) -> dict[str, Tags]:
    """Our task -> its tags, which are put into its metadata; the harness strips nothing from its replies any more.

    ``options``: the arguments of the harness's ``evaluate`` by name. Raises UserError for tags that are not pairs.
    """
    chosen = parse_given_tags(getattr(options.get("cli_args"), "reasoning_tags", None), TAGS_OPTION)
    tags_by_task = {}
    for task in tasks:
        config = task.config
        task_tags = parse_given_tags(getattr(config, "reasoning_tags", None), f"{config.task}, reasoning_tags:")
        tags_by_task[str(config.task)] = tags = tuple(dict.fromkeys((*task_tags, *chosen)))
        config.reasoning_tags, config.auto_strip_thinking = "none", False
        if tags:
            config.metadata = {**config.metadata, METADATA: [list(pair) for pair in tags]}
    return tags_by_task


@contextlib.contextmanager
def hand_over_reasoning_tags(tasks: Iterable[Any], tags: Mapping[str, Tags]) -> Iterator[dict[str, Counter[str]]]:
    """Let the filters of these tasks be given and give :class:`SentReply`, until the end.

    Gives task -> unknown mark -> number of replies of all processes that begin with it, filled as filters run.
    """
    unknown: dict[str, Counter[str]] = {}
    with contextlib.ExitStack() as changed:
        for task in {id(task): task for task in tasks}.values():
            wrapper = functools.partial(_filter_sent, task, tags.get(str(task.config.task), ()), unknown)
            changed.enter_context(wrap_method(task, "apply_filters", wrapper))
        yield unknown


def _filter_sent(
    task: Any, tags: Tags, unknown: MutableMapping[str, Counter[str]], original: Any, *args: Any, **kwargs: Any
) -> Any:
    for instance in task.instances:
        limit = reply_length_limit(instance)
        instance.resps = [_sent_reply(reply, tags, limit=limit) for reply in instance.resps]
    filtered_result = original(*args, **kwargs)
    marks: Counter[str] = Counter()
    for instance in task.instances:
        filtered = instance.filtered_resps
        for name, replies in filtered.items():
            filtered[name] = _as_sent(replies, instance.resps, tags)
        marks.update(Reply.of(reply).unknown_mark for reply in instance.resps if isinstance(reply, SentReply))
    del marks[""]
    unknown[str(task.config.task)] = sum(gather_values(marks), Counter())
    return filtered_result


def _sent_reply(reply: Any, tags: Tags, like: Any = "", limit: int | None = None) -> Any:
    """A text as :class:`SentReply` with these tags; a plain text has the ending and limit of ``like``."""
    if not isinstance(reply, str):
        return reply
    known = reply if isinstance(reply, SentReply) else like if isinstance(like, SentReply) else SentReply(reply)
    return SentReply(str(reply), known.ended, known.limit or limit, tags)


def _as_sent(replies: Any, sent: list[Any], tags: Tags) -> Any:
    """The output of a filter, which may be new texts: each has the ending of the reply that it was made of."""
    if not isinstance(replies, list):
        return _sent_reply(replies, tags, sent[0] if sent else "")
    whose = sent if len(sent) == len(replies) else [""] * len(replies)
    return [_sent_reply(reply, tags, like) for reply, like in zip(replies, whose, strict=True)]


def note_unknown_marks(results: Any, unknown: Mapping[str, Mapping[str, int]]) -> Any:
    """Return the harness's results with the unknown marks in the tasks' metadata, and print each mark on stderr.

    A process without results does neither.
    """
    if not results:
        return results
    for task, marks in unknown.items():
        config = results["configs"].get(task)
        if marks and config:
            config["metadata"] = {**(config.get("metadata") or {}), UNKNOWN: dict(marks)}
    for message in _unknown_mark_messages(unknown):
        print_message(message)
    return results


def _unknown_mark_messages(unknown: Mapping[str, Mapping[str, int]]) -> Iterator[str]:
    """A message for each unknown mark that replies of the run began with."""
    marks: Counter[str] = sum((Counter(task_marks) for task_marks in unknown.values()), Counter())
    for mark, count in marks.most_common():
        tasks = sorted(task for task, task_marks in unknown.items() if task_marks.get(mark))
        closing = mark.replace("<", "</", 1) if mark.startswith("<") and "|" not in mark else "CLOSING MARK"
        pair = json.dumps([[mark, closing]], ensure_ascii=False)
        yield (
            f"lmms-medtasks: {count:,} replies begin with the mark {mark}, which is not known ({', '.join(tasks)}). No "
            f"answer is read before its end. If thoughts stand in it, run again with {TAGS_OPTION} '{pair}'."
        )
