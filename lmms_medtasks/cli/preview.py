"""What ``lmms-medtasks preview`` shows: images, with every degradation of their modality at both levels."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

from PIL import Image

from lmms_medtasks import degradations, pictures
from lmms_medtasks.degradations.files import open_image
from lmms_medtasks.degradations.gallery import Section, Tile, distance
from lmms_medtasks.progress import bar

Subject = tuple[str, Image.Image, str | None]
"""What stands above an image, the image, and its modality if it is known."""


def sections(paths: list[Path], modality: str | None, names: list[str], seed: int | str) -> list[Section]:
    """A section for each image (the mini data's, one of each modality, where ``paths`` is empty).

    Raises:
        UserError: An unknown name or modality, or a file that is no image.
    """
    canonical = degradations.canonical_modality(modality) if modality is not None else None
    chosen = [degradations.canonical_name(name) for name in names]
    subjects = [(path.name, open_image(path), canonical) for path in paths] or list(_mini(canonical))
    shown = []
    steps = [(subject, _fitting(subject[2], chosen)) for subject in subjects]
    with bar(sum(len(fitting) for _, fitting in steps), "preview", "degradation") as step:
        for subject, fitting in steps:
            first = Tile(pictures.rgb8(subject[1]), "untouched", (f"{subject[1].width} x {subject[1].height}",))
            tiles: list[Tile] = []
            for name in fitting:
                tiles += _tiles(subject, name, seed)
                step(1)
            shown.append(Section(subject[0], first, tuple(tiles)))
    return shown


def _fitting(modality: str | None, chosen: list[str]) -> list[str]:
    allowed = degradations.for_modality(modality) if modality is not None else degradations.names()
    return [name for name in allowed if not chosen or name in chosen]


def _tiles(subject: Subject, name: str, seed: int | str) -> Iterator[Tile]:
    _, image, modality = subject
    clean = pictures.rgb8(image)
    for level in (1, 2):
        result = pictures.rgb8(degradations.apply(image, name, severity=level, seed=seed, modality=modality))
        yield Tile(result, f"{name} L{level}", (distance(clean, result),))


def _mini(modality: str | None) -> Iterator[Subject]:
    """The first mini image of each modality, or of one."""
    import pyarrow.parquet as parquet

    from lmms_medtasks.data import mini, sources

    first: dict[str, bytes] = {}
    for source in map(sources.get, sources.names()):
        if source.preview:
            table = parquet.read_table(mini.path(source.name, source.preview), columns=["modality", "image"])
            for row, found in enumerate(table["modality"].to_pylist()):
                if found not in first:
                    first[found] = table["image"][row].as_py()["bytes"]
    for each in degradations.modalities():
        if each in first and modality in (None, each):
            yield f"{each} (mini phantom)", Image.open(io.BytesIO(first[each])), each
