"""Token-matching metrics of an open answer: exact match, token precision, recall and F1, BLEU-1.

The "traditional metrics" of SURE-VQA (section 2, P2), shown beside the judge's scores because they know neither
synonyms nor negation. The paper names them and defines none; the definitions here are the field's:

* Both texts are normalised first as the VQA challenge does (Antol et al. 2015; the harness's own
  ``EvalAIAnswerProcessor``): lower case, punctuation and articles dropped, number words to digits ("none" to "0").
  Tokens are what white space then separates. A text of which that leaves nothing ("A") is taken as it stands, stripped
  and in lower case.
* The authors' published code computes under the name "exact match" the share of the answer's words that stand in the
  reference. Ours is equality.
* The authors' code counts every copy in the answer of a word that the reference has as matched, and no copy in the
  reference as missed. Here a token matches as often as it occurs in both (Rajpurkar et al. 2016). The two differ where
  a shared word occurs more often in one of the texts than in the other.
"""

from __future__ import annotations

import functools
import importlib.util
import runpy
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, cast

if TYPE_CHECKING:
    from sacrebleu.metrics import BLEU


class TokenScores(NamedTuple):
    """Shares in [0, 1]: of the answer's tokens, of the reference's tokens, and their harmonic mean."""

    precision: float
    recall: float
    f1: float


def exact_match(answer: str, reference: str) -> bool:
    """Whether both texts have the same tokens in the same order.

    >>> exact_match("The X-Ray.", "x-ray")
    True
    """
    return split_tokens(answer) == split_tokens(reference)


def token_scores(answer: str, reference: str) -> TokenScores:
    """Precision, recall and F1 over tokens; all 0 where either text has none or they share none.

    >>> token_scores("left lung, left", "the left lung")  # 2 of 3 tokens match, 2 of 2 are found
    TokenScores(precision=0.6666666666666666, recall=1.0, f1=0.8)
    """
    given, expected = Counter(split_tokens(answer)), Counter(split_tokens(reference))
    shared = (given & expected).total()
    if not shared:
        return TokenScores(0.0, 0.0, 0.0)
    precision, recall = shared / given.total(), shared / expected.total()
    return TokenScores(precision, recall, 2 * precision * recall / (precision + recall))


def bleu_1(answer: str, reference: str) -> float:
    """BLEU-1 in [0, 1] of one sentence: clipped unigram precision times the brevity penalty, without smoothing.

    Unigrams, as in the authors' code: most answers have fewer than four words, and BLEU-4 of those is 0. Computed by
    sacrebleu. 0 for an empty answer.

    >>> round(bleu_1("left lung", "left lower lung"), 4)  # precision 1, penalty exp(1 - 3/2)
    0.6065
    """
    given, expected = " ".join(split_tokens(answer)), " ".join(split_tokens(reference))
    return min(1.0, _load_bleu().sentence_score(given, [expected]).score / 100) if given and expected else 0.0


def split_tokens(text: str) -> tuple[str, ...]:
    """The tokens of a text, normalised as the module says; none for a text of white space."""
    return tuple(_load_processor()(text).split() or text.lower().split())


@functools.cache
def _load_processor() -> Callable[[str], str]:
    """The harness's processor, loaded from its file alone: its package imports torch and transformers."""
    spec = importlib.util.find_spec("lmms_eval")
    folders = (spec.submodule_search_locations if spec else None) or [""]
    path = Path(folders[0], "tasks", "_task_utils", "vqa_eval_metric.py")
    return cast("Callable[[str], str]", runpy.run_path(str(path))["EvalAIAnswerProcessor"]())


@functools.cache
def _load_bleu() -> BLEU:
    from sacrebleu.metrics import BLEU

    # effective_order changes nothing with one order of n-grams; without it sacrebleu warns at every sentence.
    return BLEU(max_ngram_order=1, tokenize="none", smooth_method="none", effective_order=True)
