"""Degradations: listed, of images in any form, and as a transform for a data loader."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from PIL import Image

from lmms_medtasks import degradations
from lmms_medtasks.degradations import modality_files
from lmms_medtasks.degradations.images import make_image_seed, pixel_digest, size_of
from lmms_medtasks.errors import UserError

if TYPE_CHECKING:
    from pandas import DataFrame
    from torch import Tensor

AnyImages = TypeVar("AnyImages")
Key = str | int | None
"""An image's draw depends on this and the seed: an id, or None for the image's pixels."""

_FORMS = (
    "a PIL image; a NumPy array (H, W) or (H, W, C), or a batch (N, H, W, C); a torch tensor (H, W) or (C, H, W), or a "
    "batch (N, C, H, W); a list or tuple of these"
)


def list_degradations(modality: str | None = None) -> DataFrame:
    """The degradations, a row each.

    Args:
        modality: Only those for this modality; one of your own in a file: "oct/modalities.yml:OCT".

    Returns:
        Columns ``name``, ``category``, ``modalities`` (a list: those that it is for), ``source`` (where operator and
        numbers come from).

    Raises:
        UserError: An unknown modality.

    Example:
        >>> list_degradations("CT").name.tolist()[:3]
        ['limited_angle', 'sparse_view', 'object_rotation']
    """
    import pandas as pd

    known = modality_files.parse_modality_option(modality)
    names = degradations.names() if known is None else degradations.for_modality(known)
    rows = [
        (
            name,
            degradations.category(name),
            list(degradations.modalities_of(name)),
            degradations.source(name),
        )
        for name in names
    ]
    return pd.DataFrame(rows, columns=["name", "category", "modalities", "source"])


@dataclass(frozen=True, repr=False)
class Degrade:
    """A degradation as a transform: call it with images, and get them degraded.

    It needs no torchvision, can be pickled, and stands in a ``Compose`` or in a ``Dataset``. What it draws depends on
    the image, the name and the seed alone: not on the worker of a data loader, the order, the batch or any global
    generator. It is the draw of ``lmms-medtasks run --degrade``: a model sees the very same pixels there
    where the image is RGB of uint8; of floats or grey images the draw is another. To train, give each epoch a seed:
    ``degrade(image, ..., seed=epoch)``, or a new ``Degrade``.

    Args:
        name, severity, strength, seed, modality, force, lengths: As for :func:`degrade`.

    Raises:
        UserError: An unknown name, severity, strength, seed or modality; neither or both of severity and strength; a
            modality that the degradation is not for.

    Example:
        >>> import numpy as np
        >>> transform = Degrade("gaussian_noise", severity=2, seed=7)
        >>> transform
        Degrade('gaussian_noise', severity=2, seed=7)
        >>> transform(np.full((32, 32), 128, np.uint8)).shape
        (32, 32)
    """

    name: str
    severity: int | None = field(default=None, kw_only=True)
    strength: float | None = field(default=None, kw_only=True)
    seed: int | str = field(default=0, kw_only=True)
    modality: str | None = field(default=None, kw_only=True)
    force: bool = field(default=False, kw_only=True)
    lengths: str = field(default=degradations.PIXELS, kw_only=True)

    def __post_init__(self) -> None:
        degradations.canonical_name(self.name)
        degradations.check_level(self.severity, self.strength)
        degradations.check_seed(self.seed)
        degradations.check_lengths(self.lengths)
        degradations.check_modality(self.name, modality_files.parse_modality_option(self.modality), self.force)

    def __repr__(self) -> str:
        options = ((option.name, getattr(self, option.name), option.default) for option in fields(self)[1:])
        shown = (f"{name}={value!r}" for name, value, default in options if value != default)
        return f"Degrade({', '.join([repr(self.name), *shown])})"

    def __call__(self, images: AnyImages, *, key: Key | Sequence[Key] = None) -> AnyImages:
        """``images`` degraded, see :func:`degrade`."""
        degraded: AnyImages = _map_images(images, key, self._degrade_one, "")
        return degraded

    def _degrade_one(self, picture: Any, key: Key) -> Any:
        size_of(picture)  # raises UserError for anything but a picture
        seed = make_image_seed(pixel_digest(picture) if key is None else key, self.seed)
        modality = modality_files.parse_modality_option(self.modality)
        options = {name: getattr(self, name) for name in ("severity", "strength", "force", "lengths")}
        return degradations.apply(picture, self.name, **options, seed=str(seed), modality=modality)


def _refuse_change(transform: Degrade, name: str, value: object = None) -> None:
    raise UserError(f"A Degrade can't be changed. Make a new one: dataclasses.replace(…, {name}=…).")


# `frozen` has just written both, and allows none in the class.
Degrade.__setattr__ = Degrade.__delattr__ = _refuse_change  # type: ignore[assignment,method-assign]


def degrade(
    images: AnyImages,
    name: str,
    *,
    severity: int | None = None,
    strength: float | None = None,
    seed: int | str = 0,
    key: Key | Sequence[Key] = None,
    modality: str | None = None,
    force: bool = False,
    lengths: str = degradations.PIXELS,
) -> AnyImages:
    """``images`` degraded: the same kind, shape and dtype come back, the input is not changed.

    A batch is told from an image by its number of dimensions, never by its values: two or three dimensions are one
    image, four are a batch. Give a batch of grey images (N, H, W) a channel axis, or a list: it is refused, or with
    N of 4 or less taken for the channels of one tensor (of an array: W of 4 or less).

    Args:
        images: A PIL image (modes 1, L, LA, P, RGB, RGBA, CMYK, I;16, I, F); a NumPy array (H, W) or (H, W, C) with C
            from 1 to 4, or a batch (N, H, W, C); a torch tensor (H, W) or (C, H, W), or a batch (N, C, H, W), on any
            device; a list or tuple of these. Arrays and tensors are bool, uint8, uint16 or float in [0, 1]: degrade
            before you normalise.
        name: A degradation, see :func:`list_degradations`, or one of your own, "oct/parts.py:shadow".
        severity: 0 (a copy), 1 (mild) or 2 (severe).
        strength: In place of severity a number from 0 to 3; 1 and 2 are severity 1 and 2, bit for bit.
        seed: Another seed draws other damage. A whole number or a text.
        key: What an image's draw depends on beside name and seed. None: its pixels, so that an image in a batch is
            degraded as it is alone. A text or number, such as an id: images with one key share their draw. A list:
            a key for each image of a batch or list.
        modality: What the images are of, see :func:`list_degradations`, or one of your own in a file,
            "oct/modalities.yml:OCT". None: any.
        force: Allow a modality that the degradation is not for.
        lengths: "pixels": lengths in pixels (blurs, low resolution) are the paper's numbers on images of any size.
            "share": they are the same share of each image as of the authors'.

    Returns:
        Degraded images of the same kind, shape and dtype. A tensor is on the same device and has no gradient.

    Raises:
        UserError: As :class:`Degrade`; images in another form, an unsupported dtype, floats outside [0, 1]; another
            number of keys than images.

    Source:
        MedQ-Deg's degradations; each one's own source stands in the column ``source`` of
        :func:`list_degradations`.

    Example:
        >>> import numpy as np
        >>> batch = np.linspace(0, 1, 6144, dtype=np.float32).reshape(2, 32, 32, 3)
        >>> worse = degrade(batch, "gaussian_noise", severity=2, seed=0)
        >>> worse.shape, worse.dtype.name
        ((2, 32, 32, 3), 'float32')
        >>> bool((worse[1] == degrade(batch[1], "gaussian_noise", severity=2, seed=0)).all())
        True
    """
    transform = Degrade(
        name, severity=severity, strength=strength, seed=seed, modality=modality, force=force, lengths=lengths
    )
    return transform(images, key=key)


def _map_images(images: Any, key: Any, picture: Callable[[Any, Key], Any], where: str) -> Any:
    """``images`` in their form, each image changed by ``picture(image, key)``; errors begin with ``where``."""
    if _is_tensor(images):
        return _to_tensor(_map_images(_to_array(images, where), key, picture, where), images)
    is_batch = isinstance(images, np.ndarray) and images.ndim == 4
    if is_batch or isinstance(images, (list, tuple)):
        label = "Image {} of the batch: " if is_batch else "Item {}: "
        keys = _image_keys(key, len(images), where)
        made = [_map_images(image, image_key, picture, where + label.format(number))
                for number, (image, image_key) in enumerate(zip(images, keys, strict=True))]  # fmt: skip
        if not is_batch:
            return type(images)(made)
        return np.stack(made) if made else images.copy()
    if isinstance(images, np.ndarray):
        _check_shape(images, where)
        return np.asarray(_map_one_image(images, key, picture, where))
    if isinstance(images, Image.Image):
        return _map_one_image(images, key, picture, where)
    raise UserError(f"{where}Images must be {_FORMS}. Got {type(images).__name__}.")


def _map_one_image(image: Any, key: Any, picture: Callable[[Any, Key], Any], where: str) -> Any:
    if key is not None and (isinstance(key, bool) or not isinstance(key, (str, int, np.integer))):
        raise UserError(f"{where}The key of an image must be a text or a whole number, got {key!r}.")
    try:
        return picture(image, int(key) if isinstance(key, np.integer) else key)
    except UserError as error:
        if not where:
            raise
        raise UserError(f"{where}{error}") from error


def _image_keys(key: Any, count: int, where: str) -> Sequence[Any]:
    if isinstance(key, (str, bytes)) or not isinstance(key, Iterable):
        shared: list[Any] = [key] * count
        return shared
    keys = list(key)
    if len(keys) != count:
        raise UserError(f"{where}{len(keys)} keys for {count} images; give one for each, or one for all.")
    return keys


def _check_shape(array: np.ndarray, where: str) -> None:
    if array.ndim == 2 or (array.ndim == 3 and array.shape[2] <= 4):
        return
    if array.ndim == 3:
        raise UserError(
            f"{where}An array with three dimensions is one image (H, W, C) of 1 to 4 channels, got {array.shape}. A "
            "batch of grey images (N, H, W) needs a channel axis: images[..., None]; an image with its channels "
            "first is turned by np.moveaxis(image, 0, -1), or is a torch tensor."
        )
    raise UserError(f"{where}Images must be {_FORMS}. Got an array of shape {array.shape}.")


def _is_tensor(images: Any) -> bool:
    """Whether ``images`` is a torch tensor; torch is not imported for it."""
    return any(cls.__module__ == "torch" and cls.__name__ == "Tensor" for cls in type(images).__mro__)


def _to_array(tensor: Tensor, where: str) -> np.ndarray:
    """A tensor (H, W), (C, H, W) or (N, C, H, W) as an array with channels last. Raises UserError for other shapes."""
    if tensor.ndim not in (2, 3, 4) or (tensor.ndim > 2 and not 1 <= tensor.shape[-3] <= 4):
        raise UserError(
            f"{where}A tensor must be an image (H, W) or (C, H, W) of 1 to 4 channels, or a batch (N, C, H, W), got "
            f"{tuple(tensor.shape)}. A batch of grey images (N, H, W) needs a channel axis: images[:, None]; an "
            "image with its channels last is turned by image.permute(2, 0, 1)."
        )
    plain = tensor.detach().cpu()
    values: np.ndarray = (plain.float() if str(plain.dtype) == "torch.bfloat16" else plain).numpy()
    return values if values.ndim == 2 else np.moveaxis(values, -3, -1)


def _to_tensor(array: np.ndarray, like: Tensor) -> Any:
    """An array with channels last as a tensor of the dtype, class and device of ``like``."""
    import torch

    values = array if array.ndim == 2 else np.moveaxis(array, -1, -3)
    tensor = torch.from_numpy(np.array(values, order="C")).to(device=like.device, dtype=like.dtype)
    return tensor if type(like) in (torch.Tensor, torch.nn.Parameter) else tensor.as_subclass(type(like))
