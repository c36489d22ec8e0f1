"""Entries that conflict: several of one model, similar names, and other questions.

None of them wins by date or number, otherwise submitting twice would help. Refused and unranked entries conflict with
none.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace

import numpy as np

from lmms_medtasks.board import installed, model_names
from lmms_medtasks.board.checks import make_entry_problem
from lmms_medtasks.board.columns import codes_of, dictionary_encode
from lmms_medtasks.board.entries import EntryProblem, LeaderboardEntry, measure_of
from lmms_medtasks.board.rules import BoardRules
from lmms_medtasks.board.trust.pins import QuestionPins
from lmms_medtasks.board.trust.rules_of_trust import TrustRules
from lmms_medtasks.samples.table import QuestionTable
from lmms_medtasks.suites.contributions import SCORE_DIGITS

_NAMED = 3
"""Other entries that a reason names."""
_FEW = 10
"""Questions below which two models may well give the same answers."""


def without_copies(
    entries: Sequence[LeaderboardEntry], rules: BoardRules
) -> tuple[list[LeaderboardEntry], list[EntryProblem]]:
    """One entry for each model, task and answers: runs before packs, then files with judgements first."""
    kept: dict[Hashable, LeaderboardEntry] = {}
    problems = []
    judged = {entry.source.results for entry in entries if _is_judged(entry)}

    def preference(entry: LeaderboardEntry) -> tuple[bool, bool, str]:
        results = entry.source.results
        return entry.source.kind != "run", results not in judged, str(results)

    # To compare answers takes as long as reading them, so only those of equal entries are compared.
    alike = Counter(map(_condition_key, entries))
    for entry in sorted(entries, key=preference):
        how = _condition_key(entry)
        first = kept.setdefault((how, _answers_digest(entry) if alike[how] > 1 else ""), entry)
        if first is not entry:
            is_judged = first.source.results in judged and entry.source.results not in judged
            problems.append(_duplicate_problem(entry, first, "judged" if is_judged else "first", rules))
    places = {id(entry): place for place, entry in enumerate(entries)}
    return sorted(kept.values(), key=lambda each: places[id(each)]), problems


def without_unjudged(
    entries: Sequence[LeaderboardEntry], rules: BoardRules
) -> tuple[list[LeaderboardEntry], list[EntryProblem]]:
    """The entries without those that only lack judgements, if a judged entry with the same replies is ranked."""
    # Replies are compared only where one is judged and another one is not.
    lacking = [entry for entry in entries if _limit_codes(entry) in _LACKING]
    models = {_model_key(entry) for entry in lacking}
    judged = {
        _replies_key(entry): entry
        for entry in entries
        if entry.ranked and _model_key(entry) in models and _is_judged(entry)
    }
    copies = {id(entry): stands for entry in lacking if judged and (stands := judged.get(_replies_key(entry)))}
    problems = [
        _duplicate_problem(entry, copies[id(entry)], "judged", rules) for entry in lacking if id(entry) in copies
    ]
    return [entry for entry in entries if id(entry) not in copies], problems


def _limit_codes(entry: LeaderboardEntry) -> set[str]:
    return {problem.code for problem in entry.problems if problem.level == "unranked"}


def _is_judged(entry: LeaderboardEntry) -> bool:
    return entry.judge is not None and entry.judge.name != "none"


def _replies_key(entry: LeaderboardEntry) -> Hashable:
    """Equal for entries of one model with the same replies to the same questions."""
    trials = dictionary_encode(entry.answers.column("trials"))
    codes = codes_of(trials).astype("<u4").tobytes()
    return entry.model.key, entry.task, entry.questions.digest, repr(trials.dictionary.to_pylist()), codes


def _duplicate_problem(
    entry: LeaderboardEntry, stands: LeaderboardEntry, which: str, rules: BoardRules
) -> EntryProblem:
    said = f"The same replies as in {stands.source.results}: the {which} copy stands."
    return make_entry_problem(rules, entry, "duplicate", said)


def mark_conflicting(
    entries: Sequence[LeaderboardEntry], rules: BoardRules, trust: TrustRules
) -> list[LeaderboardEntry]:
    """Mark rankable entries that conflict with another one as not ranked."""
    marked = _other_questions(_mark_similar_names(entries, rules, trust), rules, trust.pins)
    return _same_answers(_mark_repeated_models(marked, rules, trust), rules)


def by_measure(entries: Sequence[LeaderboardEntry], rules: BoardRules, trust: TrustRules) -> list[LeaderboardEntry]:
    """The entries of :func:`mark_conflicting`; those that only lack a judge are ranked by the measures that need none.

    This leaves out models with a ranked entry on the task. On a public board only for tasks whose rules can score
    replies with words; otherwise only empty replies would be ranked.
    """
    ranked = {_ranking_row_key(entry, trust) for entry in entries if entry.ranked}
    freed = []
    for entry in entries:
        task = installed.find_installed_task(entry.task)
        by_rule = not trust.in_public or (task is not None and task.settles_words)
        freed.append(entry if _ranking_row_key(entry, trust) in ranked else settled_by_rules(entry, by_rule=by_rule))
    # Entries that are ranked now may conflict with others.
    return list(entries) if freed == list(entries) else mark_conflicting(freed, rules, trust)


_UNJUDGED = frozenset({"no_judge", "low_coverage", "no_board_judge"})
_LACKING = ({"no_judge"}, {"low_coverage"})
"""Only problems of entries that a judged copy replaces."""


def settled_by_rules(entry: LeaderboardEntry, *, by_rule: bool) -> LeaderboardEntry:
    """An entry that only its judge keeps from the ranking, with the metrics that need none.

    These are the metrics all of whose questions were settled by rules (a closed question whose reply is the option):
    any judge would leave them as they are. If judgements are missing and nothing else is wrong, also metrics that lack
    none. Entries without such a main metric are returned unchanged; without ``by_rule`` also those that rules alone
    settled.
    """
    codes = _limit_codes(entry)
    lacking = codes == {"low_coverage"}
    if not codes or not codes <= _UNJUDGED or not (lacking or by_rule):
        return entry
    samples = entry.samples
    kept = tuple(name for name in entry.metrics if _is_settled(entry, samples, name, by_rule=not lacking))
    if not set(kept) & set(entry.main_metrics):
        return entry
    left = [name for name in entry.main_metrics if name not in kept]
    said = f" Not ranked by {', '.join(left)}." if left else ""
    problems = tuple(
        replace(problem, level="flag", reason=f"{problem.reason}{said}") if problem.level == "unranked" else problem
        for problem in entry.problems
    )
    return replace(entry, metrics=kept, problems=problems)


def _is_settled(entry: LeaderboardEntry, samples: QuestionTable, metric: str, *, by_rule: bool) -> bool:
    """Whether no judgement of a metric is missing; with ``by_rule`` a judge may have given none."""
    if entry.declaration is None:
        return False
    declared = entry.declaration.metric(metric)
    rows, measure = samples.where(declared.estimate.where), measure_of(declared)
    if measure is None:  # any judgement may be in it
        return set(rows.column("judgement")) <= {None}
    wanted, had = (np.nan_to_num(rows.column(f"{measure}.{each}")) for each in ("requested", "judged"))
    if by_rule and set(rows.of_measure(measure).column("judgement")) - {None, "exact"}:
        return False
    return bool((wanted <= had).all())


def _with_problem(
    entries: Sequence[LeaderboardEntry], rules: BoardRules, code: str, find: Callable[[LeaderboardEntry], str]
) -> list[LeaderboardEntry]:
    """The entries, those that are ranked with what ``find`` says against them, "" for nothing."""
    said = [(entry, find(entry) if entry.ranked else "") for entry in entries]
    return [
        entry.with_problems([make_entry_problem(rules, entry, code, reason)]) if reason else entry
        for entry, reason in said
    ]


def _mark_similar_names(
    entries: Sequence[LeaderboardEntry], rules: BoardRules, trust: TrustRules
) -> list[LeaderboardEntry]:
    names: dict[str, set[str]] = {}
    owned = trust.owners.accounts if trust.owners else ()
    for entry in entries:
        if entry.ranked and entry.model.name not in owned:
            names.setdefault(model_names.confusable_form(entry.model.name), set()).add(entry.model.name)

    def find(entry: LeaderboardEntry) -> str:
        others = sorted(names.get(model_names.confusable_form(entry.model.name), set()) - {entry.model.name})
        named = _list_some(list(map(repr, others)))
        return f"A reader takes {entry.model.name!r} for {named}: owners.yml says whose a name is." if others else ""

    return _with_problem(entries, rules, "look_alike", find)


def _other_questions(
    entries: Sequence[LeaderboardEntry], rules: BoardRules, pins: QuestionPins
) -> list[LeaderboardEntry]:
    """Without a pin the correct question set cannot be determined, not even by majority."""
    sets: dict[Hashable, dict[Hashable, LeaderboardEntry]] = {}
    for entry in entries:
        if entry.ranked and pins.of(entry) is None:
            sets.setdefault(_data_key(entry), {}).setdefault(_question_key(entry), entry)

    def find(entry: LeaderboardEntry) -> str:
        others = sets.get(_data_key(entry), {}) if pins.of(entry) is None else {}
        other = next((each for asked, each in others.items() if asked != _question_key(entry)), None)
        return _describe_question_difference(entry, other) if other else ""

    return _with_problem(entries, rules, "other_questions", find)


def _describe_question_difference(entry: LeaderboardEntry, other: LeaderboardEntry) -> str:
    lacking = len(np.setdiff1d(other.questions.ids, entry.questions.ids, assume_unique=True))
    added = len(np.setdiff1d(entry.questions.ids, other.questions.ids, assume_unique=True))
    said = "they have other images, correct answers or tags"
    if entry.questions.digest == other.questions.digest:
        said = "it says that the task has another template, protocol of a judge, or parts of its own"
    elif lacking or added:
        said = f"{lacking:,} that it has are missing, {added:,} are of this one only"
    way_out = "No pin says which set is the right one (lmms-medtasks leaderboard pin)."
    return f"Other questions than {other.source.results}: {said}. {way_out}"


def _mark_repeated_models(
    entries: Sequence[LeaderboardEntry], rules: BoardRules, trust: TrustRules
) -> list[LeaderboardEntry]:
    groups: dict[Hashable, list[LeaderboardEntry]] = {}
    for entry in entries:
        if entry.ranked:
            groups.setdefault(_ranking_row_key(entry, trust), []).append(entry)

    def find(entry: LeaderboardEntry) -> str:
        group = groups[_ranking_row_key(entry, trust)]
        most = trust.owners.rows.get(entry.model.name, 1) if trust.owners else 1
        others = [member for member in group if len(group) > most or _model_key(member) == _model_key(entry)]
        where = _list_some([str(other.source.results) for other in others if other is not entry])
        keep = "one" if most == 1 else f"{most}, of other arguments each"
        said = f"{entry.model.name} on {entry.task}: other scores of it are in {where}. Which counts? Keep {keep}."
        return said if where else ""

    return _with_problem(entries, rules, "several_entries", find)


def _same_answers(entries: Sequence[LeaderboardEntry], rules: BoardRules) -> list[LeaderboardEntry]:
    """Equal answers to every question are no separate result: one was copied, or one model has two names."""
    alike: dict[Hashable, list[LeaderboardEntry]] = {}
    for entry in entries:
        if entry.ranked and len(entry.questions) >= _FEW:
            # Computed, because a submission may omit its number; entries without a score are compared too.
            numbers = [entry.interval(name, with_interval=False).estimate for name in entry.main_metrics[:1]]
            rounded = [None if number is None else round(number, SCORE_DIGITS) + 0.0 for number in numbers]
            alike.setdefault((entry.task, entry.questions.digest, *rounded), []).append(entry)
    same: dict[int, list[str]] = {}
    for group in alike.values():
        # Answers are compared only where the main number is the same.
        if len(group) > 1:
            digests = {id(member): _answers_digest(member) for member in group}
            for entry in group:
                others = [
                    member for member in group if member is not entry and digests[id(member)] == digests[id(entry)]
                ]
                names = {other.model.name for other in others}
                own = {"another entry of its own name"} if entry.model.name in names else set()
                same[id(entry)] = sorted(names - {entry.model.name} | own)

    def find(entry: LeaderboardEntry) -> str:
        # Entries that `by_measure` ranks are checked twice.
        copies = [] if any(problem.code == "same_answers" for problem in entry.problems) else same.get(id(entry), [])
        return f"The same answers, question by question, as {_list_some(copies)}." if copies else ""

    return _with_problem(entries, rules, "same_answers", find)


def _list_some(texts: Sequence[str]) -> str:
    """The first of the texts, and how many more there are."""
    more = f" and {len(texts) - _NAMED:,} more" if len(texts) > _NAMED else ""
    return f"{', '.join(texts[:_NAMED])}{more}"


def _model_key(entry: LeaderboardEntry) -> Hashable:
    return model_names.confusable_form(entry.model.name), entry.model.harness_model, entry.model.arguments, entry.task


def _ranking_row_key(entry: LeaderboardEntry, trust: TrustRules) -> Hashable:
    """One row of a ranking; on a public board a name, because submitters choose runner and arguments."""
    return (entry.model.name, entry.task) if trust.in_public else _model_key(entry)


def _data_key(entry: LeaderboardEntry) -> Hashable:
    return entry.task, entry.version, entry.data, entry.data_digest, entry.asked_by


def _question_key(entry: LeaderboardEntry) -> Hashable:
    """The questions and how they are scored."""
    return entry.questions.digest, entry.declared


def _condition_key(entry: LeaderboardEntry) -> Hashable:
    """Equal for entries that differ only in their answers."""
    judge = entry.judge and (entry.judge.name, tuple(sorted(entry.judge.prompts.items())))
    prints = (entry.package_version, *sorted(entry.digests.items()))
    return (
        entry.model.key, entry.task, entry.version, entry.data, entry.data_digest, entry.asked_by, judge, prints,
        entry.questions.digest, entry.counts,
    )  # fmt: skip


def _answers_digest(entry: LeaderboardEntry) -> str:
    """A digest of the trials and of the scores as a ranking rounds them.

    It ignores empty columns and the sign of zero, which change no answer.
    """
    digest = hashlib.sha256()
    for name in sorted(entry.answers.column_names):
        column = entry.answers.column(name)
        if column.null_count == len(column) or not (name in ("trials", "judgement") or name.endswith(".score")):
            continue
        if name.endswith(".score"):
            digest.update(f"\1{name}\0".encode())
            digest.update((np.round(entry.samples.column(name), SCORE_DIGITS) + 0.0).tobytes())
        else:
            column = dictionary_encode(column)
            digest.update(f"\1{name}\0{column.dictionary.to_pylist()!r}".encode("utf-8", "backslashreplace"))
            digest.update(codes_of(column).astype("<u4").tobytes())
    return digest.hexdigest()
