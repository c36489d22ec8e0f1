"""DICOM files made pictures: one frame, grey or RGB, 8 bits, in the window that the file states.

Grey values go through the file's modality transform (rescale slope and intercept, or a table), then through its VOI
transform (DICOM PS3.3, C.11.2): the first window that it states, or its VOI table. A file without either is shown from
0 to the largest value of its bits if these are 8 or fewer, else from its own smallest to its own largest value, without
padding. MONOCHROME1 is inverted, so that large values are dark.

Colours are of the file's palette, RGB or YCbCr, as the header says. A JPEG that says itself what it holds (JFIF, Adobe)
is believed before the header, and the view says so. Other colours that contradict their header are refused. What is
measured is the share of pixels that would be no colours if the values were YCbCr. In 946 RGB pictures (541 of them
grey) it was 2 % or more, in the same pictures as YCbCr 0, and after JPEG of low quality up to 7.7 %. Colours called RGB
are refused below 1 %, colours called YCbCr above 10 %: none of the 946 was refused wrongly, and YCbCr called RGB was
found in all 946, after JPEG of quality 75 in 871. Pictures of fewer than 1,024 pixels, and pictures whose values are
grey as they stand, are not looked at.

Nothing else of a file goes along with its pixels, such as names. :func:`lmms_medtasks.pictures.open_image` calls this
module for whatever has the mark of a DICOM file.
"""

from __future__ import annotations

import functools
import importlib.util
import io
import warnings
import zlib
from typing import TYPE_CHECKING, Any

import numpy as np

from lmms_medtasks.errors import UserError

if TYPE_CHECKING:
    from PIL.Image import Image

_DEFLATED = b"1.2.840.10008.1.2.1.99"  # Deflated Explicit VR Little Endian
_PALETTE = "PALETTE COLOR"
_AS_PNG = "Write the image that is asked about as PNG"
_MOST_AS_YCBCR = 0.01  # of the pixels of YCbCr, outside of RGB's range by more than _TOLERANCE
_LEAST_AS_RGB = 0.10
_TOLERANCE = 16
_FEWEST, _LOOKED_AT = 1024, 512  # pixels at least, rows and columns about at most


def read_dicom(data: bytes, max_pixels: int) -> tuple[Image, dict[str, Any]]:
    """The picture in a DICOM file, mode L or RGB, and its view: ``{"window": [low, high], "window_from": ...}``.

    The window is in modality values (CT: Hounsfield units). The view of a colour picture is empty, or says under
    ``colours`` that its JPEG contradicts its header.

    Raises:
        UserError: several frames, video, no pixels, more than ``max_pixels``, colours of another kind or that
            contradict their header, more than 8 bits of colour, compression that no installed decoder reads, a window
            that is none, a damaged file.
    """
    import pydicom
    from PIL import Image

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of odd values in fields that are not read here
            _check_deflated(data, 8 * max_pixels)
            file = pydicom.dcmread(io.BytesIO(data))
            _check_decodable(file, max_pixels)
            if str(file.PhotometricInterpretation) == _PALETTE:
                colours = pydicom.pixels.apply_color_lut(_decode_pixels(file)[0], file)
                # Files exist whose entries of 16 bits hold values of 8.
                return Image.fromarray((colours >> (8 if colours.max() > 255 else 0)).astype(np.uint8)), {}
            if file.get("SamplesPerPixel", 1) == 3:
                levels, view = _read_colours(file)
            else:
                levels, view = _grey_levels(file, _decode_pixels(file)[0])
    except UserError:
        raise
    except Exception as error:  # pydicom and its decoders raise many kinds on what is damaged
        damaged = "It is truncated or damaged: fetch it again."
        cure = _decoder_advice() if isinstance(error, RuntimeError) else damaged
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
    if kind not in ("MONOCHROME1", "MONOCHROME2", "RGB", _PALETTE) and not kind.startswith("YBR_"):
        raise UserError(
            f"is DICOM with the photometric interpretation {kind!r}. Allowed: MONOCHROME1, MONOCHROME2, RGB, YBR, "
            f"{_PALETTE}. {_AS_PNG}."
        )
    if file.get("SamplesPerPixel", 1) == 3 and file.BitsAllocated != 8:
        raise UserError(f"is DICOM with {file.BitsAllocated} bits a colour, expected 8. {_AS_PNG}.")
    if syntax.is_compressed and not _list_decoders(syntax):
        raise UserError(f"is DICOM compressed as {syntax.name}, for which no decoder is installed. {_decoder_advice()}")


def _list_decoders(syntax: Any) -> tuple[str, ...]:
    """pydicom's names of the installed decoders of a transfer syntax."""
    from pydicom.pixels import get_decoder

    try:
        return tuple(get_decoder(syntax).available_plugins)
    except NotImplementedError:
        return ()


def _decoder_advice() -> str:
    install = (
        "" if importlib.util.find_spec("pylibjpeg") else 'Install decoders (pip install "lmms-medtasks[dicom]"), or '
    )
    uncompressed = "write the file uncompressed (gdcmconv --raw, dcmdjpeg)."
    return install + (uncompressed if install else uncompressed.capitalize())


def _decode_pixels(file: Any) -> tuple[np.ndarray, str]:
    """Pixels as they are stored, (H, W) or (H, W, 3), and their photometric interpretation after decoding.

    Pillow decodes what it can, so that other decoders that happen to be installed change no pixel of lossy JPEG.
    """
    from pydicom.pixels import get_decoder

    syntax = file.file_meta.TransferSyntaxUID
    read = functools.partial(get_decoder(syntax).as_array, file, raw=True)
    plugins = _list_decoders(syntax) if syntax.is_compressed else ()
    try:
        if "pillow" in plugins:
            _open_stream(file)
        pixels, properties = read(decoding_plugin="pillow" if "pillow" in plugins else "")
    except UserError:
        raise
    except Exception:
        if plugins in ((), ("pillow",)):
            raise
        pixels, properties = read()
    return pixels, str(properties["photometric_interpretation"])


def _open_stream(file: Any) -> Any:
    """The JPEG or JPEG 2000 in a file, nothing decoded yet. UserError: it has another size than the header says."""
    from PIL import Image, UnidentifiedImageError
    from pydicom.encaps import get_frame

    try:
        image = Image.open(io.BytesIO(get_frame(file.PixelData, 0, number_of_frames=1)), formats=("JPEG", "JPEG2000"))
    except UnidentifiedImageError as error:
        raise RuntimeError("Pillow can't read such JPEG, perhaps with 12 bits a value") from error
    if image.size != (file.Columns, file.Rows):
        raise UserError(
            f"is DICOM whose header says {file.Columns:,} x {file.Rows:,} pixels, while the image in it has "
            f"{image.width:,} x {image.height:,}. It is damaged: fetch it again."
        )
    return image


def _read_colours(file: Any) -> tuple[np.ndarray, dict[str, Any]]:
    """(H, W, 3) uint8 RGB of a file with colours, and the view."""
    from pydicom.pixels import convert_color_space
    from pydicom.uid import JPEGBaseline8Bit, JPEGExtended12Bit

    header, view = str(file.PhotometricInterpretation), {}
    if file.file_meta.TransferSyntaxUID in (JPEGBaseline8Bit, JPEGExtended12Bit):
        image = _open_stream(file)
        if stated := _colours_of_jpeg(image):
            if stated != ("RGB" if header == "RGB" else "YCbCr"):
                view = {"colours": f"{stated}, as its JPEG says; its header says {header}"}
            return np.array(image.convert("RGB")), view  # libjpeg converts by the same markers
        image.draft("YCbCr", image.size)  # as stored, whatever it is
        pixels, kind = np.array(image), "RGB" if header == "RGB" else "YBR_FULL"
    else:
        pixels, kind = _decode_pixels(file)
    if pixels.dtype != np.uint8:
        raise UserError(f"is DICOM whose colours are {pixels.dtype}, expected 8 bits. {_AS_PNG}.")
    share = _share_outside_rgb(pixels)
    if share is not None and (share < _MOST_AS_YCBCR if kind == "RGB" else share > _LEAST_AS_RGB):
        inside, right = ("YCbCr", "YBR_FULL") if kind == "RGB" else ("RGB", "RGB")
        raise UserError(
            f"is DICOM whose header says {header}, while its pixels look like {inside} ({share:.1%} of them would be "
            f"no colours if they were YCbCr; of RGB 2 % or more). Write the PhotometricInterpretation {right} into the "
            "header if they are, else write the image as PNG."
        )
    return (pixels if kind == "RGB" else convert_color_space(pixels, kind, "RGB")), view


def _share_outside_rgb(pixels: np.ndarray) -> float | None:
    """The share of pixels that are no colours if they are YCbCr, clearly out of range; None if it can't tell."""
    step = max(1, max(pixels.shape[:2]) // _LOOKED_AT)
    looked_at = pixels[::step, ::step].astype(np.float32)
    if looked_at[..., 0].size < _FEWEST or (np.ptp(looked_at, axis=2) <= _TOLERANCE).mean() > 0.95:
        return None
    luma, blue, red = looked_at[..., 0], looked_at[..., 1] - 128, looked_at[..., 2] - 128
    rgb = np.stack([luma + 1.402 * red, luma - 0.344136 * blue - 0.714136 * red, luma + 1.772 * blue])
    return float(((rgb < -_TOLERANCE) | (rgb > 255 + _TOLERANCE)).any(axis=0).mean())


def _colours_of_jpeg(image: Any) -> str:
    """ "RGB" or "YCbCr" where the markers of a JPEG with three colours say so, else ""."""
    if "adobe_transform" in image.info:
        return "YCbCr" if image.info["adobe_transform"] == 1 else "RGB"
    if "jfif" in image.info:
        return "YCbCr"
    return "RGB" if [component[0] for component in image.layer] == [*b"RGB"] else ""


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
