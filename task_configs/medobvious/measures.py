"""MedObvious: the reading of replies, the scores of a question, and the metrics of its tasks.

Clusters are items: an item's eight questions are about the same few grids.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from lmms_medtasks.grid_positions import parse_size
from lmms_medtasks.grids import triage
from lmms_medtasks.harness.scoring import ScoringHook
from lmms_medtasks.parsing.positions import option_value, read_option_position, read_position
from lmms_medtasks.parsing.reply import ParsedAnswer, Reply
from lmms_medtasks.parsing.texts import option_letters
from lmms_medtasks.parsing.yes_no import read_yes_no
from lmms_medtasks.record import FAILED, KEY, NO_ANSWER, QuestionRecord, ScoreValue
from lmms_medtasks.samples.table import QuestionTable
from lmms_medtasks.suites.common_metrics import READ, READ_NAMES, WRONG
from lmms_medtasks.suites.estimates import Contrast, Macro, Mean, Unit, Units
from lmms_medtasks.suites.rotated_options import ROTATED, circular_task, rotation_metrics
from lmms_medtasks.suites.suite import Measure, Metric, Suite, mean_metrics, number_of_questions

FORMATS = ("detection_mcq", "detection_open", "referring_mcq", "referring_open", "visual_referring")
"""The paper's tasks A to E (Table 2)."""

LETTERS = "ABCDEFGHIJ"
"""Of the options of a 3x3 grid: nine positions and "none"."""

FAMILIES = ("detection", "referring")
"""Asked both as multiple choice and openly."""

TIERS = (1, 2, 3, 4, 5)
SIGNS = {"positive": 0, "negative": 1}
VISUAL = "visual_referring"
TABLE_2: Mapping[str, Mapping[str, Any]] = {
    **{name: {"task_type": name} for name in FORMATS},
    **{name: {"negative": sign} for name, sign in SIGNS.items()},
}
"""The seven columns of Table 2: the formats over both signs, then each sign over all formats."""

PAPER_RULE, PAPER_RULE_HOSTED = "accuracy_paper_rule", "accuracy_paper_rule_hosted"

MEASURES = (
    Measure("accuracy", f"1 where the reply names the right place, or rightly none; else 0. {WRONG}"),
    Measure(PAPER_RULE, "The same, read as the authors' scripts for open-weight models read replies."),
    Measure(PAPER_RULE_HOSTED, "The same, read as their script for hosted models does."),
    Measure("false_alarm", triage.FALSE_ALARM, higher_is_better=False),
    Measure("abstention", triage.ABSTENTION, higher_is_better=False),
    Measure("chance", "Probability that a uniform guess is right."),
)


# --- A question -------------------------------------------------------------------------------------------------------
def read_answer(doc: Mapping[str, Any], reply: Reply | str | None) -> ParsedAnswer:
    """The answer in a reply: a position or "none", or "yes" or "no" for a highlighted panel."""
    if doc["task_type"] == VISUAL:
        return read_yes_no(reply, str(doc["question"]), panel=True)
    size = parse_size(doc["grid"])
    return read_option_position(reply, doc["options"], size) if doc["options"] else read_position(reply, size)


def expected_answer(doc: Mapping[str, Any]) -> str:
    """The expected answer in the terms of :func:`read_answer`."""
    return str(doc["answer"] if doc["task_type"] == VISUAL else doc["answer_position"])


def guess_probability(task_type: str, grid: str) -> float:
    """Probability that a uniform guess is right: 1/2 for a highlighted panel, else one of all positions and "none"."""
    return 1 / 2 if task_type == VISUAL else 1 / (len(parse_size(grid).positions) + 1)


def grid_question_record(doc: Mapping[str, Any], results: Sequence[str | None]) -> QuestionRecord:
    """The record of a question. An unreadable reply is incorrect; a failed request has no score."""
    replies = [Reply.of(result) for result in results]
    readings = [read_answer(doc, reply) for reply in replies]
    correct = [reading.value == expected_answer(doc) for reading in readings if reading.status != FAILED]
    trials = tuple(reading.value or reading.status for reading in readings)
    # The authors' scripts read the whole reply, thoughts too.
    sent = [reply.sent for reply, reading in zip(replies, readings, strict=True) if reading.status != FAILED]
    scores = {
        "accuracy": _right_share(correct),
        PAPER_RULE: _right_share(is_right_by_scripts(doc, reply) for reply in sent),
        PAPER_RULE_HOSTED: _right_share(is_right_by_scripts(doc, reply, hosted=True) for reply in sent),
    }
    measures = {name: ScoreValue(score) for name, score in scores.items() if score is not None or name == "accuracy"}
    measures |= {name: ScoreValue(score) for name, score in triage.triage_scores(trials, bool(doc["negative"])).items()}
    tags = {name: doc.get(name) for name in ("data", "tier", "task_type", "kind", "negative", "grid")}
    return QuestionRecord(
        id=str(doc["id"]),
        cluster=str(doc["item"]),
        trials=trials,
        expected=expected_answer(doc),
        measures={**measures, "chance": ScoreValue(guess_probability(doc["task_type"], doc["grid"]))},
        tags={**tags, "answer_position": doc["answer_position"] or None},
        replies=tuple(reply.note(reading.rule) for reply, reading in zip(replies, readings, strict=True)),
    )


def _right_share(right: Iterable[bool]) -> float | None:
    values = list(right)
    return sum(values) / len(values) if values else None


def rotated_record(doc: Mapping[str, Any], results: Sequence[str | None]) -> QuestionRecord:
    """The record of one rotation of a question with options, with trials as letters.

    A position that is not an option is recorded by its name, and is wrong.
    """
    plain = grid_question_record(doc, results)
    positions = [option_value(option) for option in doc["options"]]
    letters = dict(zip(positions, option_letters(len(positions)), strict=True))
    return replace(
        plain,
        trials=tuple(letters.get(trial, trial) for trial in plain.trials),
        expected=str(doc["answer"]),
        measures={name: plain.measures[name] for name in ("accuracy", "chance")},
        tags={**plain.tags, "option_count": len(positions), "rotation": doc["rotation"]},
        pair=str(doc["question_id"]),
    )


# --- As the authors' scripts read a reply -----------------------------------------------------------------------------

# The scripts come with the authors' data. Those for open-weight models look for a letter from A to E, so F to J of a
# 3x3 grid are never read; that for hosted models looks for any letter. They are reproduced exactly, with their
# mistakes: the numbers of Table 2 depend on them. Our own reading is :func:`read_answer`.

_FIRST_TO_FIFTH = (re.compile(r"\b[A-E]\b"), re.compile(r"[A-E]"))
"""A separate letter, else any; looked for in the reply in capitals, where "an apple" has two."""

_ANNOUNCED = re.compile(r"\b(?:answer|option|choice)\s*[:\-]?\s*([A-Z])\b", re.IGNORECASE)
_ALONE = re.compile(r"\b[A-Z]\b")
_YES_NO = re.compile(r"\b(?:yes|no)\b")
_DASHES = str.maketrans("_—–", "---")


def is_right_by_scripts(doc: Mapping[str, Any], reply: str, *, hosted: bool = False) -> bool:
    """Whether a reply to the question ``doc`` counts as right; ``hosted``: by the script for hosted models.

    Multiple choice: the letter read is the answer's. A highlighted panel: the first yes or no is the answer. Open
    questions: the right position, or "none", occurs anywhere in the reply.
    """
    if doc["options"]:
        return letter_by_scripts(reply, hosted=hosted) == doc["answer"]
    if doc["task_type"] == VISUAL:
        match = _YES_NO.search(_plain_text(reply))
        return match is not None and match[0] == doc["answer"]
    return _hyphenated_text(doc["answer_position"]) in _hyphenated_text(reply)


def letter_by_scripts(reply: str, *, hosted: bool = False) -> str | None:
    """The option's letter that the scripts read from a reply, or None.

    >>> letter_by_scripts("The answer is B"), letter_by_scripts("The answer is B", hosted=True)
    ('B', 'B')
    >>> letter_by_scripts("G"), letter_by_scripts("G", hosted=True), letter_by_scripts("Image G differs")
    (None, 'G', 'A')
    """
    text = reply.strip()
    if hosted:
        announced = _ANNOUNCED.search(text)
        alone = None if announced else _ALONE.search(text.upper())
        return announced[1].upper() if announced else alone and alone[0]
    return next((match[0] for rule in _FIRST_TO_FIFTH if (match := rule.search(text.upper()))), None)


def _plain_text(text: str) -> str:
    """Small letters, digits, hyphens and single spaces."""
    return " ".join(re.sub(r"[^a-z0-9 \-]", " ", " ".join(text.lower().translate(_DASHES).split())).split())


def _hyphenated_text(text: str) -> str:
    return re.sub("-+", "-", _plain_text(text).replace(" ", "-"))


# --- Metrics ----------------------------------------------------------------------------------------------------------
def format_agreement(rows: QuestionTable, sign: int | None = None) -> list[Unit]:
    """Whether the answers about an item agree with each other, right or wrong: 1, 0, or None if unknown.

    Positive side (``sign`` 0; up to five questions about one grid): the detection and referring questions name the same
    position ("none" is one), and the highlighted panel, which is the outlier's, is called the outlier exactly if that
    position is named.

    Negative side (1; up to three questions): the two detection questions name the same position, and the highlighted
    panel is called an outlier exactly if they claim one. In the release the highlighted grid is not the one of
    detection, but consistent too: the verdict that there is no outlier must agree.

    ``sign`` None: an item agrees if each of its sides does. An unreadable reply agrees with nothing. A side with fewer
    than two questions, with a failed request, or with a highlighted panel of unknown position has no value.
    """
    items: dict[str, list[bool | None]] = {}
    for (item, negative), side in rows.by(["cluster", "negative"]).items():
        if sign in (None, negative):
            items.setdefault(item, []).append(_answers_agree(side, bool(negative)))
    return [(item, None if None in sides else float(all(sides))) for item, sides in items.items()]


def _answers_agree(side: QuestionTable, negative: bool) -> bool | None:
    # The first of several trials counts: whether trials agree is another question.
    columns = (side.column(name) for name in ("task_type", "trials", "answer_position"))
    answers = [(task_type, trials[0], position) for task_type, trials, position in zip(*columns, strict=True)]
    if len(answers) < 2 or any(trial == FAILED for _, trial, _ in answers):
        return None
    if any(trial in NO_ANSWER for _, trial, _ in answers):
        return False
    positions = {trial for task_type, trial, _ in answers if task_type != VISUAL}
    verdicts = [(trial, position) for task_type, trial, position in answers if task_type == VISUAL]
    if len(positions) > 1 or len({trial for trial, _ in verdicts}) > 1:
        return False
    if not positions or not verdicts:
        return True
    (named,), (verdict, outlier) = positions, verdicts[0]
    if negative:
        return (named != triage.NONE) == (verdict == "yes")
    return None if not outlier else (named == outlier) == (verdict == "yes")


ACCURACY, FALSE_ALARMS, ABSTENTIONS = Mean(), Mean(measure="false_alarm"), Mean(measure="abstention")
PAPER_AVERAGE = Macro(groups=tuple(TABLE_2.values()))
BALANCED_ACCURACY = Macro(groups=tuple({"negative": sign} for sign in SIGNS.values()))
FORMAT_GAPS = {
    family: Contrast(
        first={"task_type": f"{family}_open"}, second={"task_type": f"{family}_mcq"}, pair=("cluster", "negative")
    )
    for family in FAMILIES
}
AGREEMENTS = {
    "both": Units(units=format_agreement),
    **{name: Units(units=functools.partial(format_agreement, sign=sign)) for name, sign in SIGNS.items()},
}

METRICS = (
    number_of_questions(),
    Metric("accuracy", ACCURACY, main=True),
    *mean_metrics("accuracy", {f"accuracy_{name}": {"negative": sign} for name, sign in SIGNS.items()}, main=True),
    Metric(
        "balanced_accuracy",
        BALANCED_ACCURACY,
        main=True,
        about="Plain mean of accuracy_positive and accuracy_negative: who always claims an outlier gets half at most.",
    ),
    *mean_metrics("accuracy", {f"accuracy_{name}": TABLE_2[name] for name in FORMATS}),
    Metric(
        PAPER_RULE,
        Mean(measure=PAPER_RULE),
        about="Accuracy where replies are read as the authors' scripts for open-weight models do (Table 2): F to J of "
        "a 3x3 grid are never read.",
    ),
    Metric(
        PAPER_RULE_HOSTED,
        Mean(measure=PAPER_RULE_HOSTED),
        about="Accuracy where replies are read as the authors' script for hosted models does (Table 2).",
    ),
    Metric(
        "paper_average",
        PAPER_AVERAGE,
        main=True,
        about="The paper's Avg: the plain mean of Table 2's seven columns. It is no accuracy: each question counts in "
        "two columns, and the columns differ in size.",
    ),
    *mean_metrics("accuracy", {f"accuracy_t{tier}": {"tier": tier} for tier in TIERS}),
    Metric("false_alarm_rate", FALSE_ALARMS, higher_is_better=False),
    Metric("abstention_rate", ABSTENTIONS, higher_is_better=False),
    *(
        Metric(
            f"format_gap_{family}",
            gap,
            higher_is_better=None,
            about="Accuracy as multiple choice less that asked openly, over the same grids. Positive: options help; "
            "nearer to 0 is better, from either side.",
        )
        for family, gap in FORMAT_GAPS.items()
    ),
    Metric("consistency", AGREEMENTS["both"], about="Share of the items whose answers in all formats agree."),
    *(
        Metric(f"consistency_{name}", AGREEMENTS[name], about=f"The same of the {name} side of each item.")
        for name in SIGNS
    ),
    *rotation_metrics(LETTERS),
    *READ,
)

_ALARMS = ("false_alarm_rate", "abstention_rate")
_SIGNED = ("accuracy_positive", "accuracy_negative", "balanced_accuracy")
_FORMAT = (KEY, "accuracy", *_SIGNED, PAPER_RULE, PAPER_RULE_HOSTED)
_TIER = (*_FORMAT, *(f"accuracy_{name}" for name in FORMATS), "paper_average")
_ACROSS = (
    "format_gap_detection", "format_gap_referring", "consistency", "consistency_positive", "consistency_negative",
)  # fmt: skip


NEUTRAL = "neutral wording"
CIRCULAR_TASKS = tuple(f"medobvious_{family}_mcq_circular" for family in FAMILIES)


def condition(task: str, settings: Mapping[str, Any]) -> str:
    """The condition of a task, "" as released: without the image, in another wording, or by a custom prompt."""
    wording = settings.get("wording")
    parts = [
        "no image" if settings.get("no_image") else "",
        ROTATED if task in CIRCULAR_TASKS else "",
        NEUTRAL if wording == "neutral" else str(wording or ""),
        "" if str(settings.get("prompt", "")).startswith("medobvious/") else task,
    ]
    return ", ".join(filter(None, parts))


SUITE = Suite(
    name="medobvious",
    title="MedObvious",
    cluster="item",
    data=("medobvious",),
    tags=("data", "tier", "task_type", "kind", "negative", "grid", "answer_position", "option_count", "rotation"),
    measures=MEASURES,
    metrics=METRICS,
    tasks={
        "circular": (KEY, *circular_task(LETTERS), *READ_NAMES),
        "format": (*_FORMAT, *_ALARMS, *READ_NAMES),
        "tier": (*_TIER, *_ALARMS, *_ACROSS, *READ_NAMES),
        "all": (*_TIER, *(f"accuracy_t{tier}" for tier in TIERS), *_ALARMS, *_ACROSS, *READ_NAMES),
    },
    condition=condition,
    tag_values={"task_type": FORMATS, "tier": TIERS, "negative": tuple(SIGNS.values())},
)


# --- What the YAMLs name ----------------------------------------------------------------------------------------------
process_results = ScoringHook(SUITE, "all", grid_question_record)
process_results_tier = ScoringHook(SUITE, "tier", grid_question_record)
process_results_format = ScoringHook(SUITE, "format", grid_question_record)
process_results_circular = ScoringHook(SUITE, "circular", rotated_record)
