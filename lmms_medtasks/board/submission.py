"""A submission to a board in public, held against the board as it is: what changed, whether it may, what it becomes.

The rules are those of the base branch: what a submission brings along of rules, pins, owners and levels does not count.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from lmms_medtasks.board import packs
from lmms_medtasks.board.boards import Board, Reference
from lmms_medtasks.board.collect import collect
from lmms_medtasks.board.entries import Entry
from lmms_medtasks.board.rules import Rules
from lmms_medtasks.board.site.ranking import Standing, rank
from lmms_medtasks.board.submission_summary import Checked, Place, Remark
from lmms_medtasks.board.trust import limits, safe_files
from lmms_medtasks.board.trust.rules_of_trust import Trust
from lmms_medtasks.board.word_verdicts import is_by_words
from lmms_medtasks.build_cache import BuildCache
from lmms_medtasks.errors import UserError
from lmms_medtasks.samples.result_files import SUFFIX
from lmms_medtasks.short_texts import interval_text

_ENDINGS = (*packs.ENDINGS, ".jsonl")
NOTHING = Board((), {}, ())
_PUSHED = ("several_entries", "look_alike", "other_questions", "other_judge", "other_judge_prompt", "other_prompt")
"""Problems that an entry has because of another one, also where the ranking moves."""


def check(base: Path, submitted: Path, account: str, rules: Rules, trust: Trust, resamples: int) -> Checked:
    """Hold the entries in ``submitted`` against those in ``base`` (either may be missing: then it has none).

    ``account`` made the submission: it may add, change and remove files in its own folder alone. It must not push an
    entry of others out of the ranking; that the ranking moves to a newer version of a task is no such thing.
    """
    if submitted.is_symlink():
        raise UserError(f"{submitted}: the folder of entries is a link in this submission. Put the folder there.")
    before, after = (_digests(each) for each in (base, submitted))
    added = tuple(sorted(set(after) - set(before)))
    removed = tuple(sorted(set(before) - set(after)))
    changed = tuple(sorted(file for file in set(before) & set(after) if before[file] != after[file]))
    wrong = []
    for file in (*added, *changed, *removed):
        if len(file.parts) < 2 or file.parts[0].casefold() != account.casefold():
            way_out = "Leave it as it is." if file in before else f"Put it into {account}/."
            wrong.append(f"{file}: not in the folder of {account}, who made the submission. {way_out}")
    wrong += _unread(base, submitted)
    if not (added or changed or removed):
        wrong.append("No pack and no run is added, changed or removed.")
    board, now = (
        collect([each], rules=rules, trust=trust, by_measure=True) if each.is_dir() else NOTHING
        for each in (submitted, base)
    )
    touched = {submitted / file for file in (*added, *changed)}
    for each in board.refused:
        if (file := Path(each.source)) in touched:
            reason = _relative(each.reason, submitted)
            wrong.append(reason if file.name in reason else f"{file.relative_to(submitted)}: {reason}")
    wrong += _unused(board, submitted, (*added, *changed))
    mine = [entry for entry in board.entries if {entry.source.results, entry.source.samples} & touched]
    wrong += _too_many(mine, board)
    wrong += _displaced(base, now, board, touched | {submitted / file for file in removed}, submitted)
    remarks = [
        Remark(entry.model.name, entry.task, entry.level, _relative(each.reason, submitted), entry.ranked)
        for entry in mine
        for each in entry.problems
        if entry.ranked or each.level != "flag"
    ]
    return Checked(
        added, changed, removed, tuple(dict.fromkeys(wrong)),
        places=tuple(place for entry in mine if entry.ranked for place in _places(entry, board, resamples)),
        remarks=tuple(remarks), results=len(mine), ranked=sum(entry.ranked for entry in mine),
        moves=tuple(_moves(now, board)),
    )  # fmt: skip


def _unread(base: Path, submitted: Path) -> Iterator[str]:
    """Links and devices that were not there before: nothing of them is read, and so nothing is checked."""
    before, after = (
        {
            path.relative_to(folder): reason
            for path, reason in (*safe_files.below(folder, ("",))[1], *safe_files.linked_folders(folder))
        }
        if folder.is_dir()
        else {}
        for folder in (base, submitted)
    )
    yield from (_relative(reason, submitted) for path, reason in after.items() if path not in before)


def _too_many(mine: Iterable[Entry], board: Board) -> Iterator[str]:
    """Models of which a submission has more entries on a task than a page of a board can be asked to show."""
    rows = Counter((entry.model.name, entry.task) for entry in board.entries)
    for name, task in dict.fromkeys((entry.model.name, entry.task) for entry in mine):
        most = limits.limits()["rows"]
        if rows[name, task] > most:
            yield f"{name} on {task}: {rows[name, task]:,} entries; at most {most} of a name are taken. Remove some."


def _unused(board: Board, folder: Path, files: Iterable[Path]) -> Iterator[str]:
    """Files that nothing was read from: a page, settings of git, JSON of another form."""
    sources = [path for entry in board.entries for path in (entry.source.results, entry.source.samples)]
    read = {path for path in sources if path} | {Path(problem.source) for problem in board.problems}
    logs = tuple(f"{str(path).removesuffix(SUFFIX)}_samples_" for path in read if path.name.endswith(SUFFIX))
    for file in files:
        path = folder / file
        # A log whose task gave no entry lies beside its run, of which the reason is said.
        if path not in read and not (file.suffix == ".jsonl" and str(path).startswith(logs)):
            yield f"{file}: neither a pack nor a file of a run. Names end in {', '.join(_ENDINGS)}."


def _relative(reason: str, folder: Path) -> str:
    """A reason with files as seen from the folder of entries: where the checker has it is nobody's business."""
    return reason.replace(f"{folder}{os.sep}", "")


def _moves(now: Board, after: Board) -> Iterator[str]:
    """Rankings that would be of another version or other data: who is ranked now has to run that one."""
    for task, reference in after.references.items():
        before, left = now.references.get(task), len(now.of(task=task, ranked=True))
        if before and left and _is_of_another(before, reference):
            kinds = [f"version {each.version}, {each.data} data" for each in (before, reference)]
            entries = "1 entry is" if left == 1 else f"{left:,} entries are"
            yield f"{task}: from {kinds[0]} to {kinds[1]}; {entries} ranked by the first now."


def _is_of_another(before: Reference | None, after: Reference | None) -> bool:
    """Whether a ranking is of another version or of other data."""
    return before is not None and after is not None and (before.version, before.data) != (after.version, after.data)


def _displaced(base: Path, now: Board, board: Board, touched: set[Path], submitted: Path) -> Iterator[str]:
    """Entries of others that are ranked now, and would not be any more."""
    places = {(entry.source.results, entry.task): entry for entry in board.entries}
    without_rank = _without_rank(board)
    had_none = _without_rank(now)
    for entry in now.of(ranked=True):
        path = submitted / entry.source.results.relative_to(base)
        after = places.get((path, entry.task))
        if path in touched:
            continue
        problems = after.problems if after else ()
        if after and not after.ranked and not any(each.task == after.task for each in board.of(ranked=True)):
            said = f"Nobody would be ranked on {entry.task} any more: {problems[0].reason if problems else ''}"
            yield _relative(said.strip(), submitted)
            continue
        moved = _is_of_another(now.references.get(entry.task), board.references.get(entry.task))
        found = [] if after else ["It is no entry any more."]
        if after and not after.ranked:
            own = [each for each in problems if each.level == "unranked"]
            found += [each.reason for each in own if each.code in _PUSHED or not moved]
        if after and after.ranked:
            lost = (each for each in without_rank[entry.task].items() if each[0] not in had_none[entry.task])
            found += [f"There would be no ranks by {metric}: {reason}." for metric, reason in lost]
        if found:
            said = f"{entry.model.name} on {entry.task} is ranked now and would not be any more. {' '.join(found)}"
            yield _relative(said, submitted)


def _without_rank(board: Board) -> dict[str, dict[str, str]]:
    """Of each task the metrics that nobody has a rank of, and why: too few images have a score of every model."""
    found: dict[str, dict[str, str]] = {}
    for task in {entry.task for entry in board.entries}:
        ranked = board.of(task=task, ranked=True)
        metrics = dict.fromkeys(name for entry in ranked for name in entry.main_metrics)
        firsts = {
            metric: rank([each for each in ranked if metric in each.metrics], metric, resamples=0).standings[0]
            for metric in metrics
        }
        found[task] = {metric: first.reason for metric, first in firsts.items() if first.rank is None}
    return found


def _places(entry: Entry, board: Board, resamples: int) -> Iterator[Place]:
    """Where a ranked entry stands on each measure that its benchmark compares."""
    for metric in entry.main_metrics:
        beside = [each for each in board.of(task=entry.task, ranked=True) if metric in each.metrics]
        found = rank(beside, metric, resamples=resamples).standings
        own = found[next(row for row, each in enumerate(beside) if each is entry)]
        ordered = sorted(zip(found, beside, strict=True), key=lambda pair: pair[0].rank or 0)
        ranks = [(each.rank, other.model.name) for each, other in ordered if own.rank and each.rank]
        yield Place(
            entry.model.name, entry.task, entry.level, metric, _score(entry, metric, own), _rank(own, len(beside)),
            ahead=tuple(name for rank, name in ranks if own.rank and rank < own.rank),
            behind=tuple(name for rank, name in ranks if own.rank and rank > own.rank),
            by_words=own.mean.estimate is not None and is_by_words(entry, metric),
        )  # fmt: skip


def _score(entry: Entry, metric: str, own: Standing) -> str:
    scale, mean = entry.scale(metric), own.mean
    if mean.estimate is None:
        return "no number"
    unit = f" {scale.unit}" if scale.unit in ("%", "points") else ""
    low, high = (None if end is None else scale.factor * end for end in (mean.low, mean.high))
    return f"{scale.factor * mean.estimate:.{scale.digits}f}{unit}{interval_text(low, high, scale.digits)}"


def _rank(own: Standing, models: int) -> str:
    if own.rank is None:
        return f"no rank: {own.reason}"
    ends = f" [{own.low}, {own.high}]" if own.low is not None else ""
    return f"rank {own.rank}{ends} of {models}"


def _digests(folder: Path) -> dict[Path, str]:
    files = safe_files.below(folder, ("",))[0] if folder.is_dir() else []
    return {path.relative_to(folder): BuildCache().digest(path) for path in files}
