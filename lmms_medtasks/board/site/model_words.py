"""A model's page in words: what the model is, its strongest and weakest groups."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from lmms_medtasks.board.entries import Entry
from lmms_medtasks.board.model_facts import ModelFacts
from lmms_medtasks.board.site.board_tables import harness
from lmms_medtasks.board.site.number_marks import BY_WORDS
from lmms_medtasks.board.site.strengths import Group
from lmms_medtasks.board.site.suite_words import About
from lmms_medtasks.board.word_verdicts import is_by_words
from lmms_medtasks.report.cells import scaled
from lmms_medtasks.report.findings import Number
from lmms_medtasks.report.judged_tables import LEXICAL, is_lexical
from lmms_medtasks.statistics.intervals import Interval
from lmms_medtasks.suites.suite import Measure


def about_model(own: Sequence[Entry], facts: ModelFacts) -> tuple[list[str], list[str]]:
    """What the board's facts say of a model and what its entries do, short texts; and those that limit its numbers."""
    versions = sorted({version for entry in own if (version := harness(entry))})
    judges = sorted({entry.judge.name for entry in own if entry.judge and not is_lexical(entry.judge.name)} - {"none"})
    by_words = any(is_by_words(entry, name) for entry in own for name in entry.main_metrics)
    unjudged = any(entry.judge and entry.judge.name == "none" for entry in own)
    signed = sorted({entry.source.signed_off_by for entry in own} - {""})
    levels = list(dict.fromkeys(entry.level for entry in own if entry.level))
    texts = [
        facts.family and f"family {facts.family}",
        facts.parameters_b and f"{facts.parameters_b:g} billion parameters",
        facts.licence and f"licence {facts.licence}",
        {True: "open weights", False: "closed weights", None: ""}[facts.open_weights],
        facts.released and f"released {facts.released}",
        f"runner {own[0].model.harness_model}" + (f", lmms-eval {' and '.join(versions)}" if versions else ""),
        f"judged by {', '.join(judges)}" if judges else "" if unjudged or by_words else "no judge needed",
        signed and f"submitted by {', '.join(signed)}",
        levels and f"verified: {', '.join(levels)}",
    ]
    apart = sum(not entry.ranked for entry in own)
    warnings = [f"{each} data" for each in sorted({entry.data for entry in own} - {"full"})]
    warnings += [f"{apart} of {len(own)} tasks not ranked"] if apart else []
    warnings += ["open answers not judged"] if unjudged else []
    warnings += [f"{LEXICAL} {BY_WORDS}"] if by_words else []
    return [str(text) for text in texts if text], warnings


@dataclass(frozen=True)
class GroupSentence:
    """A group in words: the number, whose questions with their address, and how it differs."""

    number: str
    where: str
    href: str
    difference: str
    told_apart: bool


def group_sentence(
    group: Group, interval: Interval, shown: Measure, about: About, address: Callable[[Group], str]
) -> GroupSentence:
    """``36.5 % [20.1, 55.9]`` on ``degradation dark spots artifact (MedQ-Deg, 42 questions)``, how far from what."""
    whole = interval if interval.n == group.questions else Interval(group.mean, None, None, group.questions, 0)
    number = Number(
        "", cell=scaled(replace(whole, estimate=group.mean), shown.factor), unit=shown.unit, decimals=shown.digits
    )
    than = f"the median of the other {group.others} models" if group.others else "on its other questions"
    apart = f"{abs(shown.factor * (group.mean - group.reference)):.{shown.digits}f}"
    unit = "points" if shown.unit == "%" else shown.unit
    way = "more" if group.mean > group.reference else "less"
    return GroupSentence(
        number.shown,
        f"{group.tag.replace('_', ' ')}: {about.value_of(group.tag, group.value)} "
        f"({about.title}, {group.questions} questions)",
        address(group),
        " ".join(filter(None, (apart, unit, way, "than", than))),
        group.told_apart,
    )
