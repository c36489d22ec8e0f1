"""MedQ-Deg: the scores of a question, and the metrics of its tasks.

Levels of severity are 0 (clean), 1 and 2. Clusters are images: a clean image and its degraded forms are one cluster
(with the release's own images, which cannot be traced, a question and its forms).
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from lmms_medtasks import degradations, parsing
from lmms_medtasks.errors import UserError
from lmms_medtasks.harness.hooks import RENDERED
from lmms_medtasks.harness.scoring import ScoringHook
from lmms_medtasks.parsing.option import read_first_capital, read_option
from lmms_medtasks.parsing.reply import Reply
from lmms_medtasks.record import FAILED, KEY, NO_ANSWER, QuestionRecord, ScoreValue
from lmms_medtasks.samples.table import QuestionTable
from lmms_medtasks.suites.common_metrics import IDENTICAL, IDENTICAL_TRIALS, READ, READ_NAMES, WRONG
from lmms_medtasks.suites.estimates import Contrast, Count, Custom, Draw, Macro, Mean
from lmms_medtasks.suites.rotated_options import ROTATED, circular_task, rotation_metrics
from lmms_medtasks.suites.suite import Measure, Metric, Suite, number_of_questions
from lmms_medtasks.task_configs.medq_deg import source

if TYPE_CHECKING:
    from lmms_medtasks.statistics.calibration import Confidence
    from lmms_medtasks.statistics.dunning_kruger import IntraModelDKE
    from lmms_medtasks.statistics.votes import VoteTable

SUITE_NAME = "medq_deg"
LEVELS = (0, 1, 2)
DEGRADED = {"severity": (1, 2)}
"""The questions that Tables 2 and 3 are over."""

PAPER_RULE = "accuracy_paper_rule"
"""Accuracy of the same replies read by the paper's rule: a single letter, else the first capital letter."""

MEASURES = (
    Measure("accuracy", f"Share of a question's replies that are right. {WRONG}"),
    Measure(PAPER_RULE, "The same with replies read by the paper's rule: a single letter, else the first capital."),
    IDENTICAL,
)


# --- A question -------------------------------------------------------------------------------------------------------
def choice_question_record(doc: Mapping[str, Any], results: Sequence[str | None]) -> QuestionRecord:
    """The record of a question with T replies.

    A reply without an answer, or an empty one, is incorrect, as in the paper; a failed request does not count. Replies
    are read as in the other benchmarks, and a second time by the paper's rule for :data:`PAPER_RULE`.
    """
    replies = [Reply.of(result) for result in results]
    readings = [read_option(reply, doc["options"]) for reply in replies]
    by_rule = [read_first_capital(reply, len(doc["options"])) for reply in replies]
    correct = [reading.value == doc["answer"] for reading in readings if reading.status != FAILED]
    capitals = [reading.value == doc["answer"] for reading in by_rule if reading.status != FAILED]
    measures = {
        name: ScoreValue(sum(right) / len(right) if right else None)
        for name, right in (("accuracy", correct), (PAPER_RULE, capitals))
    }
    sent = [reply.sent for reply, reading in zip(replies, readings, strict=True) if reading.status != FAILED]
    if len(sent) > 1:
        measures["identical"] = ScoreValue(float(len(set(sent)) == 1))
    degradation = degradations.canonical_name(doc["degradation"]) if doc.get("degradation") else None
    capability = str(doc.get("capability") or "")
    return QuestionRecord(
        id=str(doc["id"]),
        cluster=str(doc["image_id"]),
        trials=tuple(reading.value or reading.status for reading in readings),
        expected=str(doc["answer"]),
        measures=measures,
        tags={
            **{name: doc.get(name) for name in ("data", "source", "modality", "severity")},
            "capability": capability,
            "mid": source.mid_of_name(capability),
            "degradation": degradation,
            "category": degradations.category(degradation) if degradation else None,
            "option_count": len(doc["options"]),
            **({"rotation": doc["rotation"]} if "rotation" in doc else {}),
        },
        pair=str(doc.get("question_id") or doc["id"]),
        details={
            "paper_rule": [reading.value or reading.status for reading in by_rule],
            "degradation_parameters": RENDERED.get(str(doc["id"])),
        },
        replies=tuple(reply.note(reading.rule) for reply, reading in zip(replies, readings, strict=True)),
    )


def check_capabilities(record: QuestionRecord) -> str:
    """The problem of a logged record: a tag unlike those of :func:`choice_question_record`, or a vote; "" if fine."""
    count = record.tags.get("option_count")
    if type(count) is not int or not 1 <= count <= 26:
        return f"option_count is {count!r:.60}, expected a number of options, 1 to 26"
    for name in ("modality", "capability"):
        if not isinstance(record.tags.get(name), str):
            return f"{name} is {record.tags.get(name)!r:.60}, expected a text"
    if degradation := record.tags.get("degradation"):
        try:
            degradations.canonical_name(str(degradation))
        except UserError as error:
            return str(error).rstrip(".")
    options = parsing.option_letters(count)
    if record.expected is None or record.expected not in [*options]:
        return f"expected is {record.expected!r:.60}, allowed are {', '.join(options)}"
    for trial in sorted(set(record.trials).difference(options, NO_ANSWER, (FAILED,))):
        return f"a trial is {trial!r:.60}, allowed are {', '.join((*options, *NO_ANSWER, FAILED))}"
    return ""


def count_votes_checked(rows: QuestionTable) -> VoteTable:
    """The votes on these questions. Raises UserError if a trial or the expected answer is not an option."""
    return rows.once_for_all_rows("votes", _all_counted).take(rows.rows)


def _all_counted(rows: QuestionTable) -> VoteTable:
    names = {"id": "id", "question_id": "pair", "image_id": "cluster", "answer": "expected",
             "option_count": "option_count", "trials": "trials"}  # fmt: skip
    from lmms_medtasks.statistics.votes import count_votes

    columns = zip(*(rows.column(name) for name in names.values()), strict=True)
    return count_votes(dict(zip(names, values, strict=True)) for values in columns)


# --- Metrics ----------------------------------------------------------------------------------------------------------
ACCURACY = {level: Mean({"severity": level}) for level in LEVELS}
FALL = {level: Contrast(first={"severity": 0}, second={"severity": level}) for level in (1, 2)}
"""Accuracy at the level minus accuracy at L0, each over all its questions, as in Table 6."""

DROP = {level: Contrast(first={"severity": level}, second={"severity": 0}) for level in (1, 2)}
"""The same with the opposite sign: positive if accuracy fell."""

ACCURACY_BY_RULE = {level: Mean({"severity": level}, measure=PAPER_RULE) for level in LEVELS}
FALL_BY_RULE = {
    level: Contrast(first={"severity": 0}, second={"severity": level}, measure=PAPER_RULE) for level in (1, 2)
}
"""As :data:`ACCURACY` and :data:`FALL`, for replies read by the paper's rule, to compare with Table 6."""

GROUPS = {
    "mid": tuple({"mid": mid} for mid in source.mid_capability_names()),
    "category": tuple({"category": key} for key in source.category_keys()),
}
"""The columns of Table 2 and those of Table 3."""

MACROS = {tag: Macro(DEGRADED, groups=groups, skip_empty=True) for tag, groups in GROUPS.items()}


def clean_degraded_pairs(rows: QuestionTable) -> QuestionTable:
    """Each degraded question with its clean form: measures ``before``, ``after`` and ``change``.

    Tags are the degraded question's: the baseline of the group "motion blur" is the clean questions that were blurred
    (as in Table 3, whose baselines differ by category). A clean question counts once for each degraded form. Clusters
    are the clean images.
    """
    return rows.where({"severity": 0}).changes(rows.where(DEGRADED), "accuracy", ("pair",))


def _calibration_of_votes(rows: QuestionTable, kind: Confidence = "entropy") -> Draw:
    from lmms_medtasks.statistics.calibration import calibration_draw

    return Draw(*calibration_draw(count_votes_checked(rows), kind))


def _calibration_changes(rows: QuestionTable, kind: Confidence = "entropy") -> Draw | None:
    """Accuracy, confidence and shift of each level less those of L0; all levels share the drawn images."""
    from lmms_medtasks.statistics.calibration import changes_draw

    tables = {str(level): count_votes_checked(of_level) for (level,), of_level in rows.by(["severity"]).items()}
    return Draw(*changes_draw(tables, "0", kind)) if "0" in tables else None


def _reliability_of_votes(rows: QuestionTable) -> Draw:
    from lmms_medtasks.statistics.reliability import reliability_draw

    return Draw(*reliability_draw(count_votes_checked(rows)))


CALIBRATION = {level: Custom({"severity": level}, main="shift", function=_calibration_of_votes) for level in LEVELS}
"""Equation 4: accuracy, mean confidence C and their difference, the shift, of the questions that have a C."""

CALIBRATION_CHANGE = {level: Custom(main=f"{level}/shift", function=_calibration_changes) for level in (1, 2)}
_of_agreement = functools.partial(_calibration_of_votes, kind="agreement")
_agreement_changes = functools.partial(_calibration_changes, kind="agreement")
AGREEMENT = {level: Custom({"severity": level}, main="shift", function=_of_agreement) for level in LEVELS}
"""The same with the agreement of trials in place of C, over the questions with two replies or more."""

AGREEMENT_CHANGE = {level: Custom(main=f"{level}/shift", function=_agreement_changes) for level in (1, 2)}
RELIABILITY = {level: Custom({"severity": level}, main="ece", function=_reliability_of_votes) for level in LEVELS}
"""Beyond the paper: ECE, Brier score and AURC, see :mod:`lmms_medtasks.statistics.reliability`."""


def dunning_kruger(rows: QuestionTable, exchanges: int | None = None) -> IntraModelDKE:
    """The intra-model Dunning-Kruger effect (equation 5), L0 against L2; ``exchanges`` None: the default number."""
    from lmms_medtasks.statistics.dunning_kruger import EXCHANGES_OF_LEVELS, intra_model_dke

    clean, severe = (count_votes_checked(rows.where({"severity": level})) for level in (0, 2))
    return intra_model_dke(clean, severe, exchanges=EXCHANGES_OF_LEVELS if exchanges is None else exchanges)


def _dke_holds(rows: QuestionTable) -> float | None:
    holds = dunning_kruger(rows, exchanges=0).paired.holds
    return None if holds is None else float(holds)


def _no_change(name: str, rows: QuestionTable) -> float | None:
    """A number of equation 5 under the hypothesis that nothing changes."""
    value: float | None = getattr(dunning_kruger(rows).no_change, name, None)
    return value


def unmapped_capabilities(rows: QuestionTable) -> int:
    """Number of questions whose capability is not among the six."""
    return sum(mid is None for mid in rows.column("mid"))


def _by_level(
    title: str, estimates: Mapping[int, Custom], statistic: str, about: str, *, higher_is_better: bool | None = False
) -> tuple[Metric, ...]:
    """A metric a level: one statistic of these estimates."""
    return tuple(
        Metric(
            f"{title}_l{level}",
            replace(estimate, main=statistic),
            higher_is_better=higher_is_better,
            standard_error=False,
            about=about,
        )
        for level, estimate in estimates.items()
    )


_CONFIDENCE = "Mean confidence C (equation 3); depends on T."
_SHIFT = "Mean C less accuracy (equation 4); depends on T, and 0 is not calibrated."
_AGREEING = "Mean share of agreeing pairs of trials; does not depend on T."
_AGREEMENT_SHIFT = "Mean agreement of trials less accuracy: 0 for calibrated replies, whatever T."

METRICS = (
    number_of_questions(),
    Metric("accuracy", Mean(), main=True),
    *(
        Metric(f"accuracy_l{level}", mean, main=True, about=f"Accuracy at L{level}.")
        for level, mean in ACCURACY.items()
    ),
    Metric(
        PAPER_RULE,
        Mean(measure=PAPER_RULE),
        about="Accuracy of the same replies read by the paper's rule: a single letter, else the first capital letter.",
    ),
    *(
        Metric(f"{PAPER_RULE}_l{level}", mean, about=f"Accuracy at L{level} by the paper's rule (Table 6).")
        for level, mean in ACCURACY_BY_RULE.items()
    ),
    *(
        Metric(
            f"drop_l{level}",
            drop,
            higher_is_better=False,
            main=level == 2,
            unit="points",
            about=f"Accuracy at L0 less that at L{level}, all questions of both (Table 6 with its sign turned).",
        )
        for level, drop in DROP.items()
    ),
    Metric(
        "capability_macro",
        MACROS["mid"],
        about="Mean over the six mid-level capabilities of the accuracy over L1 and L2 (Table 2, Avg.). A capability "
        "without a question is left out.",
    ),
    Metric(
        "category_macro",
        MACROS["category"],
        about="Mean over the five categories of degradations of the accuracy over L1 and L2 (Table 3, Avg.).",
    ),
    Metric(
        "unmapped_capabilities",
        Count({"severity": 0}, function=unmapped_capabilities),
        higher_is_better=False,
        about="Number of questions whose capability is none of the six: in no column of capability_macro.",
        unit="count",
    ),
    *_by_level("confidence", CALIBRATION, "confidence", _CONFIDENCE, higher_is_better=None),
    *_by_level("shift", CALIBRATION, "shift", _SHIFT, higher_is_better=None),
    Metric(
        "shift_size_l2",
        Custom({"severity": 2}, main="size", function=_calibration_of_votes),
        higher_is_better=False,
        main=True,
        unit="points",
        about="Distance of shift_l2 from 0, the ideal of section 3.4: the shift has no better direction. Depends on T, "
        "and by C 0 is not calibrated: see agreement_shift_l2.",
    ),
    *_by_level("agreement", AGREEMENT, "confidence", _AGREEING, higher_is_better=None),
    *_by_level("agreement_shift", AGREEMENT, "shift", _AGREEMENT_SHIFT, higher_is_better=None),
    *_by_level("ece_share_10", RELIABILITY, "ece", "Expected calibration error, ten bins."),
    *_by_level("brier_share", RELIABILITY, "brier", "Brier score of the majority's share."),
    *_by_level("aurc_share", RELIABILITY, "aurc", "Area under the risk-coverage curve."),
    Metric(
        "dke_intra",
        Count(function=_dke_holds),
        higher_is_better=False,
        about="1 if equation 5 (the intra-model Dunning-Kruger effect, L0 against L2, paired by question) is true of "
        "the data, as the paper has it. Read dke_intra_null and dke_intra_p beside it.",
    ),
    Metric(
        "dke_intra_null",
        Count(function=functools.partial(_no_change, "holds")),
        higher_is_better=None,
        about="How often dke_intra is 1 where nothing changes: its share over exchanges of L0 and L2, image by image.",
    ),
    Metric(
        "dke_intra_p",
        Count(function=functools.partial(_no_change, "p")),
        higher_is_better=None,
        about="One-sided p value of the hypothesis that replies at L0 and L2 are drawn alike, by the same exchanges; "
        "units are images.",
    ),
    *rotation_metrics(),
    *READ,
    IDENTICAL_TRIALS,
)

_ACCURACIES = (
    KEY, *(f"accuracy_l{level}" for level in LEVELS), *(f"{PAPER_RULE}_l{level}" for level in LEVELS)
)  # fmt: skip
_MACROS = ("capability_macro", "category_macro", "unmapped_capabilities")
_REPLIES = (*READ_NAMES, "identical_trials")
_CALIBRATED = tuple(
    f"{name}_l{level}"
    for name in ("confidence", "shift", "agreement", "agreement_shift", "ece_share_10", "brier_share", "aurc_share")
    for level in LEVELS
)


def task_set(task: str) -> str:
    """The common stem of tasks of one level: ``medq_deg`` of ``medq_deg_l1``; any other task's own name."""
    stem, _, level = task.rpartition("_")
    return stem if level in ("l0", "l1", "l2") else task


NO_IMAGE = "no image"
OWN_CONDITIONS = {f"{SUITE_NAME}_noimage": NO_IMAGE, f"{SUITE_NAME}_circular": ROTATED}
"""Task -> its condition. Custom tasks without images have their names as conditions."""


def asking_condition(task: str, settings: Mapping[str, Any]) -> str:
    """The condition of a task: levels one by one differ from a task of all levels."""
    if task in OWN_CONDITIONS:
        return OWN_CONDITIONS[task]
    return "" if task == SUITE_NAME else f"{task_set(task)}, level by level" if task_set(task) != task else task


SUITE = Suite(
    name=SUITE_NAME,
    title="MedQ-Deg",
    cluster="image",
    data=("medq_deg",),
    tags=tuple("data source modality severity capability mid degradation category option_count rotation".split()),
    measures=MEASURES,
    metrics=METRICS,
    tasks={
        "level": (KEY, "accuracy", PAPER_RULE, *_REPLIES),
        "all": (*_ACCURACIES, "drop_l1", "drop_l2", *_MACROS, *_REPLIES),
        "circular": (KEY, *circular_task(), *READ_NAMES),
        "calib": (*_ACCURACIES, *_CALIBRATED, "shift_size_l2", "dke_intra", "dke_intra_null", "dke_intra_p", *_REPLIES),
    },
    condition=asking_condition,
    tag_values={
        "severity": LEVELS,
        "mid": (None, *source.mid_capability_names()),
        "category": (None, *source.category_keys()),
    },
    check=check_capabilities,
    identity=("severity", "id"),
)


# --- What the YAMLs name ----------------------------------------------------------------------------------------------
process_results = ScoringHook(SUITE, "all", choice_question_record)
process_results_calib = ScoringHook(SUITE, "calib", choice_question_record)
process_results_level = ScoringHook(SUITE, "level", choice_question_record)
process_results_circular = ScoringHook(SUITE, "circular", choice_question_record)
