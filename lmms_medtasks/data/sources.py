"""The data sets under ``medtasks://``: a record for each, with its reader.

A benchmark's folder declares them in ``source.py``, as ``SOURCES``. Folders that are not installed are added by
:func:`add_source_folders`; an installed package offers a data set by an entry point of its name in the group
``lmms_medtasks.data_readers``.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

from lmms_medtasks import extensions
from lmms_medtasks import folders as benchmark_folders
from lmms_medtasks.data.release_counts import ExpectedCounts
from lmms_medtasks.errors import UserError, unknown_name_error

if TYPE_CHECKING:
    from lmms_medtasks.data.releases import LocalRelease, Release
    from lmms_medtasks.data.row_reader import RowReader

FILE = "source.py"

REVISION_NOT_KNOWN = (
    "The revision hash of the hub's dataset was not known when this was written, so 'main' is asked for; the commit "
    "that it stood for is recorded with each split."
)
"""A note of data sets whose ``revision`` is a branch."""


@dataclass(frozen=True)
class SourceSplit:
    """A split and its files. ``instead``: others with the same content. ``default``: prepared by default.

    ``apart_from``: the split whose files have these rows, which are of groups that the paper does not have (a tier, a
    type). They are prepared along with it, always as a sample: no task of the paper reads them.
    """

    name: str
    files: tuple[str, ...]
    about: str
    default: bool = True
    instead: tuple[tuple[str, ...], ...] = ()
    apart_from: str = ""

    def files_in(self, release: Release) -> tuple[str, ...] | None:
        """The first set of files that ``release`` has all of, or None."""
        return next((files for files in (self.files, *self.instead) if all(map(release.has, files))), None)

    def wanted(self) -> str:
        return " or ".join(" and ".join(files) for files in (self.files, *self.instead))


@dataclass(frozen=True)
class ReleaseFinding:
    """What ``lmms-medtasks data doctor`` says of one thing that a source folder should have.

    ``state``: "there"; "missing", if something can't be prepared without it; "note" for the rest. ``detail``: where it
    is, or where it was looked for and how to get it.
    """

    what: str
    state: Literal["there", "missing", "note"]
    detail: str = ""


@dataclass(frozen=True)
class SplitSize:
    """How many questions something has here, in the paper and in the release (None: not known)."""

    what: str
    here: int
    paper: int | None = None
    release: int | None = None


@dataclass(frozen=True)
class ReleaseExamination:
    """A data set's own look at its splits: findings, sizes, and by shift the images that its sides share."""

    findings: Sequence[ReleaseFinding] = ()
    sizes: Sequence[SplitSize] = ()
    shared: Mapping[str, int] = field(default_factory=dict)


class TrainingRule(Protocol):
    """Which rows of the split "train" are the training set of a task that leaves some out."""

    @property
    def fields(self) -> tuple[str, ...]:
        """The tags that it looks at, besides ``split``."""

    def trains(self, row: Mapping[str, Any]) -> bool:
        """Whether a row with these tags is in the training set."""


@dataclass(frozen=True)
class DataSource:
    """The data of one benchmark, or of one of its data sets.

    ``paper``: the counts that the paper states, by what is counted. ``expected``: the numbers of questions that make
    data full (:mod:`lmms_medtasks.data.release_counts`). ``open_split`` reads a split's files; it raises ``UserError``
    for another form. ``images_optional``: a question may have none. ``elsewhere``: see
    :class:`~lmms_medtasks.data.releases.LocalRelease`. ``hub_repository``: "" for data on no hub; ``obtain`` then says
    how to get the folder. ``agreement``: the agreement to sign for it; such data is *credentialed*, and its texts stay
    out of logs, reports and other people's judges. ``diagnose``: findings about a folder besides the files of the
    splits. ``examine``: looks into the opened splits (this record, split -> reader). ``training_rule``: the rule of the
    shift in a document's column ``shift``. ``preview``: a split whose mini data shows a clean picture of every
    modality. ``unit``: the column that a subset draws from, ``strata``: those whose values each get their share
    (:mod:`lmms_medtasks.data.subsets`).
    """

    name: str
    title: str
    splits: tuple[SourceSplit, ...]
    tags: Mapping[str, str]
    hub_repository: str
    revision: str
    licence: str
    terms: str
    expected: tuple[ExpectedCounts, ...]
    open_split: Callable[[Release, SourceSplit], RowReader]
    paper: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    images_optional: bool = False
    elsewhere: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    obtain: str = ""
    agreement: str = ""
    diagnose: Callable[[LocalRelease], Sequence[ReleaseFinding]] | None = None
    examine: Callable[[DataSource, Mapping[str, RowReader]], ReleaseExamination] | None = None
    training_rule: Callable[[str], TrainingRule] | None = None
    preview: str = ""
    unit: str = "image_id"
    strata: tuple[str, ...] = ()

    def split(self, name: str) -> SourceSplit:
        for split in self.splits:
            if split.name == name:
                return split
        raise unknown_name_error("split", name, [split.name for split in self.splits], f"suite {self.name!r}")


_GIVEN: list[Path] = []
"""Folders with a ``source.py`` that are not installed. One a process: ``datasets`` hands our filesystem nothing but the
name of data, which must be found here."""


def add_source_folders(paths: Iterable[Path]) -> None:
    """Add the data sets of every ``source.py`` at or below ``paths``. UserError: no folder, or a name that is taken."""
    for path in paths:
        if not path.is_dir():
            raise UserError(f"{path} is no folder. Give one with a {FILE}, or with folders that have one.")
        for file in sorted(path.rglob(FILE)):
            folder = file.parent.resolve()
            if folder not in _GIVEN and not folder.is_relative_to(benchmark_folders.suites_root().resolve()):
                _GIVEN.append(folder)
                try:
                    names()
                except UserError:
                    _GIVEN.remove(folder)
                    raise


def added_source_folders() -> tuple[Path, ...]:
    return tuple(_GIVEN)


def names() -> list[str]:
    """The names of all data sets, sorted. UserError: a ``source.py`` without SOURCES, or one name twice."""
    claims = [(source.name, str(folder)) for folder in _source_folders() for source in _of_folder(folder)]
    offered = extensions.installed_extensions("data reader")
    claims += [(name, f"the installed {entry.value}") for name, entry in offered.items()]
    owners: dict[str, str] = {}
    for name, owner in claims:
        if name in owners:
            raise UserError(
                f"Two benchmarks claim the data set {name!r}: {owners[name]} and {owner}. Rename or uninstall one of "
                "them."
            )
        owners[name] = owner
    return sorted(owners)


def _source_folders() -> list[Path]:
    return [*benchmark_folders.folders_with_file(FILE), *_GIVEN]


def get(name: str) -> DataSource:
    """The data set called ``name``; ``UserError`` with the known names if there is none."""
    return _find_data_set(name)[1]


def source_folder(name: str) -> Path:
    """The folder of the benchmark of a data set; ``UserError`` as for :func:`get`."""
    return _find_data_set(name)[0]


def _find_data_set(name: str) -> tuple[Path, DataSource]:
    """The folder and the data set. Folders of a similar name come first, so that few are imported."""
    there = _source_folders()
    for folder in sorted(there, key=lambda each: -len(os.path.commonprefix([each.name, name]))):
        for source in _of_folder(folder):
            if source.name == name:
                return folder, source
    for folder in there:
        if folder.name == name:
            data_set_names = ", ".join(sorted(source.name for source in _of_folder(folder)))
            raise UserError(
                f"The benchmark {name!r} has several data sets, each prepared on its own. Name one: {data_set_names}."
            )
    if name in extensions.installed_extensions("data reader"):
        part = extensions.load_extension("data reader", name)
        if not isinstance(part.value, DataSource) or part.value.name != name or part.file is None:
            is_source = isinstance(part.value, DataSource)
            got = f"the data set {part.value.name!r}" if is_source else f"a {type(part.value).__name__}"
            raise UserError(
                f"{part.origin} offers {got} ({part.reference}) as {name!r}, expected a DataSource of that name. Mend "
                "the package, or uninstall it."
            )
        return part.file.parent, part.value
    raise unknown_name_error("suite", name, names())


def _of_folder(folder: Path) -> tuple[DataSource, ...]:
    exported = getattr(benchmark_folders.suite_module(folder, "source"), "SOURCES", None)
    if not isinstance(exported, tuple) or not all(isinstance(each, DataSource) for each in exported):
        where = folder / FILE
        raise UserError(f"{where} exports no SOURCES: expected a tuple of DataSource, got a {type(exported).__name__}.")
    return exported
