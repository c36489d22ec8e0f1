"""The tables of one run: robustness by shift, what the tests hold, traditional metrics, what was answered at all."""

from __future__ import annotations

from collections.abc import Iterator

from lmms_medtasks.report.cells import count, label, number, percent_of, share
from lmms_medtasks.report.document import Cell, Column, Row, Table
from lmms_medtasks.report.sure_vqa.analysis import SMALL, Analysis, Asked, Result
from lmms_medtasks.report.sure_vqa.reading import SIDES, TRADITIONAL, Side

SIDE_NAMES = {"iid": "i.i.d.", "ood": "OoD"}
SCALE = "closed: 0 to 1 (a question with two options may get 0.5); open: 1 to 5 stars"
_TEXT_HEADS = {
    "exact_match": "exact match",
    "precision": "precision",
    "recall": "recall",
    "f1": "F1",
    "bleu": "BLEU-1",
}


_ROBUSTNESS_NOTES = (
    f"Scores by the judge or by exact match ({SCALE}). RR, relative robustness: OoD / i.i.d.; of stars at least 0.2 "
    "whatever the model, so not to be compared with that of closed questions. Empty where i.i.d. is 0.",
    "In brackets: 95 % interval over images; images of both tests are drawn together, so that a shared one stays "
    "paired. n: questions with a score.",
)
_MISSING = "Missing: judgements that could not be had, counted as the scale's worst or best; empty in rows without any."


def score(name: str, *, signed: bool = False) -> Column:
    """A column of scores or of ratios, with two decimals as in the paper."""
    return Column(name, digits=2, signed=signed)


def robustness(analysis: Analysis) -> Table:
    """Scores of both tests and relative robustness, a row a shift and kind of question."""
    rows = []
    results = analysis.results.values()
    missing = any(each.missing for each in results)
    for each in results:
        found, small = each.robustness, "#" if each.is_small else ""
        head = (Cell(each.shift.label), Cell(each.kind))
        tests = (Cell(found.iid.n), number(found.iid), Cell(found.ood.n, mark=small), number(found.ood))
        bounds = map(Cell, each.rr_bounds if each.missing else (None, None))
        rows.append(Row((*head, *tests, number(found.change), number(found.ratio), *(bounds if missing else ()))))
    columns = (
        label("shift"),
        label("questions"),
        count("n i.i.d."),
        score("i.i.d."),
        count("n OoD"),
        score("OoD"),
        score("OoD - i.i.d.", signed=True),
        score("RR"),
        *((score("RR, missing at worst"), score("RR, missing at best")) if missing else ()),
    )
    marks = {"#": f"Fewer than {SMALL} OoD questions: their mean says little, and RR no more."}
    notes = (*_ROBUSTNESS_NOTES, *([_MISSING] if missing else []))
    return Table("robustness", "Relative robustness by shift", columns, tuple(rows), notes, marks=marks)


def _by_side(analysis: Analysis) -> Iterator[tuple[Result, Side, Asked]]:
    for each in analysis.results.values():
        for side in SIDES:
            yield each, side, each.sides[side]


def _head(each: Result, side: Side) -> tuple[Cell, ...]:
    return (Cell(each.shift.label), Cell(each.kind), Cell(SIDE_NAMES[side]))


_HEAD = (label("shift"), label("questions"), label("test"))


def tests(analysis: Analysis) -> Table:
    """What the tests hold and what came of their answers."""
    rows = []
    for each, side, asked in _by_side(analysis):
        interval = getattr(each.robustness, side)
        numbers = (asked.asked, interval.clusters, each.robustness.shared, asked.failed, asked.empty)
        judged = (Cell(asked.judged), Cell(asked.wanted), percent_of(asked.coverage))
        mean = number(interval)
        rows.append(Row((*_head(each, side), *map(Cell, numbers), *judged, mean, Cell(asked.low), Cell(asked.high))))
    columns = (
        *_HEAD,
        *map(count, ("asked", "images", "images in both tests", "failed requests", "empty replies")),
        count("judged"),
        count("wanted"),
        share("coverage"),
        score("score"),
        score("missing as worst"),
        score("missing as best"),
    )
    notes = (
        "Failed requests have no score and are left out; an empty reply counts as wrong. A missing judgement is never "
        "a score. images: of the questions with a score.",
    )
    return Table("tests", "Tests, replies and judgements", columns, tuple(rows), notes, long=True)


def traditional(analysis: Analysis) -> Table:
    """The token-matching metrics beside the judged score."""
    rows = [
        Row(
            (
                *_head(each, side),
                number(getattr(each.robustness, side)),
                *(Cell(asked.text[name]) for name in TRADITIONAL),
            )
        )
        for each, side, asked in _by_side(analysis)
    ]
    columns = (*_HEAD, score("judged score"), *(score(_TEXT_HEADS[name]) for name in TRADITIONAL))
    notes = (
        "Means over all replies, from 0 to 1. They match tokens and know neither synonyms nor negation: the paper "
        "shows them to fail (section 2, P2), and scores by the judge. Normalised as in the VQA challenge.",
    )
    return Table("traditional", "Traditional metrics beside the judged score", columns, tuple(rows), notes)


def answered(analysis: Analysis) -> Table | None:
    """How much was answered at all and how well, where some replies are empty; None where none is."""
    if not any(asked.empty for _, _, asked in _by_side(analysis)):
        return None
    rows = [
        Row(
            (
                *_head(each, side),
                Cell(asked.asked - asked.failed),
                percent_of(asked.answered_share),
                Cell(asked.answered),
                number(getattr(each.robustness, side)),
            )
        )
        for each, side, asked in _by_side(analysis)
    ]
    columns = (
        *_HEAD,
        count("replies"),
        share("answered"),
        score("score of the answered"),
        score("score of all"),
    )
    notes = (
        "The most frequent baseline answers only questions that stand in the training set; the paper leaves cells "
        "empty where too few do. In the score of all an empty reply counts as wrong.",
    )
    return Table("answered", "What was answered at all", columns, tuple(rows), notes)
