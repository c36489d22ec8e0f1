"""What the ranking of a task is of: one version, one data, one judge, one prompt."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, TypeVar

from lmms_medtasks.board import installed
from lmms_medtasks.board.entries import Entry, Reference
from lmms_medtasks.board.rules import Rules
from lmms_medtasks.judges import identity

_DATA = ("full", "sample", "mini")
Key = TypeVar("Key", bound=Hashable)


def of(entries: Sequence[Entry], rules: Rules) -> dict[str, Reference]:
    """For each task what its ranked entries have in common: what the rules demand, else what most entries have.

    Data: full before sample before mini before a subset of one. Settings: ours, where an entry has them. Version and
    fingerprint: those installed, where an entry has them. Each choice is made among the entries that agree with the
    choices before.
    """
    tasks: dict[str, list[Entry]] = {}
    for entry in entries:
        tasks.setdefault(entry.task, []).append(entry)
    return {task: _of_task(task, own, rules) for task, own in tasks.items()}


def _of_task(task: str, entries: list[Entry], rules: Rules) -> Reference:
    kinds = {entry.data for entry in entries}
    data = rules.demanded(task, "data") or next((kind for kind in _DATA if kind in kinds), None) or _subset(entries)
    left = _agreeing(entries, lambda entry: entry.data == data)
    # What is full only because its counts were accepted never stands before the release, however many ran on it.
    left = _agreeing(left, lambda entry: data != "full" or not entry.settings.get("data_counts"))
    settings = _preferred(left, lambda entry: entry.asked_by, "")
    left = _agreeing(left, lambda entry: entry.asked_by == settings)
    found = installed.of_task(task)
    version: Any = rules.demanded(task, "version") or _preferred(
        left, lambda entry: entry.version, found and found.version
    )
    left = _agreeing(left, lambda entry: entry.version == version)
    digest = _preferred(left, lambda entry: entry.data_digest)
    left = _agreeing(left, lambda entry: entry.data_digest == digest)
    fingerprint: Any = _preferred(left, lambda entry: _items(entry.fingerprint), found and _items(found.fingerprint))
    judge = _judge(left, rules.demanded(task, "judge"))
    named = judge or ""
    judged = _agreeing(left, lambda entry: entry.judge is not None and identity.same_judge(entry.judge.name, named))
    prompts: Any = _preferred(judged, lambda entry: _items(entry.judge.prompts) if entry.judge else ())
    harness = rules.demanded(task, "harness") or _preferred(left, lambda entry: entry.harness)
    return Reference(version, data, digest, dict(fingerprint), judge, dict(prompts), harness, settings)


def _subset(entries: Sequence[Entry]) -> str:
    """The subset that most entries are of."""
    found = Counter(entry.data for entry in entries if entry.variant != entry.data)
    return max(found, key=lambda data: (found[data], data)) if found else "unknown"


def _judge(entries: Sequence[Entry], demanded: str | None) -> str | None:
    """The judge of most entries, in full, of those that are called as the rules demand."""
    named = [
        entry
        for entry in entries
        if entry.judge is not None
        and entry.judge.name != "none"
        and (demanded is None or identity.is_called(entry.judge.name, demanded))
    ]
    if not named:
        return demanded
    named = [entry for entry in named if entry.judge and identity.is_answered(entry.judge.name)] or named
    # The paper's judge where it judged as many as any other.
    return _preferred(named, lambda entry: entry.judge.name if entry.judge else "", *_papers(named))


def _papers(entries: Sequence[Entry]) -> list[str]:
    counts = Counter(entry.judge.name for entry in entries if entry.judge)
    most = max(counts.values())
    return sorted({each.judge.name for each in entries if each.judge and each.judge.is_paper_judge
                   and counts[each.judge.name] == most})[:1]  # fmt: skip


def _agreeing(entries: list[Entry], agrees: Callable[[Entry], bool]) -> list[Entry]:
    return [entry for entry in entries if agrees(entry)] or entries


def _preferred(entries: Sequence[Entry], key: Callable[[Entry], Key], wanted: Key | None = None) -> Key:
    """``wanted`` where an entry has it, else what most have; among equals the newest, then the last in order."""
    values = [key(entry) for entry in entries]
    if wanted is not None and wanted in values:
        return wanted
    counts = Counter(values)
    newest = {value: max(entry.source.date for entry in entries if key(entry) == value) for value in counts}
    return max(counts, key=lambda value: (counts[value], newest[value], str(value)))


def _items(mapping: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted(mapping.items()))
