"""One picture, one result: the same files through every entrance, against pixels that are known."""

from __future__ import annotations

import base64
import io
import warnings
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import datasets
import numpy as np
import pytest
from PIL import Image

from lmms_medtasks import pictures
from lmms_medtasks.cli.preview import make_preview_sections
from lmms_medtasks.data.adapter import from_columns
from lmms_medtasks.data.picture_checks import check_images
from lmms_medtasks.data.prepare import prepare_splits
from lmms_medtasks.degradations.files import FileDegradation, degrade_files
from lmms_medtasks.errors import UserError
from lmms_medtasks.grids.labelled_pictures import read_labelled_images
from lmms_medtasks.grids.pool import load_image
from lmms_medtasks.harness import degraded_pictures, hooks, server_model
from tests.picture_kinds import FILES, encode, write_png
from tests.test_dicom import dicom

Shown = dict[str, np.ndarray]


@pytest.fixture(autouse=True)
def silence() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pictures.WindowWarning)
        yield


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_files(tmp_path / "files", {name: data for name, (data, _) in FILES.items()})


def write_files(folder: Path, files: dict[str, bytes]) -> Path:
    folder.mkdir()
    for name, data in files.items():
        (folder / name).write_bytes(data)
    return folder


def check_pixels(shown: Shown, names: set[str]) -> None:
    assert set(shown) == names
    wrong = [name for name, pixels in shown.items() if not np.array_equal(pixels, FILES[name][1])]
    assert not wrong


def through_degrade(folder: Path) -> Shown:
    """Files of level 0."""
    outcome = degrade_files(folder, folder.parent / "out", FileDegradation("gaussian_blur", 0), workers=1)
    assert not outcome.problems
    shown = {record["file"]: pictures.open_image(Path(record["written"])) for record in outcome.records}
    return {name: np.asarray(pictures.to_rgb8(image)) for name, image in shown.items()}


def through_preview(folder: Path) -> Shown:
    sections, failed = make_preview_sections(sorted(folder.iterdir()), None, ["gaussian_blur"], 0)
    assert not failed
    return {section.heading: np.asarray(section.first.picture) for section in sections}


def through_grids(folder: Path) -> Shown:
    names = [path.name for path in sorted(folder.iterdir())]
    (folder / "labels.csv").write_text("image,modality\n" + "".join(f"{name},CT\n" for name in names), "utf-8")
    pool = read_labelled_images(str(folder)).pictures
    assert len(pool) == len(names)
    return {picture.id: np.asarray(load_image(picture).image) for picture in pool}


def through_table(folder: Path, cell: Callable[[Path], object]) -> Shown:
    paths = sorted(folder.iterdir())
    rows = {"id": [path.name for path in paths], "image": [cell(path) for path in paths]}
    count = len(paths)
    table = datasets.Dataset.from_dict({**rows, "question": ["q"] * count, "answer": ["x"] * count})
    documents = from_columns(id="id").in_folder(folder)(table)
    assert check_images(documents, folder) == count
    return {doc["id"]: np.asarray(hooks.doc_to_visual(doc)[0]) for doc in documents}


def through_degraded_task(folder: Path) -> Shown:
    """What is degraded where a task shows files."""
    opened = {path.name: degraded_pictures.open_visual(str(path)) for path in folder.iterdir()}
    return {name: np.asarray(pictures.to_rgb8(image)) for name, image in opened.items()}


def through_server(picture: object) -> np.ndarray:
    url = server_model._server_part({"type": "image", "url": picture}, "task")["image_url"]["url"]
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(url.partition(",")[2]))))


ENTRANCES: dict[str, Callable[[Path], Shown]] = {
    "degrade": through_degrade,
    "preview": through_preview,
    "grids": through_grids,
    "table of paths": lambda folder: through_table(folder, lambda path: path.name),
    "table of bytes": lambda folder: through_table(folder, Path.read_bytes),
    "table of base64": lambda folder: through_table(folder, lambda path: base64.b64encode(path.read_bytes()).decode()),
    "degraded task": through_degraded_task,
    "server": lambda folder: {path.name: through_server(str(path)) for path in folder.iterdir()},
}


@pytest.mark.parametrize("entrance", ENTRANCES)
def test_every_file_has_the_same_pixels_through_every_entrance(entrance: str, folder: Path) -> None:
    names = set(FILES)
    check_pixels(ENTRANCES[entrance](folder), names)


def test_prepared_data_shows_the_same_pixels(tmp_path: Path, table, clean_row, release_row, home: Path) -> None:
    """``datasets`` decodes them: it turns photographs, and knows no DICOM, which is stored as PNG."""
    source, names = tmp_path / "release", sorted(FILES)
    rows = [clean_row(n, image=base64.b64encode(FILES[name][0]).decode()) for n, name in enumerate(names)]
    table(source, rows)
    table(source, [release_row(0)], name="MedQ-Robust-simulate-test.tsv")
    manifest = prepare_splits("medq_deg", source=source)
    assert manifest["splits"]["clean"]["rejected"] == 0
    made = datasets.Dataset.from_parquet(str(home / "medq_deg/sample/clean.parquet"), cache_dir=str(tmp_path / "cache"))
    check_pixels({names[int(doc["id"])]: np.asarray(hooks.doc_to_visual(doc)[0]) for doc in made}, set(names))
    stored = made.cast_column("image", datasets.Image(decode=False))
    assert not [names[int(doc["id"])] for doc in stored if b"Somebody" in doc["image"]["bytes"]]


def test_a_harness_task_shows_the_same_pixels(folder: Path) -> None:
    """Its pictures are those that ``datasets`` decoded."""
    names = [name for name in FILES if not name.endswith(".dcm") and "." in name]
    column = datasets.Dataset.from_dict({"image": [str(folder / name) for name in names]})
    shown = column.cast_column("image", datasets.Image())["image"]
    check_pixels({name: through_server(image) for name, image in zip(names, shown, strict=True)}, set(names))


def test_a_picture_is_turned_once() -> None:
    data, expected = FILES["photograph_6.jpg"]
    once = pictures.open_image(data)
    assert np.array_equal(np.asarray(pictures.open_image(once)), expected)
    assert np.array_equal(np.asarray(pictures.open_image(Image.open(io.BytesIO(data)))), expected)


def test_a_degraded_dicom_file_says_its_window_and_no_name(folder: Path) -> None:
    order = FileDegradation("gaussian_blur", 1)
    [record] = degrade_files(folder / "ct.dcm", folder / "out.png", order).records
    assert record["shown_as"] == {"window": [-160.0, 239.0], "window_from": "the file"}
    assert pictures.shown_as(pictures.open_image(folder / "out.png")) == record["shown_as"]
    assert b"Somebody" not in (folder / "out.png").read_bytes()


def frames(form: str, count: int = 3) -> bytes:
    first, *others = (Image.new("L", (8, 8), level) for level in range(0, 90 * count, 90))
    return encode(first, form, save_all=True, append_images=others)


BAD = {
    "huge.png": (write_png(30_000, 30_000), "has 30,000 x 30,000 pixels, the limit is 100,000,000. Write it smaller"),
    "text_bomb.png": (write_png(8, 8, text=b"a\0\0" + zlib.compress(bytes(2**26))), "does not decode"),
    "moving.gif": (frames("GIF"), "holds 3 frames, where one is expected. Write out the one that is meant"),
    "moving.webp": (frames("WEBP"), "holds 3 frames"),
    "moving.png": (frames("PNG"), "holds 3 frames"),
    "stack.tif": (frames("TIFF"), "holds 3 frames"),
    "cine.dcm": (dicom(np.zeros((3, 4, 4), np.uint16), NumberOfFrames=3), "is DICOM with 3 frames"),
    "bomb.dcm": (dicom(Rows=60_000, Columns=60_000), "is DICOM of 60,000 x 60,000 pixels, the limit is 100,000,000"),
    "bomb.zip": (b"PK\x03\x04" + bytes(60), "is a zip. Unpack it"),
    "cut.jpg": (FILES["a.png"][0][:300], "truncated or damaged: fetch it again"),
    "clip.mp4": (b"\0\0\0\x18ftypmp42" + bytes(40), "is a video, or HEIC or AVIF"),
}


def message_of(call: Callable[[], object]) -> str:
    with pytest.raises(UserError) as error:
        call()
    return str(error.value)


@pytest.mark.parametrize("name", [*BAD, "volume.dcm"])
def test_every_entrance_refuses_a_bad_file_in_the_same_words(name: str, tmp_path: Path) -> None:
    data, words = BAD.get(name, (b"", "has 2,147,483,648 bytes, the limit is 1,073,741,824: no single picture has"))
    folder = write_files(tmp_path / "files", {name: data})
    path = folder / name
    if name not in BAD:  # a DICOM file of 2 GB, of which nothing may be read
        with path.open("wb") as file:
            file.seek(128)
            file.write(b"DICM")
            file.truncate(2**31)
    (folder / "labels.csv").write_text(f"image,modality\n{name},CT\n", "utf-8")
    outcome = degrade_files(path, tmp_path / "out", FileDegradation("gaussian_blur", 1))
    [(_, shown)] = make_preview_sections([path], None, ["gaussian_blur"], 0)[1]
    messages = {
        "degrade": outcome.problems[0][1],
        "preview": shown,
        "grids": message_of(lambda: read_labelled_images(str(folder))),
        "degraded task": message_of(lambda: degraded_pictures.open_visual(str(path))),
        "server": message_of(lambda: through_server(str(path))),
    }
    table = datasets.Dataset.from_dict({"image": [name], "question": ["q"], "answer": ["x"]})
    adapt = from_columns().in_folder(folder)
    messages["table"] = message_of(lambda: check_images(adapt(table), folder))
    assert not {entrance: message for entrance, message in messages.items() if words not in message}
    assert name in messages["table"] and name in messages["grids"]


def test_preparing_lists_a_bad_file_and_goes_on(tmp_path: Path, table, clean_row, release_row, home: Path) -> None:
    source = tmp_path / "release"
    cells = [base64.b64encode(data).decode() for data, _ in BAD.values() if len(data) < 99_999]
    assert len(cells) == len(BAD)
    table(source, [clean_row(0), *(clean_row(n, image=cell) for n, cell in enumerate(cells, start=1))])
    table(source, [release_row(0)], name="MedQ-Robust-simulate-test.tsv")
    prepare_splits("medq_deg", source=source)
    listed = (home / "medq_deg/sample/rejected.jsonl").read_text("utf-8")
    assert not [words for _, words in BAD.values() if words not in listed]
