"""A base model and the one that was made from it by medical fine-tuning: did it lose, and is that more than chance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from lmms_medtasks.errors import UserError, unknown
from lmms_medtasks.report.judged import TOTAL
from lmms_medtasks.report.med_cmr import dimensions
from lmms_medtasks.report.med_cmr.analysis import Analysis, compared, values
from lmms_medtasks.report.med_cmr.facts import judge_of
from lmms_medtasks.report.med_cmr.reading import Record
from lmms_medtasks.statistics.grouped import Change
from lmms_medtasks.statistics.paired_tests import PairedTest, paired_tests

Form = Literal["mcq", "open"]
FORMS: tuple[Form, ...] = ("mcq", "open")


@dataclass(frozen=True)
class Tuned:
    """One pair in one form of questions, on the questions that both were asked.

    ``changes``: by dimension, and "" for all questions, tuned less base. ``questions``: the tests over its questions.
    """

    base: str
    tuned: str
    form: Form
    changes: Mapping[str, Change]
    questions: PairedTest


@dataclass(frozen=True)
class Pairs:
    """All pairs, and by form the tests over their dimensions: each pair's change in each dimension is one value."""

    tuned: tuple[Tuned, ...]
    dimensions: Mapping[Form, PairedTest]
    lacking: tuple[str, ...]


def pairs(asked: Sequence[tuple[str, str]], analyses: Mapping[str, Analysis], *, resamples: int) -> Pairs:
    """Compare each base with its tuned model, ``asked`` by the names under which ``analyses`` stand.

    ``lacking`` names what a pair can't be compared in. Raises UserError when a name is not among the models, or both
    of a pair are the same.
    """
    found: list[Tuned] = []
    lacking: list[str] = []
    for base, tuned in asked:
        for name in (base, tuned):
            if name not in analyses:
                raise UserError(str(unknown("model", name, list(analyses), "--pair BASE=TUNED")))
        if base == tuned:
            raise UserError(f"--pair {base}={tuned}: the two are the same model.")
        for form in FORMS:
            first, second = (analyses[name].source.of(form) for name in (base, tuned))
            if first is None or second is None:
                lacking.append(f"{base} and {tuned}: not both were asked the {form} questions.")
                continue
            if form == "open" and judge_of(analyses[base]) != judge_of(analyses[tuned]):
                lacking.append(f"{base} and {tuned}: their open answers were judged by different judges.")
                continue
            change = compared(first.records, second.records, resamples=resamples)
            differences = _differences(first.records, second.records)
            found.append(Tuned(base, tuned, form, change, paired_tests(differences)))
    over = {}
    for form in FORMS:
        steps = [_step(each.changes.get(name)) for each in found if each.form == form for name in dimensions.names()]
        if any(each.form == form for each in found):
            over[form] = paired_tests([step for step in steps if step is not None])
    return Pairs(tuple(found), over, tuple(lacking))


def _step(change: Change | None) -> float | None:
    return change.change.estimate if change else None


def _differences(before: Sequence[Record], after: Sequence[Record]) -> list[float]:
    first = dict(zip((record["id"] for record in before), values(before, TOTAL), strict=True))
    second = dict(zip((record["id"] for record in after), values(after, TOTAL), strict=True))
    found = (second[name] - first[name] for name in first if name in second)
    return [float(each) for each in found if each == each]  # not those where one has no value
