"""A cache of degraded images, so that several trials of a question cost one degradation.

In memory, bounded in bytes, for the trials of one process; on disk, when switched on, for several processes and runs.
A key covers everything that the pixels depend on, so nothing stale is ever served.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import threading
import zlib
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from PIL import Image

from lmms_medtasks import degradations
from lmms_medtasks.degradations import images
from lmms_medtasks.errors import UnwritableFile, UserError

AnyImage = TypeVar("AnyImage")

MEMORY_VARIABLE = "MEDTASKS_DEGRADATION_MEMORY_MB"
"""Environment variable: megabytes that :func:`default_cache` keeps in memory (256 unless set, 0 for none)."""

FOLDER_VARIABLE = "MEDTASKS_DEGRADATION_CACHE"
"""Environment variable: folder of :func:`default_cache`'s files; no disk cache unless set."""

_DEFAULT_MEGABYTES = 256
_FORMAT = b"MEDTASKS1\n"


class DegradedImageCache:
    """Degraded images by key: the latest used ones in memory, all of them in ``folder`` if one is given.

    Safe between threads (the same image asked for twice at a time is computed once) and, on disk, between processes
    (files appear whole or not at all). The disk cache is not bounded: delete the folder to empty it.
    """

    def __init__(self, max_bytes: int, folder: str | Path | None = None) -> None:
        self.max_bytes = max_bytes
        self.folder = Path(folder) if folder is not None else None
        self._kept: OrderedDict[str, Any] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()
        self._working: dict[str, threading.Lock] = {}

    def get(self, key: str, compute: Callable[[], AnyImage]) -> AnyImage:
        """A copy of the image under ``key``; if there is none, of the result of ``compute``, which is then stored."""
        with self._lock:
            working = self._working.setdefault(key, threading.Lock())
        try:
            with working:
                image = self._find_in_memory(key)
                if image is None:
                    image = self._read_file(key)
                    if image is None:
                        image = compute()
                        self._write_file(key, image)
                    self._keep_in_memory(key, image)
                return image.copy()
        finally:
            with self._lock:
                self._working.pop(key, None)

    def _find_in_memory(self, key: str) -> Any:
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
            return self._kept.get(key)

    def _keep_in_memory(self, key: str, image: Any) -> None:
        size = _image_bytes(image)
        with self._lock:
            if key in self._kept or size > self.max_bytes:
                return
            self._kept[key] = image
            self._bytes += size
            while self._bytes > self.max_bytes:
                self._bytes -= _image_bytes(self._kept.popitem(last=False)[1])

    def _file_path(self, key: str) -> Path | None:
        return self.folder / key[:2] / f"{key}.image" if self.folder else None

    def _read_file(self, key: str) -> Any:
        path = self._file_path(key)
        if path is None:
            return None
        try:
            return _unpack_image(path.read_bytes())
        except FileNotFoundError:
            return None
        except OSError as error:
            raise UserError(f"Cannot read the degradation cache file {path}: {error}.") from error

    def _write_file(self, key: str, image: Any) -> None:
        path = self._file_path(key)
        if path is None:
            return
        try:
            from lmms_medtasks import writing

            writing.write_bytes_atomically(path, _pack_image(image))
        except UnwritableFile as error:
            raise UserError(
                f"Cannot write to the degradation cache {self.folder} ({error.strerror}). Give another folder in "
                f"{FOLDER_VARIABLE}, or unset it."
            ) from error


@functools.cache
def default_cache() -> DegradedImageCache:
    """The process's cache, as the environment variables of this module say; read once.

    Raises UserError for a memory variable that is not a whole number of megabytes.
    """
    text = os.environ.get(MEMORY_VARIABLE, str(_DEFAULT_MEGABYTES))
    if not text.isdigit():
        raise UserError(f"{MEMORY_VARIABLE} must be a whole number of megabytes, got {text!r}.")
    return DegradedImageCache(int(text) * 1_000_000, os.environ.get(FOLDER_VARIABLE) or None)


def apply(
    image: AnyImage,
    name: str,
    *,
    severity: int | None = None,
    strength: float | None = None,
    seed: int | str = 0,
    modality: str | None = None,
    force: bool = False,
    lengths: str = degradations.PIXELS,
    cache: DegradedImageCache | None = None,
) -> AnyImage:
    """As :func:`lmms_medtasks.degradations.apply`, but computed once for the same image and arguments.

    ``cache``: None stands for :func:`default_cache`.
    """
    degradations.check_modality(name, modality, force)
    seed = degradations.check_seed(seed)
    level = degradations.check_level(severity, strength)
    if level == 0:
        return degradations.apply(image, name, severity=0)
    used_cache = cache if cache is not None else default_cache()
    key = make_cache_key(image, name, strength=level, seed=seed, modality=modality, lengths=lengths)
    result: Any = used_cache.get(
        key,
        lambda: degradations.apply(
            image, name, strength=level, seed=seed, modality=modality, force=force, lengths=lengths
        ),
    )
    if isinstance(image, Image.Image):
        # Resolution, profile and the like are not kept with the pixels: they are this image's.
        images.keep_info(image, result)
    return result


def make_cache_key(
    image: Any, name: str, *, strength: float, seed: int | str, modality: str | None, lengths: str = degradations.PIXELS
) -> str:
    """32 hexadecimal digits of everything that the degraded image depends on.

    Raises UserError for an unknown name or modality, or anything but an image.
    """
    degradations.images.size_of(image)
    canonical = degradations.canonical_modality(modality) if modality is not None else None
    decisive = [
        degradations.code_of(name, canonical),
        degradations.canonical_name(name),
        float(strength),
        seed,
        canonical,
        lengths,
    ]
    digest = hashlib.blake2b(json.dumps(decisive).encode(), digest_size=16)
    header, pixels = _describe_image(image)
    digest.update(json.dumps(header, sort_keys=True).encode())
    digest.update(pixels)
    return digest.hexdigest()


def _image_bytes(image: Any) -> int:
    if isinstance(image, np.ndarray):
        return image.nbytes
    width = {"1": 1, "LA": 4, "RGB": 4, "RGBA": 4, "CMYK": 4, "I": 4, "F": 4, "I;16": 2, "I;16B": 2, "I;16L": 2}
    return image.size[0] * image.size[1] * width.get(image.mode, 1)  # bytes a pixel as Pillow stores it


def _describe_image(image: Any) -> tuple[dict[str, Any], Any]:
    """What describes an image, JSON-safe, and its pixels as bytes."""
    if isinstance(image, np.ndarray):
        return {"dtype": image.dtype.str, "shape": image.shape}, np.ascontiguousarray(image).data.cast("B")
    header: dict[str, Any] = {"mode": image.mode, "size": image.size}
    if image.mode == "P":
        header["palette"] = image.palette.tobytes().hex()
        header["palette_mode"] = image.palette.mode
    transparency = image.info.get("transparency")
    if transparency is not None:
        header["transparency"] = transparency.hex() if isinstance(transparency, bytes) else transparency
    return header, image.tobytes()


def _pack_image(image: Any) -> bytes:
    header, pixels = _describe_image(image)
    body = json.dumps(header).encode() + b"\n" + zlib.compress(pixels, level=1)
    return _FORMAT + hashlib.blake2b(body, digest_size=16).digest() + body


def _unpack_image(data: bytes) -> Any:
    """The image of :func:`_pack_image`; None if the file is damaged or of another version: the image is made again."""
    body = data[len(_FORMAT) + 16 :]
    if data[: len(_FORMAT) + 16] != _FORMAT + hashlib.blake2b(body, digest_size=16).digest():
        return None
    description, _, packed = body.partition(b"\n")
    header, pixels = json.loads(description), zlib.decompress(packed)
    if "dtype" in header:
        return np.frombuffer(pixels, np.dtype(header["dtype"])).reshape(header["shape"]).copy()
    image = Image.frombytes(header["mode"], tuple(header["size"]), pixels)
    if "palette" in header:
        image.putpalette(bytes.fromhex(header["palette"]), header["palette_mode"])
    return image
