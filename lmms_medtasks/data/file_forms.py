"""What a file is by its first bytes, where its name says something else: the message names it, and the way out."""

from __future__ import annotations

from pathlib import Path

from lmms_medtasks.errors import UserError

_FIRST = 4096

_TABLES: tuple[tuple[bytes, str, tuple[str, ...]], ...] = (
    (b"PK\x03\x04", "an Excel workbook or another zip. Call it .xlsx if it is Excel's, or save it as CSV", (".xlsx",)),
    (b"\xd0\xcf\x11\xe0", "a file of Excel before 2007 (.xls). Save it as .xlsx, or as CSV UTF-8", ()),
    (b"PAR1", "parquet. Call it .parquet", (".parquet",)),
    (b"\x1f\x8b", "compressed (gzip). Unpack it", ()),
    (b"\xff\xfe", "UTF-16 text (Excel's “Unicode text”). Save it as CSV UTF-8, or: iconv -f UTF-16 -t UTF-8", ()),
    (b"\xfe\xff", "UTF-16 text. Save it as CSV UTF-8, or: iconv -f UTF-16 -t UTF-8", ()),
    (b"version https://git-lfs", "a pointer of Git LFS, not the file itself. Fetch it: git lfs pull", ()),
    (b"<!doctype html", "a web page, perhaps one that asks to log in. Download the file itself", ()),
    (b"<html", "a web page, perhaps one that asks to log in. Download the file itself", ()),
)

_PICTURES: tuple[tuple[bytes, int, str], ...] = (
    (b"DICM", 128, "DICOM in a column of images. Name files by their paths, or store them in a column of bytes"),
    (b"ftyp", 4, "a video, or HEIC or AVIF. Write the frame that is asked about as PNG"),
    (b"\x1aE\xdf\xa3", 0, "a video (Matroska, WebM). Write the frame that is asked about as PNG"),
    (b"AVI ", 8, "a video (AVI). Write the frame that is asked about as PNG"),
    (b"\x00\x00\x01\xba", 0, "a video (MPEG). Write the frame that is asked about as PNG"),
    (b"%PDF", 0, "a PDF. Write the page out as PNG"),
    (b"\x1f\x8b", 0, "compressed (gzip), as NIfTI volumes are. Write the slice that is asked about as PNG"),
    (b"\x5c\x01\x00\x00", 0, "a NIfTI volume. Write the slice that is asked about as PNG"),
    (b"PK\x03\x04", 0, "a zip. Unpack it"),
    (b"\x93NUMPY", 0, "a NumPy array. Write it out as PNG"),
    (b"version https://git-lfs", 0, "a pointer of Git LFS, not the file itself. Fetch it: git lfs pull"),
)


def check_table(path: Path, *, allowed: tuple[str, ...] = ()) -> None:
    """Raise UserError where the file ``path`` is no text but something known, which none of ``allowed`` ends in."""
    try:
        with path.open("rb") as file:
            start = file.read(_FIRST)
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}.") from error
    if not start.strip():
        raise UserError(f"{path.name} is empty.")
    for sign, what, endings in _TABLES:
        if start.lstrip().lower().startswith(sign.lower()) and not set(endings) & set(allowed):
            raise UserError(f"{path.name} is {what}.")
    if b"\0" in start[:2]:
        raise UserError(f"{path.name} is UTF-16 text without its mark, or no text. Save it as CSV UTF-8.")


def picture_form(data: bytes) -> str:
    """What ``data``, which is no picture that can be shown, is, and the way out; "" where that is not known."""
    for sign, place, what in _PICTURES:
        if data[place : place + len(sign)] == sign:
            return what
    start = data[:_FIRST].lstrip().lower()
    if not data:
        return "empty"
    if start.startswith((b"<!doctype html", b"<html")):
        return "a web page. Download the image itself"
    if b"<svg" in start:
        return "SVG. Write it out as PNG"
    return ""
