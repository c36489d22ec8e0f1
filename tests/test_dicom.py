"""DICOM files as a model is shown them, against pydicom's own transforms."""

import io
import warnings
from pathlib import Path

import datasets
import numpy as np
import pydicom
import pytest
from PIL import Image
from pydicom.dataset import Dataset, FileMetaDataset
from pydicom.pixels import apply_modality_lut, apply_voi_lut
from pydicom.uid import (
    MPEG4HP41,
    DeflatedExplicitVRLittleEndian,
    ExplicitVRLittleEndian,
    JPEGBaseline8Bit,
    JPEGLSLossless,
    RLELossless,
)

from lmms_medtasks import pictures
from lmms_medtasks.data.adapter import from_columns
from lmms_medtasks.dicom import read_dicom as read_with_limit
from lmms_medtasks.errors import UserError
from lmms_medtasks.harness import hooks
from lmms_medtasks.harness.template_hooks.choice_scoring import make_choice_record


def ramp(bits=12, signed=False):
    """(16, 20) values from the smallest to the largest that ``bits`` hold."""
    low = -(2 ** (bits - 1)) if signed else 0
    kind = np.int16 if signed else np.uint16 if bits > 8 else np.uint8
    return np.linspace(low, low + 2**bits - 1, 320).round().astype(kind).reshape(16, 20)


def dicom(values=None, syntax=ExplicitVRLittleEndian, bits=12, **fields):
    """A DICOM file's bytes; ``fields`` by their keywords."""
    values = ramp(bits) if values is None else values
    file = Dataset()
    file.file_meta = FileMetaDataset()
    file.file_meta.TransferSyntaxUID = syntax
    file.file_meta.MediaStorageSOPClassUID = file.SOPClassUID = pydicom.uid.CTImageStorage
    file.file_meta.MediaStorageSOPInstanceUID = file.SOPInstanceUID = "1.2.3"
    file.Rows, file.Columns = values.shape[-2:] if fields.get("SamplesPerPixel", 1) == 1 else values.shape[:2]
    file.SamplesPerPixel, file.PhotometricInterpretation = 1, "MONOCHROME2"
    file.BitsAllocated, file.BitsStored, file.HighBit = values.dtype.itemsize * 8, bits, bits - 1
    file.PixelRepresentation = int(values.dtype.kind == "i")
    file.PatientName = "Somebody"
    file.PixelData = values.tobytes()
    for name, value in fields.items():
        setattr(file, name, value)
    if syntax.is_compressed:
        file.PixelData = pydicom.encaps.encapsulate([fields.get("PixelData", values.tobytes())])
    held = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        file.save_as(held, enforce_file_format=True)
    return held.getvalue()


def read_dicom(data):
    return read_with_limit(data, pictures.MAX_PIXELS)


def by_pydicom(data):
    """(H, W) uint8: pydicom's transforms, then its output range on 0 to 255."""
    file = pydicom.dcmread(io.BytesIO(data))
    values = apply_modality_lut(file.pixel_array, file)
    seen = apply_voi_lut(values.copy(), file)
    extreme = apply_voi_lut(np.array([-1e6, 1e6]), file)  # what it gives below and above the window
    levels = np.rint((seen - extreme[0]) / (extreme[1] - extreme[0]) * 255).astype(int)
    return 255 - levels if file.PhotometricInterpretation == "MONOCHROME1" else levels


@pytest.mark.parametrize("kind", ["MONOCHROME1", "MONOCHROME2"])
@pytest.mark.parametrize(
    "fields",
    [
        {"WindowCenter": 40, "WindowWidth": 400, "RescaleSlope": 1, "RescaleIntercept": -1024},
        {"WindowCenter": 2000.5, "WindowWidth": 37.25},
        {"WindowCenter": [600, 40], "WindowWidth": [1600, 400], "RescaleSlope": 0.5, "RescaleIntercept": -3.25},
        {"WindowCenter": 1000, "WindowWidth": 900, "VOILUTFunction": "LINEAR_EXACT"},
        {"WindowCenter": 1000, "WindowWidth": 900, "VOILUTFunction": "SIGMOID"},
        {"values": ramp(16, signed=True), "bits": 16, "WindowCenter": -100, "WindowWidth": 5000},
        {"values": ramp(8), "bits": 8, "WindowCenter": 100, "WindowWidth": 100},
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore:overflow encountered in exp")
def test_windows_are_those_of_pydicom(kind, fields):
    data = dicom(PhotometricInterpretation=kind, **fields)
    image, view = read_dicom(data)
    assert image.mode == "L"
    assert np.abs(np.asarray(image).astype(int) - by_pydicom(data)).max() <= (1 if "SIGMOID" in str(fields) else 0)
    assert view["window_from"].startswith("the file") and view.get("inverted", False) is (kind == "MONOCHROME1")


def test_a_window_of_small_values_is_that_of_exact_numbers():
    """A dose in Gy: PS3.3 has no LINEAR window of a width below 1; and one of 1 has no value between its ends."""
    data = dicom(RescaleSlope=0.0001, RescaleIntercept=0, WindowCenter=0.2, WindowWidth=0.25)
    image, view = read_dicom(data)
    shares = (ramp(12) * 0.0001 - 0.075) / 0.25
    assert np.abs(np.asarray(image).astype(int) - np.rint(np.clip(shares, 0, 1) * 255)).max() <= 1
    assert view["window"] == pytest.approx([0.075, 0.325])
    step = dicom(WindowCenter=ramp()[8, 0] + 0.5, WindowWidth=1)  # one value is at both of its ends
    assert np.array_equal(np.asarray(read_dicom(step)[0]), by_pydicom(step))


def test_the_window_is_recorded_in_modality_values():
    fields = {"WindowCenter": 40, "WindowWidth": 400, "RescaleSlope": 1, "RescaleIntercept": -1024}
    assert read_dicom(dicom(**fields))[1]["window"] == [-160.0, 239.0]


def test_a_voi_table_is_pydicoms():
    table = Dataset()
    table.LUTDescriptor, table.LUTData = [4096, 0, 16], np.linspace(65535, 0, 4096).astype("<u2").tobytes()
    data = dicom(VOILUTSequence=[table])
    image, view = read_dicom(data)
    file = pydicom.dcmread(io.BytesIO(data))
    assert np.array_equal(np.asarray(image), np.rint(apply_voi_lut(file.pixel_array, file) / 65535 * 255))
    assert view == {"window_from": "the file's VOI table"}


def test_without_a_window_eight_bits_are_shown_whole_and_more_from_their_own_range():
    image, view = read_dicom(dicom(np.full((4, 4), 100, np.uint8), bits=8))
    assert np.asarray(image).max() == 100 and view["window"] == [0.0, 255.0]
    image, view = read_dicom(dicom(ramp(12) // 2 + 50, bits=16))
    assert view == {"window": [50.0, 2097.0], "window_from": "its own smallest and largest value"}
    assert np.asarray(image).min() == 0 and np.asarray(image).max() == 255


def test_padding_does_not_count_for_the_own_range():
    values = ramp(12, signed=True) + 3000
    values[0] = -2000
    padded = dicom(values, bits=16, PixelPaddingValue=-2000)
    assert read_dicom(padded)[1]["window"][0] == values[1:].min()


def test_colours_and_lossless_compression_are_read_as_they_are():
    colours = np.random.default_rng(0).integers(0, 256, (6, 5, 3), dtype=np.uint8)
    more = {"SamplesPerPixel": 3, "PhotometricInterpretation": "RGB", "PlanarConfiguration": 0}
    image, view = read_dicom(dicom(colours, bits=8, **more))
    assert np.array_equal(np.asarray(image), colours) and view == {}
    file = pydicom.dcmread(io.BytesIO(dicom(WindowCenter=2000, WindowWidth=900)))
    plain = read_dicom(dicom(WindowCenter=2000, WindowWidth=900))[0]
    file.compress(RLELossless)
    held = io.BytesIO()
    file.save_as(held)
    assert read_dicom(held.getvalue())[0].tobytes() == plain.tobytes()


def test_a_file_that_is_deflated_as_a_whole_is_unpacked_up_to_a_limit():
    data = dicom(syntax=DeflatedExplicitVRLittleEndian, WindowCenter=2000, WindowWidth=900, ImageComments="a" * 9000)
    assert len(data) < 2000
    plain = read_dicom(dicom(WindowCenter=2000, WindowWidth=900))[0]
    assert read_dicom(data)[0].tobytes() == plain.tobytes()
    with pytest.raises(UserError, match="unpacks to more than 2,560 bytes"):
        read_with_limit(data, 320)


@pytest.mark.parametrize(
    ("data", "named"),
    [
        (dicom(np.zeros((3, 4, 4), np.uint16), NumberOfFrames=3), "3 frames"),
        (dicom(syntax=MPEG4HP41, NumberOfFrames=9), "video in DICOM"),
        (dicom(PhotometricInterpretation="HSV"), "'HSV'. Allowed: MONOCHROME1"),
        (dicom(WindowCenter=40, WindowWidth=0), "width 0"),
        (dicom()[:500], "fetch it again"),
    ],
    ids=["frames", "video", "colours", "window", "truncated"],
)  # fmt: skip
def test_what_cannot_be_shown_is_named_with_the_way_out(data, named):
    with pytest.raises(UserError) as error:
        read_dicom(data)
    assert named in str(error.value)


BARS = np.repeat([[255, 0, 0], [0, 160, 40], [12, 8, 6], [240, 230, 225]], 16, axis=0).astype(np.uint8)
BARS = np.tile(BARS, (64, 1, 1))  # a red bar first, (64, 64, 3)
AS_YCBCR = np.asarray(Image.fromarray(BARS).convert("YCbCr"))  # red is 76, 85, 255


def coloured(kind, values, **fields):
    fields = {"SamplesPerPixel": 3, "PhotometricInterpretation": kind, "PlanarConfiguration": 0, **fields}
    return dicom(np.ascontiguousarray(values), bits=8, **fields)


@pytest.mark.parametrize(("bits", "factor"), [(8, 1), (16, 257), (16, 256), (16, 1)])
def test_colours_of_a_palette_are_shown(bits, factor):
    palette = np.random.default_rng(2).integers(0, 256, (256, 3), dtype=np.uint8)
    tables = {}
    for number, name in enumerate(("Red", "Green", "Blue")):
        entries = palette[:, number].astype("<u2") * factor
        tables[f"{name}PaletteColorLookupTableDescriptor"] = [256, 0, bits]
        tables[f"{name}PaletteColorLookupTableData"] = (entries if bits == 16 else palette[:, number]).tobytes()
    places = np.arange(256, dtype=np.uint8).reshape(16, 16)
    image, view = read_dicom(dicom(places, bits=8, PhotometricInterpretation="PALETTE COLOR", **tables))
    assert np.array_equal(np.asarray(image), palette[places]) and view == {}


SAYS_RGB = b"\xff\xee\x00\x0eAdobe\x00\x64\x00\x00\x00\x00\x00"


def jpeg(values, kind, inside="YCbCr", marker=None):
    """A DICOM file with a JPEG of quality 95, whatever its header says; ``marker``: in place of JFIF's."""
    image, held = Image.fromarray(values), io.BytesIO()
    image = Image.merge("YCbCr", image.split()) if inside == "RGB" else image  # stored without a conversion
    image.save(held, "JPEG", quality=95, subsampling=0)
    start = held.getvalue()
    stream = start if marker is None else start[:2] + marker + start[20:]
    if kind.startswith("MONO"):
        return dicom(values, JPEGBaseline8Bit, bits=8, PixelData=stream)
    return coloured(kind, values, syntax=JPEGBaseline8Bit, PixelData=stream)


@pytest.mark.parametrize("kind", ["RGB", "YBR_FULL"])
@pytest.mark.parametrize(("inside", "marker"), [("YCbCr", None), ("RGB", SAYS_RGB)])
def test_a_jpeg_is_believed_before_its_header(kind, inside, marker):
    image, view = read_dicom(jpeg(BARS, kind, inside, marker))
    assert np.abs(np.asarray(image).astype(int) - BARS).max() <= 6
    agree = {"RGB": "RGB", "YCbCr": "YBR_FULL"}[inside] == kind
    assert view == ({} if agree else {"colours": f"{inside}, as its JPEG says; its header says {kind}"})


@pytest.mark.parametrize(("kind", "inside"), [("RGB", "RGB"), ("YBR_FULL_422", "YCbCr")])
def test_the_header_decides_of_a_jpeg_that_says_nothing(kind, inside):
    image, view = read_dicom(jpeg(BARS, kind, inside, marker=b""))
    assert np.abs(np.asarray(image).astype(int) - BARS).max() <= 6 and view == {}
    with pytest.raises(UserError, match=f"its pixels look like {inside}"):
        read_dicom(jpeg(BARS, "YBR_FULL" if inside == "RGB" else "RGB", inside, marker=b""))


@pytest.mark.parametrize(("kind", "values", "inside"), [("RGB", AS_YCBCR, "YCbCr"), ("YBR_FULL", BARS, "RGB")])
def test_pixels_that_contradict_their_header_are_refused(kind, values, inside):
    with pytest.raises(UserError, match=f"header says {kind}, while its pixels look like {inside} .* else write"):
        read_dicom(coloured(kind, values))
    other = {"RGB": "YBR_FULL", "YBR_FULL": "RGB"}[kind]
    assert np.abs(np.asarray(read_dicom(coloured(other, values))[0]).astype(int) - BARS).max() <= 2


@pytest.mark.parametrize("values", [np.full((64, 64, 3), 128, np.uint8), AS_YCBCR[:20, :20]], ids=["grey", "small"])
def test_a_header_is_believed_where_pixels_cannot_tell(values):
    assert np.array_equal(np.asarray(read_dicom(coloured("RGB", values))[0]), values)


@pytest.mark.parametrize("kind", ["RGB", "MONOCHROME2"])
def test_a_bomb_behind_a_small_header_is_not_decoded(kind):
    values = BARS if kind == "RGB" else BARS[..., 0]
    file = pydicom.dcmread(io.BytesIO(jpeg(values, kind)))
    stream = pydicom.encaps.get_frame(file.PixelData, 0, number_of_frames=1)
    start = stream.index(b"\xff\xc0") + 5  # height and width in the frame's header
    bomb = stream[:start] + (60_000).to_bytes(2, "big") * 2 + stream[start + 4 :]
    file.PixelData = pydicom.encaps.encapsulate([bomb])
    held = io.BytesIO()
    file.save_as(held)
    with pytest.raises(UserError, match="header says 64 x 64 pixels, while the image in it has 60,000 x 60,000"):
        pictures.open_image(held.getvalue())


def test_other_decoders_change_no_pixel_that_pillow_decodes():
    grey = np.random.default_rng(1).integers(0, 256, (64, 64), dtype=np.uint8)
    data = jpeg(grey, "MONOCHROME2")
    stream = pydicom.encaps.get_frame(pydicom.dcmread(io.BytesIO(data)).PixelData, 0, number_of_frames=1)
    assert np.array_equal(np.asarray(read_dicom(data)[0]), np.asarray(Image.open(io.BytesIO(stream))))


@pytest.mark.parametrize("is_installed", [False, True])
def test_a_missing_decoder_is_named_with_the_extra_that_has_it(is_installed, monkeypatch):
    monkeypatch.setattr("lmms_medtasks.dicom._list_decoders", lambda syntax: ())
    monkeypatch.setattr("importlib.util.find_spec", lambda name: object() if is_installed else None)
    install = "" if is_installed else r'Install decoders \(pip install "lmms-medtasks\[dicom\]"\), or '
    with pytest.raises(UserError, match=f"JPEG-LS Lossless .* no decoder is installed. {install}[Ww]rite the file"):
        read_dicom(dicom(syntax=JPEGLSLossless))


@pytest.mark.parametrize(
    ("packed", "plain"),
    [
        ("SC_rgb_jpeg_gdcm.dcm", "SC_rgb_rle.dcm"),  # JPEG Lossless
        ("MR_small_jpeg_ls_lossless.dcm", "MR_small_RLE.dcm"),
        ("MR_small_jp2klossless.dcm", "MR_small_RLE.dcm"),
    ],
)
def test_the_decoders_of_the_extra_read_what_is_packed_without_loss(packed, plain):
    pytest.importorskip("pylibjpeg")
    files = Path(pydicom.__file__).parent / "data" / "test_files"
    one, other = (read_dicom((files / name).read_bytes()) for name in (packed, plain))
    assert np.array_equal(np.asarray(one[0]), np.asarray(other[0])) and one[1] == other[1]


@pytest.mark.parametrize("name", ["scan.dcm", "IM0001", "scan.DCM"])
def test_a_table_may_name_dicom_files_whatever_their_ending(name, tmp_path):
    """Its window is in the question's record."""
    data = dicom(WindowCenter=40, WindowWidth=400, RescaleSlope=1, RescaleIntercept=-1024)
    (tmp_path / name).write_bytes(data)
    rows = datasets.Dataset.from_dict({"image": [name, name], "question": ["q1", "q2"], "answer": ["x", "y"]})
    documents = from_columns().in_folder(tmp_path)(rows)
    hooks.RENDERED.reset(documents["id"])
    shown = hooks.doc_to_visual(documents[0])
    assert np.array_equal(np.asarray(shown[0])[..., 0], by_pydicom(data))
    assert hooks.RENDERED.get("0")[0]["shown_as"] == {"window": [-160.0, 239.0], "window_from": "the file"}
    stored = datasets.Dataset.from_dict({"image": [data], "question": ["q1"], "answer": ["x"]})
    assert from_columns()(stored)["image_id"] == documents["image_id"][:1]  # bytes in a cell: the same picture


def test_a_name_of_dicom_files_for_something_else_is_refused(tmp_path):
    (tmp_path / "scan.dcm").write_bytes(b"\0" * 200)
    with pytest.raises(UserError, match=r"scan.dcm' is none of PNG.* and DICOM \(200 bytes; DICOM has the mark"):
        pictures.open_image(tmp_path / "scan.dcm")


def test_a_clean_variant_has_no_parameters_of_the_degraded_one():
    """Both ask questions of the same ids in one process; what was done to the one's pictures is not the other's."""
    doc = {"id": "both", "image_id": "i", "options": ["x", "y"], "answer": "A", "question": "q"}
    view = {"window": [0.0, 9.0], "window_from": "the file"}
    hooks.RENDERED.put("both", 0, {"sigma": 3.0, "shown_as": view})
    kept = {}
    for name, settings in {
        "degraded": {"degradation": "gaussian_noise", "severity": 1},
        "clean": {"degradation": "gaussian_noise", "severity": 0},
        "no_image": {"no_image": True},
    }.items():
        kept[name] = make_choice_record(doc, ["A"], "option", settings).details.get("degradation_parameters")
    assert kept == {"degraded": [{"sigma": 3.0, "shown_as": view}], "clean": [{"shown_as": view}], "no_image": None}
