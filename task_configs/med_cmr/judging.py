"""The judge of Med-CMR's open answers: four scores from 0 to 5, weighted 1, 1, 4, 4 into a total from 0 to 100.

From the paper: what the four dimensions are, their weights, the total normalised to 0 to 100, the judge
(DeepSeek-V3.2-Exp). Its prompt and the scale of a single score are not published: ours are our own, in
``prompts/med_cmr_open.txt``, with an anchor for each score; ``visual_description`` of the question is what visual
accuracy is judged against, as the judge sees no image.

An answer that equals the reference is judged too: a rule could settle ground-truth correctness only, and the judge
gives all four scores in one reply. The share of such answers is the metric ``exact_match``. Only a reply without text,
or with reasoning cut off inside its tag, is settled without the judge: worst in everything.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lmms_medtasks.judges.protocol import JudgedItem, JudgeProtocol, ScoreDimension
from lmms_medtasks.parsing.reasoned import read_reasoned

WEIGHTS: Mapping[str, int] = {"consistency": 1, "coherence": 1, "visual_accuracy": 4, "ground_truth_correctness": 4}
"""Dimension -> weight in the total (paper)."""

HIGHEST = 5

_LABELS = {str(score): float(score) for score in range(HIGHEST + 1)}


def weighted_total(scores: Mapping[str, float]) -> float:
    """The weighted total of the four scores (0 to 5 each), from 0 to 100.

    >>> weighted_total({"consistency": 5, "coherence": 5, "visual_accuracy": 0, "ground_truth_correctness": 0})
    20.0
    """
    weighted = sum(weight * scores[name] for name, weight in WEIGHTS.items())
    return 100.0 * weighted / (HIGHEST * sum(WEIGHTS.values()))


def judged_item(doc: Mapping[str, Any], reply: str) -> JudgedItem:
    """The fields of one reply to ``doc`` that the judge sees."""
    parts = read_reasoned(reply)
    fields = {
        "question": doc["question"],
        "visual_description": doc["visual_description"],
        "reference": doc["answer"],
        "reasoning": parts.reasoning,
        "answer": parts.answer,
    }
    return JudgedItem(str(doc["id"]), fields)


def settle_empty_reply(judged: JudgedItem) -> tuple[Mapping[str, str], str] | None:
    """Worst in everything for a reply without any text; None for all others."""
    if judged.fields["reasoning"].strip() or judged.fields["answer"].strip():
        return None
    return dict.fromkeys(WEIGHTS, "0"), "empty"


PROTOCOL = JudgeProtocol(
    name="med_cmr_open",
    prompt=str(Path(__file__).parent / "prompts" / "med_cmr_open.txt"),
    version=2,
    dimensions=tuple(ScoreDimension(name, _LABELS) for name in WEIGHTS),
    fields=("question", "visual_description", "reference", "reasoning", "answer"),
    paper_judge="DeepSeek-V3.2-Exp",
    item=judged_item,
    settle=settle_empty_reply,
    reply="free",  # the API of the paper's judge takes no JSON schema
    total=weighted_total,
    check=str(Path(__file__).parent / "judge_checks" / "med_cmr_open.yml"),
    source="Dimensions, weights and normalisation: the paper. Prompt, anchors and the scale 0 to 5: ours.",
)

PROTOCOLS = (PROTOCOL,)
"""Read by :mod:`lmms_medtasks.judges.registry`."""
