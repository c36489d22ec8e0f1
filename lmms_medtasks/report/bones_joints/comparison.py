"""The part that has several models: side by side, and whether they differ (Kruskal-Wallis, Dunn)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from lmms_medtasks.report.asked import extent
from lmms_medtasks.report.bones_joints import figures, published
from lmms_medtasks.report.bones_joints.analysis import Analysis, usable
from lmms_medtasks.report.bones_joints.reading import Condition
from lmms_medtasks.report.bones_joints.tables import MEANINGS, cell
from lmms_medtasks.report.cells import NONE, count, label, share
from lmms_medtasks.report.document import Cell, Column, Flag, Part, Row, Section, Table
from lmms_medtasks.report.judged import Judging, is_lexical
from lmms_medtasks.report.marks import meanings
from lmms_medtasks.report.same_questions import with_marks
from lmms_medtasks.report.suites import Options
from lmms_medtasks.statistics.rank_tests import Dunn, dunn, kruskal_wallis
from lmms_medtasks.task_configs.bones_joints.forms import forms

ALL = "all tasks"
_SMALL = 0.0001
_ASKED: tuple[Condition, ...] = ("text", "images", "reports")
_ABOUT = (
    "Over the scores of questions (0 to 1); the paper does not say what its values are. Each is taken for an "
    "independent draw: the models were asked the same questions, so a paired test would find smaller differences, and "
    "a case's questions are not independent."
)


def part(analyses: Mapping[str, Analysis], options: Options) -> Part:
    """The comparison of at least two models, by the names that the report gives them."""
    key = f"{options.prefix}all"
    runs = {id(asked.run) for each in analyses.values() for asked in each.source.asked}
    facts = (("Runs", str(len(runs))), ("Models", ", ".join(analyses)))
    figure = figures.model_radar(analyses, key) if options.drawn else None
    tests, pairs = _tests(analyses)
    shown = (_tests_table(tests), *([_pairs_table(pairs)] if pairs else []))
    sections = (
        Section("models", "The models together", tables=(_models(analyses),), figures=(figure,) if figure else ()),
        Section("published", "Beside the paper", tables=(published.table(analyses),)),
        *([Section("tests", "Do the models differ", tables=shown)] if tests else []),
    )
    origin = (
        ("data of the runs", "; ".join(dict.fromkeys(extent(each.source.asked) for each in analyses.values()))),
        ("judges of the runs", ", ".join(dict.fromkeys(each.shown for each in _judgings(analyses)))),
    )
    asked = {
        name: {f"Task {each.label}": frozenset(record["id"] for record in each.records)
               for each in analysis.source.asked if each.condition in _ASKED}
        for name, analysis in analyses.items()
    }  # fmt: skip
    return with_marks(Part(key, "Comparison", facts, tuple(_flags(analyses)), sections, origin), asked)


def _flags(analyses: Mapping[str, Analysis]) -> Iterator[Flag]:
    data = sorted({extent(each.source.asked) for each in analyses.values()})
    if data != ["full"]:
        yield Flag("warning", f"Data of these runs: {'; '.join(data)}. Only full data compares with the paper's.")
    judgings = _judgings(analyses)
    for name in dict.fromkeys(name for each in judgings for name in each.names if is_lexical(name)):
        yield Flag("warning", f"Open answers were judged by {name}, which compares words and is NO LLM: a smoke test.")
    by_protocol: dict[str, set[str]] = {}
    for judging in judgings:
        by_protocol.setdefault(judging.protocol.name, set()).add(judging.said)
    if any(len(said) > 1 for said in by_protocol.values()):
        judges = "; ".join(sorted({each.said for each in judgings}))
        yield Flag("warning", f"Open answers were judged differently and do not compare: {judges}.")


def _judgings(analyses: Mapping[str, Analysis]) -> list[Judging]:
    return [asked.judging for each in analyses.values() for asked in each.source.asked if asked.judging]


def _models(analyses: Mapping[str, Analysis]) -> Table:
    rows = []
    for name, each in analyses.items():
        results = [each.of(task, *_ASKED) for task in forms()]
        cells = (cell(found.overall, found.asked.judging) if found else NONE for found in results)
        rows.append(Row((Cell(name), *cells, Cell(extent(each.source.asked)))))
    columns = (label("model"), *(share(task.numeral) for task in forms().values()), label("data"))
    notes = (
        "With images where a model was asked with images, else with radiology reports. In brackets: 95 % intervals.",
    )
    return Table("models", "Accuracy of the models", columns, tuple(rows), notes, marks=meanings(rows, MEANINGS))


Tests = dict[str, tuple[int, Cell, Cell, int]]


def _tests(analyses: Mapping[str, Analysis]) -> tuple[Tests, dict[str, list[Dunn]]]:
    """Kruskal-Wallis for each task that two models or more have scores of, and for all together; Dunn's pairs."""
    scores: dict[str, dict[str, list[float]]] = {}
    for name, each in analyses.items():
        for task in forms().values():
            asked = each.source.of(task.key, *_ASKED)
            own = [record["score"] for record in usable(asked.records) if "score" in record] if asked else []
            if own:
                scores.setdefault(task.numeral, {})[name] = own
    there = {numeral: found for numeral, found in scores.items() if len(found) > 1}
    if len(there) > 1:
        every = [name for name in analyses if all(name in found for found in there.values())]
        if len(every) > 1:
            there[ALL] = {name: [x for found in list(there.values()) for x in found[name]] for name in every}
    tests: Tests = {}
    pairs: dict[str, list[Dunn]] = {}
    for name, samples in there.items():
        found = kruskal_wallis(samples)
        tests[name] = (len(samples), Cell(found.statistic), _p(found.p), found.n)
        if len(samples) > 2:
            pairs[name] = dunn(samples)
    return tests, pairs


def _tests_table(tests: Tests) -> Table:
    rows = [
        Row((Cell(name), Cell(models), Cell(n), h, Cell(models - 1), p)) for name, (models, h, p, n) in tests.items()
    ]
    columns = (
        label("task"),
        count("models"),
        count("answers"),
        Column("H", digits=2),
        count("df"),
        Column("p", digits=4),
    )
    notes = (_ABOUT, "Dunn's test follows where there are three models or more.")
    return Table("kruskal", "Kruskal-Wallis test of the models", columns, tuple(rows), notes)


def _pairs_table(pairs: Mapping[str, list[Dunn]]) -> Table:
    rows = [
        Row((Cell(name), Cell(each.first), Cell(each.second), Cell(each.difference), Cell(each.z), _p(each.p),
             _p(each.adjusted)))
        for name, found in pairs.items()
        for each in found
    ]  # fmt: skip
    columns = (
        label("task"), label("first"), label("second"), Column("difference of mean ranks", digits=1, signed=True),
        Column("z", digits=2, signed=True), Column("p", digits=4), Column("adjusted p", digits=4),
    )  # fmt: skip
    notes = (
        _ABOUT,
        "Adjusted: p times the number of pairs of the task (Bonferroni), as GraphPad Prism, which the paper used.",
    )
    return Table("dunn", "Dunn's test of each pair", columns, tuple(rows), notes, long=True)


def _p(value: float | None) -> Cell:
    """No probability is shown as 0."""
    return Cell(f"{value:.1e}" if value is not None and value < _SMALL else value)
