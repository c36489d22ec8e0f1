"""Med-CMR: several models together, and the paper's two analyses across models: base and tuned, size and score."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from lmms_medtasks.errors import UserError, unknown_name_error
from lmms_medtasks.report import cells, judged_tables
from lmms_medtasks.report.charts import Chart
from lmms_medtasks.report.document import Cell, Frame, FrameColumn, ReportNotice, ReportSection
from lmms_medtasks.report.report_options import ReportOptions
from lmms_medtasks.report.views import ModelResults
from lmms_medtasks.statistics.confidence import LEVEL
from lmms_medtasks.statistics.intervals import IntervalEstimate
from lmms_medtasks.statistics.rank_tests import PairedTest, paired_tests
from lmms_medtasks.statistics.significance import adjust_known_p_values
from lmms_medtasks.suites.contributions import paired_change
from lmms_medtasks.suites.estimates import Contrast, Mean
from lmms_medtasks.task_configs.med_cmr import measures
from lmms_medtasks.task_configs.med_cmr import report_published as published

_FORMS = {"mcq": "multiple choice", "open": "open total"}
_TESTS = (
    "Hypothesis: the fine-tuned model answers as its base does. p by image: two-sided sign-flip test of each image's "
    "summed change; adjusted: Holm over all pairs and forms of questions.",
    "As the paper tests it: sign p (exact, ties left out) and Wilcoxon p, not corrected. They take questions on one "
    "image as independent; over dimensions each pair's change in each dimension is a value, and these are taken as "
    "independent too, though they share both models.",
    "Effect: matched-pairs rank-biserial correlation, from -1, all worse, to 1.",
)
_CHANGES = f"In brackets: {LEVEL} interval over images, of a change between the same images"
_CHANGE = FrameColumn("change", digits=2, signed=True)
FEWEST = 3
"""With fewer models a correlation is -1, 1 or nothing."""


def paper_sections(sources: Sequence[ModelResults], options: ReportOptions) -> Iterator[ReportSection]:
    """The sections that the options request. Raises UserError for an unknown model or a pair of a model with itself."""
    named = {source.name: source for source in sources}
    if options.pairs:
        pairs, lacking = compare_tuned_pairs(options.pairs, named)
        tables = tuple(filter(None, (_test_table(pairs), _dimension_table(pairs))))
        drawn = TUNED.of(tables[1]) if options.drawn and tables else None
        yield ReportSection("pairs", "Base and medically fine-tuned models", lacking, tables, (drawn,) if drawn else ())
    if options.parameters:
        yield _size_section(options.parameters, named)


# --- The models together ----------------------------------------------------------------------------------------------
def comparison_caveats(sources: Sequence[ModelResults]) -> Iterator[ReportNotice]:
    """Models of different judges: no table has two."""
    judges = sorted(
        ", ".join(map(judged_tables.judge_label, judges)) for judges in judged_tables.group_by_judge(sources)
    )
    if len(judges) > 1:
        yield ReportNotice(
            "warning",
            f"Open answers were judged by different judges or prompts, and do not compare: {'; '.join(judges)}. Here "
            "stand the totals of the judge of most models, others in their models' own parts.",
        )


# --- Base and tuned ---------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Pair:
    """A base and its tuned model on the questions of one form that both were asked.

    ``changes``: by dimension, and "" for all questions, the intervals "first" (base), "second" (tuned) and "change".
    ``questions``: the paper's tests over its questions. ``images``: their number. ``p``: of the sign-flip test by image
    of "no change", None without questions.
    """

    name: str
    form: str
    changes: Mapping[str, Mapping[str, IntervalEstimate]]
    questions: PairedTest
    images: int
    p: float | None

    def cells(self, dimension: str) -> list[Cell]:
        """Base, tuned and change, percent and points for multiple choice."""
        cell = cells.percent_cell if self.form == "mcq" else cells.number_cell
        return [cell(self.changes[dimension].get(side)) for side in ("first", "second", "change")]


def compare_tuned_pairs(
    wanted: Sequence[tuple[str, str]], sources: Mapping[str, ModelResults]
) -> tuple[tuple[Pair, ...], tuple[str, ...]]:
    """Compare each base with its tuned model, and list what cannot be compared.

    Raises UserError if a name is not among the models, or both of a pair are the same.
    """
    pairs, lacking = [], []
    for base, tuned in wanted:
        _check_names((base, tuned), sources, "--pair BASE=TUNED")
        if base == tuned:
            raise UserError(f"--pair {base}={tuned}: the two are the same model.")
        both = sources[base], sources[tuned]
        for form in _FORMS:
            if not all(published.was_asked(model, form) for model in both):
                lacking.append(f"{base} and {tuned}: not both were asked the {form} questions.")
            elif form == "open" and len(judged_tables.group_by_judge(both)) > 1:
                lacking.append(f"{base} and {tuned}: their open answers were judged by different judges.")
            else:
                pairs.append(_compare_pair(f"{base} → {tuned}", *both, form))
    return tuple(pairs), tuple(lacking)


def _check_names(names: Sequence[str], sources: Mapping[str, ModelResults], option: str) -> None:
    for name in names:
        if name not in sources:
            raise UserError(str(unknown_name_error("model", name, list(sources), option)))


def _compare_pair(name: str, base: ModelResults, tuned: ModelResults, form: str) -> Pair:
    sides = [model.rows.where(published.form_restriction(form)) for model in (base, tuned)]
    origins = [{column: rows.column(column)[0] for column in ("run", "task")} for rows in sides]
    measure, bounds = published.MEASURE_OF[form], measures.RANGES[published.MEASURE_OF[form]]
    change = Contrast(measure=measure, bounds=bounds, first=origins[0], second=origins[1], pair=("id",))
    # Results of its own, so that nothing cached of the base model's rows is used.
    both = ModelResults("", base.every.where({"repeated": False}), base.every, base.resamples)
    changes = {
        dimension: both.intervals(change, where)
        for dimension, where in {"": {}, **measures.BY_DIMENSION}.items()
        if not dimension or len(sides[1].where(where))
    }
    paired = sides[0].scored(measure).paired(sides[1].scored(measure), ["id"])
    first, second = (rows.column(f"{measure}.score") for rows in paired)
    base_rows, tuned_rows = (partial(side.where, {}) for side in sides)
    by_image = paired_change(base_rows, tuned_rows, Mean(measure=measure, bounds=bounds))
    images = len(by_image.contributions.clusters) if by_image.contributions else 0
    return Pair(name, form, changes, paired_tests((second - first).tolist()), images, by_image.p)


def over_dimensions(pairs: Sequence[Pair], form: str) -> PairedTest:
    """The paper's tests where each pair's change in each dimension is one value."""
    changes = [pair.changes[name]["change"].estimate for pair in pairs if pair.form == form
               for name in measures.DIMENSIONS if name in pair.changes]  # fmt: skip
    return paired_tests([change for change in changes if change is not None])


def _test_table(pairs: Sequence[Pair]) -> Frame | None:
    adjusted = adjust_known_p_values([pair.p for pair in pairs])
    rows: list[Sequence[Any]] = [
        (pair.name, _FORMS[pair.form], "questions", pair.cells("")[-1], *_change_counts(pair.questions), pair.images,
         cells.p_value_cell(pair.p), cells.p_value_cell(p), *_paper_tests(pair.questions))
        for pair, p in zip(pairs, adjusted, strict=True)
    ]  # fmt: skip
    for form in dict.fromkeys(pair.form for pair in pairs):
        test = over_dimensions(pairs, form)
        empty = (cells.NONE,) * 3
        rows.append(
            ("all pairs", _FORMS[form], "dimensions", cells.NONE, *_change_counts(test), *empty, *_paper_tests(test))
        )
    columns = (
        *map(cells.label_column, ("pair", "questions", "tested over")),
        _CHANGE,
        *map(cells.count_column, ("better", "same", "worse", "images")),
        *map(cells.p_value, ("p by image", "adjusted p", "sign p", "Wilcoxon p")),
        FrameColumn("effect", digits=2, signed=True),
    )
    paper = published.paper_text_findings()["medical_fine_tuning"]
    note = (
        f"The paper, over its pairs: multiple choice {paper['mcq']['direction']}, p < {paper['mcq']['p_below']}; open "
        f"answers p about {paper['open']['p']}."
    )
    return cells.make_frame("pairs", "Base against fine-tuned: tests", columns, rows, (*_TESTS, note, f"{_CHANGES}."))


def _change_counts(test: PairedTest) -> tuple[int, int, int]:
    return test.up, test.n - test.up - test.down, test.down


def _paper_tests(test: PairedTest) -> tuple[Cell, Cell, Cell]:
    return cells.p_value_cell(test.sign_p), cells.p_value_cell(test.wilcoxon_p), Cell(test.effect)


def _dimension_table(pairs: Sequence[Pair]) -> Frame | None:
    columns = (*map(cells.label_column, ("pair", "questions", "dimension")), cells.count_column("n"),
               FrameColumn("base", digits=2), FrameColumn("fine-tuned", digits=2), _CHANGE)  # fmt: skip
    rows: list[Sequence[Any]] = [
        (pair.name, _FORMS[pair.form], name or "all", pair.changes[name]["second"].n, *pair.cells(name))
        for pair in pairs
        for name in pair.changes
    ]
    notes = (
        f"Percent and points for multiple choice, 0 to 100 for the open total. {_CHANGES}; not corrected for the "
        "number of rows.",
    )
    return cells.make_frame("pair_dimensions", "Base against fine-tuned: dimensions", columns, rows, notes, long=True)


TUNED = Chart(
    "plane",
    "pairs",
    "From base to medically fine-tuned model, by dimension",
    f"Below 0 the fine-tuned model is worse. Bars are {LEVEL} intervals over images.",
    "pair_dimensions",
    ("change",),
    x="dimension",
    panel="pair",
    series="questions",
)


# --- Size and score ---------------------------------------------------------------------------------------------------
def dimension_scores(sources: Sequence[ModelResults]) -> dict[str, dict[str, float]]:
    """Score -> model -> value, in percent or the judge's points; no open answers if the models had different judges."""
    scores = {
        f"MCQ {name}": ("mcq", measures.ACCURACY, where, 100.0)
        for name, where in {"all": {}, **measures.BY_DIMENSION}.items()
    }
    if len(judged_tables.group_by_judge(sources)) == 1:
        means = {**measures.SCORES, "all": measures.TOTAL}
        scores |= {f"Open {name.replace('_', ' ')}": ("open", mean, {}, 1.0) for name, mean in means.items()}
    values: dict[str, dict[str, float]] = {}
    for name, (form, estimate, where, factor) in scores.items():
        for source in sources:
            value = source.interval(estimate, {**published.form_restriction(form), **where}).estimate
            if value is not None:
                values.setdefault(name, {})[source.name] = factor * value
    return values


def correlation_table(sizes: Sequence[float], values: Sequence[float]) -> tuple[float | None, float | None]:
    """Pearson's r with the logarithm of size, and with size (the paper does not say which); None if one is constant."""
    return _pearson_r([math.log10(size) for size in sizes], values), _pearson_r(sizes, values)


def _pearson_r(first: Sequence[float], second: Sequence[float]) -> float | None:
    return float(np.corrcoef(first, second)[0, 1]) if min(len(set(first)), len(set(second))) > 1 else None


def _size_section(parameters: Mapping[str, float], sources: Mapping[str, ModelResults]) -> ReportSection:
    """Does a larger model do better (Section 4.3): each score of the models against their sizes."""
    _check_names(list(parameters), sources, "--parameters NAME=NUMBER")
    sized, paragraphs = [source for name, source in sources.items() if name in parameters], []
    if unsized := [name for name in sources if name not in parameters]:
        paragraphs.append(f"Without a number of parameters, and so left out: {', '.join(unsized)}.")
    if len(judged_tables.group_by_judge(sized)) > 1:
        paragraphs.append("The open answers were judged by different judges: no figure of theirs is here.")
    rows = [
        (name, len(values), *correlation_table([parameters[model] for model in values], list(values.values())))
        for name, values in dimension_scores(sized).items()
        if len(values) >= FEWEST
    ]
    if not rows:
        paragraphs.append(f"A correlation needs {FEWEST} models with a number of parameters and the same figure.")
    paper = published.paper_text_findings()["scale"]
    choice, visual = paper["mcq_r"], paper["open_visual_accuracy_r"]
    note = (
        "Descriptive, over these models alone: no hypothesis is tested, and models are no sample of others. The paper: "
        f"r from {choice['from']} to {choice['to']} for multiple choice in {choice['of']}, {visual} for the visual "
        "accuracy of open answers; it does not say whether the number of parameters or its logarithm is meant."
    )
    heads = (cells.decimal_column(head, signed=True) for head in ("Pearson r, log size", "Pearson r, size"))
    columns = (cells.label_column("figure"), cells.count_column("models"), *heads)
    table = cells.make_frame("scale", "Correlation with the number of parameters", columns, rows, (note,))
    return ReportSection("scale", "Size and score", tuple(paragraphs), (table,) if table else ())
