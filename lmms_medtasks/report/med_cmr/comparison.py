"""The part of a Med-CMR report that has several models: beside the published ones, in pairs, and by size."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from lmms_medtasks.report.asked import extent
from lmms_medtasks.report.cells import NONE, count, decimal, label, number, percent, share
from lmms_medtasks.report.document import Cell, Column, Figure, Flag, Part, Row, Section, Table
from lmms_medtasks.report.judged import TOTAL, mean_cells, mean_columns
from lmms_medtasks.report.med_cmr import dimensions, figures, published
from lmms_medtasks.report.med_cmr.analysis import Analysis
from lmms_medtasks.report.med_cmr.facts import judge_of
from lmms_medtasks.report.med_cmr.pairs import Form, Pairs, Tuned, pairs
from lmms_medtasks.report.med_cmr.scale import FEWEST, Scale, scale
from lmms_medtasks.report.same_questions import with_marks
from lmms_medtasks.report.suites import Options
from lmms_medtasks.statistics.paired_tests import PairedTest
from lmms_medtasks.task_configs.med_cmr import reference

_ASKED = {"mcq": "multiple choice", "circular": "rotated options", "open": "open"}
_FORMS: Mapping[Form, str] = {"mcq": "multiple choice", "open": "open total"}
_SMALL = 0.0001
_TESTS = (
    "Two-sided sign test (exact; ties left out) and Wilcoxon signed-rank test of the differences, tuned less base.",
    "Over questions: each question that both were asked; p takes them for independent draws, though several may be on "
    "one image. Over dimensions: each pair's change in each dimension is one value.",
    "Effect: matched-pairs rank-biserial correlation, from -1, all worse, to 1.",
)


def part(analyses: Mapping[str, Analysis], options: Options) -> Part:
    """The comparison of at least two models, by the names that the report gives them."""
    own = tuple(analyses.values())
    runs = {id(asked.run) for each in own for asked in each.source.asked}
    facts = (("Runs", str(len(runs))), ("Models", ", ".join(analyses)))
    key = f"{options.prefix}all"
    by_judge = _by_judge(analyses)
    sections = [
        Section("models", "The models together", tables=tuple(_models(by_judge))),
        Section("published", "Beside the published models",
                tables=(published.table(own, list(analyses), opened=len(by_judge) == 1),),
                figures=_drawn(options, figures.model_radar(analyses, key) if options.drawn else None)),
    ]  # fmt: skip
    flags = list(_flags(analyses))
    if options.pairs:
        found = pairs(options.pairs, analyses, resamples=options.resamples)
        flags += [Flag("warning", text) for text in found.lacking]
        sections.append(_pairs(found, key, options))
    if options.parameters:
        sections.append(_scale(scale(options.parameters, analyses), key, options))
    origin = (("data of the runs", "; ".join(dict.fromkeys(extent(each.source.asked) for each in own))),)
    asked = {
        name: {_ASKED[each.form]: frozenset(record["id"] for record in each.records)
               for each in analysis.source.asked if each.image}
        for name, analysis in analyses.items()
    }  # fmt: skip
    return with_marks(Part(key, "Comparison", facts, tuple(flags), tuple(sections), origin), asked)


def _drawn(options: Options, figure: Figure | None) -> tuple[Figure, ...]:
    return (figure,) if options.drawn and figure else ()


def _flags(analyses: Mapping[str, Analysis]) -> Iterator[Flag]:
    data = sorted({extent(each.source.asked) for each in analyses.values()})
    if data != ["full"]:
        yield Flag("warning", f"Data of these runs: {'; '.join(data)}. Only full data compares with the paper's.")
    judges = {judge_of(each) for each in analyses.values()} - {""}
    if len(judges) > 1:
        said = "; ".join(sorted(judges))
        yield Flag("warning", f"Open answers were judged by different judges or prompts, and do not compare: {said}. "
                              "They stand in no table together.")  # fmt: skip


def _by_judge(analyses: Mapping[str, Analysis]) -> dict[str, dict[str, Analysis]]:
    """The models by who judged their open answers; those without any with the first. No table has two judges."""
    first = next(filter(None, map(judge_of, analyses.values())), "")
    found: dict[str, dict[str, Analysis]] = {}
    for name, each in analyses.items():
        found.setdefault(judge_of(each) or first, {})[name] = each
    return found


def _models(by_judge: Mapping[str, Mapping[str, Analysis]]) -> Iterator[Table]:
    for place, (judge, analyses) in enumerate(by_judge.items()):
        end = f", judged by {judge}" if len(by_judge) > 1 else ""
        yield _judged_alike(analyses, f"models{place or ''}", f"Accuracy and open total{end}")


def _judged_alike(analyses: Mapping[str, Analysis], key: str, title: str) -> Table:
    rows = []
    for name, each in analyses.items():
        choice, judged, circular = each.choice.get(True), each.open.get(True), each.circular.get(True)
        sides = [choice.sides[side].mean if choice else None for side in dimensions.SIDES]
        cells = (
            percent(choice.overall.mean) if choice else NONE,
            *map(percent, sides),
            percent(circular.circular.mean) if circular else NONE,
            *mean_cells(judged.overall[TOTAL] if judged else None),
            Cell(judged.judging.shown if judged else None),
            Cell(extent(each.source.asked)),
        )
        rows.append(Row((Cell(name), *cells)))
    columns = (
        label("model"),
        share("MCQ all"),
        *(share(side) for side in dimensions.SIDES),
        share("every rotation"),
        *mean_columns("open total", 1),
        label("judge"),
        label("data"),
    )
    notes = (
        "Each model on the questions that it was asked, which need not be the same. In brackets: 95 % intervals.",
        "Visual, reasoning: means over the side's dimensions, multiple choice.",
    )
    return Table(key, title, columns, tuple(rows), notes)


def _pairs(found: Pairs, key: str, options: Options) -> Section:
    tables = (_pair_tests(found), _pair_dimensions(found.tuned)) if found.tuned else ()
    figure = figures.tuned(found.tuned, key) if options.drawn and found.tuned else None
    said = () if found.tuned else ("No pair was asked the same form of questions.",)
    return Section("pairs", "Base and medically fine-tuned models", said, tables, _drawn(options, figure))


def _pair_tests(found: Pairs) -> Table:
    rows = [
        Row(
            (
                Cell(_pair(each)),
                Cell(_FORMS[each.form]),
                Cell("questions"),
                _change(each, "")[-1],
                *_test(each.questions),
            )
        )
        for each in found.tuned
    ]
    rows += [
        Row((Cell("all pairs"), Cell(_FORMS[form]), Cell("dimensions"), NONE, *_test(test)), "counts")
        for form, test in found.dimensions.items()
    ]
    columns = (
        label("pair"),
        label("questions"),
        label("tested over"),
        Column("change", digits=2, signed=True),
        *map(count, ("better", "same", "worse")),
        *(Column(head, digits=4) for head in ("sign p", "Wilcoxon p")),
        Column("effect", digits=2, signed=True),
    )
    paper = reference.findings()["medical_fine_tuning"]
    said = (
        f"The paper, over its pairs: multiple choice {paper['mcq']['direction']}, p < {paper['mcq']['p_below']}; open "
        f"answers p about {paper['open']['p']}."
    )
    notes = (*_TESTS, said, "In brackets: 95 % interval over images, the same images drawn for both models.")
    return Table("pairs", "Base against fine-tuned: tests", columns, tuple(rows), notes)


def _pair(each: Tuned) -> str:
    return f"{each.base} → {each.tuned}"


def _test(found: PairedTest) -> tuple[Cell, ...]:
    counts = (found.up, found.n - found.up - found.down, found.down)
    return (*map(Cell, counts), _p(found.sign_p), _p(found.wilcoxon_p), Cell(found.effect))


def _p(value: float | None) -> Cell:
    """No probability is shown as 0."""
    return Cell(f"{value:.1e}" if value is not None and value < _SMALL else value)


def _change(each: Tuned, name: str) -> tuple[Cell, ...]:
    change = each.changes.get(name)
    cells = percent if each.form == "mcq" else number
    return tuple(cells(side) for side in (change.before, change.after, change.change)) if change else (NONE,) * 3


def _pair_dimensions(found: tuple[Tuned, ...]) -> Table:
    rows = [
        Row(
            (
                Cell(_pair(each)),
                Cell(_FORMS[each.form]),
                Cell(name or "all"),
                Cell(change.after.n),
                *_change(each, name),
            )
        )
        for each in found
        for name in ("", *dimensions.names())
        if (change := each.changes.get(name))
    ]
    heads = (Column("base", digits=2), Column("fine-tuned", digits=2), Column("change", digits=2, signed=True))
    columns = (label("pair"), label("questions"), label("dimension"), count("n"), *heads)
    notes = ("Percent and points for multiple choice, 0 to 100 for the open total.",)
    return Table("pair_dimensions", "Base against fine-tuned: dimensions", columns, tuple(rows), notes, long=True)


def _scale(found: Scale, key: str, options: Options) -> Section:
    said = []
    if found.unsized:
        said.append(f"Without a number of parameters, and so left out: {', '.join(found.unsized)}.")
    if found.mixed:
        said.append("The open answers were judged by different judges: no figure of theirs is here.")
    if not found.correlations:
        said.append(f"A correlation needs {FEWEST} models with a number of parameters and the same figure.")
    tables = (*([_correlations(found)] if found.correlations else []), _scale_models(found))
    figure = figures.size(found, key) if options.drawn and found.figures else None
    return Section("scale", "Size and score", tuple(said), tables, _drawn(options, figure))


def _correlations(found: Scale) -> Table:
    rows = [
        Row((Cell(name), Cell(each.models), Cell(each.log), Cell(each.linear), Cell(each.spearman)))
        for name, each in found.correlations.items()
    ]
    heads = ("Pearson r, log size", "Pearson r, size", "Spearman")
    columns = (label("figure"), count("models"), *(decimal(head, signed=True) for head in heads))
    paper = reference.findings()["scale"]
    choice, visual = paper["mcq_r"], paper["open_visual_accuracy_r"]
    notes = (
        f"Over these models; with few of them it says little of others. The paper: r from {choice['from']} to "
        f"{choice['to']} for multiple choice in {choice['of']}, {visual} for the visual accuracy of open answers; it "
        "does not say whether the number of parameters or its logarithm is meant.",
    )
    return Table("scale", "Correlation with the number of parameters", columns, tuple(rows), notes)


def _scale_models(found: Scale) -> Table:
    models = [name for name in found.parameters]
    rows = [
        Row(
            (Cell(name), Cell(found.parameters[name] / 1e9), *(Cell(each.get(name)) for each in found.figures.values()))
        )
        for name in models
    ]
    columns = (
        label("model"),
        Column("parameters (billions)", digits=2),
        *(Column(name, digits=2) for name in found.figures),
    )
    return Table("scale_models", "Size and figures of each model", columns, tuple(rows), folded=True)
