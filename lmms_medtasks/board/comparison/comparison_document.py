"""A comparison as documents, in full and as one screen, and as JSON."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from lmms_medtasks.board.boards import drawn_clusters
from lmms_medtasks.board.comparison.compared_entries import group_reasons, problems_said, replies_said
from lmms_medtasks.board.comparison.measure_comparison import RunsComparison, ScoreComparison
from lmms_medtasks.report.cells import (
    cell_of,
    count_column,
    decimal_column,
    label_column,
    p_value,
    p_value_cell,
    scaled_cell,
)
from lmms_medtasks.report.document import (
    Cell,
    Frame,
    FrameColumn,
    FrameRow,
    ReportChapter,
    ReportNotice,
    ReportSection,
)
from lmms_medtasks.report.first_screen import ReportDocument
from lmms_medtasks.report.judged_tables import LEXICAL, MEANINGS
from lmms_medtasks.report.terminal import MOST_ROWS
from lmms_medtasks.samples.runs import make_printable
from lmms_medtasks.short_texts import first_listed, shorten_text
from lmms_medtasks.statistics.confidence import ALPHA, ERROR, LEVEL, current_alpha, current_level, format_current_level
from lmms_medtasks.statistics.intervals import IntervalEstimate
from lmms_medtasks.suites.suite import Measure

_TEXT = 300
_MOST_REMARKS = 4
_OTHER, _DISAGREES = "≠", "†"
_BY_WORDS = {LEXICAL: MEANINGS[LEXICAL]}
_MARKS = {
    _OTHER: "Not of the same thing, and why is said first: a difference says nothing of the models.",
    _DISAGREES: "The interval looks at this row alone, p (Holm) is corrected for all rows. Where the two seem to "
    "disagree both are right, and p (Holm) decides.",
    **_BY_WORDS,
}
_NOTES = (
    "Difference: B minus A over the same questions, with a {level} interval over {clusters}, here and below. "
    "Wins: questions on which B is better; in a row without a number of questions, images.",
    "Detectable: the smallest true difference that these questions would have shown with 80 % probability, two-sided "
    "and corrected for all rows. Where no difference is shown, a true one below that may still be there. Empty: fewer "
    "than five {clusters}, all give the same change, or no difference that the scale allows would have been shown.",
    "p: two-sided, of the hypothesis that both are equally able, so that each image's difference is as likely to have "
    "the other sign (Fisher-Pitman's permutation test). Independent are images, not questions. p (Holm): corrected "
    "over all rows of all tables: that any row of two equally able models is at or below {alpha} has a chance of at "
    "most {error}. `gate` asks whether a drop is larger or smaller than a margin (one-sided), and can say otherwise.",
    "p (questions): McNemar's exact test for scores of 0 and 1, else Wilcoxon's signed-rank test; not corrected, and "
    "too small where an image has several questions. None of a number that is no mean over questions: the test named "
    "is then that of p. Signs flipped, asymptotic: p holds with many images.",
    "Cohen's h: 0.2 is small, 0.5 medium, 0.8 large. Odds: of B right and A wrong against the reverse, half a question "
    "added to both. Rank-biserial: from -1 to 1, for graded scores.",
)


def comparison_report(compared: RunsComparison) -> ReportDocument:
    """Tables of differences (one a unit) and of the most discordant questions; texts are printable, not escaped."""
    first, second = compared.sides
    facts = (("A", first.shown), ("B", second.shown))
    sections = [ReportSection("differences", "Differences", tables=tuple(_difference_tables(compared)))]
    if compared.telling:
        sections.append(ReportSection("telling", "Most telling questions", tables=tuple(_telling_tables(compared))))
    title = f"{first.name} against {second.name}"
    part = ReportChapter("compare", title, facts, tuple(_comparison_notices(compared)), tuple(sections))
    return ReportDocument(f"Comparison: {title}", (part,))


def comparison_to_json(compared: RunsComparison) -> dict[str, Any]:
    """The whole comparison, JSON-safe; numbers in the measures' units, not rounded."""
    sides = zip("ab", compared.sides, strict=True)
    return {
        "confidence": current_level(),
        **{key: {"name": side.name, "path": str(side.path)} for key, side in sides},
        "comparisons": [comparison.record() for comparison in compared.comparisons],
        "telling": list(compared.telling),
        "only_a": list(compared.only_first),
        "only_b": list(compared.only_second),
        "warnings": list(compared.warnings),
        "notes": list(compared.notes),
    }


def comparison_screen(compared: RunsComparison) -> ReportDocument:
    """How many numbers are better or worse, and each difference, significant ones first."""
    rows = [
        (_comparison_sign(comparison), comparison)
        for comparison in compared.comparisons
        if comparison.change.interval.estimate is not None
    ]
    rows.sort(key=lambda pair: (_SIGNS.index(pair[0]), -abs(pair[1].scale.factor * _estimated_change(pair[1]))))
    counts = Counter(sign for sign, _ in rows)
    tested = len(rows) - counts[_OTHER]
    said, notes = list(compared.warnings), []
    if (left := len(rows) - MOST_ROWS) > 0:
        untold = ", none of them told apart" if counts["▲"] + counts["▼"] <= MOST_ROWS else ""
        notes.append(f"and {left} more{untold}")
    untested = group_reasons(
        (each.pairs.lacking.removesuffix("."), _comparison_label(each)) for each in compared.comparisons
    )
    notes += [f"{why}: {first_listed(own, 1)}." for why, own in untested.items()]
    if tested or not rows:
        said.append(
            f"B is better in {counts['▲']} of {tested} numbers, worse in {counts['▼']}, not told apart "
            f"in {counts['=']} (level {current_alpha():g})."
        )
        notes += [
            "▲ better  ▼ worse  = not told apart, which does not mean equal   p (Holm): corrected for all rows",
            "Test: any difference, two-sided. gate tests one-sided against a margin, and can say otherwise.",
        ]
    columns = (
        label_column(""), replace(label_column("task, measure"), letters=40), FrameColumn("A"), FrameColumn("B"),
        FrameColumn(f"B minus A [{format_current_level()}]"), p_value("p (Holm)"), count_column("images"),
    )  # fmt: skip
    made = tuple(_screen_row(sign, each) for sign, each in rows[:MOST_ROWS])
    flags = sorted(_comparison_notices(compared), key=lambda flag: flag.kind != "warning")
    remarks = [flag.text for flag in flags if flag.text not in compared.warnings]
    if (left := len(remarks) - _MOST_REMARKS) > 0:
        remarks[_MOST_REMARKS:] = [f"and {left} remark{'s' if left > 1 else ''} more"]
    table = Frame("screen", "", columns, made, tuple(notes), marks=_MARKS)
    more = "All numbers, tests and questions: --format md     As a file: -o FILE.md, .csv, .json"
    sections = (
        ReportSection("decision", "", tuple(said[1:]), (table,)),
        ReportSection("remarks", "Remarks", items=tuple(remarks)),
        ReportSection("more", "", (more,)),
    )
    facts = (("B", compared.sides[1].shown), ("against A", compared.sides[0].shown))
    return ReportDocument(said[0], (ReportChapter("compare", "", facts, (), sections),))


def _comparison_label(comparison: ScoreComparison) -> str:
    return f"{comparison.task}, {comparison.measure}"


_SIGNS = ("▲", "▼", "=", _OTHER)


def _comparison_sign(comparison: ScoreComparison) -> str:
    if not comparison.alike:
        return _OTHER
    if comparison.p_holm is None or comparison.p_holm > current_alpha():
        return "="
    return "▲" if (_estimated_change(comparison) > 0) is comparison.scale.higher_is_better else "▼"


def _estimated_change(comparison: ScoreComparison) -> float:
    return comparison.change.interval.estimate or 0.0


def _screen_row(sign: str, comparison: ScoreComparison) -> FrameRow:
    change = comparison.change
    sides = (Cell(write_comparison(comparison.scale, value), mark=mark)
             for value, mark in zip((change.first, change.second), comparison.pairs.signs, strict=True))  # fmt: skip
    mark = _change_cell(comparison).mark
    difference = Cell(write_comparison(comparison.scale, change.interval, signed=True), mark=mark)
    p = p_value_cell(comparison.p_holm if comparison.alike else None)
    images = Cell(comparison.pairs.images if len(comparison.pairs) else None)
    return FrameRow((Cell(sign), Cell(_comparison_label(comparison)), *sides, difference, p, images))


def write_comparison(scale: Measure, value: float | IntervalEstimate | None, *, signed: bool = False) -> str:
    """A number as a text with the digits of its measure, an interval with its ends."""
    column = FrameColumn("", digits=scale.digits, signed=signed)
    if isinstance(value, IntervalEstimate):
        return column.text(replace(scaled_cell(value, scale.factor), mark=""))
    return column.text(Cell(None if value is None else scale.factor * value))


def _comparison_notices(compared: RunsComparison) -> list[ReportNotice]:
    """Warnings and notes, each reason once with its tasks."""
    sides = dict(zip("AB", compared.sides, strict=True))
    # A limit is in the warnings.
    refused = problems_said(sides, lambda each: each.level == "refused" and each.code != "limited")
    noted = problems_said(sides, lambda each: each.level != "refused" and each.code != "limited")
    counted = []
    for comparison in compared.comparisons:
        pairs = comparison.pairs
        if pairs.unscored:
            said = f"{pairs.unscored:,} questions have a score in one of both only."
            counted.append((said, _comparison_label(comparison)))
        # Of a run with a limit that is known already.
        if (pairs.only_first and not comparison.second.limited) or (pairs.only_second and not comparison.first.limited):
            said = f"{pairs.only_first:,} questions of A alone, {pairs.only_second:,} of B alone."
            counted.append((said, _comparison_label(comparison)))
    found = [*compared.warnings, *refused]
    found += [f"{first_listed(of, 3)}: {said}" for said, of in group_reasons(counted).items()]
    notes = [*noted, *replies_said(sides)]
    for name, tasks in (("A", compared.only_first), ("B", compared.only_second)):
        if tasks:
            notes.append(f"Tasks of {name} alone: {', '.join(tasks)}.")
    notes += compared.notes
    return [*(ReportNotice("warning", text) for text in found), *(ReportNotice("note", text) for text in notes)]


def _difference_tables(compared: RunsComparison) -> list[Frame]:
    comparisons = compared.comparisons
    clusters = drawn_clusters(entry for side in compared.sides for entry in side.board.entries)
    notes = tuple(each.format(clusters=clusters, level=LEVEL, alpha=ALPHA, error=ERROR) for each in _NOTES)
    units = group_reasons(((comparison.scale.unit, comparison.scale.digits), comparison) for comparison in comparisons)
    tables = []
    for (unit, digits), own in units.items():
        name = "share" if unit == "%" else unit.replace(" ", "_") or "number"
        said = "percentage points" if unit == "%" else "points, of changes" if unit == "points" else unit or "numbers"
        key, title = (
            (f"differences_{name}", f"Differences in {said}") if len(units) > 1 else ("differences", "Differences")
        )
        columns = _difference_columns(unit, digits)
        rows = tuple(_difference_row(each, columns) for each in own)
        tables.append(Frame(key, title, tuple(columns.values()), rows, marks=_MARKS))
    return [*tables[:-1], *(replace(table, notes=notes) for table in tables[-1:])]


def _difference_columns(unit: str, digits: int) -> Mapping[str, FrameColumn]:
    """The columns of a table of numbers in a unit, by their names in JSON."""
    change = "points" if unit == "%" else unit
    return {
        "task": label_column("task"), "measure": label_column("measure"), "questions": count_column("questions"),
        "images": count_column("images"),
        "a": FrameColumn("A", digits=digits, unit=unit), "b": FrameColumn("B", digits=digits, unit=unit),
        "difference": FrameColumn("difference", digits=digits, signed=True, unit=change),
        "detectable": FrameColumn("detectable", digits=digits, unit=change),
        "wins": count_column("wins"), "ties": count_column("ties"), "losses": count_column("losses"),
        "p": p_value("p"), "p_holm": p_value("p (Holm)"), "p_questions": p_value("p (questions)"),
        "test": label_column("test"), "cohens_h": decimal_column("Cohen's h", signed=True),
        "odds": FrameColumn("odds", digits=2), "rank_biserial": decimal_column("rank-biserial", signed=True),
    }  # fmt: skip


def _difference_row(comparison: ScoreComparison, columns: Mapping[str, FrameColumn]) -> FrameRow:
    """Its record in the columns' units, with marks and reasons."""
    record = comparison.record()
    cells = {key: cell_of(column, record[key]) for key, column in columns.items()}
    first_sign, second_sign = comparison.pairs.signs
    cells |= {
        "task": Cell(comparison.task, mark="" if comparison.alike else _OTHER),
        # Points are shares or not, which their column does not know.
        **{key: Cell(record[key] and comparison.scale.factor * record[key]) for key in ("a", "b", "detectable")},
        **{key: p_value_cell(record[key]) for key in ("p", "p_holm", "p_questions")},
    }  # fmt: skip
    cells |= {"a": replace(cells["a"], mark=first_sign), "b": replace(cells["b"], mark=second_sign)}
    cells["difference"] = _change_cell(comparison)
    if comparison.detectable and comparison.detectable.reason:
        cells["detectable"] = replace(cells["detectable"], reason=comparison.detectable.reason)
    if comparison.pairs.lacking:
        cells |= {"images": Cell(None), "p": replace(cells["p"], reason=comparison.pairs.lacking)}
    return FrameRow(tuple(cells.values()))


def _change_cell(comparison: ScoreComparison) -> Cell:
    """The difference; marked if interval and corrected p disagree about significance."""
    cell = scaled_cell(comparison.change.interval, comparison.scale.factor)
    if cell.low is None or cell.high is None or comparison.p_holm is None or not comparison.alike:
        return cell
    agrees = (cell.low <= 0 <= cell.high) is (comparison.p_holm > current_alpha())
    return cell if agrees else replace(cell, mark=_DISAGREES)


def _telling_tables(compared: RunsComparison) -> list[Frame]:
    signs = {(comparison.task, comparison.measure): comparison.pairs.signs for comparison in compared.comparisons}
    columns = (
        label_column("question"), label_column("measure"), FrameColumn("A", digits=2), FrameColumn("B", digits=2),
        label_column("asked"), label_column("expected"), label_column("A's answer"), label_column("B's answer"),
    )  # fmt: skip
    tables = []
    for task, rows in group_reasons((each["task"], each) for each in compared.telling).items():
        shared = _shared_sentences([_on_one_line(row["asked"]) for row in rows if "asked" in row])
        notes = ["Texts are cut; where the data's terms forbid it, and in submissions, there are none."]
        if shared:
            notes.append(f"Each prompt begins with: {_shortened_cell(shared).value}")
        made = tuple(_telling_row(row, shared, signs[task, row["measure"]]) for row in rows)
        title = f"{task}: the questions that differ most"
        tables.append(Frame(f"telling_{task}", title, columns, made, tuple(notes), marks=_BY_WORDS))
    return tables


def _shared_sentences(prompts: Sequence[str]) -> str:
    """The whole sentences that all prompts begin with; "" for fewer than two prompts."""
    start = os.path.commonprefix(prompts) if len(prompts) > 1 else ""
    return start[: start.rfind(". ") + 1]


def _telling_row(question: Mapping[str, Any], shared: str, signs: tuple[str, str]) -> FrameRow:
    """A question with both models' answers, without the sentences that the prompts of the table share."""
    scores = (Cell(question[side], mark=sign) for side, sign in zip("ab", signs, strict=True))
    texts = [Cell(None), Cell(None)]
    if "asked" in question:
        prompt = _on_one_line(question["asked"]).removeprefix(shared)
        texts = [_shortened_cell(prompt), _shortened_cell(question["expected"])]
    for side in "ab":
        replies = question.get(f"{side}_replies")
        shown = dict.fromkeys(reply if reply.strip() else "(empty)" for reply in replies or ())
        texts.append(Cell(None) if replies is None else _shortened_cell(" | ".join(shown)))
    return FrameRow((Cell(question["id"]), Cell(question["measure"]), *scores, *texts))


def _on_one_line(text: str) -> str:
    return " ".join(text.split())


def _shortened_cell(text: str) -> Cell:
    return Cell(shorten_text(make_printable(_on_one_line(text)), _TEXT, " […]"))
