"""What a Med-CMR report says of one model: every number, none of the looks.

The statistics are those of :mod:`lmms_medtasks.statistics`; here it is decided of which questions they are taken. An
open answer's scores are in the units of its judge's scale, the total from 0 to 100.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lmms_medtasks.errors import UserError
from lmms_medtasks.report import judged
from lmms_medtasks.report.judged import TOTAL, JudgedMean
from lmms_medtasks.report.med_cmr import dimensions
from lmms_medtasks.report.med_cmr.letters import Letters, letters
from lmms_medtasks.report.med_cmr.reading import TAGS, Asked, Record, Source
from lmms_medtasks.statistics import accuracy as _accuracy
from lmms_medtasks.statistics.grouped import Change, Group, by_tags, changes
from lmms_medtasks.statistics.macro import Macro, macro_mean

Groups = Mapping[str, Group]
Judged = Mapping[str, JudgedMean]


@dataclass(frozen=True)
class Replies:
    """What became of a task's requests. ``unscored``: questions without any reply."""

    requests: int
    failed: int
    unscored: int
    unreadable: int
    parse_rate: float | None


@dataclass(frozen=True)
class Choice:
    """A multiple-choice task. ``sides``: the mean over the dimensions of each side, visual and reasoning.

    ``tags`` has the accuracy by each of :data:`reading.TAGS`, ``letters`` the letters that were chosen and right.
    """

    questions: int
    images: int
    overall: Group
    dimensions: Groups
    sides: Mapping[str, Macro]
    tags: Mapping[str, Groups]
    letters: Letters
    replies: Replies


@dataclass(frozen=True)
class Circular:
    """The task whose questions are asked once for each rotation of their options.

    ``circular``: share of the questions right under every rotation; ``plain``: accuracy of the copy that is not
    rotated; ``every``: mean over all copies. All are over the ``complete`` questions, those with a reply to every copy.
    """

    questions: int
    complete: int
    circular: Group
    plain: Group
    every: Group
    dimensions: Groups
    letters: Letters
    replies: Replies


@dataclass(frozen=True)
class Open:
    """The judged open task: each measure (the protocol's dimensions, and the total) overall and by dimension.

    ``tags`` has the total by each of :data:`reading.TAGS`, ``parts`` the number of answers by which of their two parts
    could be told, ``exact`` the share of final answers that are the reference's words, as the task's metric has it.
    """

    questions: int
    images: int
    judging: judged.Judging
    measures: tuple[str, ...]
    overall: Judged
    dimensions: Mapping[str, Judged]
    sides: Mapping[str, Macro]
    tags: Mapping[str, Judged]
    parts: Counter[str]
    exact: float | None
    replies: Replies


@dataclass(frozen=True)
class WithoutImage:
    """What seeing the image adds: each question with it against the same question without; "" is all dimensions."""

    changes: Mapping[str, Change]


@dataclass(frozen=True)
class Analysis:
    """Everything that the report says of a source; by form of question, and whether the image was seen."""

    source: Source
    choice: Mapping[bool, Choice]
    circular: Mapping[bool, Circular]
    open: Mapping[bool, Open]
    without_image: Mapping[str, WithoutImage]


def analyse(source: Source, *, resamples: int) -> Analysis:
    """All numbers of a source. ``resamples=0`` leaves the intervals out. Raises UserError, naming the tasks."""
    try:
        return _analyse(source, resamples)
    except UserError as error:
        raise UserError(
            f"{source.asked[0].run.path} ({', '.join(each.name for each in source.asked)}): {error}"
        ) from error


def _analyse(source: Source, resamples: int) -> Analysis:
    def by_image(form: Any, of: Any) -> dict[bool, Any]:
        return {each.image: of(each, resamples) for each in source.asked if each.form == form}

    return Analysis(
        source=source,
        choice=by_image("mcq", _choice),
        circular=by_image("circular", _circular),
        open=by_image("open", _open),
        without_image={
            form: found for form in ("mcq", "circular", "open") if (found := _without_image(source, form, resamples))
        },
    )


def values(records: Sequence[Record], measure: str = TOTAL, tag: str = "") -> np.ndarray:
    """(n,) floats: of open answers the measure, of others the score; NaN where there is none.

    ``tag``: what the values are to be averaged by, "" for all together: see :func:`judged.scores`.
    """
    if not any("values" in record for record in records):
        return np.array([record.get("score", math.nan) for record in records], dtype=float)
    groups = [record[tag] for record in records] if tag else None
    return judged.scores([record["values"][measure] for record in records], groups)


def _choice(asked: Asked, resamples: int) -> Choice:
    records = asked.records
    return Choice(
        questions=len(records),
        images=len({record["image_id"] for record in records}),
        overall=by_tags(records, [], resamples=resamples)[()],
        dimensions=_by(records, "dimension", resamples),
        sides={side: macro_mean(records, "dimension", names, resamples=resamples) for side, names in _sides()},
        tags={tag: _by(records, tag, resamples) for tag in TAGS},
        letters=letters(records, resamples=resamples),
        replies=_replies(records),
    )


def _sides() -> list[tuple[str, tuple[str, ...]]]:
    return [(side, dimensions.of_side(side)) for side in dimensions.SIDES]


def _by(records: Sequence[Record], tag: str, resamples: int) -> dict[str, Group]:
    return {key[0]: group for key, group in by_tags(records, [tag], resamples=resamples).items()}


def _replies(records: Sequence[Record]) -> Replies:
    failed, replied = _accuracy.failed_requests(records), sum(record["replies"] for record in records)
    return Replies(
        requests=failed + replied,
        failed=failed,
        unscored=sum(not record["replies"] for record in records),
        unreadable=replied - sum(record["parsed"] for record in records),
        parse_rate=_accuracy.parse_rate(records),
    )


def _circular(asked: Asked, resamples: int) -> Circular:
    by_question: dict[str, list[Record]] = {}
    for record in asked.records:
        by_question.setdefault(record["question_id"], []).append(record)
    whole = [copies for copies in by_question.values() if all("score" in each for each in copies)
             and len(copies) == copies[0]["option_count"]]  # fmt: skip
    firsts = [min(copies, key=lambda each: each["rotation"]) for copies in whole]
    survived = [float(all(each["score"] == 1 for each in copies)) for copies in whole]
    every = [math.fsum(each["score"] for each in copies) / len(copies) for copies in whole]

    def of(tags: Sequence[str], scores: Sequence[float] | None) -> dict[Any, Group]:
        return by_tags(firsts, tags, scores, resamples=resamples)

    return Circular(
        questions=len(by_question),
        complete=len(whole),
        circular=of([], survived)[()],
        plain=of([], None)[()],
        every=of([], every)[()],
        dimensions={key[0]: group for key, group in of(["dimension"], survived).items()},
        letters=letters(asked.records, resamples=resamples),
        replies=_replies(asked.records),
    )


def _open(asked: Asked, resamples: int) -> Open:
    records, judging = asked.records, asked.judging
    assert judging is not None  # made with the records of this form
    measures = tuple(judged.measures(judging.protocol))

    def of(measure: str, tags: Sequence[str]) -> dict[Any, JudgedMean]:
        return judged.means(records, [record["values"][measure] for record in records], tags, resamples=resamples)

    by_dimension: dict[str, dict[str, JudgedMean]] = {}
    for measure in measures:
        for (name,), found in of(measure, ["dimension"]).items():
            by_dimension.setdefault(name, {})[measure] = found
    totals = values(records, tag="dimension")
    return Open(
        questions=len(records),
        images=len({record["image_id"] for record in records}),
        judging=judging,
        measures=measures,
        overall={measure: of(measure, [])[()] for measure in measures},
        dimensions=by_dimension,
        sides={side: macro_mean(records, "dimension", names, totals, resamples=resamples) for side, names in _sides()},
        tags={tag: {key[0]: found for key, found in of(TOTAL, [tag]).items()} for tag in TAGS},
        exact=_exact(asked),
        parts=Counter(part for record in records for part in record["parts"]),
        replies=_replies(records),
    )


def _exact(asked: Asked) -> float | None:
    found = (asked.run.tasks.get(asked.name) or {}).get("exact_match,trials")
    return float(found) if isinstance(found, int | float) else None


def _without_image(source: Source, form: Any, resamples: int) -> WithoutImage | None:
    seen, unseen = source.of(form), source.of(form, image=False)
    if seen is None or unseen is None:
        return None
    return WithoutImage(compared(unseen.records, seen.records, resamples=resamples))


def compared(
    before: Sequence[Record], after: Sequence[Record], measure: str = TOTAL, *, resamples: int
) -> dict[str, Change]:
    """From ``before`` to ``after``, question by question, for each dimension and, under "", for all of them.

    Of circular tasks each copy is set against the same copy.
    """
    first, second = ([_own_question(record) for record in records] for records in (before, after))

    def by(*tags: str) -> dict[Any, Change]:
        numbers = (values(side, measure, *tags) for side in (first, second))
        return changes(first, second, tags, *numbers, paired=True, resamples=resamples)

    every, parted = by(), by("dimension")
    return {"": every[()], **{key[0]: change for key, change in parted.items()}}


def _own_question(record: Record) -> Record:
    return {**record, "question_id": record["id"]}
