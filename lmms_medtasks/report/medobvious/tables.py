"""A run's own tables: its accuracies with intervals, formats, agreement, false alarms, kinds, sizes, and replies."""

from __future__ import annotations

from lmms_medtasks.report.cells import NONE, count, label, percent, percent_of, points, share
from lmms_medtasks.report.document import Cell, Row, Table
from lmms_medtasks.report.medobvious.analysis import COLUMNS, OUTCOMES, Analysis
from lmms_medtasks.report.medobvious.published import SHORT
from lmms_medtasks.statistics import triage
from lmms_medtasks.statistics.bootstrap import Interval

INTERVALS = "In brackets: 95 % interval by bootstrap over items."
_UNREAD = "A reply that could not be read counts as incorrect, a failed request as nothing."


def accuracies(analysis: Analysis) -> Table:
    """Every accuracy with its count, its interval, and what guessing gets."""
    rows = [Row((Cell("All questions"), *_mean(analysis.overall), percent_of(analysis.chance["overall"])))]
    rows += [
        Row((Cell(SHORT[name].capitalize() if name in ("positive", "negative") else SHORT[name]),
             *_mean(analysis.columns[name]), percent_of(analysis.chance[name])))
        for name in COLUMNS
    ]  # fmt: skip
    chance = triage.mean_of_columns([analysis.chance[name] for name in COLUMNS])
    rows.append(Row((Cell("The paper's Avg"), NONE, percent(analysis.average), percent_of(chance)), "counts"))
    rows += [
        Row((Cell(f"T{tier}"), *_mean(interval), percent_of(analysis.tier_chance[tier])))
        for tier, interval in analysis.tiers.items()
    ]
    rows.append(Row((Cell("Mean of the tiers"), NONE, percent(analysis.tier_mean), NONE), "counts"))
    columns = (label("questions"), count("n"), share("accuracy"), share("uniform guessing"))
    return Table("accuracies", "Accuracy", columns, tuple(rows), (_UNREAD, INTERVALS))


def gaps(analysis: Analysis) -> Table:
    """Multiple choice less open, about the same grids."""
    rows = [
        Row((Cell(family), Cell(each.mcq.n), percent(each.mcq), percent(each.open), percent(each.gap)))
        for family, each in analysis.gaps.items()
    ]
    columns = (label("asked for"), count("pairs"), share("multiple choice"), share("open"), points("gap"))
    notes = (
        "Pairs of questions about the same grid, both with a score. A positive gap: options help. The multiple-choice "
        "referring question describes the outlier, the open one does not.",
        "In brackets: 95 % interval by bootstrap over items, the same items drawn for both.",
    )
    return Table("gaps", "Multiple choice and open", columns, tuple(rows), notes)


def agreements(analysis: Analysis) -> Table:
    """Whether an item's answers in all formats agree."""
    names = {
        "positive": "grid with an outlier, up to five formats",
        "negative": "grids without, up to three formats",
        "both": "both",
    }
    rows = [
        Row((Cell(names[name]), Cell(each.share.n), percent(each.share), Cell(each.unsaid)))
        for name, each in analysis.agreements.items()
    ]
    columns = (label("answers about"), count("items"), share("agree"), count("not to be said"))
    notes = (
        "They agree if all name the same place (or none), and call the highlighted panel the outlier exactly if they "
        "named its place (without an outlier: if they named any). Right or wrong does not matter: always none agrees.",
        "Not to be said: a failed request, fewer than two formats, or a highlighted panel of unknown place.",
        INTERVALS,
    )
    return Table("agreements", "Agreement of an item's answers", columns, tuple(rows), notes)


def alarms(analysis: Analysis) -> Table:
    """False alarms on negatives and abstentions on positives, by format."""
    rows = [
        Row((Cell(SHORT[name]), *_mean(analysis.alarms[name]), *_mean(analysis.abstentions[name])))
        for name in triage.FORMATS
    ]
    whole = (*_mean(analysis.alarms["negative"]), *_mean(analysis.abstentions["positive"]))
    rows.append(Row((Cell("all formats"), *whole), "counts"))
    columns = (label("format"), count("negatives"), share("false alarms"), count("positives"), share("abstentions"))
    notes = (
        "False alarm: a reply that claims an outlier where there is none (a place, or yes). Abstention: a reply that "
        "names none where there is one (none, no, a refusal, or no answer at all).",
        INTERVALS,
    )
    return Table("alarms", "False alarms and abstentions", columns, tuple(rows), notes)


def kinds(analysis: Analysis) -> Table:
    """Accuracy by tier and kind of outlier."""
    rows = [
        Row((Cell(f"T{tier}"), Cell(kind.replace("_", " ")), *_mean(positive), *_mean(negative)))
        for (tier, kind), (positive, negative) in analysis.kinds.items()
    ]
    columns = (
        label("tier"),
        label("kind"),
        count("positives"),
        share("accuracy"),
        count("negatives"),
        share("accuracy "),
    )
    return Table("kinds", "Accuracy by kind", columns, tuple(rows), (INTERVALS,), long=True)


def sizes(analysis: Analysis) -> Table:
    """Accuracy against the number of panels, beside guessing."""
    rows = []
    for grid, each in analysis.sizes.items():
        cells = (percent(each.positive), percent(each.negative), percent(each.overall), percent(each.detection))
        row = (Cell(grid.replace("x", "×")), Cell(each.panels), Cell(each.overall.n), *cells)
        rows.append(Row(row))
        chances = (*map(percent_of, each.chance), percent_of(each.detection_chance))
        rows.append(Row((Cell("uniform guessing"), Cell(each.panels), NONE, *chances), "counts"))
    columns = (
        label("grid"),
        count("panels"),
        count("questions"),
        share("positives"),
        share("negatives"),
        share("overall"),
        share("detection, positives"),
    )
    notes = (
        "Detection, positives: finding the place of the outlier, where a larger grid is more panels to compare. In the "
        "benchmark larger grids are a tier of their own (T3), with other pictures; generated sets have sizes alike.",
        INTERVALS,
    )
    return Table("sizes", "Accuracy by number of panels", columns, tuple(rows), notes)


def replies(analysis: Analysis) -> Table:
    """What became of the replies, by format and sign."""
    rows = []
    for (name, sign), found in analysis.outcomes.items():
        if found:
            cells = (Cell(found[outcome]) for outcome in OUTCOMES)
            rows.append(Row((Cell(SHORT[name]), Cell("negative" if sign else "positive"), Cell(found.total()), *cells)))
    columns = (label("format"), label("grids"), count("questions"), *(count(outcome) for outcome in OUTCOMES))
    notes = (
        "Another place, none: wrong there. Ambiguous: several candidates. All but right and failed count as incorrect.",
    )
    return Table("replies", "What became of the replies", columns, tuple(rows), notes, folded=True)


def _mean(interval: Interval) -> tuple[Cell, Cell]:
    return Cell(interval.n), percent(interval)
