"""Check a task's scoring: its parser reads its own answers, correct ones score 1, random ones score as chance."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from lmms_medtasks import parsing
from lmms_medtasks.contribute import custom_checks
from lmms_medtasks.contribute.loaded import LoadedTask
from lmms_medtasks.judges import prompts, registry
from lmms_medtasks.seeding import seeded_generator
from lmms_medtasks.suites.templates.parsers import ReplyParser, get, is_custom_parser

CHECKED = 200
"""Questions whose answers are read back and scored; the first ones."""
_ANSWERS = 40
"""Answers of a question that are read back, the first ones: sets of letters are many."""
_SIGMAS = 5.0


def task_parser(task: LoadedTask) -> ReplyParser:
    """Return the parser named in the task's settings."""
    return get(str(task.settings["parser"]), task.path.parent)


def check_answers(task: LoadedTask) -> None:
    """Check one task by its kind: answers that are parsed, answers that are judged, or hooks of its own."""
    docs = [task.scored[row] for row in range(min(CHECKED, len(task.scored)))]
    template = task.template
    if template is not None and template.kind == "choice":
        if not _check_parser(task, docs):
            return
        replies = {"right answers": _correct_reply(task), "wrong answers": _wrong_reply(task)}
        if not custom_checks.check_metrics(task, docs, replies):
            return
        _check_right_and_wrong(task, docs)
        _check_chance(task, docs)
    elif template is not None:
        _check_judged(task, docs)
        custom_checks.check_metrics(task, docs, {"right answers": lambda doc: str(doc["answer"])})
    else:
        _check_any(task, docs)


def answer_phrasings(task: LoadedTask, doc: Mapping[str, Any], answer: str) -> list[str]:
    """Phrasings of ``answer`` that the task's parser must read."""
    name = task.settings["parser"]
    if is_custom_parser(name):
        return [custom_checks.plain_form(task_parser(task), doc, answer)]
    if name == "several_letters":
        listed = ", ".join(answer)
        return [answer, listed, f"{listed}.", f"The answer is {listed}.", " and ".join(answer)]
    if name == "yes_no":
        return [answer, f"{answer.capitalize()}.", f"The answer is {answer}."]
    if name == "position":
        return [answer, f"The answer is {answer}."]
    text = doc["options"][parsing.option_letters(len(doc["options"])).index(answer)]
    phrasings = [answer, f"{answer}.", f"({answer})", f"The answer is {answer}."]
    return [*phrasings, f"{answer}. {text}"] if name in ("option", "any_letter") else phrasings


def _correct_reply(task: LoadedTask) -> Callable[[Mapping[str, Any]], str]:
    return lambda doc: answer_phrasings(task, doc, task_parser(task).expected(doc))[0]


def _wrong_reply(task: LoadedTask) -> Callable[[Mapping[str, Any]], str]:
    def say(doc: Mapping[str, Any]) -> str:
        parser = task_parser(task)
        wrong_answer = next((answer for answer in parser.answers(doc) if answer != parser.expected(doc)), None)
        return "no answer" if wrong_answer is None else answer_phrasings(task, doc, wrong_answer)[0]

    return say


def _check_parser(task: LoadedTask, docs: Sequence[Mapping[str, Any]]) -> bool:
    """Check that the parser reads each possible answer in each plain phrasing; False if it does not."""
    parser, name = task_parser(task), task.settings["parser"]
    if is_custom_parser(name):
        if not custom_checks.check_parser(task, docs):
            return False
        for row, doc in enumerate(docs, start=1):
            for answer in parser.answers(doc)[:_ANSWERS] or [parser.expected(doc)]:
                key = f"row {row}, question {doc['id']!r}"
                failure = f"the parser {name!r} can't be used"
                if task.try_call(custom_checks.plain_form, parser, doc, answer, what=failure, key=key) is None:
                    return False
        return True
    for doc in docs:
        for answer in parser.answers(doc)[:_ANSWERS]:
            for phrasing in answer_phrasings(task, doc, answer):
                read = parser.read(doc, phrasing)
                if (read.status, read.value) != ("ok", answer):
                    got = read.value or read.status
                    message = f"the parser {name!r} reads its own answer {phrasing!r} as {got!r}"
                    task.add(f"{message}, not {answer!r}", key=f"question {doc['id']!r}")
                    return False
    return True


def _check_right_and_wrong(task: LoadedTask, docs: Sequence[Mapping[str, Any]]) -> None:
    parser = task_parser(task)
    for doc in docs:
        expected = parser.expected(doc)
        for answer in parser.answers(doc) or [expected]:
            reply = answer_phrasings(task, doc, answer)[0]
            score = _accuracy_scores([task.score(doc, [reply] * task.repeats)])
            expected_score = float(parser.accepts(answer, expected))
            if score and any(value != expected_score for value in score):
                task.add(f"scores {score} for the answer {reply!r}, expected {expected_score}",
                         key=f"question {doc['id']!r}")  # fmt: skip
                return


def _accuracy_scores(values: Sequence[Mapping[str, Any]]) -> list[float]:
    return [
        float(value["score"])
        for scored in values
        for name, value in scored.items()
        if name.startswith("accuracy") and isinstance(value, Mapping) and "score" in value
    ]


def _check_chance(task: LoadedTask, docs: Sequence[Mapping[str, Any]]) -> None:
    """Check that random answers score as chance, and that every metric gives a value or None."""
    parser = task_parser(task)
    values, expected = [], 0.0
    for doc in docs:
        possible = parser.answers(doc) or (parser.expected(doc),)
        drawn = seeded_generator("validate", task.name, str(doc["id"]))
        replies = [
            answer_phrasings(task, doc, possible[int(drawn.integers(len(possible)))])[0] for _ in range(task.repeats)
        ]
        values.append(task.score(doc, replies))
        right = parser.expected(doc)
        expected += sum(parser.accepts(answer, right) for answer in possible) / len(possible)
    totals = aggregate_metrics(task, values)
    scores = _accuracy_scores(values)
    if scores:
        mean, chance = math.fsum(scores) / len(scores), expected / len(docs)
        spread = _SIGMAS * math.sqrt(chance * (1 - chance) / (len(scores) * task.repeats))
        if abs(mean - chance) > max(spread, 1e-9):
            task.add(f"random answers get {mean:.3f}, chance is {chance:.3f}", key="process_results")
    task.note(f"random answers: {_format_metrics(totals)}")
    aggregate_metrics(task, [])


def aggregate_metrics(task: LoadedTask, values: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Compute each metric of the task over ``values``; None for a metric without a value."""
    listed = {row["metric"]: row.get("aggregation") for row in task.config.get("metric_list") or []}
    for name in sorted({name for scored in values for name in scored} - set(listed)):
        task.add(f"gives values under {name!r}, which metric_list does not have", key="process_results")
    for name in sorted(set(listed) - set(values[0]) if values else set()):
        task.add(f"gives no value under {name!r}, which metric_list has", key="process_results")
    totals = {}
    for name, aggregation in listed.items():
        if callable(aggregation):
            metric_values = [scored[name] for scored in values if name in scored]
            key = f"metric_list: {name}"
            totals[name] = task.try_call(aggregation, metric_values, what="raises", key=key)
            if isinstance(totals[name], float) and math.isnan(totals[name]):
                task.add("is NaN, which no result file may hold: give None", key=key)
    return totals


def _format_metrics(totals: Mapping[str, Any]) -> str:
    if all(value is None for value in totals.values()):
        return "no metric has a value"
    return ", ".join(
        f"{name} {value:.3f}" if isinstance(value, float) else f"{name} {'–' if value is None else value}"
        for name, value in totals.items()
    )


def _check_judged(task: LoadedTask, docs: Sequence[Mapping[str, Any]]) -> None:
    """Check that each document fills the judge's prompt, and that a missing judgement gives no score."""
    from loguru import logger

    protocol = registry.get(str(task.settings["judge"]), task.path.parent)
    values = []
    wants = f"the judge protocol {protocol.name!r} wants what this document has not"
    for doc in docs:
        key = f"question {doc['id']!r}"
        item = task.try_call(protocol.item, doc, "an answer", what=wants, key=key)
        if item is None:
            return
        if task.try_call(prompts.render_prompt, protocol, item, what="can't be judged", key=key) is None:
            return
        values.append(task.score(doc, [f"an answer that none gave, {doc['id']}"] * task.repeats))
    logger.disable("lmms_medtasks")  # its warnings say that judgements are missing, which is tried here
    try:
        task.note(f"answers that no judge judged: {_format_metrics(aggregate_metrics(task, values))}")
        aggregate_metrics(task, [])
    finally:
        logger.enable("lmms_medtasks")


def _check_any(task: LoadedTask, docs: Sequence[Mapping[str, Any]]) -> None:
    values = []
    for doc in docs:
        for reply in (task.target(doc), "", "None", "[LMMS_EVAL_REQUEST_FAILED after 5 retries] boom"):
            failure, replies = f"raises on the reply {reply!r}", [reply] * task.repeats
            scored = task.try_call(task.score, doc, replies, what=failure, key="process_results")
            if not isinstance(scored, Mapping):
                if scored is not None:
                    task.add(f"gives a {type(scored).__name__}, expected a mapping metric -> value",
                             key="process_results")  # fmt: skip
                return
            values.append(scored)
    task.note(f"right, empty, missing and failed replies: {_format_metrics(aggregate_metrics(task, values))}")
    aggregate_metrics(task, [])
