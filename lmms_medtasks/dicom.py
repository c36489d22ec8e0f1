"""DICOM files made pictures: one frame, grey or RGB, 8 bits, in the window that the file states.

Grey values go through the file's modality transform (rescale slope and intercept, or a table), then through its VOI
transform (DICOM PS3.3, C.11.2): the first window that it states, or its VOI table. A file without either is shown from
0 to the largest value of its bits if these are 8 or fewer, else from its own smallest to its own largest value, without
padding. MONOCHROME1 is inverted, so that large values are dark.

Nothing else of a file goes along with its pixels, such as names. :func:`lmms_medtasks.pictures.open_image` calls this
module for whatever has the mark of a DICOM file.
"""

from __future__ import annotations

import io
import warnings
import zlib
from typing import TYPE_CHECKING, Any

import numpy as np

from lmms_medtasks.errors import UserError

if TYPE_CHECKING:
    from PIL.Image import Image

_DEFLATED = b"1.2.840.10008.1.2.1.99"  # Deflated Explicit VR Little Endian
_AS_PNG = "Write the image that is asked about as PNG"
_DECODERS = (
    "Install decoders (pip install pylibjpeg pylibjpeg-libjpeg pylibjpeg-openjpeg), or write the file uncompressed "
    "(gdcmconv --raw, dcmdjpeg)"
)


def is_dicom(start: bytes) -> bool:
    """Whether a file that begins so is DICOM: it has the mark ``DICM`` after 128 bytes."""
    return start[128:132] == b"DICM"


def read_dicom(data: bytes, max_pixels: int) -> tuple[Image, dict[str, Any]]:
    """The picture in a DICOM file, mode L or RGB, and its view: ``{"window": [low, high], "window_from": ...}``.

    The window is in modality values (CT: Hounsfield units); the view of a colour picture is empty.

    Raises:
        UserError: several frames, video, no pixels, more than ``max_pixels``, colours of another kind, more than 8 bits
            of colour, compression that no installed decoder reads, a window that is none, a damaged file.
    """
    import pydicom
    from PIL import Image

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of odd values in fields that are not read here
            _check_deflated(data, 8 * max_pixels)
            file = pydicom.dcmread(io.BytesIO(data))
            _check_decodable(file, max_pixels)
            stored = pydicom.pixels.pixel_array(file)
            if stored.ndim == 3:
                if stored.dtype != np.uint8:
                    raise UserError(f"is DICOM whose colours are {stored.dtype}, expected 8 bits. {_AS_PNG}.")
                return Image.fromarray(stored), {}
            levels, view = _grey_levels(file, stored)
    except UserError:
        raise
    except Exception as error:  # pydicom and its decoders raise many kinds on what is damaged
        cure = f"{_DECODERS}." if isinstance(error, RuntimeError) else "It is truncated or damaged: fetch it again."
        raise UserError(f"is DICOM that can't be read ({type(error).__name__}: {error}). {cure}") from error
    return Image.fromarray(levels), view


def _check_deflated(data: bytes, limit: int) -> None:
    """Raise UserError for a file that is compressed as a whole and unpacks to more than ``limit`` bytes."""
    if _DEFLATED not in data[:1024]:
        return
    unpacker, size = zlib.decompressobj(-zlib.MAX_WBITS), 0
    packed = data[144 + int.from_bytes(data[140:144], "little") :]  # behind the group that names the compression
    while packed and size <= limit:
        size += len(unpacker.decompress(packed, 2**24))
        packed = unpacker.unconsumed_tail
    if size > limit:
        raise UserError(f"is DICOM that unpacks to more than {limit:,} bytes, the limit for one picture. {_AS_PNG}.")


def _check_decodable(file: Any, max_pixels: int) -> None:
    from pydicom.pixels import get_decoder

    syntax = file.file_meta.TransferSyntaxUID
    if "MPEG" in syntax.name or "HEVC" in syntax.name:
        raise UserError(f"is a video in DICOM ({syntax.name}). Write the frame that is asked about as PNG.")
    if "PixelData" not in file:
        about = getattr(getattr(file, "SOPClassUID", None), "name", "no image")
        raise UserError(f"is DICOM without pixels ({about}). {_AS_PNG}.")
    frames = int(file.get("NumberOfFrames") or 1)
    if frames > 1:
        raise UserError(f"is DICOM with {frames} frames. Write the one that is asked about as PNG.")
    if file.Rows * file.Columns > max_pixels:
        raise UserError(f"is DICOM of {file.Columns:,} x {file.Rows:,} pixels, the limit is {max_pixels:,}. {_AS_PNG}.")
    kind = str(file.get("PhotometricInterpretation"))
    if kind not in ("MONOCHROME1", "MONOCHROME2", "RGB") and not kind.startswith("YBR_"):
        raise UserError(
            f"is DICOM with the photometric interpretation {kind!r}. Allowed: MONOCHROME1, MONOCHROME2, RGB, YBR. "
            f"{_AS_PNG}."
        )
    if file.get("SamplesPerPixel", 1) == 3 and file.BitsAllocated != 8:
        raise UserError(f"is DICOM with {file.BitsAllocated} bits a colour, expected 8. {_AS_PNG}.")
    try:
        readable = get_decoder(syntax).is_available
    except NotImplementedError:
        readable = False
    if not readable:
        raise UserError(f"is DICOM compressed as {syntax.name}, for which no decoder is installed. {_DECODERS}.")


def _grey_levels(file: Any, stored: np.ndarray) -> tuple[np.ndarray, dict[str, Any]]:
    """(H, W) uint8 of the grey values of a file, and the view."""
    from pydicom.pixels import apply_modality_lut, apply_voi

    values = apply_modality_lut(stored, file)
    if file.get("VOILUTSequence"):
        if not np.equal(np.mod(values, 1), 0).all():
            raise UserError(f"is DICOM with a VOI table and values that are no whole numbers. {_AS_PNG}.")
        shares = apply_voi(values.astype(np.int64), file) / (2.0 ** file.VOILUTSequence[0].LUTDescriptor[2] - 1)
        view: dict[str, Any] = {"window_from": "the file's VOI table"}
    elif file.get("WindowCenter") is not None and file.get("WindowWidth") is not None:
        shares, view = _apply_window(file, values)
    else:
        low, high, origin = _grey_range(file, stored, values)
        shares, view = (values - low) / (high - low), {"window": [low, high], "window_from": origin}
    levels = np.rint(np.clip(shares, 0.0, 1.0) * 255.0).astype(np.uint8)
    inverted = file.PhotometricInterpretation == "MONOCHROME1"
    return (255 - levels, {**view, "inverted": True}) if inverted else (levels, view)


def _apply_window(file: Any, values: np.ndarray) -> tuple[np.ndarray, dict[str, Any]]:
    """The values in the first window that the file states as shares, 0 black and 1 white (PS3.3, C.11.2.1.2, 1.3).

    A width below 1 is none of a LINEAR window, whose values are whole numbers: it is read as LINEAR_EXACT, as files
    mean it whose values are doses or other small numbers.
    """
    centres, widths = (_parse_numbers(file[name].value) for name in ("WindowCenter", "WindowWidth"))
    centre, width = centres[0], widths[0]
    form = str(file.get("VOILUTFunction") or "LINEAR").upper()
    if not width > 0 or form not in ("LINEAR", "LINEAR_EXACT", "SIGMOID"):
        raise UserError(
            f"is DICOM with the window centre {centre:g}, width {width:g} and VOI function {form}. The width must be "
            f"above 0, the function LINEAR, LINEAR_EXACT or SIGMOID. {_AS_PNG}."
        )
    low, high = (centre - 0.5 - (width - 1) / 2, centre - 0.5 + (width - 1) / 2)
    if form != "LINEAR" or width < 1:
        low, high = centre - width / 2, centre + width / 2
    origin = "the file" if len(centres) == 1 else f"the file, the first of {len(centres)}"
    view: dict[str, Any] = {"window": [low, high], "window_from": origin}
    if form == "SIGMOID":
        return 1.0 / (1.0 + np.exp(-4.0 * (values - centre) / width)), {**view, "function": "SIGMOID"}
    if low == high:  # a width of 1: one step from black to white
        return (values > low).astype(float), view
    return (values - low) / (high - low), view


def _parse_numbers(value: Any) -> list[float]:
    return [float(each) for each in (value if hasattr(value, "__iter__") and not isinstance(value, str) else [value])]


def _grey_range(file: Any, stored: np.ndarray, values: np.ndarray) -> tuple[float, float, str]:
    """The values shown black and white without a window, and their origin in words."""
    bits = int(file.BitsStored)
    padding = file.get("PixelPaddingValue")
    unpadded = values if padding is None or (stored == padding).all() else values[stored != padding]
    low, high = float(unpadded.min()), float(unpadded.max())
    if (bits <= 8 and not file.get("RescaleSlope")) or low == high:
        lowest = -(2 ** (bits - 1)) if file.PixelRepresentation else 0
        return float(lowest), float(lowest + 2**bits - 1), "all values of its bits"
    return low, high, "its own smallest and largest value"
