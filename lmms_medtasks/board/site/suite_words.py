"""Texts and terms of each suite: the ``board.yml`` in each benchmark's folder.

Its headline (:mod:`lmms_medtasks.report.headlines`) names the number on the overview and labels its numbers.

The file's keys:
    place: the number of its page, from 1. short, question: a short name; what it asks, a sentence.
    open: tasks (patterns) that come first on the suite's page, in this order.
    about, read: a description, and how its numbers are read, for people in a hurry. paper: its address on the web.
    names: task (a pattern) -> its name for people. values: tag -> value -> its words, if the value is a code ("iid").
    chart: of its models (lmms_medtasks/board/site/suite_charts.py).
    pictures: task pattern -> id of the document with a question's images, with the question's tags in braces, if it
        is neither the question itself nor the one that it is a form of.
    terms: which texts and images of each data set a public site may show.
        shown: always. asked: if --texts SET or --images SET requests it, which confirms that its terms were read.
        never: only mini data, which we drew. withheld: not even that, such as credentialed data.
"""

from __future__ import annotations

import fnmatch
import functools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lmms_medtasks import folders
from lmms_medtasks.board.entries import LeaderboardEntry
from lmms_medtasks.errors import UserError, unknown_name_error
from lmms_medtasks.report.headlines import DEFAULT_COLUMNS, BoardColumn
from lmms_medtasks.suites.suite import Measure


@dataclass(frozen=True)
class SuiteTexts:
    """The texts of a suite: its ``board.yml``, title and headline's columns."""

    name: str
    title: str
    about: str = ""
    read: str = ""
    columns: tuple[BoardColumn, ...] = ()
    open: Sequence[str] = ()
    pictures: Mapping[str, str] = field(default_factory=dict)
    paper: str = ""
    names: Mapping[str, str] = field(default_factory=dict)
    chart: Mapping[str, Any] | None = None
    short: str = ""
    question: str = ""
    values: Mapping[str, Mapping[object, str]] = field(default_factory=dict)

    def value_of(self, tag: str, value: object) -> str:
        """The value of a tag for people."""
        text = str(value)
        declared = next((words for value, words in self.values.get(tag, {}).items() if str(value) == text), None)
        if declared is None and tag == "severity" and text.isdecimal():
            return level_word(int(text))
        return declared or text.replace("_", " ")

    def name_of(self, task: str) -> str:
        """A task's name for people; if none is configured, its own without the suite's."""
        named = next((name for pattern, name in self.names.items() if fnmatch.fnmatchcase(task, pattern)), "")
        short = task.removeprefix(f"{self.name}_").replace("_", " ")
        return named or short[:1].upper() + short[1:]

    def heading_of(self, task: str, measure: str) -> str:
        """Label of a task's measure, or the names of both if no label is configured."""
        return self.words_of(task, measure) or f"{self.name_of(task)}, {measure.replace('_', ' ')}"

    def column_of(self, task: str, measure: str, shown: Measure) -> str:
        """The heading of a column of such numbers, with their unit where that is not percent."""
        unit = shown.unit or f"{shown.low:g} to {shown.high:g}"
        return self.heading_of(task, measure) + (f" ({unit})" if unit != "%" else "")

    def words_of(self, task: str, measure: str) -> str:
        """Label of a number in the suite's headline; "" if it is not part of it."""
        return next((column.words for column in self.columns if column.words and column.fits(task, measure)), "")

    def before(self, task: str, measure: str) -> tuple[str, str] | None:
        """The task and measure from which the number's loss is computed, None if none is configured."""
        found = next((column.before for column in self.columns if column.fits(task, measure)), None)
        return found and (found[0] or task, found[1])

    def headline_of(self, entries: Sequence[LeaderboardEntry]) -> tuple[str, str] | None:
        """Task and measure of the suite on the overview; None without an entry with a measure."""
        have = [(entry.task, measure) for entry in entries for measure in entry.metrics]
        ordered = sorted(have, key=lambda each: (each[0], have.index(each)))
        found = (each for column in self.columns if column.heads for each in ordered if column.fits(*each))
        return next(found, have[0] if have else None)

    def tasks(self, entries: Iterable[LeaderboardEntry], first: str = "") -> list[str]:
        """The tasks of the entries: ``first``, then those of ``open``, in its order, then by name."""

        def place(task: str) -> tuple[bool, int, str]:
            fits = [n for n, pattern in enumerate(self.open) if fnmatch.fnmatchcase(task, pattern)]
            return task != first, (fits or [len(self.open)])[0], task

        return sorted({entry.task for entry in entries}, key=place)


_LEVELS = {0: "clean", 1: "mild", 2: "severe"}


def level_word(severity: int | None) -> str:
    """``clean``, ``mild``, ``severe``; "" without a severity."""
    return "" if severity is None else _LEVELS.get(severity, f"level {severity}")


@functools.cache
def suite_texts(suite: str) -> SuiteTexts:
    """The texts of a suite; only its name if it has none."""
    from lmms_medtasks.report.reported_suites import declared_report, reported_suites

    titles = {name: module.title for name, module in reported_suites().items()}
    known = _read_board_texts()
    # A benchmark that is not installed has its own page.
    said = known.get(suite) or ({} if suite in titles else {**known["contributed"], "title": suite})
    report = declared_report(suite)
    columns = report.headline.columns if report and report.headline else DEFAULT_COLUMNS
    title = titles.get(suite) or said.get("title") or suite or "Other"
    own = {name: value for name, value in said.items() if name not in ("place", "terms", "title")}
    return SuiteTexts(suite, title, columns=columns, **own)


def sort_suites(names: Iterable[str]) -> list[str]:
    """Suites in the order of their pages."""
    said = _read_board_texts()
    last = len(said) + 1
    return sorted(names, key=lambda name: (said.get(name, {}).get("place", last), name))


@dataclass(frozen=True)
class AllowedData:
    """Data sets whose texts and images were requested, beyond those that are always shown.

    ``local``: whether only this machine shows the page: then all data, whatever the terms for others.
    """

    texts: frozenset[str] = frozenset()
    images: frozenset[str] = frozenset()
    local: bool = False

    def text_of(self, entry: LeaderboardEntry, data_sets: Iterable[str]) -> bool:
        """Whether questions and answers on these data sets may be shown."""
        return self.local or _may_show(entry, data_sets, "texts", self.texts)

    def images_of(self, entry: LeaderboardEntry, data_sets: Iterable[str]) -> bool:
        """Whether images of these data sets may be shown."""
        return self.local or _may_show(entry, data_sets, "images", self.images)


def parse_allowed_data(texts: Iterable[str], images: Iterable[str]) -> AllowedData:
    """The requested data sets. Raises UserError for one that is unknown or whose terms forbid it."""
    for kind, names in (("texts", texts), ("images", images)):
        for name in names:
            if name not in _data_terms():
                raise unknown_name_error("data set", name, _data_terms(), f"--{kind}")
            if _data_terms()[name][kind] in ("never", "withheld"):
                allowed = [each for each, terms in _data_terms().items() if terms[kind] in ("shown", "asked")]
                raise UserError(f"--{kind} {name}: its terms keep them back. Possible: {', '.join(allowed)}.")
    return AllowedData(frozenset(texts), frozenset(images))


def _may_show(entry: LeaderboardEntry, data_sets: Iterable[str], kind: str, asked: frozenset[str]) -> bool:
    terms = {name: _data_terms().get(name, _UNKNOWN)[kind] for name in data_sets}
    if entry.credentialed or not terms or "withheld" in terms.values():
        return False
    return entry.variant == "mini" or all(said == "shown" or name in asked for name, said in terms.items())


_UNKNOWN: Mapping[str, str] = {"texts": "withheld", "images": "withheld"}


@functools.cache
def _data_terms() -> Mapping[str, Mapping[str, str]]:
    """Data set -> kind (texts, images) -> its terms."""
    return {name: terms for said in _read_board_texts().values() for name, terms in said.get("terms", {}).items()}


@functools.cache
def _read_board_texts() -> Mapping[str, Mapping[str, Any]]:
    """Suite -> its ``board.yml``, in the order of their pages; tasks of no installed benchmark come last."""
    found = {folder.name: folders.read_yaml(folder / "board.yml") for folder in folders.folders_with_file("board.yml")}
    ours = sorted(found, key=lambda name: (found[name]["place"], name))
    rest = folders.read_yaml(Path(__file__).with_name("contributed.yml"))
    return {**{name: found[name] for name in ours}, "contributed": {"place": len(ours) + 1, **rest}}
