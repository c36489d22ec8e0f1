"""SURE-VQA: the comparison of several methods. Seeds are joined; robustness beyond guessing; Table 20's analysis."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from lmms_medtasks.report.cells import NONE, count, decimal, frame, label, p_value, probability
from lmms_medtasks.report.comparability import with_marks
from lmms_medtasks.report.document import Flag, Frame, FrameRow, Part, Section
from lmms_medtasks.report.published import Published
from lmms_medtasks.report.report_options import Options
from lmms_medtasks.report.suite_report import COMPARISON, data_extent, extents_of_data
from lmms_medtasks.report.views import Source
from lmms_medtasks.samples.table import Samples
from lmms_medtasks.task_configs.sure_vqa import report_baselines as baselines
from lmms_medtasks.task_configs.sure_vqa import report_published as published
from lmms_medtasks.task_configs.sure_vqa.measures import KINDS, ROBUSTNESS, SIDES
from lmms_medtasks.task_configs.sure_vqa.report_baselines import Condition
from lmms_medtasks.task_configs.sure_vqa.report_published import Method, methods, score
from lmms_medtasks.task_configs.sure_vqa.report_shift_chart import SLOPES_OF_MODELS
from lmms_medtasks.task_configs.sure_vqa.report_shifts import DATASETS, FOLDER, SIDE_NAMES, groups


class CommonRobustness(NamedTuple):
    """The methods under one condition, on the questions that all of them have a score for.

    ``rr``: method to its RR, the mean over its seeds; None without a value. ``questions``: in both tests; ``left_out``:
    those that some method has no score for.
    """

    rr: Mapping[str, float | None]
    questions: int
    left_out: int


def compare(sources: Sequence[Source], key: str, options: Options) -> Part:
    """The comparison of at least two sources."""
    found = methods(sources)
    competing = [method for method in found if method.image_shown and not method.baseline]
    conditions = shared_conditions(competing)
    standings = baselines.standings(found, competing, conditions)
    common = {each: on_common_questions(each, competing) for each in conditions if len(competing) > 1}
    joined = (*published.tables(found), *filter(None, [published.joined(found)]))
    drawn = replace(SLOPES_OF_MODELS, numbers=joined[0].key).figure(sources) if options.drawn and joined else None
    more = (
        ("tested", "More than guessing", baselines.table(standings)),
        ("corruptions", "Corruptions beside real shifts", published.corruptions(found)),
        ("paper-tests", "As the paper tests it", depends(common)),
    )
    sections = (
        *([Section("joined", "Beside the published methods", (), joined, (drawn,) if drawn else ())] if joined else ()),
        *(Section(name, title, tables=(table,)) for name, title, table in more if table),
    )
    runs = {id(run) for source in sources for run, _ in source.asked}
    facts = (("Runs", str(len(runs))), ("Methods", "; ".join(str(method.cell.value) for method in found)))
    origin = (("data of the runs", "; ".join(dict.fromkeys(map(data_extent, sources)))),)
    flags = (*_flags(common, extents_of_data(sources)), *baselines.flags(standings))
    whole = Part(key, COMPARISON, facts, flags, sections, origin)
    return with_marks(whole, _collect_questions(found), functools.partial(_key_of_row, published.labels()))


def _collect_questions(found: Sequence[Method]) -> dict[Hashable, dict[str, frozenset[str]]]:
    """By method and shift the questions of each kind and test that all its seeds were asked, where there are any."""
    asked: dict[Hashable, dict[str, frozenset[str]]] = {}
    for method, (kind, side) in itertools.product(found, itertools.product(KINDS, SIDES)):
        for shift in method.shifts:
            own = asked.setdefault((method.cell.value, shift.label), {})
            ids = [frozenset(source.rows.where(shift.where(kind, side)).column("pair")) for source in method.sources]
            if all(ids):
                own[f"{kind} {SIDE_NAMES[side]}"] = frozenset.intersection(*ids)
    return asked


def _key_of_row(labels: Mapping[str, str], table: Frame, row: FrameRow) -> Hashable:
    """A row's method and shift: the shift is the table's own, or stands in the second cell."""
    return row.cells[0].value, labels.get(table.key, row.cells[1].value)


def _flags(common: Mapping[Condition, CommonRobustness], data: Sequence[str]) -> Iterator[Flag]:
    if data != ["full"]:
        yield Flag("warning", f"Data of these runs: {'; '.join(data)}. Only full data compares with the paper's.")
    apart = [
        f"{condition.label} {each.left_out:,} of {each.questions + each.left_out:,}"
        for condition, each in common.items()
        if each.left_out
    ]
    if apart:
        text = "The analysis of variance is over the questions that every method has a score for. Left out: "
        yield Flag("warning", text + "; ".join(apart) + ".")


# --- Table 20 ---------------------------------------------------------------------------------------------------------


def shared_conditions(competing: Sequence[Method]) -> list[Condition]:
    """The conditions that all methods were run on, corrupted tests apart: no real shifts."""
    asked = [dict.fromkeys(groups(source)) for method in competing for source in method.sources]
    return [Condition(*each) for each in (asked[0] if asked else ())
            if not each[0].strength and all(each in own for own in asked)]  # fmt: skip


def on_common_questions(condition: Condition, competing: Sequence[Method]) -> CommonRobustness:
    """RR of each method on the questions that all runs of all methods have a score for."""
    shift, kind = condition
    rows = {method.name: [source.rows.where(shift.where(kind)) for source in method.sources] for method in competing}
    every = [each for own in rows.values() for each in own]
    # Whether a test has any mean at all is for each test to say, so its scores are looked for by test.
    scored = [{key for side in SIDES.values() for key in _keys(each.where(side).scored(kind))} for each in every]
    common = set.intersection(*scored)
    rr = {}
    for name, own in rows.items():
        kept = (each.take(np.array([key in common for key in _keys(each)], dtype=bool)) for each in own)
        values = [ROBUSTNESS[kind].value(each) for each in kept]
        rr[name] = None if None in values else float(np.mean([value for value in values if value is not None]))
    asked = {key for each in every for key in _keys(each)}
    return CommonRobustness(rr, len(common), len(asked - common))


def _keys(rows: Samples) -> list[tuple[str, str]]:
    """Test and id of each question."""
    return list(zip(rows.column("set"), rows.column("id"), strict=True))


def depends(common: Mapping[Condition, CommonRobustness]) -> Frame | None:
    """What RR depends on more, the shift or the method: by dataset, beside Table 20; None where nothing compares.

    The paper's Figures 8c and 18 do not say what is averaged. Standard deviations of means agree with all that the text
    says of the figures; the mean of each method's deviation over shifts would not (OVQA with full fine-tuning).
    """
    complete = {condition: each.rr for condition, each in common.items() if None not in each.rr.values()}
    rows = []
    for dataset in dict.fromkeys(condition.shift.dataset for condition in complete):
        own = [rr for condition, rr in complete.items() if condition.shift.dataset == dataset]
        values = np.array([list(rr.values()) for rr in own], dtype=float)  # (conditions, methods)
        (shifts_f, shifts_p), (methods_f, methods_p) = f_test(values), f_test(values.T)
        rows.append((
            DATASETS.get(dataset, dataset), ", ".join(own[0]), len(own), shifts_f, probability(shifts_p),
            methods_f, probability(methods_p), spread(values.mean(axis=1)), spread(values.mean(axis=0)),
        ))  # fmt: skip
    if not rows:
        return None
    printed = [
        FrameRow((each.cell("dataset"), each.cell("model"), NONE, each.cell("f"), probability(*each.values("p")),
                  *[NONE] * 4), "reference")
        for each in Published(FOLDER, {"source": "Table 20"}).rows()
    ]  # fmt: skip
    columns = (
        label("dataset"),
        label("methods"),
        count("conditions"),
        score("F between shifts"),
        p_value("p"),
        score("F between methods"),
        p_value("p (methods)"),
        decimal("SD between shifts"),
        decimal("SD between methods"),
    )
    notes = (
        "As the paper does it: one-way analysis of variance of RR, a value a condition and method; a condition is a "
        "shift's closed or open questions, as the numbers of Table 20 show, so F holds also what sets the two kinds "
        "apart. Hypotheses: all conditions have the same mean RR; all methods have. p is not corrected. RR is on the "
        "questions that every method has a score for, of several seeds the mean.",
        "It takes the values as independent, which they are not: all methods answer the same questions about the same "
        "images. SD: between the means over methods, and between those over conditions. Empty with fewer than two "
        "conditions or methods.",
    )
    return frame("depends", "Shifts against methods (Table 20)", columns, [*rows, *printed], notes)


def f_test(values: np.ndarray) -> tuple[float | None, float | None]:
    """F and p of a one-way analysis of variance between the rows of (groups, values).

    None with fewer than two groups or values a group, or where no group's values vary.
    """
    from scipy.stats import f_oneway

    if min(values.shape) < 2 or not np.ptp(values, axis=1).any():
        return None, None
    found = f_oneway(*values)
    return float(found.statistic), float(found.pvalue)


def spread(values: np.ndarray) -> float | None:
    """Standard deviation (n - 1); None of fewer than two values."""
    return float(values.std(ddof=1)) if len(values) > 1 else None
