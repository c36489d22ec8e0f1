"""Labelled pictures from where a user has them: a labels table, a folder per label, or documents of this package."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from lmms_medtasks import data as sources
from lmms_medtasks.errors import UserError
from lmms_medtasks.grids.label_tables import COLUMNS, Labelled, read_table
from lmms_medtasks.grids.pool import Picture
from lmms_medtasks.pictures import image_id, image_problem
from lmms_medtasks.progress import bar

TABLES = (".csv", ".jsonl", ".parquet")
LEVELS = ("modality", "anatomy", "view", "finding")
"""What the folders above a picture name, from the outermost, in the folder-per-label form."""

_SHOWN = 10
_UP = {"": None, "yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}


@dataclass(frozen=True)
class Reading:
    """The pictures, what was left out (name, reason), and columns that nothing was made of."""

    pictures: list[Picture]
    skipped: list[tuple[str, str]]
    ignored: tuple[str, ...]


def read(
    source: str,
    *,
    labels: Path | None = None,
    skip_bad: bool = False,
    skip_unlabelled: bool = False,
    counted: Callable[[int], object] = lambda there: None,
) -> Reading:
    """The pictures of ``source``. ``counted`` is called with how many are listed before the first one is decoded.

    ``source`` is ``medtasks://suite/split``, a labels table (CSV, JSONL or parquet with a column ``image``, which holds
    paths relative to the table or, in parquet, the pictures), or a folder: with ``labels`` (paths relative to the
    folder), with a file labels.csv, .jsonl or .parquet in it, or with folders named modality/anatomy/view/finding, as
    deep as there are labels. Pictures with the same bytes count as one.

    Raises:
        UserError: no such source, no label columns, labels missing (unless ``skip_unlabelled``), files that are no
            images or not there (unless ``skip_bad``), the same picture under two labels.
    """
    rows, ignored = _rows(source, labels)
    rows, unlabelled = _with_labels(rows, skip_unlabelled)
    counted(len(rows))
    pictures, bad = _checked(rows, source)
    if bad and not skip_bad:
        raise UserError(
            f"{len(bad)} of {len(rows)} files of {source} are no images that can be used:\n{_list(bad)}\n"
            "Mend or move them, or leave them out with --skip-bad."
        )
    if not pictures:
        raise UserError(f"{source} has no image that can be used.")
    unique, twice = _unique(pictures)
    return Reading(unique, [*unlabelled, *bad, *twice], ignored)


def _rows(source: str, labels: Path | None) -> tuple[list[Labelled], tuple[str, ...]]:
    if source.startswith("medtasks://"):
        suite, _, split = source.removeprefix("medtasks://").partition("/")
        return read_table(sources.locate(suite, split).path, Path("."))
    path = Path(source).expanduser()
    if path.is_file():
        if path.suffix.lower() not in TABLES:
            raise UserError(f"{source} is no labels table. Give a folder, or a file ending in {', '.join(TABLES)}.")
        return read_table(path, path.parent)
    if not path.is_dir():
        raise UserError(f"There is no {source!r}: expected a folder, a labels table, or medtasks://suite/split.")
    if labels is None:
        labels = next((path / f"labels{end}" for end in TABLES if (path / f"labels{end}").is_file()), None)
    elif not labels.is_file():
        raise UserError(f"There is no labels table {str(labels)!r}.")
    return read_table(labels, path) if labels is not None else (list(_by_folder(path)), ())


def _by_folder(folder: Path) -> Iterator[Labelled]:
    """Every file below ``folder``, labelled by the folders that it is in."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    if not files:
        raise UserError(f"The folder {str(folder)!r} is empty.")
    if all(path.parent == folder for path in files):
        raise UserError(
            f"The folder {str(folder)!r} has no labels: no labels.csv, .jsonl or .parquet with the columns "
            f"{', '.join(COLUMNS)}, and no folders named by {'/'.join(LEVELS)}. Give --labels."
        )
    depth = max(len(path.relative_to(folder).parts) - 1 for path in files)
    if depth > len(LEVELS):
        raise UserError(f"{str(folder)!r} has folders {depth} deep; labels are at most {'/'.join(LEVELS)}.")
    for path in files:
        parts = path.relative_to(folder).parts[:-1]
        values = dict(zip(LEVELS[:depth], parts, strict=False))
        missing = tuple(name for name in LEVELS[: min(depth, 3)] if name not in values)
        yield Labelled(path.relative_to(folder).as_posix(), values, missing, path=path)


def _with_labels(rows: list[Labelled], skip: bool) -> tuple[list[Labelled], list[tuple[str, str]]]:
    """The rows that have all labels that the others have, and those that have not."""
    without = [(row.id, f"no {', '.join(row.missing)}") for row in rows if row.missing]
    if without and not skip:
        raise UserError(
            f"{len(without)} of {len(rows)} images lack labels that the others have:\n{_list(without)}\n"
            "Label them, or leave them out with --skip-unlabelled."
        )
    return [row for row in rows if not row.missing], without


def _checked(rows: Sequence[Labelled], source: str) -> tuple[list[tuple[Picture, str]], list[tuple[str, str]]]:
    """The pictures that decode, each with a digest of its bytes, and the others with the reason."""
    spelling = _Spelling()
    good: list[tuple[Picture, str]] = []
    bad: list[tuple[str, str]] = []
    with bar(len(rows), "Reading images", "images") as step:
        for row in rows:
            step(1)
            try:
                data = row.data if row.data is not None else (row.path or Path()).read_bytes()
            except OSError as error:
                bad.append((row.id, f"cannot be read ({error.strerror or error})"))
                continue
            reason = image_problem(data)
            if reason is not None:
                bad.append((row.id, reason))
                continue
            good.append((_picture(row, spelling, source), image_id([data])))
    return good, bad


def _picture(row: Labelled, spelling: _Spelling, source: str) -> Picture:
    up = row.values.get("up", "").strip().casefold()
    if up not in _UP:
        got = row.values["up"]
        raise UserError(f"Image {row.id!r} of {source}: the label up is {got!r}, allowed: yes, no, empty.")
    labels = {name: spelling.of(name, row.values.get(name, "")) for name in (*LEVELS, "laterality")}
    return Picture(row.id, **labels, up=_UP[up], data=row.data, path=None if row.data is not None else row.path)


class _Spelling:
    """One spelling for labels that differ in case and spaces only: the first met; for modalities the package's."""

    def __init__(self) -> None:
        self._first: dict[tuple[str, str], str] = {}

    def of(self, name: str, value: str) -> str:
        from lmms_medtasks import degradations

        value = " ".join(value.split())
        if name == "modality":
            try:
                value = degradations.canonical_modality(value)
            except UserError:
                pass  # any modality may be in a grid, not only those that have degradations
        return self._first.setdefault((name, value.casefold()), value)


def _unique(pictures: Iterable[tuple[Picture, str]]) -> tuple[list[Picture], list[tuple[str, str]]]:
    """One picture for each digest; UserError where the same picture is labelled in two ways."""
    first: dict[str, Picture] = {}
    twice = []
    for picture, digest in pictures:
        other = first.setdefault(digest, picture)
        if other is picture:
            continue
        if (other.category, other.finding, other.laterality) != (picture.category, picture.finding, picture.laterality):
            raise UserError(
                f"{other.id!r} and {picture.id!r} are the same image with different labels: {other.category} "
                f"{other.finding!r} and {picture.category} {picture.finding!r}. Mend the labels, or remove one."
            )
        twice.append((picture.id, f"the same image as {other.id}"))
    return list(first.values()), twice


def _list(entries: Sequence[tuple[str, str]]) -> str:
    lines = [f"  {name}: {reason}" for name, reason in entries[:_SHOWN]]
    return "\n".join(lines + ([f"  and {len(entries) - _SHOWN} more"] if len(entries) > _SHOWN else []))
