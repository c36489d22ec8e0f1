"""From labelled pictures to items: the plan is carried out, a picture for every panel."""

from __future__ import annotations

import functools
import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import KW_ONLY, asdict, dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from lmms_medtasks.errors import UserError
from lmms_medtasks.grid_positions import parse_size
from lmms_medtasks.grids import altered_images, leaks, tasks
from lmms_medtasks.grids.panels import (
    FinishedPanel,
    PanelContent,
    compose_grid,
    draw_box,
    finish_panels,
    shrink_to_panel,
)
from lmms_medtasks.grids.plan import KINDS, NEGATIVES, PlannedItem, plan_items
from lmms_medtasks.grids.pool import Category, ImagePool, Picture, load_image
from lmms_medtasks.seeding import seeded_generator

if TYPE_CHECKING:
    from PIL.Image import Image

PANEL = 224
"""Pixels of a panel's side, unless told otherwise."""

SMALLEST_PANEL = 32
COLOUR = 12.0
"""Colourfulness (mean difference of the largest and the smallest channel, in levels) of a picture that has colours."""

_REMEMBERED = 256
_TRIED = 50
"""Pictures that are looked at for one that can be turned or mirrored so that one sees it."""

_LABELS = ("modality", "anatomy", "view", "finding", "laterality")


@dataclass(frozen=True)
class GridItem:
    """One item: its ``tasks`` in the release's form, its ``images`` (name below benchmark_refined -> PNG bytes), and
    its ``record`` for the manifest."""

    id: str
    _: KW_ONLY
    tasks: list[dict[str, Any]]
    images: dict[str, bytes]
    record: dict[str, Any]


@dataclass(frozen=True)
class DrawnGrid:
    """The pictures of a grid and what its panels are to show; ``outlier`` is an index or None, ``change`` how it was
    changed. ``rng`` draws what is drawn after that."""

    pictures: list[Picture]
    contents: list[PanelContent]
    _: KW_ONLY
    outlier: int | None
    change: dict[str, Any]
    rng: np.random.Generator


class FinishedGrid(NamedTuple):
    """What was drawn for a grid, and its finished panels."""

    drawn: DrawnGrid
    panels: list[FinishedPanel]


def build_items(
    pictures: Iterable[Picture],
    *,
    items: int,
    sizes: Sequence[str] = ("2x2",),
    kinds: Sequence[str] = KINDS,
    negatives: float = NEGATIVES,
    seed: int = 0,
    panel: int = PANEL,
    match: bool = True,
    reuse: bool = False,
) -> Iterator[GridItem]:
    """``items`` items of every size, in order; the same arguments give the same bytes.

    Inliers share a category and have no finding; the outlier is one of ``kinds``, which take turns. ``negatives`` is
    the share of tasks about consistent grids. No picture is used twice, unless ``reuse`` (then never twice in a grid).
    ``panel`` is the side of a panel in pixels; ``match`` gives all panels of a grid one shape, resolution, JPEG
    quality, brightness, contrast and file size (:mod:`.panels`).

    Raises UserError for sizes, kinds or shares that are not allowed, for too few pictures (have and need by category),
    and, while items are made, for a picture that does not decode.
    """
    pool = ImagePool.of(pictures)
    if panel < SMALLEST_PANEL:
        raise UserError(f"A panel must have at least {SMALLEST_PANEL} pixels a side, got {panel}.")
    parsed = [parse_size(size) for size in dict.fromkeys(sizes)]
    maker = _Maker(pool, seed, panel, match, reuse)
    coloured = frozenset(key for key in pool.categories if maker.is_coloured(key)) if match else frozenset[Category]()
    planned = plan_items(
        pool, items=items, sizes=parsed, kinds=kinds, negatives=negatives, seed=seed, reuse=reuse, coloured=coloured
    )
    return map(maker.make_item, planned)


class _DrawnOutlier(NamedTuple):
    """The outlier's picture, what its panel shows, how it was changed, and the inliers."""

    picture: Picture
    content: PanelContent
    change: dict[str, Any]
    inliers: list[Picture]


class _Maker:
    def __init__(self, pool: ImagePool, seed: int, panel: int, match: bool, reuse: bool) -> None:
        self._pool, self._seed, self._panel, self._match, self._reuse = pool, seed, panel, match, reuse
        self._used: set[str] = set()
        self._content = functools.lru_cache(maxsize=_REMEMBERED)(self._load_content)

    def _load_content(self, picture: Picture) -> PanelContent:
        source = load_image(picture)
        return PanelContent(shrink_to_panel(source.image, self._panel), source.facts)

    def is_coloured(self, key: Category) -> bool:
        """Whether most of the first three pictures of a category are coloured."""
        first = self._pool.plain[key][:3]
        return float(np.median([leaks.colourfulness(self._content(picture).image) for picture in first])) > COLOUR

    def make_item(self, entry: PlannedItem) -> GridItem:
        positive = self._mark_used(self._draw_positive(entry)) if entry.position is not None else None
        negative = self._mark_used(self._draw_negative(entry)) if entry.box is not None else None
        return _assemble_item(
            entry, self._finish_grid(positive, negative), self._finish_grid(negative, positive), self._panel
        )

    def _mark_used(self, drawn: DrawnGrid) -> DrawnGrid:
        if not self._reuse:
            self._used |= {picture.id for picture in drawn.pictures} | set(drawn.change.get("texture_from", ()))
        return drawn

    def _draw_positive(self, entry: PlannedItem) -> DrawnGrid:
        rng = seeded_generator("grids item", self._seed, entry.number)
        position, panels = entry.position or 0, entry.size.panels
        outlier, content, change, inliers = self._draw_outlier(entry, panels - 1, rng)
        pictures = [*inliers[:position], outlier, *inliers[position:]]
        contents = [content if picture is outlier else self._content(picture) for picture in pictures]
        return DrawnGrid(pictures, contents, outlier=position, change=change, rng=rng)

    def _draw_negative(self, entry: PlannedItem) -> DrawnGrid:
        rng = seeded_generator("grids control", self._seed, entry.number)
        inliers = self._draw_pictures(entry.category, entry.size.panels, rng)
        contents = [self._content(inlier) for inlier in inliers]
        return DrawnGrid(inliers, contents, outlier=None, change={}, rng=rng)

    def _finish_grid(self, drawn: DrawnGrid | None, other: DrawnGrid | None) -> FinishedGrid | None:
        """The finished panels of one grid of an item; ``other`` is the item's other grid."""
        if drawn is None:
            return None
        beside = other.contents if other is not None else []
        return FinishedGrid(
            drawn, finish_panels(drawn.contents, drawn.outlier, self._panel, self._match, drawn.rng, beside)
        )

    def _draw_outlier(self, entry: PlannedItem, count: int, rng: np.random.Generator) -> _DrawnOutlier:
        if entry.kind == "orientation":
            return self._draw_misoriented(entry, count, rng)
        if entry.kind == "integrity":
            first, *inliers = self._draw_pictures(entry.category, count + 1, rng)
            return self._violate_integrity(entry, first, inliers, rng)
        if entry.kind == "finding":
            free = self._unused_pictures(self._pool.findings[entry.category])
        else:
            free = self._unused_pictures(self._pool.plain[entry.other or entry.category])
        outlier = free[int(rng.integers(len(free)))]
        inliers = self._draw_pictures(entry.category, count, rng)
        return _DrawnOutlier(outlier, self._content(outlier), {}, inliers)

    def _draw_misoriented(self, entry: PlannedItem, count: int, rng: np.random.Generator) -> _DrawnOutlier:
        pictures = self._draw_pictures(entry.category, None, rng)
        # Mirrored pictures are the clinically grave ones: as many of them as of all turns together, where it can be.
        ways = [(altered_images.MIRROR,), altered_images.TURNS]
        for way in ways if rng.random() < 0.5 else reversed(ways):
            for outlier in pictures[:_TRIED]:
                inliers = [picture for picture in pictures if picture is not outlier][:count]
                content = self._content(outlier)
                wrong = altered_images.wrong_orientations(outlier, content.image, inliers)
                allowed = [name for name in wrong if name in way]
                if allowed:
                    name = allowed[int(rng.integers(len(allowed)))]
                    change = {"transformation": name, "laterality_error": name == altered_images.MIRROR}
                    turned = PanelContent(altered_images.apply_orientation(content.image, name), content.facts)
                    return _DrawnOutlier(outlier, turned, change, inliers)
        raise UserError(
            f"No image of {entry.category} can be turned or mirrored so that one sees it: it looks alike either way. "
            "Leave orientation out of --kinds, or that category out of the images."
        )

    def _violate_integrity(
        self, entry: PlannedItem, picture: Picture, inliers: list[Picture], rng: np.random.Generator
    ) -> _DrawnOutlier:
        content = self._content(picture)
        violation = altered_images.sample_violation(entry.violation, rng)
        change: dict[str, Any] = {"violation": asdict(violation)}
        texture = None
        if entry.violation == "texture" and entry.other is not None:
            donors = self._unused_pictures(self._pool.plain[entry.other])
            donor = donors[int(rng.integers(len(donors)))]
            texture = self._content(donor).image
            change["texture_from"] = [donor.id]
        violated = altered_images.apply_violation(content.image, violation, texture)
        return _DrawnOutlier(picture, PanelContent(violated, content.facts), change, inliers)

    def _unused_pictures(self, pictures: Sequence[Picture]) -> list[Picture]:
        return [picture for picture in pictures if picture.id not in self._used]

    def _draw_pictures(self, key: Category, count: int | None, rng: np.random.Generator) -> list[Picture]:
        """``count`` (None: all) unused pictures of a category in random order."""
        free = self._unused_pictures(self._pool.plain[key])
        return [free[int(i)] for i in rng.permutation(len(free))[:count]]


def _assemble_item(
    entry: PlannedItem, positive: FinishedGrid | None, negative: FinishedGrid | None, panel: int
) -> GridItem:
    texts = tasks.make_item_texts(entry, positive.drawn.pictures[entry.position or 0] if positive else None,
                        positive.drawn.change if positive else {})  # fmt: skip
    tier = tasks.item_tier(entry)
    item = f"{tier}_{tasks.item_slug(entry)}_{entry.number}"
    images: dict[str, bytes] = {}
    item_tasks: list[dict[str, Any]] = []
    grids: list[dict[str, Any]] = []
    for grid, suffix, vis, mark in ((positive, "", "pos", entry.position), (negative, "neg_", "neg", entry.box)):
        if grid is None or mark is None:
            continue
        names = {"grid": f"{tier}/images/{item}_{suffix}grid.png", "vis": f"{tier}/images/{item}_vis_{vis}.png"}
        whole = compose_grid([finished.image for finished in grid.panels], entry.size)
        images[names["grid"]] = encode_png(whole)
        images[names["vis"]] = encode_png(draw_box(whole, entry.size, mark, panel))
        item_tasks += tasks.make_tasks(item, entry.size, mark if grid is positive else None, texts, names)
        grids.append(_grid_record(grid, names, mark))
    record = {
        "id": item, "number": entry.number, "size": str(entry.size), "panel": panel, "kind": entry.kind, "tier": tier,
        "category": str(entry.category), "grids": grids,
    }  # fmt: skip
    return GridItem(item, tasks=item_tasks, images=images, record=record)


def _grid_record(grid: FinishedGrid, names: dict[str, str], box: int) -> dict[str, Any]:
    drawn = grid.drawn
    return {
        "image": names["grid"],
        "boxed_image": names["vis"],
        "outlier": drawn.outlier,
        "box": box,
        **drawn.change,
        "panels": [
            {
                "picture": picture.id,
                "labels": {name: getattr(picture, name) for name in _LABELS if getattr(picture, name)},
                "source": content.facts._asdict(),
                "content": {"width": panel.width, "height": panel.height, "quality": panel.quality,
                            "letterboxed": panel.letterboxed},
            }
            for picture, content, panel in zip(drawn.pictures, drawn.contents, grid.panels, strict=True)
        ],
    }  # fmt: skip


def encode_png(image: Image) -> bytes:
    """The PNG file of an RGB picture without any metadata."""
    buffer = io.BytesIO()
    image.save(buffer, "PNG", compress_level=4)
    return buffer.getvalue()
