"""``lmms-medtasks compare``, ``gate`` and ``power`` in a terminal: the decision first, in at most 100 columns."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence

from lmms_medtasks.board.comparison.compared_entries import asked_in_part
from lmms_medtasks.board.comparison.comparison_document import ONE_SIDED, OTHER
from lmms_medtasks.board.comparison.gate import EFFECTS, Gate, Verdict
from lmms_medtasks.board.comparison.gate_summary import decision, margins, shown_difference, shown_most, shown_number
from lmms_medtasks.board.comparison.measure_comparison import Compared, Comparison
from lmms_medtasks.board.comparison.planning import Plan, Planned, meaning
from lmms_medtasks.board.word_verdicts import LEGEND, word_signs
from lmms_medtasks.report.document import EMPTY
from lmms_medtasks.samples.runs import printable
from lmms_medtasks.short_texts import cut_apart, first_listed
from lmms_medtasks.statistics import confidence
from lmms_medtasks.statistics.p_values import p_text

WIDTH = 100
_MOST_ROWS, _MOST_FLAGS = 24, 4
_WHAT = 41
"""Width of a task with its measure: no name of 40 letters is cut."""
_FEW, _MOST_NAMED = 2, 4
_DISAGREES = "°"
_MOST_TRIALS, _TRIALS_WIDTH = 3, 11
"""Numbers of trials beside each other, and the width of each: the images needed may be ten million."""


def compared_lines(compared: Compared, flags: Sequence[str]) -> Iterator[str]:
    """The screen of a comparison; ``flags``: what must be known before its numbers, the gravest first."""
    rows = [each for each in compared.comparisons if each.found.mean.estimate is not None]
    alike = [each for each in rows if each.alike]
    better, worse, same = _sorted(alike)
    for text in compared.warnings:
        yield from _filled(printable(text), most=3)
    yield from ("",) if compared.warnings else ()
    one, other = (printable(side.shown) for side in compared.sides)
    yield from _filled(f"B  {other}")
    yield from _filled(f"against A  {one}")
    yield ""
    if alike or not rows:
        yield from _filled(
            f"B is better in {len(better)} of {len(alike)} numbers, worse in {len(worse)}, not told apart in "
            f"{len(same)} (level {confidence.alpha():g})."
        )
        yield ""
    difference = f"B minus A [{confidence.percent()}]"
    yield f"  {'task, measure':<{_WHAT}}{'A':>7}{'B':>7}  {difference:<25}{'p (Holm)':>9}{'images':>7}"
    names = cut_apart(map(_named, rows), _WHAT - 1)
    told = [(sign, each) for sign, group in (("▲", better), ("▼", worse)) for each in group]
    others = [(OTHER, each) for each in rows if not each.alike]
    shown = [*told, *(("=", each) for each in same), *others][:_MOST_ROWS]
    for sign, each in shown:
        yield _compared_line(sign, each, names[_named(each)])
    if len(rows) > len(shown):
        untold = ", none of them told apart" if len(told) <= len(shown) else ""
        yield f"  and {len(rows) - len(shown)} more{untold}"
    untested: dict[str, list[str]] = {}
    for each in compared.comparisons:
        untested.setdefault(each.found.pairs.lacking, []).append(_named(each))
    for why, own in untested.items():
        yield from _filled(f"{why.removesuffix('.')}: {_first(own)}.") if why else ()
    if alike or not rows:
        yield "▲ better  ▼ worse  = not told apart, which does not mean equal   p (Holm): corrected for all rows"
        yield "Test: any difference, two-sided. gate tests one-sided against a margin, and can say otherwise."
    if any(any(each.by_words) for _, each in shown):
        yield LEGEND
    if others:
        yield f"{OTHER} not of the same thing: a difference says nothing of the models"
    if any(_disagrees(each) for _, each in shown):
        said = "The interval looks at this row alone; p is corrected for all rows. Where they disagree, go by p."
        yield from _filled(f"{_DISAGREES} {said}")
    lacking = [_named(each) for each in compared.comparisons if each.found.pairs.unscored]
    flags = [text for text in flags if not text.endswith(ONE_SIDED) and text not in compared.warnings]
    yield ""
    if lacking:
        yield from _filled(f"! Some questions have a score in one of both only: {_first(lacking)}.")
    for text in flags[:_MOST_FLAGS]:
        yield from _filled(f"! {printable(text)}", most=3)
    if len(flags) > _MOST_FLAGS:
        left = len(flags) - _MOST_FLAGS
        yield f"! and {left} remark{'s' if left > 1 else ''} more"
    yield ""
    yield "All numbers, tests and questions: --all     As a file: -o FILE.md, .csv, .json"


def _named(each: Comparison | Verdict | Planned) -> str:
    return printable(f"{each.task}, {each.measure}")


def _disagrees(each: Comparison) -> bool:
    """Whether the interval leaves 0 out and the corrected p does not tell the two apart, or the reverse."""
    mean = each.found.mean
    if mean.low is None or mean.high is None or each.adjusted is None or not each.alike:
        return False
    return (not mean.low <= 0 <= mean.high) is not (each.adjusted <= confidence.alpha())


def _first(texts: Sequence[str]) -> str:
    """The first of them, and how many more there are."""
    return texts[0] if len(texts) == 1 else f"{texts[0]}, and {len(texts) - 1} numbers more"


def _sorted(rows: Sequence[Comparison]) -> tuple[list[Comparison], list[Comparison], list[Comparison]]:
    """Those where B is better, worse, and not told apart; the largest differences first."""
    ordered = sorted(rows, key=lambda each: -abs(each.scale.factor * (each.found.mean.estimate or 0.0)))
    better: list[Comparison] = []
    worse: list[Comparison] = []
    same: list[Comparison] = []
    for each in ordered:
        told = each.adjusted is not None and each.adjusted <= confidence.alpha()
        (same if not told else better if _gain(each) > 0 else worse).append(each)
    return better, worse, same


def _gain(each: Comparison) -> float:
    change = each.found.mean.estimate or 0.0
    return change if each.scale.higher_is_better else -change


def _compared_line(sign: str, each: Comparison, what: str) -> str:
    factor, digits, found = each.scale.factor, each.scale.digits, each.found
    values = (EMPTY if value is None else f"{factor * value:.{digits}f}" for value in (found.first, found.second))
    mean = found.mean
    change = f"{factor * (mean.estimate or 0.0):+.{digits}f}"
    if mean.low is not None and mean.high is not None:
        change += f" [{factor * mean.low:+.{digits}f}, {factor * mean.high:+.{digits}f}]"
    first, second = values
    change += f"{' ' * (len(change) < 24)}{_DISAGREES}" if _disagrees(each) else ""
    one, other = word_signs(each.by_words)
    images = f"{found.pairs.images:,}" if len(found.pairs) else EMPTY
    numbers = f"{first:>7}{one or ' '}{second:>6}{other or ' '} {change:<25}{_p(each):>9}{images:>7}"
    return f"{sign} {what:<{_WHAT}}{numbers}"


def _p(each: Comparison) -> str:
    return EMPTY if each.adjusted is None or not each.alike else p_text(each.adjusted)


def gate_lines(gate: Gate) -> Iterator[str]:
    """The screen of a gate's decision: what failed or can't be told in full, what is sound or alike in one line."""
    yield f"Gate: {decision(gate)}"
    for called, side in (("The baseline", gate.baseline), ("The candidate", gate.candidate)):
        yield from map(printable, asked_in_part(called, side.board.entries))
    yield ""
    yield from _filled(f"candidate  {printable(gate.candidate.shown)}")
    yield from _filled(f"against    {printable(gate.baseline.shown)}")
    for text in gate.remarks:
        yield from _filled(f"! {printable(text)}", most=3)
    ordered = sorted(gate.verdicts, key=lambda each: EFFECTS.index(each.effect))
    measured = [each for each in ordered if each.test is not None]
    if measured:
        heads = f"{'task, measure':<{_WHAT}}{'before':>7}{'now':>7}{'drop, upper limit':>20}{'margin':>11}"
        yield from ("", f"  {heads}  outcome")
    names = cut_apart(map(_named, measured), _WHAT - 1)
    for each in measured[:_MOST_ROWS]:
        yield from _verdict_lines(each, names[_named(each)])
    if left := measured[_MOST_ROWS:]:
        outcomes = Counter(each.outcome for each in left)
        yield f"  and {len(left)} more: {', '.join(f'{count} {name}' for name, count in outcomes.items())}"
    if any(any(each.by_words) for each in measured[:_MOST_ROWS]):
        yield LEGEND
    if measured:
        yield "Tests: one-sided against the margin. compare tests any difference, two-sided, and can say otherwise."
        yield from _filled(margins(measured)) if margins(measured) else ()
    alike: dict[tuple[str, str], list[Verdict]] = {}
    for each in ordered:
        if each.test is None:
            alike.setdefault((f"{_SIGNS[each.effect]} {each.outcome.capitalize()}", each.detail), []).append(each)
    if alike:
        yield ""
    for (outcome, detail), own in alike.items():
        why = f"{detail[:1].lower()}{detail[1:].removesuffix('.')}"
        named = first_listed(list(map(_named, own)), _MOST_NAMED)
        yield from _filled(printable(f"{outcome} ({len(own)}): {why}: {named}."))
    for title, action in (("Problems of the candidate", "fail"), ("Warnings", "warn")):
        found: dict[str, list[str]] = {}
        for own_action, problem in gate.problems:
            # A limit that is no reason is said above.
            if own_action == action and (action, problem.code) != ("warn", "limited"):
                found.setdefault(problem.code, []).append(f"{problem.task or problem.source}: {problem.reason}")
        texts = [text for each in found.values() for text in _few(each)]
        texts += _few(list(gate.warnings)) if action == "warn" else []
        if texts:
            yield from ("", f"{title}:")
        for text in texts:
            yield from _filled(f"  {printable(text)}", most=3)
    yield ""
    yield "All rows, tests, intervals and what they mean: --format md"


def planned_lines(found: Sequence[Planned], plan: Plan, notes: Sequence[str]) -> Iterator[str]:
    """The screen of ``power``: a row a task and measure; of many numbers of trials a block each three."""
    trials = list(dict.fromkeys(each for planned in found for each in planned.needed)) or [1]
    names = cut_apart(map(_named, found), _WHAT - 1)
    yield f"What a comparison can show, and what {100 * plan.difference:g} points take"
    for start in range(0, len(trials), _MOST_TRIALS):
        block = trials[start : start + _MOST_TRIALS]
        yield ""
        yield f"{'':<{_WHAT + 26}}{'images needed':>{max(_TRIALS_WIDTH * len(block), 15)}}"
        heads = "".join(f"{f'T={each}':>{_TRIALS_WIDTH}}" for each in block)
        yield f"{'task, measure':<{_WHAT}}{'images':>7}{'questions':>10}{'T':>3}{'shows':>6}{heads}"
        for each in found:
            shown = EMPTY if each.shown is None else f"{100 * each.shown:.1f}"
            needed = (each.needed.get(number) for number in block)
            cells = "".join(f"{EMPTY if count is None else f'{count:,}':>{_TRIALS_WIDTH}}" for count in needed)
            questions = EMPTY if each.questions is None else f"{each.questions:,}"
            sizes = f"{each.images:>7,}{questions:>10}{each.trials:>3}"
            yield f"{names[_named(each)]:<{_WHAT}}{sizes}{shown:>6}{cells}"
    yield ""
    for note in (meaning(plan), *notes):
        yield from _filled(note)


_SIGNS = {"fail": "✕", "undecided": "?", "warn": "!", "ignore": "✓"}


def _few(texts: Sequence[str]) -> list[str]:
    """The first of texts of one kind, and how many more there are."""
    return [*texts[:_FEW], *([f"and {len(texts) - _FEW} more like these"] if len(texts) > _FEW else [])]


def _verdict_lines(each: Verdict, what: str) -> Iterator[str]:
    before, now = (shown_number(each, value).partition(" ")[0] for value in (each.baseline, each.candidate))
    margin = shown_difference(each, each.margin)
    one, other = word_signs(each.by_words)
    numbers = f"{before:>7}{one or ' '}{now:>6}{other or ' '} {shown_most(each):>17} {margin:>11}"
    yield f"{_SIGNS[each.effect]} {what:<{_WHAT}}{numbers}  {each.outcome}"
    if each.detail:
        yield from _filled(f"    {printable(each.detail)}")


def _filled(text: str, most: int = 0) -> Iterator[str]:
    """The text in lines of at most :data:`WIDTH`; of more than ``most`` lines the first ones."""
    lines = textwrap.wrap(text, WIDTH, subsequent_indent="  ", break_on_hyphens=False) or [""]
    if most and len(lines) > most:
        last = textwrap.shorten(" ".join(lines[most - 1 :]), WIDTH - 2, placeholder=" …")
        lines = [*lines[: most - 1], f"  {last}"]
    yield from lines
