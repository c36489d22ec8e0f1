"""MedObvious beside the published models: the tables of the paper, and what the scripts of its authors read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from lmms_medtasks.report.about import own
from lmms_medtasks.report.published import Published
from lmms_medtasks.report.suite_report import extent
from lmms_medtasks.report.views import Column, Row, Source, Table, rows_of_sources
from lmms_medtasks.samples.table import Samples
from lmms_medtasks.statistics.confidence import LEVEL
from lmms_medtasks.suites.estimates import Macro, Mean
from lmms_medtasks.task_configs.medobvious.measures import (
    ACCURACY,
    FORMATS,
    PAPER_AVERAGE,
    PAPER_RULE,
    PAPER_RULE_HOSTED,
    ROTATED,
    SIGNS,
    TABLE_2,
    TIERS,
)

FOLDER = Path(__file__).parent
GROUPS = "general open-source", "medical open-source", "proprietary", "human"
"""The paper's groups of models."""
SHORT = dict(zip(FORMATS, ("A detection MCQ", "B detection open", "C referring MCQ", "D referring open",
                           "E visual referring"), strict=True))  # fmt: skip
HEADS = {**SHORT, "positive": "positive", "negative": "negative"}
"""Table 2's columns by the paper's letters and names."""

POSITIVES, NEGATIVES = ({"negative": sign} for sign in SIGNS.values())
CHANCE, CHANCE_AVERAGE = (
    Mean(measure="chance", exact=True),
    Macro(measure="chance", exact=True, groups=tuple(TABLE_2.values())),
)
TIER_MEAN, TIER_CHANCE = Macro(by="tier"), Macro(measure="chance", exact=True, by="tier")
INTERVALS = f"In brackets: {LEVEL} interval over items."
TOGETHER = f"In brackets: {LEVEL} interval over items, of a change between the same items."


def _own(source: Source) -> tuple[str, ...]:
    return source.name, str(own(extent(source)).value)


def is_rotated(source: Source) -> bool:
    """Whether a source is copies of questions with their options rotated: no part of the paper."""
    return ROTATED in source.condition


def _published_rows(chance: Row) -> Callable[[Sequence[Source]], list[Row]]:
    """A row for each source that was asked each question once, and one for guessing."""
    return lambda sources: rows_of_sources(_own, chance)([each for each in sources if not is_rotated(each)])


def _format_notes(sources: Sequence[Source]) -> tuple[str, ...]:
    whose = "the first row" if len(sources) > 1 else "this run"
    guessing = f"one of all positions and none, or of yes and no; by arithmetic, for the questions of {whose}."
    return (
        "Task D is scored by its position, as in the authors' scripts; the paper's numbers look as if something else "
        "was asked for.",
        "Avg is the paper's: the plain mean of the seven columns before it. It is no share of correct answers: each "
        "question counts in two columns.",
        *([f"Uniform guessing: {guessing}"] if sources else []),
    )


def _tier_mark(rows: Samples) -> str:
    return "" if len(rows.values("tier")) == len(TIERS) else "∂"


GUESSING = ("uniform guessing", "arithmetic")
CHANCE_ROW = Row(GUESSING, kind="counts", estimates={**dict.fromkeys(TABLE_2, CHANCE), "average": CHANCE_AVERAGE})
RULES = {PAPER_RULE: "open weights", PAPER_RULE_HOSTED: "hosted"}
AVERAGES = {measure: Macro(measure=measure, groups=tuple(TABLE_2.values())) for measure in RULES}

PRINTED_FORMATS = Published(FOLDER, {"source": "Table 2"})
_FORMAT_COLUMNS = (
    *(Column(HEADS[name], ACCURACY, within=where, key=name, bare=True) for name, where in TABLE_2.items()),
    Column("Avg", PAPER_AVERAGE, key="average", bare=True),
)
FORMATS_TABLE = Table(
    "formats",
    "Accuracy by format and sign (Table 2)",
    ("model", "source"),
    _published_rows(CHANCE_ROW),
    _FORMAT_COLUMNS,
    _format_notes,
    PRINTED_FORMATS,
)


def _rule_rows(sources: Sequence[Source]) -> Iterator[Row]:
    """Each source by each of the scripts' two readings."""
    for source in sources:
        for measure, script in RULES.items() if not is_rotated(source) else ():
            estimates = {**dict.fromkeys(TABLE_2, Mean(measure=measure)), "average": AVERAGES[measure]}
            yield Row((*_own(source), script), estimates=estimates, source=source)


RULES_TABLE = Table(
    "paper_rule",
    "Accuracy by format and sign (Table 2), replies read as the authors' scripts read them",
    ("model", "source", "script for"),
    _rule_rows,
    tuple(replace(each, of=None) for each in _FORMAT_COLUMNS),
    (
        "The scripts for open-weight models read the letters A to E only: on 3×3 grids F to J are never right. A row "
        "is to be compared with published rows of its script.",
    ),
    # People's answers no script read.
    replace(PRINTED_FORMATS, labels=("model", "published", "script")),
)
TIERS_TABLE = Table(
    "tiers",
    "Accuracy by tier (Table 3)",
    ("model", "source"),
    _published_rows(
        Row(GUESSING, kind="counts", estimates={**{f"T{tier}": CHANCE for tier in TIERS}, "all": TIER_CHANCE}),
    ),
    (
        *(Column(f"T{tier}", ACCURACY, within={"tier": tier}, bare=True) for tier in TIERS),
        Column("all", TIER_MEAN, bare=True, mark=_tier_mark),
    ),
    ("All is the plain mean of the tiers, as in the paper.",),
    Published(FOLDER, {"source": "Table 3"}),
)
