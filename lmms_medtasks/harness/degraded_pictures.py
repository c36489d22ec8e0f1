"""What a task shows, opened as a picture, and degraded as its name says: the same for every kind of runner.

The draw depends on the clean picture, the order and its seed alone: not on the question, its number or --offset. So all
questions on one picture share its draw, and T trials cost one degradation
(:mod:`lmms_medtasks.degradations.picture_cache`).
"""

from __future__ import annotations

import base64
import functools
import hashlib
import importlib
import inspect
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from PIL import Image

from lmms_medtasks import degradations, fingerprints, pictures
from lmms_medtasks.degradations import corruptions, images, picture_cache
from lmms_medtasks.errors import UserError
from lmms_medtasks.harness.degraded_names import CORRUPTIONS, Order
from lmms_medtasks.seeding import generator

_SUFFIXES = {".jpg", ".jpeg", ".png", ".bmp", ".gif", ".tif", ".tiff", ".webp"}
_DIGEST_BYTES = 8


def opened(visual: Any) -> Image.Image:
    """What a question shows, as a PIL image: one already, bytes, {"bytes" or "path"}, a local file or a data URI.

    Raises UserError for anything else (video, sound, an address), and for what is no
    readable picture.
    """
    if isinstance(visual, Image.Image | bytes):
        return pictures.opened(visual)
    if isinstance(visual, Mapping) and not {"array", "sampling_rate"} & set(visual):
        if visual.get("bytes") is not None:
            return pictures.opened(visual["bytes"])
        visual = visual.get("path") or visual.get("url") or visual
    if isinstance(visual, str) and visual.startswith("data:image/"):
        return pictures.opened(_decoded(visual))
    if isinstance(visual, str | os.PathLike):
        return pictures.opened({"path": _local(os.fspath(visual))})
    raise UserError(
        f"A question shows an object of type {type(visual).__name__}, which is no picture (video or sound?)."
    )


def _decoded(uri: str) -> bytes:
    try:
        return base64.b64decode(uri.partition(",")[2], validate=True)
    except ValueError:
        raise UserError(f"A question shows a data URI that is not base64: {uri[:40]!r}.") from None


def _local(path: str) -> str:
    if path.startswith(("http:", "https:")):
        raise UserError(f"A question shows a picture at an address, {path}. Only local pictures can be degraded.")
    local = path.removeprefix("file://")
    if Path(local).suffix.lower() not in _SUFFIXES:
        raise UserError(f"A question shows the file {path!r}, which is no picture (video or sound?).")
    return local


def digest(picture: Image.Image) -> str:
    """16 hexadecimal digits of a picture's pixels: what its draw depends on."""
    found = hashlib.blake2b(f"{picture.mode} {picture.size}".encode(), digest_size=_DIGEST_BYTES)
    if picture.mode == "P" and picture.palette is not None:
        found.update(picture.palette.tobytes())
    found.update(picture.tobytes())
    return found.hexdigest()


def degraded(
    picture: Image.Image, known_as: str, order: Order, modality: str | None
) -> tuple[Image.Image, dict[str, Any]]:
    """A picture as ordered, at a level above 0, and what was done: the degradation and its parameters.

    ``known_as``: its :func:`digest`; ``modality``: its canonical name where it is known.
    """
    seed = f"{known_as}/{order.seed}"
    if order.is_function:
        return _by_function(picture, known_as, order), {}
    if order.what == CORRUPTIONS:
        drawn = corruptions.sample(strength=order.level, seed=seed)
        kept = picture_cache.default_cache().get(
            _key(known_as, order),
            lambda: corruptions.apply_parameters(picture, drawn),
        )
        return kept, {"name": CORRUPTIONS, **drawn.to_json()}
    name = _drawn(known_as, order, str(modality)) if order.draw else order.what
    strength = float(order.level)
    parameters = degradations.sample(
        name, strength=strength, seed=seed, size=images.size_of(picture), modality=modality
    ).to_json()
    shown = picture_cache.apply(picture, name, strength=strength, seed=seed, modality=modality)
    return shown, {"name": name, **parameters}


def _drawn(known_as: str, order: Order, modality: str) -> str:
    """The degradation that is drawn for a picture; those of its other draws are others."""
    assert order.draw is not None
    count, number = order.draw
    chosen = degradations.draw_for_question(modality, known_as, count, order.seed)
    # They come in the order of a table: the first draws would be artifacts, the last ones blur.
    turned = generator("order of draws", known_as, order.seed).permutation(len(chosen))
    return chosen[int(turned[number - 1])]


def check_function(order: Order, where: str) -> None:
    """Raise UserError where the function that an order names is not there, or takes no picture and generator.

    ``where`` the order stands is said in the error.
    """
    if order.is_function:
        try:
            _function(order.what)
        except UserError as error:
            raise UserError(f"{where}: {error}") from error


@functools.cache
def _function(path: str) -> tuple[Callable[..., Any], bool]:
    """The function at a dotted path, and whether it takes the level too."""
    module, _, name = path.rpartition(".")
    try:
        found = getattr(importlib.import_module(module), name, None)
    except ImportError as error:
        raise UserError(
            f"The degradation {path} can't be imported: {error}. Put the folder of its module on PYTHONPATH."
        ) from error
    if not callable(found):
        raise UserError(f"The module {module} has no function {name!r}, which is to be the degradation.")
    taken = list(inspect.signature(found).parameters.values())
    takes_level = any(each.name == "level" or each.kind is each.VAR_KEYWORD for each in taken)
    required = [each for each in taken if each.default is each.empty and each.kind <= each.POSITIONAL_OR_KEYWORD]
    if len([each for each in required if each.name != "level"]) != 2:
        raise UserError(
            f"The degradation {path} must be a function of a PIL image and a NumPy generator, and of `level` if it has "
            f"several. It takes {', '.join(each.name for each in taken) or 'nothing'}."
        )
    return found, takes_level


@functools.cache
def code_of(order: Order) -> str:
    """12 hexadecimal digits that change with the code and the numbers that decide the degraded pictures."""
    if order.what == CORRUPTIONS:
        return fingerprints.installed().digest([corruptions.__name__])
    if not order.is_function:
        return degradations.fingerprint()
    source = inspect.getsourcefile(_function(order.what)[0])
    return fingerprints.installed().digest([Path(source)]) if source else ""


def _by_function(picture: Image.Image, known_as: str, order: Order) -> Image.Image:
    function, takes_level = _function(order.what)
    level = {"level": int(order.level)} if takes_level else {}

    def computed() -> Image.Image:
        made = function(picture.copy(), generator("own", order.what, known_as, order.seed), **level)
        if not isinstance(made, Image.Image):
            raise UserError(f"{order.what} returned {type(made).__name__}; a degradation returns a PIL image.")
        return made

    return picture_cache.default_cache().get(_key(known_as, order), computed)


def _key(known_as: str, order: Order) -> str:
    text = f"{known_as} {order.what} {order.level} {order.seed} {code_of(order)}"
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()
