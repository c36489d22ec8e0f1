"""What a Bones and Joints report says of one model: every number, none of the looks."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lmms_medtasks.report.bones_joints.reading import MAIN, Asked, Condition, Record, Source
from lmms_medtasks.statistics import coverage as _coverage
from lmms_medtasks.statistics.bootstrap import Figure, Interval, bootstrap, mean, part
from lmms_medtasks.statistics.shares import Share, share
from lmms_medtasks.statistics.text_shortcut import Asked as Answer
from lmms_medtasks.statistics.text_shortcut import TextShortcut, text_shortcut

STRUCTURED, TEXT_ONLY, OPEN = ("t1", "t2", "t3"), ("t1", "t2"), ("t4", "t5", "t6", "t7")


@dataclass(frozen=True)
class Result:
    """One task under one condition.

    ``unclear``, ``unanimous``, ``steps``: mean shares over judged answers, None where there are none (no judge, no
    chain). ``labels``: judgements by label. ``worst``, ``best``: accuracy had each missing judgement been so; None for
    multiple choice. ``unreadable``: replies to multiple choice without one readable option.
    """

    asked: Asked
    overall: Share
    sites: Mapping[str, Share]
    diseases: Mapping[tuple[str, str], Share]
    unclear: float | None
    unanimous: float | None
    steps: float | None
    labels: Counter[str]
    judgements: int
    wanted: int
    worst: float | None
    best: float | None
    unreadable: int


@dataclass(frozen=True)
class Gap:
    """Multiple choice less open answers: each side is the mean over its tasks' accuracies, all tasks weighing alike."""

    imaging: Condition
    name: str
    first: Interval
    second: Interval
    gap: Interval


@dataclass(frozen=True)
class Analysis:
    """Everything that the report says of a source. ``shortcuts``: by what was done to the images."""

    source: Source
    results: tuple[Result, ...]
    gaps: tuple[Gap, ...]
    shortcuts: Mapping[str, TextShortcut]

    def of(self, task: str, *conditions: Condition) -> Result | None:
        """The task's result under the first of these conditions that there is."""
        asked = self.source.of(task, *conditions)
        return next((each for each in self.results if each.asked is asked), None) if asked else None


def analyse(source: Source, *, resamples: int) -> Analysis:
    """All numbers of a source; ``resamples=0`` leaves bootstrap intervals out."""
    return Analysis(
        source=source,
        results=tuple(_result(asked, resamples) for asked in source.asked),
        gaps=tuple(_gaps(source, resamples)),
        shortcuts=_shortcuts(source, resamples),
    )


_OF_A_JUDGE = ("score", "labels", "unanimous", "steps")


def usable(records: Sequence[Record]) -> Sequence[Record]:
    """The records as a mean over them may take them: without what rules settled where no judge gave a verdict.

    That is the rule of the tasks' own metrics, see ``coverage.only_rules``.
    """
    if not _coverage.only_rules([record["value"] for record in records if "value" in record]):
        return records
    return [{key: value for key, value in record.items() if key not in _OF_A_JUDGE} for record in records]


def _result(asked: Asked, resamples: int) -> Result:
    records = usable(asked.records)
    values = [record["value"] for record in records if "value" in record]
    labels: Counter[str] = Counter(label for record in records for label in record.get("labels", ()))
    return Result(
        asked=asked,
        overall=share(records, resamples=resamples),
        sites={key: share(usable(found), resamples=resamples) for (key,), found in _groups(records, "site")},
        diseases={
            (name, listed): share(usable(found), resamples=resamples)
            for (name, listed), found in _groups(records, "disease", "disease_listed")
        },
        unclear=labels["Unclear"] / labels.total() if labels else None,
        unanimous=_mean([record.get("unanimous") for record in records]),
        steps=_mean([record.get("steps") for record in records]),
        labels=labels,
        judgements=sum(value["judged"] for value in values),
        wanted=sum(value["wanted"] for value in values),
        worst=_coverage.bound_worst(values),
        best=_coverage.bound_best(values),
        unreadable=0
        if asked.judging
        else sum(len(t) > 1 and t != "failed" for each in records for t in each["trials"]),
    )


def _mean(found: Sequence[float | None]) -> float | None:
    had = [each for each in found if each is not None]
    return math.fsum(had) / len(had) if had else None


def _groups(records: Sequence[Record], *tags: str) -> list[tuple[tuple[str, ...], list[Record]]]:
    """Records by tags, the largest group first; those without a first tag are left out."""
    found: dict[tuple[str, ...], list[Record]] = {}
    for record in records:
        if record[tags[0]]:
            found.setdefault(tuple(record[tag] for tag in tags), []).append(record)
    return sorted(found.items(), key=lambda each: (-len(each[1]), each[0]))


def _gaps(source: Source, resamples: int) -> list[Gap]:
    found = []
    imaging: tuple[Condition, ...] = ("images", "reports")
    for condition in imaging:
        second = [source.of(task, condition) for task in OPEN]
        for name, tasks in (("I to III less IV to VII", STRUCTURED), ("I and II less IV to VII", TEXT_ONLY)):
            first = [source.of(task, *MAIN) for task in tasks]
            # With reports only the texts of Tasks I and II are of the same kind.
            if all(first) and all(second) and (condition == "images" or tasks is TEXT_ONLY):
                gap = _gap(
                    condition, name, [each for each in first if each], [each for each in second if each], resamples
                )
                found += [gap] if gap else []
    return found


def _gap(
    condition: Condition, name: str, first: Sequence[Asked], second: Sequence[Asked], resamples: int
) -> Gap | None:
    """None where a task has no scored answer."""
    parts = {}
    for asked in (*first, *second):
        rows = sorted((r["image_id"], r["score"]) for r in usable(asked.records) if "score" in r)
        if not rows:
            return None
        parts[asked.name] = part([image for image, _ in rows], [score for _, score in rows])
    one, other = tuple(each.name for each in first), tuple(each.name for each in second)
    figures = {
        "first": Figure(_mean_of_means, one),
        "second": Figure(_mean_of_means, other),
        "gap": Figure(
            lambda *sums: _mean_of_means(*sums[: len(one)]) - _mean_of_means(*sums[len(one) :]), (*one, *other)
        ),
    }
    found = bootstrap(parts, figures, resamples=resamples)
    return Gap(condition, name, *(found[each].interval() for each in ("first", "second", "gap")))


def _mean_of_means(*sums: np.ndarray) -> np.ndarray:
    return np.stack([mean(each) for each in sums]).mean(0)


def _shortcuts(source: Source, resamples: int) -> dict[str, TextShortcut]:
    seen = source.of("t3", "images")
    found = {}
    for said, condition in (("taken away", "no image"), ("swapped", "swapped")):
        other = source.of("t3", condition)  # type: ignore[arg-type]
        if seen and other:
            found[said] = text_shortcut(_answers(seen), _answers(other), resamples=resamples)
    return found


def _answers(asked: Asked) -> dict[str, Answer]:
    return {
        record["id"]: Answer(
            image_id=record["case_id"],
            answer=record["trials"][0] if len(record["trials"][0]) == 1 else "",
            right=record["answer"],
            failed=record["trials"][0] == "failed",
        )
        for record in asked.records
    }
