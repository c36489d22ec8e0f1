"""``lmms-medtasks run --estimate``: what a full run will take, from a few questions of each of its tasks."""

from __future__ import annotations

import json
import math
import os
import re
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lmms_medtasks import digests
from lmms_medtasks.cli.options import align_columns
from lmms_medtasks.errors import UserError
from lmms_medtasks.samples.result_files import ResultFile
from lmms_medtasks.short_texts import format_duration
from lmms_medtasks.writing import write_text_atomically

if TYPE_CHECKING:
    from lmms_medtasks.judges.settings import JudgeSettings

QUESTIONS = 20
"""Questions of each task that are asked."""


@dataclass(frozen=True)
class TaskEstimate:
    """What the full run of one task will take.

    Attributes:
        questions, trials: the task's. ``requests`` is their product.
        pictures: shown in all requests together; None where that could not be counted.
        tokens_in, tokens_out: of all requests together; None where the runner reports none.
        seconds: within the model's calls; None where the model was not timed.
        limit: the largest number of tokens that a reply may have; None where that is not recorded.
    """

    task: str
    questions: int
    trials: int
    pictures: float | None = None
    tokens_in: float | None = None
    tokens_out: float | None = None
    seconds: float | None = None
    limit: int | None = None

    @property
    def requests(self) -> int:
        return self.questions * self.trials

    def total_cost(self, price_in: float, price_out: float) -> float | None:
        """The price of all tokens, from prices for a million; None where the runner reports none."""
        if self.tokens_in is None or self.tokens_out is None:
            return None
        return (self.tokens_in * price_in + self.tokens_out * price_out) / 1e6


def estimate_tasks(
    runs: Iterable[ResultFile], times: dict[str, dict[str, float]], processes: int = 1
) -> list[TaskEstimate]:
    """The estimate of each task in ``runs``. ``times``: of :mod:`lmms_medtasks.harness.call_times`, one process."""
    task_estimates = []
    for run in runs:
        for task, count in run.content.get("n-samples", {}).items():
            questions = int(count["original"])
            config = run.content.get("configs", {}).get(task) or {}
            trials = int(config.get("repeats") or 1)
            timed = times.get(task, {})
            requests = questions * trials
            prompts, replies = _count_sent(config, questions, requests)
            tokens_in, tokens_out = _mean_tokens(run, task)
            seen = timed.get("seen")
            share = timed["seconds"] / timed["requests"] if timed.get("requests") else None
            task_estimates.append(
                TaskEstimate(
                    task,
                    questions,
                    trials,
                    pictures=timed["pictures"] / seen * requests if seen else None,
                    tokens_in=None if tokens_in is None else tokens_in * prompts,
                    tokens_out=None if tokens_out is None else tokens_out * replies,
                    seconds=None if share is None else share * math.ceil(requests / processes),
                    limit=(config.get("generation_kwargs") or {}).get("max_new_tokens"),
                )
            )
    return task_estimates


def _count_sent(config: Mapping[str, Any], questions: int, requests: int) -> tuple[int, int]:
    """The numbers of prompts and of replies: ``medtasks_server`` may ask for all trials at once."""
    trials = ((config.get("metadata") or {}).get("server") or {}).get("trials")
    return (
        questions if trials in ("one request with n", "asked once, temperature 0") else requests,
        questions if trials == "asked once, temperature 0" else requests,
    )


def _mean_tokens(run: ResultFile, task: str) -> tuple[float | None, float | None]:
    """Mean tokens of a request, in and out, of those that report them: the harness keeps them for each first trial."""
    given: list[list[float]] = [[], []]
    for _, row in run.rows(task):
        for counts in row.get("token_counts") or []:
            for values, name in zip(given, ("input_tokens", "output_tokens"), strict=True):
                if isinstance(value := (counts or {}).get(name), int | float):
                    values.append(value)
    means = [sum(values) / len(values) if values else None for values in given]
    return means[0], means[1]


def judge_lines(runs: Sequence[ResultFile], judge: JudgeSettings, included: Path | None) -> list[str]:
    """What the judge would be asked for all answers, and for how much; [] for runs without judged tasks.

    ``included``: the folder of contributed tasks.
    """
    from lmms_medtasks.harness import rejudging
    from lmms_medtasks.judges import budget, identity, prompts, registry, settings
    from lmms_medtasks.judges.protocol import JudgedItem, count_judging_trials

    rejudging.load_custom_protocols(runs, included)
    if not any(registry.task_protocols(config) for run in runs for config in run.content["configs"].values()):
        return []
    tasks = rejudging.find_judged_tasks(runs, [])
    if not judge.is_llm:
        pairs = [(task.task, protocol) for task in tasks for protocol in task.protocols]
        return identity.describe_paper_judges(judge, pairs)
    judgements, tokens_in, withheld = 0.0, 0.0, 0.0
    for task in tasks:
        protocols = {protocol.name: protocol for protocol in task.protocols}
        count = task.run.content["n-samples"][task.task]
        for judgement in task.iter_judgements():
            protocol = protocols[judgement.judge["protocol"]]
            asked = [number for number, verdicts in enumerate(judgement.verdicts)
                     if any(verdict["status"] == "missing" for verdict in verdicts)]  # fmt: skip
            times = count_judging_trials(protocol, identity.asked_settings(judge, protocol))
            times *= count["original"] / count["effective"]
            judgements += times * len(asked)
            withheld += times * len(asked) if isinstance(judgement.items, str) else 0
            for number in () if isinstance(judgement.items, str) else asked:
                item = JudgedItem("", judgement.items[number] or {})
                text = prompts.render_prompt(protocol, item, identity.mode_of(judge, protocol)).text
                tokens_in += times * budget.estimated_tokens(text)
    if withheld and withheld == judgements:
        tokens = "; its tokens are not known, as the terms keep texts out of the log"
    else:
        tokens_out = (judgements - withheld) * settings.default_settings()["reply_tokens"]
        tokens = f": about {tokens_in:,.0f} tokens in and {tokens_out:,.0f} out"
        if judge.price:
            tokens += f", {_format_cost(judge.price.total_cost(tokens_in, tokens_out))} USD"
        elif judge.provider != "local":
            tokens += f". Set {settings.JUDGE}_PRICE=input,output (USD per million tokens) to see their cost"
        if withheld:
            tokens += f". Without {withheld:,.0f} of them, whose terms keep texts out of the log"
    return [f"The judge {judge.name}, not asked here, would give about {judgements:,.0f} judgements{tokens}."]


def estimate_file(arguments: Sequence[str], processes: int, variables: Mapping[str, str]) -> Path:
    """Where the estimate of a command stands, wherever it writes: in the data folder, under a digest.

    ``variables``: those of the environment that the command sets.
    """
    from lmms_medtasks.data import store

    named = re.sub(r"\0--output_path[=\0][^\0]*", "", "\0".join(["", *arguments]))
    asked = named.split("\0")
    command = [asked, processes, sorted(variables.items()), os.environ.get("MEDTASKS_DATA", "")]
    return store.data_home() / "estimates" / f"{digests.content_digest(json.dumps(command).encode())}.json"


def keep_estimate(path: Path, estimates: Sequence[TaskEstimate], prices: tuple[float | None, float | None]) -> None:
    """Write what the same command says before it asks, a sentence. Raises UserError where ``path`` can't be written."""
    *_, tokens_in, tokens_out, seconds, cost = _sums([_estimated_numbers(estimate, prices) for estimate in estimates])
    sent = None if tokens_in is None or tokens_out is None else f"{tokens_in:,.0f} tokens in and {tokens_out:,.0f} out"
    said = [None if seconds is None else format_duration(seconds), sent]
    said += [None if cost is None or None in prices else f"a price of {_format_cost(cost)}"]
    if known := [text for text in said if text]:
        write_text_atomically(path, f"By the estimate of {time.strftime('%Y-%m-%d')}: about {', '.join(known)}.")


def read_times(path: Path) -> dict[str, dict[str, float]]:
    """The times that the run recorded; {} if it made no request."""
    times: dict[str, dict[str, float]] = json.loads(path.read_text("utf-8")) if path.is_file() else {}
    return times


def check_prices(prices: tuple[float | None, float | None]) -> None:
    """Raises UserError where one price is given without the other, or below 0."""
    if (prices[0] is None) != (prices[1] is None):
        raise UserError("Give both prices or none: --price-in and --price-out, for a million tokens each.")
    for name, price in zip(("--price-in", "--price-out"), prices, strict=True):
        if price is not None and not 0 <= price < math.inf:
            raise UserError(f"{name} must be a price of 0 or more for a million tokens, got {price!r}.")


def estimate_lines(
    estimates: list[TaskEstimate], prices: tuple[float | None, float | None], overhead: float, per_task: int
) -> list[str]:
    """The estimate as text: a row a task, the sum, and what it does not know.

    ``overhead``: seconds that the small run took outside the model's calls. ``per_task``: questions of each task.
    """
    heads = ("task", "questions", "trials", "requests", "images", "tokens in", "tokens out", "time", "cost")
    numbers = [_estimated_numbers(estimate, prices) for estimate in estimates]
    names, trials = [estimate.task for estimate in estimates], [str(estimate.trials) for estimate in estimates]
    if len(estimates) > 1:
        numbers.append(_sums(numbers))
        names, trials = [*names, "together"], [*trials, ""]
    rows = [list(heads)]
    for name, count, (questions, requests, *sent, seconds, cost) in zip(names, trials, numbers, strict=True):
        shown = [*map(_format_count, sent), format_duration(seconds), _format_cost(cost)]
        rows.append([name, _format_count(questions), count, _format_count(requests), *shown])
    if None in prices:
        rows = [row[:-1] for row in rows]
    text = align_columns(rows)
    text += [
        "",
        f"From the first {per_task} questions of each task; images and replies of others may be larger or longer.",
        *_longest_reply_lines(estimates, prices),
        f"Beside that, {format_duration(overhead)} went to what comes once (reading the model, each task's first use) "
        "and to building and scoring these requests.",
        "A server, or a batch, that was not filled by these questions is faster in the full run.",
    ]
    if any(estimate.trials > 1 for estimate in estimates):
        text.append(
            "Tokens are counted for each trial. A server that is asked for all trials in one request reads "
            "the prompt once; one that is asked once at temperature 0 writes once too. Such servers use and bill fewer "
            "tokens than shown."
        )
    if any(estimate.tokens_in is None or estimate.tokens_out is None for estimate in estimates):
        text.append("A dash: this runner does not report it.")
    return text


def _longest_reply_lines(estimates: list[TaskEstimate], prices: tuple[float | None, float | None]) -> list[str]:
    """The tokens and cost if every reply is as long as its limit; [] if a limit is not recorded."""
    most = [estimate.requests * estimate.limit for estimate in estimates if estimate.limit]
    if len(most) < len(estimates):
        return []
    limits = " or ".join(f"{limit:,}" for limit in sorted({estimate.limit for estimate in estimates if estimate.limit}))
    cost = "" if prices[1] is None else f", which cost {_format_cost(sum(most) * prices[1] / 1e6)}"
    return [f"Were every reply as long as its limit ({limits} tokens), {sum(most):,} tokens would be written{cost}."]


def _estimated_numbers(estimate: TaskEstimate, prices: tuple[float | None, float | None]) -> list[float | None]:
    """Questions, requests, images, tokens in and out, seconds, and cost."""
    sent = (estimate.pictures, estimate.tokens_in, estimate.tokens_out)
    cost = estimate.total_cost(prices[0] or 0, prices[1] or 0)
    return [estimate.questions, estimate.requests, *sent, estimate.seconds, cost]


def _sums(rows: Sequence[Sequence[float | None]]) -> list[float | None]:
    """The sum of each column, None where a number is not known."""
    return [None if None in column else sum(filter(None, column)) for column in zip(*rows, strict=True)]


def _format_count(value: float | None) -> str:
    return "-" if value is None else f"{value:,.0f}"


def _format_cost(value: float | None) -> str:
    return "-" if value is None else f"{value:,.2f}"
