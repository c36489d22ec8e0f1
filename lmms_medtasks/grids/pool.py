"""The pictures that grids are made from, and the categories that their labels put them in."""

from __future__ import annotations

import io
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from lmms_medtasks import pictures
from lmms_medtasks.errors import UserError

if TYPE_CHECKING:
    from PIL.Image import Image

_JPEG = b"\xff\xd8\xff"
NO_FINDING = frozenset({"", "none", "normal", "no finding", "no findings", "negative"})
"""Spellings of the label "finding" (case ignored) that mean there is none."""


class Category(NamedTuple):
    """What inliers share; anatomy and view are "" where they are not labelled."""

    modality: str
    anatomy: str = ""
    view: str = ""

    def __str__(self) -> str:
        return " ".join(part for part in (self.modality, self.anatomy, self.view) if part)


@dataclass(frozen=True)
class Picture:
    """One labelled source picture: its encoded bytes (``data``), or the ``path`` of its file.

    ``id`` names it in the manifest. ``finding`` is "" where there is none. ``laterality`` is "left", "right" or "".
    ``up`` says whether the picture has an up: None leaves that to orientation.yaml.
    """

    id: str
    modality: str
    anatomy: str = ""
    view: str = ""
    finding: str = ""
    laterality: str = ""
    up: bool | None = None
    data: bytes | None = field(default=None, repr=False)
    path: Path | None = None

    @property
    def category(self) -> Category:
        return Category(self.modality, self.anatomy, self.view)

    @property
    def has_finding(self) -> bool:
        return self.finding.strip().casefold() not in NO_FINDING

    def read(self) -> bytes:
        """The encoded bytes. Raises UserError if the file cannot be read."""
        data = pictures.read_encoded({"bytes": self.data, "path": self.path})
        if data is None:
            raise UserError(f"Image {self.id!r} has neither bytes nor a path.")
        return data


class LoadedImage(NamedTuple):
    """A picture as read once: decoded, and the facts about its file."""

    image: Image
    facts: SourceFacts


class SourceFacts(NamedTuple):
    """What a source file is like apart from what it shows. ``quality`` is the JPEG quality, 100 if it is no JPEG."""

    bytes: int
    width: int
    height: int
    quality: int


def load_image(picture: Picture) -> LoadedImage:
    """A picture as 8-bit RGB, and the facts; its JPEG quality is estimated.

    Raises UserError, naming the picture, if it cannot be read or does not decode.
    """
    from PIL import Image as Images

    data = picture.read()
    image = pictures.to_rgb8(pictures.open_image(data, f"Image {picture.id!r}"))
    quality = 100
    if data.startswith(_JPEG):
        with Images.open(io.BytesIO(data)) as encoded:
            quality = jpeg_quality(encoded.quantization[0])  # type: ignore[attr-defined]
    return LoadedImage(image, SourceFacts(len(data), image.width, image.height, quality))


def jpeg_quality(luminance: list[int]) -> int:
    """The quality (1 to 100) whose standard luminance table, scaled as libjpeg does, has the sum of ``luminance``.

    The standard table (ITU-T T.81, Annex K) sums to 3,688; libjpeg scales it by 50 / q below quality 50 and by
    2 - q / 50 above. Tables that are not the standard ones get the quality of the same mean coarseness.
    """
    scale = sum(luminance) / 3688.0
    quality = 50.0 / scale if scale > 1.0 else 50.0 * (2.0 - scale)
    return int(min(100, max(1, round(quality))))


@dataclass(frozen=True)
class ImagePool:
    """Pictures by category: ``plain`` without a finding (inliers come from these), ``findings`` with one."""

    plain: dict[Category, tuple[Picture, ...]]
    findings: dict[Category, tuple[Picture, ...]]

    @classmethod
    def of(cls, pictures: Iterable[Picture]) -> ImagePool:
        """The pool, sorted by id, so that the given order has no effect. Raises UserError for an id used twice."""
        plain: dict[Category, list[Picture]] = {}
        findings: dict[Category, list[Picture]] = {}
        seen = set[str]()
        for picture in sorted(pictures, key=lambda picture: picture.id):
            if picture.id in seen:
                raise UserError(f"The image {picture.id!r} is there twice. Every image needs an id of its own.")
            if not picture.modality.strip():
                raise UserError(f"Image {picture.id!r} has no modality. Label it, or leave it out.")
            seen.add(picture.id)
            pictures_by_category = findings if picture.has_finding else plain
            pictures_by_category.setdefault(picture.category, []).append(picture)
        if not seen:
            raise UserError("There is no image to make grids from.")
        return cls(*({key: tuple(group[key]) for key in sorted(group)} for group in (plain, findings)))

    @property
    def categories(self) -> list[Category]:
        return list(self.plain)
