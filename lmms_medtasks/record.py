"""The record of a question: a scoring hook makes it, the sample log holds it, everything else reads it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from lmms_medtasks.errors import UserError

VERSION = 4
"""Raised when the form of a record changes. A log of another version is refused, never guessed at.

4: "cut" stands for a reply that was cut off before an answer, and ``replies`` says why each reply ended."""

KEY = "questions"
"""The metric under which the sample log holds the record; its value in the harness's table is their number."""

FAILED = "failed"  # What is read of a request that got no reply

EMPTY = "empty"
"""What is read of a reply that says nothing: no text or white space only, reasoning in its tags apart."""

CUT = "cut"
"""What is read of a reply without an answer that the limit of new tokens ended, or whose thoughts never end."""

UNREAD = ("ambiguous", "refused", "unreadable", CUT)
"""What is read of a reply with words and without an answer."""

NO_ANSWER = (EMPTY, *UNREAD)
"""What is read of a reply without an answer. It counts as wrong where answers are read."""

Tag = str | int | float | bool | None
JudgementStatus = Literal["exact", "judged", "partial", "missing", "failed"]
"""exact: a rule settled all judgements. judged: all were obtained, not all of them by a rule. partial, missing: some,
or all, are missing. failed: no reply came that could be judged."""

_NUMBERS = ("score", "low", "high")
_COUNTS = ("judged", "requested")


@dataclass(frozen=True)
class ScoreValue:
    """What one question gives to one measure.

    Attributes:
        score: a finite number; None if there is none (a failed request, a missing judgement).
        low, high: the score if every missing judgement were the worst, or the best; None if nothing is judged.
        judged, requested: judgements obtained and requested; None if nothing is judged.
    """

    score: float | None = None
    low: float | None = None
    high: float | None = None
    judged: int | None = None
    requested: int | None = None


@dataclass(frozen=True)
class QuestionJudgement:
    """Who judged a question's replies, what was shown, and what came back.

    Attributes:
        judge: name, protocol, prompt digest, settings and so on; ``{"name": "none", ...}`` without a judge.
        items: for each reply the fields that the judge is shown, None if there is nothing to judge; "withheld" if the
            data's terms forbid to keep them.
        verdicts: for each reply its verdicts, mappings of ``status`` ("exact", "judged", "missing"), ``labels``,
            ``reason`` and ``reply``.
        replies: of withheld texts, for each reply the digest under which this machine keeps it.
    """

    judge: Mapping[str, Any]
    items: tuple[Mapping[str, Any] | None, ...] | str
    verdicts: tuple[tuple[Mapping[str, Any], ...], ...]
    replies: tuple[Any, ...] | None = None

    @property
    def status(self) -> JudgementStatus:
        """The status of all the question's judgements together."""
        statuses = [verdict["status"] for verdicts in self.verdicts for verdict in verdicts]
        if not statuses:
            return "failed"
        missing = statuses.count("missing")
        if missing:
            return "missing" if missing == len(statuses) else "partial"
        return "exact" if set(statuses) == {"exact"} else "judged"


@dataclass(frozen=True)
class QuestionRecord:
    """One question as a scoring hook leaves it.

    Attributes:
        id: unique within a task. cluster: what dependent questions share (an image, an item, a case).
        trials: what was read from each reply: an answer, or one of :data:`NO_ANSWER`, or :data:`FAILED`.
        expected: the right answer in the terms of ``trials``; None if answers are judged.
        measures: by the name that the suite declares, without measures that the question is no part of.
        tags: what results are broken down by.
        pair: names the question whose other forms (levels, wordings) are paired with this one; the id by default.
        details: JSON of the suite's own that the log keeps and no table holds.
        replies: :meth:`lmms_medtasks.parsing.reply.Reply.note` of each reply: why it ended (``ended``, at which
            ``limit``), and which rules made (``marks``, ``unknown_mark``) and read (``rule``) the answer.
    """

    id: str
    cluster: str
    trials: tuple[str, ...]
    expected: str | None
    measures: Mapping[str, ScoreValue]
    tags: Mapping[str, Tag] = field(default_factory=dict)
    pair: str = ""
    judgement: QuestionJudgement | None = None
    details: Mapping[str, Any] = field(default_factory=dict)
    replies: tuple[Mapping[str, Any], ...] = ()

    @property
    def right_answer(self) -> str | None:
        """The right answer in the terms of ``trials``, else the judge's reference; None if there is none."""
        if self.expected is not None or self.judgement is None or isinstance(self.judgement.items, str):
            return self.expected
        references = [item.get("reference") for item in self.judgement.items if item is not None]
        return None if not references or references[0] is None else str(references[0])

    def to_json(self) -> dict[str, Any]:
        """The record as the sample log holds it; empty fields are left out."""
        content: dict[str, Any] = {
            "version": VERSION,
            "id": self.id,
            "cluster": self.cluster,
            "trials": list(self.trials),
            "expected": self.expected,
            "measures": {name: _filled_fields(value) for name, value in self.measures.items()},
            "tags": dict(self.tags),
        }
        if self.pair:
            content["pair"] = self.pair
        if self.judgement:
            judgement = self.judgement
            items = judgement.items if isinstance(judgement.items, str) else list(judgement.items)
            content["judgement"] = {"judge": dict(judgement.judge), "items": items,
                                  "verdicts": [list(verdicts) for verdicts in judgement.verdicts]}  # fmt: skip
            if judgement.replies is not None:
                content["judgement"]["replies"] = list(judgement.replies)
        if self.details:
            content["details"] = dict(self.details)
        if any(self.replies):
            content["replies"] = [dict(note) for note in self.replies]
        return content


EARLIER = 3
"""The version before, whose replies ``lmms-medtasks reread`` reads again. Nothing else reads a record of it."""


def record_from_earlier_json(content: object, where: str) -> QuestionRecord:
    """As :func:`record_from_json`, also for version :data:`EARLIER`, which called :data:`CUT` "truncated"."""
    if isinstance(content, dict) and content.get("version") == EARLIER and isinstance(content.get("trials"), list):
        trials = [CUT if each == "truncated" else each for each in content["trials"]]
        content = {**content, "version": VERSION, "trials": trials}
    return record_from_json(content, where)


def record_from_json(content: object, where: str) -> QuestionRecord:
    """The record that ``to_json`` wrote; UserError, with ``where``, for another version or form."""
    if not isinstance(content, dict):
        raise UserError(f"{where}: {content!r:.40} is no record of ours.")
    version = content.get("version")
    if version != VERSION:
        again = "Run the task again" if version != EARLIER else (
            "Its replies can be read by this release, into a new run: lmms-medtasks reread RUN --output FOLDER. Or run "
            "the task again"
        )  # fmt: skip
        raise UserError(
            f"{where}: the record is of version {version!r}, this release of lmms-medtasks reads version {VERSION}. "
            f"{again}, or read the log with the release that wrote it."
        )
    trials = content.get("trials")
    if not isinstance(trials, list) or not trials or not all(isinstance(trial, str) for trial in trials):
        raise UserError(f"{where}: trials is {trials!r:.60}, expected a list with what was read from each reply.")
    for name in ("id", "cluster"):
        if not isinstance(content.get(name), str):
            raise UserError(f"{where}: {name} is {content.get(name)!r:.60}, expected a text.")
    measures, tags = content.get("measures"), content.get("tags", {})
    if not isinstance(measures, dict) or not isinstance(tags, dict):
        raise UserError(f"{where}: measures is {measures!r:.60} and tags {tags!r:.60}, expected mappings.")
    for name, tag in tags.items():
        if not isinstance(tag, str | int | float | bool | None):
            raise UserError(f"{where}: the tag {name!r} is {tag!r:.60}, expected a text or a number.")
    notes = content.get("replies", [])
    if not isinstance(notes, list) or not all(isinstance(note, dict) for note in notes):
        raise UserError(f"{where}: replies is {notes!r:.60}, expected a list of mappings.")
    expected = content.get("expected")
    return QuestionRecord(
        id=content["id"],
        cluster=content["cluster"],
        trials=tuple(trials),
        expected=None if expected is None else str(expected),
        measures={name: _parse_value(name, value, where) for name, value in measures.items()},
        tags=tags,
        pair=str(content.get("pair") or ""),
        judgement=_parse_judgement(content["judgement"], where) if content.get("judgement") else None,
        details=content.get("details") or {},
        replies=tuple(notes),
    )


def _filled_fields(value: ScoreValue) -> dict[str, float]:
    return {name: each for name in (*_NUMBERS, *_COUNTS) if (each := getattr(value, name)) is not None}


def _parse_value(name: str, content: object, where: str) -> ScoreValue:
    if not isinstance(content, dict) or not content.keys() <= {*_NUMBERS, *_COUNTS}:
        raise UserError(
            f"{where}: the measure {name!r} is {content!r:.80}, expected {', '.join((*_NUMBERS, *_COUNTS))}."
        )
    for field_name, each in content.items():
        # bool is an int to Python; NaN and infinity are floats.
        if isinstance(each, bool) or not isinstance(each, int | float) or not math.isfinite(each):
            raise UserError(f"{where}: {field_name} of the measure {name!r} is {each!r:.40}, expected a number.")
    return ScoreValue(**content)


def _parse_judgement(content: object, where: str) -> QuestionJudgement:
    try:
        verdicts = tuple(tuple(verdicts) for verdicts in content["verdicts"])  # type: ignore[index]
        statuses = {verdict["status"] for each in verdicts for verdict in each}
        items = content["items"]  # type: ignore[index]
        judge = content["judge"]  # type: ignore[index]
        replies = content.get("replies")  # type: ignore[attr-defined]
        if not isinstance(judge, dict) or not all(isinstance(judge.get(name), str) for name in ("name", "protocol")):
            raise TypeError("it names no judge with a protocol")
        if not statuses <= {"exact", "judged", "missing"}:
            raise ValueError(f"a verdict has the status {sorted(statuses)!r}")
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise UserError(f"{where}: its judgement can't be read ({error!r:.80}). Was the log edited?") from None
    return QuestionJudgement(
        judge=judge,
        items=items if isinstance(items, str) else tuple(items),
        verdicts=verdicts,
        replies=None if replies is None else tuple(replies),
    )
