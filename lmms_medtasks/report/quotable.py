"""May these numbers be quoted? Questions about the runs behind a report, each with its reason and its mend.

All answers are from what the runs recorded. The flags of each part say the same of its tasks, see
:func:`quotability_remarks`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from lmms_medtasks.record import FAILED
from lmms_medtasks.report import about, readability
from lmms_medtasks.report.document import ReportNotice
from lmms_medtasks.report.judged_tables import JudgingSummary, is_lexical
from lmms_medtasks.report.views import ModelResults
from lmms_medtasks.samples import answering_model
from lmms_medtasks.samples.result_files import REREAD
from lmms_medtasks.samples.runs import make_printable, model_name
from lmms_medtasks.short_texts import count_noun, join_with_and, listed_or_counted
from lmms_medtasks.suites import paper, registry
from lmms_medtasks.suites.suite import Suite

State = Literal["yes", "unknown", "partly", "no"]
"""How far a question is answered with yes; "unknown" where nothing was recorded that would answer it."""
STATE_NAMES: Mapping[State, str] = {"yes": "Yes", "unknown": "Not recorded", "partly": "Partly", "no": "No"}
_ORDER: tuple[State, ...] = ("yes", "unknown", "partly", "no")
_PAPER = "paper"
"""The settings that are the paper's, where a benchmark has such."""
_FEW = 2
"""Benchmarks that are named, and not called all."""
_NAMED = 2
"""Tasks that are named; of more, their number."""
_EVERY = 10_000
"""Tasks that are named in a part's flags: all."""
_MOST_PLACES = 4
"""Runs of a benchmark that are named where judgements lack."""


def describe_contributed(tasks: Iterable[str]) -> str:
    """What is known of tasks that are not installed: the folder that is given, or only their runs."""
    is_given = all(map(registry.is_here, tasks))
    return (
        "in a folder that is given, not installed" if is_given else "not installed here; only its runs say what it asks"
    )


@dataclass(frozen=True)
class QuotabilityCheck:
    """One check of the numbers: its title, its state, the reason, and what would mend it ("" if nothing has to be).

    ``badge``: what stands among the badges; "": nothing, or of a "no" the title with it.
    """

    title: str
    state: State
    reason: str
    mend: str = ""
    badge: str = ""

    @property
    def answer(self) -> str:
        return STATE_NAMES[self.state]


@dataclass(frozen=True)
class SuiteResults:
    """Model results with their benchmark."""

    suite: Suite
    source: ModelResults

    def metadata(self) -> Iterator[tuple[str, Mapping[str, Any], Mapping[str, Any]]]:
        """Each task with its metadata and configuration as its run recorded them."""
        for run, tasks in self.source.asked:
            for task in tasks:
                config = run.content["configs"][task]
                yield task, paper.recorded_metadata(config), config


def quotability_verdict(checks: Sequence[QuotabilityCheck]) -> str:
    """The verdict of all checks: ``Yes.``, ``With care. Partly met: …``, ``Not yet. Missing: …``."""
    worst = max((check.state for check in checks), key=_ORDER.index, default="yes")
    if worst == "yes":
        return "Yes."
    doubted = ("no",) if worst == "no" else ("unknown", "partly")
    named = [check.title for check in checks if check.state in doubted]
    return f"{'Not yet. Missing' if worst == 'no' else 'With care. Partly met'}: {', '.join(named)}."


def quotability_checks(asked: Sequence[SuiteResults], unread: Sequence[str] = ()) -> tuple[QuotabilityCheck, ...]:
    """All checks of a report; ``unread``: a text for each log that can't be read."""
    return (
        _data_check(asked),
        _completeness_check(asked, unread),
        _readability_check(asked),
        *_judging_checks(asked),
        _runner_check(asked),
        *_settings_checks(asked),
        *_trials_checks(asked),
        *_protocol_checks(asked),
    )


def quotability_remarks(asked: SuiteResults) -> Iterator[ReportNotice]:
    """What a reader must know before any number of a source, whatever its suite: each doubt, then notes."""
    own = [asked]
    checked = (
        _data_check(own),
        _completeness_check(own, (), _EVERY),
        _runner_check(own, _EVERY),
        *_settings_checks(own),
        *_trials_checks(own),
    )
    for check in checked:
        if check.state in ("partly", "no"):
            yield ReportNotice("warning", f"{check.reason}.")
    again = [run.content[REREAD][-1] for run, _ in asked.source.asked if run.content.get(REREAD)]
    if again:
        said = make_printable(f"{again[0].get('version')} ({again[0].get('date')})")
        yield ReportNotice(
            "note", f"Replies of an earlier run, read again by lmms-medtasks {said}: the model was not asked."
        )
    aside = (told.get("checkpoint_sampling_set_aside") for _, told, _ in asked.metadata())
    for said in dict.fromkeys(make_printable(str(each)) for each in aside if each):
        yield ReportNotice("note", f"Sampling settings of the checkpoint that were set aside: {said}.")


def _data_check(asked: Sequence[SuiteResults]) -> QuotabilityCheck:
    kinds: dict[str, list[str]] = {}
    for each in asked:
        for run, tasks in each.source.asked:
            for kind in about.data_kinds(run, tasks):
                kinds.setdefault(kind.rpartition(" of ")[2], []).append(each.suite.title)
    other = {kind: sorted(set(titles)) for kind, titles in kinds.items() if kind != "full"}
    contributed = [each for each in asked if each.suite.name not in registry.names()]
    if contributed and not other:
        titles = _list_names([each.suite.title for each in contributed], "benchmarks")
        known = describe_contributed(task for each in contributed for task, _, _ in each.metadata())
        reason = f"{titles}: contributed, {known}"
        return QuotabilityCheck("full data", "partly", reason)
    if not other:
        return QuotabilityCheck("full data", "yes", "all numbers are from the full data")
    every = len({each.suite.title for each in asked})
    said = "; ".join(
        f"{kind} data ({', '.join(titles) if len(titles) < every or every <= _FEW else f'all {every} benchmarks'})"
        for kind, titles in other.items()
    )
    counts = {make_printable(str(told["data_counts"])) for each in asked for _, told, _ in each.metadata()
              if told.get("data_counts")}  # fmt: skip
    what = "; ".join([f"{said}: practice, not the benchmark" if set(other) == {"mini"} else said, *sorted(counts)])
    if all(kind.endswith(about.ACCEPTED) for kind in other):
        return QuotabilityCheck("full data", "partly", what)
    names = sorted({name for each in asked for name in each.suite.data})
    mend = f"lmms-medtasks data prepare {names[0] if len(names) == 1 else 'NAME'}"
    return QuotabilityCheck("full data", "no", what, mend, f"{join_with_and(list(other))} data")


def _completeness_check(asked: Sequence[SuiteResults], unread: Sequence[str], most: int = 1) -> QuotabilityCheck:
    """``most``: tasks of which is said what they lack."""
    limited, lost = [], []
    drawn: dict[str, list[str]] = {}
    failed = requests = 0
    for each in asked:
        for run, tasks in each.source.asked:
            with_limit = f" ({about.limit_text(run)})" if about.limit_text(run) else ""
            for task, original, effective in about.question_counts(run, tasks):
                if effective < original:
                    limited.append(f"{task}: {effective:,} of {original:,} questions asked{with_limit}")
                rows = run.sample_count(task)
                if rows is not None and rows != effective:
                    lost.append(f"{task}: {rows:,} of {effective:,} in the log")
        for task, told, _ in each.metadata():
            if sample := about.subset_text(told):
                drawn.setdefault(sample, []).append(task)
        trials = [trial for found in each.source.rows.column("trials") for trial in found]
        failed, requests = failed + trials.count(FAILED), requests + len(trials)
    said = [f"left out: {len(unread)} log{'s' if len(unread) > 1 else ''} that can't be read"] if unread else []
    said += [*_list_first(lost, most), *_list_first(limited, most)]
    said += [f"a random sample of {_list_names(tasks)} ({sample})" for sample, tasks in drawn.items()]
    said += [f"{failed:,} of {requests:,} requests failed, which count in no mean"] if failed else []
    if not said:
        return QuotabilityCheck("complete", "yes", f"every question, {_count_replies(requests)}, none failed")
    mend = "run it without --limit" if limited else "run it without --subset" if drawn else ""
    # Replies that came are kept, and failed ones are not.
    again = "give the run's command again: it asks for what failed once more"
    mend = "; ".join(filter(None, [again if failed else "" if mend else "run it again: it goes on", mend]))
    state: State = "no" if limited or (failed and failed == requests) else "partly"
    return QuotabilityCheck("complete", state, "; ".join(said), mend)


def _readability_check(asked: Sequence[SuiteResults]) -> QuotabilityCheck:
    """Whether enough replies of each task could be read, by the gate's own threshold."""
    found = [(each, one) for each in asked for one in readability.of_source(each.suite, each.source)]
    low = [(each, one) for each, one in found if one.is_low]
    shown = readability.join_readabilities([one for _, one in low or found])
    said = f"{shown.percent} % of {_count_replies(shown.replies)}"
    if low and len(low) < len(found):
        models = list(dict.fromkeys(model_display_name(each.source) for each, _ in low))
        said += f" in {readability.named_tasks(shown.tasks, (each.suite.title for each, _ in low))}"
        # As without images: the first sentence is of one of them.
        ways = {(each.suite.title, each.source.name.removeprefix(model_display_name(each.source))) for each, _ in low}
        said += ", asked in several ways" if len(ways) > len({suite for suite, _ in ways}) else ""
        several = len({model_display_name(each.source) for each in asked}) > 1
        said += f" ({_list_names(models, 'models')})" if several else ""
    said += f": {shown.why}" if shown.why else ""
    more = shown.at_limit - shown.counts["cut"]
    said += f"; {more:,} more ended at the limit of new tokens, and were read" if more > 0 else ""
    mends = "; ".join(shown.mends)
    return QuotabilityCheck("replies can be read", "no" if low else "partly" if mends else "yes", said, mends)


@dataclass(frozen=True)
class _Verdicts:
    """What became of the judgements of a run's task; ``model`` is "" where all are one's."""

    suite: str
    model: str
    task: str
    made: JudgingSummary
    has_paper: bool


def _judging_checks(asked: Sequence[SuiteResults]) -> Iterator[QuotabilityCheck]:
    several = len({model_display_name(each.source) for each in asked}) > 1
    found = [verdicts for each in asked for verdicts in _judgement_states(each, with_model=several)]
    if not found:
        return
    # A benchmark without a paper has no judge to be held against.
    with_paper = any(each.has_paper for each in found)
    unjudged = [each for each in found if not each.made.names]
    lexical = [each for each in found if any(map(is_lexical, each.made.names))]
    gaps = [each for each in found if each.made.names and each.made.statuses["missing"]]
    others: dict[str, list[_Verdicts]] = {}
    for each in found:
        # How it was asked stands with the facts of each part.
        named = each.made.others if each.has_paper and each.made.coverage else ()
        for name in dict.fromkeys(name.partition(" at ")[0] for name in named):
            others.setdefault(name, []).append(each)
    none = unjudged + [each for each in lexical if each not in unjudged]
    said, mends = [], []
    if none:
        left = sum(each.made.statuses["missing"] for each in unjudged)
        unsaid = f": {count_noun(left, 'judgement')} missing" if left else ""
        said.append(f"no language model judged {_list_judged_tasks(none, found)}{unsaid}")
        # Of a run without verdicts the gaps are filled; one that was judged lexically is judged anew.
        again = "lmms-medtasks judge RUN"
        mends.append(f"{again} --judge openai:MODEL" if lexical else f"set MEDTASKS_JUDGE, then {again}")
    if gaps:
        missing = sum(gap.made.statuses["missing"] for gap in gaps)
        requested = sum(gap.made.requested for gap in gaps)
        said.append(f"{missing:,} of {requested:,} judgements are missing in {_list_judged_tasks(gaps, found)}")
        mends += [] if none else ["lmms-medtasks judge RUN asks for them again"]
    if others:
        judges = "; ".join(f"{name} judged {_list_judged_tasks(places, found)}" for name, places in others.items())
        said.append(f"another judge: {judges}" if said else f"by another judge: {judges}")
        mends += [] if mends else ["compare runs judged alike"]
    title = "judged as in the paper" if with_paper else "judged"
    badge = f"judge: {join_with_and(list(dict.fromkeys(name for each in found for name in _judge_names(each.made))))}"
    if said:
        without = all(each in none or each.made.statuses["missing"] == each.made.requested for each in found)
        state: State = "no" if without else "partly"
        yield QuotabilityCheck(title, state, "; ".join(said), "; ".join(mends), badge)
        return
    # Its name alone makes it the paper's: where it was asked is for the reader to see.
    names = dict.fromkeys(name.partition(", asked")[0] for each in found if each.has_paper is with_paper
                          for name in each.made.names)  # fmt: skip
    said_by = ("by the paper's judge, " if with_paper else "by ") + ", ".join(names)
    yield QuotabilityCheck(title, "yes", said_by, "", badge)


def _judge_names(made: JudgingSummary) -> list[str]:
    """The judges without where and how they were asked, for a badge; of no verdict "none"."""
    names = made.names if made.coverage else ()
    return ["word comparison" if is_lexical(name) else name.partition(" at ")[0] for name in names] or ["none"]


def _list_judged_tasks(found: Sequence[_Verdicts], every: Sequence[_Verdicts]) -> str:
    """``Benchmark (task_open), Other (7 tasks, model B)``; of all judgements without models."""
    tasks: dict[tuple[str, str], list[str]] = {}
    for each in found:
        tasks.setdefault((each.suite, each.model if len(found) < len(every) else ""), []).append(each.task)
    named = []
    for (suite, model), own in tasks.items():
        # A contributed task alone has its benchmark's name.
        more = ", ".join(filter(None, (_list_names(own) if set(own) != {suite} else "", model)))
        named.append(f"{suite} ({more})" if more else suite)
    return ", ".join(_list_first(named, _MOST_PLACES, "more run"))


def _judgement_states(asked: SuiteResults, *, with_model: bool) -> Iterator[_Verdicts]:
    """What became of the judgements, by task and judge; ``with_model``: whether runs are told apart by their model."""
    model = model_display_name(asked.source) if with_model else ""
    has_paper = paper.find_paper_protocol(asked.suite.name) is not None
    rows = asked.source.rows
    # By the judge's whole description, since each protocol has labels of its own, and a task may have several.
    for (_, task, _), own in rows.by(["run", "task", "judge"], key=str).items() if any(rows.values("judge")) else ():
        made = JudgingSummary.of(own)
        if made is not None:
            yield _Verdicts(asked.suite.title, model, make_printable(task), made, has_paper)


def model_display_name(source: ModelResults) -> str:
    """The model that a source is of, for people."""
    return make_printable(model_name(source.run.content))


def _runner_check(asked: Sequence[SuiteResults], most: int = _NAMED) -> QuotabilityCheck:
    """``most``: tasks that are named; of more, their number."""
    told = [(task, found) for each in asked for task, found, _ in each.metadata()]
    others: dict[str, list[str]] = {}
    for task, found in told:
        others.setdefault(answering_model.describe_answering_model(found), []).append(task)
    if other := {said: tasks for said, tasks in others.items() if said}:
        reason = "; ".join(f"{_list_names(tasks, most=most)}: {said}" for said, tasks in other.items())
        return QuotabilityCheck("clean runner", "no", reason, "ask a server of that one model", "another model")

    def recorded(name: str) -> list[str]:
        return sorted({make_printable(str(found[name])) for _, found in told if found.get(name)})

    if encoded := recorded("image_encoding"):
        reason = f"the runner re-encoded the images ({', '.join(encoded)})"
        return QuotabilityCheck("clean runner", "no", reason, "docs/choose_a_runner.md")
    if unread := recorded("runner_unknown"):
        reason = f"what it does to images is {unread[0]}"
        return QuotabilityCheck("clean runner", "partly", reason, "docs/choose_a_runner.md")
    if changed := [task for task, found in told if found.get("package_modified")]:
        said = f"files of lmms-medtasks are not as installed or committed ({_list_names(changed, most=most)})"
        return QuotabilityCheck("clean runner", "partly", said, "install a release")
    if silent := [task for task, found in told if not found.get("digests")]:
        said = f"{_list_names(silent, most=most)}: the run recorded neither its runner nor its prompts"
        return QuotabilityCheck("clean runner", "unknown", said, "lmms-medtasks run")
    return QuotabilityCheck("clean runner", "yes", "no lossy encoding of images; prompts as released")


def _settings_checks(asked: Sequence[SuiteResults]) -> Iterator[QuotabilityCheck]:
    """Options and prompts of the user's own; the papers' settings are no reason against a number."""
    own = [{**found, "settings": None} for each in asked for _, found, _ in each.metadata()]
    changed = [said for found in own for said in about.settings_said(found)]
    if changed:
        said = ", ".join(dict.fromkeys(changed))
        yield QuotabilityCheck("the task's settings", "partly", f"asked with {said}", "run it without that option")


def _trials_checks(asked: Sequence[SuiteResults]) -> Iterator[QuotabilityCheck]:
    several = [each for each in asked if max(map(len, each.source.rows.column("trials")), default=0) > 1]
    if not several:
        return
    doubts = {
        make_printable(str(told.get("trials_independent_why")))
        for each in several
        for _, told, _ in each.metadata()
        if told.get("trials_independent")
    }
    if doubts:
        why = f"trials may not be independent draws: {'; '.join(sorted(doubts))}"
        yield QuotabilityCheck("independent trials", "no", why, "docs/choose_a_runner.md")
        return
    questions = [trials for each in several for trials in each.source.rows.column("trials")]
    replies = [replied for trials in questions if len(replied := [trial for trial in trials if trial != FAILED]) > 1]
    if any(len(set(replied)) > 1 for replied in replies):
        reason = f"up to {max(map(len, questions))} draws a question, which differ"
        yield QuotabilityCheck("independent trials", "yes", reason)
    elif replies:
        reason = "all trials of all questions are the same"
        yield QuotabilityCheck("independent trials", "partly", reason, "ask with a temperature above 0")


def _protocol_checks(asked: Sequence[SuiteResults]) -> Iterator[QuotabilityCheck]:
    said: dict[str, dict[str, None]] = {}
    mended: dict[str, None] = {}
    compared = False
    for each in asked:
        own = paper.find_paper_protocol(each.suite.name)
        if own is None:
            continue
        compared = True
        known = own.settings.get(_PAPER)
        changes = known is not None and bool(known.default or known.generation)
        for task, told, config in each.metadata():
            if changes and not paper.settings_label(told):
                mended[each.suite.title] = None
            for difference in own.remaining(task, paper.facts_of(config)):
                said.setdefault(each.suite.title, {})[difference.title] = None
    if said:
        named = "; ".join(f"{suite} ({_list_names(list(titles), 'ways')})" for suite, titles in said.items())
        mend = f"--settings paper mends some of {join_with_and(list(mended))}" if mended else ""
        reason = f"differs: {named}; each benchmark's card lists them"
        yield QuotabilityCheck("the paper's protocol", "partly", reason, mend)
    elif compared:
        yield QuotabilityCheck("the paper's protocol", "yes", "no known difference")


def _count_replies(count: int) -> str:
    return f"{count:,} {'reply' if count == 1 else 'replies'}"


def _list_names(names: Sequence[str], what: str = "tasks", most: int = _NAMED) -> str:
    return listed_or_counted(list(dict.fromkeys(names)), most, what, ", ".join)


def _list_first(texts: Iterable[str], most: int = 1, what: str = "more task") -> list[str]:
    """The first ``most`` of them, and how many more there are."""
    found = list(texts)
    left = len(found) - most
    return [*found[:most], *([f"and {left} {what}{'s' if left > 1 else ''}"] if left > 0 else [])]
