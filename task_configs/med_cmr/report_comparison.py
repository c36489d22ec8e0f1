"""Med-CMR: the comparison of several models: beside the published ones, in pairs, and by size."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from lmms_medtasks.report import document
from lmms_medtasks.report.cells import NONE, count, decimal, label, number, p_value, percent, probability
from lmms_medtasks.report.detectable import detectable, note
from lmms_medtasks.report.document import Cell, Flag, Part, Section
from lmms_medtasks.report.judged_tables import judged_columns
from lmms_medtasks.report.report_options import Options
from lmms_medtasks.report.same_questions import with_marks
from lmms_medtasks.report.suite_report import extents_of_data, question_ids
from lmms_medtasks.report.views import Column, Row, Source, Table, View
from lmms_medtasks.samples.table import Samples
from lmms_medtasks.statistics.confidence import LEVEL
from lmms_medtasks.statistics.paired_tests import PairedTest
from lmms_medtasks.statistics.significance import adjust
from lmms_medtasks.suites.rotated_options import EVERY_ROTATION
from lmms_medtasks.task_configs.med_cmr.measures import (
    ACCURACY,
    DIMENSIONS,
    FORMS,
    SIDE_ACCURACY,
    TOTAL,
)
from lmms_medtasks.task_configs.med_cmr.report_figures import DIMENSIONS_CHART, SIZE, TUNED
from lmms_medtasks.task_configs.med_cmr.report_models import (
    FEWEST,
    Pairs,
    Scale,
    Tuned,
    asked,
    by_judge,
    data_of,
    judge_of,
    judging,
    pairs,
    scale,
    was_asked,
)
from lmms_medtasks.task_configs.med_cmr.report_published import MAIN, findings

_FORMS = {"mcq": "multiple choice", "circular": "rotated options", "open": "open"}
_PAIR_FORMS = {"mcq": "multiple choice", "open": "open total"}
_TESTS = (
    "Hypothesis: the fine-tuned model answers as its base does. p by image: two-sided sign-flip test of each image's "
    "summed change, exact up to 2,000 images. Unit of independence: the image. Adjusted: Holm over all pairs and "
    "forms of questions.",
    "As the paper tests it: sign p, the two-sided sign test (exact, ties left out), and Wilcoxon p, of the signed-rank "
    "test; not corrected. Over questions they take several questions on one image as independent; over dimensions "
    "each pair's change in each dimension is a value, and these are taken as independent too, though they share both "
    "models.",
    "Effect: matched-pairs rank-biserial correlation, from -1, all worse, to 1.",
)


def comparison(sources: Sequence[Source], key: str, options: Options) -> Part:
    """The comparison of at least two models."""
    named = {each.name: each for each in sources}
    runs = {id(run) for source in sources for run, _ in source.asked}
    published = View("published", "Beside the published models", (MAIN,), (DIMENSIONS_CHART,))
    views = (View("models", "The models together", tuple(_models(sources))), published)
    sections = [section for view in views if (section := view.section(sources, options.drawn))]
    flags = list(_flags(sources))
    if options.pairs:
        found = pairs(options.pairs, named)
        flags += [Flag("warning", text) for text in found.lacking]
        sections.append(_pairs(found, key, options))
    if options.parameters:
        sections.append(_scale(scale(options.parameters, named), key, options))
    facts = (("Runs", str(len(runs))), ("Models", ", ".join(named)))
    origin = (("data of the runs", "; ".join(dict.fromkeys(map(data_of, sources)))),)
    tests = {
        each.name: {_FORMS[form]: question_ids(each.rows.where(asked(form))) for form in FORMS if was_asked(each, form)}
        for each in sources
    }
    return with_marks(Part(key, "Comparison", facts, tuple(flags), tuple(sections), origin), tests)


def _flags(sources: Sequence[Source]) -> Iterator[Flag]:
    data = extents_of_data(sources)
    if data != ["full"]:
        yield Flag("warning", f"Data of these runs: {'; '.join(data)}. Only full data compares with the paper's.")
    judges = sorted(set(map(judge_of, sources)) - {""})
    if len(judges) > 1:
        yield Flag(
            "warning",
            f"Open answers were judged by different judges or prompts, and do not compare: {'; '.join(judges)}. "
            "They stand in no table together.",
        )


# --- The models together ----------------------------------------------------------------------------------------------


def _models(sources: Sequence[Source]) -> Iterator[Table]:
    """A table for each judge of the open answers."""
    groups = by_judge(sources)
    for place, (judge, group) in enumerate(groups.items()):
        end = f", judged by {judge}" if len(groups) > 1 else ""
        rows = tuple(Row((each.name,), source=each) for each in group)
        yield Table(
            f"models{place or ''}",
            f"Accuracy and open total{end}",
            ("model",),
            rows,
            (
                Column("MCQ all", ACCURACY, within=asked("mcq")),
                *(Column(side, each, within=asked("mcq")) for side, each in SIDE_ACCURACY.items()),
                Column("every rotation", EVERY_ROTATION, within=asked("circular")),
                *_open_columns(),
                Column("judge", _judge_cell, "text"),
                Column("data", lambda source, row, rows: Cell(data_of(source)), "text"),
            ),
            (
                f"Each model on the questions that it was asked, which need not be the same. In brackets: {LEVEL} "
                "interval over images, of each model by itself.",
                "Visual, reasoning: means over the side's dimensions, multiple choice.",
            ),
        )


def _open_columns() -> tuple[Column, ...]:
    made = judged_columns("open total", TOTAL, "total", 1)
    return tuple(Column(each.head, each.of, each.unit, each.digits, within=asked("open")) for each in made)


def _judge_cell(source: Source, row: Row, rows: Samples) -> Cell:
    found = judging(source)
    return Cell(found.shown if found else None)


# --- Base and tuned ---------------------------------------------------------------------------------------------------


def _pairs(found: Pairs, key: str, options: Options) -> Section:
    tables = (_pair_tests(found), _pair_dimensions(found.tuned)) if found.tuned else ()
    drawn = TUNED.of(tables[1]) if options.drawn and tables else None
    said = () if found.tuned else ("No pair was asked the same form of questions.",)
    return Section("pairs", "Base and medically fine-tuned models", said, tables, (drawn,) if drawn else ())


def _pair_tests(found: Pairs) -> document.Frame:
    known = iter(adjust([each.p for each in found.tuned if each.p is not None]))
    adjusted = [None if each.p is None else next(known) for each in found.tuned]
    rows = [
        document.FrameRow(
            (
                Cell(_pair(each)),
                Cell(_PAIR_FORMS[each.form]),
                Cell("questions"),
                _change(each, "")[-1],
                *_counts(each.questions),
                Cell(each.images),
                probability(each.p),
                probability(corrected),
                *_paper_tests(each.questions),
            )
        )
        for each, corrected in zip(found.tuned, adjusted, strict=True)
    ]
    rows += [
        document.FrameRow(
            (Cell("all pairs"), Cell(_PAIR_FORMS[form]), Cell("dimensions"), NONE, *_counts(test), NONE, NONE, NONE,
             *_paper_tests(test)), "counts",
        )
        for form, test in found.dimensions.items()
    ]  # fmt: skip
    columns = (
        label("pair"),
        label("questions"),
        label("tested over"),
        document.FrameColumn("change", digits=2, signed=True),
        *map(count, ("better", "same", "worse", "images")),
        *map(p_value, ("p by image", "adjusted p", "sign p", "Wilcoxon p")),
        document.FrameColumn("effect", digits=2, signed=True),
    )
    paper = findings()["medical_fine_tuning"]
    said = (
        f"The paper, over its pairs: multiple choice {paper['mcq']['direction']}, p < {paper['mcq']['p_below']}; open "
        f"answers p about {paper['open']['p']}."
    )
    least = detectable([each.changes[""].get("change") for each in found.tuned])
    shown = [
        note(
            [each for each, tuned in zip(least, found.tuned, strict=True) if tuned.form == form],
            factor=factor,
            unit=unit,
            largest=100 / factor,
        )
        for form, factor, unit in (("mcq", 100.0, "points (multiple choice)"), ("open", 1.0, "of the open total"))
    ]
    over = f"In brackets: {LEVEL} interval over images, of a change between the same images."
    notes = (*_TESTS, said, over, *filter(None, shown))
    return document.Frame("pairs", "Base against fine-tuned: tests", columns, tuple(rows), notes)


def _pair(each: Tuned) -> str:
    return f"{each.base} → {each.tuned}"


def _counts(found: PairedTest) -> tuple[Cell, ...]:
    return tuple(map(Cell, (found.up, found.n - found.up - found.down, found.down)))


def _paper_tests(found: PairedTest) -> tuple[Cell, ...]:
    return probability(found.sign_p), probability(found.wilcoxon_p), Cell(found.effect)


def _change(each: Tuned, name: str) -> tuple[Cell, ...]:
    """Base, tuned and change."""
    cells = percent if each.form == "mcq" else number
    return tuple(cells(each.changes[name].get(side)) for side in ("first", "second", "change"))


def _pair_dimensions(found: tuple[Tuned, ...]) -> document.Frame:
    rows = [
        document.FrameRow(
            (
                Cell(_pair(each)),
                Cell(_PAIR_FORMS[each.form]),
                Cell(name or "all"),
                Cell(each.changes[name]["second"].n),
                *_change(each, name),
            )
        )
        for each in found
        for name in ("", *DIMENSIONS)
        if name in each.changes
    ]
    heads = (
        document.FrameColumn("base", digits=2),
        document.FrameColumn("fine-tuned", digits=2),
        document.FrameColumn("change", digits=2, signed=True),
    )
    columns = (label("pair"), label("questions"), label("dimension"), count("n"), *heads)
    notes = (
        f"Percent and points for multiple choice, 0 to 100 for the open total. In brackets: {LEVEL} interval over "
        "images, of a change on the same images; not corrected for the number of rows.",
    )
    title = "Base against fine-tuned: dimensions"
    return document.Frame("pair_dimensions", title, columns, tuple(rows), notes, long=True)


# --- Size and score ---------------------------------------------------------------------------------------------------


def _scale(found: Scale, key: str, options: Options) -> Section:
    said = []
    if found.unsized:
        said.append(f"Without a number of parameters, and so left out: {', '.join(found.unsized)}.")
    if found.mixed:
        said.append("The open answers were judged by different judges: no figure of theirs is here.")
    if not found.correlations:
        said.append(f"A correlation needs {FEWEST} models with a number of parameters and the same figure.")
    models = _scale_models(found)
    tables = (*([_correlations(found)] if found.correlations else []), models)
    scores = {name: (name,) for name in found.scores}
    drawn = replace(SIZE, columns=scores).of(models) if options.drawn and scores else None
    return Section("scale", "Size and score", tuple(said), tables, (drawn,) if drawn else ())


def _correlations(found: Scale) -> document.Frame:
    rows = [
        document.FrameRow((Cell(name), Cell(each.models), Cell(each.log), Cell(each.linear), Cell(each.spearman)))
        for name, each in found.correlations.items()
    ]
    heads = ("Pearson r, log size", "Pearson r, size", "Spearman")
    columns = (label("figure"), count("models"), *(decimal(head, signed=True) for head in heads))
    paper = findings()["scale"]
    choice, visual = paper["mcq_r"], paper["open_visual_accuracy_r"]
    notes = (
        "Descriptive, over these models alone: no hypothesis is tested, and models are no sample of others. The paper: "
        f"r from {choice['from']} to "
        f"{choice['to']} for multiple choice in {choice['of']}, {visual} for the visual accuracy of open answers; it "
        "does not say whether the number of parameters or its logarithm is meant.",
    )
    return document.Frame("scale", "Correlation with the number of parameters", columns, tuple(rows), notes)


def _scale_models(found: Scale) -> document.Frame:
    scores: Sequence[Mapping[str, float]] = tuple(found.scores.values())
    rows = [
        document.FrameRow((Cell(name), Cell(parameters / 1e9), *(Cell(each.get(name)) for each in scores)))
        for name, parameters in found.parameters.items()
    ]
    columns = (
        label("model"),
        document.FrameColumn("parameters (billions)", digits=2),
        *(document.FrameColumn(name, digits=2) for name in found.scores),
    )
    return document.Frame("scale_models", "Size and figures of each model", columns, tuple(rows), folded=True)
