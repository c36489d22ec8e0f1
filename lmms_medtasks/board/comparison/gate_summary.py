"""A gate's decision in Markdown, for a pull request."""

from __future__ import annotations

from collections.abc import Iterator

from lmms_medtasks.board.comparison.gate import Gate, Verdict
from lmms_medtasks.board.entries import drawn_clusters
from lmms_medtasks.report.document import EMPTY
from lmms_medtasks.report.markdown import escaped
from lmms_medtasks.samples.runs import printable

_ORDER = {"fail": 0, "warn": 1, "ignore": 2}
_WORD = {"fail": "**FAIL**", "warn": "warning", "ignore": "pass"}
_HEAD = ("", "task", "measure", "model", "questions", "baseline", "candidate", "change [95 %]", "p", "allowed drop", "")


def markdown(gate: Gate) -> str:
    """The summary: the decision first, then what failed, then the rest."""
    return "\n".join(_lines(gate)) + "\n"


def _lines(gate: Gate) -> Iterator[str]:
    failing = sum(each.action == "fail" for each in gate.verdicts) + sum(
        action == "fail" for action, _ in gate.problems
    )
    reasons = "1 reason" if failing == 1 else f"{failing} reasons"
    yield f"## Gate: {f'failed ({reasons})' if gate.failed else 'passed'}"
    yield ""
    yield f"Candidate {_text(gate.candidate.name)} against baseline {_text(gate.baseline.name)}."
    if gate.verdicts:
        yield from ("", f"| {' | '.join(_HEAD)} |", f"|{'---|' * 4}{'---:|' * 6}---|")
        for each in sorted(gate.verdicts, key=lambda each: _ORDER[each.action]):
            yield _row(each)
    for title, action in (("Problems of the candidate", "fail"), ("Warnings", "warn")):
        found = {f"- {_text(problem.task or problem.source)}: {_text(problem.reason)}": None
                 for own, problem in gate.problems if own == action}  # fmt: skip
        found |= {f"- {_text(text)}": None for text in gate.warnings if action == "warn"}
        if found:
            yield from ("", f"### {title}", "", *found)
    yield ""
    yield _NOTE.format(
        clusters=drawn_clusters(gate.baseline.board.entries),
        correction="corrected over all rows (Holm)" if gate.correction == "holm" else "not corrected",
    )


_NOTE = (
    "Change: candidate less baseline over the same questions, with a 95 % interval over {clusters}. "
    "p: one-sided permutation test over images of no drop, {correction}. A measure fails when its drop is "
    "significantly above zero and, as estimated, larger than its rule allows."
)


def _row(each: Verdict) -> str:
    interval = each.interval
    change = EMPTY
    if each.drop is not None and each.scale is not None:
        change = _number(each, each.candidate_less, signed=True)
        if interval is not None and interval.low is not None and interval.high is not None:
            ends = sorted([each.oriented(interval.low), each.oriented(interval.high)])
            change += f" [{', '.join(_number(each, end, signed=True) for end in ends)}]"
    p = EMPTY if each.adjusted is None else "<0.0001" if each.adjusted < 1e-4 else f"{each.adjusted:.4f}"
    said = f"{each.outcome}. {each.detail}" if each.detail else each.outcome
    cells = (
        _WORD[each.action], _text(each.task), _text(each.measure), _text(each.model), f"{each.n:,}",
        _number(each, each.baseline), _number(each, each.candidate), change, p, _number(each, each.rule.max_drop),
        _text(said),
    )  # fmt: skip
    return f"| {' | '.join(cells)} |"


def _number(each: Verdict, value: float | None, *, signed: bool = False) -> str:
    if value is None or each.scale is None:
        return EMPTY
    shown = each.scale.factor * value
    text = f"{shown:{'+' if signed else ''},.{each.scale.digits}f}"
    text = text.lstrip("+-") if not text.strip("+-0.,") else text
    return text + (" %" if each.scale.unit == "%" and not signed else "")


def _text(text: str) -> str:
    return escaped(printable(text))
