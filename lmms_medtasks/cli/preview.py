"""What ``lmms-medtasks preview`` shows: images, with every degradation of their modality at both levels, or a curve."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
from PIL import Image

from lmms_medtasks import degradations, pictures
from lmms_medtasks.degradations import own
from lmms_medtasks.degradations.base import is_custom_degradation
from lmms_medtasks.degradations.gallery import GalleryRow, GallerySection, GalleryTile, describe_distance, psnr
from lmms_medtasks.errors import UserError
from lmms_medtasks.progress import progress_bar

Subject = tuple[str, Image.Image, str | None]
"""What stands above an image, the image, and its modality if it is known."""


CURVE = (0.5, 1.0, 1.5, 2.0, 2.5, 3.0)
"""Strengths that a curve shows."""


def make_preview_sections(
    paths: list[Path], modality: str | None, names: list[str], seed: int | str, curve: bool = False
) -> tuple[list[GallerySection], list[tuple[Path, str]]]:
    """A section for each image (the mini data's, one of each modality, where ``paths`` is empty), and what failed.

    ``curve``: the strengths of :data:`CURVE` in place of the two levels. Of an image that cannot be read or degraded
    the path and the reason are given, and the others are shown.

    Raises:
        UserError: An unknown name or modality, or one whose degradations are none of ``names``.
    """
    canonical = degradations.canonical_modality(modality) if modality is not None else None
    chosen = [degradations.canonical_name(name) for name in names]
    for name in chosen:
        degradations.check_modality(name, canonical)
        if curve and is_custom_degradation(name):
            own.get(name).check_strength(CURVE[0])  # a function may have nothing between its levels
    levels = CURVE if curve else (1.0, 2.0)
    shown: list[GallerySection] = []
    failed: list[tuple[Path, str]] = []
    subjects = [] if paths else list(_iter_mini_images(canonical))
    modalities = [canonical] * len(paths) or [mini_modality for _, _, mini_modality in subjects]
    steps = sum(len(_fitting_degradations(each, chosen)) for each in modalities)
    with progress_bar(steps, "preview", "degradation") as step, warnings.catch_warnings():
        warnings.simplefilter("ignore", pictures.WindowWarning)  # stands under the picture
        for path in paths:
            try:
                shown.append(
                    _make_section((path.name, pictures.open_image(path, "It"), canonical), chosen, seed, levels, step)
                )
            except UserError as error:
                failed.append((path, str(error)))
        shown += [_make_section(subject, chosen, seed, levels, step) for subject in subjects]
    return shown, failed


def _make_section(
    subject: Subject, chosen: list[str], seed: int | str, levels: Sequence[float], step: Callable[[int], object]
) -> GallerySection:
    heading, image, modality = subject
    view = pictures.shown_as(image)
    about = [f"{image.width} x {image.height}"]
    if "window" in view:
        of = "" if "window_from" in view else " of 16 bits"
        about.append(f"window {view['window'][0]:g} to {view['window'][1]:g}{of}")
    if "background" in view:
        about.append(f"transparent pixels on {view['background']}")
    rows = []
    for name in _fitting_degradations(modality, chosen):
        rows.append(_make_row(subject, name, seed, levels))
        step(1)
    return GallerySection(heading, GalleryTile(pictures.to_rgb8(image), "untouched", tuple(about)), tuple(rows))


def _fitting_degradations(modality: str | None, chosen: list[str]) -> list[str]:
    allowed = degradations.for_modality(modality) if modality is not None else degradations.names()
    fits = (name for name in chosen if modality is None or modality in degradations.modalities_of(name))
    return [name for name in dict.fromkeys((*allowed, *fits)) if not chosen or name in chosen]


def _make_row(subject: Subject, name: str, seed: int | str, levels: Sequence[float]) -> GalleryRow:
    _, image, modality = subject
    clean = pictures.to_rgb8(image)
    tiles, points = [], []
    title, there = degradations.title(name), degradations.levels_of(name)
    for level in levels:
        if level == 2 and 2 not in there:
            continue
        result = pictures.to_rgb8(degradations.apply(image, name, strength=level, seed=seed, modality=modality))
        label = f"{title} L{level:g}" if level in (1, 2) else f"{title} {level:g}"
        tiles.append(GalleryTile(result, label, (describe_distance(clean, result),)))
        points.append((level, psnr(np.asarray(clean), np.asarray(result))))
    return GalleryRow(tuple(tiles), tuple(points) if levels == CURVE else ())


def _iter_mini_images(modality: str | None) -> Iterator[Subject]:
    import pyarrow.parquet as parquet

    from lmms_medtasks.data import mini, sources

    first: dict[str, bytes] = {}
    for source in map(sources.get, sources.names()):
        if source.preview:
            table = parquet.read_table(mini.mini_file(source.name, source.preview), columns=["modality", "image"])
            for row, mini_modality in enumerate(table["modality"].to_pylist()):
                if mini_modality not in first:
                    first[mini_modality] = table["image"][row].as_py()["bytes"]
    for name in degradations.modalities():
        if name in first and modality in (None, name):
            yield name, pictures.open_image(first[name]), name
