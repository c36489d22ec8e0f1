"""Judged answers in a report: who judged, what became of the judgements, and means beside what is missing."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lmms_medtasks.judges import identity, judge_check, registry
from lmms_medtasks.judges.protocol import Protocol
from lmms_medtasks.report.cells import count, label, percent_of, share
from lmms_medtasks.report.document import Cell, Flag, Frame, FrameRow
from lmms_medtasks.report.views import Column, Source
from lmms_medtasks.samples.runs import printable
from lmms_medtasks.samples.table import Samples
from lmms_medtasks.suites.estimates import Count, Estimate
from lmms_medtasks.suites.judged_measures import COMPLETE, bound, judgement_counts

LEXICAL, OTHER, INCOMPLETE = "◊", "‡", "#"
"""Marks of a judged number: by a judge that is no language model, by another than the paper's, some missing."""

MEANINGS = {
    LEXICAL: "By a judge that compares words, no language model: a smoke test, no score.",
    OTHER: "By another judge than the paper's: does not compare with the paper's numbers.",
    INCOMPLETE: "Some judgements are missing: the mean is over the others.",
}
"""What each of these marks means."""

FEWEST_VERDICTS = 10
"""Verdicts of a judge from which on it is remarkable that all are the same. Our choice."""

_LEXICAL = "lexical"
_NONE_CONFIGURED = "none"
_ANSWERED = "answered model"
_REASON = 80


# --- What became of judgements ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Judging:
    """What became of the judgements of some questions.

    Attributes:
        judges: each description that a record has of its judge, with the model that answered, and how many questions.
        replies: replies of each kind ("ok", "empty", "cut", "unreadable", "failed").
        statuses: judgements that are "exact", "judged" and "missing".
        reasons: why judgements are missing. rules: what settled the exact ones.
        labels: of the judge's own verdicts each dimension's label, as (dimension, label). verdicts: how many there are
            of each different one, checklists apart.
        system_fingerprints: what the judge's server calls its way of serving, of each verdict with one.
    """

    protocol: Protocol
    judges: Counter[tuple[tuple[str, str], ...]] = field(default_factory=Counter)
    replies: Counter[str] = field(default_factory=Counter)
    statuses: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    rules: Counter[str] = field(default_factory=Counter)
    labels: Counter[tuple[str, str]] = field(default_factory=Counter)
    verdicts: Counter[str] = field(default_factory=Counter)
    system_fingerprints: Counter[str] = field(default_factory=Counter)

    @classmethod
    def of(cls, rows: Samples) -> Judging | None:
        """The judgements of the judged questions among ``rows``; None where no question is judged."""
        judged = [each for each in zip(*(rows.column(name) for name in _COLUMNS), strict=True) if each[0] is not None]
        if not judged:
            return None
        descriptions: dict[str, dict[str, Any]] = {each[0]: json.loads(each[0]) for each in judged}
        found = cls(registry.of_judge(descriptions[judged[0][0]]))
        for judge, trials, statuses, reasons, models, labels, fingerprints in judged:
            described = tuple((name, _shown(name, value)) for name, value in sorted(descriptions[judge].items()))
            answered = sorted({model for model in models if model is not None})
            for model in answered or [None]:
                found.judges[described if model is None else (*described, (_ANSWERED, printable(model)))] += 1
            found.replies.update(trials)
            found.statuses.update(statuses)
            found.system_fingerprints.update(printable(each) for each in fingerprints or () if each)
            for status, reason in zip(statuses, map(printable, reasons), strict=True):
                if status == "missing":
                    # Without what the server said: the same cause in many words is one cause.
                    found.reasons[reason.partition(":")[0][:_REASON] or "no reason given"] += 1
                elif status == "exact":
                    found.rules[reason[:_REASON]] += 1
            for given in (json.loads(each) for each in labels if each is not None):
                found.labels.update((each.name, given[each.name]) for each in found.protocol.dimensions)
                found.verdicts[judge_check.in_words(found.protocol, given)] += 1
        return found

    @property
    def requested(self) -> int:
        """Judgements requested."""
        return self.statuses.total()

    @property
    def coverage(self) -> float | None:
        """Share of the judgements requested that were obtained, by a rule or by a judge; None if there are none."""
        return 1 - self.statuses["missing"] / self.requested if self.requested else None

    @property
    def constant(self) -> str:
        """The verdict that the judge gave every time, in words; "" where it gave several, or too few to tell."""
        same = len(self.verdicts) == 1 and self.verdicts.total() >= FEWEST_VERDICTS
        return next(iter(self.verdicts)) if same else ""

    @property
    def checks_not_passed(self) -> tuple[str, ...]:
        """What was found by checks of the judges that failed or were not complete, a line each."""
        found = (judge.get("check", "") for judge in self._judges())
        return tuple(dict.fromkeys(each for each in found if each and not each.startswith(judge_check.PASSED)))

    @property
    def names(self) -> tuple[str, ...]:
        """The judges, in full: name, endpoint, the model that answered; () if none was configured."""
        return tuple(dict.fromkeys(_full(judge) for judge in self._judges() if judge["name"] != _NONE_CONFIGURED))

    @property
    def digests(self) -> set[str]:
        """The digests of the prompts by which verdicts were given."""
        return {judge["digest"] for judge in self._judges() if judge.get("digest")} if self.deciding else set()

    @property
    def deciding(self) -> tuple[str, ...]:
        """Those of :attr:`names` that gave a verdict, or may have: not those of which all is missing or a rule's."""
        return self.names if self.statuses["judged"] else ()

    @property
    def by_words(self) -> bool:
        """Whether the judge that compares words gave a verdict; what rules settled is not its."""
        return any(map(is_lexical, self.deciding))

    @property
    def shown(self) -> str:
        """The judges' names for a table; one that is no language model is not shown without saying so."""
        return ", ".join(map(labelled, self.names)) or _NONE_CONFIGURED

    @property
    def short(self) -> str:
        """:attr:`shown` without where and how a judge was asked, for a sentence."""
        return ", ".join(dict.fromkeys(labelled(name).partition(" at ")[0] for name in self.names))

    @property
    def others(self) -> tuple[str, ...]:
        """The names of the judges that are language models and not the paper's."""
        found = (judge for judge in self._judges() if judge.get("is_paper_judge") != "True")
        return tuple(name for each in found if (name := _full(each)) in self.names and not is_lexical(name))

    @property
    def said(self) -> str:
        """Who judged, for the facts at the head of a part: name, prompt with its version and digest, settings."""
        served = ", ".join(f"{name} ({count:,})" for name, count in self.system_fingerprints.most_common())
        said = [*map(_sentence, self._judges()), *([f"system_fingerprint {served}"] if served else [])]
        return "; ".join(dict.fromkeys(said)) or _NONE_CONFIGURED

    def _judges(self) -> list[dict[str, str]]:
        """What each was, without a description of which another says what answered."""
        answered = {each[:-1] for each in self.judges if each and each[-1][0] == _ANSWERED}
        return [{"name": "not recorded", **dict(judge)} for judge in self.judges if judge not in answered]


_COLUMNS = (
    "judge", "trials", "verdict_statuses", "verdict_reasons", "verdict_models", "verdict_labels",
    "system_fingerprints",
)  # fmt: skip


def judgings(rows: Samples, names: Sequence[str], label_of: Callable[..., str]) -> dict[str, Judging]:
    """The judgements of each group of rows that agree in the columns ``names``, in the order of their first rows.

    ``label_of``: from the values of these columns to the group's name. Groups without a judged question are left out.
    """
    if not any(rows.values("judge")):
        return {}  # as in most benchmarks, quicker than by making the groups
    groups = sorted(rows.by(names, key=str).items(), key=lambda group: group[1].rows[0])
    found = ((label_of(*values), Judging.of(own)) for values, own in groups)
    return {name: each for name, each in found if each is not None}


def protocols(rows: Samples) -> dict[str, Judging]:
    """The judgements of each protocol, by its name, in the order of their first rows."""
    return judgings(rows, ["protocol"], str)


def said(rows: Samples) -> str:
    """Who judged these rows, for the facts at the head of a part; "" where nothing is judged."""
    return "; ".join(dict.fromkeys(each.said for each in protocols(rows).values()))


def shown(rows: Samples) -> str:
    """The names of the judges of these rows; "" where nothing is judged."""
    return ", ".join(dict.fromkeys(each.shown for each in protocols(rows).values()))


def by_judge(sources: Sequence[Source]) -> dict[tuple[str, ...], list[Source]]:
    """The sources that may stand in one table, by the judges that gave verdicts: no table has two judges.

    Those that no judge saw stand with the first judge's.
    """
    named = deciding([source.rows for source in sources])
    first = next(filter(None, named), ())
    groups: dict[tuple[str, ...], list[Source]] = {}
    for source, names in zip(sources, named, strict=True):
        groups.setdefault(names or first, []).append(source)
    return groups


def deciding(tables: Sequence[Samples]) -> list[tuple[str, ...]]:
    """For each table who gave its verdicts: judges in full, and with the prompt's digest where some of the tables were
    judged by one prompt of a protocol and some by another."""
    found = [protocols(rows) for rows in tables]
    prompts: dict[str, set[str]] = {}
    for name, judging in ((name, each) for of_table in found for name, each in of_table.items()):
        prompts.setdefault(name, set()).update(judging.digests)
    several = {name for name, digests in prompts.items() if len(digests) > 1}
    return [
        tuple(
            dict.fromkeys(
                f"{judge}, {name} by prompt {' and '.join(sorted(each.digests))}" if name in several else judge
                for name, each in of_table.items()
                for judge in each.deciding
            )
        )
        for of_table in found
    ]


def is_lexical(name: str) -> bool:
    """Whether a judge compares words and is no language model."""
    return name.partition(":")[0] == _LEXICAL


def labelled(name: str) -> str:
    """A judge's name, and that it is no language model where it is none."""
    return f"{name} (no LLM)" if is_lexical(name) else name


def _sentence(judge: Mapping[str, str]) -> str:
    if judge["name"] == _NONE_CONFIGURED:
        return _NONE_CONFIGURED
    prompt = f"prompt {judge['prompt']} version {judge.get('version', '?')}" if judge.get("prompt") else ""
    digest = f"digest {judge['digest']}" if judge.get("digest") else ""
    endpoint = f"at {judge['endpoint']}" if judge.get("endpoint") else ""
    answer = identity.answer_phrase(judge[_ANSWERED]) if _ANSWERED in judge else ""
    check = f"check {judge['check']}" if judge.get("check") else ""
    rest = ", ".join(filter(None, [endpoint, answer, prompt, digest, judge.get("settings", ""), check]))
    name = labelled(judge["name"])
    return f"{name} ({rest})" if rest else name


def _full(judge: Mapping[str, str]) -> str:
    return identity.full_name(judge, judge.get(_ANSWERED))


def _shown(name: str, value: object) -> str:
    if isinstance(value, Mapping):
        value = (identity.way_phrase(value) if value else "") if name == "settings" else json.dumps(value)
    return printable(str(value))


# --- What a reader must know ------------------------------------------------------------------------------------------


def flags(found: Mapping[str, Judging]) -> Iterator[Flag]:
    """What limits judged numbers, by the name of their group: no judge, no LLM, not the paper's, several, missing ones.

    What is the same of several groups is said once.
    """
    about: dict[Flag, list[str]] = {}
    for name, judging in found.items():
        for flag in _limits(judging):
            about.setdefault(flag, []).append(name)
    for flag, names in about.items():
        yield Flag(flag.kind, f"{', '.join(names)}: {flag.text}")


def _limits(judging: Judging) -> Iterator[Flag]:
    names, missing = judging.names, judging.statuses["missing"]
    how = "Judge from the log alone, without the model: lmms-medtasks judge RUN."
    if not names and missing:
        yield Flag("warning", f"no judge was configured; {missing:,} judgements are missing. {how}")
    if len(names) > 1:
        yield Flag("warning", f"several judges in one task ({', '.join(names)}): its means mix them. {how}")
    for name in filter(is_lexical, names):
        text = f"judged by {name}, which compares words and is NO LLM: for smoke tests, and no measure of the answers."
        yield Flag("warning", text)
    if (served := len(judging.system_fingerprints)) > 1:
        text = f"the judge's server changed while it judged: it reported {served} system_fingerprints."
        yield Flag("note", text)
    for check in judging.checks_not_passed:
        text = f"the judge's check, on answers of known quality, {check}. lmms-medtasks judge check says more."
        yield Flag("warning", text)
    for name in judging.others:
        text = f"judged by {name}; the paper's judge is {judging.protocol.paper_judge}. Scores need not compare."
        yield Flag("warning", text)
    yield from (Flag("warning", text) for text in constant_verdict(judging))
    coverage = judging.coverage
    if names and coverage is not None and coverage < COMPLETE:
        yield Flag(
            "warning",
            f"INCOMPLETE, {coverage:.1%} of the judgements were obtained (required: {COMPLETE:.0%}), "
            f"{missing:,} are missing. Means are over the others; the bounds say where they may lie. {how}",
        )
    elif names and missing:
        yield Flag("note", f"{missing:,} of {judging.requested:,} judgements are missing. {how}")


def constant_verdict(judging: Judging) -> Iterator[str]:
    """What a reader must know of a judge that says the same of every answer."""
    if judging.constant:
        yield (
            f"the judge gave all {judging.verdicts.total():,} answers the same verdict ({judging.constant}): it tells "
            "no answer from another, or all are alike. Try it on answers of known quality: lmms-medtasks judge check."
        )


def marks(*found: Judging | None) -> str:
    """The marks of a number that comes of these judgements, "" for none."""
    judged = [each for each in found if each]
    marked = LEXICAL if any(each.by_words for each in judged) else ""
    marked += OTHER if any(each.others for each in judged) else ""
    return marked + (INCOMPLETE if any(each.statuses["missing"] for each in judged) else "")


# --- Tables and columns -----------------------------------------------------------------------------------------------


def judging_tables(found: Callable[[Source], Mapping[str, Judging]]) -> tuple[Callable[..., Frame | None], ...]:
    """The tables on the judgements of a view's first source, grouped as ``found`` groups them."""
    return tuple(
        lambda sources, make=make: make(found(sources[0]))  # type: ignore[misc]
        for make in (judgements, causes, verdict_shares)
    )


def judgements(found: Mapping[str, Judging]) -> Frame | None:
    """What became of the answers and their judgements, a row a group; None where nothing is judged."""
    rows = []
    for name, each in found.items():
        replies, statuses = each.replies, each.statuses
        numbers = [replies.total(), *(replies[kind] for kind in ("failed", "empty", "cut", "unreadable"))]
        numbers += [each.requested, *(statuses[status] for status in ("exact", "judged", "missing"))]
        rows.append(FrameRow((Cell(name), *map(Cell, numbers), percent_of(each.coverage), Cell(each.said))))
    heads = (
        "answers",
        "failed requests",
        "empty",
        "cut",
        "unreadable",
        "judgements requested",
        "exact",
        "judged",
        "missing",
    )
    columns = (label("task"), *map(count, heads), share("coverage"), label("judge"))
    notes = (
        "exact: settled by a rule without a judge. missing: no valid verdict could be had; it is never a score. "
        f"Coverage below {COMPLETE:.0%} makes a run incomplete.",
    )
    return Frame("judgements", "Answers and their judgements", columns, tuple(rows), notes) if rows else None


def causes(found: Mapping[str, Judging]) -> Frame | None:
    """Why judgements are missing and which rules settled others, by group; None if there is nothing to say."""
    rows = [
        FrameRow((Cell(name), Cell(status), Cell(reason), Cell(number)))
        for name, each in found.items()
        for status, reasons in (("exact", each.rules), ("missing", each.reasons))
        for reason, number in reasons.most_common()
    ]
    if not rows:
        return None
    columns = (label("task"), label("status"), label("rule or reason"), count("judgements"))
    return Frame("judgement_causes", "Settled by a rule, or missing: why", columns, tuple(rows), folded=True)


def verdict_shares(found: Mapping[str, Judging]) -> Frame | None:
    """How often a judge gave each label, by group and dimension; None where no judge gave a verdict."""
    rows = []
    for name, each in found.items():
        for dimension in each.protocol.dimensions:
            given = {text: each.labels[dimension.name, text] for text in dimension.labels}
            total = sum(given.values())
            for text, number in given.items() if total else ():
                rows.append(
                    FrameRow((Cell(name), Cell(dimension.name), Cell(text), Cell(number), percent_of(number / total)))
                )
    columns = (label("task"), label("dimension"), label("verdict"), count("judgements"), share("share"))
    notes = ("Verdicts of the judge alone, without those that a rule settled.",)
    title = "What the judge said, how often"
    return Frame("verdict_shares", title, columns, tuple(rows), notes, folded=True) if rows else None


def judged_columns(head: str, estimate: Estimate, measure: str, digits: int = 2) -> tuple[Column, ...]:
    """A judged mean with its interval, judgements obtained and requested, and both bounds.

    ``estimate``: of the mean of ``measure``. A judged mean never stands without the other four.
    """
    obtained, requested = (
        Count(function=lambda rows, place=place: judgement_counts(rows, measure)[place])  # type: ignore[misc]
        for place in (0, 1)
    )
    return (
        Column(head, estimate, "", digits),
        Column("n judged", obtained, "count"),
        Column("n", requested, "count"),
        Column("missing as worst", bound(measure, "low"), "", digits),
        Column("missing as best", bound(measure, "high"), "", digits),
    )
