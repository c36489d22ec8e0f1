"""SURE-VQA: the comparison of several methods. Seeds are joined, robustness tested, answers set against answers."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import replace

from lmms_medtasks.errors import unknown
from lmms_medtasks.report.document import Flag, Frame, FrameRow, Part, Section
from lmms_medtasks.report.report_options import Options
from lmms_medtasks.report.same_questions import with_marks
from lmms_medtasks.report.suite_report import data_extent, extents_of_data
from lmms_medtasks.report.views import Source
from lmms_medtasks.statistics.p_values import p_text
from lmms_medtasks.task_configs.sure_vqa import report_across as across
from lmms_medtasks.task_configs.sure_vqa import report_across_figures as figures
from lmms_medtasks.task_configs.sure_vqa import report_across_tables as tables
from lmms_medtasks.task_configs.sure_vqa import report_published as published
from lmms_medtasks.task_configs.sure_vqa.measures import KINDS, SIDES
from lmms_medtasks.task_configs.sure_vqa.report_across import Across
from lmms_medtasks.task_configs.sure_vqa.report_baselines import MOST_FREQUENT, NO_IMAGE, Standing
from lmms_medtasks.task_configs.sure_vqa.report_methods import Method, methods
from lmms_medtasks.task_configs.sure_vqa.report_shift_chart import SLOPES_OF_MODELS
from lmms_medtasks.task_configs.sure_vqa.report_shifts import SIDE_NAMES

_ALL_PAIRS = 4
"""With more methods than these only the pairs that the user names are set against each other question by question."""
_MOST = 3
"""Conditions that a flag names."""
_HOW_TO_RUN = {
    NO_IMAGE: "Run the shift's task with _noimage at its end, with the same model.",
    MOST_FREQUENT: "Run the shift's task with --model medtasks_most_frequent.",
}


def compare(sources: Sequence[Source], key: str, options: Options) -> Part:
    """The comparison of at least two sources."""
    found_methods = methods(sources)
    competing = [method for method in found_methods if method.image_shown and not method.baseline]
    found = None
    if len(competing) > 1:
        found = across.across(competing, resamples=options.resamples, every=found_methods)
    joined = tuple(published.tables(found_methods)) or (published.joined(found_methods),)
    drawn = replace(SLOPES_OF_MODELS, numbers=joined[0].key).figure(sources) if options.drawn else None
    sections = [
        Section(
            "joined",
            "Beside the published methods",
            _said_of_seeds(found_methods),
            joined,
            (drawn,) if drawn else (),
        ),
        *_duels(found_methods, options),
        *_tested(found, options),
    ]
    corrupted = published.corruptions(found_methods)
    if corrupted:
        sections.append(Section("corruptions", "Corruptions beside real shifts", tables=(corrupted,)))
    if found and found.compared:
        title = "As the paper tests it"
        sections.append(Section("paper-tests", title, tables=(tables.depends(found), tables.welch(found))))
    runs = {id(run) for source in sources for run, _ in source.asked}
    facts = (
        ("Runs", str(len(runs))),
        ("Methods", "; ".join(str(method.cell.value) for method in found_methods)),
    )
    said = "; ".join(dict.fromkeys(data_extent(source) for method in found_methods for source in method.sources))
    origin = (("data of the runs", said),)
    data = extents_of_data([source for method in found_methods for source in method.sources])
    whole = Part(key, "Comparison", facts, tuple(_flags(found, data)), tuple(sections), origin)
    return with_marks(whole, _asked(found_methods), functools.partial(_row_of, published.labels()))


def _asked(methods: Sequence[Method]) -> dict[Hashable, dict[str, frozenset[str]]]:
    """By method and shift the questions of each kind and test that all its seeds were asked, where there are any."""
    found: dict[Hashable, dict[str, frozenset[str]]] = {}
    for method in methods:
        for shift in method.shifts:
            own = found[method.cell.value, shift.label] = {}
            for kind, side in itertools.product(KINDS, SIDES):
                rows = [source.rows.where(shift.where(kind, side)) for source in method.sources]
                asked = [frozenset(each.column("pair")) for each in rows]
                if all(asked):
                    own[f"{kind} {SIDE_NAMES[side]}"] = frozenset.intersection(*asked)
    return found


def _row_of(labels: Mapping[str, str], table: Frame, row: FrameRow) -> Hashable:
    """A row's method and shift: the shift is the table's own, or stands in the second cell."""
    return row.cells[0].value, labels.get(table.key, row.cells[1].value)


def _said_of_seeds(methods: Sequence[Method]) -> tuple[str, ...]:
    joined = [method for method in methods if len(method.sources) > 1]
    return tuple(f"{method.name}: joined from the runs with the seeds {', '.join(method.seeds)}." for method in joined)


def _flags(found: Across | None, data: Sequence[str]) -> list[Flag]:
    flags = []
    if data != ["full"]:
        said = "; ".join(data)
        flags.append(Flag("warning", f"Data of these runs: {said}. Only full data compares with the paper's."))
    compared = found.compared.values() if found else ()
    apart = [f"{each.condition.label} {each.left_out:,} of {each.questions + each.left_out:,}" for each in compared
             if each.left_out]  # fmt: skip
    if apart:
        text = "Ranks and tests are over the questions that every method has a score for. Left out: "
        flags.append(Flag("warning", text + "; ".join(apart) + "."))
    return [*flags, *_without_rank(found)]


def _without_rank(found: Across | None) -> Iterator[Flag]:
    """A flag for the methods that lack a baseline, and one for each that is not better than its baselines."""
    standings = list(found.standings.values()) if found else []
    lacking: dict[str, dict[str, None]] = {}
    for each in standings:
        for baseline in each.lacking:
            lacking.setdefault(baseline, {})[each.method] = None
    for baseline, names in lacking.items():
        yield Flag(
            "warning",
            f"Baseline not run: {baseline}, on some shift or all, for {', '.join(names)}. Without it nothing tells "
            f"robustness from guessing, so that no robustness rank is given there. {_HOW_TO_RUN[baseline]}",
        )
    for name in dict.fromkeys(each.method for each in standings):
        tested = [each for each in standings if each.method == name and not each.lacking]
        worse = [each for each in tested if not each.better]
        if worse:
            more = f"; {len(worse) - _MOST} more in the table of baselines" if len(worse) > _MOST else ""
            said = "; ".join(map(_not_better, worse[:_MOST])) + more
            yield Flag(
                "warning",
                f"{name} gets no robustness rank in {len(worse)} of {len(tested)} conditions: on the i.i.d. test it is "
                f"not better than its baselines by more than chance. {said}.",
            )


def _not_better(standing: Standing) -> str:
    p = "no p" if standing.adjusted is None else f"adjusted p = {p_text(standing.adjusted)}"
    means = ", ".join(
        f"{_mean(found.method)} against {_mean(found.baseline)} ({name})" for name, found in standing.tests.items()
    )
    return f"{standing.condition.label}: {means}, {p}"


def _mean(value: float | None) -> str:
    return "nothing" if value is None else f"{value:.2f}"


def _tested(found: Across | None, options: Options) -> list[Section]:
    if found is None:
        said = "It needs two methods with images that are no baselines."
        return [Section("tested", "Which method is more robust", (said,))]
    if not found.compared:
        return [Section("tested", "Which method is more robust", ("No shift was run with all methods.",))]
    made = (tables.differences(found), tables.baselines(found), tables.ranks(found))
    shown = tuple(each for each in made if each is not None)
    drawn = figures.ranks(found, made[2]) if options.drawn and found.ranks else None
    return [Section("tested", "Which method is more robust", tables=shown, figures=(drawn,) if drawn else ())]


def _duels(methods: Sequence[Method], options: Options) -> list[Section]:
    sections = []
    images = across.duels(across.with_and_without(methods))
    if images:
        title = "With images against without"
        sections.append(Section("versus-images", title, tables=(tables.duels(images, "versus_images", title),)))
    others = across.duels(_pairs(methods, options))
    if others:
        title = "Method against method"
        sections.append(Section("versus-models", title, tables=(tables.duels(others, "versus_models", title),)))
    return sections


def _pairs(methods: Sequence[Method], options: Options) -> list[tuple[Method, Method]]:
    """The pairs that the user named; else all pairs of methods with images, if these are few."""
    by_name = {method.name: method for method in methods}
    for name in itertools.chain.from_iterable(options.pairs):
        if name not in by_name:
            raise unknown("model", name, by_name, "--pair")
    if options.pairs:
        return [(by_name[first], by_name[second]) for first, second in options.pairs]
    competing = [method for method in methods if method.image_shown]
    return list(itertools.combinations(competing, 2)) if len(competing) <= _ALL_PAIRS else []
