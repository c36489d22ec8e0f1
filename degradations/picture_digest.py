"""What the draw of a picture depends on where no id of its own is given: its pixels."""

from __future__ import annotations

import hashlib

import numpy as np
from PIL import Image

_DIGEST_BYTES = 8
_SAME_AS_PIL = {("|u1", 1), ("|u1", 2), ("|u1", 3), ("|u1", 4), ("|b1", 1), ("<u2", 1), ("<f4", 1)}
"""Types and channels of arrays that Pillow holds in a mode of its own (L, LA, RGB, RGBA, 1, I;16, F)."""


def digest(picture: Image.Image | np.ndarray) -> str:
    """16 hexadecimal digits of a picture's pixels.

    A PIL image of mode L, LA, RGB, RGBA, 1, I;16 or F has the digest of the array (H, W) or (H, W, C) of its pixels.

    >>> digest(Image.new("RGB", (4, 2), "red")) == digest(np.array(Image.new("RGB", (4, 2), "red")))
    True
    """
    if isinstance(picture, np.ndarray):
        channels = picture.shape[2] if picture.ndim == 3 else 1
        if (picture.dtype.str, channels) not in _SAME_AS_PIL:
            header = f"{picture.dtype.str} {picture.shape}"
            return _hex(header, np.ascontiguousarray(picture).tobytes())
        picture = Image.fromarray(picture[..., 0] if picture.ndim == 3 and channels == 1 else picture)
    palette = picture.palette.tobytes() if picture.mode == "P" and picture.palette is not None else b""
    return _hex(f"{picture.mode} {picture.size}", palette, picture.tobytes())


def seed_of(known_as: str | int, seed: int | str) -> str:
    """The seed of a picture's draw: what it is known as (its :func:`digest`, or an id), and a seed for all pictures."""
    return f"{known_as}/{seed}"


def _hex(header: str, *contents: bytes) -> str:
    found = hashlib.blake2b(header.encode(), digest_size=_DIGEST_BYTES)
    for content in contents:
        found.update(content)
    return found.hexdigest()
