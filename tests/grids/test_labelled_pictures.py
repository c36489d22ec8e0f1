"""Labelled pictures from folders, tables and documents."""

import io
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lmms_medtasks.errors import UserError
from lmms_medtasks.grids import labelled_pictures
from lmms_medtasks.grids.pool import Category, load_image


@pytest.fixture
def place(tmp_path, make):
    """Three files a.png, b.png, c.png."""
    for name, number in (("a", 1), ("b", 2), ("c", 3)):
        (tmp_path / f"{name}.png").write_bytes(make("CT", number).data)
    return tmp_path


def table(place, text, name="labels.csv"):
    (place / name).write_text(text)
    return place


def test_csv_beside_the_pictures(place):
    table(place, "image,modality,anatomy,site\na.png,ct scan,Head,x\nb.png,CT,head,y\n")
    found = labelled_pictures.read_labelled_images(str(place))
    assert [picture.id for picture in found.pictures] == ["a.png", "b.png"]
    # One spelling: the package's for modalities, else the first.
    assert {picture.category for picture in found.pictures} == {Category("CT", "Head", "")}
    assert found.ignored == ("site",)
    assert load_image(found.pictures[0]).image.size == (64, 64)


def test_jsonl_and_parquet_and_the_table_itself(place):
    rows = [{"image": f"{name}.png", "modality": "CT", "finding": "", "up": "no"} for name in "ab"]
    table(place, "\n".join(json.dumps(row) for row in rows), "my.jsonl")
    pq.write_table(pa.Table.from_pylist(rows), place / "my.parquet")
    for source, labels in (
        (place, place / "my.jsonl"),
        (place, place / "my.parquet"),
        (place / "my.jsonl", None),
        (place / "my.parquet", None),
    ):
        found = labelled_pictures.read_labelled_images(str(source), labels=labels)
        assert [(picture.id, picture.up) for picture in found.pictures] == [("a.png", False), ("b.png", False)]


def test_documents_of_a_suite(monkeypatch):
    monkeypatch.setenv("MEDTASKS_DATA", "mini")
    found = labelled_pictures.read_labelled_images("medtasks://medq_deg/clean")
    # 20 pictures of each of seven modalities, asked about several times.
    assert len(found.pictures) == 140
    assert {picture.modality for picture in found.pictures} >= {"CT", "X-ray", "Histopathology"}
    assert load_image(found.pictures[0]).image.size[0] > 100


def test_folders_as_labels(place, make):
    for number, folder in enumerate(("X-ray/chest/PA", "X-ray/chest/PA/fracture", "X-ray/chest/lateral")):
        (place / "set" / folder).mkdir(parents=True, exist_ok=True)
        (place / "set" / folder / "1.png").write_bytes(make("X-ray", number).data)
    found = labelled_pictures.read_labelled_images(str(place / "set"))
    assert {(str(picture.category), picture.finding) for picture in found.pictures} == {
        ("X-ray chest PA", ""), ("X-ray chest PA", "fracture"), ("X-ray chest lateral", ""),
    }  # fmt: skip


def test_folders_of_unequal_depth_lack_labels(place, make):
    for folder in ("s/CT", "s/CT/head"):
        (place / folder).mkdir(parents=True, exist_ok=True)
        (place / folder / "x.png").write_bytes(make("CT", len(folder)).data)
    with pytest.raises(UserError, match="CT/x.png: no anatomy"):
        labelled_pictures.read_labelled_images(str(place / "s"))
    found = labelled_pictures.read_labelled_images(str(place / "s"), skip_unlabelled=True)
    assert [picture.id for picture in found.pictures] == ["CT/head/x.png"]
    assert found.skipped == [("CT/x.png", "no anatomy")]


def test_non_images_are_listed_and_skipped_only_when_told(place):
    (place / "notes.txt").write_text("hello")
    (place / "cut.png").write_bytes((place / "a.png").read_bytes()[:200])
    table(place, "image,modality\na.png,CT\nnotes.txt,CT\ncut.png,CT\ngone.png,CT\n")
    with pytest.raises(UserError) as caught:
        labelled_pictures.read_labelled_images(str(place))
    message = str(caught.value)
    assert "3 of 4 files" in message and "--skip-bad" in message
    assert "notes.txt: is none of PNG" in message and "gone.png' cannot be read" in message
    assert "cut.png: does not decode" in message
    found = labelled_pictures.read_labelled_images(str(place), skip_bad=True)
    assert [picture.id for picture in found.pictures] == ["a.png"]
    assert [name for name, _ in found.skipped] == ["notes.txt", "cut.png", "gone.png"]


def test_missing_labels(place):
    table(place, "image,modality,anatomy,finding\na.png,CT,head,\nb.png,CT,,cyst\nc.png,,head,\n")
    with pytest.raises(UserError, match="2 of 3 images lack labels") as caught:
        labelled_pictures.read_labelled_images(str(place))
    assert "b.png: no anatomy" in str(caught.value) and "c.png: no modality" in str(caught.value)
    assert [p.id for p in labelled_pictures.read_labelled_images(str(place), skip_unlabelled=True).pictures] == [
        "a.png"
    ]


def test_the_same_picture_counts_once(place):
    (place / "copy.png").write_bytes((place / "a.png").read_bytes())
    table(place, "image,modality\na.png,CT\ncopy.png,CT\n")
    found = labelled_pictures.read_labelled_images(str(place))
    assert len(found.pictures) == 1 and found.skipped == [("copy.png", "the same image as a.png")]
    table(place, "image,modality\na.png,CT\ncopy.png,MRI\n")
    with pytest.raises(UserError, match="same image with different labels: CT '' and MRI ''"):
        labelled_pictures.read_labelled_images(str(place))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("image,kind\na.png,CT\n", "lacks the column 'modality'.*Found: image, kind"),
        ("file\na.png\n", "'image' and 'modality'"),
        ("image,modality\n", "has no rows"),
        ("image,modality\na.png\n", "row 1: expected .* as many cells"),
        ("image,modality\n,CT\n", "row 1: the column image is ''"),
        ("image,modality,up\na.png,CT,maybe\n", "the label up is 'maybe'"),
    ],
)
def test_tables_that_are_wrong(place, text, message):
    with pytest.raises(UserError, match=f"(?s){message}"):
        labelled_pictures.read_labelled_images(str(table(place, text)))


def test_sources_that_are_wrong(place, tmp_path):
    (tmp_path / "empty").mkdir()
    for source, labels, message in (
        (place, None, "has no labels: no labels.csv"),
        (place / "none", None, "There is no"),
        (tmp_path / "empty", None, "is empty"),
        (place / "a.png", None, "is no labels table"),
        (place, place / "no.csv", "no labels table"),
        ("medtasks://medq_dg/clean", None, "Did you mean 'medq_deg'"),
    ):
        with pytest.raises(UserError, match=message):
            labelled_pictures.read_labelled_images(str(source), labels=labels)
    for name, content in (("bad.jsonl", "{"), ("list.jsonl", "[1]"), ("bad.parquet", "x")):
        (place / name).write_text(content)
        with pytest.raises(UserError, match="not JSON|expected an object|cannot be read as parquet"):
            labelled_pictures.read_labelled_images(str(place / name))


def test_pictures_inside_parquet(place, make):
    rows = [
        {"image": {"bytes": make("CT", n).data, "path": None}, "image_id": f"p{n % 2}", "modality": "CT"}
        for n in range(3)
    ]
    pq.write_table(pa.Table.from_pylist(rows), place / "x.parquet")
    found = labelled_pictures.read_labelled_images(str(place / "x.parquet"))
    assert [picture.id for picture in found.pictures] == ["p0", "p1"]
    assert io.BytesIO(found.pictures[0].data).read(4) == b"\x89PNG"
