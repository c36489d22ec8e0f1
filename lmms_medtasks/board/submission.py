"""Check a submission to a public board: what it changes, whether it may be merged, where its entries would rank.

The rules are those of the base branch: rules, pins, owners and levels in the submission do not count.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from lmms_medtasks.board import packs
from lmms_medtasks.board.boards import Leaderboard, TaskReference, join_reasons
from lmms_medtasks.board.collect import collect_entries
from lmms_medtasks.board.entries import EntryProblem, LeaderboardEntry
from lmms_medtasks.board.rules import BoardRules
from lmms_medtasks.board.site.ranking import ModelStanding, rank_models
from lmms_medtasks.board.trust import limits, safe_files
from lmms_medtasks.board.trust.rules_of_trust import TrustRules
from lmms_medtasks.build_cache import BuildCache
from lmms_medtasks.errors import UserError
from lmms_medtasks.report.cells import label_column
from lmms_medtasks.report.document import Cell, Frame, FrameRow, ReportChapter, ReportSection
from lmms_medtasks.report.first_screen import ReportDocument
from lmms_medtasks.report.judged_tables import LEXICAL, MEANINGS
from lmms_medtasks.samples.result_files import SUFFIX
from lmms_medtasks.short_texts import interval_text

_ENDINGS = (*packs.ENDINGS, ".jsonl")
NOTHING = Leaderboard((), {}, ())
_PUSHED = ("several_entries", "look_alike", "other_questions", "other_judge", "other_judge_prompt", "other_prompt")
"""Problems that an entry has because of another one, also if the ranking moves."""

_NAMED = 5
"""Tasks of a model that a reason names at most."""


@dataclass(frozen=True)
class EntryStanding:
    """Where a new entry would rank on one measure.

    ``score``: the mean and its interval. ``rank``: its rank, the ranks that chance leaves open and the number of
    models; or why there is none. ``by_words``: whether the judge that compares words gave the score.
    """

    model: str
    task: str
    level: str
    measure: str
    score: str
    rank: str
    by_words: bool = False


@dataclass(frozen=True)
class CheckedSubmission:
    """The result of the check.

    Attributes:
        files: action (added, changed, removed) and file, relative to the folder of entries. wrong: why it may not be
            merged, a sentence each. places: where its entries would rank. apart: why others are not ranked. remarks: on
            ranked ones. results: number of entries, one model on one task each; ranked: those that would be ranked.
            moves: rankings that would be of another version or data, a sentence each.
    """

    files: tuple[tuple[str, Path], ...] = ()
    wrong: tuple[str, ...] = ()
    places: tuple[EntryStanding, ...] = ()
    apart: tuple[EntryProblem, ...] = ()
    remarks: tuple[EntryProblem, ...] = ()
    results: int = 0
    ranked: int = 0
    moves: tuple[str, ...] = ()

    def document(self) -> ReportDocument:
        """The files, then why it is refused, and where its entries would rank."""
        groups: dict[str, list[EntryStanding]] = {}
        for standing in self.places:
            groups.setdefault(f"{standing.model}, {standing.level}", []).append(standing)
        said = (
            ReportSection("files", "", items=tuple(f"{what}: {file}" for what, file in self.files)),
            ReportSection("refused", "Refused", items=self.wrong),
            ReportSection("moves", "Rankings that move", items=self.moves),
            *(_standings_section(title, standings) for title, standings in groups.items()),
            ReportSection("apart", "Not ranked", items=_join_problems(self.apart)),
            ReportSection("remarks", "Ranked, with a remark", items=_join_problems(self.remarks)),
        )
        sections = tuple(each for each in said if each.items or each.tables)
        # A check that holds is no rank.
        holds = f"holds; ranked: {self.ranked} of {self.results} results" if self.results else "holds"
        title = f"Submission: {'refused' if self.wrong else holds}"
        return ReportDocument(title, (ReportChapter("submission", "", (), (), sections),))


def _standings_section(title: str, places: Iterable[EntryStanding]) -> ReportSection:
    rows = tuple(
        FrameRow((
            Cell(place.task), Cell(place.measure), Cell(place.score, mark=LEXICAL * place.by_words), Cell(place.rank),
        ))
        for place in places
    )  # fmt: skip
    columns = tuple(map(label_column, ("task", "measure", "score", "rank")))
    return ReportSection(title, title, tables=(Frame(title, "", columns, rows, marks={LEXICAL: MEANINGS[LEXICAL]}),))


def _join_problems(problems: Iterable[EntryProblem]) -> tuple[str, ...]:
    return tuple(join_reasons(((problem.reason, problem.model, problem.task) for problem in problems), _NAMED))


def check_submission(
    base: Path, submitted: Path, account: str, rules: BoardRules, trust: TrustRules, resamples: int
) -> CheckedSubmission:
    """Compare the entries in ``submitted`` with those in ``base``; a missing folder has none.

    ``account`` made the submission: it may add, change and remove files in its own folder only. It must not displace
    ranked entries of others, unless the ranking moves to a newer version of a task.
    """
    if submitted.is_symlink():
        raise UserError(f"{submitted}: the folder of entries is a link in this submission. Put the folder there.")
    before, after = (_file_digests(each) for each in (base, submitted))
    touched = sorted(file for file in {*before, *after} if before.get(file) != after.get(file))
    files = [("changed" if file in before and file in after else "added" if file in after else "removed", file)
             for file in touched]  # fmt: skip
    wrong = []
    for _, file in sorted(files):
        if len(file.parts) < 2 or file.parts[0].casefold() != account.casefold():
            way_out = "Leave it as it is." if file in before else f"Put it into {account}/."
            wrong.append(f"{file}: not in the folder of {account}, who made the submission. {way_out}")
    wrong += _find_special_files(base, submitted)
    if not files:
        wrong.append("No pack and no run is added, changed or removed.")
    board, current = (
        collect_entries([folder], rules=rules, trust=trust, by_measure=True) if folder.is_dir() else NOTHING
        for folder in (submitted, base)
    )
    brought = [file for file in touched if file in after]
    paths = {submitted / file for file in brought}
    # A copy of what is there adds nothing that could be merged.
    for problem in board.problems:
        path = Path(problem.source)
        if path in paths and (problem.level == "refused" or problem.code == "duplicate"):
            reason = _relative_reason(problem.reason, submitted)
            named_file = str(path.relative_to(submitted))
            wrong.append(reason if named_file in reason else f"{named_file}: {reason}")
    wrong += _find_unused_files(board, submitted, brought)
    mine = [entry for entry in board.entries if {entry.source.results, entry.source.samples} & paths]
    wrong += _too_many(mine, board)
    wrong += _displaced_entries(base, current, board, {submitted / file for file in touched}, submitted)
    ranked, apart = ([entry for entry in mine if entry.ranked is wanted] for wanted in (True, False))
    return CheckedSubmission(
        tuple(sorted(files)),
        tuple(dict.fromkeys(wrong)),
        places=tuple(place for entry in ranked for place in _entry_standings(entry, board, resamples)),
        apart=tuple(each for each in _relative_problems(apart, submitted) if each.level != "flag"),
        remarks=tuple(_relative_problems(ranked, submitted)),
        results=len(mine),
        ranked=len(ranked),
        moves=tuple(_changed_references(current, board)),
    )


def _find_special_files(base: Path, submitted: Path) -> Iterator[str]:
    """New links and devices: they are not read, so they are not checked."""
    before, after = (
        [*safe_files.list_regular_files(folder, ("",))[1], *safe_files.linked_folders(folder)]
        for folder in (base, submitted)
    )
    known = {path.relative_to(base) for path, _ in before}
    yield from (
        _relative_reason(reason, submitted) for path, reason in after if path.relative_to(submitted) not in known
    )


def _too_many(mine: Iterable[LeaderboardEntry], board: Leaderboard) -> Iterator[str]:
    """Models with more entries on a task than a board's page can show."""
    rows = Counter((entry.model.name, entry.task) for entry in board.entries)
    for name, task in dict.fromkeys((entry.model.name, entry.task) for entry in mine):
        most = limits.load_limits()["rows"]
        if rows[name, task] > most:
            yield f"{name} on {task}: {rows[name, task]:,} entries; at most {most} of a name are taken. Remove some."


def _find_unused_files(board: Leaderboard, folder: Path, files: Iterable[Path]) -> Iterator[str]:
    """Files that no entry or problem came from: a page, settings of git, JSON of another form."""
    sources = [path for entry in board.entries for path in (entry.source.results, entry.source.samples)]
    read = {path for path in sources if path} | {Path(problem.source) for problem in board.problems}
    logs = tuple(f"{str(path).removesuffix(SUFFIX)}_samples_" for path in read if path.name.endswith(SUFFIX))
    for file in files:
        path = folder / file
        # A log whose task gave no entry lies beside its run, of which the reason is said.
        if path not in read and not (file.suffix == ".jsonl" and str(path).startswith(logs)):
            yield _json_fault(path, file) or (
                f"{file}: neither a pack nor a file of a run. Names end in {', '.join(_ENDINGS)}."
            )


def _json_fault(path: Path, name: Path) -> str:
    try:
        if path.suffix == ".json":
            json.loads(path.read_bytes())
    except json.JSONDecodeError as error:
        return f"{name}, line {error.lineno}, column {error.colno}: no JSON: {error.msg}."
    except (ValueError, RecursionError) as error:
        return f"{name}: no JSON: {error}."
    return ""


def _relative_reason(reason: str, folder: Path) -> str:
    """The reason with paths relative to the entries folder, so that the checker's paths are not published."""
    return reason.replace(f"{folder}{os.sep}", "")


def _relative_problems(entries: Iterable[LeaderboardEntry], folder: Path) -> Iterator[EntryProblem]:
    for problem in (problem for entry in entries for problem in entry.problems):
        yield replace(problem, reason=_relative_reason(problem.reason, folder))


def _changed_references(now: Leaderboard, after: Leaderboard) -> Iterator[str]:
    """Rankings that would be of another version or other data: models ranked now have to be run on it."""
    for task, reference in after.references.items():
        before, left = now.references.get(task), len(now.of(task=task, ranked=True))
        if before and left and _is_of_another(before, reference):
            kinds = [f"version {each.version}, {each.data} data" for each in (before, reference)]
            entries = "1 entry is" if left == 1 else f"{left:,} entries are"
            yield f"{task}: from {kinds[0]} to {kinds[1]}; {entries} ranked by the first now."


def _is_of_another(before: TaskReference | None, after: TaskReference | None) -> bool:
    return before is not None and after is not None and (before.version, before.data) != (after.version, after.data)


def _displaced_entries(
    base: Path, now: Leaderboard, board: Leaderboard, touched: set[Path], submitted: Path
) -> Iterator[str]:
    """Entries of other users that this submission would remove from the ranking."""
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
            text = f"Nobody would be ranked on {entry.task} any more: {problems[0].reason if problems else ''}"
            yield _relative_reason(text.strip(), submitted)
            continue
        moved = _is_of_another(now.references.get(entry.task), board.references.get(entry.task))
        reasons = [] if after else ["It is no entry any more."]
        if after and not after.ranked:
            limiting = [problem for problem in problems if problem.level == "unranked"]
            reasons += [each.reason for each in limiting if each.code in _PUSHED or not moved]
        if after and after.ranked:
            lost = (item for item in without_rank[entry.task].items() if item[0] not in had_none[entry.task])
            reasons += [f"There would be no ranks by {metric}: {reason}." for metric, reason in lost]
        if reasons:
            text = f"{entry.model.name} on {entry.task} is ranked now and would not be any more. {' '.join(reasons)}"
            yield _relative_reason(text, submitted)


def _without_rank(board: Leaderboard) -> dict[str, dict[str, str]]:
    """Per task: metrics without ranking and why: too few images were scored for all models."""
    by_task: dict[str, dict[str, str]] = {}
    for task in {entry.task for entry in board.entries}:
        ranked = board.of(task=task, ranked=True)
        metrics = dict.fromkeys(name for entry in ranked for name in entry.main_metrics)
        firsts = {
            metric: rank_models([each for each in ranked if metric in each.metrics], metric, resamples=0).standings[0]
            for metric in metrics
        }
        by_task[task] = {metric: first.reason for metric, first in firsts.items() if first.rank is None}
    return by_task


def _entry_standings(entry: LeaderboardEntry, board: Leaderboard, resamples: int) -> Iterator[EntryStanding]:
    for metric in entry.main_metrics:
        beside = [each for each in board.of(task=entry.task, ranked=True) if metric in each.metrics]
        standings = rank_models(beside, metric, resamples=resamples).standings
        standing = standings[next(row for row, each in enumerate(beside) if each is entry)]
        by_words = standing.mean.estimate is not None and entry.is_lexical(metric)
        score, rank_of = _format_score(entry, metric, standing), _format_rank(standing, len(beside))
        yield EntryStanding(entry.model.name, entry.task, entry.level, metric, score, rank_of, by_words)


def _format_score(entry: LeaderboardEntry, metric: str, standing: ModelStanding) -> str:
    scale, mean = entry.scale(metric), standing.mean
    if mean.estimate is None:
        return "no number"
    unit = f" {scale.unit}" if scale.unit in ("%", "points") else ""
    low, high = (None if end is None else scale.factor * end for end in (mean.low, mean.high))
    return f"{scale.factor * mean.estimate:.{scale.digits}f}{unit}{interval_text(low, high, scale.digits)}"


def _format_rank(standing: ModelStanding, models: int) -> str:
    if standing.rank is None:
        return f"no rank: {standing.reason}"
    ends = f" [{standing.low}, {standing.high}]" if standing.low is not None else ""
    return f"rank {standing.rank}{ends} of {models}"


def _file_digests(folder: Path) -> dict[Path, str]:
    files = safe_files.list_regular_files(folder, ("",))[0] if folder.is_dir() else []
    return {path.relative_to(folder): BuildCache().digest(path) for path in files}
