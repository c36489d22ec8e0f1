"""SURE-VQA: the scores of a question, and the metrics of its tasks.

A shift has two tests, the i.i.d. and the OoD one. A task asks the questions of both ("pair") or of one of them ("one").
Closed questions score 0 or 1 (0, 0.5 or 1 with two options that may both be right), open ones 1 to 5 stars, as in the
paper. Next to these are the token-matching scores that the paper shows to fail.

Clusters are images: questions about one image are not independent.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from lmms_medtasks.errors import UserError
from lmms_medtasks.harness.scoring import ScoringHook
from lmms_medtasks.judges import records
from lmms_medtasks.judges.protocol import JudgeProtocol
from lmms_medtasks.parsing import Reply
from lmms_medtasks.record import KEY, QuestionJudgement, QuestionRecord, ScoreValue
from lmms_medtasks.samples.runs import make_printable
from lmms_medtasks.samples.table import QuestionTable
from lmms_medtasks.statistics import text
from lmms_medtasks.suites import judged_measures
from lmms_medtasks.suites.common_metrics import JUDGED, JUDGED_NAMES, LOWEST
from lmms_medtasks.suites.estimates import Contrast, Count, Mean
from lmms_medtasks.suites.suite import Measure, Metric, Suite, number_of_questions
from lmms_medtasks.task_configs.sure_vqa import judging

SIDES: Mapping[str, Mapping[str, str]] = {"iid": {"set": "iid"}, "ood": {"set": "ood"}}
KINDS: Mapping[str, Mapping[str, Any]] = {
    "closed": {"answer_type": ("closed", "multilabel")},
    "open": {"answer_type": "open"},
}
DIMENSIONS = {"closed": "correct", "open": "stars"}
TEXT = ("exact_match", "f1", "precision", "recall", "bleu")
"""The token-matching scores."""

TAGS = (
    "data", "suite", "shift", "set", "answer_type", "choices", "question_id", "corruption", "split", "modality",
    "content_type", "location", "image_organ", "question_type",
)  # fmt: skip
"""The tags of a record. For credentialed data only those that the protocol allows in a log."""

MEASURES = (
    Measure(
        "closed", f"Share right, by exact match, by the options or by the judge; 0, 0.5 or 1 of two options. {LOWEST}"
    ),
    Measure("open", f"Stars by exact match or by the judge. {LOWEST}", 1.0, 5.0, "stars", 2),
    Measure("exact_match", "1 where the answer is the reference, as the VQA challenge normalises both."),
    Measure("f1", "F1 of the answer's tokens against the reference's."),
    Measure("precision", "Share of the answer's tokens that the reference has."),
    Measure("recall", "Share of the reference's tokens that the answer has."),
    Measure("bleu", "BLEU-1 of the answer against the reference."),
)


# --- A question -------------------------------------------------------------------------------------------------------
def kind_of(tags: Mapping[str, Any]) -> str:
    """ "open" or "closed"; "closed" also for a question with two options that may both be right."""
    return "open" if tags["answer_type"] == "open" else "closed"


def question_protocol(doc: Mapping[str, Any]) -> JudgeProtocol:
    """The protocol that judges a question: by its kind, and that of MIMIC-CXR-VQA by its terms too."""
    by_kind = judging.MIMIC_BY_KIND if doc["suite"] == "sure_mimic" else judging.BY_KIND
    return by_kind[doc["answer_type"]]


def judged_question_record(doc: Mapping[str, Any], results: Sequence[str | None]) -> QuestionRecord:
    """The record of a question: the judge's scores of the replies, and their token-matching scores.

    A failed request has neither. Questions of the same ``question_id`` are forms of one question: with the image,
    without it, with a corrupted one.
    """
    protocol = question_protocol(doc)
    replies = [Reply.of(result) for result in results]
    trials, judgement = records.make_judgement(doc, replies, protocol)
    tags = judged_measures.tags_of(doc, TAGS, protocol)
    items = [item for item in records.make_judged_items(doc, replies, protocol) if item]
    scores = [token_match_scores(item.fields["answer"], item.fields["reference"]) for item in items]
    means = {name: ScoreValue(math.fsum(score[name] for score in scores) / len(scores)) for name in TEXT if scores}
    return QuestionRecord(
        id=str(doc["id"]),
        cluster=str(doc["image_id"]),
        trials=trials,
        expected=None,
        measures={**_judged_scores(tags, judgement), **means},
        tags=tags,
        pair=str(tags.get("question_id") or ""),
        judgement=judgement,
        replies=tuple(reply.note() for reply in replies),
    )


def record_with_judged_score(made: QuestionRecord) -> QuestionRecord:
    """The record with its judged measure computed again from its verdicts."""
    if made.judgement is None:
        raise UserError(f"Question {made.id!r}: its record holds no verdicts.")
    return judged_measures.with_measures(made, _judged_scores(made.tags, made.judgement))


def _judged_scores(tags: Mapping[str, Any], judgement: QuestionJudgement) -> dict[str, ScoreValue]:
    kind = kind_of(tags)
    return {kind: judged_measures.measure_value(judgement, DIMENSIONS[kind])}


def token_match_scores(answer: str, reference: str) -> dict[str, float]:
    """The token-matching scores of an answer, each from 0 to 1 (:mod:`lmms_medtasks.statistics.text`)."""
    tokens = text.token_scores(answer, reference)
    return {
        "exact_match": float(text.exact_match(answer, reference)),
        "f1": tokens.f1,
        "precision": tokens.precision,
        "recall": tokens.recall,
        "bleu": text.bleu_1(answer, reference),
    }


# --- Metrics ----------------------------------------------------------------------------------------------------------
RANGES = {measure.name: measure.range for measure in MEASURES}

ROBUSTNESS = {
    kind: Contrast(main="ratio", measure=kind, bounds=RANGES[kind], first=SIDES["iid"], second=SIDES["ood"])
    for kind in KINDS
}
"""Relative robustness, RR = 1 - (i.i.d. - OoD) / i.i.d. = OoD / i.i.d. of the means (section 3.2, after Chen et al.
2023); None where one is missing, or i.i.d. is 0. On a scale that starts above 0, such as one to five stars, it cannot
reach 0 (1/5 at worst) and moves less than the score does: compare RR within one scale only."""


def count_shared_images(rows: QuestionTable) -> int:
    """Number of images that both tests have questions about."""
    iid, ood = (set(rows.where(side).column("cluster")) for side in SIDES.values())
    return len(iid & ood)


def _make_metrics() -> Iterator[Metric]:
    """For each kind of question its coverage, its scores on each test ("" for a task's only one), and robustness."""
    for kind in KINDS:
        about = "Share of the judgements that were obtained."
        yield Metric(f"{kind}_judged", judged_measures.judgement_coverage(kind), about=about)
        for side in ("", *SIDES):
            where, name = SIDES.get(side, {}), f"{kind}_{side}" if side else kind
            yield Metric(name, Mean(where, measure=kind, bounds=RANGES[kind]), main=True)
            for end, bound in (("worst", "low"), ("best", "high")):
                mean = judged_measures.bounded_mean(kind, bound, where)
                yield Metric(f"{name}_{end}", mean, about=f"Mean, missing judgements at {end}.")
            for score in TEXT if kind == "open" else TEXT[:1]:
                score_mean = Mean({**KINDS[kind], **where}, measure=score)
                yield Metric(f"{name}_{score}", score_mean, about="Over all replies.", standard_error=False)
        about = "Relative robustness: mean of the OoD over the i.i.d. test (section 3.2)."
        yield Metric(f"{kind}_rr", ROBUSTNESS[kind], about=about, main=True, unit="")


METRICS = (
    *_make_metrics(),
    Metric(
        "shared_images",
        Count(function=count_shared_images),
        higher_is_better=False,
        about="Number of images that both tests have questions about.",
        unit="count",
    ),
    *JUDGED,
    number_of_questions(),
)

_PAIR = (
    *(f"{kind}_{name}" for kind in KINDS for name in ("iid", "ood", "rr")),
    *(name for kind in KINDS
      for name in (f"{kind}_judged", *(f"{kind}_{side}_{end}" for side in SIDES for end in ("worst", "best")))),
    *(f"closed_{side}_exact_match" for side in SIDES),
    *(f"open_{side}_{name}" for name in TEXT for side in SIDES),
    *JUDGED_NAMES, KEY, "shared_images",
)  # fmt: skip
_ONE = (
    *KINDS,
    *(f"{kind}_{end}" for kind in KINDS for end in ("judged", "worst", "best")),
    "closed_exact_match",
    *(f"open_{name}" for name in TEXT),
    *JUDGED_NAMES, KEY,
)  # fmt: skip


# --- Tasks ------------------------------------------------------------------------------------------------------------
_TASK = re.compile(r"sure_([^_]+_.+?)(?:_(?:iid|ood))?(?:_noimage)?(?:_(?:iid|ood))?")


def shift_of(task: str) -> str:
    """The dataset and the shift that a task tests, by its name; raises UserError for any other name.

    >>> shift_of("sure_slake_question_type_swapped_noimage")
    'slake_question_type_swapped'
    """
    if not (match := _TASK.fullmatch(task)):
        raise UserError(f"The task's name {task!r} does not say its shift. Call it sure_DATASET_SHIFT.")
    return make_printable(match.group(1))


def condition(task: str, settings: Mapping[str, Any]) -> str:
    """ "no image" for the tasks without pictures, else ""."""
    return "no image" if settings.get("no_image") else ""


def task_tags(task: str, settings: Mapping[str, Any]) -> dict[str, str]:
    """The shift of a task; a corrupted test's documents have the shift that they are from."""
    return {"shift": shift_of(task)}


SUITE = Suite(
    name="sure_vqa",
    title="SURE-VQA",
    cluster="image",
    data=("sure_slake", "sure_ovqa", "sure_mimic"),
    tags=TAGS,
    measures=MEASURES,
    metrics=METRICS,
    tasks={"pair": _PAIR, "one": _ONE},
    condition=condition,
    task_tags=task_tags,
    tag_values={"set": tuple(SIDES), "answer_type": tuple(judging.BY_KIND)},
    identity=("shift", "set", "id"),
)


# --- What the YAMLs name ----------------------------------------------------------------------------------------------
process_results = ScoringHook(SUITE, "pair", judged_question_record, record_with_judged_score)
process_results_one = ScoringHook(SUITE, "one", judged_question_record, record_with_judged_score)
