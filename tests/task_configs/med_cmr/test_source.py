"""Med-CMR's zip, and its unpacked form, become documents; what cannot become one is refused with the reason."""

from __future__ import annotations

import dataclasses
import json
import re
import zipfile
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from lmms_medtasks.cli.app import build_app
from lmms_medtasks.data import documents, sources, store
from lmms_medtasks.data.hub import HubRelease
from lmms_medtasks.data.prepare import prepare_splits
from lmms_medtasks.data.release_counts import ExpectedCounts
from lmms_medtasks.data.releases import LocalRelease
from lmms_medtasks.data.row_reader import CandidateDocument, RejectedRow, right_letter
from lmms_medtasks.errors import UserError
from lmms_medtasks.pictures import image_id
from lmms_medtasks.task_configs.med_cmr import source as med_cmr
from lmms_medtasks.task_configs.med_cmr.measures import load_dimensions
from lmms_medtasks.task_configs.med_cmr.source import LISTS, MED_CMR, dimension_name

pytestmark = pytest.mark.usefixtures("home")

Row = dict[str, Any]
MCQ, OPEN = (f"dataset/{LISTS[split]}" for split in ("mcq", "open"))


def row(number, **changes):
    """A good multiple-choice record; a value of ... takes the field out."""
    record = {
        "index": number,
        "question": f"What does picture {number} show?",
        "image_path": f"dataset/imgs/{number}.png",
        "A": "a cyst", "B": "a stone", "C": "a scar", "D": "a clip", "E": "nothing",
        "answer": "B",
        "visual_description": "A round dark area.",
        "task": "SOD",
        "subtype": "count",
        "question type": "diagnosis",
        "modality": "CT",
        "organ system": "Digestive",
        **changes,
    }  # fmt: skip
    return {name: value for name, value in record.items() if value is not ...}


def open_row(number, **changes):
    return row(number, **{"answer": "a stone", **dict.fromkeys("ABCDE", ...), **changes})


@pytest.fixture
def files(png):
    """The files of a release: ``files(mcq=[...], open=[...])``, with images 0 to 4."""

    def make(mcq: Any = None, open: Any = None, root: str = "") -> dict[str, bytes]:  # noqa: A002
        questions = {MCQ: [row(n) for n in range(3)] if mcq is None else mcq}
        questions[OPEN] = [open_row(n) for n in range(2)] if open is None else open
        found = {root + name: json.dumps(rows).encode() for name, rows in questions.items()}
        return {**found, **{f"{root}dataset/imgs/{n}.png": png(n) for n in range(5)}}

    return make


def pack(folder, contents):
    folder.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(folder / "dataset.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in contents.items():
            archive.writestr(name, data)
    return folder


def unpack(folder, contents):
    for name, data in contents.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    return folder


def read(folder, split="mcq"):
    return list(MED_CMR.open_split(LocalRelease(folder), MED_CMR.split(split)).candidates())


def only(folder, split="mcq"):
    (candidate,) = read(folder, split)
    return candidate


# --- good records ----------------------------------------------------------------------------------------------------


def test_a_record_of_each_kind(tmp_path, files, png):
    folder = pack(tmp_path, files(mcq=[row(3, question="  Which?  ", task="Causal Reasoning")]))
    assert only(folder) == CandidateDocument(1, "3", {
        "id": "mcq-3",
        "image": {"bytes": png(3), "path": None},
        "images": [],
        "question": "Which?",
        "options": ["a cyst", "a stone", "a scar", "a clip", "nothing"],
        "answer": "B",
        "image_id": image_id([png(3)]),
        "data": "",
        "dimension": "CR",
        "index": "3",
        "subtype": "count",
        "question_type": "diagnosis",
        "modality": "CT",
        "organ_system": "Digestive",
        "visual_description": "A round dark area.",
    })  # fmt: skip
    first, _ = read(folder, "open")
    assert first.document is not None
    assert (first.document["id"], first.document["options"], first.document["answer"]) == ("open-0", [], "a stone")
    assert documents.document_problem({**first.document, "data": "full"}, MED_CMR.tags) is None


JUNK = {
    "__MACOSX/dataset/._cmed.copy.mcq_cate.cleaned.json": b"\0",
    f"__MACOSX/{MCQ}": b"\0",
    f"{MCQ}.bak": b"[]",
    "dataset/.DS_Store": b"\0",
    "dataset/cmed.json": b"[]",
}


@pytest.mark.parametrize("root", ["", "Med-CMR/"])
def test_the_zip_and_the_folder_say_the_same(tmp_path, files, root):
    zipped = pack(tmp_path / "zip", {**JUNK, **files(root=root)})
    plain = unpack(tmp_path / "plain", files())
    inside = unpack(tmp_path / "inside", files()) / "dataset"
    for split, count in (("mcq", 3), ("open", 2)):
        assert read(zipped, split) == read(plain, split) == read(inside, split)
        assert len(read(zipped, split)) == count and not any(each.reason for each in read(zipped, split))


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        ({name.upper().replace(" ", "_"): value for name, value in row(1).items()}, {"organ_system": "Digestive"}),
        (row(1, subtype=None, modality=["CT", "MRI"], answer="nothing", E="nothing"),
         {"subtype": "", "modality": "CT; MRI"}),
        (row(1, D="", E=None), {"options": ["a cyst", "a stone", "a scar"]}),
    ],
    ids=["other letters and underscores", "nulls and lists are texts", "fewer options than five"],
)  # fmt: skip
def test_fields_in_other_forms(tmp_path, files, record, expected):
    candidate = only(pack(tmp_path, files(mcq=[record])))
    assert candidate.document is not None and expected.items() <= candidate.document.items()


def test_several_images(tmp_path, files, png):
    record = row(1, image_path=["dataset/imgs/1.png", "./dataset/imgs/2.png"])
    candidate = only(pack(tmp_path, files(mcq=[record])))
    assert candidate.document is not None and candidate.document["image"] is None
    assert [image["bytes"] for image in candidate.document["images"]] == [png(1), png(2)]


def test_an_index_that_comes_again_drops_nothing(tmp_path, files):
    folder = pack(tmp_path, files(mcq=[row(1), row(2), row(1, question="Another?")]))
    reader = MED_CMR.open_split(LocalRelease(folder), MED_CMR.split("mcq"))
    ids = [each.document["id"] for each in reader.candidates() if each.document]
    assert ids == ["mcq-1", "mcq-2", "mcq-1-2"]
    assert reader.notes["repeated_indices"] == 1


# --- answers ---------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("answer", "letter"),
    [("B", "B"), ("b", "B"), ("(B)", "B"), ("B.", "B"), ("b)", "B"), ("B. a stone", "B"), ("A  STONE", "B")],
)
def test_answers_as_letter_or_text(answer, letter):
    assert right_letter(answer, ["a cyst", "a stone", "a scar"]) == letter


@pytest.mark.parametrize("answer", ["D", "stone", "B. a cyst", "A, B", "", "a stone or a cyst"])
def test_other_answers_are_none(answer):
    with pytest.raises(RejectedRow, match="is not among the options A to C"):
        right_letter(answer, ["a cyst", "a stone", "a scar"])
    with pytest.raises(RejectedRow, match="the text of several options: A, C"):
        right_letter("cyst", ["cyst", "stone", "Cyst"])


# --- bad records -----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"answer": "F"}, "answer 'F' is not among the options A to E"),
        ({"answer": ...}, "answer is empty"),
        ({"question": " "}, "question is empty"),
        ({"question": {"en": "?"}}, "question is no text"),
        ({"task": ""}, "task is empty"),
        ({"task": {"a": 1}}, "task is no text"),
        ({"index": None}, "index is empty"),
        ({"C": ""}, "option C is empty"),
        ({"B": "", "C": "", "D": "", "E": ""}, "there are 1 options"),
        ({"image_path": "dataset/imgs/none.png"}, "image_path 'dataset/imgs/none.png'"),
        ({"image_path": "../../etc/passwd"}, "image_path '../../etc/passwd'"),
        ({"image_path": "/etc/passwd"}, "image_path '/etc/passwd'"),
        ({"image_path": None}, "image_path is empty"),
        ({"image_path": 7}, "image_path is no text"),
    ],
)
@pytest.mark.parametrize("form", [pack, unpack])
def test_bad_records_are_refused_one_by_one(tmp_path, files, changes, reason, form):
    good, bad = read(form(tmp_path, files(mcq=[row(0), row(1, **changes)])))
    assert good.document is not None
    assert bad.document is None and bad.reason.startswith(reason)


def test_a_record_that_is_no_object(tmp_path, files):
    _, bad = read(pack(tmp_path, files(mcq=[row(0), "x"])))
    assert bad.reason == "the record is no object"


# --- bad releases ----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("made", "message"),
    [
        (lambda files: files(mcq=[row(0), row(1, task="OCR"), row(2, task="OCR"), row(3, task="Staging")]),
         r"(?s)not known.*, 2 rows, first in row 2: .*'OCR'.*, 1 row, .* row 4: .*'Staging'"),
        (lambda files: files(mcq=[row(0, **{"organ system": ..., "B": ...})]),
         r"Missing: organ_system, b\. Required: .*Found: index, question"),
        (lambda files: {**JUNK, **{name: data for name, data in files().items() if name != MCQ}},
         rf"has no {LISTS['mcq']}. It holds dataset/cmed.json, {OPEN}, dataset/imgs/0.png"),
        (lambda files: {f"other/{LISTS['mcq']}": b"[]", **files(root="data/")}, "in 2 places: other/"),
        (lambda files: {**files(), MCQ: b'[{"index": 1'}, "cannot be read after record 0: .*Fetch it again"),
        (lambda files: {**files(), MCQ: b'{"a": 1}'}, "is no JSON list of records"),
        (lambda files: {**files(), MCQ: b"[]"}, "an empty list"),
        (lambda files: {**files(), MCQ: b"\xff\xfe\x00"}, "is not UTF-8"),
    ],
)  # fmt: skip
def test_a_release_of_another_form_is_refused(tmp_path, files, made, message):
    with pytest.raises(UserError, match=message):
        read(pack(tmp_path, made(files)))


def test_a_folder_without_any_of_it(tmp_path):
    (tmp_path / "notes.txt").write_text("x")
    with pytest.raises(UserError, match=r"dataset.zip or dataset/cmed.*Found: notes.txt"):
        prepare_splits("med_cmr", source=tmp_path)


def test_a_copy_of_the_list_beside_its_own_place_is_no_matter(tmp_path, files):
    assert len(read(pack(tmp_path, {f"dataset/backup/{LISTS['mcq']}": b"[]", **files()}))) == 3


def test_a_zip_that_is_cut_short(tmp_path, files):
    path = pack(tmp_path, files()) / "dataset.zip"
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(UserError, match="cut short, damaged, or no zip"):
        read(tmp_path)


def test_an_image_that_is_damaged_ends_the_preparation(tmp_path, files):
    # One flipped bit says that the download is bad: dropping the questions would hide it.
    path = pack(tmp_path, files()) / "dataset.zip"
    with zipfile.ZipFile(path) as archive:
        place = archive.getinfo("dataset/imgs/2.png").header_offset
    data = bytearray(path.read_bytes())
    data[place + 70] ^= 0xFF
    path.write_bytes(data)
    with pytest.raises(UserError, match=r"imgs/2.png' in .* cannot be read"):
        read(tmp_path)


# --- through the preparation -----------------------------------------------------------------------------------------
def test_what_the_release_has_more_of_than_the_paper_is_said(tmp_path, files, home, monkeypatch):
    monkeypatch.setattr(med_cmr, "PAPER", {"mcq": 3, "open": 1})
    folder = str(pack(tmp_path, files()))
    looked = CliRunner().invoke(build_app(), ["data", "doctor", "med_cmr", "--source", folder]).stdout
    assert re.search(r"open +2 +3,999 +-3,997 +1 +\+1\n", looked)
    assert re.search(r"mcq +3 +16,655 +-16,652 +3\n", looked)

    expected = (ExpectedCounts(("mcq",), 3), ExpectedCounts(("open",), 2))
    monkeypatch.setattr(med_cmr, "SOURCES", (dataclasses.replace(med_cmr.MED_CMR, expected=expected),))
    prepared = CliRunner().invoke(build_app(), ["data", "prepare", "med_cmr", "--source", folder]).stdout
    assert "2 images  (the release has 2, the paper 1: +1)\n" in prepared
    assert "3 images\n" in prepared


def test_prepared_from_a_zip(tmp_path, files, home):
    broken = {**files(mcq=[row(0), row(1, image_path="x.png"), row(2)]), "dataset/imgs/2.png": b"no image"}
    manifest = prepare_splits("med_cmr", source=pack(tmp_path / "in", broken))
    assert manifest["data"] == "sample"
    found = {name: (split["rows"], split["rejected"]) for name, split in manifest["splits"].items()}
    assert found == {"mcq": (1, 2), "open": (2, 0)}
    reasons = [
        line["reason"] for line in store.read_rejected(store.prepared_data_folder("med_cmr", "sample") / store.REJECTED)
    ]
    assert reasons[0].startswith("image_path 'x.png'") and reasons[1].startswith("image is none of PNG")
    assert not list(home.rglob("*.png"))


def test_prepared_from_the_hub(tmp_path, files):
    asked = []

    def download(repository, name, **kwargs):
        asked.append((repository, name))
        return str(pack(tmp_path / "snapshots" / "abc", files()) / name)

    manifest = prepare_splits("med_cmr", download=download)
    assert manifest["data"] == "sample" and set(manifest["splits"]) == {"mcq", "open"}
    assert manifest["splits"]["mcq"]["counts"] == "3 questions, 16,655 expected"
    assert set(asked) == {("aaassddaadf/Med-CMR", "dataset.zip")}
    assert manifest["splits"]["mcq"]["source"]["commit"] == "abc"
    assert isinstance(HubRelease(MED_CMR.hub_repository, "main", download).file("dataset.zip"), Path)


def test_the_record_says_what_differs_from_the_paper():
    assert sources.get("med_cmr") is MED_CMR
    assert MED_CMR.licence.startswith("Apache-2.0")
    assert any("3,998" in note for note in MED_CMR.notes) and any("swapped" in note for note in MED_CMR.notes)
    assert MED_CMR.expected == (ExpectedCounts(("mcq",), 16_655), ExpectedCounts(("open",), 3_999))


def test_the_doctor_counts_dimensions_as_the_release_says_and_sets_both_columns_beside(tmp_path, files, home):
    """SU and MSI of the paper's table look swapped: its counts stand apart from the release's, and it is said."""
    questions = [row(number, task=task) for number, task in enumerate(["SU", "SU", "SU", "MSI", "SOD"])]
    folder = str(pack(tmp_path, files(mcq=questions)))
    looked = CliRunner().invoke(build_app(), ["data", "doctor", "med_cmr", "--source", folder]).stdout
    assert re.search(r"mcq, SU +3 +371 +-368 +709 +-706\n", looked)
    assert re.search(r"mcq, MSI +1 +709 +-708 +371 +-370\n", looked)
    assert re.search(r"mcq, TP +0 +336 +-336 +336 +-336\n", looked)
    assert "SU and MSI look swapped" in looked
    prepare_splits("med_cmr", source=Path(folder), splits=["mcq"])
    made = (
        pq.read_table(store.prepared_data_folder("med_cmr", "sample") / "mcq.parquet").column("dimension").to_pylist()
    )
    assert made == ["SU", "SU", "SU", "MSI", "SOD"]  # as the release says


# --- Dimensions -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("SOD", "SOD"), ("sod", "SOD"), ("Subtle Object Detection", "SOD"), ("small-object detection", "SOD"),
        ("Subtle Object Detection (SOD)", "SOD"), ("SOD: Subtle Object Detection", "SOD"),
        ("Fine-grained Detail Discrimination", "FDD"), ("fine_grained_detail_discrimination", "FDD"),
        ("Spatial Understanding", "SU"), ("Temporal Prediction", "TP"), ("causal reasoning", "CR"),
        ("Long-tail Generalization", "LTG"), ("Long Tail Generalisation", "LTG"), ("Multi-source integration", "MSI"),
        ("MultiSource Integration", "MSI"),
    ],
)  # fmt: skip
def test_dimensions_in_any_spelling(text, short):
    assert dimension_name(text) == short


def test_other_dimensions_are_refused_by_name():
    with pytest.raises(UserError, match=r"Unknown dimension 'OCR'.*Allowed: CR \(Causal Reasoning\)"):
        dimension_name("OCR")


def test_seven_dimensions_whose_spellings_are_each_of_one():
    assert [each.short for each in load_dimensions()] == ["SOD", "FDD", "SU", "TP", "CR", "LTG", "MSI"]
    assert [each.side for each in load_dimensions()] == ["visual"] * 3 + ["reasoning"] * 4
    spellings = [
        med_cmr._fold_text(name)
        for short, entry in med_cmr._dimension_names().items()
        for name in (short, entry["name"], *entry["also"])
    ]
    assert len(spellings) == len(set(spellings))
