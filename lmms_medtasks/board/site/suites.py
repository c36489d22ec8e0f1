"""What the site says of each suite, and what of its data may be shown."""

from __future__ import annotations

import fnmatch
import functools
import importlib.resources
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import yaml

from lmms_medtasks.board.entries import Entry
from lmms_medtasks.errors import UserError, unknown
from lmms_medtasks.samples.result_files import Run


@dataclass(frozen=True)
class About:
    """What ``suites.yml`` says of a suite."""

    name: str
    title: str
    about: str = ""
    read: str = ""
    headline: tuple[tuple[str, str], ...] = ()
    open: tuple[str, ...] = ()

    def headline_of(self, entries: Sequence[Entry]) -> tuple[str, str] | None:
        """The task and measure that stand for the suite on the overview; None without an entry that has a measure."""
        have = [(entry.task, measure) for entry in entries for measure in entry.metrics]
        for task, measure in self.headline:
            for found in sorted(have, key=lambda each: (each[0], have.index(each))):
                if fnmatch.fnmatchcase(found[0], task) and fnmatch.fnmatchcase(found[1], measure):
                    return found
        return have[0] if have else None

    def is_open(self, task: str) -> bool:
        """Whether the task's table is open."""
        return any(fnmatch.fnmatchcase(task, pattern) for pattern in self.open)

    def tasks(self, entries: Iterable[Entry]) -> list[str]:
        """The tasks of the entries, open ones first, each kind in the order of ``open``, then by name."""

        def place(task: str) -> tuple[int, str]:
            fits = [n for n, pattern in enumerate(self.open) if fnmatch.fnmatchcase(task, pattern)]
            return (fits or [len(self.open)])[0], task

        return sorted({entry.task for entry in entries}, key=place)


def about(suite: str) -> About:
    """What is said of a suite; its name where nothing is."""
    from lmms_medtasks.report.suites import suites

    titles = {name: module.TITLE for name, module in suites().items()}
    known = _load("suites.yml")
    # A benchmark that is not installed has a page of its own.
    found = known.get(suite) or ({} if suite in titles else {**known["contributed"], "title": suite})
    return About(
        name=suite,
        title=titles.get(suite) or found.get("title") or suite or "Other",
        about=found.get("about", ""),
        read=found.get("read", ""),
        headline=tuple((task, measure) for task, measure in found.get("headline", ())),
        open=tuple(found.get("open", ())),
    )


def order(names: Iterable[str]) -> list[str]:
    """Suites in the order of their pages."""
    known = list(_load("suites.yml"))
    return sorted(names, key=lambda name: (known.index(name) if name in known else len(known), name))


@dataclass(frozen=True)
class Shown:
    """For which data sets texts and images were asked for, beyond what is shown anyway."""

    texts: frozenset[str] = frozenset()
    images: frozenset[str] = frozenset()

    def text_of(self, entry: Entry, data_sets: Iterable[str]) -> bool:
        """Whether questions and answers on these data sets may be shown."""
        return _may(entry, data_sets, "texts", self.texts)

    def images_of(self, entry: Entry, data_sets: Iterable[str]) -> bool:
        """Whether images of these data sets may be shown."""
        return _may(entry, data_sets, "images", self.images)


def shown(texts: Iterable[str], images: Iterable[str]) -> Shown:
    """What was asked for. Raises UserError for a data set that is unknown or whose terms forbid it."""
    for kind, names in (("texts", texts), ("images", images)):
        for name in names:
            if name not in _load("terms.yml"):
                raise unknown("data set", name, _load("terms.yml"), f"--{kind}")
            if _terms(name)[kind] in ("never", "withheld"):
                allowed = [each for each, terms in _load("terms.yml").items() if terms[kind] in ("shown", "asked")]
                raise UserError(f"--{kind} {name}: its terms keep them back. Possible: {', '.join(allowed)}.")
    return Shown(frozenset(texts), frozenset(images))


def splits_of(run: Run, task: str) -> list[tuple[str, str]]:
    """The data sets and splits that a task of a run reads, [] where they are none of ours."""
    files = str((run.content["configs"][task].get("dataset_kwargs") or {}).get("data_files", ""))
    return re.findall(r"medtasks://(\w+)/(\w+)", files)


def _may(entry: Entry, data_sets: Iterable[str], kind: str, asked: frozenset[str]) -> bool:
    terms = {name: _terms(name)[kind] for name in data_sets}
    if entry.credentialed or not terms or "withheld" in terms.values():
        return False
    return entry.data == "mini" or all(said == "shown" or name in asked for name, said in terms.items())


def _terms(data_set: str) -> Mapping[str, str]:
    found: Mapping[str, str] = _load("terms.yml").get(data_set, {"texts": "withheld", "images": "withheld"})
    return found


@functools.cache
def _load(name: str) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(
        importlib.resources.files("lmms_medtasks.board.site").joinpath(name).read_text("utf-8")
    )
    return found
