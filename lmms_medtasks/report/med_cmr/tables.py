"""A run's own tables: dimensions, breakdowns, judged scores, position, what the image adds, and the replies."""

from __future__ import annotations

from collections.abc import Mapping

from lmms_medtasks.judges.med_cmr import WEIGHTS
from lmms_medtasks.report.cells import NONE, count, label, number, percent, percent_of, points, share
from lmms_medtasks.report.document import Cell, Column, Row, Table
from lmms_medtasks.report.judged import TOTAL, mean_cells, mean_columns
from lmms_medtasks.report.med_cmr import dimensions
from lmms_medtasks.report.med_cmr.analysis import Analysis, Choice, Circular, Open, Replies
from lmms_medtasks.report.med_cmr.letters import Letters
from lmms_medtasks.statistics.grouped import Group

INTERVALS = "In brackets: 95 % interval by bootstrap over images."
_SIDE = "Mean over the dimensions of a side, each weighing alike; the overall row is over all questions."
_TAGS = {
    "organ_system": "organ system",
    "modality": "modality",
    "subtype": "subtype",
    "question_type": "question type",
}
_IMAGE = {True: "", False: ", no image"}
_KEY = {True: "", False: "_noimage"}


def choice(found: Choice, image: bool) -> Table:
    """Accuracy by dimension, both sides' means, and overall."""
    rows = [Row((Cell("All questions"), *_group(found.overall)))]
    for side in dimensions.SIDES:
        macro = found.sides[side]
        mark = "†" if macro.missing else ""
        cells = (Cell(f"Mean of the {side} dimensions", mark=mark), Cell(sum(macro.n.values())), percent(macro.mean))
        rows.append(Row(cells, "counts"))
        rows += [
            Row((Cell(dimensions.title(name)), *_group(found.dimensions.get(name))))
            for name in dimensions.of_side(side)
        ]
    columns = (label("dimension"), count("questions"), share("accuracy", 2))
    notes = ("An unreadable reply counts as incorrect, a failed request as nothing.", _SIDE, INTERVALS)
    return Table(f"mcq{_KEY[image]}", f"Multiple choice{_IMAGE[image]}: accuracy", columns, tuple(rows), notes)


def choice_tags(found: Choice, tag: str) -> Table:
    """Accuracy by the values of a tag."""
    rows = [Row((Cell(name), *_group(group))) for name, group in found.tags[tag].items()]
    columns = (label(_TAGS[tag]), count("questions"), share("accuracy"))
    title = f"Multiple choice: accuracy by {_TAGS[tag]}"
    return Table(f"mcq_{tag}", title, columns, tuple(rows), (INTERVALS,), long=_is_long(tag), folded=_is_long(tag))


def _is_long(tag: str) -> bool:
    """Subtypes are many: a terminal leaves them to the files, the page shows them folded."""
    return tag == "subtype"


def _group(group: Group | None) -> tuple[Cell, Cell]:
    return (Cell(group.mean.n), percent(group.mean)) if group else (Cell(0), NONE)


def open_scores(found: Open, image: bool) -> Table:
    """The judge's scores overall: a row a measure, the total last."""
    rows = [Row((Cell(_measure(found, measure)), *mean_cells(found.overall[measure]))) for measure in found.measures]
    columns = (label("score"), *mean_columns("mean"))
    notes = (_judge(found), _scale(), _MISSING, INTERVALS)
    return Table(f"open{_KEY[image]}", f"Open answers{_IMAGE[image]}: scores", columns, tuple(rows), notes)


def open_dimensions(found: Open, image: bool) -> Table:
    """The total by dimension of the questions."""
    rows = []
    for side in dimensions.SIDES:
        macro = found.sides[side]
        name = Cell(f"Mean of the {side} dimensions", mark="†" if macro.missing else "")
        rows.append(Row((name, number(macro.mean), *_side(found, side)), "counts"))
        rows += [
            Row((Cell(dimensions.title(name)), *mean_cells(found.dimensions.get(name, {}).get(TOTAL))))
            for name in dimensions.of_side(side)
        ]
    columns = (label("dimension"), *mean_columns("total"))
    title = f"Open answers{_IMAGE[image]}: total by dimension"
    notes = (_judge(found), _scale(), _MISSING, _SIDE, INTERVALS)
    return Table(f"open_dimensions{_KEY[image]}", title, columns, tuple(rows), notes)


def _side(found: Open, side: str) -> tuple[Cell, ...]:
    """Judgements had and wanted over the dimensions of a side, and the means of their bounds."""
    each = [found.dimensions[name][TOTAL] for name in dimensions.of_side(side) if name in found.dimensions]
    judged, wanted = sum(mean.judged for mean in each), sum(mean.wanted for mean in each)
    known = [(mean.worst, mean.best) for mean in each if mean.worst is not None and mean.best is not None]
    if not known:
        return (Cell(judged), Cell(wanted), NONE, NONE)
    return (Cell(judged), Cell(wanted), *(Cell(sum(bounds) / len(known)) for bounds in zip(*known, strict=True)))


def open_dimension_scores(found: Open, image: bool) -> Table:
    """The single scores by dimension of the questions, with how many were judged."""
    own = found.measures[:-1]
    rows = []
    for name in dimensions.names():
        scores = found.dimensions.get(name, {})
        means = [number(scores[measure].mean) if measure in scores else NONE for measure in own]
        judged, wanted = (scores[TOTAL].judged, scores[TOTAL].wanted) if scores else (0, 0)
        rows.append(Row((Cell(name), *means, Cell(judged), Cell(wanted))))
    heads = (Column(_name(measure), digits=2) for measure in own)
    columns = (label("dimension"), *heads, count("n judged"), count("n"))
    title = f"Open answers{_IMAGE[image]}: single scores by dimension"
    notes = (_judge(found), _scale(), "Over the judgements that were had.", INTERVALS)
    return Table(f"open_scores{_KEY[image]}", title, columns, tuple(rows), notes)


def open_tags(found: Open, tag: str) -> Table:
    """The total by the values of a tag."""
    rows = [Row((Cell(name), *mean_cells(mean))) for name, mean in found.tags[tag].items()]
    columns = (label(_TAGS[tag]), *mean_columns("total", 1))
    title = f"Open answers: total by {_TAGS[tag]}"
    notes = (_judge(found), _MISSING, INTERVALS)
    return Table(f"open_{tag}", title, columns, tuple(rows), notes, long=_is_long(tag), folded=_is_long(tag))


_MISSING = (
    "Means are over the judgements that were had: n judged of n. A missing one is no zero: the last two columns are "
    "the mean over all answers, had each missing one been the scale's worst, or its best."
)


def _name(measure: str) -> str:
    return measure.replace("_", " ")


def _measure(found: Open, measure: str) -> str:
    if measure == TOTAL:
        return "Total (0 to 100)"
    dimension = found.judging.protocol.dimension(measure)
    return f"{_name(measure).capitalize()} ({dimension.worst:g} to {dimension.best:g})"


def _judge(found: Open) -> str:
    return f"Judge: {found.judging.shown}."


def _scale() -> str:
    weights = ", ".join(f"{_name(name)} {weight}" for name, weight in WEIGHTS.items())
    return (
        f"Total: the scores weighted ({weights}) and brought to 0 to 100, as in the paper. The scale of the single "
        "scores and the judge's prompt are ours: the paper does not print its own."
    )


def parts(found: Open, image: bool) -> Table:
    """Which of its two parts an answer had, and how many are the reference word for word."""
    total = found.parts.total()
    rows = [
        Row((Cell(name.replace("_", " ")), Cell(number_of), percent_of(number_of / total)))
        for name, number_of in found.parts.most_common()
    ]
    rows.append(Row((Cell("final answer is the reference's words"), NONE, percent_of(found.exact)), "counts"))
    columns = (label("parts read"), count("answers"), share("share"))
    notes = (
        "The prompt asks for two lines, Reasoning: and Answer:. An answer without one is judged as it is; a reply "
        "without any text is the scale's worst, by a rule.",
    )
    return Table(f"parts{_KEY[image]}", f"Open answers{_IMAGE[image]}: their parts", columns, tuple(rows), notes)


def circular(found: Circular, image: bool) -> Table:
    """Accuracy that survives the rotation of the options, beside the plain one."""
    heads = (("right under every rotation", found.circular), ("as asked, not rotated", found.plain),
             ("mean over all rotations", found.every))  # fmt: skip
    rows = [Row((Cell(name), *_group(group)), "run") for name, group in heads]
    rows += [
        Row((Cell(f"every rotation, {dimensions.title(name)}"), *_group(found.dimensions.get(name))), "counts")
        for name in dimensions.names()
    ]
    columns = (label("accuracy"), count("questions"), share("accuracy", 2))
    left_out = found.questions - found.complete
    said = (
        (f"{left_out:,} of {found.questions:,} questions lack a reply to a rotation and are left out.",)
        if left_out
        else ()
    )
    notes = (
        "Each question is asked once for each rotation of its options; a model that knows the answer finds it in every "
        "place.",
        *said,
        INTERVALS,
    )
    return Table(f"circular{_KEY[image]}", f"Rotated options{_IMAGE[image]}", columns, tuple(rows), notes)


def letters(found: Letters, key: str, title: str) -> Table:
    """The letters that were chosen beside those that are right."""
    right = sum(each.right for each in found.each.values())
    replies = sum(each.chosen for each in found.each.values()) + found.unreadable
    rows = [
        Row(
            (
                Cell(name),
                Cell(each.right),
                percent_of(each.right / right if right else None),
                Cell(each.chosen),
                percent_of(each.chosen / replies if replies else None),
                percent(each.accuracy),
            )
        )
        for name, each in found.each.items()
    ]
    unreadable = percent_of(found.unreadable / replies if replies else None)
    rows.append(Row((Cell("unreadable"), NONE, NONE, Cell(found.unreadable), unreadable, NONE), "counts"))
    columns = (
        label("letter"),
        count("right"),
        share("share of right"),
        count("chosen"),
        share("share of chosen"),
        share("accuracy where right"),
    )
    notes = (
        "Total variation distance of the letters chosen from the right ones, over the readable replies: "
        f"{_said(found.distance)} (0 is alike). "
        f"Standard deviation of the accuracy over the letters: {_said(found.spread)}.",
        INTERVALS,
    )
    return Table(key, title, columns, tuple(rows), notes)


def _said(value: float | None) -> str:
    return "none" if value is None else f"{value:.3f}"


def without_image(analysis: Analysis, form: str) -> Table:
    """With and without the image, question by question."""
    found = analysis.without_image[form].changes
    scaled = form == "open"
    rows = []
    for name in ("", *dimensions.names()):
        change = found.get(name)
        head = (Cell(dimensions.title(name) if name else "All questions"), Cell(change.after.n if change else 0))
        three = (change.after, change.before, change.change) if change else (None, None, None)
        rows.append(Row((*head, *(number(each) if scaled else percent(each) for each in three))))
    unit = (Column("with image", digits=2), Column("without", digits=2), Column("difference", digits=2, signed=True))
    columns = (
        label("dimension"),
        count("pairs"),
        *(unit if scaled else (share("with image", 2), share("without", 2), points("difference", 2))),
    )
    what = {"mcq": "accuracy", "circular": "accuracy over all rotations", "open": "total"}[form]
    notes = (
        "Over the questions that have a value both ways. A difference near 0 says that the image was of no use.",
        "In brackets: 95 % interval by bootstrap over images, the same images drawn for both sides.",
    )
    titles = {"mcq": "Multiple choice", "circular": "Rotated options", "open": "Open answers"}
    return Table(
        f"without_image_{form}", f"{titles[form]}: {what} with and without the image", columns, tuple(rows), notes
    )


def replies(found: Mapping[str, Replies]) -> Table:
    """What became of the requests of each task."""
    rows = [
        Row(
            (
                Cell(task),
                *map(Cell, (each.requests, each.failed, each.unscored, each.unreadable)),
                percent_of(each.parse_rate),
            )
        )
        for task, each in found.items()
    ]
    columns = (
        label("task"),
        count("requests"),
        count("failed"),
        count("questions without a reply"),
        count("unreadable replies"),
        share("parse rate"),
    )
    notes = (
        "Failed requests count as nothing and are left out. Unreadable: no letter found, counted as incorrect; of open "
        "answers: one of the two parts is missing, judged all the same.",
    )
    return Table("replies", "Requests and replies", columns, tuple(rows), notes, folded=True)
