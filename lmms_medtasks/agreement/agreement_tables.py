"""Agreement as tables for people, and as JSON for programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lmms_medtasks.agreement.judged_answers import Judged
from lmms_medtasks.agreement.rater_comparison import NAMES, Comparison, Kind, LeftOut, Result, Wins
from lmms_medtasks.agreement.sheet import alike
from lmms_medtasks.report.document import Cell, Document, Flag, Frame, FrameColumn, FrameRow, Part, Section
from lmms_medtasks.statistics.confidence import LEVEL
from lmms_medtasks.statistics.intervals import ALIKE, FEW, MISSING, Interval

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
_MARKS = {
    "‖": "No interval: fewer than five images are too few for one that holds.",
    "°": "No interval: the value is the same without any of the images.",
    "*": "No interval: without one of the images all ratings are alike.",
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
    facts = [
        ("protocol", judged.protocol.name),
        ("models", ", ".join(judged.models)),
        ("judges", ", ".join(judged.judges)),
    ]
    if result.raters:
        facts.append(("people", f"{', '.join(result.raters)} ({result.rated:,} answers)"))
    kinds = [kind for kind in _TITLES if any(each.kind == kind for each in result.comparisons)]
    sections = [_section(kind, result.comparisons, explained=kind == kinds[0]) for kind in kinds]
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


def as_json(judged: Judged, result: Result) -> dict[str, Any]:
    """The result in full: every coefficient with its interval, or null and the reason."""
    return {
        "protocol": judged.protocol.name,
        "models": judged.models,
        "judges": judged.judges,
        "notes": dict(judged.notes),
        "raters": list(result.raters),
        "rated_answers": result.rated,
        "left_out": [vars(each) for each in result.left_out],
        "comparisons": [
            {
                "kind": each.kind,
                "raters": list(each.raters),
                "measure": each.measure,
                "group": each.group,
                "n": each.n,
                "alpha_level": each.alpha_level,
                "coefficients": {
                    name: {**_interval(each.coefficients[name].interval), "reason": each.coefficients[name].reason}
                    for name in NAMES
                },
            }
            for each in result.comparisons
        ],
        "win_rates": [_wins_json(each) for each in result.wins],
    }


def _interval(interval: Interval) -> dict[str, Any]:
    return {
        "value": interval.estimate,
        "low": interval.low,
        "high": interval.high,
        "n": interval.n,
        "clusters": interval.clusters,
        "no_interval": interval.reason,
    }


def _wins_json(wins: Wins) -> dict[str, Any]:
    sides = ("people", "judge", "difference")
    return {
        "judge": wins.judge,
        "measure": wins.measure,
        "largest": _interval(wins.rates.largest),
        "models": {
            name: {side: _interval(getattr(each, side)) for side in sides} for name, each in wins.rates.models.items()
        },
        "pairs": [
            {"models": list(names), **{side: _interval(getattr(each, side)) for side in sides}}
            for names, each in wins.rates.contests.items()
        ],
    }


def _flags(judged: Judged, result: Result) -> list[Flag]:
    flags = [Flag("warning", f"{name}: {note}.") for name, note in judged.notes.items()]
    flags += [Flag("note", said) for said in alike(judged.protocol)]
    flags += [Flag("note", _said(each, result.rated)) for each in result.left_out if each.missing or each.settled]
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


def _said(left_out: LeftOut, rated: int) -> str:
    said = []
    if left_out.missing:
        said.append(f"{left_out.missing:,} have no verdict of {left_out.judge}")
    if left_out.settled:
        said.append(f"{left_out.settled:,} were settled by a rule, without a judge (--settled counts them)")
    return f"Of {rated:,} rated answers, left out of the comparison with {left_out.judge}: {'; '.join(said)}."


def _section(kind: Kind, comparisons: Sequence[Comparison], explained: bool) -> Section:
    rows = [each for each in comparisons if each.kind == kind]
    key, title = _TITLES[kind]
    one = len({each.raters for each in rows}) == 1
    grouped = any(each.group for each in rows)
    columns = [FrameColumn("measure", kind="text")]
    columns += [] if one else [FrameColumn("raters", kind="text")]
    columns += [FrameColumn("of", kind="text")] if grouped else []
    columns += [FrameColumn("n"), *(FrameColumn(_HEADS[name], digits=2) for name in NAMES)]
    shown = [_row(each, one, grouped) for each in rows]
    name = _raters(rows[0]) if one else title
    table = Frame(
        key, name, tuple(columns), tuple(shown), notes=(*(_NOTES if explained else ()), *_reasons(rows)), marks=_MARKS
    )
    return Section(key, title, tables=(table,))


def _row(each: Comparison, one: bool, grouped: bool) -> FrameRow:
    """The measure, raters and group where there are several, and the coefficients."""
    head = [Cell(each.measure), *([] if one else [Cell(_raters(each))]), *([Cell(each.group)] if grouped else [])]
    return FrameRow((*head, Cell(each.n), *(_of_interval(each.coefficients[name].interval) for name in NAMES)))


def _raters(each: Comparison) -> str:
    return " – ".join(each.raters) if len(each.raters) == 2 else f"all {len(each.raters)}: {', '.join(each.raters)}"


def _of_interval(interval: Interval) -> Cell:
    mark = {FEW: "‖", ALIKE: "°", MISSING: "*"}.get(interval.reason, "")
    return Cell(interval.estimate, interval.low, interval.high, mark, reason=interval.reason or None)


def _reasons(rows: Sequence[Comparison]) -> list[str]:
    """Why there is a dash, a sentence a reason."""
    where: dict[str, list[str]] = {}
    for each in rows:
        for name in NAMES:
            reason = each.coefficients[name].reason
            if reason:
                where.setdefault(reason, []).append(
                    f"{_HEADS[name]} of {each.measure}{f' ({each.group})' * bool(each.group)}"
                )
    return [f"– {reason}: {', '.join(dict.fromkeys(places))}." for reason, places in where.items()]


def _wins_table(wins: Sequence[Wins]) -> Frame:
    several = len({each.judge for each in wins}) > 1
    columns = [FrameColumn("measure", kind="text"), *([FrameColumn("judge", kind="text")] if several else [])]
    columns += [FrameColumn("model", kind="text"), FrameColumn("pairs")]
    columns += [
        FrameColumn("by people", digits=4),
        FrameColumn("by judge", digits=4),
        FrameColumn("difference", digits=4, signed=True),
    ]
    rows = []
    for each in wins:
        head = [Cell(each.measure), *([Cell(each.judge)] if several else [])]
        for model, rates in each.rates.models.items():
            sides = [_of_interval(getattr(rates, side)) for side in ("people", "judge", "difference")]
            rows.append(FrameRow((*head, Cell(model), Cell(rates.difference.n), *sides)))
        largest = each.rates.largest
        if len(each.rates.models) > 2:
            row = (*head, Cell("largest absolute"), Cell(largest.n), Cell(None), Cell(None), _of_interval(largest))
            rows.append(FrameRow(row, kind="counts"))
    return Frame("wins", "Win rates", tuple(columns), tuple(rows), notes=(_WIN_NOTE,), marks=_MARKS)
