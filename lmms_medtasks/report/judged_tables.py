"""Judged answers in a report: who judged, what became of the judgements, and means beside what is missing."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lmms_medtasks.judges import identity, judge_check, registry
from lmms_medtasks.judges.own_scales import PAPER_JUDGE
from lmms_medtasks.judges.protocol import JudgeProtocol
from lmms_medtasks.report.cells import count_column, label_column, make_frame, percent_column
from lmms_medtasks.report.document import Frame, ReportNotice
from lmms_medtasks.report.views import ColumnSpec, ModelResults
from lmms_medtasks.samples.runs import make_printable
from lmms_medtasks.samples.table import QuestionTable
from lmms_medtasks.suites.estimates import Count, Estimate
from lmms_medtasks.suites.judged_measures import COMPLETE, bounded_mean, judgement_counts

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
_STATUSES = ("exact", "judged", "missing")


# --- What became of judgements ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class JudgingSummary:
    """What became of the judgements of some questions.

    Attributes:
        judges: each description that a record has of its judge, with the model that answered, and how many questions.
        statuses: judgements that are "exact", "judged" and "missing".
        reasons: why judgements are missing. rules: what settled the exact ones.
        labels: of the judge's own verdicts each dimension's label, as (dimension, label).
        system_fingerprints: what the judge's server calls its way of serving, of each verdict with one.
    """

    protocol: JudgeProtocol
    judges: Counter[tuple[tuple[str, str], ...]] = field(default_factory=Counter)
    statuses: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    rules: Counter[str] = field(default_factory=Counter)
    labels: Counter[tuple[str, str]] = field(default_factory=Counter)
    system_fingerprints: Counter[str] = field(default_factory=Counter)

    @classmethod
    def of(cls, rows: QuestionTable) -> JudgingSummary | None:
        """The judgements of the judged questions among ``rows``; None where no question is judged."""
        judged = [each for each in zip(*(rows.column(name) for name in _COLUMNS), strict=True) if each[0] is not None]
        if not judged:
            return None
        descriptions: dict[str, dict[str, Any]] = {each[0]: json.loads(each[0]) for each in judged}
        found = cls(registry.protocol_from_description(descriptions[judged[0][0]]))
        for judge, statuses, reasons, models, labels, fingerprints in judged:
            described = tuple((name, _setting_text(name, value)) for name, value in sorted(descriptions[judge].items()))
            answered = sorted({model for model in models if model is not None})
            for model in answered or [None]:
                found.judges[described if model is None else (*described, (_ANSWERED, make_printable(model)))] += 1
            found.statuses.update(statuses)
            found.system_fingerprints.update(map(make_printable, filter(None, fingerprints or ())))
            for status, reason in zip(statuses, map(make_printable, reasons), strict=True):
                if status == "missing":
                    # Without what the server said: the same cause in many words is one cause.
                    found.reasons[reason.partition(":")[0][:_REASON] or "no reason given"] += 1
                elif status == "exact":
                    found.rules[reason[:_REASON]] += 1
            for given in (json.loads(each) for each in labels if each is not None):
                found.labels.update((dimension.name, given[dimension.name]) for dimension in found.protocol.dimensions)
        return found

    @property
    def requested(self) -> int:
        return self.statuses.total()

    @property
    def coverage(self) -> float | None:
        """Share of the judgements requested that were obtained, by a rule or by a judge; None if there are none."""
        return 1 - self.statuses["missing"] / self.requested if self.requested else None

    @property
    def checks_not_passed(self) -> tuple[str, ...]:
        """The results of judge checks that failed or were not complete, a line each."""
        found = (judge.get("check", "") for judge in self._judges())
        return tuple(dict.fromkeys(each for each in found if each and not each.startswith(judge_check.PASSED)))

    @property
    def names(self) -> tuple[str, ...]:
        """The judges, in full: name, endpoint, the model that answered; () if none was configured."""
        return tuple(
            dict.fromkeys(_full_judge_name(judge) for judge in self._judges() if judge["name"] != _NONE_CONFIGURED)
        )

    @property
    def prompts(self) -> dict[str, str]:
        """The prompts by which verdicts were given: the digest of each text -> its file, "" where none was recorded."""
        told = ((judge.get("digest"), judge.get("prompt", "")) for judge in self._judges() if self.deciding)
        return {digest: file for digest, file in told if digest}

    @property
    def deciding(self) -> tuple[str, ...]:
        """:attr:`names` if any of their verdicts was obtained; () if all are missing or settled by rules."""
        return self.names if self.statuses["judged"] else ()

    @property
    def by_words(self) -> bool:
        """Whether the judge that compares words gave a verdict; what rules settled is not its."""
        return any(map(is_lexical, self.deciding))

    @property
    def shown(self) -> str:
        """The judges' names for a table, see :func:`judge_label`."""
        return ", ".join(map(judge_label, self.names)) or _NONE_CONFIGURED

    @property
    def short(self) -> str:
        """:attr:`shown` without where and how a judge was asked, for a sentence."""
        return ", ".join(dict.fromkeys(judge_label(name).partition(" at ")[0] for name in self.names))

    @property
    def others(self) -> tuple[str, ...]:
        """The names of the judges that are language models and not the paper's."""
        found = (judge for judge in self._judges() if judge.get("is_paper_judge") != "True")
        return tuple(name for each in found if (name := _full_judge_name(each)) in self.names and not is_lexical(name))

    @property
    def said(self) -> str:
        """Who judged, for the facts at the head of a part: name, prompt with its version and digest, settings."""
        served = ", ".join(f"{name} ({count:,})" for name, count in self.system_fingerprints.most_common())
        said = [*map(_judge_sentence, self._judges()), *([f"system_fingerprint {served}"] if served else [])]
        return "; ".join(dict.fromkeys(said)) or _NONE_CONFIGURED

    def _judges(self) -> list[dict[str, str]]:
        """The descriptions of the judges, without one that another repeats with the model that answered."""
        answered = {each[:-1] for each in self.judges if each and each[-1][0] == _ANSWERED}
        return [{"name": "not recorded", **dict(judge)} for judge in self.judges if judge not in answered]


_COLUMNS = (
    "judge", "verdict_statuses", "verdict_reasons", "verdict_models", "verdict_labels", "system_fingerprints",
)  # fmt: skip


def summarize_judgings(
    rows: QuestionTable, names: Sequence[str], label_of: Callable[..., str]
) -> dict[str, JudgingSummary]:
    """The judgements of each group of rows that agree in the columns ``names``, in the order of their first rows.

    ``label_of``: from the values of these columns to the group's name. Groups without a judged question are left out.
    """
    if not any(rows.values("judge")):
        return {}  # as in most benchmarks, quicker than by making the groups
    groups = rows.by(names, key=lambda values: 0)  # none is before another: the order of their first rows
    summaries = ((label_of(*values), JudgingSummary.of(group)) for values, group in groups.items())
    return {name: summary for name, summary in summaries if summary is not None}


def by_task(source: ModelResults) -> dict[str, JudgingSummary]:
    return summarize_judgings(source.rows, ["task"], str)


def judgings_by_protocol(rows: QuestionTable) -> dict[str, JudgingSummary]:
    """The judgements of each protocol, by its name, in the order of their first rows."""
    return summarize_judgings(rows, ["protocol"], str)


def judge_names(rows: QuestionTable) -> str:
    """The names of the judges of these rows; "" where nothing is judged."""
    return ", ".join(dict.fromkeys(judging.shown for judging in judgings_by_protocol(rows).values()))


def group_by_judge(sources: Sequence[ModelResults]) -> dict[tuple[str, ...], list[ModelResults]]:
    """The sources that may stand in one table, by the judges that gave verdicts: no table has two judges.

    Those that no judge saw stand with the first judge's.
    """
    named = deciding_judges([source.rows for source in sources])
    first = next(filter(None, named), ())
    groups: dict[tuple[str, ...], list[ModelResults]] = {}
    for source, names in zip(sources, named, strict=True):
        groups.setdefault(names or first, []).append(source)
    return groups


def deciding_judges(tables: Sequence[QuestionTable]) -> list[tuple[str, ...]]:
    """For each table who gave its verdicts: judges in full, and with the prompt's digest and file where some of the
    tables were judged by one prompt of a protocol and some by another."""
    found = [judgings_by_protocol(rows) for rows in tables]
    prompts: dict[str, dict[str, str]] = {}
    for of_table in found:
        for name, judging in of_table.items():
            prompts.setdefault(name, {}).update(judging.prompts)

    def text(name: str, digest: str) -> str:
        return f"{digest} of its prompt {prompts[name][digest]}".rstrip()

    return [
        tuple(
            dict.fromkeys(
                f"{judge}, {name} by the text {' and '.join(text(name, digest) for digest in sorted(each.prompts))}"
                if len(prompts[name]) > 1
                else judge
                for name, each in of_table.items()
                for judge in each.deciding
            )
        )
        for of_table in found
    ]


def is_lexical(name: str) -> bool:
    """Whether a judge compares words, without a language model."""
    return name.partition(":")[0] == _LEXICAL


def judge_label(name: str) -> str:
    """A judge's name, with "(no LLM)" for one that compares words."""
    return f"{name} (no LLM)" if is_lexical(name) else name


def _judge_sentence(judge: Mapping[str, str]) -> str:
    if judge["name"] == _NONE_CONFIGURED:
        return _NONE_CONFIGURED
    prompt = f"prompt {judge['prompt']} version {judge.get('version', '?')}" if judge.get("prompt") else ""
    rest = (prompt, *(f"{name} {judge[name]}" for name in ("digest", "check") if judge.get(name)))
    said = ", ".join(filter(None, rest))
    return f"{judge_label(_full_judge_name(judge))} ({said})" if said else judge_label(_full_judge_name(judge))


def _full_judge_name(judge: Mapping[str, str]) -> str:
    return identity.full_name(judge, judge.get(_ANSWERED))


def _setting_text(name: str, value: object) -> str:
    if isinstance(value, Mapping):
        value = (identity.way_phrase(value) if value else "") if name == "settings" else json.dumps(value)
    return make_printable(str(value))


# --- What a reader must know ------------------------------------------------------------------------------------------


def judging_notices(found: Mapping[str, JudgingSummary]) -> Iterator[ReportNotice]:
    """What limits judged numbers: no judge, no LLM, not the paper's, several, missing judgements.

    A limit that several groups have is said once, with their names.
    """
    about: dict[ReportNotice, list[str]] = {}
    for name, judging in found.items():
        for flag in _judging_limits(judging):
            about.setdefault(flag, []).append(name)
    for flag, names in about.items():
        yield ReportNotice(flag.kind, f"{', '.join(names)}: {flag.text}")


def _judging_limits(judging: JudgingSummary) -> Iterator[ReportNotice]:
    names, missing, coverage = judging.names, judging.statuses["missing"], judging.coverage
    has_paper = judging.protocol.paper_judge != PAPER_JUDGE
    how = "Judge from the log alone, without the model: lmms-medtasks judge RUN."
    warnings = []
    if not names and missing:
        warnings.append(f"no judge was configured; {missing:,} judgements are missing. {how}")
    if len(names) > 1:
        warnings.append(f"several judges in one task ({', '.join(names)}): its means mix them. {how}")
    warnings += [
        f"judged by {name}, which compares words and is NO LLM: for smoke tests, and no measure of the answers."
        for name in filter(is_lexical, names)
    ]
    warnings += [
        f"the judge's check, on answers of known quality, {check}. lmms-medtasks judge check says more."
        for check in judging.checks_not_passed
    ]
    warnings += [
        f"judged by {name}; the paper's judge is {judging.protocol.paper_judge}. Scores need not compare."
        for name in judging.others
        if has_paper
    ]
    warnings += constant_verdict(judging)
    if names and coverage is not None and coverage < COMPLETE:
        warnings.append(
            f"INCOMPLETE, {coverage:.1%} of the judgements were obtained (required: {COMPLETE:.0%}), "
            f"{missing:,} are missing. Means are over the others; the bounds say where they may lie. {how}"
        )
    yield from (ReportNotice("warning", text) for text in warnings)
    if judging.others and not has_paper:
        yield ReportNotice("note", f"judged by {', '.join(judging.others)}.")
    if names and missing and coverage is not None and coverage >= COMPLETE:
        yield ReportNotice("note", f"{missing:,} of {judging.requested:,} judgements are missing. {how}")
    if (served := len(judging.system_fingerprints)) > 1:
        said = f"the judge's server changed while it judged: it reported {served} system_fingerprints."
        yield ReportNotice("note", said)


def constant_verdict(judging: JudgingSummary) -> list[str]:
    """A warning if the judge gave every answer the same verdict; [] otherwise, and with too few verdicts."""
    number = max(judging.labels.values(), default=0)
    # One label of each dimension: every verdict has all of them.
    if len(judging.labels) != len(judging.protocol.dimensions) or number < FEWEST_VERDICTS:
        return []
    verdict = judge_check.in_words(judging.protocol, dict(judging.labels.keys()))
    return [
        f"the judge gave all {number:,} answers the same verdict ({verdict}): it tells no answer from another, or all "
        "are alike. Try it on answers of known quality: lmms-medtasks judge check."
    ]


def judging_marks(*found: JudgingSummary | None) -> str:
    """The marks of a number made of these judgements, "" for none."""
    judged = [each for each in found if each]
    marked = LEXICAL if any(each.by_words for each in judged) else ""
    marked += OTHER if any(each.others for each in judged) else ""
    return marked + (INCOMPLETE if any(each.statuses["missing"] for each in judged) else "")


# --- Tables and columns -----------------------------------------------------------------------------------------------


def judging_tables(
    found: Callable[[ModelResults], Mapping[str, JudgingSummary]] = by_task,
) -> tuple[Callable[..., Frame | None], ...]:
    """The tables on the judgements of a view's first source, grouped as ``found`` groups them."""
    return tuple(
        lambda sources, make=make: make(found(sources[0]))  # type: ignore[misc]
        for make in (judgement_table, cause_table)
    )


def judgement_table(found: Mapping[str, JudgingSummary]) -> Frame | None:
    """What became of the judgements, a row a group; None where nothing is judged."""
    columns = (
        label_column("task"),
        *map(count_column, ("judgements requested", "exact", "by a judge", "missing")),
        percent_column("coverage"),
        label_column("judge"),
    )
    rows = (
        (name, each.requested, *(each.statuses[status] for status in _STATUSES), each.coverage,
         each.short or _NONE_CONFIGURED)
        for name, each in found.items()
    )  # fmt: skip
    notes = (
        "exact: settled by a rule without a judge. missing: no valid verdict could be had; it is never a score. "
        f"Coverage below {COMPLETE:.0%} makes a run incomplete. How the judge was asked: the facts of this part.",
    )
    return make_frame("judgements", "Judgements", columns, rows, notes)


def cause_table(found: Mapping[str, JudgingSummary]) -> Frame | None:
    """Why judgements are missing and which rules settled others, by group; None if there is nothing to say."""
    columns = (label_column("task"), label_column("status"), label_column("rule or reason"), count_column("judgements"))
    rows = (
        (name, status, reason, number)
        for name, each in found.items()
        for status, reasons in (("exact", each.rules), ("missing", each.reasons))
        for reason, number in reasons.most_common()
    )
    return make_frame("judgement_causes", "Settled by a rule, or missing: why", columns, rows, folded=True)


def judged_columns(head: str, estimate: Estimate, measure: str, digits: int = 2) -> tuple[ColumnSpec, ...]:
    """A judged mean with its interval, judgements obtained and requested, and both bounds.

    ``estimate``: of the mean of ``measure``. A judged mean never stands without the other four.
    """
    obtained, requested = (
        Count(function=lambda rows, place=place: judgement_counts(rows, measure)[place])  # type: ignore[misc]
        for place in (0, 1)
    )
    return (
        ColumnSpec(head, estimate, "", digits),
        ColumnSpec("n judged", obtained, "count"),
        ColumnSpec("n", requested, "count"),
        ColumnSpec("missing as worst", bounded_mean(measure, "low"), "", digits),
        ColumnSpec("missing as best", bounded_mean(measure, "high"), "", digits),
    )
