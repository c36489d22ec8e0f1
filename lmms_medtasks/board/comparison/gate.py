"""Has the candidate got worse than its baseline: the decision, a verdict a measure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from lmms_medtasks.board.comparison import compared_entries
from lmms_medtasks.board.comparison.compared_entries import Side
from lmms_medtasks.board.comparison.gate_rules import Action, GateRules, Rule
from lmms_medtasks.board.comparison.paired import DIFFERENCE, Pairs, drop_p, pairs
from lmms_medtasks.board.entries import Entry, Problem
from lmms_medtasks.errors import UserError
from lmms_medtasks.report.cells import negated
from lmms_medtasks.statistics.bootstrap import RESAMPLES
from lmms_medtasks.statistics.intervals import Interval
from lmms_medtasks.statistics.significance import Correction, adjust
from lmms_medtasks.suites.suite import Measure

Outcome = Literal["regressed", "held", "improved", "too few questions", "missing", "not comparable"]


@dataclass(frozen=True)
class Verdict:
    """What came of a measure of a task.

    ``drop``: baseline less candidate over the same questions, positive where the candidate is worse, whatever the
    measure's direction; ``interval`` its 95 % interval over images. ``p``: one-sided, ``adjusted`` corrected.
    ``action``: what it does to the gate; ``detail``: why, where it is not a matter of the numbers.
    """

    task: str
    measure: str
    model: str
    """The candidate's; the baseline's where the candidate has no such result."""
    scale: Measure | None
    rule: Rule
    outcome: Outcome
    action: Action
    baseline: float | None = None
    candidate: float | None = None
    n: int = 0
    drop: float | None = None
    interval: Interval | None = None
    p: float | None = None
    adjusted: float | None = None
    detail: str = ""

    def oriented(self, drop: float) -> float:
        """A drop as a change of the measure, candidate less baseline."""
        return drop if self.scale is not None and not self.scale.higher_is_better else 0.0 - drop

    @property
    def candidate_less(self) -> float | None:
        """Candidate less baseline."""
        return None if self.drop is None else self.oriented(self.drop)


@dataclass(frozen=True)
class Gate:
    """The decision: it fails if any verdict or problem does."""

    baseline: Side
    candidate: Side
    verdicts: tuple[Verdict, ...]
    problems: tuple[tuple[Action, Problem], ...]
    warnings: tuple[str, ...]
    correction: Correction

    @property
    def failed(self) -> bool:
        """Whether the gate is shut."""
        actions = [each.action for each in self.verdicts] + [action for action, _ in self.problems]
        return "fail" in actions


def decide(drops: Sequence[tuple[float | None, float | None]], rules: Sequence[Rule], correction: Correction) -> list[
    tuple[bool, float | None]
]:  # fmt: skip
    """For each (drop, one-sided p): whether it is a regression by its rule, and the corrected p.

    A regression is significantly above zero after the correction over all of them, and larger as estimated than the
    rule's ``max_drop``, against which nothing is tested.
    """
    tested = [row for row, (_, p) in enumerate(drops) if p is not None]
    adjusted = dict(zip(tested, adjust([drops[row][1] or 0.0 for row in tested], correction), strict=True))
    found = []
    for row, ((drop, _), rule) in enumerate(zip(drops, rules, strict=True)):
        p = adjusted.get(row)
        found.append((p is not None and drop is not None and p < rule.alpha and drop > rule.max_drop, p))
    return found


def gate(baseline: Side, candidate: Side, rules: GateRules, *, resamples: int = RESAMPLES) -> Gate:
    """Compare every entry of the baseline with the candidate's on the same task.

    Where each side has one model it is the candidate's against the baseline's, whatever they are called; where there
    are several, those of the same name. Raises UserError when there is nothing at all to compare.
    """
    verdicts: list[Verdict] = []
    warnings: list[str] = []
    for first in baseline.board.entries:
        second = _match(first, baseline, candidate)
        for name in first.main_metrics:
            rule = rules.of(first.task, name)
            verdicts.append(_verdict(first, second, name, rule, resamples, warnings))
    verdicts = _decided(verdicts, rules.correction)
    new = [
        task
        for task in compared_entries.tasks_of(candidate.board.entries)
        if task not in compared_entries.tasks_of(baseline.board.entries)
    ]
    if new:
        warnings.append(f"Not in the baseline, so not compared: {', '.join(new)}.")
    warnings += _excused(verdicts)
    known = {(each.code, each.task) for each in baseline.board.problems}
    problems = tuple(
        (rules.action(each.code, (each.code, each.task) in known), each) for each in candidate.board.problems
    )
    warnings += [f"Baseline, {each.task or each.source}: {each.reason}" for each in baseline.board.refused]
    shown = tuple((action, each) for action, each in problems if action != "ignore")
    return Gate(baseline, candidate, tuple(verdicts), shown, tuple(dict.fromkeys(warnings)), rules.correction)


def _match(entry: Entry, baseline: Side, candidate: Side) -> Entry | None:
    found = [each for each in candidate.board.entries if each.task == entry.task]
    own = [each for each in baseline.board.entries if each.task == entry.task]
    if len(own) == 1 and len(found) == 1:
        return found[0]
    for key in (lambda each: each.model.key, lambda each: each.model.name):
        same = [each for each in found if key(each) == key(entry)]
        same = [each for each in same if not any(compared_entries.differing(entry, each))] or same
        if same:
            if len(same) > 1:
                raise UserError(f"{candidate.path} has {len(same)} entries of {entry.model.name} on {entry.task}.")
            return same[0]
    return None


def _verdict(first: Entry, second: Entry | None, name: str, rule: Rule, resamples: int, warnings: list[str]) -> Verdict:
    base = Verdict(first.task, name, (second or first).model.name, first.scale(name), rule, "held", "ignore")
    if second is None or name not in second.metrics:
        return replace(base, outcome="missing", action=rule.on_missing, detail="The candidate has no such result.")
    reasons = list(compared_entries.differing(first, second))
    if reasons:
        said = f"{'; '.join(reasons).capitalize()}."
        return replace(base, outcome="not comparable", action=rule.on_incomparable, detail=said)
    changed = list(compared_entries.changed(first, second))
    if changed:
        warnings.append(f"{first.task}: also differs: {'; '.join(changed)}.")
    return _measured(base, pairs(first, second, name), rule, resamples)


def _measured(base: Verdict, found: Pairs, rule: Rule, resamples: int) -> Verdict:
    more = base.scale is None or base.scale.higher_is_better
    if not len(found):
        return replace(base, outcome="too few questions", action=rule.on_few, detail="No question has a score in both.")
    estimated = replace(DIFFERENCE, bounds=base.scale.range if base.scale else None).of(found.table(), resamples > 0)
    change = estimated["change"]
    loss = negated(change) if more else change
    unasked = f"{found.only_first:,} questions of the baseline are missing." if found.only_first else ""
    verdict = replace(
        base,
        baseline=estimated["first"].estimate,
        candidate=estimated["second"].estimate,
        n=len(found),
        drop=loss.estimate if loss else None,
        interval=loss,
        p=drop_p(found, higher_is_better=more),
        action=rule.on_unasked if unasked else "ignore",
        detail=unasked,
    )
    if len(found) < rule.min_questions:
        said = f"{len(found):,} questions with a score in both, {rule.min_questions:,} wanted. {unasked}".rstrip()
        return replace(verdict, outcome="too few questions", action=rule.on_few, p=None, detail=said)
    return verdict


def _decided(verdicts: Sequence[Verdict], correction: Correction) -> list[Verdict]:
    decisions = decide([(each.drop, each.p) for each in verdicts], [each.rule for each in verdicts], correction)
    found = []
    for each, (regressed, adjusted) in zip(verdicts, decisions, strict=True):
        if each.outcome != "held":
            found.append(each)
        elif regressed:
            found.append(replace(each, outcome="regressed", action="fail", adjusted=adjusted))
        else:
            up = each.interval is not None and each.interval.high is not None and each.interval.high < 0
            found.append(replace(each, outcome="improved" if up else "held", adjusted=adjusted))
    return found


def _excused(verdicts: Sequence[Verdict]) -> list[str]:
    """Significant drops that a rule allows: not silent."""
    return [
        f"{each.task}, {each.measure}: a significant drop, within the {each.rule.max_drop:g} that the rules allow."
        for each in verdicts
        if each.outcome == "held" and each.adjusted is not None and each.adjusted < each.rule.alpha
    ]
