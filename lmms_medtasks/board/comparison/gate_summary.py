"""A gate's decision in Markdown, for a pull request."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lmms_medtasks.board.boards import drawn_clusters
from lmms_medtasks.board.comparison.gate import EFFECTS, Gate, Verdict
from lmms_medtasks.board.word_verdicts import LEGEND, word_signs
from lmms_medtasks.report.document import EMPTY
from lmms_medtasks.report.markdown import escaped
from lmms_medtasks.samples.runs import printable
from lmms_medtasks.statistics import confidence
from lmms_medtasks.statistics.p_values import p_text

_WORD = {"fail": "**FAIL**", "undecided": "**can't tell**", "warn": "warning", "ignore": "pass"}
_HEAD = (
    "", "task", "measure", "model", "images", "questions", "baseline", "candidate", "change [{level}]",
    "drop, upper limit", "margin", "detectable drop", "p (worse)", "p (worse), corrected", "p (not worse)", "",
)  # fmt: skip


def markdown(gate: Gate) -> str:
    """The summary: the decision first, then what failed, then the rest."""
    return "\n".join(_lines(gate)) + "\n"


def _lines(gate: Gate) -> Iterator[str]:
    yield f"## Gate: {decision(gate)}"
    yield ""
    yield f"Candidate {_text(gate.candidate.shown)} against baseline {_text(gate.baseline.shown)}."
    if gate.remarks:
        yield from ("", *(f"- {_text(text)}" for text in gate.remarks))
    if gate.verdicts:
        yield from (
            "",
            f"| {' | '.join(_HEAD).format(level=confidence.percent())} |",
            f"|{'---|' * 4}{'---:|' * 11}---|",
        )
        for each in sorted(gate.verdicts, key=lambda each: EFFECTS.index(each.effect)):
            yield _row(each)
    if any(any(each.by_words) for each in gate.verdicts):
        yield from ("", LEGEND)
    if said := margins(gate.verdicts):
        yield from ("", said)
    for title, action in (("Problems of the candidate", "fail"), ("Warnings", "warn")):
        found = {f"- {_text(problem.task or problem.source)}: {_text(problem.reason)}": None
                 for own, problem in gate.problems if own == action}  # fmt: skip
        found |= {f"- {_text(text)}": None for text in gate.warnings if action == "warn"}
        if found:
            yield from ("", f"### {title}", "", *found)
    yield ""
    yield _NOTE.format(
        level=confidence.percent(),
        clusters=drawn_clusters(gate.baseline.board.entries),
        correction="corrected over all rows that were tested (Holm)" if gate.correction == "holm" else "not corrected",
        alphas=" or ".join(dict.fromkeys(f"{each.rule.alpha:g}" for each in gate.verdicts)) or "alpha",
    )


def decision(gate: Gate) -> str:
    """The decision in a few words: ``failed (2 reasons)``."""
    failing = sum(each.effect == "fail" for each in gate.verdicts) + sum(
        action == "fail" for action, _ in gate.problems
    )
    untold = sum(each.outcome == "can't tell" for each in gate.verdicts)
    measures = "1 measure" if untold == 1 else f"{untold} measures"
    if gate.decision == "failed":
        return f"failed ({'1 reason' if failing == 1 else f'{failing} reasons'})"
    if gate.decision == "undecided":
        return f"can't tell ({measures})"
    if all(each.outcome == "not tested" for each in gate.verdicts):
        return "passed (nothing was compared)"
    return f"passed (can't tell of {measures})" if untold else "passed"


def margins(verdicts: Sequence[Verdict]) -> str:
    """What the margin of a change is, where one of them is a change; else ""."""
    return _WIDE if any(each.scale.low < 0 and each.test is not None for each in verdicts) else ""


_WIDE = "A margin is a share of the scale's width: that of a change, from -1 to 1, is twice as wide as that of a share."
_NOTE = (
    "Change: candidate less baseline over the same questions, with a {level} interval over {clusters}. Drop, upper "
    "limit: one-sided, at the level of the tests; it is that of the second test, which assumes less than the interval "
    "does, and may lie beyond the interval's end. Both tests take images as independent, not questions. p (worse): of "
    "the hypothesis that the drop is at most the margin, by flipping the signs of images (exact up to 2,000; of a "
    "ratio, a fraction or a calibration error asymptotic), {correction}; at {alphas} or below the measure is worse. p "
    "(not worse): of the hypothesis that the drop is at least the margin; at {alphas} or below the measure is not "
    "worse; not corrected, since the gate passes only where every measure with this test is not worse. Detectable "
    "drop: the smallest true drop that would have been called worse with 80 % probability, by the images' own "
    "variance. Where neither is rejected it can't be told: more images, or a wider margin, would decide. `compare` "
    "asks something else, whether there is any difference (two-sided, corrected for all rows), and can say otherwise."
)


def _row(each: Verdict) -> str:
    interval, test = each.interval, each.test
    change = EMPTY
    if test is not None:
        change = shown_number(each, each.oriented(test.drop), signed=True)
        if interval is not None and interval.low is not None and interval.high is not None:
            ends = sorted([each.oriented(interval.low), each.oriented(interval.high)])
            change += f" [{', '.join(shown_number(each, end, signed=True) for end in ends)}]"
    one, other = word_signs(each.by_words)
    said = f"{each.outcome}. {each.detail}" if each.detail else each.outcome
    cells = (
        _WORD[each.effect], _text(each.task), _text(each.measure), _text(each.model),
        f"{test.clusters:,}" if test else "0",
        EMPTY if not each.of_questions else f"{test.n:,}" if test else "0",
        shown_number(each, each.baseline) + one, shown_number(each, each.candidate) + other, change, shown_most(each),
        shown_difference(each, each.margin), shown_difference(each, each.detectable),
        _p(test.worse_p if test else None), _p(each.adjusted), _p(test.not_worse_p if test else None),
        _text(said),
    )  # fmt: skip
    return f"| {' | '.join(cells)} |"


def _p(value: float | None) -> str:
    return EMPTY if value is None else p_text(value)


def shown_most(each: Verdict) -> str:
    """The largest drop that can't be ruled out; where that is less than none, the least gain."""
    text = shown_difference(each, each.most)
    return f"gain ≥ {text[1:]}" if text.startswith("-") else text


def shown_difference(each: Verdict, value: float | None) -> str:
    """A difference of two values: percentage points where the values are in percent."""
    return shown_number(each, value).replace(" %", " points")


def shown_number(each: Verdict, value: float | None, *, signed: bool = False) -> str:
    """A value of a verdict as its measure is shown."""
    if value is None:
        return EMPTY
    shown = each.scale.factor * value
    text = f"{shown:{'+' if signed else ''},.{each.scale.digits}f}"
    text = text.lstrip("+-") if not text.strip("+-0.,") else text
    return text + (f" {each.scale.unit}" if each.scale.unit in ("%", "points") and not signed else "")


def _text(text: str) -> str:
    return escaped(printable(text))
