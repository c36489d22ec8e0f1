"""Entries that stand in each other's way: several of one model, names that look alike, and other questions.

Nothing here prefers one of them, by date or by number: who could submit twice could else take a place. What is refused,
or set apart for another reason, stands in nobody's way.
"""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Iterable, Sequence

import numpy as np

from lmms_medtasks.board import model_names
from lmms_medtasks.board.checks import problem
from lmms_medtasks.board.columns import codes_of, compact
from lmms_medtasks.board.entries import Entry, Problem
from lmms_medtasks.board.rules import Rules
from lmms_medtasks.board.trust.owners import Owners
from lmms_medtasks.board.trust.pins import Pins

_NAMED = 3
"""Others that are named beside an entry."""


def without_copies(entries: Iterable[Entry], rules: Rules) -> tuple[list[Entry], list[Problem]]:
    """Each entry once: of those with the same model, task and answers the first is kept, runs before packs."""
    kept: dict[Hashable, Entry] = {}
    problems = []
    for entry in sorted(entries, key=lambda each: (each.source.kind != "run", str(each.source.results))):
        first = kept.setdefault(_content(entry), entry)
        if first is not entry:
            said = f"{entry.model.name} on {entry.task}: the same answers as {first.source.results}, which is kept."
            problems.append(problem(rules, entry, "duplicate", said))
    places = {id(entry): place for place, entry in enumerate(entries)}
    return sorted(kept.values(), key=lambda each: places[id(each)]), problems


def apart(entries: Sequence[Entry], rules: Rules, owners: Owners | None, pins: Pins) -> list[Entry]:
    """The entries with what sets them apart from one another; only those that would be ranked are looked at."""
    found = _alike(entries, rules, owners)
    found = _other_questions(found, rules, pins)
    return _several(found, rules)


def _alike(entries: Sequence[Entry], rules: Rules, owners: Owners | None) -> list[Entry]:
    names: dict[str, set[str]] = {}
    for entry in entries:
        if entry.ranked and (owners is None or entry.model.name not in owners.accounts):
            names.setdefault(model_names.look(entry.model.name), set()).add(entry.model.name)
    added = []
    for entry in entries:
        others = sorted(names.get(model_names.look(entry.model.name), set()) - {entry.model.name})
        if others and entry.ranked:
            named = _named(list(map(repr, others[:_NAMED])), len(others))
            said = f"A reader takes {entry.model.name!r} for {named}: owners.yml says whose a name is."
            entry = entry.with_problems([problem(rules, entry, "look_alike", said)])
        added.append(entry)
    return added


def _other_questions(entries: Sequence[Entry], rules: Rules, pins: Pins) -> list[Entry]:
    """Without a pin nobody knows which of several sets of questions is the right one, however many have each."""
    sets: dict[Hashable, dict[str, Entry]] = {}
    for entry in entries:
        if entry.ranked and pins.of(entry) is None:
            sets.setdefault(_data(entry), {}).setdefault(entry.questions.digest, entry)
    added = []
    for entry in entries:
        others = sets.get(_data(entry), {})
        if entry.ranked and pins.of(entry) is None and len(others) > 1:
            other = next(each for digest, each in others.items() if digest != entry.questions.digest)
            entry = entry.with_problems([problem(rules, entry, "other_questions", _differing(entry, other))])
        added.append(entry)
    return added


def _differing(entry: Entry, other: Entry) -> str:
    lacking = len(np.setdiff1d(other.questions.ids, entry.questions.ids, assume_unique=True))
    added = len(np.setdiff1d(entry.questions.ids, other.questions.ids, assume_unique=True))
    said = "they have other images, correct answers or tags"
    if lacking or added:
        said = f"{lacking:,} that it has are missing, {added:,} are of this one only"
    return (
        f"Other questions than {other.source.results}: {said}. No pin says which set is the right one "
        "(lmms-medtasks leaderboard pin)."
    )


def _several(entries: Sequence[Entry], rules: Rules) -> list[Entry]:
    groups: dict[Hashable, list[Entry]] = {}
    for entry in entries:
        if entry.ranked:
            groups.setdefault(_model(entry), []).append(entry)
    added = []
    for entry in entries:
        others = [each for each in groups.get(_model(entry), []) if each is not entry]
        if entry.ranked and others:
            where = _named([str(each.source.results) for each in others[:_NAMED]], len(others))
            said = f"{entry.model.name} on {entry.task}: other scores of it are in {where}. Which counts? Keep one."
            entry = entry.with_problems([problem(rules, entry, "several_entries", said)])
        added.append(entry)
    return added


def _named(texts: Sequence[str], count: int) -> str:
    """The texts, the first of ``count``, and how many more there are: what many entries say of many is square."""
    more = f" and {count - len(texts):,} more" if count > len(texts) else ""
    return f"{', '.join(texts)}{more}"


def _model(entry: Entry) -> Hashable:
    return model_names.look(entry.model.name), entry.model.harness_model, entry.model.arguments, entry.task


def _data(entry: Entry) -> Hashable:
    return entry.task, entry.version, entry.data, entry.data_digest, entry.asked_by


def _content(entry: Entry) -> Hashable:
    """The same where nothing that a ranking is made of differs: who, what was asked, how, and all answers."""
    digest = hashlib.sha256()
    for name in sorted(entry.answers.column_names):
        if name != "line":
            column = compact(entry.answers.column(name))
            digest.update(f"\1{name}\0{column.dictionary.to_pylist()!r}".encode("utf-8", "backslashreplace"))
            digest.update(codes_of(column).astype("<u4").tobytes())
    judge = entry.judge and (entry.judge.name, tuple(sorted(entry.judge.prompts.items())))
    prints = tuple(sorted(entry.fingerprint.items()))
    return (
        entry.model.key, entry.task, entry.version, entry.data, entry.data_digest, entry.asked_by, judge, prints,
        entry.questions.digest, entry.counts, digest.hexdigest(),
    )  # fmt: skip
