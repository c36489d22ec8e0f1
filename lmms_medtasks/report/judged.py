"""Judged open answers in a report, for every suite: who judged, what came of it, and means with what is missing."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np

from lmms_medtasks.errors import UserError
from lmms_medtasks.judges import identity
from lmms_medtasks.judges import records as _records
from lmms_medtasks.judges.protocol import Protocol
from lmms_medtasks.report.cells import NONE, count, label, number, percent_of, share
from lmms_medtasks.report.document import Cell, Column, Flag, Part, Row, Table
from lmms_medtasks.report.suites import Options
from lmms_medtasks.samples.runs import printable
from lmms_medtasks.statistics import coverage as _coverage
from lmms_medtasks.statistics import grouped
from lmms_medtasks.statistics.bootstrap import RESAMPLES, Interval

Record = Mapping[str, Any]
Key = tuple[Any, ...]
T = TypeVar("T")
TOTAL = "total"
LEXICAL = "lexical"
NONE_CONFIGURED = "none"
_REASON = 80
_ANSWERED = "answered model"


@dataclass
class Judging:
    """What came of the judgements of a task, counted record by record (:meth:`add`).

    ``judges``: each description that a record has of its judge, with the model that answered, and the number of answers
    under it. ``replies``: of
    each kind ("ok", "empty", "truncated", "failed"). ``statuses``: judgements "exact", "judged" and "missing".
    ``reasons``: why judgements are missing. ``rules``: what settled the exact ones.
    """

    protocol: Protocol
    judges: Counter[tuple[tuple[str, str], ...]] = field(default_factory=Counter)
    replies: Counter[str] = field(default_factory=Counter)
    statuses: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    rules: Counter[str] = field(default_factory=Counter)

    def add(self, record: Record) -> None:
        """Count a record of :func:`lmms_medtasks.judges.records.judged_record`."""
        described = tuple((name, _shown(value)) for name, value in sorted(record["judge"].items()))
        for model in identity.answered_models(record) or [None]:
            self.judges[described if model is None else (*described, (_ANSWERED, printable(model)))] += 1
        self.replies.update(record["trials"])
        for verdict in (verdict for verdicts in record["verdicts"] for verdict in verdicts):
            status, reason = verdict["status"], printable(str(verdict["reason"]))
            self.statuses[status] += 1
            if status == "missing":
                # Without what the server said: the same cause in many words is one cause.
                self.reasons[reason.partition(":")[0][:_REASON] or "no reason given"] += 1
            elif status == "exact":
                self.rules[reason[:_REASON]] += 1

    @property
    def wanted(self) -> int:
        """Judgements wanted."""
        return self.statuses.total()

    @property
    def coverage(self) -> float | None:
        """Share of the judgements wanted that were had, by a rule or by a judge; None if none was wanted."""
        return 1 - self.statuses["missing"] / self.wanted if self.wanted else None

    @property
    def names(self) -> tuple[str, ...]:
        """The judges, in full: name, endpoint, the model that answered; () if none was configured."""
        return tuple(dict.fromkeys(_full(judge) for judge in self._judges() if judge["name"] != NONE_CONFIGURED))

    @property
    def deciding(self) -> tuple[str, ...]:
        """Those of :attr:`names` that gave a verdict, or may have: not those of which all is missing or a rule's."""
        return self.names if self.statuses["judged"] else ()

    @property
    def shown(self) -> str:
        """The judges' names for a table: none is shown without saying that it is no language model where it is none."""
        return ", ".join(map(labelled, self.names)) or NONE_CONFIGURED

    @property
    def others(self) -> tuple[str, ...]:
        """The names of the judges that are language models and not the paper's."""
        found = (judge for judge in self._judges() if judge.get("is_paper_judge") != "True")
        return tuple(name for each in found if (name := _full(each)) in self.names and not is_lexical(name))

    @property
    def said(self) -> str:
        """Who judged, for the facts at the head of a part: name, prompt with its version and digest, settings."""
        return "; ".join(dict.fromkeys(map(_sentence, self._judges()))) or NONE_CONFIGURED

    def _judges(self) -> list[dict[str, str]]:
        """What each was, without a description of which another says what answered."""
        answered = {each[:-1] for each in self.judges if each and each[-1][0] == _ANSWERED}
        return [{"name": "not recorded", **dict(judge)} for judge in self.judges if judge not in answered]


def compared(
    analyses: Sequence[T],
    judgings: Callable[[T], Iterable[Judging]],
    compare: Callable[[Sequence[T], Options], Part],
    options: Options,
) -> list[Part]:
    """The comparison of several analyses, one for each judge where they have different ones: no table has two.

    Those that no judge saw stand with the first judge's. What is alone has nothing to be compared with.
    """
    named = [tuple(dict.fromkeys(name for each in judgings(one) for name in each.deciding)) for one in analyses]
    first = next(filter(None, named), ())
    groups: dict[tuple[str, ...], list[T]] = {}
    for one, names in zip(analyses, named, strict=True):
        groups.setdefault(names or first, []).append(one)
    if len(groups) == 1:
        return [compare(analyses, options)] if len(analyses) > 1 else []
    flag = Flag("warning", "Runs here were judged by different judges: their open answers stand in no table together.")
    found = []
    for number_, (names, group) in enumerate(groups.items(), start=1):
        if len(group) > 1:
            part = compare(group, replace(options, prefix=f"{options.prefix}judge{number_}-"))
            title = f"{part.title}, judged by {', '.join(map(labelled, names))}"
            found.append(replace(part, title=title, flags=(flag, *part.flags)))
    return found


def is_lexical(name: str) -> bool:
    """Whether a judge compares words and is no language model."""
    return name.partition(":")[0] == LEXICAL


def labelled(name: str) -> str:
    """A judge's name, and that it is no language model where it is none."""
    return f"{name} (no LLM)" if is_lexical(name) else name


def measures(protocol: Protocol) -> dict[str, _records.Measure]:
    """What is measured of each judgement, by name: the protocol's dimensions, and :data:`TOTAL` if it has one."""
    found: dict[str, _records.Measure] = {dimension.name: dimension.name for dimension in protocol.dimensions}
    return {**found, TOTAL: protocol.total} if protocol.total else found


def values(record: Record, where: str) -> dict[str, dict[str, Any]]:
    """What :func:`means` needs of a judged record, for each of :func:`measures`; see ``judges.records.value``.

    Raises UserError, with the place ``where`` the record stands, when its verdicts are not such as its protocol has.
    """
    try:
        return {name: _records.value(record, each) for name, each in measures(_records.protocol_of(record)).items()}
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise UserError(f"{where}: its verdicts can't be read ({error!r}). Was the log edited?") from error


def _sentence(judge: Mapping[str, str]) -> str:
    if judge["name"] == NONE_CONFIGURED:
        return NONE_CONFIGURED
    prompt = f"prompt {judge['prompt']} version {judge.get('version', '?')}" if judge.get("prompt") else ""
    digest = f"digest {judge['digest']}" if judge.get("digest") else ""
    endpoint = f"at {judge['endpoint']}" if judge.get("endpoint") else ""
    answer = identity.answer_phrase(judge[_ANSWERED]) if _ANSWERED in judge else ""
    rest = ", ".join(filter(None, [endpoint, answer, prompt, digest, judge.get("settings", "")]))
    name = labelled(judge["name"])
    return f"{name} ({rest})" if rest else name


def _full(judge: Mapping[str, str]) -> str:
    return identity.full_name(judge, judge.get(_ANSWERED))


def _shown(value: object) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_shown(each)}" for name, each in sorted(value.items()))
    return printable(str(value))


def flags(found: Mapping[str, Judging]) -> Iterator[Flag]:
    """What limits judged numbers, by task: no judge, no LLM, another judge than the paper's, several, missing ones.

    What is the same of several tasks is said once.
    """
    said: dict[Flag, list[str]] = {}
    for task, judging in found.items():
        for flag in _limits(judging):
            said.setdefault(flag, []).append(task)
    for flag, tasks in said.items():
        yield Flag(flag.kind, f"{', '.join(tasks)}: {flag.text}")


def _limits(judging: Judging) -> Iterator[Flag]:
    names, missing = judging.names, judging.statuses["missing"]
    how = "Judge from the log alone, without the model: lmms-medtasks judge RUN."
    if not names and missing:
        yield Flag("warning", f"no judge was configured; {missing:,} judgements are missing. {how}")
    if len(names) > 1:
        yield Flag("warning", f"several judges in one task ({', '.join(names)}): its means mix them. {how}")
    for name in filter(is_lexical, names):
        said = f"judged by {name}, which compares words and is NO LLM: for smoke tests, and no measure of the answers."
        yield Flag("warning", said)
    for name in judging.others:
        said = f"judged by {name}; the paper's judge is {judging.protocol.paper_judge}. Scores need not compare."
        yield Flag("warning", said)
    share_had = judging.coverage
    if names and share_had is not None and share_had < _coverage.COMPLETE:
        yield Flag(
            "warning",
            f"INCOMPLETE, {share_had:.1%} of the judgements were had (wanted: {_coverage.COMPLETE:.0%}), "
            f"{missing:,} are missing. Means are over those that were had; the bounds say where they may lie. {how}",
        )
    elif names and missing:
        yield Flag("note", f"{missing:,} of {judging.wanted:,} judgements are missing. {how}")


def judgements(found: Mapping[str, Judging]) -> Table:
    """What became of the answers and their judgements, a row a task."""
    rows = []
    for task, each in found.items():
        replies, statuses = each.replies, each.statuses
        numbers = [replies.total(), *(replies[kind] for kind in ("failed", "empty", "truncated"))]
        numbers += [each.wanted, *(statuses[status] for status in ("exact", "judged", "missing"))]
        rows.append(Row((Cell(task), *map(Cell, numbers), percent_of(each.coverage), Cell(each.said))))
    heads = ("answers", "failed requests", "empty", "truncated", "judgements wanted", "exact", "judged", "missing")
    columns = (label("task"), *map(count, heads), share("coverage"), label("judge"))
    notes = (
        "exact: settled by a rule without a judge. missing: no valid verdict could be had; it is never a score. "
        f"Coverage below {_coverage.COMPLETE:.0%} makes a run incomplete.",
    )
    return Table("judgements", "Answers and their judgements", columns, tuple(rows), notes)


def causes(found: Mapping[str, Judging]) -> Table | None:
    """Why judgements are missing and which rules settled others, by task; None if there is nothing to say."""
    rows = [
        Row((Cell(task), Cell(status), Cell(reason), Cell(number_of)))
        for task, each in found.items()
        for status, reasons in (("exact", each.rules), ("missing", each.reasons))
        for reason, number_of in reasons.most_common()
    ]
    if not rows:
        return None
    columns = (label("task"), label("status"), label("rule or reason"), count("judgements"))
    return Table("judgement_causes", "Settled by a rule, or missing: why", columns, tuple(rows), folded=True)


@dataclass(frozen=True)
class JudgedMean:
    """A mean over judged answers with its interval, what it is over, and what it would be with the missing.

    ``mean`` is over the ``mean.n`` answers that have a score; ``judged`` of ``wanted`` judgements were had. ``worst``
    and ``best``: the mean over all answers, had each missing judgement been the scale's worst, or best.
    """

    mean: Interval
    answers: int
    judged: int
    wanted: int
    worst: float | None
    best: float | None


def scores(values: Sequence[Mapping[str, Any]], groups: Sequence[Hashable] | None = None) -> np.ndarray:
    """(n,) floats: the score of each answer that a mean may be over, NaN for the others.

    NaN too for every answer of a group that no judge gave a verdict on (``coverage.only_rules``): what rules settle is
    no mean of it, in the harness's metrics and here. ``groups``: for each answer what is averaged together with it;
    None: all.
    """
    found = np.array([value.get("score", math.nan) for value in values], dtype=float)
    rows: dict[Hashable, list[int]] = {}
    for row, key in enumerate([None] * len(values) if groups is None else groups):
        rows.setdefault(key, []).append(row)
    for own in rows.values():
        if _coverage.only_rules([values[row] for row in own]):
            found[own] = math.nan
    return found


def means(
    records: Sequence[Record], values: Sequence[Mapping[str, Any]], tags: Sequence[str], *, resamples: int = RESAMPLES
) -> dict[Key, JudgedMean]:
    """The mean of each group of records that agree in ``tags``; ``values`` are those of ``judges.records.value``.

    A group that no judge gave a verdict on has no mean, see :func:`scores`; its counts and bounds are there.
    """
    keys: list[Key] = [tuple(record.get(tag) for tag in tags) for record in records]
    groups: dict[Key, list[Mapping[str, Any]]] = {}
    for key, value in zip(keys, values, strict=True):
        groups.setdefault(key, []).append(value)
    found = {}
    for key, group in grouped.by_tags(records, tags, scores(values, keys), resamples=resamples).items():
        own = groups.get(key, [])
        found[key] = JudgedMean(
            mean=group.mean,
            answers=len(own),
            judged=sum(value["judged"] for value in own),
            wanted=sum(value["wanted"] for value in own),
            worst=_coverage.bound_worst(own),
            best=_coverage.bound_best(own),
        )
    return found


def mean_columns(name: str, digits: int = 2) -> tuple[Column, ...]:
    """The columns of :func:`mean_cells`."""
    bounds = (Column(f"missing as {which}", digits=digits) for which in ("worst", "best"))
    return (Column(name, digits=digits), count("n judged"), count("n"), *bounds)


def mean_cells(found: JudgedMean | None) -> tuple[Cell, ...]:
    """Mean with interval, judgements had and wanted, and both bounds: a judged mean never stands without them."""
    if found is None:
        return (NONE, Cell(0), Cell(0), NONE, NONE)
    return (number(found.mean), Cell(found.judged), Cell(found.wanted), Cell(found.worst), Cell(found.best))
