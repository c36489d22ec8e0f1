"""A submission to a board in public, held against the board as it is: what changed, whether it may, what it becomes.

The rules are those of the base branch: what a submission brings along of rules, pins, owners and levels does not count.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from lmms_medtasks.board import packs
from lmms_medtasks.board.boards import Board
from lmms_medtasks.board.collect import collect
from lmms_medtasks.board.entries import Entry
from lmms_medtasks.board.rules import Rules
from lmms_medtasks.board.site.ranking import standings
from lmms_medtasks.board.trust import safe_files
from lmms_medtasks.board.trust.rules_of_trust import Trust
from lmms_medtasks.errors import UserError
from lmms_medtasks.report.markdown import escaped

_ENDINGS = (*packs.ENDINGS, ".jsonl")
_BLOCK = 2**20
_NAMED = 5
_PUSHED = ("several_entries", "look_alike", "other_questions")
"""Problems that an entry has because of another one."""


@dataclass(frozen=True)
class Checked:
    """What a submission is.

    Attributes:
        added, changed, removed: files, as seen from the folder of entries. wrong: why it may not be merged, a
            sentence each. lines: what becomes of each entry.
    """

    added: tuple[Path, ...]
    changed: tuple[Path, ...]
    removed: tuple[Path, ...]
    wrong: tuple[str, ...]
    lines: tuple[str, ...]

    def markdown(self) -> str:
        """For the summary of a pull request."""
        said = ["## Submission: " + ("**refused**" if self.wrong else "holds"), ""]
        for what, files in (("added", self.added), ("changed", self.changed), ("removed", self.removed)):
            said += [f"- {what}: {escaped(str(file))}" for file in files]
        for title, texts in (("Refused", self.wrong), ("Entries", self.lines)):
            said += ["", f"### {title}", "", *(f"- {escaped(text)}" for text in texts)] if texts else []
        return "\n".join(said) + "\n"


def check(base: Path, submitted: Path, account: str, rules: Rules, trust: Trust, resamples: int) -> Checked:
    """Hold the entries in ``submitted`` against those in ``base`` (either may be missing: then it has none).

    ``account`` made the submission: it may add, change and remove files in its own folder alone. It must not push an
    entry of others out of the ranking; that the ranking moves to a newer version of a task is no such thing.
    """
    if submitted.is_symlink():
        raise UserError(f"{submitted}: the folder of entries is a link in this submission. Put the folder there.")
    before, after = _digests(base), _digests(submitted)
    added = tuple(sorted(set(after) - set(before)))
    removed = tuple(sorted(set(before) - set(after)))
    changed = tuple(sorted(file for file in set(before) & set(after) if before[file] != after[file]))
    wrong = []
    for file in (*added, *changed, *removed):
        if len(file.parts) < 2 or file.parts[0].casefold() != account.casefold():
            wrong.append(f"{file}: not in the folder of {account}, who made the submission. Put it into {account}/.")
    if not (added or changed or removed):
        wrong.append("No pack and no run is added, changed or removed.")
    board = collect([submitted], rules=rules, trust=trust) if submitted.is_dir() else None
    lines: list[str] = []
    if board is not None:
        touched = {submitted / file for file in (*added, *changed)}
        wrong += [
            each.reason
            for each in board.refused
            if Path(each.source) in touched or _is_new_and_unread(Path(each.source), after, submitted, base)
        ]
        mine = [entry for entry in board.entries if {entry.source.results, entry.source.samples} & touched]
        lines += [line for entry in mine for line in _lines(entry, board, resamples)]
        wrong += _displaced(base, board, rules, trust, {submitted / file for file in removed} | touched, submitted)
    return Checked(added, changed, removed, tuple(dict.fromkeys(wrong)), tuple(lines))


def _is_new_and_unread(file: Path, read: dict[Path, str], root: Path, base: Path) -> bool:
    """Whether a file that the base has not is none that may be read (a link, a device), and so has no digest."""
    inside = file.relative_to(root)
    return inside not in read and not os.path.lexists(base / inside)


def _displaced(
    base: Path, board: Board, rules: Rules, trust: Trust, touched: set[Path], submitted: Path
) -> Iterator[str]:
    """Entries of others that are ranked now, and would not be any more."""
    if not base.is_dir():
        return
    places = {(entry.source.results, entry.task): entry for entry in board.entries}
    for entry in collect([base], rules=rules, trust=trust).of(ranked=True):
        path = submitted / entry.source.results.relative_to(base)
        after = places.get((path, entry.task))
        problems = after.problems if after else ()
        found = [each.reason for each in problems if each.code in _PUSHED] or ["It is no entry any more."] * (not after)
        if path not in touched and found:
            yield f"{entry.model.name} on {entry.task} is ranked now and would not be any more. {' '.join(found)}"


def _lines(entry: Entry, board: Board, resamples: int) -> Iterator[str]:
    said = f"{entry.model.name} on {entry.task}, {entry.level}"
    if not entry.ranked:
        reasons = " ".join(each.reason for each in entry.problems if each.level != "flag")
        yield f"{said}: shown apart, not ranked. {reasons}"
        return
    for metric in entry.main_metrics:
        beside = [each for each in board.of(task=entry.task, ranked=True) if metric in each.metrics]
        yield f"{said}, {metric}: {_place(entry, beside, metric, resamples)}"


def _place(entry: Entry, beside: Sequence[Entry], metric: str, resamples: int) -> str:
    found = standings(beside, metric, resamples=resamples)
    own = found[next(place for place, each in enumerate(beside) if each is entry)]
    mean = "no number" if own.mean.estimate is None else f"{own.mean.estimate:.4g}"
    if own.rank is None:
        return f"{mean}; no rank, only {own.images} images"
    ends = f" [{own.low}, {own.high}]" if own.low is not None else ""
    ahead = [
        each.model.name
        for each, other in sorted(zip(beside, found, strict=True), key=lambda pair: pair[1].rank or 0)
        if other.rank is not None and other.rank < own.rank
    ]
    more = f" and {len(ahead) - _NAMED} more" if len(ahead) > _NAMED else ""
    return f"{mean}, rank {own.rank}{ends} of {len(beside)}" + (
        f", after {', '.join(ahead[:_NAMED])}{more}" if ahead else ""
    )


def _digests(folder: Path) -> dict[Path, str]:
    if not folder.is_dir():
        return {}
    return {path.relative_to(folder): _digest(path) for path in safe_files.below(folder, _ENDINGS)[0]}


def _digest(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()
