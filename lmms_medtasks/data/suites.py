"""What the package knows of a benchmark's data: a record for each suite, and what its reader has to offer."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from lmms_medtasks.data.releases import LocalRelease, Release
from lmms_medtasks.errors import unknown


class RejectedRow(Exception):
    """A record that cannot become a document; the text is the reason."""


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

    def missing_images(self) -> Iterator[tuple[str, ...]]:
        """For each question that has images that are not in the release: their names. Nothing is read or decoded."""


@dataclass(frozen=True)
class Split:
    """A split of a suite and the release's files that it is made from.

    ``instead``: other sets of files that hold the same (an archive unpacked), taken where ``files`` are not there.
    ``default``: prepared unless told otherwise. ``counted``: its records count when it is settled whether a folder
    holds the whole benchmark; not so for a split of records that another one has too.
    """

    name: str
    files: tuple[str, ...]
    about: str
    default: bool = True
    counted: bool = True
    instead: tuple[tuple[str, ...], ...] = ()

    def files_in(self, release: Release) -> tuple[str, ...] | None:
        """The first set of files that ``release`` has all of; None if it has none of the sets."""
        return next((files for files in (self.files, *self.instead) if all(map(release.has, files))), None)

    def wanted(self) -> str:
        """The files that it can be made from, for messages."""
        return " or ".join(" and ".join(files) for files in (self.files, *self.instead))


@dataclass(frozen=True)
class Finding:
    """What ``lmms-medtasks data doctor`` says of one thing that a source folder should have.

    ``state``: "there"; "missing", where something cannot be prepared without it; "note" for anything else worth saying.
    ``detail``: where it was found, or where it was looked for and how one gets it.
    """

    what: str
    state: Literal["there", "missing", "note"]
    detail: str = ""


@dataclass(frozen=True)
class Suite:
    """The data of one benchmark.

    ``paper`` holds the counts that the paper states, by what is counted. ``full_records`` is the number of records
    below which a local folder is taken for a part of the release (see :mod:`lmms_medtasks.data.prepare`).
    ``open_split`` reads a split's files through a :class:`~lmms_medtasks.data.releases.Release`; it raises
    ``UserError`` when the files have not the form that was expected. ``images_optional``: a question may have none.
    ``elsewhere``: see :class:`~lmms_medtasks.data.releases.LocalRelease`.
    ``hub_repository`` is empty for data that is on no hub; ``obtain`` then says how one gets the folder.
    ``agreement`` names the agreement that one has signed to get it: such data is *credentialed*, and its texts stay out
    of logs, reports and other people's judges. ``diagnose`` tells what a folder has besides the files of the splits.
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
    elsewhere: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    obtain: str = ""
    agreement: str = ""
    diagnose: Callable[[LocalRelease], Sequence[Finding]] | None = None

    def split(self, name: str) -> Split:
        """The split called ``name``; ``UserError`` with the names that exist if there is none."""
        for split in self.splits:
            if split.name == name:
                return split
        raise unknown("split", name, [split.name for split in self.splits], f"suite {self.name!r}")


_MODULES: Mapping[str, str] = {
    "bones_joints": "lmms_medtasks.data.bones_joints",
    "med_cmr": "lmms_medtasks.data.med_cmr",
    "medobvious": "lmms_medtasks.data.medobvious",
    "medq_deg": "lmms_medtasks.data.medq_deg",
    "sure_mimic": "lmms_medtasks.data.sure_mimic",
    "sure_ovqa": "lmms_medtasks.data.sure_ovqa",
    "sure_slake": "lmms_medtasks.data.sure_slake",
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
