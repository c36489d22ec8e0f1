"""Agreement as tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from lmms_medtasks.agreement.judged_answers import Judged
from lmms_medtasks.agreement.rater_comparison import KINDS, NAMES, Comparison, Kind, Result, Wins
from lmms_medtasks.agreement.sheet import alike
from lmms_medtasks.report import cells
from lmms_medtasks.report.document import Document, Flag, Frame, FrameColumn, FrameRow, Part, Section, Value
from lmms_medtasks.statistics.confidence import LEVEL
from lmms_medtasks.statistics.intervals import Interval

_HEADS = {
    "spearman": "Spearman",
    "kendall": "Kendall tau-b",
    "kappa": "kappa",
    "kappa_linear": "kappa linear",
    "kappa_quadratic": "kappa quadratic",
    "exact": "same",
    "alpha": "alpha",
}
_TITLES: Mapping[Kind, tuple[str, str]] = {
    "judge and people": ("people", "Judges and people"),
    "people": ("between-people", "People among themselves"),
    "judges": ("between-judges", "Judges among themselves"),
    "repeated judgings": ("repeated", "Repeated judgings of the same answers"),
}
_NOTES = (
    "kappa: Cohen's, every disagreement alike; linear, quadratic: weighted by the distance of the ratings. alpha: "
    "Krippendorff's, ordinal for labels, interval for means and totals. same: share of answers rated alike.",
    f"[{LEVEL} intervals] over images; of coefficients by the jackknife with Student's t. "
    "docs/intervals_and_tests.md says where they hold.",
)
_WIN_NOTE = (
    "Share of pairs (two models, one question, one rater) that the model's answer wins, ties half; difference: people "
    "less judge. Scores that a rule settled count here."
)


def document(judged: Judged, result: Result) -> Document:
    """The result as a report's document."""
    facts = [("protocol", judged.protocol.name), ("models", ", ".join(judged.models))]
    facts.append(("judges", ", ".join(judged.judges)))
    if result.raters:
        facts.append(("people", f"{', '.join(result.raters)} ({result.rated:,} answers)"))
    sections: list[Section] = []
    for kind in KINDS:
        rows = [each for each in result.comparisons if each.kind == kind]
        if rows:
            table = _table(kind, rows, notes=() if sections else _NOTES)
            sections.append(Section(*_TITLES[kind], tables=(table,)))
    if result.wins:
        sections.append(Section("wins", "Win rates", tables=(_wins_table(result.wins),)))
    part = Part(
        key="agreement",
        title=f"Agreement on {judged.protocol.name}",
        facts=tuple(facts),
        flags=tuple(_flags(judged, result)),
        sections=tuple(sections),
    )
    return Document(f"Agreement: {judged.protocol.name}", (part,))


def _flags(judged: Judged, result: Result) -> list[Flag]:
    flags = [Flag("warning", f"{name}: {note}.") for name, note in judged.notes.items()]
    flags += [Flag("note", said) for said in alike(judged.protocol)]
    for judge, (missing, settled) in result.left_out.items():
        counts = {f"{missing:,} have no verdict of {judge}": missing,
                  f"{settled:,} were settled by a rule, without a judge (--settled counts them)": settled}  # fmt: skip
        if said := [text for text, count in counts.items() if count]:
            text = f"Of {result.rated:,} rated answers, left out of the comparison with {judge}: {'; '.join(said)}."
            flags.append(Flag("note", text))
    if result.raters and not result.left_out:
        flags.append(
            Flag("warning", "No judge gave a verdict on these answers. `lmms-medtasks judge RUN` judges them.")
        )
    if result.wins:
        worst = max(result.wins, key=lambda each: each.rates.largest.estimate or 0)
        if worst.rates.largest.estimate is not None:
            text = f"Largest win-rate difference: {worst.rates.largest.estimate:.4f} ({worst.measure}, {worst.judge})."
            flags.append(Flag("note", text))
    return flags


def _table(kind: Kind, rows: Sequence[Comparison], notes: tuple[str, ...]) -> Frame:
    """A row a comparison; raters in a column where there are several."""
    key, title = _TITLES[kind]
    several = len({each.raters for each in rows}) > 1
    heads = ["measure", *["raters"] * several]
    columns = [*map(cells.label, heads), cells.count("n"), *(FrameColumn(_HEADS[name], digits=2) for name in NAMES)]
    made = []
    for each in rows:
        raters = [_raters(each)] if several else []
        intervals = [each.coefficients[name].interval for name in NAMES]
        made.append(_make_row(columns, each.measure, *raters, each.n, *intervals))
    notes = (*notes, *_reasons(rows))
    return Frame(key, title if several else _raters(rows[0]), tuple(columns), tuple(made), notes)


def _make_row(columns: Sequence[FrameColumn], *values: Value | Interval) -> FrameRow:
    return FrameRow(tuple(map(cells.cell_of, columns, values)))


def _raters(each: Comparison) -> str:
    return " – ".join(each.raters) if len(each.raters) == 2 else f"all {len(each.raters)}: {', '.join(each.raters)}"


def _reasons(rows: Sequence[Comparison]) -> list[str]:
    """Why there is a dash, a sentence a reason."""
    where: dict[str, list[str]] = {}
    for each in rows:
        for name in NAMES:
            reason = each.coefficients[name].reason
            if reason:
                where.setdefault(reason, []).append(f"{_HEADS[name]} of {each.measure}")
    return [f"– {reason}: {', '.join(dict.fromkeys(places))}." for reason, places in where.items()]


def _wins_table(wins: Sequence[Wins]) -> Frame:
    columns = [*map(cells.label, ("measure", "judge", "model")), cells.count("pairs")]
    columns += [FrameColumn(head, digits=4, signed=head == "difference")
                for head in ("by people", "by judge", "difference")]  # fmt: skip
    rows = []
    for each in wins:
        head, largest = (each.measure, each.judge), each.rates.largest
        for model, rates in each.rates.models.items():
            sides = (rates.people, rates.judge, rates.difference)
            rows.append(_make_row(columns, *head, model, rates.difference.n, *sides))
        if len(each.rates.models) > 2:
            worst = _make_row(columns, *head, "largest absolute", largest.n, None, None, largest)
            rows.append(replace(worst, kind="counts"))
    return Frame("wins", "Win rates", tuple(columns), tuple(rows), (_WIN_NOTE,))
