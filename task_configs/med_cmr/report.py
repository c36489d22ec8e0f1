"""Med-CMR: tables and figures of its report, beside the published rows. Nothing here can move a number."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from lmms_medtasks.report import judged_tables
from lmms_medtasks.report.default_report import outcome_table
from lmms_medtasks.report.document import Cell
from lmms_medtasks.report.findings import Number, chance_of_options
from lmms_medtasks.report.headlines import BoardColumn, Headline
from lmms_medtasks.report.judged_tables import judged_columns
from lmms_medtasks.report.published import published_span
from lmms_medtasks.report.shared_sections import rotation_view
from lmms_medtasks.report.suite_report import SuiteReportSpec, question_ids
from lmms_medtasks.report.views import ColumnSpec, ModelResults, RowSpec, SectionSpec, TableSpec
from lmms_medtasks.samples.runs import make_printable
from lmms_medtasks.statistics.confidence import LEVEL
from lmms_medtasks.suites.estimates import Contrast
from lmms_medtasks.task_configs.med_cmr import measures, report_paper
from lmms_medtasks.task_configs.med_cmr import report_published as published
from lmms_medtasks.task_configs.med_cmr.judging import WEIGHTS

_TITLES = {each.short: f"{each.name} ({each.short})" for each in measures.load_dimensions()}
_INTERVALS = f"In brackets: {LEVEL} interval over images."
_SIDES = "Mean over the dimensions of a side, each weighing alike; the overall row is over all questions."
_NO_ANSWER = "A reply without an answer counts as incorrect, a failed request as nothing."
_MISSING = (
    "Means are over the judgements that were obtained: n judged of n. A missing one is no zero: the next two columns "
    "are the mean over all answers, had each missing one been the scale's worst, or its best."
)
_WEIGHTS = ", ".join(f"{name.replace('_', ' ')} {weight}" for name, weight in WEIGHTS.items())
_SCALE = (
    f"Total: the scores weighted ({_WEIGHTS}) and brought to 0 to 100, as in the paper. The scale of the single "
    "scores, 0 to 5, and the judge's prompt are ours: the paper does not print its own. Both parts: the labelled lines "
    "Reasoning: and Answer: that were asked for; an answer without one is judged all the same."
)
_ADDED = (
    "Difference: what the image adds, over the questions that have a value both ways. One whose interval holds 0 does "
    "not show that the image was of use; how much use it may still have been, the interval's ends say. Not corrected "
    "for the number of rows."
)


def _with_judge_notes(
    form: str, *notes: str, shown: bool = True
) -> Callable[[Sequence[ModelResults]], tuple[str, ...]]:
    def build_notes(sources: Sequence[ModelResults]) -> tuple[str, ...]:
        judging = published.open_judging(sources[0], shown)
        judge = (f"Judge: {judging.shown if judging else 'none'}.", _MISSING) if form == "open" else ()
        return (*judge, *notes, _INTERVALS)

    return build_notes


def _mean_columns(form: str, digits: int) -> tuple[ColumnSpec, ...]:
    if form == "mcq":
        return ColumnSpec("questions", measures.ACCURACY, "n"), ColumnSpec("accuracy", measures.ACCURACY, digits=digits)
    return judged_columns("total", measures.TOTAL, "total", digits)


# --- By dimension -----------------------------------------------------------------------------------------------------
_OPEN_COLUMNS = (
    *judged_columns("total", measures.TOTAL, "total"),
    *(ColumnSpec(name.replace("_", " "), mean, "", 2) for name, mean in measures.SCORES.items()),
    ColumnSpec("both parts", measures.SUITE.estimates["both_parts"]),
    ColumnSpec("the reference's words", measures.EXACT),
)


def _by_dimension(form: str, shown: bool) -> TableSpec:
    """All questions, the dimensions and the means of the sides; without the image also what the image adds."""
    measure, where = published.MEASURE_OF[form], published.form_restriction(form)
    columns = _mean_columns("mcq", 2) if form == "mcq" else _OPEN_COLUMNS
    notes = [_NO_ANSWER, _SIDES] if form == "mcq" else [_SCALE]
    if not shown:
        blind, bounds = published.form_restriction(form, False), measures.RANGES[measure]
        change = Contrast(measure=measure, bounds=bounds, first=blind, second=where, pair=("id",))
        columns = (
            *(replace(column, within={"image_shown": False}) for column in columns),
            ColumnSpec("pairs", change, "n", statistic="second"),
            ColumnSpec("difference", change, "points" if form == "mcq" else "", 2, signed=True),
        )
        where = {"form": form}
        notes.append(_ADDED)

    def rows(sources: Sequence[ModelResults]) -> Iterator[RowSpec]:
        yield RowSpec(("All questions",), where)
        scored = sources[0].rows.where(published.form_restriction(form, shown)).scored(measure)
        for side, names in measures.SIDES.items():
            if form == "mcq":
                # Marked if one of the dimensions has no score.
                mark = "" if all(len(scored.where(measures.BY_DIMENSION[name])) for name in names) else "∂"
                mean = measures.SIDE_ACCURACY[side]
                means = {"questions": mean, "accuracy": mean, "pairs": None, "difference": None}
                label = Cell(f"Mean of the {side} dimensions", mark=mark)
                yield RowSpec((label,), {**where, "dimension": names}, "counts", means)
            yield from (RowSpec((_TITLES[name],), {**where, **measures.BY_DIMENSION[name]}) for name in names)

    key, title = ("mcq", "Multiple choice: accuracy") if form == "mcq" else ("open_dimensions", "Open answers: scores")
    if not shown:
        key, title = f"{key}_noimage", f"{title}, no image"
    return TableSpec(key, title, ("dimension",), rows, columns, _with_judge_notes(form, *notes, shown=shown))


def _by_tag(form: str, tag: str) -> TableSpec:
    where = published.form_restriction(form)

    def rows(sources: Sequence[ModelResults]) -> Iterator[RowSpec]:
        values: dict[str, list[Any]] = {}
        for value in sources[0].rows.where(where).values(tag):
            values.setdefault(make_printable(str(value or "not recorded")), []).append(value)
        yield from (RowSpec((text,), {**where, tag: tuple(values[text])}) for text in sorted(values))

    name = tag.replace("_", " ")
    title = f"{'Multiple choice: accuracy' if form == 'mcq' else 'Open answers: total'} by {name}"
    columns, notes = _mean_columns(form, 1), _with_judge_notes(form)
    # Subtypes are many: they are only in the files, and folded on the page.
    long = tag == "subtype"
    return TableSpec(f"{form}_{tag}", title, (name,), rows, columns, notes, long=long, folded=long)


# --- The headline -----------------------------------------------------------------------------------------------------
_ON_CHOICE, _ON_OPEN = "on choice questions", "points of 100 for open answers"


def _headline_numbers(source: ModelResults) -> Iterator[Number]:
    printed = {form: published_span(measures.SUITE, f"med_cmr_{form}", of) for form, of in published.MEASURE_OF.items()}
    where = published.form_restriction("mcq")
    chance = chance_of_options(source.rows.where(where))
    yield Number("choice questions", _ON_CHOICE, measures.ACCURACY, where, chance=chance, published=printed["mcq"])
    where = published.form_restriction("open")
    words = "of 100 for open answers"
    yield Number("open answers, points", words, measures.TOTAL, where, "points", 1.0, published=printed["open"])


HEADLINE = Headline(
    _headline_numbers,
    "reasoning over fine detail",
    (
        BoardColumn("med_cmr_mcq", "accuracy", _ON_CHOICE),
        BoardColumn("med_cmr*", "*"),
        BoardColumn("med_cmr_open", "total", _ON_OPEN, heads=False),
    ),
    sketch=published.dimension_sketch,
)


# --- Sections ---------------------------------------------------------------------------------------------------------
def _form_view(form: str, shown: bool) -> SectionSpec:
    key, title = ("choice", "Multiple choice") if form == "mcq" else ("open", "Open answers")
    end = ("", "") if shown else ("_noimage", ", no image")
    by_tag = (_by_tag(form, tag) for tag in (measures.BREAKDOWNS if shown else ()))
    tables = (_by_dimension(form, shown), *by_tag)
    return SectionSpec(
        key + end[0], title + end[1], tables, shown=lambda sources: published.was_asked(sources[0], form, shown)
    )


_FORMS = {"mcq": "multiple choice", "circular": "rotated options", "open": "open"}
_PUBLISHED = SectionSpec("main", "Beside the published models", (published.MAIN,), (published.DIMENSIONS_CHART,))

REPORT = SuiteReportSpec(
    is_whole=True,
    headline=HEADLINE,
    views=(
        _PUBLISHED,
        *(_form_view("mcq", shown) for shown in (True, False)),
        rotation_view(
            published.form_restriction("circular"),
            _INTERVALS,
            groups={_TITLES[name]: where for name, where in measures.BY_DIMENSION.items()},
        ),
        *(_form_view("open", shown) for shown in (True, False)),
        SectionSpec("replies", "Requests, replies and judgements", (*judged_tables.judging_tables(), outcome_table())),
    ),
    compared=(_PUBLISHED,),
    caveats=lambda source: judged_tables.judging_notices(judged_tables.by_task(source)),
    compared_caveats=report_paper.comparison_caveats,
    sources=published.model_rows,
    more=report_paper.paper_sections,
    one_comparison=True,
    tests=lambda source: {
        _FORMS[form]: question_ids(source.rows.where(published.form_restriction(form)))
        for form in measures.FORMS
        if published.was_asked(source, form)
    },
    uses=frozenset({"pairs", "parameters"}),
)
