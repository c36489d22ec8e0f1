"""Pictures of contributed tables: each is decoded once, one question may have several, and what is wrong is named."""

import base64
import io
import json
import struct
import zlib

import datasets
import numpy as np
import pytest
from PIL import Image

from lmms_medtasks.contribute.new import NewTaskRequest, write_task_folder
from lmms_medtasks.contribute.validate import validate_folder
from lmms_medtasks.data import picture_checks, store
from lmms_medtasks.data.adapter import documents, from_columns
from lmms_medtasks.errors import UserError
from lmms_medtasks.harness.template_hooks.prepared_documents import prepare_documents
from lmms_medtasks.pictures import image_id
from tests.contributed_tables import CARD, load


def png(seed, size=(9, 7), form="PNG", **more):
    pixels = np.random.default_rng(seed).integers(0, 255, (*size, 3), dtype=np.uint8)
    held = io.BytesIO()
    Image.fromarray(pixels).save(held, form, **more)
    return held.getvalue()


def bomb(width, height):
    """The start of a PNG of that many pixels: a file of a few hundred bytes."""

    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"\0")) + chunk(b"IEND", b"")


def frames():
    held = io.BytesIO()
    first, *others = [Image.new("L", (8, 8), level) for level in (0, 90, 180)]
    first.save(held, "TIFF", save_all=True, append_images=others)
    return held.getvalue()


WRONG = {
    "cut.png": (png(1, (60, 60))[:-400], "truncated or damaged: fetch it again"),
    "huge.png": (bomb(20000, 12000), "has 20,000 x 12,000 pixels, the limit is 100,000,000. Write it smaller"),
    "clip.png": (b"\0\0\0\x18ftypmp42" + b"\0" * 40, "is a video, or HEIC or AVIF"),
    "film.png": (b"RIFF\0\0\0\0AVI LIST", "is a video (AVI)"),
    "volume.png": (b"\x1f\x8b" + b"\0" * 40, "NIfTI"),
    "page.png": (b"<!DOCTYPE html><html>log in</html>", "is a web page"),
    "pointer.png": (b"version https://git-lfs.github.com/spec/v1\noid sha256:0", "git lfs pull"),
    "drawing.png": (b"<?xml version='1.0'?><svg></svg>", "is SVG"),
    "stack.png": (frames(), "holds 3 frames"),
    "empty.png": (b"", "is empty"),
    "text.png": (b"no picture at all", "is none of PNG, JPEG"),
}


def folder_of(tmp_path, records, name="shown", **columns):
    """A folder with these records, written by `new`."""
    folder = tmp_path / name
    folder.mkdir(exist_ok=True)
    path = folder / "questions.jsonl"
    lines = [{"question": f"q{number}", "options": ["x", "y"], "answer": "A", **record}
             for number, record in enumerate(records)]  # fmt: skip
    path.write_text("".join(json.dumps(each) + "\n" for each in lines), "utf-8")
    write_task_folder(NewTaskRequest(name, "multiple_choice", str(path), folder, columns=columns, card=CARD))
    return folder


@pytest.mark.parametrize("name", WRONG)
def test_a_picture_in_row_ten_that_cannot_be_shown_is_named_by_validate(name, tmp_path):
    (tmp_path / "shown").mkdir()
    for number in range(12):
        (tmp_path / "shown" / f"p{number}.png").write_bytes(png(number))
    data, said = WRONG[name]
    (tmp_path / "shown" / name).write_bytes(data)
    records = [{"id": f"n{number}", "image": name if number == 9 else f"p{number}.png"} for number in range(12)]
    found = [str(each) for each in validate_folder(folder_of(tmp_path, records), write=True).errors]
    assert len(found) == 1  # not of the variant without pictures
    assert "1 of 12 images can't be shown to a model" in found[0]
    assert f"row 10 (id 'n9'), {name}: " in found[0] and said in found[0]


def test_all_pictures_are_looked_at_before_a_run_and_only_once(monkeypatch):
    data = datasets.Dataset.from_dict(
        {"image": [png(number) for number in range(8)], "question": ["q"] * 8, "answer": ["x"] * 8}
    )
    looked = []
    problem = picture_checks.image_problem
    monkeypatch.setattr(picture_checks, "image_problem", lambda picture: looked.append(1) or problem(picture))
    for _ in range(2):
        prepare_documents(data, adapt=documents, settings={})
    assert len(looked) == 8
    broken = datasets.Dataset.from_dict({**data.to_dict(), "image": [*data["image"][:7], b"none"]})
    for _ in range(2):  # what is wrong is not remembered
        with pytest.raises(UserError, match=r"row 8 \(id '7'\), its image: is none of PNG"):
            prepare_documents(broken, adapt=documents, settings={})
    prepare_documents(broken, adapt=documents, settings={"no_image": True})


def test_a_check_that_was_interrupted_goes_on_where_it_stopped(monkeypatch, tmp_path):
    monkeypatch.setenv("MEDTASKS_HOME", str(tmp_path))
    data = datasets.Dataset.from_dict(
        {"image": [png(60 + number) for number in range(8)], "question": ["q"] * 8, "answer": ["x"] * 8}
    )
    looked = []
    problem = picture_checks.image_problem

    def stopping(picture):
        if len(looked) == 5:
            raise KeyboardInterrupt
        looked.append(1)
        return problem(picture)

    monkeypatch.setattr(picture_checks, "image_problem", stopping)
    with pytest.raises(KeyboardInterrupt):
        picture_checks.check_images(documents(data))
    monkeypatch.setattr(picture_checks, "image_problem", lambda picture: looked.append(1) or problem(picture))
    for _ in range(2):
        assert picture_checks.check_images(documents(data)) == 8 and len(looked) == 8
    assert not list((store.data_home() / picture_checks.FOLDER).glob("*.part"))


def test_a_file_that_changes_is_looked_at_again(tmp_path):
    path = tmp_path / "p.png"
    path.write_bytes(png(1))
    data = datasets.Dataset.from_dict({"image": ["p.png"], "question": ["q"], "answer": ["x"]})
    adapt = documents.in_folder(tmp_path)
    prepare_documents(data, adapt=adapt, settings={}, folder=tmp_path)
    path.write_bytes(png(1)[:-30])
    with pytest.raises(UserError, match="p.png: does not decode"):
        prepare_documents(data, adapt=adapt, settings={}, folder=tmp_path)


@pytest.mark.parametrize("form", ["list", "json text", "python text", "images", "numbered", "base64", "image column"])
def test_a_question_has_all_its_pictures_in_order(form, tmp_path):
    held = [png(number) for number in range(3)]
    paths = [f"p{number}.png" for number in range(3)]
    folder = tmp_path / "shown"
    folder.mkdir()
    for path, data in zip(paths, held, strict=True):
        (folder / path).write_bytes(data)
    texts = [base64.b64encode(data).decode() for data in held]
    rows = {
        "list": [{"image": paths}, {"image": paths[:1]}, {"image": []}],
        "json text": [{"image": json.dumps(paths)}, {"image": paths[0]}, {"image": ""}],
        "python text": [{"image": str(paths)}, {"image": paths[0]}, {"image": None}],
        "images": [{"images": paths}, {"images": paths[0]}, {"images": []}],
        "numbered": [dict(zip(("image_1", "image_2", "image_10"), paths, strict=True)), {"image_2": paths[0]}, {}],
        "base64": [{"image": texts}, {"image": texts[:1]}, {"image": []}],
        "image column": [{"image": paths}, {"image": paths[:1]}, {"image": []}],
    }[form]
    columns = {"image": "image_1,image_2,image_10"} if form == "numbered" else {}
    if form == "image column":
        data = datasets.Dataset.from_dict({"images": [held, held[:1], []], "question": ["q"] * 3, "answer": ["x"] * 3})
        made = documents(data.cast_column("images", datasets.Sequence(datasets.Image())))
    else:
        made = load(folder_of(tmp_path, rows, **columns)).documents
    assert [row["image"] is None for row in made] == [True, False, True]
    assert [len(row["images"]) for row in made] == [3, 0, 0]
    wanted = [image_id(held), image_id(held[:1]), "none-2"]
    assert made["image_id"][:] == wanted


def test_a_model_is_shown_every_picture_of_a_question(tmp_path):
    (tmp_path / "shown").mkdir()
    for number in range(2):
        (tmp_path / "shown" / f"p{number}.png").write_bytes(png(number))
    task = load(folder_of(tmp_path, [{"image": ["p0.png", "p1.png"]}, {"image": ["p1.png"]}]))
    shown = [[np.asarray(each).tobytes() for each in task.pictures(task.documents[row])] for row in range(2)]
    pixels = [np.asarray(Image.open(io.BytesIO(png(number)))).tobytes() for number in range(2)]
    assert shown == [pixels, pixels[1:]]
    assert {"image", "images"} & set(task.scored.column_names) == set()


def said(data, adapt=documents):
    with pytest.raises(UserError) as error:
        adapt(datasets.Dataset.from_dict({"question": ["q", "r"], "answer": ["x", "y"], **data}))
    return str(error.value)


@pytest.mark.parametrize("path", ["../p.png", "a/../../p.png", "/data/p.png", "C:\\data\\p.png", "..\\p.png"])
def test_paths_out_of_the_folder_are_refused(path, tmp_path):
    (tmp_path / "p.png").write_bytes(png(1))
    message = said({"image": [path, None]}, documents.in_folder(tmp_path / "folder"))
    assert "row 1" in message and "leads out of the task's folder" in message


def test_paths_as_windows_writes_them_are_found(tmp_path):
    (tmp_path / "images").mkdir()
    (tmp_path / "images" / "p.png").write_bytes(png(1))
    data = datasets.Dataset.from_dict({"image": ["images\\p.png"], "question": ["q"], "answer": ["x"]})
    assert documents.in_folder(tmp_path)(data)["image_id"][:] == [image_id([png(1)])]


def test_missing_pictures_are_counted_and_the_nearest_file_named(tmp_path):
    (tmp_path / "case_01.png").write_bytes(png(1))
    data = {"question": ["q"] * 9, "answer": ["x"] * 9, "image": [f"case_{n:02}.jpg" for n in range(1, 10)]}
    message = said(data, documents.in_folder(tmp_path))
    assert message.count("no file") == 1 and "8 more name none" in message and "Did you mean 'case_01.png'?" in message


@pytest.mark.parametrize(
    ("path", "way_out"), [("CASE_01.PNG", "Did you mean 'case_01.png'?"), ("https://example.org/a.png", "Download")]
)
def test_other_capitals_and_addresses_on_the_web_are_told_apart(path, way_out, tmp_path):
    (tmp_path / "case_01.png").write_bytes(png(1))
    assert way_out in said({"image": [path, None]}, documents.in_folder(tmp_path))


def test_a_cell_may_name_the_row_that_has_the_picture():
    text = base64.b64encode(png(4)).decode()
    data = datasets.Dataset.from_dict(
        {"index": ["7", "8", "9"], "image": [text, "7", "7"], "question": ["q"] * 3, "answer": ["x"] * 3}
    )
    made = from_columns(id="index")(data)
    assert made["image_id"][:] == [image_id([png(4)])] * 3
    circle = {"index": ["7", "8"], "image": ["8", "7"]}
    assert "which has no image but refers to row" in said(circle, from_columns(id="index"))


def test_a_question_that_speaks_of_a_picture_it_has_not_is_refused():
    message = said({"image": [png(1), png(2)], "question": ["see <image 1>", "see <image 2>"]})
    assert "row 2" in message and "<image 2>" in message


def test_a_question_that_is_a_pictures_name_is_refused():
    assert "is an image's name, no question" in said({"question": ["case_1.png", "case_2.png"]})
