"""Labelled pictures of a user: from a labels table, a folder per label, or documents of this package.

Tables are CSV, JSONL or parquet; parquet may hold the pictures too.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lmms_medtasks import data as sources
from lmms_medtasks.data.any_tables import iter_table_rows
from lmms_medtasks.errors import UserError
from lmms_medtasks.grids.pool import Picture
from lmms_medtasks.pictures import image_id, image_problem, read_encoded
from lmms_medtasks.progress import progress_bar

COLUMNS = ("image", "modality", "anatomy", "view", "finding", "laterality", "up")
"""The columns that are read; ``image`` and ``modality`` must be there."""

REQUIRED = ("image", "modality")
WANTED = ("modality", "anatomy", "view")
"""Labels that a picture must have where the table has the column; a finding, a laterality or ``up`` may be empty."""

_OURS = ("id", "images", "question", "options", "answer", "image_id", "data")
"""Further columns of this package's documents, which say nothing about a picture's category."""

_LARGE = ("question", "options", "images", "answer")
"""Those of them that are not kept in memory."""


@dataclass(frozen=True)
class LabelledRow:
    """One row: a name for the manifest, the labels as text, the missing labels, and the picture."""

    id: str
    values: Mapping[str, str]
    missing: tuple[str, ...] = ()
    path: Path | None = None
    data: bytes | None = field(default=None, repr=False)


def read_table(path: Path, folder: Path) -> tuple[list[LabelledRow], tuple[str, ...]]:
    """The rows of a table whose image paths are relative to ``folder``, and the columns that are not used.

    Rows of this package's documents that share an ``image_id`` are one picture. Raises UserError for a table that
    cannot be read, that lacks a required column, or that has no rows.
    """
    rows = list(_iter_rows(path))
    columns = list(dict.fromkeys(name for row in rows for name in row))
    if not rows:
        raise UserError(f"{path} has no rows.")
    missing = [name for name in REQUIRED if name not in columns]
    if missing:
        raise UserError(
            f"{path} lacks the column {' and '.join(map(repr, missing))}. Required: image, modality and, if there are "
            f"such labels, {', '.join(COLUMNS[2:])}. Found: {', '.join(map(str, columns)) or '(none)'}."
        )
    labelled: dict[str, LabelledRow] = {}
    for number, row in enumerate(rows, start=1):
        entry = _parse_row(row, number, path, folder, columns)
        labelled.setdefault(entry.id, entry)
    ignored = tuple(sorted(str(name) for name in columns if name not in (*COLUMNS, *_OURS)))
    return list(labelled.values()), ignored


def _parse_row(row: Mapping[str, Any], number: int, path: Path, folder: Path, columns: list[str]) -> LabelledRow:
    values = {name: _cell_text(row.get(name)) for name in COLUMNS[1:]}
    missing = tuple(name for name in WANTED if name in columns and not values[name].strip())
    image = row.get("image")
    if isinstance(image, Mapping) or isinstance(image, bytes):
        data = image.get("bytes") if isinstance(image, Mapping) else image
        name = _cell_text(row.get("image_id")) or _cell_text(row.get("id")) or f"row {number}"
        if isinstance(data, bytes):
            return LabelledRow(name, values, missing, data=data)
        image = image.get("path") if isinstance(image, Mapping) else None
    if not isinstance(image, str) or not image.strip():
        raise UserError(f"{path}, row {number}: the column image is {str(image)[:60]!r}, expected a path or an image.")
    return LabelledRow(image, values, missing, path=folder / image)


def _cell_text(value: Any) -> str:
    return "" if value is None else str(value)


def _iter_rows(path: Path) -> Iterator[Mapping[str, Any]]:
    for number, row in enumerate(iter_table_rows(path), start=1):
        if row is None:
            raise UserError(f"{path}, row {number}: expected an object, or as many cells as the header has.")
        yield {name: value for name, value in row.items() if name not in _LARGE}


TABLES = (".csv", ".jsonl", ".parquet")
LEVELS = ("modality", "anatomy", "view", "finding")
"""What the folders above a picture name, from the outermost, in the folder-per-label form."""

_SHOWN = 10
_UP = {"": None, "yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}


@dataclass(frozen=True)
class LabelledImages:
    """The pictures, the skipped ones (name, reason), and the columns that were not used."""

    pictures: list[Picture]
    skipped: list[tuple[str, str]]
    ignored: tuple[str, ...]


def read_labelled_images(
    source: str,
    *,
    labels: Path | None = None,
    skip_bad: bool = False,
    skip_unlabelled: bool = False,
    counted: Callable[[int], object] = lambda there: None,
) -> LabelledImages:
    """The pictures of ``source``. ``counted`` is called with how many are listed before the first one is decoded.

    ``source`` is ``medtasks://suite/split``, a labels table (CSV, JSONL or parquet with a column ``image``, which holds
    paths relative to the table or, in parquet, the pictures), or a folder: with ``labels`` (paths relative to the
    folder), with a file labels.csv, .jsonl or .parquet in it, or with folders named modality/anatomy/view/finding, as
    deep as there are labels. Pictures with the same bytes count as one.

    Raises:
        UserError: no such source, no label columns, labels missing (unless ``skip_unlabelled``), files that are no
            images or not there (unless ``skip_bad``), the same picture under two labels.
    """
    rows, ignored = _read_rows(source, labels)
    rows, unlabelled = _split_unlabelled(rows, skip_unlabelled)
    counted(len(rows))
    pictures, bad = _check_images(rows, source)
    if bad and not skip_bad:
        raise UserError(
            f"{len(bad)} of {len(rows)} files of {source} are no images that can be used:\n{_list_reasons(bad)}\n"
            "Mend or move them, or leave them out with --skip-bad."
        )
    if not pictures:
        raise UserError(f"{source} has no image that can be used.")
    unique, twice = _drop_duplicates(pictures)
    return LabelledImages(unique, [*unlabelled, *bad, *twice], ignored)


def _read_rows(source: str, labels: Path | None) -> tuple[list[LabelledRow], tuple[str, ...]]:
    if source.startswith("medtasks://"):
        suite, _, split = source.removeprefix("medtasks://").partition("/")
        return read_table(sources.locate_split(suite, split).path, Path("."))
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
    return read_table(labels, path) if labels is not None else (list(_iter_folder(path)), ())


def _iter_folder(folder: Path) -> Iterator[LabelledRow]:
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
        yield LabelledRow(path.relative_to(folder).as_posix(), values, missing, path=path)


def _split_unlabelled(rows: list[LabelledRow], skip: bool) -> tuple[list[LabelledRow], list[tuple[str, str]]]:
    """Rows with every label that other rows have; and the ids of those without, each with the missing labels."""
    without = [(row.id, f"no {', '.join(row.missing)}") for row in rows if row.missing]
    if without and not skip:
        raise UserError(
            f"{len(without)} of {len(rows)} images lack labels that the others have:\n{_list_reasons(without)}\n"
            "Label them, or leave them out with --skip-unlabelled."
        )
    return [row for row in rows if not row.missing], without


def _check_images(rows: Sequence[LabelledRow], source: str) -> tuple[list[tuple[Picture, str]], list[tuple[str, str]]]:
    """The pictures that decode, each with a digest of its bytes, and the others with the reason."""
    spellings: dict[tuple[str, str], str] = {}
    good: list[tuple[Picture, str]] = []
    bad: list[tuple[str, str]] = []
    with progress_bar(len(rows), "Reading images", "images") as step:
        for row in rows:
            step(1)
            try:
                data = read_encoded({"bytes": row.data, "path": row.path}) or b""
                reason = image_problem(data)
            except UserError as error:
                reason = str(error)
            if reason:
                bad.append((row.id, reason))
                continue
            good.append((_make_picture(row, spellings, source), image_id([data])))
    return good, bad


def _make_picture(row: LabelledRow, spellings: dict[tuple[str, str], str], source: str) -> Picture:
    up = row.values.get("up", "").strip().casefold()
    if up not in _UP:
        got = row.values["up"]
        raise UserError(f"Image {row.id!r} of {source}: the label up is {got!r}, allowed: yes, no, empty.")
    labels = {name: _spell_label(name, row.values.get(name, ""), spellings) for name in (*LEVELS, "laterality")}
    return Picture(row.id, **labels, up=_UP[up], data=row.data, path=None if row.data is not None else row.path)


def _spell_label(name: str, value: str, spellings: dict[tuple[str, str], str]) -> str:
    """The first spelling met of labels that differ in case and spaces only; of modalities the package's."""
    from lmms_medtasks import degradations

    value = " ".join(value.split())
    if name == "modality":
        with contextlib.suppress(UserError):  # any modality may be in a grid, not only those that have degradations
            value = degradations.canonical_modality(value)
    return spellings.setdefault((name, value.casefold()), value)


def _drop_duplicates(pictures: Iterable[tuple[Picture, str]]) -> tuple[list[Picture], list[tuple[str, str]]]:
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


def _list_reasons(entries: Sequence[tuple[str, str]]) -> str:
    lines = [f"  {name}: {reason}" for name, reason in entries[:_SHOWN]]
    return "\n".join(lines + ([f"  and {len(entries) - _SHOWN} more"] if len(entries) > _SHOWN else []))
