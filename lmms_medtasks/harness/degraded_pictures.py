"""Open what a task shows as a picture, and degrade it as the task's name says: the same for every kind of runner.

The draw depends on the clean picture, the order and its seed alone: not on the question, its number or --offset. So all
questions on one picture share its draw, and T trials cost one degradation
(:mod:`lmms_medtasks.degradations.picture_cache`).
"""

from __future__ import annotations

import base64
import functools
import hashlib
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from PIL import Image

from lmms_medtasks import degradations, digests, pictures
from lmms_medtasks.degradations import corruptions, images, own, picture_cache
from lmms_medtasks.degradations.base import is_custom_degradation
from lmms_medtasks.degradations.images import make_image_seed
from lmms_medtasks.degradations.images import pixel_digest as pixel_digest
from lmms_medtasks.errors import UserError
from lmms_medtasks.harness.degraded_names import CORRUPTIONS, DegradationRequest
from lmms_medtasks.seeding import seeded_generator

_SUFFIXES = {".jpg", ".jpeg", ".png", ".bmp", ".gif", ".tif", ".tiff", ".webp"}


def open_visual(visual: Any) -> Image.Image:
    """What a question shows, as a PIL image: one already, bytes, {"bytes" or "path"}, a local file or a data URI.

    Raises UserError for anything else (video, sound, an address), and for what is no
    readable picture.
    """
    if isinstance(visual, Image.Image | bytes):
        return pictures.open_image(visual)
    if isinstance(visual, Mapping) and not {"array", "sampling_rate"} & set(visual):
        if visual.get("bytes") is not None:
            return pictures.open_image(visual["bytes"])
        visual = visual.get("path") or visual.get("url") or visual
    if isinstance(visual, str) and visual.startswith("data:image/"):
        return pictures.open_image(_decode_uri(visual))
    if isinstance(visual, str | os.PathLike):
        return pictures.open_image({"path": _local_path(os.fspath(visual))})
    raise UserError(f"A question shows an object of type {type(visual).__name__}, which is no image (video or sound?).")


def _decode_uri(uri: str) -> bytes:
    try:
        return base64.b64decode(uri.partition(",")[2], validate=True)
    except ValueError:
        raise UserError(f"A question shows a data URI that is not base64: {uri[:40]!r}.") from None


def _local_path(path: str) -> str:
    if path.startswith(("http:", "https:")):
        raise UserError(f"A question shows an image at an address, {path}. Only local images can be degraded.")
    local = path.removeprefix("file://")
    if Path(local).suffix.lower() not in _SUFFIXES:
        raise UserError(f"A question shows the file {path!r}, which is no image (video or sound?).")
    return local


def degrade_as_requested(
    picture: Image.Image, known_as: str, order: DegradationRequest, modality: str | None
) -> tuple[Image.Image, dict[str, Any]]:
    """A picture as ordered, at a level above 0, and what was done: the degradation and its parameters.

    ``known_as``: its digest (:func:`lmms_medtasks.degradations.images.pixel_digest`). ``modality``: its canonical name
        where
    it is known.
    """
    seed = make_image_seed(known_as, order.seed)
    if order.is_function:
        order = replace(order, what=order.reference)
    if order.what == CORRUPTIONS:
        drawn = corruptions.sample(strength=order.level, seed=seed)
        corrupted = picture_cache.default_cache().get(
            _cache_key(known_as, order),
            lambda: corruptions.apply_parameters(picture, drawn),
        )
        return corrupted, {"name": CORRUPTIONS, **drawn.to_json()}
    name = _drawn_name(known_as, order, str(modality)) if order.draw else order.what
    strength = float(order.level)
    parameters = degradations.sample(
        name, strength=strength, seed=seed, size=images.size_of(picture), modality=modality
    ).to_json()
    shown = picture_cache.apply(picture, name, strength=strength, seed=seed, modality=modality)
    return shown, {"name": name, **parameters}


def _drawn_name(known_as: str, order: DegradationRequest, modality: str) -> str:
    """The degradation that is drawn for a picture; those of its other draws are others."""
    assert order.draw is not None
    count, number = order.draw
    chosen = degradations.draw_for_question(modality, known_as, count, order.seed)
    # They come in the order of a table: the first draws would be artifacts, the last ones blur.
    turned = seeded_generator("order of draws", known_as, order.seed).permutation(len(chosen))
    return chosen[int(turned[number - 1])]


def check_custom_degradation(order: DegradationRequest, where: str) -> None:
    """Raise UserError where a degradation of someone's own that an order names can't be had, or not be done so.

    ``where`` the order stands is said in the error.
    """
    what = order.reference
    if order.is_control or not is_custom_degradation(what):
        return
    try:
        own.get(degradations.canonical_name(what)).check_strength(float(order.level))
        if order.modality is None and order.column is None and degradations.depends_on_modality(what):
            raise UserError(
                f"{order.what} is for {', '.join(degradations.modalities_of(what))}, or has other numbers for some. "
                "Say of which modality the images are: ~CT, or ~column=NAME (--modality)."
            )
        degradations.check_modality(what, order.modality)
    except UserError as error:
        raise UserError(f"{where}: {str(error).partition(' To apply')[0]}") from error


@functools.cache
def code_of(order: DegradationRequest) -> str:
    """12 hexadecimal digits that change with the code and the numbers that decide the degraded pictures."""
    if order.what == CORRUPTIONS:
        return digests.degradations_digest()
    about = [order.modality] if order.column is None else list(degradations.modalities())
    drawn = {name for each in about for name in degradations.drawn_for(str(each))} if order.draw else {order.reference}
    codes = sorted({degradations.code_of(name, each) for name in drawn for each in about})
    return codes[0] if len(codes) == 1 else digests.content_digest(*(code.encode() for code in codes))


def _cache_key(known_as: str, order: DegradationRequest) -> str:
    text = f"{known_as} {order.what} {order.level} {order.seed} {code_of(order)}"
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()
