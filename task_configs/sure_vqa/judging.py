"""SURE-VQA's judge protocols: open answers (1 to 5 stars), closed ones (0, 1), and two-option ones (0, 0.5, 1).

Scales and rule are the paper's (section 2, R2; Appendix A.2), the prompts are in our words. Also ours:

* The hybrid rule. The paper gives an exact match the highest score without a judge; its public code compares the texts
  unchanged. Here case, white space, and punctuation around the answer do not count
  (:func:`~lmms_medtasks.judges.open_answer.fold_answer`).
* If the options of a closed question are known and the answer is exactly one of them, the scale gives the score
  without a judge. So it does for options yes and no if the answer says one of them in a sentence ("No, there is no
  nodule."). An empty answer gets the lowest score.

With the setting ``judge_rule: paper`` only the paper's rule holds: unchanged texts are compared, and nothing else is
settled. The protocols of MIMIC-CXR-VQA differ only in that they carry the terms of the data.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lmms_medtasks.judges.open_answer import fold_answer
from lmms_medtasks.judges.protocol import JudgedItem, JudgeProtocol, ScoreDimension
from lmms_medtasks.parsing.yes_no import read_yes_no
from lmms_medtasks.task_configs.sure_vqa.source_reader import SEPARATOR

PAPER_JUDGE = "google/gemma-2-9b-it"
"""The paper says Gemma (Team Gemma et al., 2024); its public code names this model."""

MIMIC_TERMS = (
    "PhysioNet Credentialed Health Data Use Agreement 1.5.0: data must not be shared with third parties, which "
    "online judges and models are."
)
OPEN_TAGS = ("suite", "shift", "set", "answer_type")
"""The tags of a question of MIMIC-CXR-VQA that a log may hold: its test and its way of scoring."""

_BOTH_NONE = {"both", "none"}
_YES_NO = {"yes", "no"}
_FOLDER = Path(__file__).parent

_DIMENSIONS = {
    "open": ScoreDimension("stars", {str(stars): float(stars) for stars in range(1, 6)}),
    "closed": ScoreDimension("correct", {"0": 0.0, "1": 1.0}),
    "multilabel": ScoreDimension("correct", {"0": 0.0, "0.5": 0.5, "1": 1.0}),
}
"""Kind of question -> its scale."""


def _judged_item(kind: str, doc: Mapping[str, Any], reply: str) -> JudgedItem | None:
    """The item of a question of this kind; None for any other kind, which another protocol judges."""
    if doc["answer_type"] != kind:
        return None
    fields = {"question": doc["question"], "reference": doc["answer"], "answer": reply}
    return JudgedItem(str(doc["id"]), fields if kind == "open" else {**fields, "options": doc["choices"]})


def _settle_equal_answer(dimension: ScoreDimension, item: JudgedItem) -> tuple[Mapping[str, str], str] | None:
    labels = list(dimension.labels)
    answer, reference = fold_answer(item.fields["answer"]), fold_answer(item.fields["reference"])
    if not answer:
        return {dimension.name: labels[0]}, "no answer"
    if answer == reference:
        return {dimension.name: labels[-1]}, "exact match"
    options = {fold_answer(option) for option in item.fields.get("options", "").split(SEPARATOR)}
    if answer in options and reference in options:
        return {dimension.name: _by_table(answer, reference, dimension)}, "another option"
    if options == _YES_NO and reference in options:
        # "No, there is no nodule." says no; the judge decides about hedged answers.
        parsed = read_yes_no(item.fields["answer"], item.fields["question"])
        if parsed.status == "ok":
            return {dimension.name: labels[-1] if parsed.value == reference else labels[0]}, "yes or no"
    return None


def _settle_as_printed(dimension: ScoreDimension, item: JudgedItem) -> tuple[Mapping[str, str], str] | None:
    """The paper's rule: equal texts, unchanged. The judge gets all others, also empty ones."""
    if item.fields["answer"] != item.fields["reference"]:
        return None
    return {dimension.name: list(dimension.labels)[-1]}, "exact match, unfolded"


def _by_table(answer: str, reference: str, dimension: ScoreDimension) -> str:
    """The label of a wrong option: half right if one of the two is a single option and the other "both" or "none"."""
    half = "0.5" in dimension.labels and (answer in _BOTH_NONE) != (reference in _BOTH_NONE)
    return "0.5" if half else "0"


def _make_protocol(kind: str, data: str = "", terms: str = "") -> JudgeProtocol:
    dimension = _DIMENSIONS[kind]
    return JudgeProtocol(
        name=f"sure_{data}{kind}",
        prompt=str(_FOLDER / "prompts" / f"sure_{kind}.txt"),
        version=2,
        dimensions=(dimension,),
        fields=("question", *(() if kind == "open" else ("options",)), "reference", "answer"),
        paper_judge=PAPER_JUDGE,
        item=functools.partial(_judged_item, kind),
        settle=functools.partial(_settle_equal_answer, dimension),
        rules={"paper": functools.partial(_settle_as_printed, dimension)},
        terms=terms,
        open_tags=OPEN_TAGS if terms else (),
        check=str(_FOLDER / "judge_checks" / f"sure_{kind}.yml"),
        source="SURE-VQA, section 2 (R2) and Appendix A.2; prompt in our words; the rule for plain options is ours",
    )


# The registry finds protocols by attributes of the module.
OPEN, CLOSED, MULTILABEL = (_make_protocol(kind) for kind in _DIMENSIONS)
MIMIC_OPEN, MIMIC_CLOSED, MIMIC_MULTILABEL = (_make_protocol(kind, "mimic_", MIMIC_TERMS) for kind in _DIMENSIONS)

BY_KIND = {"open": OPEN, "closed": CLOSED, "multilabel": MULTILABEL}
MIMIC_BY_KIND = {"open": MIMIC_OPEN, "closed": MIMIC_CLOSED, "multilabel": MIMIC_MULTILABEL}
PROTOCOLS = (*BY_KIND.values(), *MIMIC_BY_KIND.values())
