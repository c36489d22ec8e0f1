"""A comparison as documents for all writers, the whole and one screen of it, and as JSON."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from lmms_medtasks.board.boards import drawn_clusters
from lmms_medtasks.board.comparison.compared_entries import grouped, problems_said, replies_said
from lmms_medtasks.board.comparison.measure_comparison import Compared, Comparison, Telling
from lmms_medtasks.board.shown_answers import Shown
from lmms_medtasks.board.word_verdicts import word_signs
from lmms_medtasks.report.cells import count, decimal, label, p_value, probability, scaled
from lmms_medtasks.report.document import Cell, Document, Flag, Frame, FrameColumn, FrameRow, Part, Section
from lmms_medtasks.report.judged_tables import LEXICAL, MEANINGS
from lmms_medtasks.report.terminal import MOST_ROWS
from lmms_medtasks.samples.runs import printable
from lmms_medtasks.short_texts import first_listed, short
from lmms_medtasks.statistics.confidence import ALPHA, ERROR, LEVEL, alpha, level, percent

_TEXT = 300
_MOST_REMARKS = 4
_ONE_SIDED = "questions have a score in one of both only."
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


def document(compared: Compared) -> Document:
    """Tables of differences (one a unit) and of the most telling questions; texts are made printable, not escaped."""
    first, second = compared.sides
    facts = (("A", first.shown), ("B", second.shown))
    sections = [Section("differences", "Differences", tables=tuple(_differences(compared)))]
    if compared.telling:
        sections.append(Section("telling", "Most telling questions", tables=tuple(_telling_tables(compared))))
    title = f"{first.name} against {second.name}"
    part = Part("compare", title, facts, tuple(_flags(compared)), tuple(sections))
    return Document(f"Comparison: {title}", (part,))


def screen(compared: Compared) -> Document:
    """Who is better in how many numbers, and of each number the difference: those that are told apart first."""
    rows = [(_sign(each), each) for each in compared.comparisons if each.change.interval.estimate is not None]
    rows.sort(key=lambda pair: (_SIGNS.index(pair[0]), -abs(pair[1].scale.factor * _estimate(pair[1]))))
    counts = Counter(sign for sign, _ in rows)
    tested = len(rows) - counts[_OTHER]
    said, notes = list(compared.warnings), []
    if (left := len(rows) - MOST_ROWS) > 0:
        untold = ", none of them told apart" if counts["▲"] + counts["▼"] <= MOST_ROWS else ""
        notes.append(f"and {left} more{untold}")
    untested = grouped((each.pairs.lacking.removesuffix("."), _named(each)) for each in compared.comparisons)
    notes += [f"{why}: {_first(own)}." for why, own in untested.items()]
    if tested or not rows:
        said.append(
            f"B is better in {counts['▲']} of {tested} numbers, worse in {counts['▼']}, not told apart "
            f"in {counts['=']} (level {alpha():g})."
        )
        notes += [
            "▲ better  ▼ worse  = not told apart, which does not mean equal   p (Holm): corrected for all rows",
            "Test: any difference, two-sided. gate tests one-sided against a margin, and can say otherwise.",
        ]
    columns = (
        label(""), replace(label("task, measure"), letters=40), FrameColumn("A"), FrameColumn("B"),
        FrameColumn(f"B minus A [{percent()}]"), p_value("p (Holm)"), count("images"),
    )  # fmt: skip
    made = tuple(_screen_row(sign, each) for sign, each in rows[:MOST_ROWS])
    sections = (
        Section("decision", "", tuple(said[1:]), (Frame("screen", "", columns, made, tuple(notes), marks=_MARKS),)),
        Section("remarks", "Remarks", items=tuple(_remarks(compared))),
        Section("more", "", ("All numbers, tests and questions: --all     As a file: -o FILE.md, .csv, .json",)),
    )
    first, second = compared.sides
    return Document(said[0], (Part("compare", "", (("B", second.shown), ("against A", first.shown)), (), sections),))


_SIGNS = ("▲", "▼", "=", _OTHER)


def _sign(each: Comparison) -> str:
    if not each.alike:
        return _OTHER
    if each.adjusted is None or each.adjusted > alpha():
        return "="
    return "▲" if (_estimate(each) > 0) is each.scale.higher_is_better else "▼"


def _estimate(each: Comparison) -> float:
    return each.change.interval.estimate or 0.0


def _screen_row(sign: str, each: Comparison) -> FrameRow:
    """Its numbers as texts: the digits are those of the row's measure."""
    _, _, _, _, first, second, change, *_ = _row(each).cells
    plain, signed = (FrameColumn("", digits=each.scale.digits, signed=signed) for signed in (False, True))
    written = ((plain, first), (plain, second), (signed, change))
    texts = (Cell(column.text(replace(cell, mark="")), mark=cell.mark) for column, cell in written)
    p = probability(each.adjusted if each.alike else None)
    images = Cell(each.pairs.images if len(each.pairs) else None)
    return FrameRow((Cell(sign), Cell(_named(each)), *texts, p, images))


def _remarks(compared: Compared) -> list[str]:
    """What a screen has below its numbers, the gravest first; scores of one side alone once."""
    lacking = [_named(each) for each in compared.comparisons if each.pairs.unscored]
    said = [f"Some questions have a score in one of both only: {_first(lacking)}."] if lacking else []
    flags = sorted(_flags(compared), key=lambda flag: flag.kind != "warning")
    texts = (flag.text for flag in flags if not flag.text.endswith(_ONE_SIDED))
    said += [text for text in texts if text not in compared.warnings]
    left = len(said) - _MOST_REMARKS
    return said if left <= 0 else [*said[:_MOST_REMARKS], f"and {left} remark{'s' if left > 1 else ''} more"]


def _named(each: Comparison) -> str:
    return f"{each.task}, {each.measure}"


def _first(texts: Sequence[str]) -> str:
    """The first of them, and how many more there are."""
    return texts[0] if len(texts) == 1 else f"{texts[0]}, and {len(texts) - 1} numbers more"


def _flags(compared: Compared) -> list[Flag]:
    found = [*compared.warnings, *_problems(compared, refused=True)]
    alone = []
    for each in compared.comparisons:
        pairs = each.pairs
        if pairs.unscored:
            found.append(f"{_named(each)}: {pairs.unscored:,} {_ONE_SIDED}")
        # Of a run with a limit that is known already.
        if (pairs.only_first and not each.second.limited) or (pairs.only_second and not each.first.limited):
            said = f"{pairs.only_first:,} questions of A alone, {pairs.only_second:,} of B alone."
            alone.append((said, _named(each)))
    found += [f"{first_listed(named, 3)}: {said}" for said, named in grouped(alone).items()]
    notes = [*_problems(compared, refused=False), *replies_said(dict(zip("AB", compared.sides, strict=True)))]
    for name, tasks in (("A", compared.only_first), ("B", compared.only_second)):
        if tasks:
            notes.append(f"Tasks of {name} alone: {', '.join(tasks)}.")
    notes += compared.notes
    return [*(Flag("warning", text) for text in found), *(Flag("note", text) for text in notes)]


def _problems(compared: Compared, *, refused: bool) -> list[str]:
    """What each side's board says of runs that were read, or ``refused``, and of which: each sentence once."""
    return problems_said(
        dict(zip("AB", compared.sides, strict=True)),
        lambda problem: problem.code != "limited" and (problem.level == "refused") is refused,
    )


def _differences(compared: Compared) -> list[Frame]:
    comparisons = compared.comparisons
    clusters = drawn_clusters(entry for side in compared.sides for entry in side.board.entries)
    notes = tuple(each.format(clusters=clusters, level=LEVEL, alpha=ALPHA, error=ERROR) for each in _NOTES)
    units = dict.fromkeys((each.scale.unit, each.scale.digits) for each in comparisons)
    tables = []
    for unit, digits in units:
        own = [each for each in comparisons if (each.scale.unit, each.scale.digits) == (unit, digits)]
        many = len(units) > 1
        name = "share" if unit == "%" else unit.replace(" ", "_") or "number"
        key = f"differences_{name}" if many else "differences"
        said = "percentage points" if unit == "%" else "points, of changes" if unit == "points" else unit or "numbers"
        title = f"Differences in {said}" if many else "Differences"
        tables.append(Frame(key, title, _columns(unit, digits), tuple(map(_row, own)), marks=_MARKS))
    return [*tables[:-1], *(replace(table, notes=notes) for table in tables[-1:])]


def _columns(unit: str, digits: int) -> tuple[FrameColumn, ...]:
    return (
        label("task"), label("measure"), count("questions"), count("images"),
        FrameColumn("A", digits=digits, unit=unit), FrameColumn("B", digits=digits, unit=unit),
        FrameColumn("difference", digits=digits, signed=True, unit="points" if unit == "%" else unit),
        FrameColumn("detectable", digits=digits, unit="points" if unit == "%" else unit),
        count("wins"), count("ties"), count("losses"),
        p_value("p"), p_value("p (Holm)"), p_value("p (questions)"), label("test"),
        decimal("Cohen's h", signed=True), FrameColumn("odds", digits=2), decimal("rank-biserial", signed=True),
    )  # fmt: skip


def _row(each: Comparison) -> FrameRow:
    pairs, change, factor, least = each.pairs, each.change, each.scale.factor, each.detectable

    def shown(value: float | None, **more: Any) -> Cell:
        return Cell(None if value is None else factor * value, **more)

    one, other = word_signs(pairs.by_words)
    lacking = pairs.lacking or None
    return FrameRow((
        Cell(each.task, mark="" if each.alike else _OTHER), Cell(each.measure),
        Cell(len(pairs) if pairs.of_questions else None), Cell(None if lacking else pairs.images),
        shown(change.first, mark=one), shown(change.second, mark=other), _change(each),
        shown(least.difference if least else None, reason=(least.reason if least else "") or None),
        *map(Cell, _counts(each)),
        replace(probability(change.p), reason=lacking), probability(each.adjusted), probability(each.question_p),
        Cell(each.test), Cell(each.cohens_h), Cell(each.odds), Cell(each.rank_biserial),
    ))  # fmt: skip


def _change(each: Comparison) -> Cell:
    """The difference; marked where its interval leaves 0 out and the corrected p shows none, or the reverse."""
    cell = scaled(each.change.interval, each.scale.factor)
    if cell.low is None or cell.high is None or each.adjusted is None or not each.alike:
        return cell
    return cell if (cell.low <= 0 <= cell.high) is (each.adjusted > alpha()) else replace(cell, mark=_DISAGREES)


def _counts(each: Comparison) -> Sequence[int | None]:
    """Wins, ties and losses; none where what an image adds is such to first order only."""
    return (each.wins, each.ties, each.losses) if each.pairs.linear else (None, None, None)


def _telling_tables(compared: Compared) -> list[Frame]:
    telling = compared.telling
    by_words = {(each.task, each.measure): each.pairs.by_words for each in compared.comparisons}
    columns = (
        label("question"), label("measure"), FrameColumn("A", digits=2), FrameColumn("B", digits=2), label("asked"),
        label("expected"), label("A's answer"), label("B's answer"),
    )  # fmt: skip
    tables = []
    for task in dict.fromkeys(each.task for each in telling):
        rows = [each for each in telling if each.task == task]
        shared = _shared_sentences(
            [shown.prompt for each in rows if (shown := each.first_answer or each.second_answer)]
        )
        notes = ["Texts are cut; where the data's terms forbid it, and in submissions, there are none."]
        if shared:
            notes.append(f"Each prompt begins with: {_cut(shared).value}")
        tables.append(Frame(f"telling_{task}", f"{task}: the questions that differ most", columns,
                            tuple(_telling_row(each, shared, by_words[each.task, each.measure]) for each in rows),
                            tuple(notes), marks=_BY_WORDS))  # fmt: skip
    return tables


def _shared_sentences(prompts: Sequence[str]) -> str:
    """The whole sentences that all prompts begin with, in single spaces; "" of fewer than two prompts."""
    if len(prompts) < 2:
        return ""
    start = os.path.commonprefix([" ".join(prompt.split()) for prompt in prompts])
    return start[: start.rfind(". ") + 1]


def _telling_row(each: Telling, shared: str, by_words: tuple[bool, bool]) -> FrameRow:
    """A question with both models' answers, without the sentences that the prompts of the table share."""
    shown = each.first_answer or each.second_answer
    texts = [Cell(None), Cell(None)]
    if shown:
        texts = [_cut(" ".join(shown.prompt.split()).removeprefix(shared)), _cut(shown.expected)]
    replies = [_replies(answer) for answer in (each.first_answer, each.second_answer)]
    values = zip((each.first, each.second), word_signs(by_words), strict=True)
    scores = [Cell(value, mark=sign) for value, sign in values]
    return FrameRow((Cell(each.id), Cell(each.measure), *scores, *texts, *replies))


def _replies(shown: Shown | None) -> Cell:
    if shown is None:
        return Cell(None)
    texts = (reply if reply.strip() else "(empty)" for reply in shown.replies)
    return _cut(" | ".join(dict.fromkeys(texts)))


def _cut(text: str) -> Cell:
    return Cell(short(printable(" ".join(text.split())), _TEXT, " […]"))


def to_json(compared: Compared) -> dict[str, Any]:
    """Everything of a comparison, JSON-safe; numbers in the measures' own units, nothing rounded."""
    first, second = compared.sides
    return {
        "confidence": level(),
        "a": {"name": first.name, "path": str(first.path)},
        "b": {"name": second.name, "path": str(second.path)},
        "comparisons": [_comparison_json(each) for each in compared.comparisons],
        "telling": [_telling_json(each) for each in compared.telling],
        "only_a": list(compared.only_first),
        "only_b": list(compared.only_second),
        "warnings": list(compared.warnings),
        "notes": list(compared.notes),
    }


def _comparison_json(each: Comparison) -> dict[str, Any]:
    pairs, change = each.pairs, each.change
    return {
        "task": each.task, "measure": each.measure, "same_thing": each.alike,
        "by_words": dict(zip("ab", pairs.by_words, strict=True)),
        "unit": each.scale.unit, "range": [each.scale.low, each.scale.high],
        "of": "questions" if pairs.of_questions else "images",
        "questions": len(pairs) if pairs.of_questions else None,
        "images": pairs.images, "unscored": pairs.unscored,
        "only_a": pairs.only_first, "only_b": pairs.only_second, "a": change.first, "b": change.second,
        "difference": change.interval.estimate, "low": change.interval.low, "high": change.interval.high,
        "no_interval": change.interval.reason,
        "detectable": each.detectable.difference if each.detectable else None,
        **dict(zip(("wins", "ties", "losses"), _counts(each), strict=True)), "p": change.p, "p_holm": each.adjusted,
        "test": each.test, "p_questions": each.question_p, "p_sign": each.sign_p,
        "cohens_h": each.cohens_h, "odds": each.odds, "rank_biserial": each.rank_biserial,
        "replies": {"a": each.first.outcomes, "b": each.second.outcomes},
    }  # fmt: skip


def _telling_json(each: Telling) -> dict[str, Any]:
    found: dict[str, Any] = {name: getattr(each, name) for name in ("task", "measure", "id")}
    found |= {"a": each.first, "b": each.second}
    shown = each.first_answer or each.second_answer
    if shown:
        found |= {"asked": shown.prompt, "expected": shown.expected}
    for name, answer in (("a_replies", each.first_answer), ("b_replies", each.second_answer)):
        if answer:
            found[name] = list(answer.replies)
    return found
