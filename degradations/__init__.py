"""Image degradations of medical images: MedQ-Deg's, at three levels or any strength, drawn reproducibly.

>>> from PIL import Image
>>> from lmms_medtasks import degradations
>>> image = Image.new("L", (64, 48), 128)
>>> degraded = degradations.apply(image, "gaussian_noise", severity=2, seed=0, modality="X-ray")
>>> degraded.mode, degraded.size
('L', (64, 48))
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, TypeVar

import numpy as np

from lmms_medtasks.degradations import images
from lmms_medtasks.degradations.base import (
    MIXED_SHARE,
    MIXED_WITH,
    PIXELS,
    SHARE,
    Degradation,
    FloatImage,
    MixedParameters,
    Parameters,
    Shape,
    is_custom_degradation,
)
from lmms_medtasks.degradations.own_modalities import Modality
from lmms_medtasks.degradations.registry import (
    canonical_modality,
    canonical_name,
    category,
    check_modality,
    code_of,
    depends_on_modality,
    draw_for_question,
    drawn_for,
    draws_version,
    for_modality,
    get,
    get_settings_at,
    is_general,
    known_names,
    lengths_of,
    levels_of,
    modalities,
    modalities_of,
    names,
    source,
    title,
)
from lmms_medtasks.degradations.strength import check_lengths, check_level, check_seed, check_severity
from lmms_medtasks.errors import UserError
from lmms_medtasks.seeding import seeded_generator

__all__ = [
    "Degradation",
    "Modality",
    "Parameters",
    "apply",
    "apply_parameters",
    "canonical_modality",
    "canonical_name",
    "category",
    "check_lengths",
    "check_level",
    "check_seed",
    "check_severity",
    "code_of",
    "draw_for_question",
    "drawn_for",
    "depends_on_modality",
    "describe_lengths",
    "for_modality",
    "get",
    "is_general",
    "known_names",
    "lengths_of",
    "levels_of",
    "modalities",
    "modalities_of",
    "names",
    "parameters_from_json",
    "sample",
    "source",
    "title",
]

AnyImage = TypeVar("AnyImage")


def apply(
    image: AnyImage,
    name: str,
    *,
    severity: int | None = None,
    strength: float | None = None,
    seed: int | str = 0,
    modality: str | None = None,
    force: bool = False,
    lengths: str = PIXELS,
) -> AnyImage:
    """``image`` degraded: the same kind, size and mode comes back, the input is not changed.

    Args:
        image: A PIL image (modes 1, L, LA, P, RGB, RGBA, CMYK, I;16, I, F) or a NumPy array (H, W) or (H, W, C) with
            C from 1 to 4, of bool, uint8, uint16 or float in [0, 1]; 1 x 1 to at least 4096 x 4096 pixels.
        name: One of :func:`names`, or the authors' site's name for it; or one of your own: an installed one's name,
            ``FILE.py:NAME`` or ``package.module:NAME`` (:mod:`lmms_medtasks.degradations.own`).
        severity: 0 (a copy, bit for bit), 1 (mild) or 2 (severe).
        strength: Instead of severity, a number from 0 to 3, for a curve: 1 and 2 are severity 1 and 2, bit for bit,
            and the damage grows in between and beyond (:mod:`lmms_medtasks.degradations.strength`).
        seed: What the random draws depend on, besides the name and severity.yaml's `draws`; all levels share them. A
            whole number of any sign, or a text.
        modality: What the image is of; some operators and numbers depend on it. None: any, with the general ones.
        force: Allow a modality that the degradation is not for.
        lengths: "pixels": lengths in pixels are the paper's numbers on images of any size. "share": they are the same
            share of each image as of the authors'. It makes a difference to those with :func:`lengths_of` alone.

    Raises:
        UserError: Unknown name, severity, strength, seed, modality or lengths; neither or both of severity and
            strength; a modality that the degradation is not for; an image that cannot be degraded
            (:mod:`lmms_medtasks.degradations.images`).

    >>> import numpy as np
    >>> apply(np.full((2, 2), 200, np.uint8), "adjust_brightness", severity=1)
    array([[125, 125],
           [125, 125]], dtype=uint8)
    """
    level = check_level(severity, strength)
    seed = check_seed(seed)
    check_lengths(lengths)
    canonical_name(name)
    canonical = check_modality(name, modality, force)
    if level == 0:
        return images.copy_image(image)
    size = images.size_of(image)
    parameters = sample(name, strength=level, seed=seed, size=size, modality=canonical, lengths=lengths)
    return apply_parameters(image, name, parameters, modality=canonical)


def sample(
    name: str,
    *,
    severity: int | None = None,
    strength: float | None = None,
    seed: int | str,
    size: Shape,
    modality: str | None = None,
    lengths: str = PIXELS,
) -> Parameters:
    """The parameter record that :func:`apply` draws for an image of ``size`` (height, width).

    ``severity`` is 1 or 2, or ``strength`` above 0; level 0 has no parameters.

    Raises:
        UserError: Unknown name, severity, strength, seed, modality or lengths, level 0, or a size without pixels.

    >>> sample("adjust_brightness", severity=2, seed=0, size=(480, 640)).to_json()
    {'offset': -113}
    """
    canonical = canonical_name(name)
    level = check_level(severity, strength)
    if level == 0:
        raise UserError("Level 0 is the untouched image and has no parameters.")
    is_share = check_lengths(lengths) == SHARE and bool(lengths_of(canonical))
    milder, stronger, share = get_settings_at(canonical, level, modality)
    height, width = int(size[0]), int(size[1])
    if height < 1 or width < 1:
        raise UserError(f"An image of {height} x {width} pixels has nothing to degrade.")

    # The level is no part of the seed: all levels of a question share their draws (the same cells and more of them,
    # fewer of the same k-space lines), so that a higher one is further from the clean image by construction, not by
    # luck.
    def draw_record(numbers: Mapping[str, Any]) -> Parameters:
        # Of someone's own the title counts: a file has the same draws in whatever folder it lies.
        owner = (
            ("own degradation", title(name))
            if is_custom_degradation(canonical)
            else ("degradation", draws_version(), canonical)
        )
        rng = seeded_generator(*owner, check_seed(seed))
        settings = {**numbers, "lengths": SHARE} if is_share else numbers
        return get(canonical, modality).sample(rng, settings, (height, width))

    if share == 1:
        return draw_record(stronger)
    return MixedParameters(draw_record(stronger), share, draw_record(milder) if milder is not None else None)


def describe_lengths(name: str, parameters: Mapping[str, Any], size: Shape) -> dict[str, Any]:
    """The image's ``shorter_side`` and the ``length_share`` that the length in pixels among ``parameters`` is of it.

    ``parameters``: a record from JSON. {} for a degradation without such lengths.

    >>> describe_lengths("gaussian_blur", {"sigma": 7.0}, (700, 900))
    {'shorter_side': 700, 'length_share': 0.01}
    """
    lengths = [float(parameters[key]) for key in lengths_of(name) if key in parameters]
    side = min(size)
    return {"shorter_side": side, "length_share": round(max(lengths) / side, 5)} if lengths else {}


def apply_parameters(image: AnyImage, name: str, parameters: Parameters, modality: str | None = None) -> AnyImage:
    """``image`` degraded by ``name`` with a record from :func:`sample`, or one made by hand.

    Raises UserError for an unknown name or modality, an image that cannot be degraded, or another degradation's record.
    """
    degradation = get(name, modality)
    mixed = parameters if isinstance(parameters, MixedParameters) else MixedParameters(parameters, 1.0)
    for record in (mixed.drawn, mixed.milder or mixed.drawn):
        if not isinstance(record, degradation.record):
            raise UserError(
                f"{degradation.name!r} takes {degradation.record.__name__}, got {type(record).__name__} {record!r}."
            )

    if is_custom_degradation(canonical_name(name)):
        from lmms_medtasks.degradations import own

        if isinstance(mixed.drawn, own.CustomParameters):
            images.size_of(image)
            return own.get(canonical_name(name)).on_picture(image, mixed.drawn)  # type: ignore[no-any-return]

    def transform_unit(unit: FloatImage) -> FloatImage:
        stronger = degradation.apply(unit, mixed.drawn)
        if mixed.share == 1:
            return stronger
        milder = unit if mixed.milder is None else degradation.apply(unit, mixed.milder)
        return milder + np.float32(mixed.share) * (stronger - milder)

    canonical = canonical_modality(modality) if modality is not None else None
    return images.degrade(
        image,
        transform_unit,
        rounding=degradation.rounding,
        channels=degradation.channels,
        annotations=degradation.annotations,
        paste_back=degradation.annotations == "keep" or canonical in degradation.keep_annotations_on,
    )


def parameters_from_json(name: str, values: Mapping[str, Any], modality: str | None = None) -> Parameters:
    """The record that :meth:`Parameters.to_json` was called on, from what JSON kept of it (lists become tuples).

    Raises:
        UserError: Unknown name or modality, or values that are not this degradation's.

    >>> record = sample("object_rotation", severity=1, seed=0, size=(64, 64))
    >>> parameters_from_json("object_rotation", record.to_json()) == record
    True
    """
    record = get(name, modality).record
    allowed = [field.name for field in dataclasses.fields(record)]
    given = dict(values)
    share, milder = given.pop(MIXED_SHARE, None), given.pop(MIXED_WITH, None)
    if set(given) != set(allowed):
        raise UserError(f"{name!r} takes the parameters {', '.join(allowed)}; got {', '.join(map(str, values))}.")
    drawn = record(**{key: _freeze_lists(value) for key, value in given.items()})
    if share is None:
        return drawn
    return MixedParameters(drawn, float(share), parameters_from_json(name, milder, modality) if milder else None)


def _freeze_lists(value: Any) -> Any:
    return tuple(_freeze_lists(item) for item in value) if isinstance(value, list | tuple) else value
