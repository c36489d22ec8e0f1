"""The part of a report that compares several models or task sets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from lmms_medtasks.report.about import extent
from lmms_medtasks.report.cells import NONE, count, decimal, label, number, of_order, percent, percent_of, points, share
from lmms_medtasks.report.document import Cell, Figure, Flag, Part, Row, Section, Table
from lmms_medtasks.report.medq_deg import published
from lmms_medtasks.report.medq_deg.analysis import Analysis
from lmms_medtasks.report.medq_deg.comparison_figures import bump, overconfidence
from lmms_medtasks.report.medq_deg.models import Agreement, Comparison, Overconfidence, compare, model_names
from lmms_medtasks.report.same_questions import with_marks
from lmms_medtasks.report.suites import Options

_FEW_MODELS = 5


def distinct_names(analyses: Sequence[Analysis]) -> list[str]:
    """A title for each analysis: its model and task set, no two alike."""
    return [f"{name} ({each.source.label})" for name, each in zip(model_names(analyses), analyses, strict=True)]


def part(analyses: Sequence[Analysis], names: Sequence[str], options: Options) -> Part:
    """The comparison of at least two analyses, under the titles ``names``."""
    found = compare(analyses, resamples=options.resamples)
    facts = (
        ("Runs", str(len({each.source.run.path for each in analyses}))),
        ("Models", str(len({each.source.model for each in analyses}))),
        ("Task sets", "; ".join(sorted({each.source.label for each in analyses}))),
    )
    sections = (
        Section("overview", "The models together", tables=(_overview(analyses, names),)),
        Section("published", "Beside the published models", tables=_published(analyses, names)),
        _inter_model(found, options.drawn),
        _ranks(found, options.drawn),
    )
    origin = (("data of the runs", "; ".join(dict.fromkeys(map(_extent, analyses)))),)
    asked = {
        name: {f"L{level}": frozenset(table.question_ids) for level, table in each.tables.items()}
        for name, each in zip(names, analyses, strict=True)
    }
    whole = Part(f"{options.prefix}all", "Comparison", facts, _flags(analyses, found), sections, origin)
    return with_marks(whole, asked)


def _extent(analysis: Analysis) -> str:
    return extent(analysis.source.run, analysis.source.tasks)


def _flags(analyses: Sequence[Analysis], found: Comparison) -> tuple[Flag, ...]:
    flags = []
    data = sorted(set(map(_extent, analyses)))
    if data != ["full"]:
        flags.append(
            Flag("warning", f"Data of these runs: {'; '.join(data)}. Only full data compares with the paper's.")
        )
    for each in found.overconfidence:
        if each.condition.left_out:
            flags.append(
                Flag(
                    "warning",
                    f"{each.condition.label}: {each.condition.questions:,} questions were asked of all models; "
                    f"{each.condition.left_out:,} that only some were asked are left out of the comparison.",
                )
            )
    if not found.overconfidence:
        flags.append(Flag("note", "No task set was run with two models: there is nothing to rank."))
    return tuple(flags)


def _overview(analyses: Sequence[Analysis], names: Sequence[str]) -> Table:
    rows = []
    for name, each in zip(names, analyses, strict=True):
        levels = [each.levels.get(level) for level in (0, 1, 2)]
        falls = [each.falls.get(level) for level in (1, 2)]
        shifts = [each.calibration.get(level) for level in (0, 2)]
        rows.append(
            Row(
                (
                    Cell(name),
                    *(percent(level.accuracy.mean) if level else NONE for level in levels),
                    *(percent(fall.whole.change) if fall else NONE for fall in falls),
                    *(number(found.intervals.shift) if found else NONE for found in shifts),
                    Cell(_extent(each)),
                )
            )
        )
    columns = (
        label("model and task set"),
        *(share(f"L{level}") for level in (0, 1, 2)),
        points("L1-L0"),
        points("L2-L0"),
        decimal("shift L0", signed=True),
        decimal("shift L2", signed=True),
        label("data"),
    )
    notes = ("Each run on the questions that it was asked, which need not be the same. In brackets: 95 % intervals.",)
    return Table("models", "Accuracy by level and calibration shift", columns, tuple(rows), notes)


def _published(analyses: Sequence[Analysis], names: Sequence[str]) -> tuple[Table, ...]:
    return tuple(table(analyses, names) for table in (published.levels, published.capabilities, published.categories))


def _inter_model(found: Comparison, drawn: bool) -> Section:
    if not found.overconfidence:
        return Section("inter-model", "Inter-model Dunning-Kruger effect", ("It needs two models on one task set.",))
    shown = (_dke(found.overconfidence), _points(found.overconfidence))
    pictures: tuple[Figure, ...] = (overconfidence(found.overconfidence),) if drawn else ()
    return Section("inter-model", "Inter-model Dunning-Kruger effect", tables=shown, figures=pictures)


def _dke(found: Sequence[Overconfidence]) -> Table:
    rows = []
    for each in found:
        cells = map(
            of_order,
            (percent(each.intervals.share), number(each.intervals.spearman), number(each.intervals.kendall)),
        )
        head = (each.condition.questions, len(each.dke.models), each.dke.pairs, each.dke.fulfilled)
        rows.append(Row((Cell(each.condition.label), *map(Cell, head), *cells)))
    columns = (
        label("level and task set"),
        count("questions"),
        count("models"),
        count("pairs"),
        count("fulfilled"),
        share("share"),
        decimal("Spearman", signed=True),
        decimal("Kendall", signed=True),
    )
    notes = (
        "Equation 6: of two models, the less accurate has the higher shift. Share: of the pairs with different "
        "accuracy. Spearman and Kendall: of accuracy against shift. Questions: those that all the models were asked.",
        "As shift is confidence less accuracy, models of equal confidence fulfil it in every pair: see confidence too.",
        "In brackets: 95 % interval over images, the models being these and no sample of others.",
        *_few(len(each.dke.models) for each in found),
    )
    return Table("inter_model_dke", "Equation 6 by level", columns, tuple(rows), notes)


def _few(models: Iterable[int]) -> tuple[str, ...]:
    """A warning where the fewest models are too few for a rank correlation to say much."""
    fewest = min(models)
    if fewest >= _FEW_MODELS:
        return ()
    values = "can only be -1 or +1 (or have no value)" if fewest <= 2 else "takes few values"
    return (f"With {fewest} models a rank correlation {values}: it says little of other models.",)


def _points(found: Sequence[Overconfidence]) -> Table:
    rows = [
        Row(
            (
                Cell(each.condition.label),
                Cell(model),
                Cell(point.n),
                percent_of(point.accuracy),
                Cell(point.confidence),
                Cell(point.shift),
            )
        )
        for each in found
        for model, point in each.points.items()
    ]
    columns = (
        label("level and task set"),
        label("model"),
        count("questions"),
        share("accuracy"),
        decimal("confidence C"),
        decimal("shift", signed=True),
    )
    return Table("inter_model_points", "Accuracy, confidence and shift of each model", columns, tuple(rows))


def _ranks(found: Comparison, drawn: bool) -> Section:
    title = "Rank consistency"
    if not found.agreements:
        return Section(
            "ranks", title, ("It needs two levels or task sets that were both run with the same two models.",)
        )
    shown = [_agreements(found.agreements)]
    pictures: tuple[Figure, ...] = ()
    said: tuple[str, ...] = ()
    if found.bump:
        shown.append(_bump_table(found.bump))
        pictures = (bump(found.bump),) if drawn else ()
        if found.not_in_bump:
            said = (f"Not in all of them, and so not in the bump chart: {', '.join(found.not_in_bump)}.",)
    else:
        said = ("No two models are in all levels and task sets: there is no bump chart.",)
    return Section("ranks", title, said, tuple(shown), pictures)


def _agreements(found: Sequence[Agreement]) -> Table:
    rows = []
    for each in found:
        swaps = ", ".join(f"{swap.first_better} / {swap.second_better}" for swap in each.ranks.swaps)
        rows.append(
            Row(
                (
                    Cell(each.first),
                    Cell(each.second),
                    Cell(len(each.ranks.ranks)),
                    of_order(number(each.intervals.kendall)),
                    of_order(number(each.intervals.spearman)),
                    Cell(len(each.ranks.swaps)),
                    Cell(swaps or None),
                )
            )
        )
    columns = (
        label("first"),
        label("second"),
        count("models"),
        decimal("Kendall", signed=True),
        decimal("Spearman", signed=True),
        count("swaps"),
        label("swapped (better in the first / in the second)"),
    )
    notes = (
        "Order of the models by accuracy (section 4.6). In brackets: 95 % interval over the images of both.",
        *_few(len(each.ranks.ranks) for each in found),
    )
    return Table("rank_consistency", "Order of the models in two conditions", columns, tuple(rows), notes)


def _bump_table(ranks: Mapping[str, Mapping[str, float]]) -> Table:
    first = next(iter(ranks.values()))
    rows = [
        Row((Cell(model), *(Cell(each[model]) for each in ranks.values())))
        for model in sorted(first, key=first.__getitem__)
    ]
    columns = (label("model"), *(decimal(name) for name in ranks))
    notes = ("1 is the best; tied models share their mean rank.",)
    return Table("ranks", "Ranks", columns, tuple(rows), notes)
