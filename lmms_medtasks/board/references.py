"""The reference of a task's ranking: one version, one data, one judge, one prompt.

Pins, rules and the installed package decide. The rest is what most entries have, and is called unverified. No date
decides anything.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import replace
from importlib import metadata
from typing import Any, TypeVar

from lmms_medtasks.board import installed
from lmms_medtasks.board.boards import TaskReference
from lmms_medtasks.board.entries import LeaderboardEntry
from lmms_medtasks.board.rules import BoardRules
from lmms_medtasks.board.trust.pins import Key, QuestionPin, QuestionPins, pin_key
from lmms_medtasks.board.trust.rules_of_trust import NONE, TrustRules
from lmms_medtasks.digests import of_package, of_task
from lmms_medtasks.judges import identity

_DATA = ("full", "sample", "mini")
Value = TypeVar("Value", bound=Hashable)


def task_references(
    entries: Sequence[LeaderboardEntry], rules: BoardRules, trust: TrustRules = NONE, without: Collection[Key] = ()
) -> dict[str, TaskReference]:
    """The reference of each task: what is pinned and demanded, else what most entries have.

    With pins only pinned questions are ranked: the installed version before others, full data before sample before
    mini; without entries on them the ranking is empty. ``without``: pins that come last, because none of their entries
    is ranked. Without pins: full data before sample before mini before a subset; our settings, the installed version,
    digests and judge's prompts, if an entry has them. Each choice is made among the entries that agree with the choices
    before. On a public board entries do not decide who judges.
    """
    tasks: dict[str, list[LeaderboardEntry]] = {}
    for entry in entries:
        tasks.setdefault(entry.task, []).append(entry)
    return {task: _of_task(task, task_entries, rules, trust, without) for task, task_entries in tasks.items()}


def choose_pin(
    task: str, entries: Sequence[LeaderboardEntry], rules: BoardRules, pins: QuestionPins, without: Collection[Key] = ()
) -> tuple[tuple[str, str], QuestionPin] | None:
    """Version and data of the ranking's pin, and the pin; None if no pin meets the rules' demands."""
    demanded = rules.demanded(task, "version"), rules.demanded(task, "data")
    kinds = [
        (version, data)
        for name, version, data in pins.found
        if name == task and demanded[0] in (None, version) and demanded[1] in (None, data)
    ]
    if not kinds:
        return None
    present = {pin_key(entry)[1:] for entry in entries if pins.hold(entry)}
    installed_task = installed.find_installed_task(task)

    def preference(kind: tuple[str, str]) -> tuple[bool, bool, bool, int]:
        version, data = kind
        is_other = installed_task is not None and version != installed_task.version
        absent = kind not in present
        place = _DATA.index(data) if data in _DATA else len(_DATA)
        return absent or (task, *kind) in without, absent, is_other, place

    chosen = min(sorted(kinds, reverse=True), key=preference)
    return chosen, pins.found[(task, chosen[0], chosen[1])]


def _of_task(
    task: str, entries: list[LeaderboardEntry], rules: BoardRules, trust: TrustRules, without: Collection[Key]
) -> TaskReference:
    pinned = choose_pin(task, entries, rules, trust.pins, without)
    if pinned:
        kind, pin = pinned
        left = [entry for entry in entries if pin_key(entry)[1:] == kind and trust.pins.hold(entry)]
        data, _, settings = kind[1].partition(", ")
        return _complete_reference(task, left, rules, (kind[0], data, pin.data, settings), pin, trust.in_public)
    kinds = {entry.data for entry in entries}
    data = rules.demanded(task, "data") or next((kind for kind in _DATA if kind in kinds), "")
    data = data or _most_common_subset(entries)
    left = _agreeing_or_all(entries, lambda entry: entry.data == data)
    # Data called full only because its counts were accepted never comes before the release.
    left = _agreeing_or_all(left, lambda entry: data != "full" or not entry.settings.get("data_counts"))
    settings = _most_common_value(left, lambda entry: entry.asked_by, "") or ""
    left = _agreeing_or_all(left, lambda entry: entry.asked_by == settings)
    installed_task = installed.find_installed_task(task)
    common_version = _most_common_value(left, lambda entry: entry.version, installed_task and installed_task.version)
    version: Any = rules.demanded(task, "version") or common_version
    left = _agreeing_or_all(left, lambda entry: entry.version == version)
    digest = _most_common_value(left, lambda entry: entry.data_digest) or ""
    left = _agreeing_or_all(left, lambda entry: entry.data_digest == digest)
    reference = _complete_reference(task, left, rules, (version, data, digest, settings), None, trust.in_public)
    unpinned = () if trust.pins.demanded else ("questions and data",)
    return replace(reference, unverified=(*unpinned, *reference.unverified))


def _complete_reference(
    task: str,
    left: list[LeaderboardEntry],
    rules: BoardRules,
    kind: tuple[str, str, str, str],
    pin: QuestionPin | None,
    in_public: bool,
) -> TaskReference:
    """The reference of ``kind`` (version, data, digest of the data, settings), with digests, judge and harness."""
    version, data, digest, settings = kind
    installed_task = installed.find_installed_task(task)
    own = installed_task.digests if installed_task and installed_task.version == version else {}
    asked = _preferred_texts(left, lambda entry: entry.of_task, of_task(own) or None)
    packages = {}
    for package in {entry.package_version for entry in left}:
        same = [entry for entry in left if entry.package_version == package]
        unmodified = _agreeing_or_all(same, lambda entry: not entry.package_modified)
        here = of_package(own) if package == metadata.version("lmms-medtasks") else None
        packages[package] = _preferred_texts(unmodified, lambda entry: entry.of_package, here)
    if pin and pin.digests:
        asked, packages[pin.package_version] = of_task(pin.digests), of_package(pin.digests)
    demanded = rules.demanded(task, "judge") or (pin and pin.judge) or None
    # On a public board no majority chooses among the judges that are called as demanded.
    judge = demanded if in_public else _most_common_judge(left, demanded)
    named = judge or ""
    judged = [entry for entry in left if entry.judge and identity.same_judge(entry.judge.name, named)] or left
    own_prompts = installed_task.judge_prompts if installed_task and installed_task.version == version else None
    prompts = _preferred_texts(judged, lambda entry: entry.judge.prompts if entry.judge else {}, own_prompts)
    harness = rules.demanded(task, "harness") or (pin and pin.harness)
    # Submitters write this text: on a public board no page shows it as the ranking's.
    harness = harness or (None if in_public else _most_common_value(left, lambda entry: entry.harness))
    return TaskReference(
        version=version, data=data, data_digest=digest, digests=asked, packages=packages, judge=judge,
        prompts=dict((pin and pin.prompts) or prompts), harness=harness or "", settings=settings,
        unverified=("judge",) if judge is not None and demanded is None else (),
    )  # fmt: skip


def _most_common_subset(entries: Sequence[LeaderboardEntry]) -> str:
    counts = Counter(entry.data for entry in entries if entry.variant != entry.data)
    return max(counts, key=lambda data: (counts[data], data)) if counts else "unknown"


def _most_common_judge(entries: Sequence[LeaderboardEntry], demanded: str | None) -> str | None:
    """The full name of the judge of most entries, among those called as the rules demand."""
    judges = [entry.judge for entry in entries if entry.judge is not None and entry.judge.name != "none"]
    judges = [judge for judge in judges if demanded is None or identity.is_called(judge.name, demanded)]
    if not judges:
        return demanded
    names = Counter(judge.name for judge in judges)
    answered = [name for name in names if identity.is_answered(name)] or list(names)
    papers = {judge.name for judge in judges if judge.is_paper_judge}
    # The paper's judge where it judged as many as any other.
    return max(answered, key=lambda name: (names[name], name in papers, name))


def _agreeing_or_all(
    entries: list[LeaderboardEntry], agrees: Callable[[LeaderboardEntry], bool]
) -> list[LeaderboardEntry]:
    return [entry for entry in entries if agrees(entry)] or entries


def _most_common_value(
    entries: Sequence[LeaderboardEntry], key: Callable[[LeaderboardEntry], Value], wanted: Value | None = None
) -> Value | None:
    """``wanted`` if an entry has it, else the most common value; of equals the last. None without entries."""
    values = [key(entry) for entry in entries]
    if not values:
        return None
    if wanted is not None and wanted in values:
        return wanted
    counts = Counter(values)
    return max(counts, key=lambda value: (counts[value], str(value)))


def _preferred_texts(
    entries: Sequence[LeaderboardEntry],
    key: Callable[[LeaderboardEntry], Mapping[str, str]],
    wanted: Mapping[str, str] | None,
) -> dict[str, str]:
    """As :func:`_most_common_value`, of texts by name."""
    first = None if wanted is None else tuple(sorted(wanted.items()))
    return dict(_most_common_value(entries, lambda entry: tuple(sorted(key(entry).items())), first) or ())
