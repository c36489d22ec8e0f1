"""Scores of data frames: a row for each question, and the rows of two frames that make a pair."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from lmms_medtasks.errors import UserError
from lmms_medtasks.interface.columns import (
    check_length,
    get_column,
    is_frame,
    is_missing,
    to_labels,
    to_list,
    to_numbers,
)

if TYPE_CHECKING:
    from pandas import DataFrame


def read_values(values: Any, clusters: Any, column: str | None) -> tuple[np.ndarray, list[str]]:
    """(n,) scores of an array, a data frame or a run, and the cluster of each."""
    values = _samples_of(values)
    if not is_frame(values):
        if column is not None:
            raise UserError("`column` names a column of a data frame; the values are given as they are.")
        scores = to_numbers(values, "values")
        return scores, to_labels(clusters, "clusters", len(scores))
    name = "score" if column is None else column
    get_column(values, name, "column")
    rows = _question_rows(values, name)
    return to_numbers(rows[name], "values"), _cluster_labels(rows, clusters)


def _samples_of(values: Any) -> Any:
    """The questions of what :func:`evaluate` gave, which is not imported for it; anything else unchanged."""
    return values.samples if type(values).__name__ == "EvaluationResult" else values


def _cluster_labels(rows: DataFrame, name: Any) -> list[str]:
    """The clusters in the column ``name`` (None: ``cluster``); without that column each row is a cluster."""
    names = rows.get("cluster") if name is None else get_column(rows, name, "clusters")
    return to_labels(names, "clusters", len(rows))


def _question_rows(frame: DataFrame, column: str) -> DataFrame:
    """Rows of :func:`read_runs` reduced to one a question, with the mean of its trials; other frames unchanged.

    Raises UserError if a frame of :func:`read_runs` has several runs or tasks.
    """
    if not {"id", "trial"} <= set(frame.columns):
        return frame
    for name in ("run", "task"):
        several = list(dict.fromkeys(frame.get(name, ())))
        if len(several) > 1:
            raise UserError(
                f"The data frame has questions of {len(several)} {name}s ({', '.join(map(str, several[:3]))}"
                f"{', …' if len(several) > 3 else ''}). Choose one, frame[frame.{name} == {several[0]!r}], or take "
                f"each: {{name: mt.accuracy(rows) for name, rows in frame.groupby({name!r})}}."
            )
    by_question, rows = frame.groupby("id")[column], frame.drop_duplicates("id")
    is_score = column == "score" or column.startswith("score.")
    if is_score and by_question.nunique(dropna=False).max() <= 1:
        return rows  # the mean of equal trials could differ from them in the last bit
    if frame[column].dtype.kind not in "bif":  # what is no number is told by its row
        return frame
    return rows.assign(**{column: rows.id.map(by_question.mean())})


def pair_scores(
    first: Any, second: Any, clusters: Any, column: str | None, on: str | Sequence[str]
) -> tuple[np.ndarray, np.ndarray, list[str]]:
    first, second = _samples_of(first), _samples_of(second)
    if is_frame(first) != is_frame(second):
        raise UserError("Give two columns of scores, or two data frames.")
    if not is_frame(first):
        first_scores, second_scores = to_numbers(first, "first scores"), to_numbers(second, "second scores")
        check_length(first_scores, second_scores, "scores")
        _check_order(first, second)
        return first_scores, second_scores, to_labels(clusters, "clusters", len(first_scores))
    name = "score" if column is None else column
    keys = [on] if isinstance(on, str) else to_list(on, "columns of on")
    if not keys:
        raise UserError("on must name the column, or columns, in which the rows of a pair agree, got none.")
    for frame in (first, second):
        get_column(frame, name, "column")
        for key in keys:
            get_column(frame, key, "on")
    sides = [_question_rows(frame, name) for frame in (first, second)]
    pairs = _pair_rows(sides, keys)
    rows = [side.iloc[list(places)] for side, places in zip(sides, zip(*pairs, strict=True), strict=True)]
    first_scores, second_scores = (to_numbers(frame[name], "scores") for frame in rows)
    return first_scores, second_scores, _cluster_labels(rows[0], clusters)


def _check_order(first: Any, second: Any) -> None:
    """Raise UserError for two Series that have the same labels in another order: scores are paired by place."""
    labels, other_labels = (list(scores.index) if hasattr(scores, "reindex") else [] for scores in (first, second))
    if labels != other_labels and sorted(map(repr, labels)) == sorted(map(repr, other_labels)):
        raise UserError(
            "The two Series have the same labels in another order, and scores are paired by their place. Give the "
            "second one as second.reindex(first.index)."
        )


def _pair_rows(sides: Sequence[DataFrame], on: Sequence[str]) -> list[tuple[int, int]]:
    """The pairs of rows that agree in the columns ``on``, sorted by these; rows without a value there are in no pair.

    One side may have a key (not an id) several times, such as a question's degraded forms: each row is a pair.
    """
    rows_by_key: list[dict[tuple[Any, ...], list[int]]] = [{}, {}]
    for by_key, side in zip(rows_by_key, sides, strict=True):
        for row, key in enumerate(zip(*(side[name].tolist() for name in on), strict=True)):
            if not any(map(is_missing, key)):
                by_key.setdefault(key, []).append(row)
    label = " and ".join(on)
    several = [[key for key, rows in by_key.items() if len(rows) > 1] for by_key in rows_by_key]
    if all(several) or ("id" in on and any(several)):
        twice = (several[0] or several[1])[0]
        raise UserError(
            f"The {label} {', '.join(map(repr, twice))} stands twice in "
            f"{'both data frames' if all(several) else 'a data frame'}: it is not known which rows make a pair. "
            f"{_pairing_advice(sides, on)}"
        )
    first_rows, second_rows = rows_by_key
    shared = sorted(
        first_rows.keys() & second_rows.keys(), key=lambda key: [(isinstance(part, str), part) for part in key]
    )
    if not shared:
        forms = list(on) == ["id"] and all("pair" in side for side in sides) and set(sides[0].pair) & set(sides[1].pair)
        raise UserError(
            f"The two data frames have no {label} in common: they are not of the same questions."
            + " They are forms of the same ones, such as levels of a degradation: give on='pair'." * bool(forms)
        )
    return [pair for key in shared for pair in itertools.product(first_rows[key], second_rows[key])]


def _pairing_advice(sides: Sequence[DataFrame], on: Sequence[str]) -> str:
    """How to pair rows of which ``on`` does not say which make a pair: by a tag in which each of them differs."""
    from lmms_medtasks.interface.runs import COLUMNS

    tags = [name for name in sides[0].columns if name not in COLUMNS and not name.startswith("score.")]
    for name in tags:
        keys = [*on, name]
        if (
            name in sides[1]
            and not any(side.duplicated(keys).any() for side in sides)
            and len(sides[0].merge(sides[1], on=keys))
        ):
            return f"They differ in {name!r}: give on={keys}."
    return (
        "Choose one form of each question, or name a column that tells them apart too: on=['pair', COLUMN]. The "
        "column 'trial' must be there for trials to count once."
    )
