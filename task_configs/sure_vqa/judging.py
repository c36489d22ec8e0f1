"""SURE-VQA's judge protocols: open answers (1 to 5 stars), closed ones (0, 1), and two-option ones (0, 0.5, 1).

Scales and rule are the paper's (section 2, R2; Appendix A.2), the prompts say the same in our words. What is ours:

* The hybrid rule. The paper gives an exact match the highest score without asking the judge; its public code compares
  the texts as they are. Here they are compared folded (:func:`~lmms_medtasks.judges.open_answer.fold_answer`): case,
  white space, and punctuation around the answer do not count.
* Where the options of a closed question are known and the answer is one of them and nothing else, the scale says the
  score, and no judge is asked either. Of a question whose options are yes and no, so it is where the answer says one
  of them in a sentence ("No, there is no nodule."). An answer without a word gets the lowest score.

The setting ``judge_rule: paper`` leaves the paper's rule alone: texts as they are, and nothing else settled.

Questions of MIMIC-CXR-VQA have protocols of their own that differ in one thing: they carry the terms of the data.
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
"""What a log may say of a question of MIMIC-CXR-VQA besides its ids: which test it is in, and how it is scored."""

_BOTH_NONE = {"both", "none"}
_YES_NO = {"yes", "no"}
_PROMPTS = Path(__file__).parent / "prompts"
_CHECKS = Path(__file__).parent / "judge_checks"

STARS = ScoreDimension("stars", {str(stars): float(stars) for stars in range(1, 6)})
CLOSED = ScoreDimension("correct", {"0": 0.0, "1": 1.0})
MULTILABEL = ScoreDimension("correct", {"0": 0.0, "0.5": 0.5, "1": 1.0})


def _judged_item(kind: str, with_options: bool, doc: Mapping[str, Any], reply: str) -> JudgedItem | None:
    """The item of a question of this kind; None for one of another kind, which another protocol judges."""
    if doc["answer_type"] != kind:
        return None
    fields = {"question": doc["question"], "reference": doc["answer"], "answer": reply}
    if with_options:
        fields["options"] = doc["choices"]
    return JudgedItem(str(doc["id"]), fields)


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
        # "No, there is no nodule." says no; what it hedges, the judge decides.
        said = read_yes_no(item.fields["answer"], item.fields["question"])
        if said.status == "ok":
            return {dimension.name: labels[-1] if said.value == reference else labels[0]}, "yes or no"
    return None


def _settle_as_printed(dimension: ScoreDimension, item: JudgedItem) -> tuple[Mapping[str, str], str] | None:
    """The paper's rule: texts that are the same as they stand. All others are the judge's, empty ones too."""
    if item.fields["answer"] != item.fields["reference"]:
        return None
    return {dimension.name: list(dimension.labels)[-1]}, "exact match, unfolded"


def _by_table(answer: str, reference: str, dimension: ScoreDimension) -> str:
    """The label of a wrong option: half right if one of the two is a single option and the other "both" or "none"."""
    half = "0.5" in dimension.labels and (answer in _BOTH_NONE) != (reference in _BOTH_NONE)
    return "0.5" if half else "0"


def _make_protocol(name: str, kind: str, dimension: ScoreDimension, terms: str = "") -> JudgeProtocol:
    with_options = kind != "open"
    return JudgeProtocol(
        name=name,
        prompt=str(_PROMPTS / f"sure_{kind}.txt"),
        version=2,
        dimensions=(dimension,),
        fields=("question", *(("options",) if with_options else ()), "reference", "answer"),
        paper_judge=PAPER_JUDGE,
        item=functools.partial(_judged_item, kind, with_options),
        settle=functools.partial(_settle_equal_answer, dimension),
        rules={"paper": functools.partial(_settle_as_printed, dimension)},
        terms=terms,
        open_tags=OPEN_TAGS if terms else (),
        check=str(_CHECKS / f"sure_{kind}.yml"),
        source="SURE-VQA, section 2 (R2) and Appendix A.2; prompt in our words; the rule for plain options is ours",
    )


OPEN = _make_protocol("sure_open", "open", STARS)
CLOSED_PROTOCOL = _make_protocol("sure_closed", "closed", CLOSED)
MULTILABEL_PROTOCOL = _make_protocol("sure_multilabel", "multilabel", MULTILABEL)
MIMIC_OPEN = _make_protocol("sure_mimic_open", "open", STARS, MIMIC_TERMS)
MIMIC_CLOSED = _make_protocol("sure_mimic_closed", "closed", CLOSED, MIMIC_TERMS)
MIMIC_MULTILABEL = _make_protocol("sure_mimic_multilabel", "multilabel", MULTILABEL, MIMIC_TERMS)

BY_KIND = {"open": OPEN, "closed": CLOSED_PROTOCOL, "multilabel": MULTILABEL_PROTOCOL}
MIMIC_BY_KIND = {"open": MIMIC_OPEN, "closed": MIMIC_CLOSED, "multilabel": MIMIC_MULTILABEL}

PROTOCOLS = (*BY_KIND.values(), *MIMIC_BY_KIND.values())
