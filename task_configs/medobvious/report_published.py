"""MedObvious beside the published models: the paper's tables, accuracy by the authors' scripts, and charts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from lmms_medtasks.report.about import own_results_cell
from lmms_medtasks.report.charts import Chart, Guide
from lmms_medtasks.report.published import PublishedRowsSpec
from lmms_medtasks.report.suite_report import results_extent
from lmms_medtasks.report.views import ColumnSpec, ModelResults, RowSpec, TableSpec, rows_of_sources
from lmms_medtasks.samples.table import QuestionTable
from lmms_medtasks.statistics.confidence import LEVEL
from lmms_medtasks.suites.estimates import Estimate, Macro, Mean
from lmms_medtasks.task_configs.medobvious import measures

FOLDER = Path(__file__).parent
SHORT = dict(zip(measures.FORMATS, ("A detection MCQ", "B detection open", "C referring MCQ", "D referring open",
                           "E visual referring"), strict=True))  # fmt: skip
"""Table 2's formats by the paper's letters and names."""

POSITIVES, NEGATIVES = ({"negative": sign} for sign in measures.SIGNS.values())
CHANCE = Mean(measure="chance", exact=True)
CHANCE_AVERAGE = Macro(measure="chance", exact=True, groups=tuple(measures.TABLE_2.values()))
TIER_MEAN, TIER_CHANCE = Macro(by="tier"), Macro(measure="chance", exact=True, by="tier")
INTERVALS = f"In brackets: {LEVEL} interval over items."


def is_rotated(source: ModelResults) -> bool:
    """Whether the questions are copies with rotated options, which the paper does not have."""
    return measures.ROTATED in source.condition


def _own_labels(source: ModelResults) -> tuple[str, ...]:
    return source.name, str(own_results_cell(results_extent(source)).value)


def _guessing_rows(chances: Mapping[str, Estimate | None]) -> Callable[[Sequence[ModelResults]], list[RowSpec]]:
    """A row for each source that was asked each question once, and one for guessing."""
    guessing = RowSpec(("uniform guessing", "arithmetic"), kind="counts", estimates=chances, estimates_only=True)
    rows = rows_of_sources(_own_labels, guessing)
    return lambda sources: rows([source for source in sources if not is_rotated(source)])


PRINTED_FORMATS = PublishedRowsSpec(FOLDER, {"source": "Table 2"})
_COLUMNS = {
    name: ColumnSpec(SHORT.get(name, name), measures.ACCURACY, within=where, key=name)
    for name, where in measures.TABLE_2.items()
}
_AVERAGE = ColumnSpec("Avg", measures.PAPER_AVERAGE, key="average")
_GUESSING = (
    "Uniform guessing: one of all positions and none, or of yes and no; by arithmetic, for the questions of the first "
    "row."
)
# The paper's table in two: eleven columns with intervals do not fit on a page.
FORMATS_TABLE = TableSpec(
    "formats",
    "Accuracy by format (Table 2)",
    ("model", "source"),
    _guessing_rows(dict.fromkeys(measures.FORMATS, CHANCE)),
    tuple(_COLUMNS[name] for name in measures.FORMATS),
    (
        "Task D is scored by its position, as in the authors' scripts; the paper's numbers look as if something else "
        "was asked for.",
        "A reply that could not be read counts as incorrect, a failed request as nothing.",
        _GUESSING,
        INTERVALS,
    ),
    PRINTED_FORMATS,
)
SIGNS_TABLE = TableSpec(
    "signs",
    "Accuracy by sign, and over all questions (Table 2)",
    ("model", "source"),
    _guessing_rows(
        {
            **dict.fromkeys((*measures.SIGNS, "all questions"), CHANCE),
            "average": CHANCE_AVERAGE,
            "balanced": None,
            "questions": None,
        }
    ),
    (
        *(_COLUMNS[name] for name in measures.SIGNS),
        _AVERAGE,
        ColumnSpec("all questions", measures.ACCURACY),
        ColumnSpec("balanced", measures.BALANCED_ACCURACY),
        ColumnSpec("questions", measures.ACCURACY, "n"),
    ),
    (
        "Avg is the paper's: the plain mean of the five formats and both signs. It is no share of correct answers: "
        "each question counts in two of these. Balanced: the mean of positives and negatives.",
        _GUESSING,
        INTERVALS,
    ),
    PRINTED_FORMATS,
)
_SCRIPTS = {
    script: {
        **dict.fromkeys(measures.TABLE_2, Mean(measure=measure)),
        "average": Macro(measure=measure, groups=tuple(measures.TABLE_2.values())),
    }
    for script, measure in (("open weights", measures.PAPER_RULE), ("hosted", measures.PAPER_RULE_HOSTED))
}


def _rule_rows(sources: Sequence[ModelResults]) -> Iterator[RowSpec]:
    for source in sources:
        for script, estimates in _SCRIPTS.items() if not is_rotated(source) else ():
            yield RowSpec((*_own_labels(source), script), estimates=estimates, source=source)


RULES_TABLE = TableSpec(
    "paper_rule",
    "Accuracy by format and sign (Table 2), replies read as the authors' scripts read them",
    ("model", "source", "script for"),
    _rule_rows,
    tuple(replace(column, of=None, bare=True) for column in (*_COLUMNS.values(), _AVERAGE)),
    (
        "The scripts for open-weight models read the letters A to E only: on 3×3 grids F to J are never right. A row "
        "is to be compared with published rows of its script.",
    ),
    # The human expert's answers were not read by a script.
    replace(PRINTED_FORMATS, labels=("model", "published", "script")),
)
TIERS_TABLE = TableSpec(
    "tiers",
    "Accuracy by tier (Table 3)",
    ("model", "source"),
    _guessing_rows({**{f"T{tier}": CHANCE for tier in measures.TIERS}, "all": TIER_CHANCE}),
    (
        *(ColumnSpec(f"T{tier}", measures.ACCURACY, within={"tier": tier}) for tier in measures.TIERS),
        ColumnSpec("all", TIER_MEAN, mark=lambda rows: "" if len(rows.values("tier")) == len(measures.TIERS) else "∂"),
    ),
    ("All is the plain mean of the tiers, as in the paper.", INTERVALS),
    PublishedRowsSpec(FOLDER, {"source": "Table 3"}),
)


def found_by_claiming(rows: QuestionTable) -> Guide:
    """The line of guesses that claim an outlier, at a random position, from never to always.

    Uniform guessing among ``n`` answers, one of them "none", is right with 1 / n; among the others with 1 / (n - 1).
    """
    chance = rows.where(POSITIVES).scored("chance").column("chance.score")
    return Guide(0, 0, 100, 100 * float((chance / (1 - chance)).mean()) if len(chance) else 100.0, "guessing")


PLANE = Chart(
    "plane",
    "plane",
    "Correct with an outlier against wrong without one",
    "Up: outliers found. Right: wrong where there is none, by a false alarm or by a reply without an answer (false "
    "alarms have a table of their own). A model that always answers none stands lower left, one that always names an "
    "outlier at the right edge. "
    "Dashed: guessing. It ends below 100, as the place of the outlier must be correct too. Hollow: published models, "
    f"across 100 less their accuracy where there is none. Bars: {LEVEL} intervals.",
    SIGNS_TABLE,
    ("positive",),
    x="negative",
    rest={"negative": 100},
    group="source",
    axis=("wrong where there is none, percent", "correct where there is an outlier, percent"),
    guide=found_by_claiming,
)
FORMAT_POINTS = Chart(
    "points",
    "formats",
    "Sensitivity to the format",
    "Detection and visual referring are asked about grids without an outlier too, referring MCQ "
    f"and open are not. Hollow: the paper's models and its human expert. Bars are {LEVEL} intervals over items.",
    FORMATS_TABLE,
    measures.FORMATS,
    turned=True,
    axis=("percent correct",),
)
