"""What several benchmarks share: copies with rotated options, the lost part of the image's benefit, image sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lmms_medtasks.report.cells import count_column, label_column, make_frame, number_cell, percent_cell, percent_column
from lmms_medtasks.report.document import Frame, FrameColumn
from lmms_medtasks.report.views import ColumnSpec, ModelResults, RowSpec, SectionSpec, TableSpec
from lmms_medtasks.samples.degraded import describe_length_spread
from lmms_medtasks.samples.table import QuestionTable, Where
from lmms_medtasks.statistics.confidence import LEVEL
from lmms_medtasks.statistics.intervals import IntervalEstimate
from lmms_medtasks.suites.estimates import Mean
from lmms_medtasks.suites.image_benefit import LostBenefit
from lmms_medtasks.suites.rotated_options import EVERY_ROTATION, INCOMPLETE_QUESTIONS, UNROTATED, position_bias

_ACCURACY = Mean()
_ESTIMATES = {
    "right under every rotation": EVERY_ROTATION,
    "as asked, not rotated": UNROTATED,
    "mean over all copies (the metric accuracy)": _ACCURACY,
}
_COLUMNS = ("n", "accuracy")


def describe_image_sizes(sources: Sequence[ModelResults]) -> tuple[str, ...]:
    """A note where degradations with lengths in pixels met images of mixed sizes; else ()."""
    lengths = set()
    for rows in (source.rows for source in sources):
        names = ("degradation", "severity", "cluster", "shorter_sides", "length_shares")
        for name, level, cluster, sides, shares in zip(*map(rows.column, names), strict=True):
            label = f"{name or ''} L{level}".strip()
            lengths |= {(label, *length, cluster) for length in zip(sides or (), shares or (), strict=True)}
    spread = describe_length_spread((label, side, share) for label, side, share, _ in lengths)
    return (spread,) if spread else ()


def rotation_view(where: Where, interval_note: str, *, groups: Mapping[str, Where] | None = None) -> SectionSpec:
    """The section: the accuracy under every rotation, the plain accuracy, and whether letters are preferred.

    ``where``: the restriction to the rotated copies. ``groups``: titles and restrictions of more rows, each with the
    share that is right under every rotation.
    """
    rows = (
        *(RowSpec((head,), where, estimates=dict.fromkeys(_COLUMNS, each)) for head, each in _ESTIMATES.items()),
        *(
            RowSpec((f"every rotation, {name}",), {**where, **each}, "counts", dict.fromkeys(_COLUMNS, EVERY_ROTATION))
            for name, each in (groups or {}).items()
        ),
    )

    def notes(sources: Sequence[ModelResults]) -> tuple[str, ...]:
        copies = sources[0].rows.where(where)
        questions, left_out = len(copies.values("pair")), INCOMPLETE_QUESTIONS.value(copies)
        text = f"{left_out:,} of {questions:,} questions lack a reply to a rotation and are left out."
        distance = position_bias(copies)
        said = "none" if distance is None else f"{distance:.3f}"
        return (
            "Each question is asked once for each rotation of its options; a model that knows the answer finds it in "
            "every place. n: questions with a reply to every rotation; of the mean over all copies, replies.",
            *([text] if left_out else []),
            "Total variation distance of the letters chosen from the correct ones, over the readable replies: "
            f"{said} (0 is alike).",
            interval_note,
        )

    columns = (ColumnSpec("n", unit="n"), ColumnSpec("accuracy", digits=2))
    # Rows are made from the sources, since benchmarks without such a task have no column to restrict by.
    table = TableSpec("circular", "Rotated options", ("accuracy",), lambda sources: rows, columns, notes)
    return SectionSpec(
        "rotated",
        "Rotated options",
        (table,),
        shown=lambda sources: len(sources[0].rows.where(where)) > 0,
    )


_FLOOR, _BENEFIT, _DROP = "same, no image", "image's benefit", "drop"
_CHANGES = (_BENEFIT, _DROP)


@dataclass(frozen=True)
class ImageBenefitRow:
    """A row: its labels, what is compared, over which questions, and how its scores are shown.

    ``unit``: "%" for shares, "" for scores on a scale of their own.
    """

    labels: tuple[str, ...]
    estimate: LostBenefit
    where: Where
    unit: str = "%"


def rows_without_image(source: ModelResults, where: Where) -> QuestionTable:
    """The questions that the model of ``source`` was asked without images; ``where`` restricts all its runs to them."""
    runs = tuple(source.runs_of_model) or tuple(dict.fromkeys(source.rows.column("run")))
    return source.every.where({**where, "run": runs})


def benefit_table(
    title: str,
    heads: Sequence[str],
    names: tuple[str, str],
    source: ModelResults,
    comparisons: Sequence[ImageBenefitRow],
    unit_of_independence: str,
    notes: Sequence[str] = (),
) -> Frame | None:
    """The table; None without a comparison that has questions asked with and without their image.

    ``heads``: of the labels. ``names``: of the two conditions. ``unit_of_independence``: of the intervals.
    """
    rows: list[Sequence[Any]] = []
    reasons = []
    for comparison in comparisons:
        found = source.intervals(comparison.estimate, comparison.where)
        if not found:
            continue
        why = _why_empty(found["benefit"])
        if why:
            reasons.append(f"Empty: {', '.join(comparison.labels)}: {why}.")
        shown = percent_cell if comparison.unit == "%" else number_cell
        means = (shown(found[name]) for name in ("first", "floor", "benefit", "second", "drop"))
        rows.append((*comparison.labels, found["second"].n, *means, None if why else found["lost"]))
    first, second = names
    columns = (
        *map(label_column, heads),
        count_column("questions"),
        *(FrameColumn(name, digits=2, signed=name in _CHANGES) for name in (first, _FLOOR, _BENEFIT, second, _DROP)),
        percent_column("of the benefit lost"),
    )
    every = (
        f"The image's benefit: {first} less the same questions without their image. Of the benefit lost: 1 less the "
        f"benefit of {second} over that of {first}; above 100 % the image does harm there, below 0 it gains.",
        f"In brackets: {LEVEL} interval over {unit_of_independence}s. Scores of shares are in percent.",
        *notes,
        *reasons,
    )
    return make_frame("benefit_lost", title, columns, rows, every)


def _why_empty(benefit: IntervalEstimate) -> str:
    """Why there is no share of this benefit, "" where there is one: its interval must lie above 0."""
    if benefit.estimate is None:
        return "no question was asked both with and without its image"
    if benefit.low is None:
        return "without an interval nothing says whether the model is beyond its no-image floor"
    if benefit.low > 0:
        return ""
    return "the model is not beyond its no-image floor: the interval of the image's benefit does not lie above 0"
