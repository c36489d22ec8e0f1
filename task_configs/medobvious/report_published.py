"""MedObvious beside the published models: the tables of the paper, and what the scripts of its authors read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import yaml

from lmms_medtasks import folders
from lmms_medtasks.report.about import own
from lmms_medtasks.report.document import Cell
from lmms_medtasks.report.suite_report import PublishedScores, extent
from lmms_medtasks.report.views import Column, Published, Row, Source, Table, rows_of_sources
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

REFERENCE = Path(__file__).parent / "reference"
GROUPS = {
    "open": "general open-source",
    "medical": "medical open-source",
    "proprietary": "proprietary",
    "human": "human",
}
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


_PRINTED = "Rows marked published: MedObvious, arXiv 2603.23501v1, {table}, as printed; these models were not run here."


def _discrepancies() -> str:
    listed = yaml.safe_load((REFERENCE / "discrepancies.yml").read_text("utf-8"))["discrepancies"]
    said = [
        f"{each['row']}, all: {each['printed']:.1f} printed, {each['recomputed']:.1f} by its tiers; {each['comment']}"
        for each in listed
        if each["column"] == "all"
    ]
    return f"Printed otherwise: {'. '.join(said)}."


def _label(row: Mapping[str, str]) -> tuple[str, ...]:
    return row["model"], f"published, {GROUPS[row['group']]}"


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


def _tier_mark(source: Source) -> str:
    return "" if len(set(source.rows.column("tier"))) == len(TIERS) else "∂"


GUESSING = ("uniform guessing", "arithmetic")
CHANCE_ROW = Row(GUESSING, kind="counts", estimates={**dict.fromkeys(TABLE_2, CHANCE), "Avg": CHANCE_AVERAGE})
RULES = {PAPER_RULE: "open weights", PAPER_RULE_HOSTED: "hosted"}
AVERAGES = {measure: Macro(measure=measure, groups=tuple(TABLE_2.values())) for measure in RULES}
SCRIPTS = {"open": "open weights", "medical": "open weights", "proprietary": "hosted"}
"""By a published row's group whose script read its replies; people's answers no script."""

PRINTED_FORMATS = Published(
    REFERENCE / "table2.csv",
    {**{name: name for name in TABLE_2}, "average": "Avg"},
    _label,
    (_PRINTED.format(table="Table 2"), "The human expert answered another mix of questions than the models."),
)
_FORMAT_COLUMNS = (
    *(Column(HEADS[name], ACCURACY, within=where, key=name, bare=True) for name, where in TABLE_2.items()),
    Column("Avg", PAPER_AVERAGE, bare=True),
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
            estimates = {**dict.fromkeys(TABLE_2, Mean(measure=measure)), "Avg": AVERAGES[measure]}
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
    replace(PRINTED_FORMATS, label=lambda row: (*_label(row), SCRIPTS.get(row["group"], ""))),
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
    Published(
        REFERENCE / "table3.csv",
        {**{f"T{tier}": f"T{tier}" for tier in TIERS}, "all": "all"},
        _label,
        (_PRINTED.format(table="Table 3 as the project page has it"), _discrepancies()),
    ),
)


def published_scores(task: str) -> Iterator[PublishedScores]:
    """Table 2's positives and negatives, for the task of all tiers and formats; accuracy over its formats."""
    for row in PRINTED_FORMATS.rows() if task == "medobvious" else ():
        cells = {f"accuracy_{sign}": Cell(PRINTED_FORMATS.value(row, sign)) for sign in SIGNS}
        cells["accuracy"] = Cell(printed_accuracy(row))
        source = "published, Table 2; accuracy over its formats"
        kind = "human" if row["group"] == "human" else "model"
        yield PublishedScores("MedObvious, arXiv 2603.23501v1,", row["model"], source, cells, kind)  # type: ignore[arg-type]


def printed_accuracy(row: Mapping[str, str]) -> float:
    """The accuracy over all questions of a row of Table 2, in percent: its formats, each by its number of questions."""
    questions: dict[str, int] = folders.read_yaml(Path(__file__).with_name("source.yml"))["format"]
    return sum(count * float(row[name]) for name, count in questions.items()) / sum(questions.values())
