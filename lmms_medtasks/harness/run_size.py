"""What a run is about to ask, said before its first request: only what is known without asking anything.

How long replies take, and how many tokens a model reads and writes, ``lmms-medtasks run --estimate`` measures; what it
said of the same command stands in :data:`stamps.ESTIMATED`.
"""

from __future__ import annotations

import contextlib
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lmms_medtasks.harness import calls, judged, stamps
from lmms_medtasks.harness.replacing import wrap_method
from lmms_medtasks.progress import print_message
from lmms_medtasks.short_texts import count_noun

if TYPE_CHECKING:
    from lmms_medtasks.judges.protocol import JudgeProtocol, Mode

_LOOKED_AT = 20
"""Questions of a task from which the length of a judge's prompt is known."""
_HOOKS = "lmms_medtasks."
"""Where the hooks are that show each question's ``image`` or ``images``."""


@dataclass(frozen=True)
class RunSize:
    """How much is asked.

    ``tasks``: their number. ``questions``, ``requests``: of all of them, a request for each trial. ``pictures``: in all
    requests, None if a task's are not known. ``tokens``: most of all replies, None if a request has no limit.
    """

    tasks: int
    questions: int
    requests: int
    pictures: int | None
    tokens: int | None

    def sentence(self) -> str:
        asked = f"{count_noun(self.requests, 'request')} for {count_noun(self.questions, 'question')}"
        images = "" if self.pictures is None else f", with {count_noun(self.pictures, 'image')}"
        replies = "" if self.tokens is None else f"; all replies together have at most {self.tokens:,} tokens"
        return f"{asked} of {count_noun(self.tasks, 'task')}{images}{replies}."


@contextlib.contextmanager
def say_size_before_asking(lm: Any, tasks: Iterable[Any]) -> Iterator[None]:
    """Print what ``lm`` is asked, and what its judge may be, at its first call.

    To be entered last: the harness's call then has the requests of all tasks. Each process has to make that call.
    """
    task_by_name = {str(task.config.task): task for task in tasks}
    said: list[RunSize] = []

    def generate_until(original: Any, requests: list[Any], **kwargs: Any) -> Any:
        if not said:
            own = [request for request in requests if not (request.metadata or {}).get(calls.PADDING)]
            by_rank = calls.gather_values((count_size(own, task_by_name), Counter(each.task_name for each in own)))
            said.append(_add_sizes([size for size, _ in by_rank]))
            if os.environ.get("RANK", "0") == "0":
                replies = sum((counts for _, counts in by_rank), Counter[str]())
                rest = _rest_sentences(replies, task_by_name, is_instant=bool(getattr(lm, "is_instant", False)))
                print_message(f"lmms-medtasks: {said[0].sentence()}")
                if rest:
                    print_message(f"lmms-medtasks: {' '.join(rest)}")
        return original(requests, **kwargs)

    with wrap_method(lm, "generate_until", generate_until):
        yield


def count_size(requests: Iterable[Any], tasks: Mapping[str, Any]) -> RunSize:
    """The size of these requests, in which that of a question stands once for each trial."""
    trials = Counter((request.task_name, request.doc_id) for request in requests)
    limits = [next((argument.get("max_new_tokens") for argument in request.args if isinstance(argument, dict)), None)
              for request in requests]  # fmt: skip
    asked = {task for task, _ in trials}
    per_question = {task: _count_pictures(tasks[task]) for task in asked}
    pictures = [None if (counts := per_question[task]) is None else counts[question] * number
                for (task, question), number in trials.items()]  # fmt: skip
    return RunSize(len(asked), len(trials), trials.total(), _sum_known(pictures), _sum_known(limits))


def _add_sizes(sizes: list[RunSize]) -> RunSize:
    """The size of a run, of those of its processes, which have other questions of the same tasks."""
    return RunSize(
        max(size.tasks for size in sizes),
        sum(size.questions for size in sizes),
        sum(size.requests for size in sizes),
        _sum_known([size.pictures for size in sizes]),
        _sum_known([size.tokens for size in sizes]),
    )


def _sum_known(numbers: list[int | None]) -> int | None:
    return None if None in numbers else sum(filter(None, numbers))


def _count_pictures(task: Any) -> list[int] | None:
    """The number of images of each question, without reading one; None if other hooks than ours show them."""
    import pyarrow.compute as pc

    if (getattr(task, "lmms_eval_specific_kwargs", None) or {}).get("no_image"):
        return [0] * len(task.eval_docs)
    hook = getattr(task.config.doc_to_visual, "__module__", None) or ""
    table = getattr(task.eval_docs, "data", None)
    if not hook.startswith(_HOOKS) or table is None or not {"image", "images"} & set(table.column_names):
        return None
    counts = [0] * len(table)
    if "image" in table.column_names:
        counts = [int(known) for known in pc.is_valid(table.column("image")).to_pylist()]
    if "images" in table.column_names:
        several = pc.list_value_length(table.column("images")).to_pylist()
        counts = [number or one for number, one in zip(several, counts, strict=True)]
    # The rows that a filter left, in their order.
    rows = getattr(task.eval_docs, "_indices", None)
    return counts if rows is None else [counts[row] for row in rows.column(0).to_pylist()]


def _rest_sentences(replies: Mapping[str, int], tasks: Mapping[str, Any], *, is_instant: bool) -> list[str]:
    """How to know what is not known yet, and how often the judge may be asked; [] if nothing is to be said."""
    sentences = []
    if not is_instant:
        measure = "Time, tokens and price: the same command with --estimate asks 20 questions of each task."
        sentences.append(os.environ.get(stamps.ESTIMATED) or measure)
    protocols = [(name, protocol) for name in replies for protocol in judged.find_judge_protocols(tasks[name].config)]
    if not protocols:
        return sentences
    from lmms_medtasks.judges import identity, settings
    from lmms_medtasks.judges.protocol import count_judging_trials

    judge = settings.read_judge_settings()
    if judge.is_llm:
        most, cost = 0, 0.0
        for name, protocol in protocols:
            times = replies[name] * count_judging_trials(protocol, identity.asked_settings(judge, protocol))
            most += times
            if judge.price:
                tokens = _mean_prompt_tokens(tasks[name], protocol, identity.mode_of(judge, protocol))
                tokens += (tasks[name].config.generation_kwargs or {}).get("max_new_tokens") or 0
                cost += judge.price.total_cost(times * tokens, times * settings.default_settings()["reply_tokens"])
        ceiling = (
            f", for at most {judge.max_cost:.4g} USD" if judge.max_cost is not None
            else f", for about {cost:,.2f} USD if each of the model's replies is as long as it may be" if judge.price
            else "" if judge.provider == "local"
            else "; MEDTASKS_JUDGE_MAX_COST sets a ceiling on its price"
        )  # fmt: skip
        if judge.max_requests is not None and judge.max_requests < most:
            said = f"is asked at most {judge.max_requests:,} times"
        else:
            said = f"gives at most {most:,} judgements (more requests where a reply must be repeated)"
        sentences.append(f"The judge {judge.name} {said}{ceiling}.")
    return sentences


def _mean_prompt_tokens(task: Any, protocol: JudgeProtocol, mode: Mode) -> float:
    """About how many tokens a judge's prompt has without the model's reply, from the task's first questions."""
    from itertools import islice

    from lmms_medtasks.judges import budget, prompts, records

    items = [item for doc in islice(task.eval_docs_no_media, _LOOKED_AT)
             for item in records.make_judged_items(doc, ["x"], protocol) if item]  # fmt: skip
    tokens = [budget.estimated_tokens(prompts.render_prompt(protocol, item, mode).text) for item in items]
    return sum(tokens) / len(tokens) if tokens else 0.0
