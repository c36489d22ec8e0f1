"""What the package knows of a benchmark's data: a record for each suite, and what its reader has to offer."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from lmms_medtasks.errors import unknown
from lmms_medtasks.sources.releases import Release


@dataclass(frozen=True)
class Candidate:
    """One record of a release: a document, or the reason why it is none.

    ``number`` is the record's place in its file, from 1 (the header does not count); ``id`` is what the source calls
    it, possibly empty. Exactly one of ``document`` and ``reason`` is set. The document's ``data`` field is filled in
    later, and its images are checked later.
    """

    number: int
    id: str
    document: dict[str, Any] | None = None
    reason: str = ""


class SplitReader(Protocol):
    """A split of a release that was looked through once: its form is known to be right, its size is known."""

    records: int
    """How many records the release has for this split, good or bad."""

    notes: Mapping[str, Any]
    """What was found and is worth keeping in the manifest (columns used, for instance)."""

    def candidates(self) -> Iterator[Candidate]:
        """Every record once, in the release's order."""


@dataclass(frozen=True)
class Split:
    """A split of a suite and the release's files that it is made from.

    ``default``: prepared unless told otherwise. ``counted``: its records count when it is settled whether a folder
    holds the whole benchmark; not so for a split of records that another one has too.
    """

    name: str
    files: tuple[str, ...]
    about: str
    default: bool = True
    counted: bool = True


@dataclass(frozen=True)
class Suite:
    """The data of one benchmark.

    ``paper`` holds the counts that the paper states, by what is counted. ``full_records`` is the number of records
    below which a local folder is taken for a part of the release (see :mod:`lmms_medtasks.sources.prepare`).
    ``open_split`` reads a split's files through a :class:`~lmms_medtasks.sources.releases.Release`; it raises
    ``UserError`` when the files have not the form that was expected. ``images_optional``: a question may have none.
    """

    name: str
    title: str
    splits: tuple[Split, ...]
    tags: Mapping[str, str]
    hub_repository: str
    revision: str
    licence: str
    terms: str
    full_records: int
    open_split: Callable[[Release, Split], SplitReader]
    paper: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    images_optional: bool = False

    def split(self, name: str) -> Split:
        """The split called ``name``; ``UserError`` with the names that exist if there is none."""
        for split in self.splits:
            if split.name == name:
                return split
        raise unknown("split", name, [split.name for split in self.splits], f"suite {self.name!r}")


_MODULES: Mapping[str, str] = {
    "medq_deg": "lmms_medtasks.sources.medq_deg",
}


def names() -> list[str]:
    """The names of all suites."""
    return sorted(_MODULES)


def get(name: str) -> Suite:
    """The suite called ``name``; ``UserError`` with the names that exist if there is none."""
    if name not in _MODULES:
        raise unknown("suite", name, _MODULES)
    suite: Suite = importlib.import_module(_MODULES[name]).SUITE
    return suite
