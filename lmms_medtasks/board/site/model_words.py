"""A model's page in words: what the model is, its strongest and weakest groups."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from lmms_medtasks.board.entries import Entry
from lmms_medtasks.board.model_facts import ModelFacts
from lmms_medtasks.board.site.board_tables import harness
from lmms_medtasks.board.site.number_marks import BY_WORDS
from lmms_medtasks.board.site.strengths import Group
from lmms_medtasks.board.site.suite_words import About
from lmms_medtasks.board.word_verdicts import is_by_words
from lmms_medtasks.report.judged_tables import LEXICAL, is_lexical
from lmms_medtasks.short_texts import interval_text
from lmms_medtasks.statistics.intervals import Interval
from lmms_medtasks.suites.suite import Measure


@dataclass(frozen=True)
class AboutModel:
    """What a model is, as short texts; ``warnings``: those that limit its numbers; ``unsaid``: what nobody says."""

    texts: tuple[str, ...]
    warnings: tuple[str, ...]
    unsaid: tuple[str, ...]


def about_model(own: Sequence[Entry], facts: ModelFacts) -> AboutModel:
    """What the board's facts say of a model, and what its entries do."""
    model = own[0].model
    size = None if facts.parameters_b is None else f"{facts.parameters_b:g} billion parameters"
    weights = None if facts.open_weights is None else "open weights" if facts.open_weights else "closed weights"
    known: list[tuple[str, str | None]] = [
        ("family", _with("family", facts.family)),
        ("parameters", size),
        ("licence", _with("licence", facts.licence)),
        ("weights", weights),
        ("release date", _with("released", facts.released)),
    ]
    versions = sorted({version for entry in own if (version := harness(entry))})
    judges = sorted({entry.judge.name for entry in own if entry.judge and not is_lexical(entry.judge.name)} - {"none"})
    by_words = any(is_by_words(entry, name) for entry in own for name in entry.main_metrics)
    unjudged = any(entry.judge and entry.judge.name == "none" for entry in own)
    signed = sorted({entry.source.signed_off_by for entry in own} - {""})
    levels = list(dict.fromkeys(entry.level for entry in own if entry.level))
    runner = f"runner {model.harness_model}" + (f", lmms-eval {' and '.join(versions)}" if versions else "")
    known += [
        ("runner", runner),
        ("judge", f"judged by {', '.join(judges)}" if judges else None if unjudged or by_words else "no judge needed"),
        ("submitter", f"submitted by {', '.join(signed)}" if signed else None),
        ("verified", f"verified: {', '.join(levels)}" if levels else None),
    ]
    other = sorted({entry.data for entry in own} - {"full"})
    apart = sum(not entry.ranked for entry in own)
    warnings = [f"{each} data" for each in other]
    warnings += [f"{apart} of {len(own)} tasks not ranked"] if apart else []
    warnings += ["open answers not judged"] if unjudged else []
    warnings += [f"{LEXICAL} {BY_WORDS}"] if by_words else []
    return AboutModel(
        tuple(text for _, text in known if text),
        tuple(warnings),
        tuple(name for name, text in known if not text and not (name == "judge" and (unjudged or by_words))),
    )


def _with(name: str, text: str | None) -> str | None:
    return None if text is None else f"{name} {text}"


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
    digits, factor = shown.digits, shown.factor
    number = f"{factor * group.mean:.{digits}f} {shown.unit}".rstrip()
    if interval.low is not None and interval.high is not None and interval.n == group.questions:
        number += interval_text(factor * interval.low, factor * interval.high, digits)
    apart = abs(factor * (group.mean - group.reference))
    unit = "points" if shown.unit == "%" else shown.unit
    way = "more" if group.mean > group.reference else "less"
    than = f"the median of the other {group.others} models" if group.others else "on its other questions"
    return GroupSentence(
        number,
        f"{group.tag.replace('_', ' ')}: {about.value_of(group.tag, group.value)} "
        f"({about.title}, {group.questions} questions)",
        address(group),
        " ".join(filter(None, (f"{apart:.{digits}f}", unit, way, "than", than))),
        group.told_apart,
    )
