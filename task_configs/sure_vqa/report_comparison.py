"""SURE-VQA: the comparison of several methods. Seeds are joined, robustness tested, answers set against answers."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Hashable, Mapping, Sequence

from lmms_medtasks.errors import unknown
from lmms_medtasks.report.document import Figure, Flag, Part, Row, Section, Table
from lmms_medtasks.report.report_options import Options
from lmms_medtasks.report.same_questions import with_marks
from lmms_medtasks.report.suite_report import data_extent
from lmms_medtasks.report.views import Source
from lmms_medtasks.task_configs.sure_vqa import report_across as across
from lmms_medtasks.task_configs.sure_vqa import report_across_figures as figures
from lmms_medtasks.task_configs.sure_vqa import report_across_tables as tables
from lmms_medtasks.task_configs.sure_vqa import report_published as published
from lmms_medtasks.task_configs.sure_vqa.measures import KINDS, SIDES
from lmms_medtasks.task_configs.sure_vqa.report_across import Across, Duel
from lmms_medtasks.task_configs.sure_vqa.report_methods import Method, methods
from lmms_medtasks.task_configs.sure_vqa.report_shifts import SIDE_NAMES

_ALL_PAIRS = 4
"""With more methods than these only the pairs that the user names are set against each other question by question."""
_BARS = 40


def compare(sources: Sequence[Source], key: str, options: Options) -> Part:
    """The comparison of at least two sources."""
    found_methods = methods(sources)
    competing = [method for method in found_methods if method.image_shown and not method.baseline]
    found = across.across(competing, resamples=options.resamples) if len(competing) > 1 else None
    sections = [
        Section(
            "joined",
            "Beside the published methods",
            _said_of_seeds(found_methods),
            tuple(published.tables(found_methods)) or (tables.joined(found_methods),),
        ),
        *_tested(found, key, options),
        *_duels(found_methods, key, options),
    ]
    corrupted = published.corruptions(found_methods)
    if corrupted:
        sections.append(Section("corruptions", "Corruptions beside real shifts", tables=(corrupted,)))
    runs = {id(run) for source in sources for run, _ in source.asked}
    facts = (
        ("Runs", str(len(runs))),
        ("Methods", "; ".join(str(method.cell.value) for method in found_methods)),
    )
    said = "; ".join(dict.fromkeys(data_extent(source) for method in found_methods for source in method.sources))
    origin = (("data of the runs", said),)
    whole = Part(key, "Comparison", facts, tuple(_flags(found, said)), tuple(sections), origin)
    shifts = {shift for method in found_methods for shift in method.shifts}
    return with_marks(whole, _asked(found_methods), functools.partial(_row_of, published.labels(shifts)))


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


def _row_of(labels: Mapping[str, str], table: Table, row: Row) -> Hashable:
    """A row's method and shift: the shift is the table's own, or stands in the second cell."""
    return row.cells[0].value, labels.get(table.key, row.cells[1].value)


def _said_of_seeds(methods: Sequence[Method]) -> tuple[str, ...]:
    joined = [method for method in methods if len(method.sources) > 1]
    return tuple(f"{method.name}: joined from the runs with the seeds {', '.join(method.seeds)}." for method in joined)


def _flags(found: Across | None, said: str) -> list[Flag]:
    flags = []
    if said != "full":
        flags.append(Flag("warning", f"Data of these runs: {said}. Only full data compares with the paper's."))
    compared = found.compared.values() if found else ()
    apart = [f"{each.condition.label} {each.left_out:,} of {each.questions + each.left_out:,}" for each in compared
             if each.left_out]  # fmt: skip
    if apart:
        text = "Ranks and tests are over the questions that every method has a score for. Left out: "
        flags.append(Flag("warning", text + "; ".join(apart) + "."))
    return flags


def _tested(found: Across | None, key: str, options: Options) -> list[Section]:
    if found is None:
        said = "It needs two methods with images that are no baselines."
        return [Section("tested", "Which method is more robust", (said,))]
    if not found.compared:
        return [Section("tested", "Which method is more robust", ("No shift was run with all methods.",))]
    shown = [tables.ranks(found), tables.differences(found), tables.win_loss(found)]
    drawn: list[Figure] = []
    if options.drawn:
        drawn = [figures.ranks(found, key)] if found.ranks else []
        drawn += [figures.win_loss(found, key)] if found.tests else []
    depends = tables.depends(found)
    return [
        Section("tested", "Which method is more robust", tables=tuple(shown), figures=tuple(drawn)),
        Section("depends", "What robustness depends on", tables=(depends,)),
    ]


def _duels(methods: Sequence[Method], key: str, options: Options) -> list[Section]:
    sections = []
    images = across.duels(across.with_and_without(methods))
    if images:
        title = "With images against without"
        sections.append(_section("images", title, images, key, options))
    others = across.duels(_pairs(methods, options))
    if others:
        sections.append(_section("models", "Method against method", others, key, options))
    return sections


def _section(name: str, title: str, found: Sequence[Duel], key: str, options: Options) -> Section:
    table = tables.duels(found, f"versus_{name}", title)
    drawn = options.drawn and len(found) <= _BARS
    pictures = (figures.duels(found, key, table.key, title),) if drawn else ()
    return Section(f"versus-{name}", title, tables=(table,), figures=pictures)


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
