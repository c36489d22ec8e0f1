"""The problems of an entry, each with its reason; the board's rules give the levels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from lmms_medtasks.board import installed, model_names, recount
from lmms_medtasks.board.boards import TaskReference
from lmms_medtasks.board.entries import EntryProblem, LeaderboardEntry
from lmms_medtasks.board.rules import BoardRules
from lmms_medtasks.board.trust.pins import QuestionPins
from lmms_medtasks.board.trust.rules_of_trust import TrustRules
from lmms_medtasks.digests import OF_PACKAGE
from lmms_medtasks.judges import identity
from lmms_medtasks.report import quotable
from lmms_medtasks.suites import common_metrics

Found = Iterator[tuple[str, str]]
ADD_PIN = "the keeper adds one with lmms-medtasks leaderboard pin RUN -o pins.yml"


def own_problems(entry: LeaderboardEntry, rules: BoardRules) -> list[EntryProblem]:
    """Problems of the entry that do not depend on the rest of the board."""
    reasons = [*_task_problems(entry), *_extent_problems(entry), *_rate_problems(entry, rules.thresholds)]
    return [make_entry_problem(rules, entry, code, reason) for code, reason in reasons]


def problems_beside(
    entry: LeaderboardEntry, rules: BoardRules, reference: TaskReference, trust: TrustRules
) -> list[EntryProblem]:
    """Problems of the entry on a board with this reference, without its own ones."""
    reasons = [
        *_data_problems(entry, reference, trust.pins),
        *_judging_problems(entry, reference, trust.in_public),
        *_version_problems(entry, reference, trust.pins),
    ]
    return [make_entry_problem(rules, entry, code, reason) for code, reason in reasons]


def make_entry_problem(rules: BoardRules, entry: LeaderboardEntry, code: str, reason: str) -> EntryProblem:
    return rules.problem(code, reason, entry.source.results, entry.task, entry.model.name)


def _task_problems(entry: LeaderboardEntry) -> Found:
    if entry.declaration is None:
        yield "unknown_task", f"{entry.task} is not known here. {installed.ADVICE}"
    else:
        if entry.source.kind == "run":  # a pack was held against its rows as it was read
            yield from (("metric_not_here", said) for said in recount.not_here(entry))
            yield from (("not_adding_up", said) for said in recount.entry_contradictions(entry))
        if installed.find_installed_task(entry.task) is None:
            yield "contributed_task", f"A contributed task, {quotable.describe_contributed([entry.task])}."
    if said := model_names.model_name_problem(model_names.shown_name(entry.model.name)):
        yield "bad_name", f"A model is not ranked by this name: {said}."
    if not entry.digests or not all(entry.digests.values()):
        yield "no_digests", "The digests of prompt and code are missing: nobody knows what was asked. Run it again."
    if other := entry.settings.get("other_model"):
        yield "other_model", f"Its server was {other}: whose answers these are is not known."


def _data_problems(entry: LeaderboardEntry, reference: TaskReference, pins: QuestionPins) -> Found:
    if entry.variant not in ("full", "sample", "mini"):
        yield "unknown_data", "The run does not say which data it read."
    elif entry.data != reference.data:
        yield "other_data", f"{entry.data.capitalize()} data; the ranking is of {reference.data} data."
    elif entry.data_digest != reference.data_digest:
        said = f"{entry.data_digest[:12] or 'not recorded'} against {reference.data_digest[:12] or 'not recorded'}"
        yield "other_data", f"Other bytes of the {entry.data} data than the ranking's (digest {said})."
    if entry.data != entry.variant:
        yield "subset_data", f"A sample, {entry.data} data: its numbers are estimates of those of all questions."
    if entry.variant == "mini":
        yield "mini_data", "Mini data, not the benchmark: no number compares with the paper's."
    counts = entry.settings.get("data_counts", "")
    if entry.variant == "sample":
        said = f" ({counts})" if counts else ""
        yield "sample_data", f"Sample data{said}, not the whole benchmark: no number compares with the paper's."
    elif entry.variant == "full" and counts:
        yield "accepted_counts", f"Called full although its counts are not the release's ({counts})."

    if pins.lack(entry.task):
        yield "no_pin", f"No pin for this task: {ADD_PIN}."
    pin = pins.of(entry)
    if pin is not None and not entry.limited:
        yield from (("other_questions", said) for said in pin.differences(entry))
    if entry.asked_by != reference.settings:
        said, wanted = (each or "our settings" for each in (entry.asked_by, reference.settings))
        yield "other_settings", f"Asked and scored with {said}; the ranking is of entries with {wanted}."


def _extent_problems(entry: LeaderboardEntry) -> Found:
    counts = entry.counts
    if entry.limited:
        limit = f" ({entry.settings['limit']})" if entry.settings.get("limit") else ""
        yield "limited", f"Only {counts.effective:,} of {counts.original:,} questions were asked{limit}."
    if counts.effective is not None and counts.rows != counts.effective:
        yield "missing_samples", f"{counts.rows:,} questions in the log, {counts.effective:,} were asked."
    if not entry.metrics:
        yield "no_scores", "No answer has a score."


def _rate_problems(entry: LeaderboardEntry, thresholds: Mapping[str, float]) -> Found:
    counts = entry.counts
    parsed, covered, failed = counts.parse_rate, counts.coverage, counts.failure_rate
    if parsed is not None and parsed < thresholds["parse_rate"]:
        why = common_metrics.describe_outcomes(entry.outcomes, ("unreadable", "cut", "empty", "refused"))
        said = f"(required: {thresholds['parse_rate']:.0%}); the others{why and f' ({why})'} count as incorrect."
        yield "low_parse_rate", f"{parsed:.1%} of the replies could be read {said}"
    elif entry.at_limit > (1 - thresholds["parse_rate"]) * counts.replies + 1e-9:
        said = "ended at the limit of new tokens, read or not: let the model have more (--gen_kwargs max_new_tokens=N)."
        yield "low_parse_rate", f"{entry.at_limit:,} of {counts.replies:,} replies {said}"
    # Without a judge they are not missing but were not asked for: see `no_judge`.
    judged = entry.judge is None or entry.judge.name != "none"
    if judged and covered is not None and covered < thresholds["coverage"]:
        missing = f"{counts.wanted - counts.judged:,} are missing"
        said = f"{covered:.1%} of the judgements were obtained (required: {thresholds['coverage']:.0%}), {missing}."
        said += " The command of the run, or lmms-medtasks judge, asks for those again."
        yield "low_coverage", said
    if failed is not None and failed > thresholds["failure_rate"]:
        said = f"{counts.failed:,} of {counts.requests:,} requests failed (at most {thresholds['failure_rate']:.1%}). "
        said += "The command of the run, given again, asks those again."
        yield "failed_requests", said


def _judging_problems(entry: LeaderboardEntry, reference: TaskReference, in_public: bool) -> Found:
    """On a public board the board names the judge, and an entry has to name its judge in full."""
    judge = entry.judge
    judgements = {*entry.samples.column("judgement")} - {None} if in_public else set()
    if in_public:
        is_of_own = installed.find_installed_task(entry.task) is None and bool(judgements)
        needs_judge = installed.is_judged(entry.task, entry.settings) or is_of_own
    else:
        needs_judge = judge is not None and (judge.name != "none" or entry.counts.wanted > entry.counts.judged)
    if not needs_judge:
        return
    if judge is None or judge.name == "none":
        yield "no_judge", "No judge was configured: only what a rule settles has a score."
        return
    is_called = reference.judge is not None and (
        identity.same_judge(judge.name, reference.judge)
        or (in_public and identity.is_called(judge.name, reference.judge))
    )
    # The judge that compares words is no language model, and so has no address.
    is_lexical = judge.name.partition(":")[0] == "lexical"
    own, wanted = judge.prompts, reference.prompts
    names = {*own, *wanted} if in_public and wanted else {*own} & {*wanted}
    changed = sorted(name for name in names if own.get(name) != wanted.get(name))
    if " + " in judge.name:
        yield "several_judges", f"Judged by several ({judge.name}): its means mix them."
    elif reference.judge is None and in_public:
        said = "names no judge of this task: its keepers do, in the rules (board: judge) or by pinning a judged run"
        yield "no_board_judge", f"Judged by {judge.name}, and the board {said}."
    elif reference.judge is not None and not is_called:
        yield "other_judge", f"Judged by {judge.name}; the ranking's judge is {reference.judge}."
    elif in_public and not (is_lexical or identity.is_whole(judge.name)) and {"judged", "partial"} & judgements:
        yield "other_judge", f"Judged by {judge.name}: at which address, or which model answered, it does not say."
    elif changed:
        named = ", ".join(changed)
        yield "other_judge_prompt", f"The judge was asked by another prompt than the ranking's: {named}."
    if is_lexical:
        yield "lexical_judge", f"Judged by {judge.name}, which compares words and is no language model."


def _version_problems(entry: LeaderboardEntry, reference: TaskReference, pins: QuestionPins) -> Found:
    found = installed.find_installed_task(entry.task)
    if entry.version != reference.version:
        said = f"Task version {entry.version}; the ranking is of version {reference.version}."
        if found and found.version == entry.version and pins.found and pins.of(entry) is None:
            said += " It is the version that is installed here: the board's keepers pin it."
        yield "other_version", said
    elif entry.digests:
        # At one version of a task other versions of the package give the same numbers.
        wanted = {**reference.digests, **reference.packages.get(entry.package_version, entry.of_package)}
        for part in sorted({*entry.digests, *wanted}):
            if entry.digests.get(part) != wanted.get(part):
                code = f"other_{part}" if part in ("prompt", "degradations") else "other_code"
                said = f"(digest {entry.digests.get(part, 'none')} against {wanted.get(part, 'none')})"
                of = f" of lmms-medtasks {entry.package_version}" if part in OF_PACKAGE else ""
                yield code, f"Another {part.replace('_', ' ')}{of} than the ranking's {said}."
    if entry.package_modified:
        said = f"Files of lmms-medtasks {entry.package_version} are not as installed or committed."
        yield "modified_package", f"{said} Install a release, and run it again."
    if entry.settings.get("image_encoding"):
        yield "reencoded_images", f"The runner re-encoded the images ({entry.settings['image_encoding']})."
    if reference.harness and entry.harness != reference.harness:
        yield "other_harness", f"Harness version {entry.harness}; the ranking's is {reference.harness}."
