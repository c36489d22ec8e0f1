"""Open the pictures of a task, and degrade them as its name requests, for every kind of runner.

The draw depends only on the clean picture, the request and its seed, not on the question, its number or --offset. So
all questions on one picture share its draw, and T trials cost one degradation
(:mod:`lmms_medtasks.degradations.picture_cache`).
"""

from __future__ import annotations

import base64
import functools
import hashlib
import os
from collections.abc import Mapping
from dataclasses import replace
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


def open_visual(visual: Any) -> Image.Image:
    """Open a PIL image, bytes, {"bytes" or "path"}, a local file or a data URI as a PIL image.

    Raises UserError for anything else (video, sound, an address), and for unreadable pictures.
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
    return path.removeprefix("file://")


def degrade_as_requested(
    picture: Image.Image, known_as: str, order: DegradationRequest, modality: str | None
) -> tuple[Image.Image, dict[str, Any]]:
    """A degraded picture (level above 0), and the degradation's name and parameters.

    ``known_as``: the picture's digest (:func:`lmms_medtasks.degradations.images.pixel_digest`). ``modality``: its
    canonical name, or None.
    """
    seed = make_image_seed(known_as, order.seed)
    if order.is_function:
        order = replace(order, what=order.reference)
    if order.what == CORRUPTIONS:
        drawn = corruptions.sample(strength=order.level, seed=seed)
        key_text = f"{known_as} {order.what} {order.level} {order.seed} {code_of(order)}"
        key = hashlib.blake2b(key_text.encode(), digest_size=16).hexdigest()
        corrupted = picture_cache.default_cache().get(key, lambda: corruptions.apply_parameters(picture, drawn))
        return corrupted, {"name": CORRUPTIONS, **drawn.to_json()}
    name = _drawn_name(known_as, order, str(modality)) if order.draw else order.what
    strength = float(order.level)
    parameters = degradations.sample(
        name, strength=strength, seed=seed, size=images.size_of(picture), modality=modality
    ).to_json()
    shown = picture_cache.apply(picture, name, strength=strength, seed=seed, modality=modality)
    return shown, {"name": name, **parameters}


def _drawn_name(known_as: str, order: DegradationRequest, modality: str) -> str:
    """The degradation that is drawn for a picture; its other draws give other degradations."""
    assert order.draw is not None
    count, number = order.draw
    chosen = degradations.draw_for_question(modality, known_as, count, order.seed)
    # Shuffled, because they come in the order of a table, artifacts first and blur last.
    turned = seeded_generator("order of draws", known_as, order.seed).permutation(len(chosen))
    return chosen[int(turned[number - 1])]


def check_custom_degradation(order: DegradationRequest, where: str) -> None:
    """Raise UserError if a requested custom degradation is missing or can't be applied so. ``where``: for the error."""
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
    """Digest (12 hex digits) of the code and the numbers that determine the degraded pictures."""
    if order.what == CORRUPTIONS:
        return digests.degradations_digest()
    modalities = [order.modality] if order.column is None else list(degradations.modalities())
    names = {order.reference}
    if order.draw:
        names = {name for modality in modalities for name in degradations.drawn_for(str(modality))}
    codes = sorted({degradations.code_of(name, modality) for name in names for modality in modalities})
    return codes[0] if len(codes) == 1 else digests.content_digest(*(code.encode() for code in codes))
