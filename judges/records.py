"""The judgement of an open question: what was read from each reply, who judged it, and the verdicts.

A record with its judgement (:mod:`lmms_medtasks.record`) is all that the sample log keeps of a question. It can be
judged and scored again from there, by a pure function of the record that the scoring hook names::

    @records.scored_by(metrics_of)
    def process_results(doc, results):
        return metrics_of(...)

Under terms a record holds no text of the data: ``items`` is "withheld", the judge's words are left out, and the replies
stay on this machine (:mod:`lmms_medtasks.judges.withheld`), found again by their digests.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from lmms_medtasks.judges import own_scales, registry, withheld
from lmms_medtasks.judges.protocol import (
    JudgedItem,
    JudgeProtocol,
    JudgeVerdict,
    Key,
    count_judging_trials,
    judgement_key,
)
from lmms_medtasks.parsing import Reply
from lmms_medtasks.record import QuestionJudgement, QuestionRecord

Numbers = Mapping[str, float]
Measure = str | Callable[[Numbers], float]
"""What is measured of one judgement: a dimension's number, or a function of all dimensions' numbers. The function must
not fall where a dimension gets better: the bounds are its values where all dimensions are at their worst, or best."""
Hook = TypeVar("Hook", bound=Callable[..., Any])

WITHHELD = "withheld"
NOT_JUDGED = "not judged"


class VerdictTable:
    """Verdicts by what was judged, and the judge that gave them. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._verdicts: dict[Key, JudgeVerdict] = {}
        self._judges: dict[str, Mapping[str, Any]] = {}

    def put(self, verdicts: Mapping[Key, JudgeVerdict]) -> None:
        with self._lock:
            self._verdicts.update(verdicts)

    def get(self, protocol: JudgeProtocol, item: JudgedItem, trial: int) -> JudgeVerdict | None:
        """The verdict on trial ``trial`` (from 0) of ``item``, None if it was not judged here."""
        with self._lock:
            return self._verdicts.get(judgement_key(protocol, item, trial))

    def set_judge(self, protocol: JudgeProtocol, description: Mapping[str, Any]) -> None:
        """Set who judges under ``protocol`` in this process; verdicts of another judge under it are forgotten."""
        with self._lock:
            if self._judges.get(protocol.name) != description:
                self._verdicts = {key: value for key, value in self._verdicts.items() if key[0] != protocol.name}
            self._judges[protocol.name] = description

    def judge(self, protocol: JudgeProtocol) -> Mapping[str, Any] | None:
        """Who judges under ``protocol``; None if unknown."""
        with self._lock:
            return self._judges.get(protocol.name)

    def clear(self) -> None:
        with self._lock:
            self._verdicts, self._judges = {}, {}


TABLE = VerdictTable()  # One a process, as the harness gives no other way from the stage to the hooks


def make_judged_items(
    doc: Mapping[str, Any], results: Sequence[Reply | str | None], protocol: JudgeProtocol
) -> list[JudgedItem | None]:
    """The item to judge of each reply (an answer without thoughts); None if it failed or nothing is judged."""
    replies = map(Reply.of, results)
    return [None if reply.outcome == "failed" else protocol.item(doc, reply.answer) for reply in replies]


def make_judgement(
    doc: Mapping[str, Any], results: Sequence[Reply | str | None], protocol: JudgeProtocol
) -> tuple[tuple[str, ...], QuestionJudgement]:
    """What was read of a document's replies ("ok", or why a reply has no text), and their judgement. No request is
    made.

    The judgement has for each reply the fields shown to the judge, or None, and a verdict for each trial, as
    :func:`verdict_to_json` has it; none if there is nothing to judge.
    """
    replies = [Reply.of(result) for result in results]
    items = make_judged_items(doc, replies, protocol)
    nobody = {"name": "none", "protocol": protocol.name, **own_scales.scale_metadata(protocol)}
    judge = dict(TABLE.judge(protocol) or nobody)
    trials = count_judging_trials(protocol, judge.get("settings", {}))
    judgement = QuestionJudgement(
        judge=judge,
        items=WITHHELD if protocol.terms else tuple(item and dict(item.fields) for item in items),
        verdicts=tuple(tuple(_find_verdicts(protocol, item, trials)) for item in items),
        replies=tuple(withheld.keep_withheld_reply(reply.sent.strip(), str(doc["id"])) for reply in replies)
        if protocol.terms
        else None,
    )
    return tuple(reply.outcome or "ok" for reply in replies), judgement


def _find_verdicts(protocol: JudgeProtocol, item: JudgedItem | None, trials: int) -> list[dict[str, Any]]:
    if item is None:
        return []
    verdicts = [TABLE.get(protocol, item, trial) for trial in range(trials)]
    return [verdict_to_json(verdict or JudgeVerdict("missing", reason=NOT_JUDGED), protocol) for verdict in verdicts]


def verdict_to_json(verdict: JudgeVerdict, protocol: JudgeProtocol) -> dict[str, Any]:
    """A verdict as a record holds it; under terms without the judge's words, which may repeat the data's."""
    if protocol.terms:
        reason, reply = verdict.reason.partition(":")[0], ""
    else:
        reason, reply = verdict.reason, verdict.reply
    labels = dict(verdict.labels)
    fields = {"status": verdict.status, "labels": labels, "reason": reason, "reply": reply, "model": verdict.model}
    return fields | ({"system_fingerprint": verdict.system_fingerprint} if verdict.system_fingerprint else {})


def scored_by(metrics_of: Callable[[QuestionRecord], dict[str, Any]]) -> Callable[[Hook], Hook]:
    """Declare which pure function makes a scoring hook's metrics of a record (``hook.metrics_of``)."""

    def mark(hook: Hook) -> Hook:
        hook.metrics_of = metrics_of  # type: ignore[attr-defined]
        return hook

    return mark


def judgement_protocol(judgement: QuestionJudgement) -> JudgeProtocol:
    return registry.protocol_from_description(judgement.judge)


def verdict_scores(judgement: QuestionJudgement, measure: Measure) -> list[float | None]:
    """The number of each verdict (replies in order, for each its trials), None if it is missing."""
    protocol = judgement_protocol(judgement)
    return [_verdict_number(verdict, measure, protocol) for verdicts in judgement.verdicts for verdict in verdicts]


def score_bounds(protocol: JudgeProtocol, measure: Measure) -> tuple[float, float]:
    if isinstance(measure, str):
        dimension = protocol.dimension(measure)
        return dimension.worst, dimension.best
    return (
        measure({dimension.name: dimension.worst for dimension in protocol.dimensions}),
        measure({dimension.name: dimension.best for dimension in protocol.dimensions}),
    )


def _verdict_number(verdict: Mapping[str, Any], measure: Measure, protocol: JudgeProtocol) -> float | None:
    if verdict["status"] == "missing":
        return None
    labels = verdict["labels"]
    if isinstance(measure, str):
        return protocol.dimension(measure).labels[labels[measure]]
    return measure({dimension.name: dimension.labels[labels[dimension.name]] for dimension in protocol.dimensions})
