"""The stage between generation and scoring: all open answers of a task are judged at once, before any is scored.

The harness scores documents in few threads, one request after the other, and an error there ends the run. So the
answers of a task with a judge protocol are judged as soon as its filters have run, with as many requests in flight as
the judge takes. The scoring hooks find the verdicts in :data:`lmms_medtasks.judges.records.TABLE`.
"""

from __future__ import annotations

import contextlib
import functools
import os
import uuid
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from lmms_medtasks.errors import UserError
from lmms_medtasks.harness import relied_on, stamps
from lmms_medtasks.harness.replacing import replace_attribute
from lmms_medtasks.judges import identity, prompts, records, registry, settings
from lmms_medtasks.judges.budget import SharedBudget
from lmms_medtasks.judges.judging import JudgeSession, JudgingCounts, Wanted
from lmms_medtasks.judges.protocol import JudgeProtocol, count_judging_trials
from lmms_medtasks.judges.records import TABLE
from lmms_medtasks.judges.registry import task_protocols
from lmms_medtasks.short_texts import listed_or_counted

WITHHELD = "withheld: the terms of its data"


def check_judge_use(configs: Sequence[Any]) -> None:
    """Raise UserError for a judge that is misconfigured or may not judge these tasks; nothing is sent.

    Also if two tasks have one protocol with two prompts or rules. To be called before a model is loaded.
    """
    protocols = [protocol for config in configs for protocol in task_protocols(config)]
    first: dict[str, JudgeProtocol] = {}
    for protocol in protocols:
        first_of_name = first.setdefault(protocol.name, protocol)
        if prompts.prompt_digest(first_of_name) != prompts.prompt_digest(protocol):
            raise UserError(
                f"Tasks of this run name two prompts or rules for the judge protocol {protocol.name!r}: "
                f"{first_of_name.prompt} and {protocol.prompt}. Run them apart."
            )
    if protocols:
        relied_on.check_harness_has(relied_on.JUDGED)
        under_terms = [protocol for config in configs for protocol in registry.protocols_under_terms(config)]
        JudgeSession(settings.read_judge_settings(), under_terms).close()


def _remove_errors_without_means(results: dict[str, Any]) -> None:
    """Remove standard errors that the harness computes from scores of rules although there is no mean."""
    for key, value in results.items():
        name, _, filtered = key.partition(",")
        metric, error, _ = name.partition("_stderr")
        if error and results.get(f"{metric},{filtered}", value) is None:
            results[key] = "N/A"


class JudgingStage:
    """Judges the tasks of one evaluation that have a judge protocol."""

    def __init__(self, tasks: Iterable[Any]) -> None:
        self._tasks = [(task, protocol) for task in _unique_tasks(tasks) for protocol in task_protocols(task.config)]
        self._judge: JudgeSession | None = None
        self._changed = contextlib.ExitStack()
        self._counts: dict[str, JudgingCounts] = {}
        self._rank, self._processes = int(os.environ.get("RANK", "0")), int(os.environ.get("WORLD_SIZE", "1"))

    def __enter__(self) -> JudgingStage:
        if not self._tasks:
            return self
        chosen = settings.read_judge_settings()
        protocols = [protocol for task, _ in self._tasks for protocol in registry.protocols_under_terms(task.config)]
        share = chosen.share(self._rank, self._processes)
        budget = None
        if together := self._shared_settings(chosen):
            share = replace(share, max_requests=together.max_requests, max_cost=together.max_cost)
            budget = SharedBudget(share, self._agreed_name())
        self._judge = JudgeSession(share, protocols, budget=budget)
        for sentence in identity.describe_paper_judges(
            chosen, [(task.config.task, registry.get(protocol.name)) for task, protocol in self._tasks]
        ):
            self._say(sentence)
        for task, protocol in self._tasks:
            TABLE.set_judge(protocol, identity.describe_judge(chosen, protocol, self._judge.check_of(protocol)))
            self._judge_after_filters(task, protocol, self._judge)
        for task in _unique_tasks(task for task, _ in self._tasks):
            protocols_of_task = [protocol for each, protocol in self._tasks if each is task]
            task.config.metadata = {
                **(task.config.metadata or {}),
                "judge": identity.summarise_judge(chosen, protocols_of_task, self._judge.check_of),
            }
            if not chosen.is_llm:
                task.config.task_alias = identity.judged_task_label(task.config.task_alias or task.config.task, chosen)
        return self

    def __exit__(self, *error: object) -> None:
        if self._judge:
            self._judge.close()
            self._tell_missing()
            self._changed.close()

    def clean_results(self, results: Any) -> Any:
        """The harness's results without standard errors of missing means, and without texts that the terms withhold.

        The log keeps the document's number and our record (ids, tags, verdicts), not prompt, reply and target. Other
        processes than the first have no results (None).
        """
        for task, protocol in self._tasks if isinstance(results, dict) else ():
            _remove_errors_without_means(results.get("results", {}).get(task.config.task, {}))
            if protocol.terms:
                for sample in results.get("samples", {}).get(task.config.task, []):
                    sample.update(doc={}, target=WITHHELD, arguments=[WITHHELD], resps=[], filtered_resps=[])
                    sample.pop("input_media", None)
        return results

    def _judge_after_filters(self, task: Any, protocol: JudgeProtocol, judge: JudgeSession) -> None:
        original, last = task.apply_filters, [each for other, each in self._tasks if other is task][-1]

        def apply_filters() -> Any:
            done = original()
            before = judge.interrupted
            asking = identity.describe_judge(judge.settings, protocol)["settings"]
            answers = iter_items_to_judge(task, protocol, count_judging_trials(protocol, asking))
            verdicts, counts = judge.judge(
                protocol,
                answers,
                say=self._say,
                warn=functools.partial(self._say, level="WARNING"),
                detail=functools.partial(self._say, level="DEBUG"),
                quiet=self._rank > 0,
            )
            TABLE.put(verdicts)
            if judge.interrupted and not before:
                self._say("Judging is stopped, the replies are scored and logged. Ctrl-C again ends the run.",
                          level="WARNING")  # fmt: skip
            counts = self._counts.get(task.config.task, JudgingCounts()).and_also(counts)
            self._counts[task.config.task] = counts
            # Why, _tell_missing says once for all tasks.
            if judge.settings.is_llm and counts.total and protocol is last:
                text = f"{task.config.task}: {counts.brief()}"
                self._say(text, level="WARNING" if counts.missing else "INFO")
            return done

        self._changed.enter_context(replace_attribute(task, "apply_filters", apply_filters))

    def _tell_missing(self) -> None:
        missing = {task: counts.missing for task, counts in self._counts.items() if counts.missing}
        judged = self._judge is not None and self._judge.settings.is_llm
        how = "" if judged else f"name a judge in {settings.JUDGE}=provider:model, then give "
        why = functools.reduce(JudgingCounts.and_also, self._counts.values(), JudgingCounts()).why_missing()
        if missing:
            answers = f"{sum(missing.values())} answers of {listed_or_counted(list(missing), 3, 'tasks')}"
            self._say(f"{answers} are still to judge. "
                      "They are not counted as zero: means are over what was judged, with bounds. To judge them later, "
                      f"without the model: {how}lmms-medtasks judge RUN{why}", level="WARNING")  # fmt: skip

    def _shared_settings(self, chosen: settings.JudgeSettings) -> settings.JudgeSettings | None:
        """The budget that the processes of this machine share; None for one process, or if they can't communicate.

        Several machines have a part each, because they share no file.
        """
        import torch.distributed

        here = int(os.environ.get("LOCAL_WORLD_SIZE", "0"))
        if not chosen.is_llm or here < 2 or (chosen.max_requests is None and chosen.max_cost is None):
            return None
        if not (torch.distributed.is_available() and torch.distributed.is_initialized()):
            return None
        return chosen.share(self._rank // here, self._processes // here)

    def _agreed_name(self) -> str:
        """A unique name of this run on this machine, the same in all its processes."""
        import torch.distributed

        names: list[str | None] = [uuid.uuid4().hex if self._rank == 0 else None]
        torch.distributed.broadcast_object_list(names, src=0)
        return f"{names[0]}/{self._rank // int(os.environ['LOCAL_WORLD_SIZE'])}"

    def _say(self, text: str, *, level: str = "INFO") -> None:
        """Write to the harness's log; of several processes all write warnings, and only the first one the rest."""
        from loguru import logger

        if os.environ.get(stamps.CALL_TIMES):
            return  # an estimate asks no judge, and says at its end what one would be asked
        if self._rank == 0 or level == "WARNING":
            part = f"(process {self._rank} of {self._processes}) " if self._processes > 1 else ""
            logger.log(level, f"{part}{text}")


def iter_items_to_judge(task: Any, protocol: JudgeProtocol, trials: int) -> Iterator[Wanted]:
    """The items of a task to judge after its filters have run, equal to those that its scoring hook will make."""
    from lmms_eval.api.reasoning import parse_reasoning_tags_config, strip_reasoning_tags

    documents = task.eval_docs_no_media
    tags = parse_reasoning_tags_config(
        cli_value=getattr(getattr(task, "args", None), "reasoning_tags", None),
        task_value=getattr(task.config, "reasoning_tags", None),
    )
    for instance in task.instances:
        for replies in instance.filtered_resps.values():
            # In the form in which the evaluator passes them to process_results.
            several = replies if isinstance(replies, list) else [replies]
            stripped = [
                strip_reasoning_tags(reply, tags) if tags is not None and reply else reply or "" for reply in several
            ]
            for item in records.make_judged_items(documents[instance.doc_id], stripped, protocol):
                if item is not None:
                    yield from ((item, trial) for trial in range(trials))


def _unique_tasks(tasks: Iterable[Any]) -> list[Any]:
    return list({id(task): task for task in tasks}.values())
