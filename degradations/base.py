"""What a degradation is: its parameters are drawn first, as a record that can be stored, and then applied."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from lmms_medtasks import extensions

KIND: Literal["degradation"] = "degradation"
ANY = "any"
"""The row of levels for all modalities that have none of their own."""

FloatImage = NDArray[np.float32]
"""Grey (H, W) or colour (H, W, C), values in [0, 1]."""

Shape = tuple[int, int]
"""Height and width in pixels."""

Rounding = Literal["floor", "nearest"]
"""How the degraded float image becomes integers again: the authors' operators truncate, a few round."""

Annotations = Literal["degrade", "keep"]
"""What happens to coloured drawings on a grey image: degraded with it, or pasted back intact."""

Channels = Literal["shared", "independent"]
"""Grey stored as RGB: computed once and copied to the channels, or each channel degraded on its own."""

LENGTHS = ("pixels", "share")
"""Lengths in pixels: the paper's numbers on images of any size, or the same share of each image's shorter side."""
PIXELS, SHARE = LENGTHS


@dataclass(frozen=True)
class Parameters:
    """Base of every parameter record: frozen, and made of JSON-safe values only (numbers, strings, tuples of them).

    Noise is never stored, its seed is: the same record gives the same pixels.
    """

    def to_json(self) -> dict[str, Any]:
        """The record as a plain dictionary (tuples become lists when dumped)."""
        return asdict(self)


MIXED_SHARE, MIXED_WITH = "share", "mixed_with"
"""Keys that a :class:`MixedParameters` record has beside those of the one it holds."""


@dataclass(frozen=True)
class MixedParameters(Parameters):
    """The weighted mean of two images: ``share`` (0 to 1) of that which ``drawn`` gives, the rest of ``milder``'s.

    ``milder``: None stands for the untouched image. For a strength between the levels of an operator whose settings
    cannot be in between (:mod:`lmms_medtasks.degradations.strength`).
    """

    drawn: Parameters
    share: float
    milder: Parameters | None = None

    def to_json(self) -> dict[str, Any]:
        """The drawn record with the share and the milder record beside its values."""
        milder = self.milder.to_json() if self.milder else None
        return {**self.drawn.to_json(), MIXED_SHARE: self.share, MIXED_WITH: milder}


@dataclass(frozen=True)
class Degradation:
    """A named degradation of images.

    ``sample`` draws a parameter record from a generator, the settings of one level (the mapping that severity.yaml
    gives for the level and modality) and the image's height and width. ``apply`` is pure: float32 image in [0, 1] and
    the record in, a new float32 image of the same shape out, not yet rounded (values outside [0, 1] are clipped by the
    caller). Grey images arrive as (H, W), colour as (H, W, 3); alpha never arrives. An operator with
    ``channels="independent"`` gets grey stored as RGB as (H, W, 3) too, three equal channels.

    ``record`` is the class of the parameter record, so that one read back from JSON can be applied.

    Grey images with coloured drawings: with ``annotations="degrade"`` the operator gets the colour image, drawings and
    all; with "keep" it gets the grey one, (H, W), with the drawings' luma in it, and they are pasted back intact.
    ``keep_annotations_on`` names modalities on which "degrade" is followed by pasting them back.

    A family module lists its degradations in ``DEGRADATIONS``; one that serves a single modality with an operator of
    its own carries the plain name and has a section of severity.yaml as ``name@Modality``.

    ``levels`` and ``modalities`` are for degradations of someone's own (:mod:`lmms_medtasks.degradations.own`); ours
    have both in YAML. ``levels``: the settings of level 1 and 2, ``{1: {...}, 2: {...}}``, or such a mapping for each
    modality ("any" for all others), or the name of a YAML file beside the code that holds them; None: the settings are
    ``{"level": 1}`` and ``{"level": 2}``. ``modalities``: which ones it is for; () for all.
    """

    name: str
    sample: Callable[[np.random.Generator, Mapping[str, Any], Shape], Parameters]
    apply: Callable[[FloatImage, Any], FloatImage]
    record: type[Parameters]
    rounding: Rounding = "floor"
    annotations: Annotations = "degrade"
    keep_annotations_on: tuple[str, ...] = ()
    channels: Channels = "shared"
    levels: Mapping[Any, Any] | str | None = None
    modalities: tuple[str, ...] = ()


def sample_spread(rng: np.random.Generator, settings: Mapping[str, Any], name: str) -> float:
    """The setting ``name`` times a factor uniform in 1 ± ``<name>_spread``.

    With the same generator the factor is the same at every level: their order stays.

    >>> sample_spread(np.random.default_rng(0), {"radius": 0.2, "radius_spread": 0.0}, "radius")
    0.2
    """
    return float(settings[name]) * float(1.0 + float(settings[f"{name}_spread"]) * rng.uniform(-1.0, 1.0))


def scale_length(settings: Mapping[str, Any], shape: Shape) -> float:
    """What a length in pixels of the settings is multiplied by for an image of ``shape``.

    Where ``settings`` have ``lengths`` "share": the shorter side over ``seen_at``, that of the authors' image. Else 1;
    below a shorter side of ``full_from`` pixels, if they name one, lengths shrink with the image.

    >>> scale_length({"full_from": 320, "seen_at": 1024}, (160, 500)), scale_length({"full_from": 320}, (640, 640))
    (0.5, 1.0)
    >>> scale_length({"full_from": 320, "seen_at": 1024, "lengths": "share"}, (512, 2048))
    0.5
    """
    side = min(shape)
    if settings.get("lengths") == SHARE:
        return side / float(settings["seen_at"])
    return min(1.0, side / float(settings.get("full_from", side)))


def map_planes(image: FloatImage, function: Callable[[FloatImage], FloatImage]) -> FloatImage:
    """``function`` of a grey image, or of each channel of a colour image."""
    if image.ndim == 2:
        return function(image)
    planes = [function(np.ascontiguousarray(image[..., channel])) for channel in range(image.shape[2])]
    return np.stack(planes, axis=-1)


def is_custom_degradation(name: object) -> bool:
    """Whether ``name`` names a degradation of someone's own: a reference, or an installed one."""
    return isinstance(name, str) and (extensions.is_reference(name) or name in extensions.installed_extensions(KIND))
