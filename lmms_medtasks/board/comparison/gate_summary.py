"""A gate's decision as a document, for a terminal and for the summary of a pull request."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from lmms_medtasks.board.boards import drawn_clusters
from lmms_medtasks.board.comparison.compared_entries import asked_in_part, group_reasons
from lmms_medtasks.board.comparison.comparison_document import write_comparison
from lmms_medtasks.board.comparison.gate import EFFECTS, GateResult, GateVerdict
from lmms_medtasks.report.cells import count_column, label_column, p_value, p_value_cell
from lmms_medtasks.report.document import (
    Cell,
    Frame,
    FrameColumn,
    FrameRow,
    ReportChapter,
    ReportSection,
)
from lmms_medtasks.report.first_screen import ReportDocument
from lmms_medtasks.report.judged_tables import LEXICAL, MEANINGS
from lmms_medtasks.report.terminal import MOST_ROWS
from lmms_medtasks.short_texts import first_listed
from lmms_medtasks.statistics import confidence

_FEW, _MOST_NAMED = 2, 4
_SIGNS = {"fail": "✕", "undecided": "?", "warn": "!", "ignore": "✓"}
_SIGNS_SAID = "✕ fails  ? can't tell  ! warning  ✓ passes"


def gate_report(gate: GateResult, *, is_screen: bool = False) -> ReportDocument:
    """The decision, the numbers, then the remarks. A screen lists reasons that many measures share once."""
    sides = (gate.baseline, gate.candidate)
    limits = [said for called, side in zip(("The baseline", "The candidate"), sides, strict=True)
              for said in asked_in_part(called, side.board.entries)]  # fmt: skip
    facts = (("candidate", gate.candidate.shown), ("against", gate.baseline.shown))
    verdicts = sorted(gate.verdicts, key=lambda verdict: EFFECTS.index(verdict.effect))
    sections = [ReportSection("limits", "", items=tuple(limits)), _verdict_section(verdicts, is_screen)]
    if is_screen:
        sections.append(ReportSection("alike", "", items=tuple(_said_once(verdicts))))
    for title, action in (("Problems of the candidate", "fail"), ("Warnings", "warn")):
        problems = _problem_lines(gate, action, is_screen)
        sections.append(ReportSection(action, title, items=tuple(problems)))
    sections.append(ReportSection("remarks", "Remarks", items=tuple(gate.remarks)))
    note = "All rows, tests, intervals and what they mean: --format md" if is_screen else _gate_note(gate)
    sections = [section for section in sections if section.items or section.tables]
    sections.append(ReportSection("more", "", (note,)))
    return ReportDocument(f"Gate: {gate_decision(gate)}", (ReportChapter("gate", "", facts, (), tuple(sections)),))


def _verdict_section(verdicts: Sequence[GateVerdict], is_screen: bool) -> ReportSection:
    shown = [verdict for verdict in verdicts if verdict.test is not None] if is_screen else verdicts
    cut = shown[MOST_ROWS:] if is_screen else ()
    outcomes = Counter(each.outcome for each in cut)
    notes = [f"and {len(cut)} more: {', '.join(f'{many} {name}' for name, many in outcomes.items())}"] if cut else []
    notes += [_SIGNS_SAID, _TESTS]
    notes += [_WIDE] if any(verdict.scale.low < 0 and verdict.test for verdict in verdicts) else []
    columns = (
        label_column(""), replace(label_column("task, measure"), letters=40), _as_long_column(label_column("model")),
        _as_long_column(count_column("images")), _as_long_column(count_column("questions")), FrameColumn("before"),
        FrameColumn("now"), _as_long_column(FrameColumn(f"change [{confidence.format_current_level()}]")),
        FrameColumn("drop, upper limit"), FrameColumn("margin"), _as_long_column(FrameColumn("detectable drop")),
        _as_long_column(p_value("p (worse)")), _as_long_column(p_value("p (worse), corrected")),
        _as_long_column(p_value("p (not worse)")), label_column("outcome"), _as_long_column(label_column("why")),
    )  # fmt: skip
    rows = tuple(map(_verdict_row, shown[: len(shown) - len(cut)]))
    table = Frame("verdicts", "", columns, rows, tuple(notes), marks={LEXICAL: MEANINGS[LEXICAL]})
    return ReportSection("verdicts", "", tables=(table,) if rows else ())


def _as_long_column(column: FrameColumn) -> FrameColumn:
    return replace(column, long=True)


def _said_once(verdicts: Sequence[GateVerdict]) -> list[str]:
    """Reasons of verdicts that the numbers do not give, each once with its measures."""
    grouped = group_reasons(
        (
            (f"{_SIGNS[verdict.effect]} {verdict.outcome.capitalize()}", verdict.detail.removesuffix(".")),
            _verdict_label(verdict),
        )
        for verdict in verdicts
        if verdict.detail or verdict.test is None
    )
    return [
        f"{outcome} ({len(labels)}): {why[:1].lower()}{why[1:]}: {first_listed(labels, _MOST_NAMED)}."
        for (outcome, why), labels in grouped.items()
    ]


def _verdict_label(verdict: GateVerdict) -> str:
    return f"{verdict.task}, {verdict.measure}"


def _problem_lines(gate: GateResult, action: str, is_screen: bool) -> list[str]:
    """Each problem once; on a screen the first ones of a kind."""
    grouped = group_reasons(
        (problem.code, f"{problem.task or problem.source}: {problem.reason}")
        for problem_action, problem in gate.problems
        # On a screen a limit that is no reason is said above.
        if problem_action == action and not (is_screen and (action, problem.code) == ("warn", "limited"))
    )
    texts: list[str] = []
    for each in (*grouped.values(), gate.warnings if action == "warn" else ()):
        texts += each[: _FEW if is_screen else None]
        if is_screen and len(each) > _FEW:
            texts.append(f"and {len(each) - _FEW} more like these")
    return list(dict.fromkeys(texts))


def _gate_note(gate: GateResult) -> str:
    return _NOTE.format(
        level=confidence.format_current_level(),
        clusters=drawn_clusters(gate.baseline.board.entries),
        correction="corrected over all rows that were tested (Holm)" if gate.correction == "holm" else "not corrected",
        alphas=" or ".join(dict.fromkeys(f"{verdict.rule.alpha:g}" for verdict in gate.verdicts)) or "alpha",
    )


def gate_decision(gate: GateResult) -> str:
    """The decision in a few words: ``failed (2 reasons)``."""
    failing = sum(verdict.effect == "fail" for verdict in gate.verdicts)
    failing += sum(action == "fail" for action, _ in gate.problems)
    counted = ("undecided",) if gate.decision == "undecided" else ("undecided", "warn", "ignore")
    untold = sum(verdict.outcome == "can't tell" and verdict.effect in counted for verdict in gate.verdicts)
    measures = "1 measure" if untold == 1 else f"{untold} measures"
    if gate.decision == "failed":
        return f"failed ({'1 reason' if failing == 1 else f'{failing} reasons'})"
    if gate.decision == "undecided":
        return f"can't tell ({measures})"
    if all(verdict.outcome == "not tested" for verdict in gate.verdicts):
        return "passed (nothing was compared)"
    return f"passed (can't tell of {measures})" if untold else "passed"


_TESTS = "Tests: one-sided against the margin. compare tests any difference, two-sided, and can say otherwise."
_WIDE = "A margin is a share of the scale's width: that of a change, from -1 to 1, is twice as wide as that of a share."
_NOTE = (
    "Change: candidate less baseline over the same questions, with a {level} interval over {clusters}. Drop, upper "
    "limit: that of the second test, one-sided; it may lie beyond the interval's end. Both tests take images as "
    "independent, not questions. p (worse): that the drop is at most the margin, by flipping the signs of images (of a "
    "ratio, a fraction or a calibration error asymptotic), {correction}; at {alphas} or below the measure is worse. p "
    "(not worse): that the drop is at least the margin; at {alphas} or below the measure is not worse; not corrected, "
    "since the gate passes only where every measure with this test is not worse. Detectable drop: the smallest true "
    "drop that would have been called worse with 80 % probability. Where neither is rejected it can't be told: more "
    "images, or a wider margin, would decide."
)


def _verdict_row(verdict: GateVerdict) -> FrameRow:
    """Its numbers as texts, because each row has its own digits and unit."""
    pairs, test, scale = verdict.pairs, verdict.test, verdict.scale
    change = write_comparison(scale, pairs.change.interval, signed=True) if pairs and test else None
    first_sign, second_sign = ("", "") if pairs is None else pairs.signs
    questions = None if pairs is not None and not pairs.of_questions else test.n if test else 0
    return FrameRow((
        Cell(_SIGNS[verdict.effect]), Cell(_verdict_label(verdict)), Cell(verdict.model),
        Cell(test.clusters if test else 0), Cell(questions),
        Cell(write_comparison(scale, verdict.baseline), mark=first_sign),
        Cell(write_comparison(scale, verdict.candidate), mark=second_sign), Cell(change),
        Cell(_largest_possible_drop(verdict)), Cell(_format_difference(verdict, verdict.margin)),
        Cell(_format_difference(verdict, verdict.detectable)), p_value_cell(test.worse_p if test else None),
        p_value_cell(verdict.adjusted), p_value_cell(test.not_worse_p if test else None), Cell(verdict.outcome),
        Cell(verdict.detail or None),
    ))  # fmt: skip


def _largest_possible_drop(verdict: GateVerdict) -> str:
    """The largest drop that can't be ruled out; if it is negative, the least gain."""
    text = _format_difference(verdict, verdict.most)
    return f"gain ≥ {text[1:]}" if text.startswith("-") else text


def _format_difference(verdict: GateVerdict, value: float | None) -> str:
    """A difference of two values with its unit: percentage points for values in percent."""
    unit = " points" if verdict.scale.unit in ("%", "points") and value is not None else ""
    return write_comparison(verdict.scale, value) + unit
