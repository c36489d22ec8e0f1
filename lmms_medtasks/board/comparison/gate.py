"""Is the candidate worse than its baseline? A verdict for each measure, and the decision.

Two one-sided tests a measure (:mod:`lmms_medtasks.statistics.non_inferiority`), over images. *Worse*: "the drop is at
most the margin" is rejected, corrected over all measures of the gate: a gate without a drop beyond a margin fails in at
most ``alpha`` of cases. *Not worse*: "the drop is at least the margin" is rejected. That needs no correction: a gate
passes only if every measure is not worse, so it passes in at most ``alpha`` of cases in which one has dropped by its
margin or more (an intersection-union test, Berger 1982). Neither: undecided. ``gate_rules.yml`` documents the rules and
has the defaults.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from lmms_medtasks import folders
from lmms_medtasks.board import rules as board_rules
from lmms_medtasks.board.comparison import compared_entries
from lmms_medtasks.board.comparison.compared_entries import ComparedRuns, PairedScores, pair_scores
from lmms_medtasks.board.entries import EntryProblem, LeaderboardEntry
from lmms_medtasks.board.rules import check_names
from lmms_medtasks.errors import UserError
from lmms_medtasks.report.cells import negate_estimate
from lmms_medtasks.statistics import confidence
from lmms_medtasks.statistics.intervals import IntervalEstimate
from lmms_medtasks.statistics.non_inferiority import MarginTest, check_margin, largest_drop, margin_test
from lmms_medtasks.statistics.power import TestCriterion
from lmms_medtasks.statistics.significance import Correction, adjust_p_values
from lmms_medtasks.suites.suite import Measure

Outcome = Literal["worse", "not worse", "can't tell", "missing", "not comparable", "not tested"]
"""not tested: the baseline has no score of this measure (open answers without a judge)."""
Effect = Literal["fail", "undecided", "warn", "ignore"]
EFFECTS: tuple[Effect, ...] = ("fail", "undecided", "warn", "ignore")
"""The gravest first."""
Action = Literal["fail", "warn", "ignore"]
CannotTell = Literal["fail", "warn", "pass"]
"""Effect of an undecided measure: the gate is undecided, passes with a warning, or passes."""
_ACTIONS = ("fail", "warn", "ignore")
_SECTIONS = ("correction", "rules", "old_problems", "problems", "thresholds")
Decision = Literal["failed", "undecided", "passed"]
_CANNOT_TELL: dict[str, Effect] = {"fail": "undecided", "warn": "warn", "pass": "ignore"}
_DAMAGED = ("unreadable", "no_samples", "broken_log", "no_result", "not_adding_up", "bad_pack")
"""Problems that make a baseline useless: it is not what was run."""
_NO_BENCHMARK = ("mini_data", "lexical_judge")
_MOST_TASKS = 3
_NO_TEST = "No test shows “not worse” of a number that is no sum over images (ratio, calibration error)."
_OTHER_ROWS = "No test shows “not worse” where the two have not the same units: one of them has no value in one."


@dataclass(frozen=True)
class GateRule:
    """When a measure of a task fails; ``margin`` is a share of the measure's range."""

    margin: float
    alpha: float
    min_images: int
    on_cannot_tell: CannotTell
    on_missing: Action
    on_unasked: Action
    on_incomparable: Action


@dataclass(frozen=True)
class GateRules:
    """All rules. ``rules``: (task pattern, measure pattern, settings); for each setting the first that fits counts."""

    correction: Correction
    rules: tuple[tuple[str, str, Mapping[str, Any]], ...]
    problems: Mapping[str, Action]
    old_problems: Action
    board: board_rules.BoardRules

    def of(self, task: str, measure: str) -> GateRule:
        """The rule of a measure: each setting from the first rule that fits and has it."""
        found: dict[str, Any] = {}
        for tasks, measures, settings in self.rules:
            if fnmatch.fnmatchcase(task, tasks) and fnmatch.fnmatchcase(measure, measures):
                found = {**settings, **found}
        return GateRule(**found)

    def action(self, code: str, old: bool) -> Action:
        """The action for a problem of the candidate; ``old``: the baseline has it as well."""
        found = self.problems.get(code, self.problems["*"])
        return self.old_problems if old and found == "fail" else found


@dataclass(frozen=True, kw_only=True)
class GateVerdict:
    """The result for a measure of a task.

    Attributes:
        model: the candidate's; the baseline's if the candidate has no such result.
        effect: on the gate. detail: the reason, if the numbers do not show it.
        pairs: both numbers over the same questions; None if they were not joined.
        test: the drop (baseline minus candidate, positive if the candidate is worse) against the margin, in the
            measure's unit; None without a question scored in both, and for the same run. interval: of the drop.
        most: the one-sided upper limit of the drop at the rule's level: the smallest margin that is "not worse".
        adjusted: the corrected p value of "at most the margin"; None if it was not tested.
        detectable: the smallest true drop that would have been called worse with 80 % probability, corrected for the
            measures tested; None if unknown.
    """

    task: str
    measure: str
    model: str
    scale: Measure
    rule: GateRule
    outcome: Outcome = "can't tell"
    effect: Effect = "ignore"
    detail: str = ""
    pairs: PairedScores | None = None
    test: MarginTest | None = None
    interval: IntervalEstimate | None = None
    most: float | None = None
    adjusted: float | None = None
    detectable: float | None = None

    @property
    def baseline(self) -> float | None:
        """The baseline's number."""
        return self.pairs.change.first if self.pairs is not None else None

    @property
    def candidate(self) -> float | None:
        """The candidate's number."""
        return self.pairs.change.second if self.pairs is not None else None

    @property
    def margin(self) -> float:
        """The margin in the measure's own unit."""
        return self.rule.margin * (self.scale.high - self.scale.low)

    @property
    def counted(self) -> bool:
        """Whether there are enough images for its tests."""
        return self.test is not None and self.test.clusters >= self.rule.min_images

    @property
    def never_shown(self) -> str:
        """Why no test can show "not worse" for this number; "" if one can."""
        if self.pairs is None or self.test is None or self.test.not_worse_p is not None:
            return ""
        found = self.pairs.change.contributions
        return _OTHER_ROWS if found is not None and found.other_rows else _NO_TEST


@dataclass(frozen=True)
class GateResult:
    """All verdicts, the problems of the candidate's runs, and the correction of the tests of "worse"."""

    baseline: ComparedRuns
    candidate: ComparedRuns
    verdicts: tuple[GateVerdict, ...]
    problems: tuple[tuple[Action, EntryProblem], ...]
    warnings: tuple[str, ...]
    correction: Correction

    @property
    def remarks(self) -> list[str]:
        """Why a run is not a valid benchmark result (mini data), even if the rules ignore it; outcomes of replies."""
        called = {"baseline": self.baseline, "candidate": self.candidate}
        said = compared_entries.problems_said(called, lambda each: each.code in _NO_BENCHMARK, most=_MOST_TASKS)
        return [*said, *compared_entries.replies_said(called)]

    @property
    def decision(self) -> Decision:
        """failed: something is worse or invalid. undecided: something can't be told. Else passed."""
        found = {*(verdict.effect for verdict in self.verdicts), *(action for action, _ in self.problems)}
        return "failed" if "fail" in found else "undecided" if "undecided" in found else "passed"


def test_outcomes(
    tests: Sequence[MarginTest], alphas: Sequence[float], correction: Correction
) -> list[tuple[Outcome, float]]:
    """For each test the outcome at its level, and the p value of "worse" corrected over all of them."""
    adjusted = adjust_p_values([item.worse_p for item in tests], correction)
    outcomes: list[tuple[Outcome, float]] = []
    for test, worse, alpha in zip(tests, adjusted, alphas, strict=True):
        if worse <= alpha:
            outcomes.append(("worse", worse))
        else:
            shown = test.not_worse_p is not None and test.not_worse_p <= alpha
            outcomes.append(("not worse" if shown else "can't tell", worse))
    return outcomes


def run_gate(baseline: ComparedRuns, candidate: ComparedRuns, rules: GateRules) -> GateResult:
    """Test every measure of the baseline's entries on the candidate's entry for the same task.

    With one model a side these two are compared, whatever their names; with several, those of the same name. Raises
    UserError if the baseline is damaged, or only one side has several entries on a task.
    """
    damaged = [each for each in baseline.board.refused if each.code in _DAMAGED]
    if damaged:
        said = " ".join(each.reason if each.reason.endswith(".") else f"{each.reason}." for each in damaged[:3])
        raise UserError(
            f"The baseline {baseline.path} is damaged, so nothing can be held against it. {said} Run it again, "
            "take the broken files away, or name other tasks with --task."
        )
    for side, other in ((baseline, candidate), (candidate, baseline)):
        if len(compared_entries.entry_tasks(other.board.entries)) == len(other.board.entries):
            # Several against one: either could be meant, and the others would be "missing".
            compared_entries.one_model(side)
    verdicts: list[GateVerdict] = []
    warnings: list[str] = []
    for first in baseline.board.entries:
        second = _find_candidate_entry(first, baseline, candidate)
        # Measures that only the baseline lacks are reported as not tested.
        names = dict.fromkeys((*first.main_metrics, *(second.main_metrics if second else ())))
        if not names:
            warnings.append(f"{first.task}: The baseline has no score, so nothing was compared.")
        verdicts += [_judge_measure(first, second, name, rules.of(first.task, name), warnings) for name in names]
    verdicts = _decide_verdicts(verdicts, rules.correction)
    known_tasks = compared_entries.entry_tasks(baseline.board.entries)
    new = [task for task in compared_entries.entry_tasks(candidate.board.entries) if task not in known_tasks]
    if new:
        warnings.append(f"Not in the baseline, so not compared: {', '.join(new)}.")
    warnings += [
        f"{verdict.task}, {verdict.measure}: a drop whose interval is above zero, and that is less than the margin."
        for verdict in verdicts
        if verdict.outcome == "not worse" and verdict.interval and (verdict.interval.low or 0) > 0
    ]
    warnings += [f"Baseline, {each.task or each.source}: {each.reason}" for each in baseline.board.refused]
    known = {(problem.code, problem.task) for problem in baseline.board.problems}
    actions = (rules.action(each.code, (each.code, each.task) in known) for each in candidate.board.problems)
    problems = zip(actions, candidate.board.problems, strict=True)
    shown = tuple((action, problem) for action, problem in problems if action != "ignore")
    return GateResult(baseline, candidate, tuple(verdicts), shown, tuple(dict.fromkeys(warnings)), rules.correction)


def _find_candidate_entry(
    entry: LeaderboardEntry, baseline: ComparedRuns, candidate: ComparedRuns
) -> LeaderboardEntry | None:
    candidates = [other for other in candidate.board.entries if other.task == entry.task]
    if len(candidates) == 1 and sum(other.task == entry.task for other in baseline.board.entries) == 1:
        return candidates[0]
    for model_key in (lambda other: other.model.key, lambda other: other.model.name):
        same = [other for other in candidates if model_key(other) == model_key(entry)]
        matches = [other for other in same if not any(compared_entries.incomparable_reasons(entry, other))] or same
        if len(matches) > 1:
            raise UserError(f"{candidate.path} has {len(matches)} entries of {entry.model.name} on {entry.task}.")
        if matches:
            return matches[0]
    return None


def _judge_measure(
    first: LeaderboardEntry, second: LeaderboardEntry | None, name: str, rule: GateRule, warnings: list[str]
) -> GateVerdict:
    model = (second or first).model.name
    base = GateVerdict(task=first.task, measure=name, model=model, scale=first.scale(name), rule=rule)
    if second is not None and not _has_scores(first, name):
        said = "The baseline has no score." if _has_scores(second, name) else "Neither side has a score."
        return replace(base, outcome="not tested", effect="warn", detail=said)
    if second is None or name not in second.metrics:
        return replace(base, outcome="missing", effect=rule.on_missing, detail="The candidate has no such result.")
    if reasons := list(compared_entries.incomparable_reasons(first, second)):
        said = f"{'; '.join(reasons).capitalize()}."
        return replace(base, outcome="not comparable", effect=rule.on_incomparable, detail=said)
    if changed := list(compared_entries.explaining_differences(first, second)):
        warnings.append(f"{first.task}: also differs: {'; '.join(changed)}.")
    joined = pair_scores(first, second, name)
    if compared_entries.same_run(first, second):
        # Without a possible drop, margin, limit and p values would suggest a measurement.
        return replace(base, pairs=joined, outcome="not worse", detail="The same run on both sides.")
    return _with_test_numbers(base, joined)


def _has_scores(entry: LeaderboardEntry, name: str) -> bool:
    return name in entry.metrics and entry.interval(name, with_interval=False).estimate is not None


def _with_test_numbers(base: GateVerdict, found: PairedScores) -> GateVerdict:
    """The numbers; the outcome is decided later."""
    unasked = f"{found.only_first:,} questions of the baseline are missing." if found.only_first else ""
    change, more = found.change, base.scale.higher_is_better
    if found.lacking:
        return replace(base, pairs=found, detail=f"{found.lacking} {unasked}".rstrip())
    counts = change.contributions.sizes if change.contributions else np.zeros(0)
    width = base.scale.high - base.scale.low
    sums = -change.sums if more else change.sums
    return replace(
        base,
        pairs=found,
        # Of smooth numbers no test of "not worse" is known to hold: a t limit errs in up to a third of small sets.
        test=margin_test(sums, counts, base.margin, width if found.linear else None),
        interval=negate_estimate(change.interval) if more else change.interval,
        most=largest_drop(sums, counts, width, alpha=base.rule.alpha) if found.linear else None,
        effect=base.rule.on_unasked if unasked else "ignore",
        detail=unasked,
    )


def _decide_verdicts(verdicts: Sequence[GateVerdict], correction: Correction) -> list[GateVerdict]:
    """The verdicts with their outcomes, each test corrected for the others."""
    tested = [verdict for verdict in verdicts if verdict.counted and verdict.outcome == "can't tell"]
    tests, alphas = [each.test for each in tested if each.test], [each.rule.alpha for each in tested]
    decided = test_outcomes(tests, alphas, correction)
    comparisons = max(1, len(tested)) if correction == "holm" else 1
    by_test = {id(each): outcome for each, outcome in zip(tested, decided, strict=True)}
    decided_verdicts = []
    for verdict in verdicts:
        outcome, adjusted = by_test.get(id(verdict), (verdict.outcome, None))
        effects: list[Effect] = [verdict.effect]
        reason = ""
        if outcome == "worse":
            effects.append("fail")
        elif outcome == "can't tell":
            reason = _undecided_reason(verdict)
            # A gate must not stay undecided because of a number without a test.
            never = verdict.counted and verdict.never_shown == _NO_TEST
            effects.append("warn" if never else _CANNOT_TELL[verdict.rule.on_cannot_tell])
        effect = min(effects, key=EFFECTS.index)
        detail = " ".join(text for text in (reason, verdict.detail) if text)
        decided_verdicts.append(replace(verdict, outcome=outcome, effect=effect, adjusted=adjusted, detail=detail,
                             detectable=_detectable_drop(verdict, comparisons)))  # fmt: skip
    return decided_verdicts


def _detectable_drop(verdict: GateVerdict, comparisons: int) -> float | None:
    if verdict.test is None or verdict.pairs is None:
        return None
    criterion = TestCriterion(alpha=verdict.rule.alpha, sides=1, comparisons=comparisons)
    difference = verdict.pairs.detectable(criterion, verdict.scale.high - verdict.scale.low - verdict.margin).difference
    return None if difference is None else verdict.margin + difference


def _undecided_reason(verdict: GateVerdict) -> str:
    """Explanation for an undecided result, if the numbers do not give it: few images, or no test of "not worse"."""
    if verdict.test is None or verdict.counted:
        return verdict.never_shown
    images = "1 image" if verdict.test.clusters == 1 else f"{verdict.test.clusters:,} images"
    return f"{images} with a score in both, {verdict.rule.min_images:,} required."


def read_rules(
    path: Path | None = None, *, margin: float | None = None, on_cannot_tell: CannotTell | None = None
) -> GateRules:
    """The built-in rules, preceded by those of ``path``. Raises UserError for unknown or invalid settings.

    ``margin``, ``on_cannot_tell``: of the command line, for measures that ``path`` does not set.
    """
    built_in = folders.read_yaml(Path(__file__).with_name("gate_rules.yml"))
    own = _read_own_rules(path) if path else {}
    where = str(path)
    given: dict[str, Any] = {} if margin is None else {"margin": check_margin(margin, "--margin")}
    given |= {} if on_cannot_tell is None else {"on_cannot_tell": on_cannot_tell}
    least = {"alpha": confidence.current_alpha()}
    thresholds = {"thresholds": own.get("thresholds", {})}
    return GateRules(
        correction=own.get("correction", built_in["correction"]),
        rules=tuple(_parse_rule(each, where) for each in [*own.get("rules", []), given, *built_in["rules"], least]),
        problems={**built_in["problems"], **_parse_problem_actions(own.get("problems", {}), where)},
        old_problems=own.get("old_problems", built_in["old_problems"]),
        board=board_rules.with_own(thresholds, where),
    )


def _read_own_rules(path: Path) -> dict[str, Any]:
    own = board_rules.read_rules_file(path, {"rules": list, "problems": dict, "thresholds": dict}, allow_empty=True)
    check_names("section", own, _SECTIONS, str(path))
    check_names("correction", [own.get("correction", "holm")], ("holm", "none"), str(path))
    check_names("action", [own.get("old_problems", "warn")], _ACTIONS, f"old_problems in {path}")
    return own


def _parse_rule(each: Any, where: str) -> tuple[str, str, dict[str, Any]]:
    if not isinstance(each, dict):
        raise UserError(f"{where}: a rule is {each!r}, expected a mapping such as {{tasks: 'my_task*', margin: 0.02}}.")
    settings = {name: value for name, value in each.items() if name not in ("tasks", "measures")}
    known = [*(field.name for field in fields(GateRule)), "tasks", "measures"]
    check_names("setting", settings, known, f"a rule in {where}")
    for name, value in settings.items():
        if name == "margin":
            check_margin(value, where)
        elif name.startswith("on_"):
            allowed = tuple(_CANNOT_TELL) if name == "on_cannot_tell" else _ACTIONS
            check_names("action", [value], allowed, f"{name} in {where}")
        elif not _is_number(name, value):
            raise UserError(f"{where}: {name} is {value!r}; expected 0 < alpha < 1, a whole number min_images >= 1.")
    return str(each.get("tasks", "*")), str(each.get("measures", "*")), settings


def _is_number(name: str, value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return 0 < value < 1 if name == "alpha" else isinstance(value, int) and value >= 1


def _parse_problem_actions(own: Mapping[str, Any], where: str) -> dict[str, Action]:
    check_names("problem", own, ("*", *board_rules.read_board_rules().levels), where)
    for code, action in own.items():
        check_names("action", [action], _ACTIONS, f"{code} in {where}")
    return dict(own)
