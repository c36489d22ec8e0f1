"""SURE-VQA's metrics: closed and open scores on the i.i.d. and the OoD test, and relative robustness.

The record of a question stands once in the sample log, under ``questions``. ``closed_*`` and ``open_*`` have the judged
value of a question of that kind and side, and an empty value otherwise; the metrics that need more share the record in
memory (:class:`Shared`). All of them are plain functions, and a record can be scored again from the log alone.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from lmms_medtasks.judges import records as judged
from lmms_medtasks.judges import sure_vqa
from lmms_medtasks.judges.protocol import Protocol
from lmms_medtasks.statistics import accuracy, coverage, robustness, text
from lmms_medtasks.statistics.shared import Shared

Record = Mapping[str, Any]
Aggregation = Callable[[Sequence[Shared]], float | None]
SIDES = ("iid", "ood")
KINDS = ("closed", "open")
MEASURES = {"closed": "correct", "open": "stars"}
"""Closed scores are from 0 to 1 (a two-option question may get 0.5), open ones stars from 1 to 5, as in the paper."""
TRADITIONAL = ("exact_match", "f1", "precision", "recall", "bleu")


def kind_of(record: Record) -> str:
    """ "open", or "closed" also for a question with two options that may both be right."""
    return "open" if record["answer_type"] == "open" else "closed"


def value(record: Record) -> dict[str, Any]:
    """The judged value of a question's answers, see :func:`lmms_medtasks.judges.records.value`."""
    return judged.value(record, MEASURES[kind_of(record)])


def metrics_of(record: dict[str, Any]) -> dict[str, Any]:
    """The values of all metrics of a task with both tests; a function of the record alone."""
    scored: dict[str, Any] = {f"{kind}_{side}": {} for kind in KINDS for side in SIDES}
    scored[f"{kind_of(record)}_{record['set']}"] = value(record)
    return {"questions": record, **scored, **dict.fromkeys(SHARED, Shared(record, "questions")), **_failures(record)}


def metrics_of_one(record: dict[str, Any]) -> dict[str, Any]:
    """The values of all metrics of a task with one of the tests."""
    scored: dict[str, Any] = {kind: {} for kind in KINDS}
    scored[kind_of(record)] = value(record)
    return {
        "questions": record,
        **scored,
        **dict.fromkeys(SHARED_ONE, Shared(record, "questions")),
        **_failures(record),
    }


def _failures(record: Record) -> dict[str, Any]:
    return {"failed_requests": {"failed": record["trials"].count("failed"), "trials": len(record["trials"])}}


@judged.scored_by(metrics_of)
def process_results(doc: Mapping[str, Any], results: Sequence[str]) -> dict[str, Any]:
    """Score the reply to a question of a task with both tests."""
    return metrics_of(record_of(doc, results))


@judged.scored_by(metrics_of_one)
def process_results_one(doc: Mapping[str, Any], results: Sequence[str]) -> dict[str, Any]:
    """Score the reply to a question of a task with one of the tests."""
    return metrics_of_one(record_of(doc, results))


def record_of(doc: Mapping[str, Any], results: Sequence[str]) -> dict[str, Any]:
    """The record of a question: what the judge said of the replies, and the traditional scores of each."""
    protocol = protocol_of(doc)
    items = judged.items_of(doc, results, protocol)
    record = judged.judged_record(doc, results, protocol)
    record["traditional"] = [item and traditional(item.fields["answer"], item.fields["reference"]) for item in items]
    return record


def protocol_of(doc: Mapping[str, Any]) -> Protocol:
    """The protocol that judges a question: by its kind, and that of MIMIC-CXR-VQA by its terms too."""
    by_kind = sure_vqa.MIMIC_BY_KIND if doc["suite"] == "sure_mimic" else sure_vqa.BY_KIND
    return by_kind[doc["answer_type"]]


def traditional(answer: str, reference: str) -> dict[str, float]:
    """The token-matching scores of an answer, each from 0 to 1 (:mod:`lmms_medtasks.statistics.text`)."""
    tokens = text.token_scores(answer, reference)
    return {
        "exact_match": float(text.exact_match(answer, reference)),
        "f1": tokens.f1,
        "precision": tokens.precision,
        "recall": tokens.recall,
        "bleu": text.bleu(answer, reference),
    }


# --- Aggregations -----------------------------------------------------------------------------------------------------


def failed_requests(values: Sequence[Record]) -> int:
    """Number of requests that failed: their answers have no score."""
    return accuracy.failed_requests(values)


def questions(values: Sequence[Record]) -> int:
    """Number of questions."""
    return len(values)


def shared_images(values: Sequence[Shared]) -> int:
    """Number of images that both tests have questions about."""
    images = [{each.record["image_id"] for each in values if each.record["set"] == side} for side in SIDES]
    return len(set.intersection(*images))


def _values(shared: Sequence[Shared], kind: str, side: str = "") -> list[dict[str, Any]]:
    """The judged values of a kind of question, sorted: several processes hand them over in another order than one."""
    chosen = [each.record for each in shared if kind_of(each.record) == kind and side in ("", each.record["set"])]
    return sorted(map(value, chosen), key=lambda found: found["id"])


def _relative_robustness(shared: Sequence[Shared], kind: str) -> float | None:
    """RR = 1 - (i.i.d. - OoD) / i.i.d. of the means (section 3.2); None where one is missing, or i.i.d. is 0."""
    iid, ood = (coverage.judged_mean(_values(shared, kind, side)) for side in SIDES)
    return robustness.relative_robustness(iid, ood)


def _of_values(shared: Sequence[Shared], kind: str, side: str, function: Callable[..., float | None]) -> float | None:
    return function(_values(shared, kind, side))


def _traditional(shared: Sequence[Shared], kind: str, side: str, name: str) -> float | None:
    """Mean of a token-matching score over the replies to the questions of a kind; failed requests have none."""
    chosen = [each.record for each in shared if kind_of(each.record) == kind and side in ("", each.record["set"])]
    scores = [scored[name] for record in chosen for scored in record["traditional"] if scored]
    return math.fsum(scores) / len(scores) if scores else None


def _aggregations(sides: Sequence[str]) -> dict[str, Aggregation]:
    """The metrics that share a record, by name; the YAMLs name each as an attribute of this module."""
    found: dict[str, Aggregation] = {}
    for kind in KINDS:
        found[f"{kind}_judged"] = functools.partial(_of_values, kind=kind, side="", function=coverage.coverage)
        for side in sides:
            name = f"{kind}_{side}" if side else kind
            of_side = functools.partial(_of_values, kind=kind, side=side)
            found[f"{name}_worst"] = functools.partial(of_side, function=coverage.bound_worst)
            found[f"{name}_best"] = functools.partial(of_side, function=coverage.bound_best)
            for score in TRADITIONAL if kind == "open" else ("exact_match",):
                found[f"{name}_{score}"] = functools.partial(_traditional, kind=kind, side=side, name=score)
    return found


PAIRED: dict[str, Aggregation] = {
    **{f"{kind}_rr": functools.partial(_relative_robustness, kind=kind) for kind in KINDS},
    "shared_images": shared_images,
    **_aggregations(SIDES),
}
ALONE = _aggregations(("",))
SHARED, SHARED_ONE = tuple(PAIRED), tuple(ALONE)


def __getattr__(name: str) -> Aggregation:
    """The aggregations of :data:`PAIRED` and :data:`ALONE` by their names."""
    for table in (PAIRED, ALONE):
        if name in table:
            return table[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
