"""Whether a split has all questions of the release, by the number that its benchmark declares; else a *sample*."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from lmms_medtasks.errors import UserError
from lmms_medtasks.short_texts import count_noun

VARIABLE = "MEDTASKS_ACCEPT_COUNTS"
"""Environment variable: ``1`` takes data of other counts than the release's for the full benchmark (as
``--accept-counts`` does)."""

OPTION = "--accept-counts"


class ExpectedCounts(NamedTuple):
    """How many questions a release has in some splits together, and how many of a split may be unusable.

    ``questions``: those of the benchmark, without what its rules leave out of the release's files.
    """

    splits: tuple[str, ...]
    questions: int
    unusable: int = 0


class SplitCounts(NamedTuple):
    """The questions of a split, and how many of them are unusable (None: not known yet)."""

    questions: int
    unusable: int | None = None


def accepts_other_counts(chosen: bool | None = None) -> bool:
    """Whether other counts are accepted, by ``chosen`` or else :data:`VARIABLE`. UserError: not 0 or 1."""
    value = os.environ.get(VARIABLE, "")
    if chosen is not None:
        return chosen
    if value not in ("", "0", "1"):
        raise UserError(f"The environment variable {VARIABLE} is {value!r}, expected 1 (accept) or 0.")
    return value == "1"


def describe_difference(
    expected: Iterable[ExpectedCounts], split: str, counts_by_split: Mapping[str, SplitCounts]
) -> str:
    """What differs in a split from the release ("57 questions, 2,153 expected"); "" if it is as expected.

    ``counts_by_split``: the splits that are there. Of several expectations for the split, one that is met with all its
    splits is enough. A split without any can't be known to be whole.
    """
    of_split = [each for each in expected if split in each.splits]
    known = [each for each in of_split if all(name in counts_by_split for name in each.splits)]
    fitting = [each for each in known if sum(counts_by_split[name].questions for name in each.splits) == each.questions]
    questions, unusable = counts_by_split[split]
    if any((unusable or 0) <= each.unusable for each in fitting):
        return ""
    questions_text = count_noun(questions, "question")
    if fitting:
        return f"{questions_text}, {unusable:,} of them unusable"
    alone = [each for each in of_split if each.splits == (split,)]
    if alone:
        return f"{questions_text}, {' or '.join(f'{each.questions:,}' for each in alone)} expected"
    return (
        f"{questions_text}; {_describe_joint_counts(of_split, counts_by_split)}"
        if of_split
        else f"{questions_text}; how many the release has is not known"
    )


def _describe_joint_counts(of_split: Sequence[ExpectedCounts], counts_by_split: Mapping[str, SplitCounts]) -> str:
    sentences = []
    for each in of_split:
        here = [counts_by_split[name].questions for name in each.splits if name in counts_by_split]
        absent = [name for name in each.splits if name not in counts_by_split]
        rest = f"{', '.join(absent)} not there" if absent else f"{sum(here):,} here"
        sentences.append(f"{' and '.join(each.splits)} together have {each.questions:,} expected, {rest}")
    return "; ".join(sentences)
